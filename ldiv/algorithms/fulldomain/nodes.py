"""The lattice of full-domain recoding: what publishing whole columns on levels of their hierarchies gives, node by node, evaluated on cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ldiv._kernels.cells as _cells
from ldiv.errors import InputError
from ldiv.privacy.requirement import publishable
from ldiv.release.nodes import lattice_for, shown_on_levels
from ldiv.release.release import Release
from ldiv.table.arrays import dot
from ldiv.table.contingency import Contingency
from ldiv.table.lattice import MOST_VECTORS, Lattice

__all__ = ["Node", "Nodes", "Tags", "recode"]

Node = tuple[int, ...]  # a level of each attribute: 0 its values, ..., the last one a star


@dataclass(frozen=True)
class Judged:
    """What a node gives.

    Attributes
    ----------
    valid : bool
        Whether the rows of classes that may not be published are few enough to be starred throughout.
    starred : int
        The rows that are starred throughout: these, and where they may not be published together the smallest classes that make it so.
    lost : int
        What all rows lose, in units of the lattice.
    """

    valid: bool
    starred: int
    lost: int


class Nodes:
    """The nodes of a table's lattice, each looked at once.

    A node is valid if the rows of its classes that are not l-eligible or have fewer than k rows are at most a share `limit` of the table. They are published as
    one group, starred throughout; where they are not l-eligible or too few themselves, the smallest other classes join them. With ``limit = 0`` validity
    passes to every node above (a union of l-eligible classes is l-eligible), and with l = 1 it does for any limit; else it need not: an eligible class and
    one that is not may make one that is not.
    """

    def __init__(self, c: Contingency, l: int, k: int, limit: float, lattice: Lattice) -> None:
        self.c, self.l, self.k, self.lattice = c, l, k, lattice
        self.top: Node = tuple(lattice.height)
        self.bottom: Node = (0,) * len(self.top)
        self.limit = floor(limit * c.n)
        self.known: dict[Node, Judged] = {}

    @property
    def checked(self) -> int:
        """How many nodes have been looked at."""
        return len(self.known)

    def kept(self, node: Node) -> tuple[int, ...]:
        """The columns of the lattice's table that a node keeps."""
        return tuple(self.lattice.column[j, level] for j, level in enumerate(node) if level < self.top[j])

    def classes(self, node: Node) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64], NDArray[np.bool_], int]:
        """The class of each cell, the classes' codes in the kept columns, their sizes, which are published as they are, and how many rows may not be."""
        c, kept = self.c, self.kept(node)
        if not kept:
            return np.zeros(len(c.count), np.int32), np.zeros((1, 0), np.int32), c.histogram.sum(keepdims=True), np.ones(1, bool), 0
        table, item = self.lattice.table.project(kept)
        size, height = np.add.reduceat(table.count, table.indptr[:-1]), np.maximum.reduceat(table.count, table.indptr[:-1])
        good = publishable(size, height, self.l, self.k)
        bad = int(size[~good].sum())
        if 0 < bad <= self.limit:
            self._join(table, size, good)
        return table.group_of_cell[item], table.codes, size, good, bad

    def _join(self, table: Contingency, size: NDArray[np.int64], good: NDArray[np.bool_]) -> None:
        """Take the smallest classes to those that may not be published, until all of them together may be."""
        starred = ~good[table.group_of_cell]
        rest = _cells.tally(table.sensitive[starred], table.m, table.count[starred])
        order = np.flatnonzero(good)
        for g in order[np.argsort(size[order], kind="stable")]:
            rows = int(rest.sum())
            if rows // self.l >= int(rest.max()) and rows >= self.k:
                return
            good[g] = False
            mine = slice(table.indptr[g], table.indptr[g + 1])
            rest[table.sensitive[mine]] += table.count[mine]

    def judge(self, node: Node) -> Judged:
        """Look at a node. O(cells) for each attribute kept."""
        if node not in self.known:
            _, codes, size, good, bad = self.classes(node)
            starred = int(size[~good].sum())
            loss = np.broadcast_to(self.lattice.losses(self.kept(node), codes), len(size))
            self.known[node] = Judged(bad <= self.limit, starred, dot(loss[good], size[good]) + starred * self.lattice.most)
        return self.known[node]

    def valid(self, node: Node) -> bool:
        return self.judge(node).valid

    def least(self, nodes: Any) -> Node:
        """The node that loses least among some, all of which are looked at; of equals the first in order of levels. The top where none is valid."""
        return min((node for node in {*nodes, self.top} if self.valid(node)), key=lambda node: (self.judge(node).lost, sum(node), node))

    @cached_property
    def base(self) -> list[list[int]]:
        """What all rows lose together on each level of each attribute, none starred for another reason."""
        c, lattice = self.c, self.lattice
        rows = np.add.reduceat(c.count, c.indptr[:-1]) if c.groups else np.zeros(0, dtype=np.int64)
        out = []
        for j, height in enumerate(lattice.height):
            lost = [0]
            for level in range(1, height):
                of = lattice.node_of(j, level)
                assert of is not None
                lost.append(dot(lattice.loss[lattice.column[j, level]][of[c.codes[:, j]]], rows))
            out.append([*lost, lattice.star[j] * c.n])
        return out

    def by_base(self) -> Iterator[tuple[int, Node]]:
        """All nodes with what they lose at the least, that first."""
        yield from sorted((sum(of[level] for of, level in zip(self.base, node, strict=True)), node) for node in self.all())

    def all(self) -> Iterator[Node]:
        """All nodes, in order of their levels."""
        return product(*(range(height + 1) for height in self.top))

    def of_height(self, height: int) -> list[Node]:
        """The nodes whose levels sum up to a number."""
        return self._by_height.get(height, [])

    @cached_property
    def _by_height(self) -> dict[int, list[Node]]:
        out: dict[int, list[Node]] = {}
        for node in self.all():
            out.setdefault(sum(node), []).append(node)
        return out

    def above(self, node: Node) -> list[Node]:
        """The nodes one level higher in one attribute."""
        return [(*node[:j], level + 1, *node[j + 1 :]) for j, level in enumerate(node) if level < self.top[j]]

    def below(self, node: Node) -> list[Node]:
        """The nodes one level lower in one attribute."""
        return [(*node[:j], level - 1, *node[j + 1 :]) for j, level in enumerate(node) if level]

    def release(self, node: Node, algorithm: str) -> Release:
        """What is published on a node."""
        c = self.c
        of_cell, codes, size, good, _ = self.classes(node)
        published, subdomains = shown_on_levels(self.lattice, node, codes)
        published = np.concatenate([published, np.full((1, c.d), -1, dtype=np.int32)])
        group = np.where(good[of_cell], of_cell, len(size))
        judged = self.judge(node)
        info = {
            "node": node,
            "checked": self.checked,
            "starred_rows": judged.starred,
            "loss": judged.lost,
            "unit": self.lattice.unit,
        }
        cells = np.arange(len(c.count), dtype=np.int32)
        return Release.from_entries(
            c, group, cells, c.count, l=self.l, k=self.k, algorithm=algorithm, info=info, published=published, subdomains=subdomains
        )


