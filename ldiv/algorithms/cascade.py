"""Cascade: TP, then TP again on projections of its residue, so that most suppressed rows lose few attributes."""

from __future__ import annotations

import heapq
from dataclasses import replace
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from ldiv._kernels.cells import hand_out
from ldiv._kernels.tp import phase_one
from ldiv.algorithms import register
from ldiv.algorithms.hilbert import group_along_curve
from ldiv.algorithms.tp import split
from ldiv.algorithms.tp_plus import refine
from ldiv.release.builder import Entries
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency

__all__ = ["cascade", "descend"]

SUBSETS = 1000  # levels with more projections than this are passed over: tables of more than a dozen attributes


def keeps(part: Contingency, attributes: tuple[int, ...], l: int, k: int = 1) -> int:
    """How many rows phase one keeps on a projection."""
    indptr, count = part.counts(attributes)
    size, _ = phase_one(indptr, count, l, np.empty_like(count), k)
    return int(size.sum())


def descend(part: Contingency, cells: NDArray[np.int32], l: int, entries: Entries, seed: int | None = None, k: int = 1) -> None:
    """Release an l-eligible sub-table of at least k rows: for 1, 2, ... suppressed attributes the projections that keep most rows, then the rest.

    Where attributes have weights, it goes by the weight of those suppressed. Lazy greedy: what phase one keeps on a projection only falls as the
    sub-table shrinks, so an old count is an upper bound.
    """
    levels: dict[int, list[tuple[int, ...]]] = {}
    for suppressed in range(1, part.d):
        if comb(part.d, suppressed) <= SUBSETS:
            for subset in combinations(range(part.d), part.d - suppressed):
                levels.setdefault(int(part.weights.sum() - part.weights[list(subset)].sum()), []).append(subset)
    for _, subsets in sorted(levels.items()):
        if not part.n:
            return
        heap = [(-part.n - 1, subset, -1) for subset in subsets]
        version = 0
        while heap:
            bound, subset, seen = heapq.heappop(heap)
            if seen != version:
                kept = keeps(part, subset, l, k)
                if kept:
                    heapq.heappush(heap, (-kept, subset, version))
                continue
            projected, item = part.project(subset)
            result = split(projected, l, seed, k=k)
            if not result.kept.any():  # phases two and three took back all that phase one kept
                continue
            taken = hand_out(item, result.kept, part.count)
            entries.add(projected.group_of_cell[item], cells, taken, projected.groups)
            part, chosen = part.restrict(part.count - taken)
            cells = cells[chosen]
            version += 1
            if not part.n:
                return
            heapq.heappush(heap, (bound, subset, -1))
    group, cell, rows = group_along_curve(part, l, k)
    entries.add(group, cells[cell], rows, int(group.max(initial=-1)) + 1)


@register(
    "cascade",
    guarantee="l on suppressed tuples, l * d on stars; never more stars than TP+ (on columns with the largest domains first)",
    cost="O(2^d * n) at worst, lazily evaluated",
    source="this project; docs/near-optimal.md",
    any_order=True,
)
def cascade(contingency: Contingency, l: int, *, k: int = 1, seed: int | None = None) -> Release:
    """TP, then TP on the projections of its residue, fewest suppressed attributes first.

    Parameters
    ----------
    contingency : Contingency
        Cells of an l-eligible table.
    l : int
    k : int
        The least size of a group.
    seed : int, optional
        As for TP.

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
    c = contingency
    result = split(c, l, seed, k=k)
    entries = Entries()
    cells = np.arange(len(c.count), dtype=np.int32)
    entries.add(c.group_of_cell, cells, result.kept, c.groups)
    part, chosen = c.restrict(c.count - result.kept)
    if part.n:
        descend(part, chosen, l, entries, seed, k)
    release = entries.release(c, l=l, algorithm="cascade", info=result.info)
    rival = refine(c, l, result, k)  # TP+
    if rival.cost < release.cost:
        return replace(rival, algorithm="cascade")
    return release
