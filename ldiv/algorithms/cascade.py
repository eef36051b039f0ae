"""Cascade: TP, then TP again on projections of its residue, so that most suppressed rows lose few attributes, or little of them."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from ldiv._kernels.cells import hand_out
from ldiv._kernels.phase_one import kept_of_sorted, phase_one
from ldiv.algorithms import register
from ldiv.algorithms.hilbert import group_along_curve
from ldiv.algorithms.tp import Split, forced_pillars, split
from ldiv.algorithms.tp_plus import refine
from ldiv.release.builder import Entries
from ldiv.release.nodes import along, lattice_for, weighed
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency
from ldiv.table.lattice import SUBSETS, VECTORS, Lattice

__all__ = ["cascade", "descend", "fall"]

Steps = Iterable[
    list[tuple[int, ...]]
]  # projections, those that lose least first; of those that lose the same the one that keeps most rows comes next


def keeps(part: Contingency, attributes: tuple[int, ...], l: int, k: int = 1, forced: NDArray[np.int8] | None = None) -> int:
    """How many rows phase one keeps on a projection."""
    found = part.sorted_keys(attributes)
    if found is not None:
        return kept_of_sorted(*found, l, k, forced)
    projected, _ = part.project(attributes)
    size, _ = phase_one(projected.indptr, projected.count, l, np.empty_like(projected.count), k, projected.sensitive, forced)
    return int(size.sum())


def steps_of(lattice: Lattice) -> Steps:
    """The projections by what a row loses: 1, 2, ... stars, by weight where attributes have weights; along hierarchies by what all rows together lose."""
    if lattice.nodes:
        return [[kept] for _, kept in lattice.ranked[1:VECTORS] if kept]
    c = lattice.contingency
    levels: dict[int, list[tuple[int, ...]]] = {}
    for suppressed in range(1, c.d):
        if comb(c.d, suppressed) <= SUBSETS:
            for subset in combinations(range(c.d), c.d - suppressed):
                levels.setdefault(int(c.weights.sum() - c.weights[list(subset)].sum()), []).append(subset)
    return [subsets for _, subsets in sorted(levels.items())]


def descend(lattice: Lattice, rows: NDArray[np.int64], l: int, entries: Entries, seed: int | None = None, k: int = 1) -> None:
    """Release an l-eligible part of a table, so many rows of each cell and k in all, on its projections, step by step; what none keeps along the Hilbert curve.

    Lazy greedy: what phase one keeps on a projection only falls as the part shrinks, so an old count is an upper bound. A part that has just enough rows
    beside its commonest values keeps only groups that these are pillars of (:func:`~ldiv.algorithms.tp.forced_pillars`), as each step leaves it.
    """
    c = lattice.contingency
    part, cells = lattice.table.restrict(rows)
    for subsets in steps_of(lattice):
        if not part.n:
            return
        heap = [(-part.n - 1, subset, -1) for subset in subsets]
        version, forced = 0, forced_pillars(part, l)
        while heap:
            bound, subset, seen = heapq.heappop(heap)
            if seen != version:
                kept = keeps(part, subset, l, k, forced)
                if kept:
                    heapq.heappush(heap, (-kept, subset, version))
                continue
            projected, item = part.project(subset)
            result = split(projected, l, seed, k=k, forced=forced)
            if not result.kept.any():  # phases two and three took back all that phase one kept
                continue
            taken = hand_out(item, result.kept, part.count)
            entries.add(projected.group_of_cell[item], cells, taken, projected.groups)
            part, chosen = part.restrict(part.count - taken)
            cells = cells[chosen]
            version, forced = version + 1, forced_pillars(part, l)
            if not part.n:
                return
            heapq.heappush(heap, (bound, subset, -1))
    left = np.zeros_like(c.count)
    left[cells] = part.count
    rest, cells = c.restrict(left)
    group, cell, count = group_along_curve(rest, l, k)
    entries.add(group, cells[cell], count, int(group.max(initial=-1)) + 1)


@register(
    "cascade",
    guarantee="l on suppressed tuples, l * d on stars, for k up to l; never more stars than TP+ (on columns with the largest domains first)",
    cost="O(2^d * n) at worst, lazily evaluated",
    source="this project; docs/near-optimal.md",
    any_order=True,
)
def cascade(
    contingency: Contingency,
    l: int,
    *,
    k: int = 1,
    seed: int | None = None,
    nodes: bool = False,
    loss: str | Mapping[str, Mapping[str, float]] | None = None,
) -> Release:
    """TP, then TP on the projections of its residue, fewest suppressed attributes first; along hierarchies on levels of them, those that lose least first.

    Parameters
    ----------
    contingency : Contingency
        Cells of an l-eligible table.
    l : int
    k : int
        The least size of a group.
    seed : int, optional
        As for TP.
    nodes : bool, default False
        Publish nodes of taxonomies where attributes have one; the default of :func:`ldiv.anonymize` where it is given hierarchies.
    loss : {"ncp", "level"} or mapping, default "ncp"
        What a row loses by a node; see the algorithm ``lagrangian``.

    Returns
    -------
    Release
        ``info`` as TP's.

    Notes
    -----
    The residue is l-eligible, with k rows or none, before and after every step, so each step is valid; what no projection keeps goes along the Hilbert curve. If
    TP+ should have fewer stars, its release is returned. Suppressed tuples are TP's, so its guarantees hold.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.datasets.load("acs2018", qi=["Age", "Gender", "Race", "MaritalStatus"])
    >>> stars = [ldiv.solve(data, l=6, algorithm=name).stars for name in ("tp", "tp+", "cascade")]
    >>> stars[0] > stars[1] > stars[2]
    True
    """
    lattice = lattice_for(contingency, nodes, loss)
    return fall(lattice, l, split(contingency, l, seed, k=k), seed, k)


def fall(lattice: Lattice, l: int, result: Split, seed: int | None = None, k: int = 1) -> Release:
    """The cascade from TP's outcome."""
    c = lattice.contingency
    entries = Entries()
    cells = np.arange(len(c.count), dtype=np.int32)
    entries.add(c.group_of_cell, cells, result.kept, c.groups)
    if (left := c.count - result.kept).any():
        descend(lattice, left, l, entries, seed, k)
    release = weighed(entries.release(c, lattice, l=l, algorithm="cascade", info=result.info), lattice)
    rival = along(refine(c, l, result, k), lattice)  # TP+
    if rival.loss < release.loss:
        return replace(rival, algorithm="cascade")
    return release
