"""Other privacy principles beside l-eligibility: checked on any table, and the monotone ones enforced on a release.

A principle is monotone when the union of two groups that satisfy it satisfies it too; then groups that do not can be merged until they do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv import _contingency
from ldiv.contingency import rank_rows
from ldiv.errors import InputError, UnsafeReleaseError
from ldiv.release import Release

__all__ = ["AlphaK", "Distinct", "Entropy", "Frequency", "KAnonymity", "Principle", "Recursive", "TCloseness", "audit", "enforce"]

SUBSETS = 1000              # levels with more projections than this are passed over
EPSILON = 1e-12             # sums of floats that should reach a bound exactly


@dataclass(frozen=True)
class Histograms:
    """The SA histograms of groups in CSR: group g has the values ``sensitive[indptr[g]:indptr[g + 1]]`` with their counts.

    `order` is the rank of each SA code where the attribute is ordered, else None; `total` the histogram of the whole table.
    """

    indptr: NDArray[np.int64]
    sensitive: NDArray[np.int32]
    count: NDArray[np.int64]
    total: NDArray[np.int64]
    ordered: bool

    @property
    def size(self) -> NDArray[np.int64]:
        return np.add.reduceat(self.count, self.indptr[:-1]) if len(self.count) else np.zeros(0, np.int64)

    @property
    def height(self) -> NDArray[np.int64]:
        return np.maximum.reduceat(self.count, self.indptr[:-1]) if len(self.count) else np.zeros(0, np.int64)


class Principle:
    """What must hold in every QI-group. `level` is the strength each group has, to compare with what is asked."""

    def level(self, groups: Histograms) -> NDArray[Any]:
        raise NotImplementedError

    def holds(self, groups: Histograms) -> NDArray[np.bool_]:
        raise NotImplementedError


@dataclass(frozen=True)
class KAnonymity(Principle):
    """At least k rows in every group (Samarati and Sweeney 1998)."""

    k: int

    def level(self, groups: Histograms) -> NDArray[Any]:
        return groups.size

    def holds(self, groups: Histograms) -> NDArray[np.bool_]:
        return np.asarray(groups.size >= self.k)


@dataclass(frozen=True)
class Frequency(Principle):
    """l-eligibility, this package's l-diversity: at most 1/l of a group shares an SA value."""

    l: int

    def level(self, groups: Histograms) -> NDArray[Any]:
        return groups.size // np.maximum(groups.height, 1)

    def holds(self, groups: Histograms) -> NDArray[np.bool_]:
        return np.asarray(groups.size >= self.l * groups.height)


@dataclass(frozen=True)
class AlphaK(Principle):
    """(alpha, k)-anonymity: at least k rows, and at most the part alpha of them with one SA value (Wong et al. 2006)."""

    alpha: float
    k: int

    def level(self, groups: Histograms) -> NDArray[Any]:
        return groups.height / np.maximum(groups.size, 1)

    def holds(self, groups: Histograms) -> NDArray[np.bool_]:
        return np.asarray((groups.size >= self.k) & (groups.height <= self.alpha * groups.size + EPSILON))


@dataclass(frozen=True)
class Distinct(Principle):
    """At least l distinct SA values in every group (Machanavajjhala et al. 2006); weaker than frequency l-diversity."""

    l: int

    def level(self, groups: Histograms) -> NDArray[Any]:
        return np.diff(groups.indptr)

    def holds(self, groups: Histograms) -> NDArray[np.bool_]:
        return np.asarray(np.diff(groups.indptr) >= self.l)


@dataclass(frozen=True)
class Entropy(Principle):
    """The entropy of every group's SA values is at least log l (Machanavajjhala et al. 2006). The level is the exponential of the entropy."""

    l: float

    def level(self, groups: Histograms) -> NDArray[Any]:
        size = np.maximum(groups.size, 1)
        mass = np.add.reduceat(groups.count * np.log(groups.count), groups.indptr[:-1]) if len(groups.count) else np.zeros(0)
        return np.exp(np.log(size) - mass / size)

    def holds(self, groups: Histograms) -> NDArray[np.bool_]:
        return np.asarray(self.level(groups) >= self.l * (1 - EPSILON))


