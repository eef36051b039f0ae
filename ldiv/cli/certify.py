"""ldiv certify: the bound of a certificate, proved again from the microdata."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ldiv.bounds.certificate import load_certificate
from ldiv.bounds.proof import judge, subject
from ldiv.cli.console import Voice, answer, out, shown
from ldiv.cli.job import Source
from ldiv.cli.options import Columns, File, Reading, Saying
from ldiv.errors import InputError
from ldiv.privacy.verify import verify
from ldiv.table.files import open_table
from ldiv.table.microdata import Microdata

__all__ = ["certify_command"]


def certify_command(
    file: File,
    certificate: Annotated[str, typer.Argument(help="A certificate that 'ldiv anonymize --certificate' saved.")],
    reading: Reading,
    saying: Saying,
    release: Annotated[str | None, typer.Option(help="The released table: its stars are counted and it is checked too.")] = None,
    star: Annotated[str, typer.Option(help="What a suppressed cell shows.")] = "*",
) -> None:
    """Prove again, from the microdata FILE alone, the bound of a certificate; exit code 0 if it holds, 1 if not."""
    if (reading.missing_qi, reading.missing_sensitive) != ("value", "error"):
        raise InputError("--missing-qi and --missing-sensitive do not apply: a missing value is one more value here")
    claim, about = load_certificate(certificate)
    qi, sensitive, l, *_ = subject(about, certificate)
    source = Source(
        [file],
        reading,
        Columns(list(map(str, qi)), None if sensitive is None else [str(sensitive)]),
        Voice(saying.quiet),
        others=[release] if release is not None else [],
    )
    if reading.na is None and isinstance(about.get("na"), str):
        source.na = about["na"]
    source.read()
    domains = source.domains(say=False)
    if isinstance(about.get("numbers"), list):  # the same columns are numbers as when it was made: the proof goes by their order
        domains = {name: domain for name, domain in domains.items() if name in about["numbers"]}
    data = Microdata.from_frame(source.table, qi, sensitive, domains=domains, missing={"qi": "value", "sensitive": "value"}, keep=False)
    found = judge(data, claim, about, certificate)
    lines, holds = [str(found)], bool(found)
    facts: dict[str, Any] = {
        "l": l,
        "k": found.k,
        "qi": qi,
        "sensitive": sensitive,
        "claimed": found.bound,
        "proven": found.proven,
        "contradiction": found.contradiction,
        "weights": {str(name): weight for name, weight in found.weights.items()},
        "checkable": found.checkable,
    }
    if release is not None:
        names = None if reading.names is None else reading.names.split(",")
        table = open_table([release], delimiter=reading.delimiter, names=names, na=source.na, unpack_limit=source.limit).table
        verdict = verify(source.table, table, list(qi), sensitive, l, k=found.k, star=star)
        cost = sum(found.weights.get(name, 1) * stars for name, stars in verdict.stars_by_attribute.items())
        if cost < found.proven and verdict:
            lines.append(
                f"{release}: CONTRADICTION: {cost:,} {'stars as counted by the weights' if found.weights else 'stars'}, fewer than any release of {file} can have"
            )
        else:
            ratio = f", {cost / found.proven:.4f} times the bound" if found.proven else ""
            lines.append(
                f"{release}: {cost:,} {'stars as counted by the weights' if found.weights else 'stars'}{ratio}; a release of {file}: {shown(str(verdict), 500)}"
            )
        facts |= {"stars": cost, "release_verified": bool(verdict)}
        holds = holds and bool(verdict) and cost == found.stars
    if saying.json:
        answer({"holds": holds, **facts})
    else:
        for line in lines:
            out(line)
    if not holds:
        raise typer.Exit(1)
