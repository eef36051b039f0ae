"""Hilbert: groups of l rows along the Hilbert curve."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ldiv._kernels.hilbert import Grouping, curve_keys
from ldiv.algorithms import register
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency
from ldiv.table.ranking import argsort_keys

__all__ = ["curve_order", "group_along_curve", "hilbert"]


def curve_order(contingency: Contingency) -> NDArray[np.int32]:
    """The position of each group of equal rows on the Hilbert curve of the codes, shape (s,)."""
    bits = max(1, max(size - 1 for size in contingency.sizes).bit_length())
    words = curve_keys(contingency.codes, bits)
    position = np.empty(contingency.groups, dtype=np.int32)
    position[np.argsort(words[:, 0]) if words.shape[1] == 1 else np.lexsort(words.T[::-1])] = np.arange(contingency.groups, dtype=np.int32)
    return position


def group_along_curve(contingency: Contingency, l: int, k: int = 1) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Group the rows of an l-eligible table of at least k rows, or none; returns entries (group, cell, rows), by group and cell. O(cells) of them, however many rows."""
    c = contingency
    position = curve_order(c)[c.group_of_cell]
    column = argsort_keys(c.sensitive.astype(np.int64) * c.groups + position, c.m * c.groups).astype(np.int32)
    column_indptr = np.searchsorted(c.sensitive[column], np.arange(c.m + 1)).astype(np.int64)
    run = Grouping(column, column_indptr, position, c.count, c.histogram, l, k)
    run.run()
    return run.group, run.cell, run.rows


@register(
    "hilbert",
    guarantee="none",
    cost="O(n log n)",
    source="Ghinita, Karras, Kalnis, Mamoulis, VLDB 2007, as a suppression algorithm",
)
def hilbert(contingency: Contingency, l: int, *, k: int = 1, seed: int | None = None) -> Release:
    """Groups of l rows with l distinct sensitive values, near each other on the Hilbert curve of their codes.

    Parameters
    ----------
    contingency : Contingency
        Cells of an l-eligible table; up to 64 attributes or more, of any domain sizes.
    l : int
    k : int
        The least size of a group: so many sets of l rows follow each other in one.
    seed : int, optional
        Ignored: there are no ties.

    Returns
    -------
    Release

    Notes
    -----
    Every group is l-eligible; no bound on stars. O(n log n) time, O(n) space; the curve costs O(s * d * bits).

    References
    ----------
    G. Ghinita, P. Karras, P. Kalnis, N. Mamoulis: Fast Data Anonymization with Low Information Loss. VLDB 2007.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.Microdata.from_codes([[0, 0], [0, 1], [3, 3], [3, 2]], [0, 1, 0, 1])
    >>> ldiv.solve(data, l=2, algorithm="hilbert").codes.tolist()
    [[0, -1], [0, -1], [3, -1], [3, -1]]
    """
    if l == 1 and k == 1:  # every row may stand alone
        cells = np.arange(len(contingency.count), dtype=np.int32)
        return Release.from_entries(contingency, contingency.group_of_cell, cells, contingency.count, l=l, algorithm="hilbert")
    group, cell, rows = group_along_curve(contingency, l, k)
    return Release.from_entries(contingency, group, cell, rows, l=l, algorithm="hilbert")
