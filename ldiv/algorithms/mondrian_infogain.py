"""Mondrian by information gain: the cut after which the sensitive attribute is least uncertain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import ldiv._kernels.cells as _cells
from ldiv.algorithms import register
from ldiv.privacy.requirement import publishable
from ldiv.release.builder import merged
from ldiv.release.recoding import boxes
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency
from ldiv.table.taxonomy import entropy_mass

__all__ = ["mondrian_infogain"]


@register(
    "mondrian-infogain",
    guarantee="none",
    cost="O(d * (cells + values * m)) for each group that is cut",
    source="LeFevre, DeWitt, Ramakrishnan, TODS 33(3), 2008, InfoGain Mondrian; the sensitive attribute as the class",
    suppression=False,
)
def mondrian_infogain(contingency: Contingency, l: int, *, k: int = 1, seed: int | None = None, nodes: bool = False) -> Release:
    """InfoGain Mondrian: of all cuts between values that leave both sides l-eligible, the one with the highest information gain on the sensitive attribute.

    Parameters
    ----------
    contingency : Contingency
        Cells of an l-eligible table.
    l : int
    k : int
        The least size of a group.
    seed : int, optional
        Ignored: of equal cuts the most even one is taken, then the first.
    nodes : bool, default False
        Publish nodes of taxonomies instead of ranges and sets; the default of :func:`ldiv.anonymize` where it is given hierarchies.

    Returns
    -------
    Release
        Groups publish the range of their values for ordered attributes, their set for others.

    Notes
    -----
    The paper cuts for a class label that is to be learnt from the release; here the sensitive attribute is the class, as in TDS. Without a sensitive attribute
    all gains are 0, and the most even cut is taken. Unordered attributes are cut in the order of their codes.

    References
    ----------
    K. LeFevre, D. DeWitt, R. Ramakrishnan: Workload-aware anonymization techniques for large-scale datasets. ACM TODS 33(3), 2008.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.Microdata.from_codes([[0, 0], [0, 1], [1, 0], [1, 1]] * 2, [0, 1, 2, 3, 1, 0, 3, 2])
    >>> ldiv.solve(data, l=2, algorithm="mondrian-infogain").stars
    0
    """
    c = contingency
    group = np.zeros(c.groups, dtype=np.int32)
    groups = 0
    waiting = [np.arange(c.groups)] if c.groups else []
    while waiting:
        part = waiting.pop()
        side = _best_cut(c, part, l, k)
        if side is None:
            group[part] = groups
            groups += 1
        else:
            waiting += [part[~side], part[side]]
    published, subdomains = boxes(c, group, np.arange(c.groups), groups, nodes)
    return merged(c, group, published, subdomains, l=l, algorithm="mondrian-infogain")


def _best_cut(c: Contingency, part: NDArray[np.int64], l: int, k: int) -> NDArray[np.bool_] | None:
    """Which groups of equal rows go to the left of the best cut; None where no cut may be made."""
    start, length = c.indptr[part], np.diff(c.indptr)[part]
    cell = np.arange(length.sum()) + np.repeat(start - np.cumsum(length) + length, length)
    value, number = np.unique(c.sensitive[cell], return_inverse=True)
    m, rows = len(value), c.count[cell]
    total = int(rows.sum())
    if len(part) < 2 or total < 2 * max(l, k):
        return None
    best, side = (np.inf, total + 1), None
    for j in range(c.d):
        column = c.codes[part, j]
        seen, of_group = np.unique(column, return_inverse=True)
        if len(seen) < 2:
            continue
        key = np.repeat(of_group.ravel(), length) * m + number.ravel()
        below = np.cumsum(_cells.tally(key.astype(np.int32), len(seen) * m, rows).reshape(len(seen), m), axis=0)
        left, right = below[:-1], below[-1] - below[:-1]
        size = left.sum(axis=1)
        good = publishable(size, left.max(axis=1), l, k) & publishable(total - size, right.max(axis=1), l, k)
        if not good.any():
            continue
        unsure = np.round((entropy_mass(left) + entropy_mass(right)) / total, 9)
        uneven = np.abs(2 * size - total)
        at = np.flatnonzero(good)
        first = at[np.lexsort((uneven[at], unsure[at]))[0]]
        if (unsure[first], uneven[first]) < best:
            best, side = (unsure[first], uneven[first]), column <= seen[first]
    return side
