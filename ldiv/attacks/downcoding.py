"""Downcoding: the values under stars and sub-domains guessed from what other rows of the same release show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import ldiv._kernels.cells as _cells
from ldiv.errors import InputError
from ldiv.release.measures import subdomain_codes
from ldiv.release.release import Release
from ldiv.table.ranking import rank_rows

__all__ = ["Recovered", "downcoding"]


@dataclass(frozen=True)
class Recovered:
    """How many hidden cells are guessed right.

    Attributes
    ----------
    cells : int
        Cells that show no value.
    share : float
        Of them, those that are guessed right.
    column : float
        Those that are guessed right by the value that the column shows most often (of those that the cell may be).
    """

    cells: int
    share: float
    column: float


def downcoding(release: Release) -> dict[str, Recovered]:
    """Guess every hidden cell by the commonest value among rows that show it and agree in all that the cell's row shows.

    Parameters
    ----------
    release : Release

    Returns
    -------
    dict from attribute, and ``"all"``, to Recovered

    Notes
    -----
    Rows that agree in every value the row shows and in the SA come first, then those that agree in the values alone, then the column; only values that the cell may
    stand for are guessed, ties go to the smallest code. A measure of how much a release gives back, not the proof of Cohen's theorem: that attack also uses that
    groups are recoded no further than needed, and shows that for some distributions nearly all cells are recovered. O(patterns * attributes * entries).

    References
    ----------
    A. Cohen: Attacks on deidentification's defenses. USENIX Security 2022.

    Examples
    --------
    >>> import ldiv
    >>> from ldiv.attacks import downcoding
    >>> data = ldiv.Microdata.from_codes([[0, 0], [0, 0], [0, 0], [0, 1], [1, 1], [1, 1]], [0, 1, 0, 1, 0, 1])
    >>> downcoding(ldiv.solve(data, l=2, algorithm="cascade"))["all"].cells
    2
    """
    if not isinstance(release, Release):
        raise InputError(f"a Release is needed, not {type(release).__name__}")
    c = release.contingency
    group = np.repeat(np.arange(release.groups), np.diff(release.indptr))
    hidden = release.published < 0
    patterns, pattern = np.unique(hidden, axis=0, return_inverse=True)
    pattern = pattern.ravel()[group]
    sensitive = c.sensitive[release.cell]
    out, totals = {}, [0, 0, 0]
    for j, domain in enumerate(c.domains):
        true = c.codes[c.group_of_cell[release.cell], j]
        shows = np.logical_not(hidden[group, j])
        guess = np.full(len(group), -1, dtype=np.int64)
        by_column = _commonest(np.zeros(len(group), dtype=np.int32), release, j, group, shows)
        for k, kind in enumerate(patterns):
            if not kind[j]:
                continue
            mine, kept = np.asarray(pattern == k), np.flatnonzero(~kind)
            knows = np.logical_not(hidden[group][:, [*kept, j]].any(axis=1))  # rows that show all of it
            part = np.flatnonzero(mine | knows)
            for with_sensitive in (True, False):
                columns = [np.maximum(release.published[group[part], a], 0) for a in kept] + ([sensitive[part]] if with_sensitive else [])
                if not columns:
                    continue
                sizes = [c.sizes[a] for a in kept] + ([c.m] if with_sensitive else [])
                rank, _, _ = rank_rows([np.ascontiguousarray(x) for x in columns], sizes)
                said = _commonest(rank, release, j, group[part], knows[part], release.count[part])
                open_ = mine[part] & (guess[part] < 0)
                guess[part[open_]] = said[open_]
        guess = np.where(guess < 0, by_column, guess)
        cells = int(release.count[~shows].sum())
        right = int(release.count[~shows & (guess == true)].sum())
        column = int(release.count[~shows & (by_column == true)].sum())
        out[domain.name] = Recovered(cells, right / max(cells, 1), column / max(cells, 1))
        totals = [a + b for a, b in zip(totals, (cells, right, column), strict=True)]
    return out | {"all": Recovered(totals[0], totals[1] / max(totals[0], 1), totals[2] / max(totals[0], 1))}


def _commonest(
    rank: NDArray[np.int32],
    release: Release,
    j: int,
    group: NDArray[np.int64],
    knows: NDArray[np.bool_],
    count: NDArray[np.int64] | None = None,
) -> NDArray[np.int64]:
    """For each entry the value of attribute j that entries of its rank which know it show most often, among those that the entry may be; -1 for none."""
    size = release.contingency.sizes[j]
    rows = release.count if count is None else count
    value = release.published[group, j]
    key, number = np.unique(rank[knows].astype(np.int64) * size + value[knows], return_inverse=True)
    total = _cells.tally(number.ravel().astype(np.int32), len(key), rows[knows])
    of_rank, code = np.divmod(key, size)
    out = np.full(len(group), -1, dtype=np.int64)
    for kind in np.unique(value[value < 0]).tolist():
        may = np.isin(code, subdomain_codes(release, j, kind, size)) if kind < -1 else np.ones(len(code), dtype=bool)
        order = np.lexsort((code[may], -total[may], of_rank[may]))
        best, first = np.unique(of_rank[may][order], return_index=True)
        mine = np.flatnonzero(value == kind)
        at = np.searchsorted(best, rank[mine])
        found = at < len(best)
        found[found] = best[at[found]] == rank[mine][found]
        out[mine[found]] = code[may][order][first[at[found]]]
    return out