@dataclass(frozen=True)
class Recursive(Principle):
    """Recursive (c, l)-diversity: the commonest value is less frequent than c times all but the l - 1 commonest together. The level is r1 over
    that sum; it must stay below c."""

    c: float
    l: int

    def level(self, groups: Histograms) -> NDArray[Any]:
        number = np.repeat(np.arange(len(groups.indptr) - 1), np.diff(groups.indptr))
        order = np.lexsort((-groups.count, number))
        rank = np.arange(len(number)) - groups.indptr[:-1][number]
        tail = np.bincount(number, weights=groups.count[order] * (rank >= self.l - 1), minlength=len(groups.indptr) - 1)
        with np.errstate(divide="ignore"):
            return np.where(tail > 0, groups.height / tail, np.inf)

    def holds(self, groups: Histograms) -> NDArray[np.bool_]:
        return np.asarray(self.level(groups) < self.c)


@dataclass(frozen=True)
class TCloseness(Principle):
    """The SA distribution of every group is within t of the table's, by the earth mover's distance: ordered where the attribute is, else all
    values equally far (Li et al. 2007). The level is the distance; it is convex, so that a union is no farther than its parts."""

    t: float

    def level(self, groups: Histograms) -> NDArray[Any]:
        share = groups.total / max(groups.total.sum(), 1)
        size = groups.size
        out = np.zeros(len(size))
        for g in range(len(size)):
            part = slice(groups.indptr[g], groups.indptr[g + 1])
            difference = -share.copy()
            difference[groups.sensitive[part]] += groups.count[part] / size[g]
            if groups.ordered and len(share) > 1:
                out[g] = np.abs(np.cumsum(difference)).sum() / (len(share) - 1)
            else:
                out[g] = np.abs(difference).sum() / 2
        return out

    def holds(self, groups: Histograms) -> NDArray[np.bool_]:
        return np.asarray(self.level(groups) <= self.t + EPSILON)


def audit(
    frame: Any, qi: Sequence[str] | None = None, sensitive: str | None = None, *, c: float = 2.0,
    missing: str | Mapping[str, str] | None = None,
) -> dict[str, float]:
    """How strong a published table is by every principle: the parameter that its weakest group still satisfies.

    Parameters
    ----------
    frame : any table that :func:`ldiv.check` takes, or Microdata
    qi, sensitive : columns
    c : float, default 2
        For recursive (c, l)-diversity, whose largest l is reported.
    missing : optional
        As in :meth:`ldiv.Microdata.from_frame`.

    Returns
    -------
    dict
        ``k``, ``l`` (frequency), ``distinct_l``, ``entropy_l``, ``alpha``, ``recursive_l``, ``t`` and ``unique`` (rows alone in their group);
        0 for a table without rows.

    Notes
    -----
    O(cells), for t-closeness times the number of SA values.

    Examples
    --------
    >>> import ldiv
    >>> table = {"Age": ["30", "30", "*", "*"], "Disease": ["flu", "cold", "flu", "cold"]}
    >>> found = ldiv.audit(table, ["Age"], "Disease")
    >>> found["k"], found["l"], found["distinct_l"], round(found["entropy_l"], 6), found["t"]
    (2, 2, 2, 2.0, 0.0)
    """
    from ldiv.privacy import as_microdata

    data = as_microdata(frame, qi, sensitive, missing)
    contingency = data.contingency
    groups = Histograms(
        contingency.indptr, contingency.sensitive, contingency.count, contingency.histogram, contingency.sensitive_domain.ordered
    )
    if not data.n:
        return dict.fromkeys(("k", "l", "distinct_l", "entropy_l", "alpha", "recursive_l", "t", "unique"), 0)
    largest = 0
    while largest < contingency.m and Recursive(c, largest + 1).holds(groups).all():
        largest += 1
    return {
        "k": int(groups.size.min()), "l": int(Frequency(1).level(groups).min()), "distinct_l": int(Distinct(1).level(groups).min()),
        "entropy_l": float(Entropy(1).level(groups).min()), "alpha": float(AlphaK(1, 1).level(groups).max()), "recursive_l": largest,
        "t": float(TCloseness(1).level(groups).max()), "unique": int((groups.size == 1).sum()),
    }


def histograms(release: Release, group: NDArray[np.integer], groups: int, entry: NDArray[np.int64] | None = None) -> Histograms:
    """The SA histograms of numbered groups of a release's entries, or of some of them."""
    c = release.contingency
    cell, count = (release.cell, release.count) if entry is None else (release.cell[entry], release.count[entry])
    rank, first, bounds = rank_rows([group.astype(np.int32), c.sensitive[cell]], [max(groups, 1), c.m], split=True)
    return Histograms(
        bounds, c.sensitive[cell[first]], _contingency.tally(rank, len(first), count), c.histogram, c.sensitive_domain.ordered
    )


