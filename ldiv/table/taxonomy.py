"""Taxonomies: trees over the values of an attribute, for algorithms that publish something between a value and a star."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.arguments import MOST_VALUES
from ldiv.errors import InputError
from ldiv.table.arrays import whole
from ldiv.table.text import is_missing, text_of

__all__ = ["Taxonomy", "range_text", "set_text"]

Tree = Mapping[Any, Any] | Sequence[Any]


@dataclass(frozen=True, eq=False)
class Taxonomy:
    """A rooted tree whose leaves are the codes of an attribute. Node 0 is the root; a node's parent has a smaller number.

    Parameters
    ----------
    parent : ndarray of int32, shape (nodes,)
        -1 for the root.
    leaf : ndarray of int32, shape (size,)
        The node of each code.
    text : tuple of str, length nodes
        How each node is published.
    rungs : ndarray of int32, shape (levels, size), optional
        Of a tree whose values all have the same levels, the values' own first: equal numbers on a level are one node there. The tree itself leaves out
        steps that join nothing.
    known : frozenset of str
        Texts that its source has besides: of values that no row has, and of steps that join nothing.

    Examples
    --------
    >>> from ldiv import Taxonomy
    >>> tree = Taxonomy.from_tree({"married": ["Married", "Separated"], "single": ["Never"]}, ["Never", "Married", "Separated"])
    >>> tree.text[tree.parent[tree.leaf[2]]], tree.codes(1)
    ('married', (1, 2))
    """

    parent: NDArray[np.int32]
    leaf: NDArray[np.int32]
    text: tuple[str, ...]
    rungs: NDArray[np.int32] | None = None
    known: frozenset[str] = field(default=frozenset(), repr=False, compare=False)

    def __post_init__(self) -> None:
        parent = whole(self.parent, "parent", low=-1, high=MOST_VALUES - 1, dtype=np.int32)
        if not len(parent) or parent[0] != -1 or (parent[1:] < 0).any() or (parent[1:] >= np.arange(1, len(parent))).any():
            raise InputError("parent must begin with -1, the root's, and every other node's parent must have a smaller number than the node")
        leaf = whole(self.leaf, "leaf", low=0, high=len(parent) - 1, dtype=np.int32)
        if np.isin(leaf, parent).any():
            raise InputError("leaf must name nodes without children")
        text = tuple(self.text)
        if len(text) != len(parent) or not all(isinstance(x, str) for x in text):
            raise InputError(f"text must be {len(parent):,} strings, one a node")
        rungs = self.rungs
        if rungs is not None:
            rungs = np.asarray(rungs)
            if rungs.ndim != 2 or rungs.shape[1] != len(leaf) or rungs.dtype.kind not in "iu":
                raise InputError(f"rungs must be whole numbers of shape (levels, {len(leaf):,})")
            rungs = rungs.astype(np.int32)
            rungs.setflags(write=False)
        for name, value in (("parent", parent), ("leaf", leaf), ("text", text), ("rungs", rungs)):
            object.__setattr__(self, name, value)

    @property
    def nodes(self) -> int:
        return len(self.parent)

    @cached_property
    def depth(self) -> NDArray[np.int32]:
        """Distance of each node from the root."""
        depth = np.zeros(self.nodes, dtype=np.int32)
        for node in range(1, self.nodes):
            depth[node] = depth[self.parent[node]] + 1
        return depth

    @cached_property
    def path(self) -> NDArray[np.int32]:
        """The ancestor of each code at each depth, shape (size, height + 1); below its leaf a code keeps its leaf."""
        height = int(self.depth.max())
        path = np.repeat(self.leaf[:, None], height + 1, axis=1)
        for code, leaf in enumerate(self.leaf):
            node = int(leaf)
            while node >= 0:
                path[code, self.depth[node]] = node
                node = int(self.parent[node])
        return path.astype(np.int32)

    @cached_property
    def children(self) -> list[list[int]]:
        """The children of each node."""
        children: list[list[int]] = [[] for _ in range(self.nodes)]
        for node in range(1, self.nodes):
            children[self.parent[node]].append(node)
        return children

    @property
    def levels(self) -> NDArray[np.int32]:
        """What covers each code on each level below the root, the codes' own first, shape (levels, size): rungs, or nodes as far from the root."""
        return self.path.T[::-1] if self.rungs is None else self.rungs

    def codes(self, node: int) -> tuple[int, ...]:
        """The codes below a node."""
        return tuple(np.flatnonzero(self.path[:, self.depth[node]] == node).tolist())

    def covering(self, codes: Sequence[int]) -> int:
        """The lowest node above all of some codes."""
        path = self.path[list(codes)]
        return int(path[0, np.flatnonzero((path == path[0]).all(axis=0))[-1]])

    @classmethod
    def flat(cls, labels: Sequence[Any]) -> Taxonomy:
        """Only a root above the values."""
        size = len(labels)
        leaf = np.arange(1, size + 1, dtype=np.int32)
        return cls(np.array([-1] + [0] * size, dtype=np.int32), leaf, ("*", *map(text_of, labels)))

    @classmethod
    def from_tree(cls, tree: Tree, labels: Sequence[Any]) -> Taxonomy:
        """From nested dicts (node name to subtree) with lists of values as leaves.

        Raises
        ------
        InputError
            Naming a value that is missing, unknown, or has two parents.
        """
        position = {label: code for code, label in enumerate(labels)}
        parent, text = [-1], ["*"]
        leaf = np.full(len(labels), -1, dtype=np.int32)
        waiting: list[tuple[int, Any]] = [(0, tree)]
        while waiting:
            above, part = waiting.pop()
            if isinstance(part, Mapping):
                for name, below in part.items():
                    parent.append(above)
                    text.append(str(name))
                    waiting.append((len(parent) - 1, below))
                continue
            for value in part:
                if value not in position:
                    raise InputError(f"taxonomy: {value!r} is not a value of the attribute")
                if leaf[position[value]] >= 0:
                    raise InputError(f"taxonomy: value {value!r} stands twice")
                parent.append(above)
                text.append(text_of(value))
                leaf[position[value]] = len(parent) - 1
        missing = np.flatnonzero(leaf < 0)
        if len(missing):
            raise InputError(f"taxonomy: value {labels[missing[0]]!r} is missing")
        return cls(np.array(parent, dtype=np.int32), leaf, tuple(text))

    @classmethod
    def by_splits(cls, counts: NDArray[np.int64], labels: Sequence[Any]) -> Taxonomy:
        """The binary tree of an ordered attribute whose every split gains most information on the SA.

        Parameters
        ----------
        counts : ndarray of int64, shape (size, m)
            Rows of each code and SA value.
        labels : sequence
        """
        size = len(counts)
        below = np.concatenate([np.zeros((1, counts.shape[1]), counts.dtype), np.cumsum(counts, axis=0)])
        parent, text, leaf = [-1], ["*"], np.zeros(size, dtype=np.int32)
        waiting = [(0, 0, size)]
        while waiting:
            node, low, high = waiting.pop()
            if high - low == 1:
                leaf[low] = node
                continue
            cuts = np.arange(low + 1, high)
            left, right = below[cuts] - below[low], below[high] - below[cuts]
            remaining = entropy_mass(left) + entropy_mass(right)
            # Empty stretches gain nothing: the first least remainder keeps the tree the same on every platform.
            cut = int(cuts[np.argmin(np.round(remaining, 6))])
            for a, b in ((low, cut), (cut, high)):
                parent.append(node)
                text.append(range_text(labels[a:b]))
                waiting.append((len(parent) - 1, a, b))
        return cls(np.array(parent, dtype=np.int32), leaf, tuple(text))


