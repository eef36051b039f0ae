"""Whole rows in place of stars and sub-domains, drawn from what a release publishes: for measures and tools that need them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ldiv.arguments import SEED, Choice
from ldiv.release.form import Subdomain
from ldiv.table.microdata import Microdata
from ldiv.table.ranking import rank_rows
from ldiv.table.rows import Rows

__all__ = ["completed"]

HOW = Choice("how", of=("uniform", "histogram", "hotdeck"))


Kinds = Sequence[Sequence[Subdomain]]


def completed(data: Rows, shown: NDArray[np.int32], kinds: Kinds, how: str, seed: int | None) -> Microdata:
    """See :meth:`ldiv.Release.complete`; of the table only domains and the published SA are looked at.

    Parameters
    ----------
    data : Rows
    shown : ndarray of int32, shape (n, d)
        What each row publishes.
    kinds : sequence of sequences of Subdomain
    how, seed
        As there.
    """
    how = HOW.check(how)
    random = np.random.default_rng(SEED.check(seed))
    codes = np.where(shown >= 0, shown, 0).astype(np.int32)
    if how == "hotdeck":
        _from_donors(data, shown, kinds, codes, random)
    else:
        for j in range(shown.shape[1]):
            rows = np.flatnonzero(shown[:, j] < 0)
            codes[rows, j] = _drawn(shown[:, j], data.domains[j].size, kinds[j], rows, how == "histogram", random)
    return Microdata.from_codes(codes, data.sensitive, domains=data.domains, sensitive_domain=data.sensitive_domain)


def _drawn(
    shown: NDArray[np.int32], size: int, kinds: Sequence[Subdomain], rows: NDArray[np.int64], by_histogram: bool, random: np.random.Generator
) -> NDArray[np.int64]:
    """A value of each row's star or sub-domain: each as likely, or as often as the column publishes it by itself."""
    out = np.empty(len(rows), dtype=np.int64)
    if not len(rows):
        return out
    frequency = np.bincount(shown[shown >= 0], minlength=size) if by_histogram else None
    column = shown[rows]
    for value in np.unique(column).tolist():
        mine = column == value
        inside = None if value == -1 else np.array(kinds[-2 - value].codes)
        weight = None if frequency is None else frequency if inside is None else frequency[inside]
        count = int(mine.sum())
        if weight is None or not weight.any():
            picked = random.integers(0, size if inside is None else len(inside), count)
        else:
            picked = np.searchsorted(np.cumsum(weight), random.integers(0, int(weight.sum()), count), side="right")
        out[mine] = picked if inside is None else inside[picked]
    return out


def _from_donors(data: Rows, shown: NDArray[np.int32], kinds: Kinds, codes: NDArray[np.int32], random: np.random.Generator) -> None:
    """Rows with fewest hidden cells first, each pattern of them at once: a donor among the whole rows of equal SA value and equal kept values, else of equal
    kept values, else the column's histogram. A donor's value outside a row's sub-domain is replaced in the same way. Filled rows are donors for later ones."""
    hidden = shown < 0
    patterns, kind = np.unique(hidden, axis=0, return_inverse=True)
    kind = kind.ravel()
    whole: NDArray[np.bool_] = np.logical_not(hidden.any(axis=1))
    for k in sorted(range(len(patterns)), key=lambda k: (int(patterns[k].sum()), patterns[k].tolist())):
        missing = np.flatnonzero(patterns[k])
        if not len(missing):
            continue
        rows, kept = np.flatnonzero(kind == k), np.flatnonzero(~patterns[k])
        donor = np.full(len(rows), -1, dtype=np.int64)
        for by_sensitive in (True, False):
            open_ = np.flatnonzero(donor < 0)
            if len(open_) and whole.any():
                columns = [*(codes[:, j] for j in kept), *([data.sensitive] if by_sensitive else [])]
                donor[open_] = _donors(
                    columns,
                    [*(data.domains[j].size for j in kept), *([data.sensitive_domain.size] if by_sensitive else [])],
                    whole,
                    rows[open_],
                    random,
                )
        for j in missing.tolist():
            values = np.where(donor >= 0, codes[donor, j], -1)
            column = shown[rows, j]
            for value in np.unique(column[column < -1]).tolist():
                inside = np.isin(values, kinds[j][-2 - value].codes)
                values[(column == value) & ~inside] = -1
            bad = values < 0
            values[bad] = _drawn(shown[:, j], data.domains[j].size, kinds[j], rows[bad], True, random)
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
