"""ldiv report: what a release would be like, as one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ldiv.asking import DEFAULT_ALGORITHM
from ldiv.cli.anonymize import trail
from ldiv.cli.console import Voice, answer
from ldiv.cli.job import Request, Source
from ldiv.cli.options import Algorithm, Asking, Columns, Files, Hardness, Publishing, Reading, Saying, Size, Solving, Whose, repeat
from ldiv.cli.outcome import bound_of, facts
from ldiv.errors import InputError
from ldiv.privacy.requirement import asked
from ldiv.report import require_jinja
from ldiv.report import save as save_report
from ldiv.table.files import Outputs, descriptor

__all__ = ["report_command"]


def report_command(
    file: Files,
    columns: Columns,
    output: Annotated[str, typer.Option("-o", "--output", help="Where the page goes (.html); '-' for standard output.")],
    solving: Solving,
    asking: Asking,
    whose: Whose,
    publishing: Publishing,
    reading: Reading,
    saying: Saying,
    l: Hardness = None,
    k: Size = 1,
    algorithm: Algorithm = DEFAULT_ALGORITHM,
) -> None:
    """What a release of FILE would be like, as one HTML page; no release is written."""
    asked(bool(columns.sensitive), l, k)
    require_jinja()
    voice = Voice(saying.quiet)
    source = Source(file, reading, columns, voice)
    request = Request(source, asking, solving, [algorithm], whose)
    if descriptor(output, 1) is None and Path(output).suffix.lower() not in (".html", ".htm") and not Path(output).exists():
        raise InputError(f"-o {output!r}: the page is HTML, so its name must end in .html")
    if saying.json and descriptor(output, 1) == 1:
        raise InputError("--json and the page would both go to standard output: write the page to a file")
    with Outputs([*source.inputs, *request.hierarchy_files()]) as outputs:
        target = outputs.add(output, "the report")
        source.read()
        request.fit()
        with voice.progress(f"anonymizing with {algorithm}", solving.time_limit) as progress:
            release = request.solve(l, k, algorithm, progress, publishing)
        again = repeat([Path(name).name for name in file], columns, l, k, "RELEASE.csv", algorithm, solving, asking, whose, publishing, reading)
        save_report(release, target.staged, {**trail(file, release), "command": again}, original=request.original())
        outputs.commit()
    if saying.json:
        answer(facts(release, bound_of(release), algorithm))
    voice.say(f"{output}: {release!r}")
