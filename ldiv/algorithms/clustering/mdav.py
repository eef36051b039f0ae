"""MDAV: clusters around the rows farthest from the centre, two opposite ones at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ldiv.algorithms import register
from ldiv.algorithms.clustering.rows import UNIT, Rows
from ldiv.release.release import Release
from ldiv.table.arrays import dot
from ldiv.table.contingency import Contingency

__all__ = ["mdav"]


@register(
    "mdav",
    guarantee="none",
    cost="O(points^2 * d): quadratic in the distinct QI tuples",
    source="Domingo-Ferrer, Torra, DMKD 11, 2005 (MDAV-generic); with l-eligible clusters",
    suppression=False,
)
def mdav(contingency: Contingency, l: int, *, k: int = 1, seed: int | None = None, nodes: bool = False) -> Release:
    """MDAV microaggregation: the row farthest from the centre with those nearest to it, then the row farthest from that one with those nearest to it.

    Parameters
    ----------
    contingency : Contingency
        Cells of an l-eligible table.
    l : int
    k : int
        The least size of a cluster.
    seed : int, optional
        Ignored: ties go to the first row.
    nodes : bool, default False
        Publish nodes of taxonomies; without, ranges and sets.

    Returns
    -------
    Release

    Notes
    -----
    The distance is Euclidean over codes divided by the domain, 0 or 1 for attributes that are not ordered; the centre has their means and commonest values.
    MDAV publishes the centre of a cluster; here, where everything published must be true, a cluster publishes the range or set of its values. Rows
    are the nearest of each of l SA values (as often as k asks), and what the rest could not spare is taken first. Clusters alike are taken at once.

    References
    ----------
    J. Domingo-Ferrer, V. Torra: Ordinal, continuous and heterogeneous k-anonymity through microaggregation. Data Mining and Knowledge Discovery 11, 2005.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.Microdata.from_codes([[0, 0], [0, 1], [3, 3], [3, 2]], [0, 1, 0, 1])
    >>> ldiv.ncp(ldiv.solve(data, l=2, algorithm="mdav"))
    0.16666666666666666
    """
    rows = Rows(contingency, l, k)
    centre = _Centre(rows)
    while rows.rows >= 2 * rows.least:
        two = rows.rows >= 3 * rows.least
        first = rows.farthest(_distances(rows, centre.point()))
        around = _distances(rows, _codes(rows, first))
        rows.cluster(first, _same(around))
        if two and rows.rows >= 2 * rows.least:
            second = rows.farthest(around)
            rows.cluster(second, _same(_distances(rows, _codes(rows, second))))
    rows.rest()
    return rows.release("mdav", nodes, k)


def _same(table: NDArray[np.int64]) -> Callable[[NDArray[np.int32]], NDArray[np.int64]]:
    return lambda numbers: table


def _codes(rows: Rows, cell: int) -> list[tuple[int, int]]:
    """The values of a cell, as fractions of whole numbers."""
    return [(int(seen[number]), 1) for seen, number in zip(rows.seen, rows.numbers_of(cell), strict=True)]


class _Centre:
    """The mean code of ordered attributes, the commonest of others (the smallest of equals), of the rows that are left; kept as clusters are taken."""

    def __init__(self, rows: Rows) -> None:
        self.rows, self.done = rows, 0
        of_point = np.add.reduceat(rows.left, rows.c.indptr[:-1]) if rows.c.groups else rows.left
        self.count = [np.zeros(len(seen), dtype=np.int64) for seen in rows.seen]
        for j, count in enumerate(self.count):
            np.add.at(count, rows.numbers[:, j], of_point)

    def point(self) -> list[tuple[int, int]]:
        """As fractions."""
        rows = self.rows
        for taken, times in zip(rows.clusters[self.done :], rows.times[self.done :], strict=True):
            for cell, number in taken.items():
                for j, value in enumerate(rows.numbers_of(cell).tolist()):
                    self.count[j][value] -= number * times
        self.done = len(rows.clusters)
        return [
            (dot(seen, count), rows.rows) if domain.ordered else (int(seen[np.argmax(count)]), 1)
            for seen, count, domain in zip(rows.seen, self.count, rows.c.domains, strict=True)
        ]


def _distances(rows: Rows, point: list[tuple[int, int]]) -> NDArray[np.int64]:
    """Squared distances of all values seen from a point, attribute after attribute."""
    parts = []
    for (over, under), seen, domain in zip(point, rows.seen, rows.c.domains, strict=True):
        if domain.ordered:
            whole, part = divmod(over, under)
            apart = np.abs(seen.astype(np.float64) - whole - part / under) / max(domain.size - 1, 1)
            parts.append(np.rint(UNIT * apart * apart).astype(np.int64))
        else:
            parts.append(UNIT * (seen != over // under).astype(np.int64))
    return np.concatenate(parts)
