"""ldiv anonymize by an engine: files of any size in, files out."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import PurePath
from typing import Any

from ldiv.algorithms import get
from ldiv.cli.console import Voice, answer
from ldiv.cli.job import Request, Source
from ldiv.cli.options import Asking, Columns, Publishing, Reading, Saying, Scaling, Solving, Whose, repeat
from ldiv.cli.outcome import bound_of, facts, keep_certificate
from ldiv.engines import Sources, bytes_of_memory, chosen, run
from ldiv.errors import InputError
from ldiv.release.release import Release
from ldiv.report import require_jinja
from ldiv.report import save as save_report
from ldiv.table.files import Format, Outputs, descriptor

__all__ = ["Job", "anonymize_large", "engine_of", "sources_of"]


@dataclass(frozen=True)
class Job:
    """What was asked on the command line."""

    files: list[str]
    columns: Columns
    solving: Solving
    asking: Asking
    whose: Whose
    publishing: Publishing
    reading: Reading
    saying: Saying
    l: int | None
    k: int
    algorithm: str


def engine_of(scaling: Scaling, files: list[str], output: str, reading: Reading, ordinary: bool) -> str:
    """The engine that does it; `ordinary` is whether something is asked that only memory does."""
    sources = None
    if scaling.engine == "auto" and (ordinary or (output and descriptor(output, 1) is not None) or find_spec("duckdb") is None):
        return "memory"
    if scaling.engine == "auto":
        try:
            sources = sources_of(files, reading)
        except InputError:  # said by whoever reads it
            return "memory"
    if sources is not None and output and output.endswith(("/", os.sep)):
        return "duckdb"
    return chosen(scaling.engine, sources, bytes_of_memory(scaling.memory_limit)) if sources is not None else chosen(scaling.engine, None, 0)


def sources_of(files: list[str], reading: Reading) -> Sources:
    names = None if reading.names is None else reading.names.split(",")
    return Sources.of(files, delimiter=reading.delimiter, names=names, na="" if reading.na is None else reading.na)


def anonymize_large(job: Job, engine: str, scaling: Scaling, output: str, certificate: str | None, report: str | None) -> None:
    """The release, from files to files; what is asked is taken apart twice: with the columns alone, and with their values."""
    import pyarrow as pa

    voice = Voice(job.saying.quiet)
    if job.publishing.keep_order:
        raise InputError(f"--keep-order: engine {engine!r} writes rows in an order of its own; leave it out, or use --engine memory")
    if report is not None and job.asking.coarsen:
        raise InputError(
            "--report of a coarsened table compares it row by row with what it was: use --engine memory, or coarsen it into a file first"
        )
    if report is not None:
        require_jinja()
    source = Source(job.files, job.reading, job.columns, voice)
    solving = job.solving if "threads" in get(job.algorithm).options else replace(job.solving, threads=None)  # the engine takes them in any case
    request = Request(source, job.asking, solving, [job.algorithm], job.whose)
    sources = sources_of(job.files, job.reading)
    shape = Format(sources.kind)
    text = sources.is_text
    for option in ("numeric", "text", "decimal", "delimiter"):
        if getattr(job.reading, option) and not text:
            raise InputError(f"--{option} is for text files; the columns of {shape} have types")
    source.take(pa.table({name: pa.array([], pa.string()) for name in sources.columns}), shape)
    request.fit(say=False)
    with Outputs([*source.inputs, *request.hierarchy_files()]) as outputs, voice.progress("counting", job.solving.time_limit) as progress:
        proof = outputs.add(certificate, "the certificate", mode=0o600) if certificate is not None else None
        page = outputs.add(report, "the report") if report is not None else None

        def adapt(table: Any) -> Any:
            source.take(table, shape)
            request.fit()
            return request.asked(job.l, job.k, job.algorithm, progress, job.publishing)

        def beside(release: Release) -> None:
            if proof is not None:
                keep_certificate(bound_of(release), proof.staged, release, source, request)
            if page is not None:
                read = ", ".join(PurePath(name).name for name in job.files)
                words = [job.solving, job.asking, job.whose, job.publishing, job.reading, scaling]
                again = repeat([PurePath(name).name for name in job.files], job.columns, job.l, job.k, PurePath(output).name, job.algorithm, *words)
                save_report(release, page.staged, {"file": read, "rows": f"{release.n:,}", "engine": engine, "command": again}, written=True)

        first = request.asked(job.l, job.k, job.algorithm, None, job.publishing)
        written = run(
            sources,
            output,
            first,
            engine=engine,
            memory_limit=scaling.memory_limit,
            threads=job.solving.threads,
            spill=scaling.spill,
            names=None if job.reading.names is None else job.reading.names.split(","),
            progress=progress,
            adapt=adapt,
            beside=beside,
        )
        outputs.commit()
    release, bound = written.release, bound_of(written.release)
    if job.saying.json:
        rows = {"rows": written.verdict.rows, "groups": written.verdict.groups}  # of a release whose kept rows stay in the engine, too
        answer(
            {
                **facts(release, bound, job.algorithm),
                **rows,
                "engine": written.engine,
                "seconds": {x: round(y, 3) for x, y in written.seconds.items()},
            }
        )
    if apart := release.info.get("elsewhere"):
        voice.say(f"{apart:,} rows stay as they are; of the others:")
    voice.say(release.summary())
    index = [name for name in written.verdict.dropped if name in sources.index and name not in (job.publishing.drop or [])]
    if index:
        voice.say("left out, since it would restore the order of the rows: the index " + ", ".join(map(repr, index)))
    if written.verdict.unchanged:
        names = ", ".join(map(repr, written.verdict.unchanged))
        voice.warn(f"published as they are, and what they tell of stars was not measured: {names}; --drop, or --only-named")
    voice.say(f"verified as written: {written.verdict}")
    voice.say(f"{written.engine}: " + ", ".join(f"{name} {seconds:.1f} s" for name, seconds in written.seconds.items()))
    voice.say(str(bound) if bound is not None else "no bound: the release publishes sub-domains, and bounds are about stars")
