"""ldiv verify: a release held against its source."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer

from ldiv.cli.console import Voice, answer, out, shown
from ldiv.cli.job import Source
from ldiv.cli.large import engine_of, sources_of
from ldiv.cli.options import Columns, File, Hardness, Reading, Saying, Scaling, Size, Whose
from ldiv.cli.words import decimal_of, hierarchy_of, pairs, size_of
from ldiv.engines import bytes_of_memory, verify_files
from ldiv.errors import InputError
from ldiv.privacy.requirement import asked
from ldiv.privacy.verify import Verdict, verify
from ldiv.table.files import Format, format_of_name

__all__ = ["verify_command"]


def _of_release(reading: Reading, source: Format, released: str) -> Reading:
    """How the release of such a source is read: names and separator are those of the source where both are of one kind, as they are written."""
    try:
        shape = format_of_name(released)
    except InputError:  # a pipe: it holds what its first bytes say
        return reading
    reading = reading if shape.is_text else replace(reading, names=None)
    return reading if not (shape.is_text and source.is_text) or shape.kind == source.kind else replace(reading, delimiter=None)


def verify_command(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="The table that was released.")],
    released: File,
    columns: Columns,
    whose: Whose,
    reading: Reading,
    scaling: Scaling,
    saying: Saying,
    l: Hardness = None,
    k: Size = 1,
    star: Annotated[str, typer.Option(help="What a suppressed cell shows.")] = "*",
    hierarchy: Annotated[list[str] | None, typer.Option(help="NAME=FILE whose texts may stand in place of values; repeat for each.")] = None,
) -> None:
    """Say whether RELEASED is a truthful, l-diverse release of SOURCE; exit code 0 for yes, 1 for no.

    Every row of SOURCE is there once, in whatever order; quasi-identifier cells are the source's, a star, or a sub-domain that holds the value; other
    columns are unchanged or left out; in every group of equal published values at most 1/l share a sensitive value.
    """
    if reading.numeric or reading.text:
        raise InputError("--numeric and --text do not apply: cells are compared as they stand")
    if (reading.missing_qi, reading.missing_sensitive) != ("value", "error"):
        raise InputError("--missing-qi and --missing-sensitive do not apply: a missing value is compared like any other")
    l, k = asked(bool(columns.sensitive), l, k)
    engine = engine_of(scaling, [source, released], "", reading, ordinary=whose.unit is not None)
    if engine == "memory":
        verdict = _in_memory(source, released, columns, whose, reading, saying, l, k, star, hierarchy)
    else:
        verdict = _by_engine(engine, scaling, source, released, columns, whose, reading, l, k, star, hierarchy)
    if saying.json:
        facts: dict[str, Any] = {
            name: getattr(verdict, name)
            for name in (
                "faults",
                "qi",
                "sensitive",
                "unchanged",
                "dropped",
                "rows",
                "groups",
                "l",
                "k",
                "max_l",
                "smallest",
                "stars",
                "in_order",
                "persons",
            )
        }
        answer({"verified": bool(verdict), **facts})
    else:
        out(shown(str(verdict), 2000))
    if not verdict:
        raise typer.Exit(1)


def _in_memory(
    source: str,
    released: str,
    columns: Columns,
    whose: Whose,
    reading: Reading,
    saying: Saying,
    l: int,
    k: int,
    star: str,
    hierarchy: list[str] | None,
) -> Verdict:
    """Row by row."""
    voice = Voice(saying.quiet)
    before = Source([source], reading, columns, voice, others=[released])
    before.read(writes_text=True, typed=False)
    after = Source([released], _of_release(reading, before.opened.format, released), columns, voice, others=[source])
    after.read(writes_text=before.opened.format.is_text, typed=False)
    before.require_unit(whose.unit)
    trees = {}
    for name, path in pairs(hierarchy, "--hierarchy", before.table.column_names).items():
        before.require(name, "--hierarchy")
        if name not in before.qi:
            raise InputError(f"--hierarchy: {name!r} is not a quasi-identifier; there are: {', '.join(map(repr, before.qi))}")
        trees[name] = hierarchy_of(path, name, before.limit, before.decimal)
    return verify(before.table, after.table, before.qi, before.sensitive or None, l, k=k, star=star, hierarchies=trees, unit=whose.unit)


def _by_engine(
    engine: str,
    scaling: Scaling,
    source: str,
    released: str,
    columns: Columns,
    whose: Whose,
    reading: Reading,
    l: int,
    k: int,
    star: str,
    hierarchy: list[str] | None,
) -> Verdict:
    """By what an engine counts."""
    if whose.unit is not None:
        raise InputError(f"--unit: use --engine memory, not {engine}")
    before = sources_of([source], reading)
    after = sources_of([released], _of_release(reading, Format(before.kind), released))
    trees = {}
    for name, path in pairs(hierarchy, "--hierarchy", list(before.columns)).items():
        if name not in columns.qi:
            raise InputError(f"--hierarchy: {name!r} is not a quasi-identifier; there are: {', '.join(map(repr, columns.qi))}")
        trees[name] = hierarchy_of(path, name, size_of(reading.unpack_limit), decimal_of(reading))
    memory = bytes_of_memory(scaling.memory_limit)
    targets = list(columns.sensitive or [])
    return verify_files(before, after, columns.qi, targets, l, k, engine=engine, memory=memory, star=star, hierarchies=trees)
