"""Tables in which a person may have several rows: persons are put into groups, each with all its rows.

The rule, which :func:`ldiv.check` and :func:`ldiv.verify` count anew: in every group at most 1/l of the rows and at most 1/l of the persons share a
sensitive value, where a person counts once for each value that its rows hold; all rows of a person are published alike. Groups are then sets of
persons, so a union of groups that keep the rule keeps it too, and a release exists if and only if the whole table as one group keeps it. Were the
rows of a person spread over groups, a union could break the rule, and the groups together would tell more than each of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.algorithms import Algorithm, get
from ldiv.algorithms.lagrangian import EFFORTS
from ldiv.bounds.counting import star_bound
from ldiv.constraints.asked import as_principles, positions, protected_names, refuse_generalising
from ldiv.constraints.enforce import enforce, possible
from ldiv.constraints.protected import solve_protected
from ldiv.constraints.several import joined, spread
from ldiv.errors import InputError, NotEligibleError
from ldiv.privacy.persons import Persons
from ldiv.privacy.principles import Frequency, Histograms, KAnonymity, Principle
from ldiv.privacy.requirement import require_eligible, validate_k
from ldiv.release.form import STAR
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency
from ldiv.table.domain import Domain
from ldiv.table.microdata import Microdata
from ldiv.table.ranking import rank_rows

__all__ = ["compose_persons"]


@dataclass(frozen=True, eq=False)
class OfRows(Principle):
    """A principle in the rows, or in the persons, that stand behind kinds of persons: kind p has ``rows[k]`` rows of ``value[k]`` for k from
    ``indptr[p]`` on."""

    name: Any
    what: str
    indptr: NDArray[np.int64]
    value: NDArray[np.int32]
    rows: NDArray[np.int64]
    ordered: bool
    principle: Principle
    joint = True

    def __post_init__(self) -> None:  # its parameters are those of the principle, which has looked at them
        pass

    def _read(self, groups: Histograms) -> Histograms:
        number = np.repeat(np.arange(len(groups.indptr) - 1), np.diff(groups.indptr))
        lengths = np.diff(self.indptr)[groups.sensitive]
        entry = np.repeat(np.arange(len(groups.sensitive)), lengths)
        at = np.arange(len(entry)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + self.indptr[groups.sensitive][entry]
        m = int(self.value.max(initial=0)) + 1
        each = groups.count[entry] * (self.rows[at] if self.what == "rows" else 1)
        rank, first, bounds = rank_rows([number[entry].astype(np.int32), self.value[at]], [max(len(groups.indptr) - 1, 1), m], split=True)
        count = np.bincount(rank, each, len(first)).astype(np.int64)
        kinds = np.repeat(np.arange(len(self.indptr) - 1), np.diff(self.indptr))
        whole = np.bincount(self.value, groups.total[kinds] * (self.rows if self.what == "rows" else 1), m).astype(np.int64)
        return Histograms(bounds, self.value[at][first], count, whole, self.ordered)

    def holds(self, groups: Histograms) -> NDArray[np.bool_]:
        if self.what == "persons":  # of them there are fewer than of their values
            return np.asarray(groups.size // self.principle.l >= self._read(groups).height)  # type: ignore[attr-defined]
        return self.principle.holds(self._read(groups))

    def level(self, groups: Histograms) -> NDArray[Any]:
        read = self._read(groups)
        return groups.size // np.maximum(read.height, 1) if self.what == "persons" else self.principle.level(read)

    def __str__(self) -> str:
        kind = f"{self.principle.l}-diversity" if isinstance(self.principle, Frequency) else str(self.principle)
        return f"{kind} of {self.name!r} in {self.what}"


def compose_persons(
    tables: Sequence[Microdata],
    persons: Persons,
    l: int,
    algorithm: Algorithm,
    *,
    k: int = 1,
    seed: int | None = None,
    protect: Sequence[str] | str = (),
    also: Sequence[Principle] | Principle = (),
    **options: Any,
) -> Release:
    """A verified release in which every group keeps the rule of this module.

    Parameters
    ----------
    tables : sequence of Microdata
        The same rows and quasi-identifiers once for each sensitive column.
    persons : Persons
    l : int
    algorithm : Algorithm
        One that publishes values and stars.
    k : int
        The least number of persons in a group.
    seed : int, optional
        Repeats which of several persons alike in everything goes where.
    protect, also
        As :func:`ldiv.constraints.compose`; k-anonymity counts persons, the other principles rows.
    **options
        The algorithm's.

    Raises
    ------
    NotEligibleError
        Not even the whole table as one group keeps the rule; says what stands too often, in rows or in persons.
    InputError
        A protected column in which the rows of a person differ; constraints that no release can satisfy.
    """
    names = [domain.name for domain in tables[0].domains]
    kept_names, also = protected_names(protect, names), as_principles(also)
    for what, given in (("protect=", protect), ("also=", also), ("several sensitive columns", tables[1:])):
        refuse_generalising(algorithm, what, given)
    refuse_generalising(algorithm, "unit=", True)
    if options.get("nodes"):
        raise InputError(
            "unit= works with values and stars only, not along hierarchies: publish columns on a level of theirs by coarsen=, or leave hierarchies= out"
        )
    k = validate_k(k)
    inside = {"k": k} if algorithm.sizes or k <= l else {}
    kept = positions(tables[0].domains, kept_names)
    cells = joined([*tables, Microdata(tables[0].narrow, persons.code, tables[0].domains, Domain(persons.name, max(persons.count, 1)))])[
        0
    ].contingency
    if not tables[0].n:
        return Release.verify(algorithm.solve(cells, l, **inside, seed=seed, **options))
    _require(tables, persons, l, k)
    codes, varies = _common(tables[0], persons)
    for j in kept:
        if varies[:, j].any():
            raise InputError(
                f"protect={protect!r} is impossible with unit={persons.name!r}: the rows of {int(varies[:, j].sum()):,} persons differ in {names[j]!r}, "
                "which must be starred for them"
            )
    domains = tuple(replace(x, size=x.size + int(some.any()), taxonomy=None) for x, some in zip(tables[0].domains, varies.T, strict=True))
    kind, kinds = _kinds([table.sensitive for table in tables], persons)
    common = _commonest(tables[0], persons)
    by_value = Microdata(codes, common, domains, tables[0].sensitive_domain)
    by_kind = Microdata(codes, kind, domains, Domain(persons.name, kinds))
    principles = _principles(tables, persons, kind, kinds, l, [*also, KAnonymity(k)] if k > 1 else also)
    possible(by_kind.contingency, l, kept, principles)
    first = by_value.contingency
    alone = persons.count == tables[0].n  # every person has one row
    if not alone and options.get("time_limit") is not None:
        options["time_limit"] = options["time_limit"] / 2  # half for the release, half for the bound
    options |= inside | {"seed": seed}
    release = solve_protected(first, l, algorithm, kept, **options) if kept else algorithm.solve(first, l, **options)
    proven = release.info if alone else _bound_of_rows(tables[0].contingency, release, l, k, options)
    value_of_kind = np.zeros(kinds, dtype=np.int32)
    value_of_kind[kind] = common
    release = enforce(spread(release, by_kind.contingency, value_of_kind), principles, kept_names).drawn(seed)
    published = release.published.copy()
    for j, domain in enumerate(tables[0].domains):
        published[published[:, j] >= domain.size, j] = STAR  # the rows of a person differ
    assert cells.cell_of_row is not None
    group = release.group[persons.code]
    # What every release has: the stars where the rows of a person differ, and what each sensitive column forces by itself.
    forced = sum(int(w) * int(np.count_nonzero(x[persons.code])) for w, x in zip(first.weights, varies.T, strict=True))
    info: dict[str, Any] = {"counted": max(forced, *(star_bound(table.contingency, l, k) for table in tables)), "persons": _plain(persons.name)}
    info["varies"] = {name: int(count) for name, count in zip(names, varies.sum(axis=0), strict=True) if count}
    info |= {key: proven[key] for key in ("bound", "prices", "proof") if key in proven}
    info |= {key: value for key, value in (("protected", tuple(kept_names)), ("also", tuple(map(str, also)))) if value}
    one = np.ones(len(group), dtype=np.int64)
    return Release.from_entries(cells, group, cells.cell_of_row, one, l=l, k=k, algorithm=algorithm.name, info=info, published=published).verify()


def _bound_of_rows(rows: Contingency, release: Release, l: int, k: int, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """A bound on the stars of the rows, by prices, where the algorithm proves such bounds: what persons pay says nothing of rows, but a release that keeps the
    rule of persons keeps that of rows, so that what no release of the rows is below holds for it. The ascent of the prices alone, without a search."""
    if release.proof is None:
        return {}
    taken = {name: options[name] for name in ("time_limit", "threads", "progress") if options.get(name) is not None}
    return get("lagrangian").solve(rows, l, k=k, effort=replace(EFFORTS["default"], dives=0, rounds=0, looks=0), **taken).info


def _plain(name: Any) -> Any:
    """A column's name as a certificate's file can hold it."""
    return name if isinstance(name, str | int) else str(name)


def _require(tables: Sequence[Microdata], persons: Persons, l: int, k: int) -> None:
    """Refuse what no release can keep."""
    if persons.count < k:
        raise InputError(f"k must be at most the {persons.count:,} persons of the table, not {k:,}: no group can have so many")
    for table in tables:
        require_eligible(table.contingency, l)
        having = persons.having(table.sensitive, table.m)
        pillar = int(np.argmax(having))
        if persons.count < l * int(having[pillar]):
            raise NotEligibleError(table.sensitive_domain.label(pillar), int(having[pillar]), persons.count, l, what="persons")


def _common(data: Microdata, persons: Persons) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """The quasi-identifiers of each person: the code that all its rows have, or one beyond the domain where they differ, and where that is so."""
    row = np.empty(persons.count, dtype=np.int64)
    row[persons.code] = np.arange(data.n)
    codes = np.asfortranarray(data.narrow[row], dtype=np.int32)
    varies = np.zeros(codes.shape, dtype=bool)
    for j in range(data.d):
        varies[persons.code[data.narrow[:, j] != codes[persons.code, j]], j] = True
        codes[varies[:, j], j] = data.domains[j].size
    return codes, varies


def _kinds(values: Sequence[NDArray[np.int32]], persons: Persons) -> tuple[NDArray[np.int32], int]:
    """Persons numbered by what their rows hold of all sensitive columns, in whatever order."""
    order = np.lexsort([*values, persons.code])
    rows = np.stack([value[order] for value in values], axis=1).astype(np.int32)
    ends = np.cumsum(np.bincount(persons.code, minlength=persons.count))
    seen: dict[bytes, int] = {}
    kind = np.empty(persons.count, dtype=np.int32)
    start = 0
    for p, end in enumerate(ends.tolist()):
        kind[p] = seen.setdefault(rows[start:end].tobytes(), len(seen))
        start = end
    place = np.empty(len(seen), dtype=np.int32)  # by content, so that they do not depend on the numbers of persons
    place[[seen[content] for content in sorted(seen)]] = np.arange(len(seen), dtype=np.int32)
    return place[kind], len(seen)


def _commonest(data: Microdata, persons: Persons) -> NDArray[np.int32]:
    """Of each person's values that which most persons have: the one that stands most in the way."""
    having = persons.having(data.sensitive, data.m)
    rank = np.argsort(np.argsort(having, kind="stable"), kind="stable")
    best = np.full(persons.count, -1, dtype=np.int64)
    np.maximum.at(best, persons.code, rank[data.sensitive])
    value = np.empty(data.m, dtype=np.int32)
    value[rank] = np.arange(data.m, dtype=np.int32)
    return value[best]


def _principles(
    tables: Sequence[Microdata], persons: Persons, kind: NDArray[np.int32], kinds: int, l: int, also: Sequence[Principle]
) -> list[Principle]:
    found: list[Principle] = [principle for principle in also if isinstance(principle, KAnonymity)]
    example = np.empty(kinds, dtype=np.int64)
    example[kind] = np.arange(persons.count)
    is_example = np.zeros(persons.count, dtype=bool)
    is_example[example] = True
    rows = np.flatnonzero(is_example[persons.code])
    for table in tables:
        rank, first, bounds = rank_rows([kind[persons.code[rows]], table.sensitive[rows]], [kinds, table.m], split=True)
        count = np.bincount(rank, minlength=len(first)).astype(np.int64)
        value = table.sensitive[rows][first]
        ordered, name = table.sensitive_domain.ordered, table.sensitive_domain.name
        found += [OfRows(name, what, bounds, value, count, ordered, Frequency(l)) for what in ("rows", "persons")]
        found += [OfRows(name, "rows", bounds, value, count, ordered, other) for other in also if not isinstance(other, KAnonymity)]
    return found