class Tags:
    """What is known of nodes without looking: what is above a valid one is valid, what is below one that is not is not (predictive tagging)."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes
        self.tag = np.zeros([height + 1 for height in nodes.top], dtype=np.int8)

    def known(self, node: Node) -> bool:
        return bool(self.tag[node])

    def all_known(self, low: Node, high: Node) -> bool:
        """Whether every node from one to another is tagged."""
        return bool(self.tag[tuple(slice(a, b + 1) for a, b in zip(low, high, strict=True))].all())

    def ask(self, node: Node) -> bool:
        """Whether a node is valid: by its tag, else by looking, which tags others."""
        if not self.tag[node]:
            if self.nodes.valid(node):
                self.tag[tuple(slice(level, None) for level in node)] = 1
            else:
                self.tag[tuple(slice(None, level + 1) for level in node)] = -1
        return bool(self.tag[node] > 0)

    def minimal(self) -> list[Node]:
        """The valid nodes of which none one level lower is valid."""
        lower = np.zeros(self.tag.shape, dtype=bool)
        for j in range(self.tag.ndim):
            ahead = tuple(slice(1, None) if a == j else slice(None) for a in range(self.tag.ndim))
            behind = tuple(slice(None, -1) if a == j else slice(None) for a in range(self.tag.ndim))
            lower[ahead] |= self.tag[behind] > 0
        return [tuple(map(int, node)) for node in np.argwhere((self.tag > 0) & ~lower)]


def refuse_large(nodes: Nodes, algorithm: str) -> None:
    """Refuse a lattice that nobody can walk."""
    if nodes.lattice.vectors > MOST_VECTORS:
        raise InputError(
            f"{algorithm} searches the combinations of levels: {nodes.lattice.vectors:,} are more than {MOST_VECTORS:,}; publish some columns on one level "
            "by coarsen=, give fewer columns a hierarchy, or use another algorithm ('datafly' walks one path)"
        )


def recode(
    c: Contingency,
    l: int,
    k: int,
    search: Callable[[Nodes], Node],
    *,
    algorithm: str,
    suppression: float,
    nodes: bool,
    loss: str | Mapping[Any, Any] | None,
    large: bool = False,
) -> Release:
    """The release on the node that a search finds; the table itself where that may be published as it is.

    Parameters
    ----------
    search : callable
        From the lattice to a valid node.
    algorithm : str
    suppression : float
        The share of rows that may be starred throughout.
    nodes : bool
        Whether attributes have the levels of their taxonomies, or values and a star only.
    loss
        As :meth:`ldiv.table.lattice.Lattice.of_nodes` takes it.
    large : bool
        Whether the search does not mind how many nodes there are.
    """
    if not c.groups:
        return Release.from_entries(c, c.group_of_cell, c.sensitive, c.count, l=l, k=k, algorithm=algorithm)
    space = Nodes(c, l, k, suppression, lattice_for(c, nodes, loss))
    first = space.judge(space.bottom)
    if first.valid and not first.starred:
        return space.release(space.bottom, algorithm)
    if not large:
        refuse_large(space, algorithm)
    return space.release(search(space), algorithm)