def enforce(release: Release, principles: Sequence[Principle]) -> Release:
    """Merge the groups that violate a principle, with few more stars first, until every group satisfies all.

    l-diversity survives, because unions of l-eligible groups are l-eligible. Where a release publishes sub-domains this is refused.

    Raises
    ------
    InputError
        A principle that even the whole table does not satisfy, with the strength it has.

    Notes
    -----
    As in the cascade, attribute after attribute is starred: violating groups that agree on what is kept are merged where their union
    satisfies everything. What is left becomes one group, which the smallest others join until it satisfies everything, too. O(2^d entries) at
    worst; each pass reads only the groups that still violate something.
    """
    if not principles or not release.n:
        return release
    if not release.is_suppression:
        raise InputError("also= works with algorithms that publish values and stars only")
    number = np.repeat(np.arange(release.groups), np.diff(release.indptr))
    whole = histograms(release, np.zeros(len(number), dtype=np.int64), 1)
    for principle in principles:
        if not principle.holds(whole)[0]:
            raise InputError(f"{principle}: the whole table as one group does not satisfy it (it has {principle.level(whole)[0]:.4g})")
    groups = histograms(release, number, release.groups)
    violating = ~_all_hold(principles, groups)
    if not violating.any():
        return release
    union = np.arange(release.groups)
    for kept in _projections(release):
        if not violating.any():
            break
        _merge_on(release, principles, kept, violating, union)
    if violating.any():
        _merge_rest(release, principles, groups.size, violating, union)
    again = Release.from_entries(
        release.contingency, union[number], release.cell, release.count, l=release.l, algorithm=release.algorithm,
        info={key: value for key, value in release.info.items() if key != "phase"},
    )
    number = np.repeat(np.arange(again.groups), np.diff(again.indptr))
    if not _all_hold(principles, histograms(again, number, again.groups)).all():
        raise UnsafeReleaseError(f"{release.algorithm}: a group violates {', '.join(map(str, principles))} after merging")
    return replace(again, star=release.star)


def _all_hold(principles: Sequence[Principle], groups: Histograms) -> NDArray[np.bool_]:
    return np.asarray(np.logical_and.reduce([principle.holds(groups) for principle in principles]))


def _projections(release: Release) -> list[tuple[int, ...]]:
    """What may be kept: least weight of stars first, then the largest domains starred first, so that most groups meet."""
    c = release.contingency
    levels = [k for k in range(c.d) if comb(c.d, k) <= SUBSETS]
    subsets = [kept for k in levels for kept in combinations(range(c.d), c.d - k)]
    sizes, weights = np.log(c.sizes), c.weights
    return sorted(subsets, key=lambda kept: (-int(weights[list(kept)].sum()), float(sizes[list(kept)].sum()), kept))


def _merge_on(
    release: Release, principles: Sequence[Principle], kept: tuple[int, ...], violating: NDArray[np.bool_], union: NDArray[np.int64]
) -> None:
    """Merge violating groups that publish the same values for the kept attributes, where their union satisfies everything."""
    columns = [np.ascontiguousarray(release.published[:, j]) for j in kept]
    able = np.flatnonzero(np.logical_and.reduce([violating, *(column >= 0 for column in columns)]))
    if len(able) < 2:
        return
    pool, first, _ = rank_rows([column[able] for column in columns], [release.contingency.sizes[j] for j in kept])
    entry, member = release.entries_of(able)
    good = _all_hold(principles, histograms(release, pool[member], len(first), entry))[pool]
    union[able[good]] = able[first][pool[good]]
    violating[able[good]] = False


def _merge_rest(
    release: Release, principles: Sequence[Principle], sizes: NDArray[np.int64], violating: NDArray[np.bool_], union: NDArray[np.int64]
) -> None:
    """One group of all that still violate something, joined by starred rows and by as many of the smallest groups as it needs."""
    number = np.repeat(np.arange(release.groups), np.diff(release.indptr))
    merged = violating | (release.published < 0).all(axis=1)
    leaders, unions = np.unique(union, return_inverse=True)
    merged = np.bincount(unions, weights=merged, minlength=len(leaders)) > 0
    order = np.argsort(np.bincount(unions, weights=sizes), kind="stable")       # the smallest join first: they cost least
    while True:
        one = np.where(merged[unions], leaders[np.argmax(merged)], union)
        entry = np.flatnonzero(merged[unions][number])
        if _all_hold(principles, histograms(release, np.zeros(len(entry), dtype=np.int64), 1, entry))[0]:
            break
        free = order[~merged[order]]
        merged[free[: max(1, int(merged.sum()))]] = True
    union[:] = one
