"""l-eligibility of tables: check, max_l, and what they report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ldiv._kernels.cells as _cells
from ldiv.errors import InputError
from ldiv.privacy.persons import Persons, persons_of
from ldiv.privacy.requirement import asked, publishable, validate_k
from ldiv.privacy.violations import CheckReport, Violation, Violations
from ldiv.table.contingency import Contingency
from ldiv.table.domain import NO_SENSITIVE
from ldiv.table.frames import named, open_frame
from ldiv.table.microdata import Microdata

__all__ = ["CheckReport", "Violation", "Violations", "as_microdata", "check", "max_l", "one_by_one"]


def check(
    frame: Any,
    qi: Sequence[str] | None = None,
    sensitive: str | None = None,
    l: int | None = None,
    *,
    k: int = 1,
    missing: str | Mapping[str, str] | None = None,
    unit: Any = None,
) -> CheckReport:
    """Whether a table, as published, is l-diverse: in every QI-group at most ``|Q|/l`` rows share an SA value, and there are at least k.

    A star is an ordinary published value here, so the output of any tool can be judged; groups are the rows with equal
    published QI values.

    Parameters
    ----------
    frame : DataFrame, Table, dict of arrays, Microdata, or Contingency
    qi, sensitive : columns
        Not needed for Microdata and cells; of several sensitive columns each is judged, of none only k.
    l : int, default 2
        At least 1; left out where there is no sensitive column.
    k : int, default 1
        The least size of a group, in rows, or in persons where these are counted.
    missing : optional
        As in :meth:`ldiv.Microdata.from_frame`.
    unit : column, optional
        Which person a row belongs to. Persons are then counted beside rows: in every group at most 1/l of the persons share an SA value, where one
        with several rows counts once for each of its values.

    Returns
    -------
    CheckReport
        Truthy when l-diverse and k-anonymous; ``.max_l``, ``.groups``, ``.violations``.

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
    domain = frame.sensitive_domain if isinstance(frame, (Microdata, Contingency)) else NO_SENSITIVE
    bare = sensitive is None and domain == NO_SENSITIVE
    if qi is None and not isinstance(frame, (Microdata, Contingency)):
        raise InputError("name the columns: qi= and sensitive=")
    l, k = asked(not bare, 2 if l is None and not bare else l, k)
    persons = None if unit is None else persons_of(frame, unit, [*_columns(frame, qi, "qi"), *_columns(frame, sensitive, "sensitive")])
    parts = [part for one, name in one_by_one(frame, sensitive) for part in _checked(one, qi, name, l, k, missing, persons)]
    first = parts[0]
    found = [part for part in parts if len(part.excess)]
    violations = Violations(np.concatenate([part.excess for part in parts]), lambda k: _located(found, k))
    largest = min(part.largest for part in parts)
    return CheckReport(
        not violations, l, largest, first.groups, first.rows, violations, None if persons is None else persons.count, k, parts[-1].smallest
    )


@dataclass(frozen=True, eq=False)
class _Part:
    """One sensitive column of a table, judged in rows or in persons: the groups with too many of one value, and how to describe each."""

    largest: int
    smallest: int
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


def _checked(frame: Any, qi: Any, sensitive: Any, l: int, k: int, missing: Any, persons: Persons | None) -> Iterator[_Part]:
    c = frame if isinstance(frame, Contingency) else as_microdata(frame, qi, sensitive, missing).contingency
    yield _judged(c, l, 1 if persons is not None else k, *_cells.heights(c.indptr, c.sensitive, c.count, c.m), "rows")
    if persons is not None:
        counted = persons.counted(c)
        yield _judged(c, l, k, counted.size, *counted.heights(c.m), "persons")


def _judged(c: Contingency, l: int, k: int, size: NDArray[np.int64], height: NDArray[np.int64], pillar: NDArray[np.int32], what: str) -> _Part:
    excess = np.maximum(height - size // l, k - size)
    bad = np.flatnonzero(~publishable(size, height, l, k))

    def made(at: int) -> Violation:
        g = int(bad[at])
        group = {x.name: x.label(int(code)) for x, code in zip(c.domains, c.codes[g], strict=True)}
        value = c.sensitive_domain.label(int(pillar[g]))
        return Violation(group, int(size[g]), value, int(height[g]), int(size[g] // l), c.sensitive_domain.name, what, k)

    largest, smallest = (int((size // height).min()), int(size.min())) if len(size) else (0, 0)
    return _Part(largest, smallest, c.groups, c.n, excess[bad], made)


def max_l(frame: Any, sensitive: str | None = None, *, k: int = 1, missing: str | Mapping[str, str] | None = None, unit: Any = None) -> int:
    """The largest l for which an l-diverse release of the table exists: ``floor(n / h)``, h the commonest value's count.

    Parameters
    ----------
    frame : DataFrame, Table, dict of arrays, Microdata, or Contingency
    sensitive : column or sequence of columns
        Not needed for Microdata and cells; of several the one that allows least decides.
    k : int, default 1
        The least size of a group: no release has one where the table has fewer rows (or persons).
    missing : optional
        As in :meth:`ldiv.Microdata.from_frame`.
    unit : column, optional
        Which person a row belongs to: persons are then counted beside rows.

    Returns
    -------
    int
        0 for a table without rows, or with fewer than k.

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
    k = validate_k(k)
    return min(_max_l_of_one(part, name, k, missing, persons) for part, name in one_by_one(frame, sensitive))


def _max_l_of_one(frame: Any, sensitive: Any, k: int, missing: Any, persons: Persons | None) -> int:
    if isinstance(frame, Contingency):
        return int(frame.n // frame.histogram.max()) if frame.n >= k else 0
    if isinstance(frame, Microdata):
        target, m = frame.sensitive, frame.m
    else:
        if sensitive is None:
            raise InputError("name the sensitive column: sensitive=")
        target, domain = Microdata.read_sensitive(frame, sensitive, missing)
        m = domain.size
    histogram = _cells.tally(target, m)
    if (len(target) if persons is None else persons.count) < k:
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
    if qi is None:
        raise InputError("name the columns: qi= and sensitive=")
    return Microdata.from_frame(frame, qi, sensitive, missing=missing, keep=False)
