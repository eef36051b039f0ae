"""Groups that violate something merged with others, where that loses little first, until every group satisfies everything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ldiv._kernels.cells as _cells
import ldiv._kernels.release as _release
from ldiv.constraints.asked import positions, protected_names
from ldiv.constraints.protected import label_of_part, parts_of
from ldiv.errors import InputError, UnsafeReleaseError
from ldiv.privacy.principles import Histograms, Principle, histograms_of
from ldiv.release.facts import after_merging
from ldiv.release.form import STAR
from ldiv.release.histograms import histograms
from ldiv.release.nodes import covered, weighed
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency
from ldiv.table.lattice import SUBSETS, VECTORS, Lattice
from ldiv.table.ranking import rank_rows

__all__ = ["enforce", "possible"]


def possible(
    contingency: Contingency, l: int, kept: Mapping[int, int], principles: Sequence[Principle], asked: Mapping[Any, int] | None = None
) -> None:
    """Refuse what no release can satisfy: a part of equal protected values that as one group violates something.

    Principles are monotone, so what the largest group there can be does not satisfy no smaller ones in its place could all satisfy.

    Raises
    ------
    InputError
        Naming the part, what it violates and how far it goes.
    """
    if not (kept or principles):  # that the whole table is l-eligible was looked at
        return
    c = contingency
    part_of_group, first = parts_of(c, kept)
    if not len(first):
        return
    parts = histograms_of(c, part_of_group[c.group_of_cell], c.sensitive, c.count, len(first))
    where = [f"the {rows:,} rows with {label_of_part(c, kept, int(g))}" for rows, g in zip(parts.size, first, strict=True)]
    protect = asked if asked and any(asked.values()) else [c.domains[j].name for j in kept]
    if kept and not any(x.joint for x in principles):
        size, height, pillar = _cells.heights(parts.indptr, parts.sensitive, parts.count, c.m)
        bad = np.flatnonzero(size // l < height)
        if len(bad):
            p = bad[0]
            raise InputError(
                f"protect={protect!r} is impossible with l = {l}: of {where[p]}, {height[p]:,} have the sensitive value "
                f"{c.sensitive_domain.label(int(pillar[p]))!r}; protect fewer columns, coarsen them, or ask for at most l = {size[p] // height[p]}"
            )
    for principle in principles:
        bad = np.flatnonzero(~_verdict(principle, parts))
        if not len(bad):
            continue
        p, level = bad[0], principle.level(parts)[bad[0]]
        if not kept:
            raise InputError(f"{principle}: the whole table as one group does not satisfy it (it has {level:.4g})")
        raise InputError(
            f"{principle} is impossible with protect={protect!r}: {where[p]} as one group do not satisfy it (they have {level:.4g}); "
            "protect fewer columns, coarsen them, or ask for less"
        )


def _verdict(principle: Principle, groups: Histograms) -> NDArray[np.bool_]:
    """Which groups satisfy a principle, which may be a user's own."""
    found = np.asarray(principle.holds(groups))
    if found.shape != (len(groups.indptr) - 1,) or found.dtype != np.bool_:
        raise InputError(
            f"{principle}: holds() must return a bool for each of the {len(groups.indptr) - 1:,} groups, not {found.dtype} of shape {found.shape}"
        )
    return found


def _all_hold(principles: Sequence[Principle], groups: Histograms) -> NDArray[np.bool_]:
    return np.asarray(np.logical_and.reduce([_verdict(principle, groups) for principle in principles]))


def enforce(
    release: Release, principles: Sequence[Principle], protect: Mapping[str, int] | Sequence[str] = (), lattice: Lattice | None = None
) -> Release:
    """Merge the groups that violate a principle, where that loses little first, until every group satisfies all.

    l-diversity survives, because unions of l-eligible groups are l-eligible. Protected columns keep their values: only groups that agree on them are
    merged. Merged groups publish stars, or along a lattice the lowest nodes above what they hold; other releases with sub-domains are refused.

    Parameters
    ----------
    release : Release
    principles : sequence of Principle
    protect : mapping of str to int, optional
        Columns that may not be starred, and have no star yet, and the highest level of its hierarchy that each may show.
    lattice : Lattice, optional
        That the release was made along.

    Raises
    ------
    InputError
        A principle that even the whole table does not satisfy, or the rows that agree on the protected columns, with the strength they have.

    Notes
    -----
    As in the cascade, attribute after attribute is starred, or goes a level up: violating groups that agree on what is kept are merged where their union
    satisfies everything. What is left becomes one group a part of equal protected values, which the smallest others of the part join until it
    satisfies everything, too. O(2^d entries) at worst; each pass reads only the groups that still violate something.
    """
    if not principles or not release.n:
        return release
    c = release.contingency
    lattice = lattice or Lattice.of_stars(c)
    if not (release.is_suppression or lattice.nodes):
        raise InputError("also= works with algorithms that publish values and stars, or go along hierarchies, only")
    names = [domain.name for domain in c.domains]
    asked = protected_names(protect or (), names)
    kept = dict(sorted(positions(c.domains, asked, True).items()))
    if _crosses(release, kept):
        raise UnsafeReleaseError(f"{release.algorithm}: a protected column is starred")
    possible(c, release.l, kept, principles, asked)
    # What each group shows in every column of the lattice: the node that all its rows are below, or nothing.
    shown = _release.agreement(release.indptr, release.cell, c.group_of_cell, lattice.table.codes) if lattice.nodes else release.published
    number = np.repeat(np.arange(release.groups), np.diff(release.indptr))
    groups = histograms(release, number, release.groups)
    violating = ~_all_hold(principles, groups)
    if not violating.any():
        return release
    union = np.arange(release.groups)
    for columns in _projections(lattice, kept):
        if not violating.any():
            break
        _merge_on(release, lattice, shown, principles, columns, violating, union)
    if violating.any():
        free = [column for column, j in enumerate(lattice.attribute) if j not in kept or lattice.level[column] < kept[j]]
        starred = np.asarray((shown[:, free] < 0).all(axis=1))
        _merge_rest(release, principles, kept, starred, groups.size, violating, union)
    form: dict[str, Any] = {}
    if lattice.nodes:
        form["published"], form["subdomains"] = covered(lattice, union[number], release.cell, release.groups)
    again = Release.from_entries(
        c,
        union[number],
        release.cell,
        release.count,
        l=release.l,
        algorithm=release.algorithm,
        k=release.k,
        info=after_merging(release.info),
        **form,
    )
    again = weighed(again, lattice)
    number = np.repeat(np.arange(again.groups), np.diff(again.indptr))
    if not _all_hold(principles, histograms(again, number, again.groups)).all():
        raise UnsafeReleaseError(f"{release.algorithm}: a group violates {', '.join(map(str, principles))} after merging")
    if _crosses(again, kept):
        raise UnsafeReleaseError(f"{release.algorithm}: merging starred a protected column")
    return replace(again, star=release.star)


