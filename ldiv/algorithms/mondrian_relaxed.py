"""Mondrian, relaxed: where no cut between values is allowed, rows of the median value go to either side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import ldiv._kernels.cells as _cells
from ldiv.algorithms import register
from ldiv.algorithms.mondrian import strict
from ldiv.release.builder import Entries
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency

__all__ = ["mondrian_relaxed"]

Part = tuple[NDArray[np.int32], NDArray[np.int64]]  # cells, and how many rows of each


@register(
    "mondrian-relaxed",
    guarantee="none",
    cost="O(cells * d * log cells) for each level of cuts",
    source="LeFevre, DeWitt, Ramakrishnan, ICDE 2006, relaxed",
    suppression=False,
)
def mondrian_relaxed(contingency: Contingency, l: int, *, k: int = 1, seed: int | None = None, nodes: bool = False) -> Release:
    """Relaxed Mondrian: groups that strict Mondrian cannot cut are cut into halves of equal size, the rows of the median value shared out between them.

    Parameters
    ----------
    contingency : Contingency
        Cells of an l-eligible table.
    l : int
    k : int
        The least size of a group.
    seed : int, optional
        Ignored: ties go to the first attribute.
    nodes : bool, default False
        Publish nodes of taxonomies instead of ranges and sets; the default of :func:`ldiv.anonymize` where it is given hierarchies.

    Returns
    -------
    Release
        Groups publish the range of their values for ordered attributes, their set for others.

    Notes
    -----
    A cut between values goes before one through a value. Both halves must be l-eligible with k rows, so with l = 1 every group with 2 k rows and different
    values is cut. Groups may overlap: rows alike may be in several.

    References
    ----------
    K. LeFevre, D. DeWitt, R. Ramakrishnan: Mondrian multidimensional k-anonymity. ICDE 2006, section 3.2.

    Examples
    --------
    >>> import ldiv
    >>> age = ldiv.Domain("Age", 3, ordered=True)
    >>> data = ldiv.Microdata.from_codes([[0], [1], [1], [2]], domains=[age])
    >>> sizes = lambda name: ldiv.solve(data, k=2, algorithm=name).group_sizes.tolist()
    >>> sizes("mondrian"), sizes("mondrian-relaxed")
    ([4], [2, 2])
    """
    c = contingency
    group = strict(c, l, k)[c.group_of_cell]
    order = np.argsort(group, kind="stable").astype(np.int32)
    bounds = np.searchsorted(group[order], np.arange(int(group.max(initial=-1)) + 2))
    entries = Entries()
    for low, high in zip(bounds[:-1], bounds[1:], strict=True):
        waiting: list[Part] = [(order[low:high], c.count[order[low:high]])]
        while waiting:
            cells, rows = waiting.pop()
            halves = _halves(c, cells, rows, l, k)
            if halves is None:
                entries.add(np.zeros(len(cells), dtype=np.int64), cells, rows, 1)
            else:
                waiting += halves[::-1]
    return entries.boxed(c, nodes, l=l, k=k, algorithm="mondrian-relaxed")


def _halves(c: Contingency, cells: NDArray[np.int32], rows: NDArray[np.int64], l: int, k: int) -> list[Part] | None:
    """A cut that leaves both sides publishable, of the widest attribute that has one: between values, else through the median; None where there is none."""
    total = int(rows.sum())
    if total < 2 * max(l, k):
        return None
    codes = c.codes[c.group_of_cell[cells]]
    low, high = codes.min(axis=0), codes.max(axis=0)
    width = (high - low) / np.maximum(np.array(c.sizes) - 1, 1)
    widest = [int(j) for j in np.argsort(-width, kind="stable") if high[j] > low[j]]
    for through in (False, True):
        for j in widest:
            order = np.argsort(codes[:, j], kind="stable")
            value, running = codes[order, j], np.cumsum(rows[order])
            median = value[np.searchsorted(running, -(-total // 2))]
            if not through:
                median = min(median, value[np.searchsorted(value, high[j]) - 1])
                left = np.where(codes[:, j] <= median, rows, 0)
            else:
                left = np.where(codes[:, j] < median, rows, 0)
                mine = np.flatnonzero(codes[:, j] == median)
                left[mine] = _shared(rows[mine], np.argsort(c.sensitive[cells[mine]], kind="stable"), total // 2 - int(left.sum()))
            if _publishable(c, cells, left, l, k) and _publishable(c, cells, rows - left, l, k):
                return [(cells[side > 0], side[side > 0]) for side in (left, rows - left)]
    return None


def _shared(rows: NDArray[np.int64], order: NDArray[np.int64], wanted: int) -> NDArray[np.int64]:
    """So many of the rows, of each cell the same share as nearly as whole rows go, cells in this order: about the same share of every SA value."""
    whole, before, given = int(rows.sum()), 0, 0
    out = np.zeros(len(rows), dtype=np.int64)
    for at in order.tolist():
        before += int(rows[at])
        out[at], given = before * wanted // whole - given, before * wanted // whole
    return out


def _publishable(c: Contingency, cells: NDArray[np.int32], rows: NDArray[np.int64], l: int, k: int) -> bool:
    value, number = np.unique(c.sensitive[cells], return_inverse=True)
    size = int(rows.sum())
    return size >= k and size // l >= int(_cells.tally(number.ravel().astype(np.int32), len(value), rows).max()) > 0
