"""l-eligibility of tables: check, max_l, and what they report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import ldiv._kernels.cells as _cells
from ldiv.arguments import L
from ldiv.errors import InputError, NotEligibleError
from ldiv.table.contingency import Contingency
from ldiv.table.frames import named, open_frame
from ldiv.table.microdata import Microdata

__all__ = ["CheckReport", "Violation", "as_microdata", "check", "max_l", "one_by_one", "require_eligible", "validate_l"]


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
    """

    group: dict[str, Any]
    rows: int
    value: Any
    count: int
    allowed: int
    sensitive: Any = None

    @property
    def excess(self) -> int:
        return self.count - self.allowed


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
    violations : list of Violation
        The groups that are not l-eligible, worst first.
    """

    ok: bool
    l: int
    max_l: int
    groups: int
    rows: int
    violations: list[Violation]

    def __bool__(self) -> bool:
        return self.ok


def validate_l(l: Any) -> int:
    """l as an int, or a clear refusal."""
    return int(L.check(l))


def require_eligible(contingency: Contingency, l: int) -> None:
    """Raise NotEligibleError where no l-diverse release of the table exists."""
    histogram = contingency.histogram
    rows = int(histogram.sum())
    pillar = int(np.argmax(histogram)) if len(histogram) else 0
    if len(histogram) and rows < l * int(histogram[pillar]):
        raise NotEligibleError(contingency.sensitive_domain.label(pillar), int(histogram[pillar]), rows, l)


def check(
    frame: Any,
    qi: Sequence[str] | None = None,
    sensitive: str | None = None,
    l: int = 2,
    *,
    missing: str | Mapping[str, str] | None = None,
) -> CheckReport:
    """Whether a table, as published, is l-diverse: in every QI-group at most ``|Q|/l`` rows share an SA value.

    A star is an ordinary published value here, so the output of any tool can be judged; groups are the rows with equal
    published QI values.

    Parameters
    ----------
    frame : DataFrame, Table, dict of arrays, Microdata, or Contingency
    qi, sensitive : columns
        Not needed for Microdata; of several sensitive columns each is judged and cells.
    l : int
        At least 1.
    missing : optional
        As in :meth:`ldiv.Microdata.from_frame`.

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
    O(n) time and space.

    Examples
    --------
    >>> import ldiv
    >>> table = {"Age": ["30", "30", "*", "*"], "Disease": ["flu", "flu", "flu", "cold"]}
    >>> report = ldiv.check(table, qi=["Age"], sensitive="Disease", l=2)
    >>> bool(report), report.max_l, report.violations[0].group, report.violations[0].excess
    (False, 1, {'Age': '30'}, 1)
    """
    l = validate_l(l)
    reports = [_check_one(part, qi, name, l, missing) for part, name in one_by_one(frame, sensitive)]
    first = reports[0]
    if len(reports) == 1:
        return first
    violations = sorted((v for report in reports for v in report.violations), key=lambda v: -v.excess)  # stable: else column by column
    return CheckReport(not violations, l, min(report.max_l for report in reports), first.groups, first.rows, violations)


def _check_one(frame: Any, qi: Any, sensitive: Any, l: int, missing: Any) -> CheckReport:
    c = frame if isinstance(frame, Contingency) else as_microdata(frame, qi, sensitive, missing).contingency
    size, height, pillar = _cells.heights(c.indptr, c.sensitive, c.count, c.m)
    excess = height - size // l
    violations = [
        Violation(
            {x.name: x.label(int(code)) for x, code in zip(c.domains, c.codes[g], strict=True)},
            int(size[g]),
            c.sensitive_domain.label(int(pillar[g])),
            int(height[g]),
            int(size[g] // l),
            c.sensitive_domain.name,
        )
        for g in np.lexsort((np.arange(len(excess)), -excess))[: np.count_nonzero(excess > 0)]
    ]
    largest = int((size // height).min()) if len(size) else 0
    return CheckReport(not violations, l, largest, c.groups, c.n, violations)


def max_l(frame: Any, sensitive: str | None = None, *, missing: str | Mapping[str, str] | None = None) -> int:
    """The largest l for which an l-diverse release of the table exists: ``floor(n / h)``, h the commonest value's count.

    Parameters
    ----------
    frame : DataFrame, Table, dict of arrays, Microdata, or Contingency
    sensitive : column or sequence of columns
        Not needed for Microdata; of several the one that allows least decides and cells.
    missing : optional
        As in :meth:`ldiv.Microdata.from_frame`.

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
    return min(_max_l_of_one(part, name, missing) for part, name in one_by_one(frame, sensitive))


def _max_l_of_one(frame: Any, sensitive: Any, missing: Any) -> int:
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
    return int(len(target) // histogram.max()) if len(target) else 0


def one_by_one(frame: Any, sensitive: Any) -> list[tuple[Any, Any]]:
    """A table once for each sensitive column that is named; codes and counts have one."""
    if isinstance(frame, (Microdata, Contingency)) or sensitive is None:
        return [(frame, sensitive)]
    source = open_frame(frame)
    names = named(sensitive, source.columns, "sensitive")
    if not names:
        raise InputError("sensitive is empty: name at least one sensitive column")
    return [(source, name) for name in names]


def as_microdata(frame: Any, qi: Any, sensitive: str | None, missing: Any) -> Microdata:
    """The table as Microdata, whatever it is."""
    if isinstance(frame, Microdata):
        return frame
    if qi is None or sensitive is None:
        raise InputError("name the columns: qi= and sensitive=")
    return Microdata.from_frame(frame, qi, sensitive, missing=missing, keep=False)
