"""ldiv check, ldiv audit, ldiv max-l: what a table, as it is, keeps."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ldiv.cli.console import Voice, answer, out, shown
from ldiv.cli.job import Source
from ldiv.cli.options import Columns, Files, Hardness, Reading, Saying, Sensitive, Whose
from ldiv.errors import InputError
from ldiv.privacy.eligibility import CheckReport, check, max_l
from ldiv.privacy.persons import persons_of
from ldiv.privacy.principles import audit

__all__ = ["audit_command", "check_command", "max_l_command"]


def check_command(
    file: Files,
    columns: Columns,
    l: Hardness,
    whose: Whose,
    reading: Reading,
    saying: Saying,
    limit: Annotated[int, typer.Option(help="How many violating groups to list.")] = 10,
) -> None:
    """Say whether FILE, as it is, is l-diverse; exit code 0 for yes, 1 for no."""
    if limit < 0:
        raise InputError(f"--limit {limit}: it must be 0 or more")
    source = Source(file, reading, columns, Voice(saying.quiet))
    source.read(typed=False)
    source.require_unit(whose.unit)
    reports = {name: check(source.table, source.qi, name, l, missing=source.missing, unit=whose.unit) for name in source.sensitive}
    ok = all(reports.values())
    if saying.json:
        answer({"l_diverse": ok, "l": l, "sensitive": {name: _facts(report, limit) for name, report in reports.items()}})
    else:
        for name, report in reports.items():
            about = f" in {shown(name)}" if len(reports) > 1 else ""
            out(
                f"{'yes' if report else 'no'}: {report.rows:,} rows{_of(report)} in {report.groups:,} QI-groups, l-diverse{about} up to l = {report.max_l}"
            )
            _list(name, report, limit)
    if not ok:
        raise typer.Exit(1)


def _of(report: CheckReport) -> str:
    return "" if report.persons is None else f" of {report.persons:,} persons"


def _list(sensitive: str, report: CheckReport, limit: int) -> None:
    for violation in report.violations[:limit]:
        group = ", ".join(f"{shown(name)}={shown(value)}" for name, value in violation.group.items())
        out(
            f"  {group}: {violation.count:,} of {violation.rows:,} {violation.what} have {shown(sensitive)}={shown(violation.value)}, "
            f"{violation.excess:,} more than the {violation.allowed:,} allowed"
        )
    hidden = len(report.violations) - limit
    if hidden > 0:
        out(f"  and {hidden:,} more{' groups' if report.persons is None else ''}")


def _facts(report: CheckReport, limit: int) -> dict[str, Any]:
    return {
        "l_diverse": bool(report),
        "max_l": report.max_l,
        "rows": report.rows,
        "persons": report.persons,
        "groups": report.groups,
        "violating_groups": len(report.violations),
        "violations": [
            {
                "group": {str(name): value for name, value in v.group.items()},
                "rows": v.rows,
                "value": v.value,
                "count": v.count,
                "allowed": v.allowed,
                "what": v.what,
            }
            for v in report.violations[:limit]
        ],
    }


def audit_command(
    file: Files,
    columns: Columns,
    whose: Whose,
    reading: Reading,
    saying: Saying,
    c: Annotated[float, typer.Option("-c", help="Of recursive (c, l)-diversity.")] = 2.0,
) -> None:
    """How strong FILE, as it is, is by every principle: the parameter that its weakest group still satisfies."""
    if not c > 0:
        raise InputError(f"-c {c:g}: it must be above 0")
    source = Source(file, reading, columns, Voice(saying.quiet))
    source.read()
    source.require_unit(whose.unit)
    domains = source.domains()
    persons = None if whose.unit is None else persons_of(source.table, whose.unit)
    found = {name: audit(source.microdata(domains, name), c=c, unit=persons) for name in source.sensitive}
    if saying.json:
        answer(found)
        return
    for name, values in found.items():
        if len(found) > 1:
            out(f"{shown(name)}:")
        for principle, value in values.items():
            out(f"{principle} = {value:.6g}")


def max_l_command(file: Files, columns: Sensitive, whose: Whose, reading: Reading, saying: Saying) -> None:
    """The largest l for which an l-diverse release of FILE exists; of several sensitive columns the one that allows least decides."""
    if reading.missing_qi != "value":
        raise InputError("--missing-qi does not apply: no quasi-identifier is looked at")
    source = Source(file, reading, columns, Voice(saying.quiet))
    source.read(typed=False)
    source.require_unit(whose.unit)
    found = {name: max_l(source.table, name, missing=source.missing, unit=whose.unit) for name in source.sensitive}
    if saying.json:
        answer({"max_l": min(found.values()), "sensitive": found})
    else:
        out(str(min(found.values())))
