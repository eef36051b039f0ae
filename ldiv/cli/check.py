"""ldiv check, ldiv audit, ldiv max-l: what a table, as it is, keeps."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ldiv.cli.console import Voice, answer, out, shown
from ldiv.cli.job import Source
from ldiv.cli.large import engine_of, sources_of
from ldiv.cli.options import Columns, Files, Hardness, Reading, Saying, Scaling, Sensitive, Size, Whose
from ldiv.engines import bytes_of_memory, check_files
from ldiv.errors import InputError
from ldiv.privacy.eligibility import CheckReport, check, max_l
from ldiv.privacy.persons import persons_of
from ldiv.privacy.principles import audit
from ldiv.privacy.requirement import asked

__all__ = ["audit_command", "check_command", "max_l_command"]


def check_command(
    file: Files,
    columns: Columns,
    whose: Whose,
    reading: Reading,
    scaling: Scaling,
    saying: Saying,
    l: Hardness = None,
    k: Size = 1,
    limit: Annotated[int, typer.Option(help="How many violating groups to list.")] = 10,
) -> None:
    """Say whether FILE, as it is, is l-diverse and has at least k rows in every group; exit code 0 for yes, 1 for no."""
    if limit < 0:
        raise InputError(f"--limit {limit}: it must be 0 or more")
    l, k = asked(bool(columns.sensitive), l, k)
    source = Source(file, reading, columns, Voice(saying.quiet))
    engine = engine_of(scaling, file, "", reading, ordinary=whose.unit is not None)
    reports: dict[str | None, CheckReport]
    if engine == "memory":
        source.read(typed=False)
        source.require_unit(whose.unit)
        reports = {name: check(source.table, source.qi, name, l, k=k, missing=source.missing, unit=whose.unit) for name in source.targets}
    else:
        if whose.unit is not None:
            raise InputError(f"--unit: use --engine memory, not {engine}")
        parts = sources_of(file, reading)
        memory = bytes_of_memory(scaling.memory_limit)
        reports = check_files(parts, source.qi, source.sensitive, l, k, engine=engine, memory=memory, missing=source.missing)
    ok = all(reports.values())
    if saying.json:
        found = {name: _facts(report, limit) for name, report in reports.items()}
        answer({"l_diverse": ok, "l": l, "k": k, "sensitive": found} if source.sensitive else {"k_anonymous": ok, "k": k, **found[None]})
    else:
        for name, report in reports.items():
            about = f" in {shown(name)}" if len(reports) > 1 else ""
            holds = report.holds.replace("l-diverse", f"l-diverse{about}")
            out(f"{'yes' if report else 'no'}: {report.rows:,} rows{_of(report)} in {report.groups:,} QI-groups, {holds}")
            _list(name, report, limit)
    if not ok:
        raise typer.Exit(1)


def _of(report: CheckReport) -> str:
    return "" if report.persons is None else f" of {report.persons:,} persons"


def _list(sensitive: str | None, report: CheckReport, limit: int) -> None:
    for violation in report.violations[:limit]:
        group = ", ".join(f"{shown(name)}={shown(value)}" for name, value in violation.group.items())
        faults = []
        if violation.excess:
            faults.append(
                f"{violation.count:,} of {violation.rows:,} {violation.what} have {shown(str(sensitive))}={shown(violation.value)}, "
                f"{violation.excess:,} more than the {violation.allowed:,} allowed"
            )
        if violation.short:
            faults.append(f"{violation.rows:,} {violation.what}, {violation.short:,} fewer than {violation.least:,}")
        out(f"  {group}: {'; '.join(faults)}")
    hidden = len(report.violations) - limit
    if hidden > 0:
        out(f"  and {hidden:,} more{' groups' if report.persons is None else ''}")


def _facts(report: CheckReport, limit: int) -> dict[str, Any]:
    return {
        "l_diverse": bool(report),
        "max_l": report.max_l,
        "smallest": report.smallest,
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
                "least": v.least,
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
    found = {name: audit(source.microdata(domains, name), c=c, unit=persons) for name in source.targets}
    if saying.json:
        answer(found if source.sensitive else found[None])
        return
    for name, values in found.items():
        if len(found) > 1:
            out(f"{shown(str(name))}:")
        for principle, value in values.items():
            out(f"{principle} = {value:.6g}")


def max_l_command(file: Files, columns: Sensitive, whose: Whose, reading: Reading, saying: Saying, k: Size = 1) -> None:
    """The largest l for which an l-diverse release of FILE exists; of several sensitive columns the one that allows least decides."""
    if reading.missing_qi != "value":
        raise InputError("--missing-qi does not apply: no quasi-identifier is looked at")
    source = Source(file, reading, columns, Voice(saying.quiet))
    source.read(typed=False)
    source.require_unit(whose.unit)
    found = {name: max_l(source.table, name, k=k, missing=source.missing, unit=whose.unit) for name in source.sensitive}
    if saying.json:
        answer({"max_l": min(found.values()), "sensitive": found})
    else:
        out(str(min(found.values())))