def entropy_mass(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Rows times entropy of each histogram, in nats."""
    total = counts.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        inner = np.where(counts > 0, counts * np.log(counts), 0.0).sum(axis=-1)
        return np.asarray(np.where(total > 0, total * np.log(np.maximum(total, 1)), 0.0) - inner)


def information_gain(taxonomy: Taxonomy, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """What specialising each node tells about the SA: entropy above less weighted entropy below, in nats a row; 0 at leaves.

    Parameters
    ----------
    counts : ndarray of int64, shape (size, m)
        Rows of each code and SA value.
    """
    below = np.zeros((taxonomy.nodes, counts.shape[1]), dtype=np.int64)
    below[taxonomy.leaf] = counts
    for node in range(taxonomy.nodes - 1, 0, -1):
        below[taxonomy.parent[node]] += below[node]
    mass = entropy_mass(below)
    gain = np.zeros(taxonomy.nodes)
    for node, children in enumerate(taxonomy.children):
        if children:
            gain[node] = (mass[node] - mass[children].sum()) / max(int(below[node].sum()), 1)
    return gain


def range_text(labels: Sequence[Any]) -> str:
    """How a range of an ordered attribute is published, given its values in order; a missing one is last."""
    known = [label for label in labels if not is_missing(label)]
    low, high = (text_of(known[0]), text_of(known[-1])) if known else ("missing", "missing")
    text = low if low == high else f"[{low} - {high}]"
    return text if len(known) in (0, len(labels)) else f"{text} or missing"


def set_text(labels: Sequence[Any]) -> str:
    """How a set of values is published."""
    texts = ["missing" if is_missing(label) else text_of(label) for label in labels]
    return texts[0] if len(texts) == 1 else "{" + ", ".join(texts) + "}"
