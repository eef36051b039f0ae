"""ldiv certify: the bound of a certificate, proved again from the microdata."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ldiv.bounds import load_certificate, verify_certificate
from ldiv.cli.console import Voice, answer, out
from ldiv.cli.job import Source
from ldiv.cli.options import Columns, File, Reading, Saying
from ldiv.errors import InputError, LdivError
from ldiv.files import open_table
from ldiv.microdata import Microdata
from ldiv.privacy import check

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
    claim, about = _load(certificate)
    qi, sensitive, l = _columns(about, certificate)
    weights = dict(about.get("weights") or {})
    source = Source([file], reading, Columns(qi, [sensitive]), Voice(saying.quiet), others=[release] if release is not None else [])
    if reading.na is None and isinstance(about.get("na"), str):
        source.na = about["na"]
    source.read()
    missing = {"qi": "value", "sensitive": "value"}
    domains = source.domains(say=False)
    if "numbers" in about:      # the same columns are numbers as when it was made: the proof goes by their order
        domains = {name: domain for name, domain in domains.items() if name in about["numbers"]}
    data = Microdata.from_frame(source.table, qi, sensitive, domains=domains, missing=missing).weighted(weights)
    proven = verify_certificate(data, claim, l)
    holds = proven >= claim.bound
    lines = [f"{'proven' if holds else 'NOT PROVEN'}: no {l}-diverse release of {file} has fewer than {proven:,} stars "
             f"(quasi-identifiers {', '.join(qi)}; sensitive {sensitive})"]
    facts: dict[str, Any] = {"l": l, "qi": qi, "sensitive": sensitive, "claimed": claim.bound, "proven": proven}
    if release is not None:
        names = None if reading.names is None else reading.names.split(",")
        table = open_table([release], delimiter=reading.delimiter, names=names, unpack_limit=source.limit).table
        stars = sum(weights.get(name, 1) * (value == star) for name in qi for value in table.column(name).to_pylist())
        verdict = check(table, qi, sensitive, l, missing=missing)
        lines.append(f"{release}: {stars:,} stars, {stars / max(proven, 1):.4f} times the bound, {'l-diverse' if verdict else 'NOT l-diverse'}")
        facts |= {"stars": stars, "release_l_diverse": bool(verdict)}
        holds = holds and bool(verdict) and stars == claim.stars
    if saying.json:
        answer({"holds": holds, **facts})
    else:
        for line in lines:
            out(line)
    if not holds:
        raise typer.Exit(1)


def _load(path: str) -> Any:
    try:
        return load_certificate(path)
    except (LdivError, MemoryError):
        raise
    except Exception as error:      # whatever a damaged file makes its readers raise
        raise InputError(f"{path}: not a certificate: {error}") from error


def _columns(about: dict[str, Any], certificate: str) -> tuple[list[str], str, int]:
    """The columns and l that a certificate is about."""
    qi, sensitive, l = about.get("qi"), about.get("sensitive"), about.get("l")
    if not isinstance(qi, list) or not all(isinstance(name, str) for name in qi) or not isinstance(sensitive, str):
        raise InputError(f"{certificate}: not a certificate of 'ldiv anonymize': it does not say which columns it is about")
    if isinstance(l, bool) or not isinstance(l, int):
        raise InputError(f"{certificate}: not a certificate: l is {l!r}")
    return qi, sensitive, l
