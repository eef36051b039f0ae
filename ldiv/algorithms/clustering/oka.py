"""OKA: one pass of k-means, then clusters give what they have too much of to those that have too little."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ldiv._kernels.phase_one import phase_one
from ldiv.algorithms import register
from ldiv.algorithms.clustering.rows import UNIT
from ldiv.release.builder import Entries
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency

__all__ = ["oka"]

SCALE = 1 << 10  # centres are kept in parts of a code


@register(
    "oka",
    guarantee="none",
    cost="O(points * n / max(l, k) * d): quadratic where few rows are alike",
    source="Lin, Wei, PAIS 2008 (one-pass k-means algorithm); with l-eligible clusters",
    suppression=False,
)
def oka(contingency: Contingency, l: int, *, k: int = 1, seed: int | None = None, nodes: bool = False) -> Release:
    """One-pass k-means: n / max(l, k) centres, each point to the nearest, centres moving along; then clusters are adjusted until all are l-eligible.

    Parameters
    ----------
    contingency : Contingency
        Cells of an l-eligible table.
    l : int
    k : int
        The least size of a cluster.
    seed : int, optional
        Draws the points that become centres, as in the paper; default: evenly spaced in the order of codes.
    nodes : bool, default False
        Publish nodes of taxonomies; without, ranges and sets.

    Returns
    -------
    Release

    Notes
    -----
    Distances are the difference of codes over the domain, 0 or 1 for attributes that are not ordered; centres are means and commonest values. Rows alike in
    their QI are one point and stay together in the pass. Adjusting: a cluster keeps the most rows that are l-eligible together, of each SA value those
    nearest to its centre, or none where they are fewer than k; what it gives away goes to the nearest cluster that stays l-eligible with it; rows that
    none can take become a cluster, which takes in its nearest clusters until it is l-eligible with k rows. In the paper clusters of more than k rows give
    away down to k.

    References
    ----------
    J.-L. Lin, M.-C. Wei: An efficient clustering method for k-anonymization. PAIS 2008.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.Microdata.from_codes([[0, 0], [0, 1], [3, 3], [3, 2]], [0, 1, 0, 1])
    >>> ldiv.ncp(ldiv.solve(data, l=2, algorithm="oka"))
    0.16666666666666666
    """
    c = contingency
    entries = Entries()
    if c.groups:
        centres = _Centres(c, max(1, min(c.n // max(l, k), c.groups)), seed)
        cluster = centres.one_pass()
        for cells, rows in _adjusted(c, centres, cluster[c.group_of_cell], l, k):
            entries.add(np.zeros(len(cells), dtype=np.int64), cells, rows, 1)
    return entries.boxed(c, nodes, l=l, k=k, algorithm="oka")


class _Centres:
    """Centres that move as points join them."""

    def __init__(self, c: Contingency, number: int, seed: int | None) -> None:
        self.c = c
        self.rows = np.add.reduceat(c.count, c.indptr[:-1]).tolist()
        self.ordered = [domain.ordered for domain in c.domains]
        self.span = [max(domain.size - 1, 1) * (SCALE if domain.ordered else 1) for domain in c.domains]
        self.first = np.arange(number) * c.groups // number
        if seed is not None:
            self.first = np.sort(np.random.default_rng(seed).choice(c.groups, number, replace=False))
        self.place = [c.codes[self.first, j].astype(np.int64) * (SCALE if o else 1) for j, o in enumerate(self.ordered)]
        self.sums = [[0] * number for _ in self.place]
        self.count = [0] * number
        self.seen: list[list[dict[int, int]]] = [[{} for _ in range(number)] if not o else [] for o in self.ordered]

    def distances(self, codes: NDArray[np.int32]) -> NDArray[np.int64]:
        """Of all centres from one point."""
        total = np.zeros(len(self.count), dtype=np.int64)
        for j, place in enumerate(self.place):
            total += np.abs(place - int(codes[j]) * SCALE) * UNIT // self.span[j] if self.ordered[j] else UNIT * (place != codes[j])
        return total

    def one_pass(self) -> NDArray[np.int64]:
        """The centre that each point joins; the first points go to their own."""
        c = self.c
        joined = np.full(c.groups, -1, dtype=np.int64)
        for at, point in enumerate(self.first.tolist()):
            joined[point] = at
            self._join(at, point)
        for point in np.flatnonzero(joined < 0).tolist():
            joined[point] = int(np.argmin(self.distances(c.codes[point])))
            self._join(int(joined[point]), point)
        return joined

    def _join(self, at: int, point: int) -> None:
        rows = self.rows[point]
        self.count[at] += rows
        for j, code in enumerate(self.c.codes[point].tolist()):
            if self.ordered[j]:
                self.sums[j][at] += rows * code
                self.place[j][at] = self.sums[j][at] * SCALE // self.count[at]
            else:
                held = self.seen[j][at]
                held[code] = held.get(code, 0) + rows
                if held[code] > held.get(int(self.place[j][at]), 0):
                    self.place[j][at] = code


def _adjusted(c: Contingency, centres: _Centres, cluster: NDArray[np.int64], l: int, k: int) -> list[tuple[NDArray[np.int32], NDArray[np.int64]]]:
    """The final clusters: cells, and how many rows of each."""
    number = len(centres.count)
    own = np.zeros(c.groups, dtype=np.int64)
    of_point = cluster[c.indptr[:-1]]
    for j, place in enumerate(centres.place):
        column = c.codes[:, j]
        if centres.ordered[j]:
            own += np.abs(place[of_point] - column.astype(np.int64) * SCALE) * UNIT // centres.span[j]
        else:
            own += UNIT * (place[of_point] != column)
    order = np.lexsort((own[c.group_of_cell], c.sensitive, cluster))  # of each cluster and value the nearest first
    kept = _kept(c, order, cluster, l, k)
    size = np.zeros(number, dtype=np.int64)
    held: list[dict[int, int]] = [{} for _ in range(number)]
    rows: list[dict[int, int]] = [{} for _ in range(number)]
    for cell in np.flatnonzero(kept).tolist():
        g, v, count = int(cluster[cell]), int(c.sensitive[cell]), int(kept[cell])
        rows[g][cell] = count
        held[g][v] = held[g].get(v, 0) + count
        size[g] += count
    lost: dict[int, int] = {}
    for cell in np.flatnonzero(c.count - kept).tolist():
        _give(c, centres, cell, int(c.count[cell] - kept[cell]), l, size, held, rows, lost)
    if lost:
        _gather(c, centres, lost, l, k, size, held, rows)
    found = [(np.array(list(x), dtype=np.int32), np.array(list(x.values()), dtype=np.int64)) for x in rows if x]
    return found


def _kept(c: Contingency, order: NDArray[np.int64], cluster: NDArray[np.int64], l: int, k: int) -> NDArray[np.int64]:
    """Rows of each cell that its cluster keeps: the most that are l-eligible together (phase one of TP on clusters), of each value the nearest."""
    key = cluster[order] * c.m + c.sensitive[order]
    heads = np.flatnonzero(np.diff(key, prepend=-1))
    total = np.add.reduceat(c.count[order], heads)
    of_head = cluster[order][heads]
    indptr = np.append(np.flatnonzero(np.diff(of_head, prepend=-1)), len(heads)).astype(np.int64)
    most = np.empty_like(total)
    phase_one(indptr, total, l, most, k)
    running = np.cumsum(c.count[order])
    before = running - c.count[order]
    number = np.repeat(np.arange(len(heads)), np.diff(np.append(heads, len(order))))
    kept = np.zeros(len(order), dtype=np.int64)
    kept[order] = np.clip(most[number] - (before - before[heads][number]), 0, c.count[order])
    return kept


def _give(
    c: Contingency,
    centres: _Centres,
    cell: int,
    count: int,
    l: int,
    size: NDArray[np.int64],
    held: list[dict[int, int]],
    rows: list[dict[int, int]],
    lost: dict[int, int],
) -> None:
    """Rows of a cell to the nearest clusters that stay l-eligible; the others are lost."""
    value = int(c.sensitive[cell])
    own = np.array([x.get(value, 0) for x in held], dtype=np.int64)
    # l (own + x) <= size + x; with l = 1 any number
    room = (size - l * own) // (l - 1) if l > 1 else np.full(len(size), count)
    open_ = np.flatnonzero((size > 0) & (room > 0))
    apart = centres.distances(c.codes[c.group_of_cell[cell]])[open_]
    for g in open_[np.argsort(apart, kind="stable")].tolist():
        taken = min(count, int(room[g]))
        rows[g][cell] = rows[g].get(cell, 0) + taken
        held[g][value] = held[g].get(value, 0) + taken
        size[g] += taken
        count -= taken
        if not count:
            return
    lost[cell] = lost.get(cell, 0) + count


def _gather(
    c: Contingency,
    centres: _Centres,
    lost: dict[int, int],
    l: int,
    k: int,
    size: NDArray[np.int64],
    held: list[dict[int, int]],
    rows: list[dict[int, int]],
) -> None:
    """Rows that no cluster could take become one, joined by the clusters nearest to the first of them until they are l-eligible with k rows."""
    tally: dict[int, int] = {}
    for cell, count in lost.items():
        tally[int(c.sensitive[cell])] = tally.get(int(c.sensitive[cell]), 0) + count
    apart = centres.distances(c.codes[c.group_of_cell[next(iter(lost))]])
    for g in np.argsort(apart, kind="stable").tolist():
        whole = sum(tally.values())
        if whole >= k and whole // l >= max(tally.values()):
            break
        for value, count in held[g].items():
            tally[value] = tally.get(value, 0) + count
        for cell, count in rows[g].items():
            lost[cell] = lost.get(cell, 0) + count
        rows[g] = {}
    rows.append(lost)
