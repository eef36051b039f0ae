"""ldiv anonymize: a table in, its release out, with a page and a proof beside it."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ldiv.algorithms import get
from ldiv.asking import DEFAULT_ALGORITHM
from ldiv.cli.console import Voice, answer, shown
from ldiv.cli.job import Request, Source
from ldiv.cli.large import Job, anonymize_large, engine_of
from ldiv.cli.options import Algorithm, Asking, Columns, Files, Hardness, Publishing, Reading, Saying, Scaling, Size, Solving, Whose, repeat
from ldiv.cli.outcome import bound_of, facts, keep_certificate
from ldiv.errors import InputError, UnsafeReleaseError
from ldiv.privacy.requirement import asked
from ldiv.privacy.verify import Verdict
from ldiv.privacy.verify import verify as verify_tables
from ldiv.release.release import Release
from ldiv.report import require_jinja
from ldiv.report import save as save_report
from ldiv.table.files import (
    Format,
    Outputs,
    Target,
    descriptor,
    expand,
    format_of_name,
    formula_columns,
    open_table,
    require_distinct_missing,
    write_table,
)
from ldiv.table.files.dialect import require_delimiter
from ldiv.table.files.workbook import require_room

__all__ = ["anonymize_command", "trail"]

MOST_HASHES = 20  # files of a folder whose hashes a page lists


def anonymize_command(
    file: Files,
    columns: Columns,
    output: Annotated[str, typer.Option("-o", "--output", help="Where the release goes; its ending is its format; '-' for standard output.")],
    solving: Solving,
    asking: Asking,
    whose: Whose,
    publishing: Publishing,
    reading: Reading,
    scaling: Scaling,
    saying: Saying,
    l: Hardness = None,
    k: Size = 1,
    algorithm: Algorithm = DEFAULT_ALGORITHM,
    certificate: Annotated[str | None, typer.Option(help="Save the proof of how near to optimal the release is (.npz); for the owner only.")] = None,
    report: Annotated[str | None, typer.Option(help="Write an HTML page about the release.")] = None,
) -> None:
    """Publish FILE so that every group of equal QI values is l-diverse and has at least k rows, with few starred cells."""
    voice = Voice(saying.quiet)
    asked(bool(columns.sensitive), l, k)
    if report is not None:
        require_jinja()
    _refuse_certificate(certificate, asking, algorithm)
    engine = engine_of(scaling, file, output, reading, ordinary=bool(whose.unit or publishing.keep_order or (report and asking.coarsen)))
    if engine != "memory":
        job = Job(file, columns, solving, asking, whose, publishing, reading, saying, l, k, algorithm)
        anonymize_large(job, engine, scaling, output, certificate, report)
        return
    source = Source(file, reading, columns, voice)
    request = Request(source, asking, solving, [algorithm], whose)
    if saying.json and descriptor(output, 1) == 1:
        raise InputError("--json and the release would both go to standard output: write the release to a file")
    with Outputs([*source.inputs, *request.hierarchy_files()]) as outputs:
        target, shape = _plan_release(outputs, output, source)
        page = outputs.add(report, "the report") if report is not None else None
        proof = outputs.add(certificate, "the certificate", mode=0o600) if certificate is not None else None
        source.read(writes_text=shape.is_text)
        _refuse_format(source, shape)
        request.fit()
        with voice.progress(f"anonymizing {source.table.num_rows:,} rows with {algorithm}", solving.time_limit) as progress:
            release = request.solve(l, k, algorithm, progress, publishing)
            progress({"stage": "the bound", "stars": release.cost} if release.is_suppression and "loss" not in release.info else "the bound")
            bound = bound_of(release)
        with voice.progress(f"writing {output}"):
            published = release.frame
            write_release(published, target, source)
            verdict = verify_written(source, request, target.staged, release, shape)
            if page is not None:
                again = repeat(
                    [Path(name).name for name in file], columns, l, k, Path(output).name, algorithm, solving, asking, whose, publishing, reading
                )
                save_report(
                    release,
                    page.staged,
                    {**trail(file, release), "SHA-256 of the release": sha256(target.staged), "command": again},
                    original=request.original(),
                    written=True,
                )
            if proof is not None:
                keep_certificate(bound, proof.staged, release, source, request)
            outputs.commit()
    if shape.is_text:
        for name, count in formula_columns(published).items():
            voice.warn(f"{count:,} cells of column {shown(name)!r} begin with =, +, - or @: a spreadsheet would run them as formulas")
    if saying.json:
        answer(facts(release, bound, algorithm))
    if not saying.quiet:
        _describe(release, voice)
    voice.say(f"verified as written: {verdict}")
    voice.say(str(bound) if bound is not None else "no bound: nothing was proven of releases with sub-domains like these")


def _describe(release: Release, voice: Voice) -> None:
    """The summary, and what the release tells beside its cells as warnings."""
    publication = release.publication
    order = publication.order_warnings if publication is not None else []
    for line in release.summary().splitlines():
        if line not in order:
            voice.say(line)
    for line in order:
        voice.warn(f"{line}; leave --keep-order out" if publication is not None and publication.rows is None else line)
    for line in publication.column_warnings if publication is not None else []:
        voice.warn(line)


def _refuse_certificate(certificate: str | None, asking: Asking, algorithm: str) -> None:
    if certificate is None:
        return
    if asking.coarsen:
        raise InputError("--certificate is checked again on the file as it is: coarsen it into a file first, or leave --certificate out")
    if not get(algorithm).suppression:
        raise InputError(f"--certificate: nothing is proven of the sub-domains that algorithm {algorithm!r} publishes")


def _plan_release(outputs: Outputs, output: str, source: Source) -> tuple[Target, Format]:
    """Where the release goes and in which format; a pipe without an ending gets CSV."""
    try:
        shape, name = format_of_name(output), None
    except InputError:
        target = outputs.add(output, "the release", name="release.csv")
        if not target.direct:
            raise
        return target, Format("csv")
    return outputs.add(output, "the release", name=name), shape


def _refuse_format(source: Source, shape: Format) -> None:
    """What the format of the release cannot hold."""
    if shape.kind == "xlsx":
        require_room(source.table)
    if shape.kind != "parquet" and not source.opened.format.is_text:
        require_distinct_missing(source.table, [*source.qi, *source.sensitive], source.na if shape.is_text else "")


def delimiter_of(source: Source, shape: Format) -> str:
    """Of a text file: that of the source where both are of one kind."""
    dialect = source.opened.dialect
    if shape.kind == "csv" and source.reading.delimiter is not None:
        return require_delimiter(source.reading.delimiter)
    return dialect.delimiter if dialect is not None and shape.kind == source.opened.format.kind else shape.delimiter


def write_release(published: Any, target: Target, source: Source) -> None:
    """Write the release to its staged file; a text file is written as its source was."""
    reading, opened = source.reading, source.opened
    shape = format_of_name(target.staged)
    write_table(published, target.staged, delimiter=delimiter_of(source, shape), header=reading.names is None, dialect=opened.dialect, na=source.na)


def verify_written(source: Source, request: Request, staged: Path, release: Release, shape: Format) -> Verdict:
    """Read back what was written, before it appears anywhere, and hold it against the source, row by row.

    Raises
    ------
    UnsafeReleaseError
        What stands in the file is not a truthful release of the source, or not l-diverse; nothing appears then.
    """
    names = source.reading.names.split(",") if source.reading.names is not None and shape.is_text else None
    if names is not None and release.publication is not None:
        names = [name for name in names if name not in release.publication.dropped]
    delimiter, na = (delimiter_of(source, shape), source.na) if shape.is_text else (None, None)
    written = open_table([staged], delimiter=delimiter, names=names, na=na, unpack_limit=1 << 62).table
    publication = release.publication
    rows = np.arange(release.n) if publication is None or publication.rows is None else publication.rows  # an order that was kept is kept
    verdict = verify_tables(
        source.table,
        written,
        source.qi,
        source.sensitive or None,
        release.l,
        k=release.k,
        star=request.asking.star,
        hierarchies=request.trees,
        rows=rows,
        unit=request.unit,
    )
    if not verdict:
        raise UnsafeReleaseError(f"the written release is withheld, {verdict}")
    return verdict


def sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def trail(files: list[str], release: Release) -> dict[str, str]:
    """What was read, for a page: names without folders, and hashes of what is a file."""
    parts = [Path(part) for name in files for part in (expand(name) or [name])]
    hashes = {f"SHA-256 of {part.name}": sha256(part) for part in parts[:MOST_HASHES] if part.is_file()}
    read = ", ".join("standard input" if name == "-" else Path(name).name or name for name in files)
    return {"file": read, "rows": f"{release.n:,}", **hashes}
