"""l-eligibility of tables: check, max_l, and what they report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

import ldiv._kernels.cells as _cells
from ldiv.errors import InputError
from ldiv.privacy.persons import Persons, persons_of
from ldiv.privacy.requirement import validate_l
from ldiv.table.contingency import Contingency
from ldiv.table.frames import named, open_frame
from ldiv.table.html import short, table_html
from ldiv.table.microdata import Microdata

WORST = 10  # violations that a notebook shows

__all__ = ["CheckReport", "Violation", "Violations", "as_microdata", "check", "max_l", "one_by_one"]


@dataclass(frozen=True)
class Violation:
    """A QI-group that is not l-eligible.

    Attributes
    ----------
    group : dict
        The published QI values, by column.
    rows : int
        Size of the group.
    value : object
        Its most frequent sensitive value.
    count : int
        Rows with that value.
    allowed : int
        How many there may be, ``floor(rows / l)``.
    excess : int
        How many too many.
    sensitive : object
        The sensitive column.
    what : {"rows", "persons"}
        What `rows`, `count` and `allowed` count.
    """

    group: dict[str, Any]
    rows: int
    value: Any
    count: int
    allowed: int
    sensitive: Any = None
    what: str = "rows"

    @property
    def excess(self) -> int:
        return self.count - self.allowed


class Violations(Sequence[Violation]):
    """Violations, worst first, each made when it is looked at: a table whose rows all differ has one a row."""

    def __init__(self, excess: NDArray[np.int64], made: Callable[[int], Violation]) -> None:
        self._order = np.argsort(-excess, kind="stable")
        self._made = made

    def __len__(self) -> int:
        return len(self._order)

    @overload
    def __getitem__(self, at: int) -> Violation: ...
    @overload
    def __getitem__(self, at: slice) -> list[Violation]: ...
    def __getitem__(self, at: int | slice) -> Violation | list[Violation]:
        if isinstance(at, slice):
            return [self._made(int(k)) for k in self._order[at]]
        return self._made(int(self._order[at]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __repr__(self) -> str:
        return f"<{len(self):,} violations{f', the worst {short(self[0], 300)}' if len(self) else ''}>"


@dataclass(frozen=True)
class CheckReport:
    """The verdict of :func:`check`; true where the table is l-diverse.

    Attributes
    ----------
    ok : bool
    l : int
    max_l : int
        The largest l for which the table is l-diverse; 0 for a table without rows.
    groups : int
        Number of QI-groups.
    rows : int
    violations : sequence of Violation
        The groups that are not l-eligible, worst first; each is made when it is looked at.
    persons : int, optional
        How many persons the rows belong to, where `unit` said so.
    """

    ok: bool
    l: int
    max_l: int
    groups: int
    rows: int
    violations: Sequence[Violation] = field(repr=False)
    persons: int | None = None

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        whose = f" of {self.persons:,} persons" if self.persons is not None else ""
        verdict = (
            f"{self.l}-diverse" if self.ok else f"not {self.l}-diverse, {len(self.violations):,} violation{'s' if len(self.violations) != 1 else ''}"
        )
        return f"<CheckReport {verdict}: {self.rows:,} rows{whose}, {self.groups:,} groups, l-diverse up to {self.max_l}>"

    def _repr_html_(self) -> str:
        """The verdict and the worst groups, for notebooks."""
        rows = [
            (
                ", ".join(f"{short(name, 20)}={short(value, 20)}" for name, value in v.group.items()),
                v.sensitive,
                v.value,
                f"{v.count:,} of {v.rows:,} {v.what}",
                v.allowed,
            )
            for v in self.violations[:WORST]
        ]
        more = len(self.violations) - len(rows)
        return table_html(
            f"{'yes' if self.ok else 'no'}: l-diverse up to l = {self.max_l}, asked {self.l}; {self.rows:,} rows, {self.groups:,} groups",
            ["group", "sensitive", "value", "have it", "allowed"] if rows else [],
            rows,
            f"and {more:,} more" if more else "",
        )


def check(
    frame: Any,
    qi: Sequence[str] | None = None,
    sensitive: str | None = None,
    l: int = 2,
    *,
    missing: str | Mapping[str, str] | None = None,
    unit: Any = None,
) -> CheckReport:
    """Whether a table, as published, is l-diverse: in every QI-group at most ``|Q|/l`` rows share an SA value.

    A star is an ordinary published value here, so the output of any tool can be judged; groups are the rows with equal
    published QI values.

    Parameters
    ----------
    frame : DataFrame, Table, dict of arrays, Microdata, or Contingency
    qi, sensitive : columns
        Not needed for Microdata and cells; of several sensitive columns each is judged.
    l : int
        At least 1.
    missing : optional
        As in :meth:`ldiv.Microdata.from_frame`.
    unit : column, optional
        Which person a row belongs to. Persons are then counted beside rows: in every group at most 1/l of the persons share an SA value, where one
        with several rows counts once for each of its values.

    Returns
    -------
    CheckReport
        Truthy when l-diverse; ``.max_l``, ``.groups``, ``.violations``.

    Raises
    ------
    InputError
        Wrong columns, l, or missing sensitive values.

    Notes
    -----
    O(n) time and space, however many groups violate.

    Examples
    --------
    >>> import ldiv
    >>> table = {"Age": ["30", "30", "*", "*"], "Disease": ["flu", "flu", "flu", "cold"]}
    >>> report = ldiv.check(table, qi=["Age"], sensitive="Disease", l=2)
    >>> bool(report), report.max_l, report.violations[0].group, report.violations[0].excess
    (False, 1, {'Age': '30'}, 1)
    """
    l = validate_l(l)
    persons = None if unit is None else persons_of(frame, unit, [*_columns(frame, qi, "qi"), *_columns(frame, sensitive, "sensitive")])
    parts = [part for one, name in one_by_one(frame, sensitive) for part in _checked(one, qi, name, l, missing, persons)]
    first = parts[0]
    found = [part for part in parts if len(part.excess)]
    violations = Violations(np.concatenate([part.excess for part in parts]), lambda k: _located(found, k))
    largest = min(part.largest for part in parts)
    return CheckReport(not violations, l, largest, first.groups, first.rows, violations, None if persons is None else persons.count)


@dataclass(frozen=True, eq=False)
class _Part:
    """One sensitive column of a table, judged in rows or in persons: the groups with too many of one value, and how to describe each."""

    largest: int
    groups: int
    rows: int
    excess: NDArray[np.int64]
    made: Callable[[int], Violation]


def _located(parts: list[_Part], at: int) -> Violation:
    for part in parts:
        if at < len(part.excess):
            return part.made(at)
        at -= len(part.excess)
    raise IndexError(at)


def _checked(frame: Any, qi: Any, sensitive: Any, l: int, missing: Any, persons: Persons | None) -> Iterator[_Part]:
    c = frame if isinstance(frame, Contingency) else as_microdata(frame, qi, sensitive, missing).contingency
    yield _judged(c, l, *_cells.heights(c.indptr, c.sensitive, c.count, c.m), "rows")
    if persons is not None:
        counted = persons.counted(c)
        yield _judged(c, l, counted.size, *counted.heights(c.m), "persons")


def _judged(c: Contingency, l: int, size: NDArray[np.int64], height: NDArray[np.int64], pillar: NDArray[np.int32], what: str) -> _Part:
    excess = height - size // l
    bad = np.flatnonzero(excess > 0)

    def made(at: int) -> Violation:
        g = int(bad[at])
        group = {x.name: x.label(int(code)) for x, code in zip(c.domains, c.codes[g], strict=True)}
        value = c.sensitive_domain.label(int(pillar[g]))
        return Violation(group, int(size[g]), value, int(height[g]), int(size[g] // l), c.sensitive_domain.name, what)

    return _Part(int((size // height).min()) if len(size) else 0, c.groups, c.n, excess[bad], made)


def max_l(frame: Any, sensitive: str | None = None, *, missing: str | Mapping[str, str] | None = None, unit: Any = None) -> int:
    """The largest l for which an l-diverse release of the table exists: ``floor(n / h)``, h the commonest value's count.

    Parameters
    ----------
    frame : DataFrame, Table, dict of arrays, Microdata, or Contingency
    sensitive : column or sequence of columns
        Not needed for Microdata and cells; of several the one that allows least decides.
    missing : optional
        As in :meth:`ldiv.Microdata.from_frame`.
    unit : column, optional
        Which person a row belongs to: persons are then counted beside rows.

    Returns
    -------
    int
        0 for a table without rows.

    Raises
    ------
    InputError
        Unknown column or missing sensitive values.

    Notes
    -----
    O(n). A table admits a solution iff it is itself l-eligible (paper, section 2).

    Examples
    --------
    >>> import ldiv
    >>> ldiv.max_l({"Disease": ["flu", "flu", "cold", "cough", "cold"]}, sensitive="Disease")
    2
    """
    persons = None if unit is None else persons_of(frame, unit, _columns(frame, sensitive, "sensitive"))
    return min(_max_l_of_one(part, name, missing, persons) for part, name in one_by_one(frame, sensitive))


def _max_l_of_one(frame: Any, sensitive: Any, missing: Any, persons: Persons | None) -> int:
    if isinstance(frame, Contingency):
        return int(frame.n // frame.histogram.max()) if frame.n else 0
    if isinstance(frame, Microdata):
        target, m = frame.sensitive, frame.m
    else:
        if sensitive is None:
            raise InputError("name the sensitive column: sensitive=")
        target, domain = Microdata.read_sensitive(frame, sensitive, missing)
        m = domain.size
    histogram = _cells.tally(target, m)
    if not len(target):
        return 0
    largest = int(len(target) // histogram.max())
    return largest if persons is None else min(largest, persons.count // int(persons.having(target, m).max()))


def one_by_one(frame: Any, sensitive: Any) -> list[tuple[Any, Any]]:
    """A table once for each sensitive column that is named; codes and counts have one."""
    if isinstance(frame, (Microdata, Contingency)) or sensitive is None:
        return [(frame, sensitive)]
    source = open_frame(frame)
    names = named(sensitive, source.columns, "sensitive")
    if not names:
        raise InputError("sensitive is empty: name at least one sensitive column")
    return [(source, name) for name in names]


def _columns(frame: Any, given: Any, role: str) -> list[Any]:
    return [] if given is None else named(given, open_frame(frame).columns, role)


def as_microdata(frame: Any, qi: Any, sensitive: str | None, missing: Any) -> Microdata:
    """The table as Microdata, whatever it is."""
    if isinstance(frame, Microdata):
        return frame
    if qi is None or sensitive is None:
        raise InputError("name the columns: qi= and sensitive=")
    return Microdata.from_frame(frame, qi, sensitive, missing=missing, keep=False)
