"""k-member: clusters grown greedily by what they lose, each started far from the one before."""

from __future__ import annotations

import numpy as np

from ldiv.algorithms import register
from ldiv.algorithms.clustering.loss import Growing
from ldiv.algorithms.clustering.rows import Rows
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency

__all__ = ["k_member"]


@register(
    "k-member",
    guarantee="none",
    cost="O(points^2 * d): quadratic in the distinct QI tuples",
    source="Byun, Kamra, Bertino, Li, DASFAA 2007; with l-eligible clusters",
    suppression=False,
)
def k_member(contingency: Contingency, l: int, *, k: int = 1, seed: int | None = None, nodes: bool = False) -> Release:
    """k-member clustering: start far from the last row taken, add the row that makes the cluster lose least, until it is l-eligible with k rows.

    Parameters
    ----------
    contingency : Contingency
        Cells of an l-eligible table.
    l : int
    k : int
        The least size of a cluster.
    seed : int, optional
        Draws the row from which the first start is farthest; default: the first.
    nodes : bool, default False
        Publish nodes of taxonomies, and count what they lose; without, ranges and sets. The default of :func:`ldiv.anonymize` where it is given hierarchies.

    Returns
    -------
    Release

    Notes
    -----
    Where the paper adds any row, rows here come in sets of l with different SA values, and what the rest could not spare is taken first, so that every
    cluster and the rest stay l-eligible; with l = 1 that is the paper's algorithm. Rows that are left for less than a cluster join the clusters that lose
    least by it. Clusters alike are taken at once.

    References
    ----------
    J.-W. Byun, A. Kamra, E. Bertino, N. Li: Efficient k-anonymization using clustering techniques. DASFAA 2007.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.Microdata.from_codes([[0, 0], [0, 1], [3, 3], [3, 2]], [0, 1, 0, 1])
    >>> ldiv.ncp(ldiv.solve(data, l=2, algorithm="k-member"))
    0.16666666666666666
    """
    rows = Rows(contingency, l, k)
    growing = Growing(rows, nodes)
    last = 0 if seed is None or not rows.rows else int(np.random.default_rng(seed).integers(len(contingency.count)))
    table = np.zeros(0, dtype=np.int64)

    def keep(cell: int) -> None:
        nonlocal table
        growing.start()
        table = growing.add(rows.numbers_of(cell)).copy()

    if rows.rows:
        keep(last)
    while rows.rows >= rows.least:
        start = rows.farthest(table)
        growing.start()
        rows.cluster(start, growing.add)
        keep(next(reversed(rows.clusters[-1])))
    while rows.rows:
        _place(rows, growing)
    return rows.release("k-member", nodes, k)


def _place(rows: Rows, growing: Growing) -> None:
    """Put one set of what is left into the cluster that loses least by it."""
    starters = rows.starters()
    growing.start()
    rows.cluster(rows.nearest(growing.table, starters), growing.add, sets=1)
    extra, times = rows.clusters.pop(), rows.times.pop()
    more = {cell: count * times for cell, count in extra.items()}
    if not rows.clusters:
        rows.clusters.append(more)
        rows.times.append(1)
        return
    best, least = 0, -1
    for number, cluster in enumerate(rows.clusters):
        growing.start()
        for cell in cluster:
            growing.add(rows.numbers_of(cell))
        before, size = growing.loss, sum(cluster.values()) * rows.times[number]
        for cell in more:
            growing.add(rows.numbers_of(cell))
        cost = growing.loss * (size + sum(more.values())) - before * size
        if least < 0 or cost < least:
            best, least = number, cost
    rows.join(best, more)
