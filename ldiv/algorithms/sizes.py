"""A least size of groups after TP's phases two and three: groups that fell below it go to the residue, and the residue is filled up to it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ldiv._kernels.cells import tally

__all__ = ["settle_sizes"]

DONORS = 8  # groups that are asked for some of their rows before one gives all
STEPS = 10_000  # moves of single rows out of one group


def settle_sizes(
    indptr: NDArray[np.int64],
    sensitive: NDArray[np.int32],
    kept: NDArray[np.int64],
    residue: NDArray[np.int64],
    l: int,
    k: int,
    order: NDArray[np.integer] | None = None,
) -> None:
    """Move rows from groups to an l-eligible residue until both have at least k rows, or none; `kept` and `residue` are changed.

    A group is l-eligible whatever its size, and a union of l-eligible sets is: what falls below k rows may go to the residue as a whole. A group that phase
    one left with k rows and that lost one since brings at most k - 1 others, so phases two and three remove at most k times the rows that they remove
    without k. A residue of fewer than k rows takes rows from a group that keeps k, l-eligible before and after; where none has so many, the smallest group.

    Parameters
    ----------
    indptr, sensitive : ndarray
        The cells of each group, and the SA value of each.
    kept : ndarray of int64, shape (C,)
        Rows of each cell in its group.
    residue : ndarray of int64, shape (m,)
        Rows of each SA value in the residue, which is l-eligible.
    l, k : int
    order : ndarray of int, optional
        Which groups give rows first; default: the largest.
    """
    if k <= l or not len(kept):
        return
    size = np.add.reduceat(kept, indptr[:-1])
    few = np.flatnonzero((size > 0) & (size < k))
    for g in few:
        _give(slice(indptr[g], indptr[g + 1]), sensitive, kept, kept[indptr[g] : indptr[g + 1]].copy(), residue)
    size[few] = 0
    missing = k - int(residue.sum())
    if missing <= 0 or missing == k:
        return
    order = np.argsort(-size, kind="stable") if order is None else order
    order = order[size[order] > 0]
    for g in order[size[order] >= k + missing][:DONORS].tolist():
        cells = slice(indptr[g], indptr[g + 1])
        some = _some(kept[cells], sensitive[cells], residue, l, k)
        if some is not None:
            _give(cells, sensitive, kept, some, residue)
            return
    g = order[np.argmin(size[order])]
    _give(slice(indptr[g], indptr[g + 1]), sensitive, kept, kept[indptr[g] : indptr[g + 1]].copy(), residue)


def _give(cells: slice, sensitive: NDArray[np.int32], kept: NDArray[np.int64], rows: NDArray[np.int64], residue: NDArray[np.int64]) -> None:
    kept[cells] -= rows
    residue += tally(sensitive[cells], len(residue), rows)


def _some(count: NDArray[np.int64], value: NDArray[np.int32], residue: NDArray[np.int64], l: int, k: int) -> NDArray[np.int64] | None:
    """Rows of a group that make the residue large enough while it, and the group, stay l-eligible and the group keeps k; None if none are found so.

    As in phase two: a row of the value that is rarest in the residue where the group is fat, else one of every pillar.
    """
    left, target = count.copy(), residue.copy()
    size, whole = int(left.sum()), int(target.sum())
    if l == 1:  # whichever
        before = np.cumsum(left) - left
        return np.asarray(np.clip(k - whole - before, 0, left))
    for _ in range(STEPS):
        if whole >= k and whole // l >= target.max():
            return np.asarray(count - left)
        height = left.max()
        there = np.flatnonzero(left)
        moved = there[[np.lexsort((-left[there], target[value[there]]))[0]]] if size > l * height else there[left[there] == height]
        left[moved] -= 1
        target[value[moved]] += 1
        size, whole = size - len(moved), whole + len(moved)
        if size < k:
            return None
    return None
