"""TP, TP+ and the cascade where phase one was done elsewhere, by an engine, and only what it takes out of groups is here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv._kernels.cells import tally
from ldiv._kernels.tp import Phases
from ldiv.algorithms import get, in_one_order, one_order
from ldiv.algorithms.cascade import fall
from ldiv.algorithms.tp import Split, later_phases, suppress
from ldiv.algorithms.tp_plus import refine
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency
from ldiv.table.lattice import Lattice

__all__ = ["BY_RESIDUE", "MoreGroupsError", "first_order", "release_of_part"]

BY_RESIDUE = ("tp", "tp+", "cascade")


class MoreGroupsError(Exception):
    """Of the groups that phase two may take rows from too few are here; `all_there` where only phase three would need more."""

    def __init__(self, all_there: bool) -> None:
        super().__init__()
        self.all_there = all_there


def release_of_part(
    contingency: Contingency,
    l: int,
    algorithm: str,
    *,
    kept: NDArray[np.int64],
    residue: NDArray[np.int64],
    k: int = 1,
    seed: int | None = None,
    last: NDArray[np.int64] | None = None,
) -> Release:
    """The release of the rows that phase one takes out of their groups, and of whole groups that phase two may take rows from.

    It is the same as in the release of the whole table. Phase two takes the SA value that is least frequent in R and has an alive group, and of its alive
    groups the first; a group found dead stays dead. So with the first alive groups of each value here it makes the same choices as with all of them, as
    long as of each value with more groups elsewhere one of those here is alive at the end: then it was never at the end of what is here.

    Parameters
    ----------
    contingency : Contingency
        Rows of R that come from groups that are not here, and groups that are.
    l : int
    algorithm : {"tp", "tp+", "cascade"}
    kept : ndarray of int64, shape (C,)
        What phase one keeps of each cell in groups that are here; 0 for rows that are in R.
    residue : ndarray of int64, shape (m,)
        Rows of R by SA value.
    k : int
    seed : int, optional
    last : ndarray of int64, shape (C,), optional
        Of cells of groups that are here 1 for those that are among the first of a value that has more elsewhere.

    Raises
    ------
    MoreGroupsError
    """
    last = np.zeros_like(kept) if last is None else last
    about: dict[str, Any] = {"algorithm": algorithm, "residue": residue, "k": k, "seed": seed}
    cells: dict[str, Any] = {"kept": kept, "last": last}
    if get(algorithm).any_order:
        return in_one_order(contingency, l, _solve, about, cells)
    return _solve(contingency, l, **about, **cells)


def _solve(
    c: Contingency,
    l: int,
    *,
    algorithm: str,
    residue: NDArray[np.int64],
    k: int,
    seed: int | None,
    kept: NDArray[np.int64],
    last: NDArray[np.int64],
) -> Release:
    kept, residue = kept.copy(), residue.copy()
    size, height = _sizes(c, kept)

    def stop(run: Phases) -> None:
        alive = _alive(c, l, kept, residue)
        ends = np.unique(c.sensitive[last > 0])
        there = np.unique(c.sensitive[(last > 0) & (kept > 0) & alive[c.group_of_cell]])
        if len(there) < len(ends):
            raise MoreGroupsError(False)
        if not run.eligible:
            raise MoreGroupsError(True)

    result = later_phases(c, l, kept, size, height, residue, seed, None, k, stop)
    return _release(c, l, algorithm, result, seed, k)


def _release(c: Contingency, l: int, algorithm: str, result: Split, seed: int | None, k: int) -> Release:
    if algorithm == "tp":
        return suppress(c, l, result)
    if algorithm == "tp+":
        return refine(c, l, result, k)
    return fall(Lattice.of_stars(c), l, result, seed, k)


def _sizes(c: Contingency, kept: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    if not len(kept):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    return np.add.reduceat(kept, c.indptr[:-1]), np.maximum.reduceat(kept, c.indptr[:-1])


def _alive(c: Contingency, l: int, kept: NDArray[np.int64], residue: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which groups are fat, or have no pillar of R among theirs."""
    size, height = _sizes(c, kept)
    pillar = (kept == height[c.group_of_cell]) & (residue == residue.max(initial=0))[c.sensitive]
    conflicting = tally(c.group_of_cell, c.groups, pillar.astype(np.int64)) > 0
    return np.asarray((size > 0) & ((size > l * height) | ~conflicting))


def first_order(domains: Sequence[Any], algorithm: str) -> list[int]:
    """The order of quasi-identifiers in which an algorithm meets groups."""
    return one_order(domains) if get(algorithm).any_order else list(range(len(domains)))
