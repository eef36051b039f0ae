"""Whole rows in place of stars and sub-domains, drawn from what a release publishes: for measures and tools that need them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ldiv.arguments import SEED, Choice
from ldiv.errors import LdivError
from ldiv.table.microdata import Microdata
from ldiv.table.ranking import rank_rows

if TYPE_CHECKING:
    from ldiv.release.release import Release

__all__ = ["completed"]

HOW = Choice("how", of=("uniform", "histogram", "hotdeck"))


def completed(release: Release, how: str, seed: int | None) -> Microdata:
    """See :meth:`ldiv.Release.complete`."""
    how = HOW.check(how)
    random = np.random.default_rng(SEED.check(seed))
    data = release.contingency.data
    if data is None:
        raise LdivError("this release was made from counts, not rows: there are no rows to complete")
    shown = release.codes
    codes = np.where(shown >= 0, shown, 0).astype(np.int32)
    if how == "hotdeck":
        _from_donors(release, shown, codes, random)
    else:
        for j in range(release.d):
            rows = np.flatnonzero(shown[:, j] < 0)
            codes[rows, j] = _drawn(release, shown, j, rows, how == "histogram", random)
    return Microdata.from_codes(codes, data.sensitive, domains=data.domains, sensitive_domain=data.sensitive_domain)


def _drawn(
    release: Release, shown: NDArray[np.int32], j: int, rows: NDArray[np.int64], by_histogram: bool, random: np.random.Generator
) -> NDArray[np.int64]:
    """A value of each row's star or sub-domain: each as likely, or as often as the column publishes it by itself."""
    size = release.contingency.sizes[j]
    out = np.empty(len(rows), dtype=np.int64)
    if not len(rows):
        return out
    frequency = np.bincount(shown[shown[:, j] >= 0, j], minlength=size) if by_histogram else None
    column = shown[rows, j]
    for value in np.unique(column).tolist():
        mine = column == value
        inside = None if value == -1 else np.array(release.subdomains[j][-2 - value].codes)
        weight = None if frequency is None else frequency if inside is None else frequency[inside]
        count = int(mine.sum())
        if weight is None or not weight.any():
            picked = random.integers(0, size if inside is None else len(inside), count)
        else:
            picked = np.searchsorted(np.cumsum(weight), random.integers(0, int(weight.sum()), count), side="right")
        out[mine] = picked if inside is None else inside[picked]
    return out


def _from_donors(release: Release, shown: NDArray[np.int32], codes: NDArray[np.int32], random: np.random.Generator) -> None:
    """Rows with fewest hidden cells first, each pattern of them at once: a donor among the whole rows of equal SA value and equal kept values, else of equal
    kept values, else the column's histogram. A donor's value outside a row's sub-domain is replaced in the same way. Filled rows are donors for later ones."""
    hidden = shown < 0
    kinds, kind = np.unique(hidden, axis=0, return_inverse=True)
    kind = kind.ravel()
    whole: NDArray[np.bool_] = np.logical_not(hidden.any(axis=1))
    data = release.contingency.data
    assert data is not None
    for k in sorted(range(len(kinds)), key=lambda k: (int(kinds[k].sum()), kinds[k].tolist())):
        missing = np.flatnonzero(kinds[k])
        if not len(missing):
            continue
        rows, kept = np.flatnonzero(kind == k), np.flatnonzero(~kinds[k])
        donor = np.full(len(rows), -1, dtype=np.int64)
        for by_sensitive in (True, False):
            open_ = np.flatnonzero(donor < 0)
            if len(open_) and whole.any():
                columns = [*(codes[:, j] for j in kept), *([data.sensitive] if by_sensitive else [])]
                donor[open_] = _donors(
                    columns, [*(release.contingency.sizes[j] for j in kept), *([data.m] if by_sensitive else [])], whole, rows[open_], random
                )
        for j in missing:
            values = np.where(donor >= 0, codes[donor, j], -1)
            column = shown[rows, j]
            for value in np.unique(column[column < -1]).tolist():
                inside = np.isin(values, release.subdomains[j][-2 - value].codes)
                values[(column == value) & ~inside] = -1
            bad = values < 0
            values[bad] = _drawn(release, shown, int(j), rows[bad], True, random)
            codes[rows, j] = values
        whole[rows] = True


def _donors(
    columns: list[NDArray[np.int32]], sizes: list[int], whole: NDArray[np.bool_], rows: NDArray[np.int64], random: np.random.Generator
) -> NDArray[np.int64]:
    """For each row a random whole row that is equal in some columns, -1 where there is none."""
    givers = np.flatnonzero(whole)
    if not columns:
        return np.asarray(random.choice(givers, len(rows)))
    both = np.concatenate([givers, rows])
    rank, first, _ = rank_rows([np.ascontiguousarray(column[both]) for column in columns], sizes)
    order = np.argsort(rank[: len(givers)], kind="stable")
    bounds = np.searchsorted(rank[: len(givers)][order], np.arange(len(first) + 1))
    mine = rank[len(givers) :]
    low, high = bounds[mine], bounds[mine + 1]
    found = high > low
    out = np.full(len(rows), -1, dtype=np.int64)
    out[found] = givers[order[low[found] + np.floor(random.random(int(found.sum())) * (high - low)[found]).astype(np.int64)]]
    return out
