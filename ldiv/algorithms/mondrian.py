"""Mondrian, strict: median splits, while both halves stay l-eligible."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ldiv._kernels.topdown import median_splits
from ldiv.algorithms import register
from ldiv.release.builder import merged
from ldiv.release.recoding import boxes
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency

__all__ = ["mondrian", "strict"]


@register(
    "mondrian",
    guarantee="none",
    cost="O(cells * d * log s)",
    source="LeFevre, DeWitt, Ramakrishnan, ICDE 2006, strict",
    suppression=False,
)
def mondrian(contingency: Contingency, l: int, *, k: int = 1, seed: int | None = None, nodes: bool = False) -> Release:
    """Strict Mondrian: cut at the median of the widest attribute while both halves are l-eligible.

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
    Unordered attributes are cut in the order of their codes. O(cells * d) for each of the about log s levels.

    References
    ----------
    K. LeFevre, D. DeWitt, R. Ramakrishnan: Mondrian multidimensional k-anonymity. ICDE 2006.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.Microdata.from_codes([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 0, 1])
    >>> ldiv.solve(data, l=2, algorithm="mondrian").codes.tolist()
    [[0, -1], [0, -1], [1, -1], [1, -1]]
    """
    group = strict(contingency, l, k)
    groups = int(group.max(initial=-1)) + 1
    published, subdomains = boxes(contingency, group, np.arange(contingency.groups), groups, nodes)
    return merged(contingency, group, published, subdomains, l=l, algorithm="mondrian")


def strict(c: Contingency, l: int, k: int) -> NDArray[np.int32]:
    """The QI-group of each group of equal rows."""
    seen, numbers = zip(*(np.unique(column, return_inverse=True) for column in c.codes.T), strict=True)
    return median_splits(
        np.stack(numbers, axis=1).astype(np.int32),
        np.concatenate(seen),
        np.cumsum([0, *map(len, seen)]).astype(np.int64),
        np.array(c.sizes, dtype=np.int32),
        c.indptr,
        c.sensitive,
        c.count,
        c.m,
        l,
        k,
    )
