"""Releases along a lattice: the lowest node of each attribute that covers what a group holds, and what its rows lose by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.errors import InputError
from ldiv.limited import Limited
from ldiv.release.form import STAR, Subdomain
from ldiv.release.release import Release
from ldiv.table.arrays import total
from ldiv.table.contingency import Contingency
from ldiv.table.lattice import Lattice

__all__ = ["along", "weighed", "columns_of", "covered", "lattice_for", "loss_of", "recoded", "shown_on_levels"]


def covered(lattice: Lattice, group: NDArray[np.integer], cell: NDArray[np.int32], groups: int) -> tuple[NDArray[np.int32], list[list[Subdomain]]]:
    """What groups publish that show of each attribute the lowest node above all values they hold, a star where only the root is.

    Parameters
    ----------
    lattice : Lattice
    group, cell : ndarray of int, shape (entries,)
        Entry k says that group ``group[k]`` holds rows of cell ``cell[k]``.
    groups : int
        Their number; those without an entry are stars.

    Returns
    -------
    published : ndarray of int32, shape (groups, d)
    subdomains : list of lists of Subdomain

    Notes
    -----
    O(entries * levels), and a look at each node that is shown.
    """
    c = lattice.contingency
    published = np.full((groups, c.d), STAR, dtype=np.int32)
    subdomains: list[list[Subdomain]] = [[] for _ in range(c.d)]
    order = np.argsort(group, kind="stable")
    heads = np.flatnonzero(np.diff(group[order], prepend=-1))
    if not len(heads):
        return published, subdomains
    holder, member = group[order][heads], c.group_of_cell[cell[order]]
    for j in range(c.d):
        codes = c.codes[member, j]
        open_ = np.ones(len(heads), dtype=bool)
        for level in range(lattice.height[j]):
            node = lattice.node_of(j, level)
            held = codes if node is None else node[codes]
            low, high = np.minimum.reduceat(held, heads), np.maximum.reduceat(held, heads)
            agree = open_ & (low == high)
            if level == 0:
                published[holder[agree], j] = low[agree]
            elif agree.any():
                shown, number = np.unique(low[agree], return_inverse=True)
                published[holder[agree], j] = -2 - len(subdomains[j]) - number.ravel()
                subdomains[j] += [_subdomain(lattice, j, level, int(v)) for v in shown]
            open_ &= ~agree
    return published, subdomains


def _subdomain(lattice: Lattice, attribute: int, level: int, node: int) -> Subdomain:
    tree = lattice.contingency.domains[attribute].taxonomy
    of = lattice.node_of(attribute, level)
    assert tree is not None and of is not None
    codes = tuple(np.flatnonzero(of == node).tolist())
    return Subdomain(codes, tree.text[tree.covering(codes)])


def shown_on_levels(lattice: Lattice, levels: Sequence[int], codes: NDArray[np.int32]) -> tuple[NDArray[np.int32], list[list[Subdomain]]]:
    """What groups publish that all show the same level of an attribute, a star on the level above the last.

    Parameters
    ----------
    lattice : Lattice
    levels : sequence of int, length d
    codes : ndarray of int32, shape (groups, attributes not starred)
        Values and nodes of the groups, attribute by attribute.

    Returns
    -------
    published : ndarray of int32, shape (groups, d)
    subdomains : list of lists of Subdomain
    """
    published = np.full((len(codes), len(levels)), STAR, dtype=np.int32)
    subdomains: list[list[Subdomain]] = [[] for _ in levels]
    at = 0
    for j, level in enumerate(levels):
        if level == lattice.height[j]:
            continue
        column, at = codes[:, at], at + 1
        if level == 0:
            published[:, j] = column
            continue
        held, number = np.unique(column, return_inverse=True)
        nodes = [_subdomain(lattice, j, level, int(v)) for v in held]
        single = [len(node.codes) == 1 for node in nodes]  # a value that stands for itself on this level
        subdomains[j] = [node for node, alone in zip(nodes, single, strict=True) if not alone]
        named = -2 - np.cumsum(~np.array(single)) + 1
        shown = np.where(single, [node.codes[0] for node in nodes], named)
        published[:, j] = shown[number.ravel()]
    return published, subdomains


def recoded(release: Release, lattice: Lattice) -> Release:
    """The same groups, each showing the lowest node above what it holds; groups that show the same become one.

    Of stars alone: the release itself. Merging keeps what groups satisfy: l-eligible groups of at least k rows together are one, too.
    """
    if not lattice.nodes:
        return release
    group = np.repeat(np.arange(release.groups), np.diff(release.indptr))
    published, subdomains = covered(lattice, group, release.cell, release.groups)
    return Release.from_entries(
        release.contingency,
        group,
        release.cell,
        release.count,
        l=release.l,
        k=release.k,
        algorithm=release.algorithm,
        info=release.info,
        published=published,
        subdomains=subdomains,
    )


def along(release: Release, lattice: Lattice) -> Release:
    """The release recoded along a lattice, with what it loses beside it; of stars alone the release itself."""
    return weighed(recoded(release, lattice), lattice)


def weighed(release: Release, lattice: Lattice) -> Release:
    """A release that shows nodes of a lattice already, with what it loses beside it; of stars alone the release itself."""
    if not lattice.nodes:
        return release
    return replace(release, info={**release.info, "loss": loss_of(release, lattice), "unit": lattice.unit})


def lattice_for(contingency: Contingency, nodes: bool, loss: str | Mapping[Any, Any] | Limited | None) -> Lattice:
    """The lattice that an algorithm's options ask for.

    Raises
    ------
    InputError
        A loss where no nodes are published.
    """
    if nodes:
        return Lattice.of_nodes(contingency, loss)
    if loss is not None:
        raise InputError(
            "loss= is about nodes of hierarchies: give hierarchies= too (ldiv.solve: nodes=True, with a table that has some), or leave it out"
        )
    return Lattice.of_stars(contingency)


def columns_of(release: Release, lattice: Lattice) -> NDArray[np.int32]:
    """The column of the lattice's table that each group shows of each attribute, -1 for a star, shape (G, d).

    Raises
    ------
    ValueError
        A sub-domain that is no node.
    """
    columns = np.full(release.published.shape, -1, dtype=np.int32)
    for j, (published, kinds) in enumerate(zip(release.published.T, release.subdomains, strict=True)):
        of_kind = np.array([_column(lattice, j, kind) for kind in kinds] or [0], dtype=np.int32)
        columns[:, j] = np.where(published >= 0, lattice.column[j, 0], np.where(published < STAR, of_kind[np.maximum(-2 - published, 0)], -1))
    return columns


def _column(lattice: Lattice, attribute: int, kind: Subdomain) -> int:
    for level in range(1, lattice.height[attribute]):
        of = lattice.node_of(attribute, level)
        assert of is not None
        if kind.codes == tuple(np.flatnonzero(of == of[kind.codes[0]]).tolist()):
            return lattice.column[attribute, level]
    raise ValueError(f"{kind.text!r} is no node of attribute {attribute}")


def loss_of(release: Release, lattice: Lattice) -> int:
    """What all rows lose together, in units of the lattice: for stars alone the cost of the release. O(G d), and a look at each sub-domain."""
    if not lattice.nodes:
        return release.cost
    columns = columns_of(release, lattice)
    lost = np.zeros(release.groups, dtype=np.int64)
    for j, column in enumerate(columns.T):
        starred = column < 0
        lost[starred] += lattice.star[j]
        for k in np.unique(column[~starred]):
            mine = column == k
            if lattice.level[k]:  # a value loses nothing
                kinds = release.subdomains[j]
                of = lattice.node_of(j, lattice.level[k])
                assert of is not None
                first = np.array([kinds[-2 - x].codes[0] for x in release.published[mine, j]])
                lost[mine] += lattice.loss[k][of[first]]
    return total(lost * release.group_sizes)