def _crosses(release: Release, kept: Mapping[int, int]) -> bool:
    """Whether a group holds rows that do not agree on what the protected columns show, or stars a value of one."""
    part = parts_of(release.contingency, kept)[0][release.contingency.group_of_cell[release.cell]]
    apart = np.minimum.reduceat(part, release.indptr[:-1]) < np.maximum.reduceat(part, release.indptr[:-1])
    values = [j for j, level in kept.items() if not level]
    return bool(apart.any() or (release.published[:, values] < 0).any() or (release.published[:, list(kept)] == STAR).any())


def _projections(lattice: Lattice, kept: Mapping[int, int]) -> list[tuple[int, ...]]:
    """What may be shown, of protected columns always something up to their level: least weight of stars first, then the largest domains starred first, so that most groups meet; along
    hierarchies what all rows lose least by first."""
    c = lattice.contingency
    if lattice.nodes:
        allowed = {j: {lattice.column[j, at] for at in range(level + 1)} for j, level in kept.items()}
        return [columns for _, columns in lattice.ranked if columns and all(of & set(columns) for of in allowed.values())][:VECTORS]
    free = [j for j in range(c.d) if j not in kept]
    starred = [k for k in range(len(free)) if comb(len(free), k) <= SUBSETS]
    subsets = [tuple(sorted((*kept, *others))) for k in starred for others in combinations(free, len(free) - k)]
    sizes, weights = np.log(c.sizes), c.weights
    return sorted(subsets, key=lambda columns: (-int(weights[list(columns)].sum()), float(sizes[list(columns)].sum()), columns))


def _merge_on(
    release: Release,
    lattice: Lattice,
    shown: NDArray[np.int32],
    principles: Sequence[Principle],
    kept: tuple[int, ...],
    violating: NDArray[np.bool_],
    union: NDArray[np.int64],
) -> None:
    """Merge violating groups that show the same values or nodes in the kept columns, where their union satisfies everything."""
    columns = [np.ascontiguousarray(shown[:, j]) for j in kept]
    able = np.flatnonzero(np.logical_and.reduce([violating, *(column >= 0 for column in columns)]))
    if len(able) < 2:
        return
    pool, first, _ = rank_rows([column[able] for column in columns], [lattice.table.sizes[j] for j in kept])
    entry, member = release.entries_of(able)
    good = _all_hold(principles, histograms(release, pool[member], len(first), entry))[pool]
    union[able[good]] = able[first][pool[good]]
    violating[able[good]] = False


def _merge_rest(
    release: Release,
    principles: Sequence[Principle],
    kept: Mapping[int, int],
    starred: NDArray[np.bool_],
    sizes: NDArray[np.int64],
    violating: NDArray[np.bool_],
    union: NDArray[np.int64],
) -> None:
    """In each part one group of all that still violate something, joined by rows starred but for the protected columns and by as many of the smallest
    groups of the part as it needs."""
    c = release.contingency
    number = np.repeat(np.arange(release.groups), np.diff(release.indptr))
    part = parts_of(c, kept)[0][c.group_of_cell[release.cell[release.indptr[:-1]]]]
    leaders, unions = np.unique(union, return_inverse=True)
    of_union = part[leaders]
    size = _cells.tally(unions.astype(np.int32), len(leaders), sizes)
    for p in np.unique(part[violating]):
        merged = np.zeros(len(leaders), dtype=bool)
        np.logical_or.at(merged, unions, (part == p) & (violating | starred))
        order = np.argsort(size, kind="stable")  # the smallest join first: they cost least
        order = order[of_union[order] == p]
        while True:
            entry = np.flatnonzero(merged[unions][number])
            if _all_hold(principles, histograms(release, np.zeros(len(entry), dtype=np.int64), 1, entry))[0]:
                break
            free_unions = order[~merged[order]]
            if not len(free_unions):
                raise UnsafeReleaseError(f"{release.algorithm}: all rows of a part as one group violate {', '.join(map(str, principles))}")
            merged[free_unions[: max(1, int(merged.sum()))]] = True
        union[merged[unions]] = leaders[np.argmax(merged)]
