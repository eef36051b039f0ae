"""The command `ldiv`. Exit codes: 0 done or yes, 1 no (not l-diverse, or no l-diverse release exists), 2 bad input."""

from __future__ import annotations

import re
import sys
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

try:
    import pyarrow as pa
    import typer
    from rich.console import Console
    from rich.table import Table
except ImportError as error:        # pragma: no cover
    raise SystemExit(f"the command needs more packages: pip install 'ldiv[cli]' ({error})") from error

from ldiv import algorithms, datasets
from ldiv.api import DEFAULT_ALGORITHM, anonymize, solve
from ldiv.bounds import certify, save_certificate
from ldiv.coarsening import Bins, Hierarchy
from ldiv.contingency import Contingency
from ldiv.errors import InputError, LdivError, MissingColumnError, NotEligibleError
from ldiv.files import read_table, write_table
from ldiv.measures import kl_divergence
from ldiv.microdata import Microdata
from ldiv.principles import Distinct, Entropy, KAnonymity, Principle, TCloseness
from ldiv.privacy import check
from ldiv.report import command
from ldiv.report import save as save_report

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False,
                  help="l-diversity by suppression, with guarantees.")
notes = Console(stderr=True, highlight=False, soft_wrap=True)

File = Annotated[Path, typer.Argument(help="CSV (also .gz) or Parquet.")]
Qi = Annotated[list[str], typer.Option("-q", "--qi", help="A quasi-identifier column; repeat for each.")]
Sensitive = Annotated[str, typer.Option("-s", "--sensitive", help="The sensitive column.")]
L = Annotated[int, typer.Option("-l", help="At most 1/l of a group may share a sensitive value.")]
Delimiter = Annotated[str, typer.Option(help="Field separator of CSV files.")]
Names = Annotated[str | None, typer.Option(help="Comma-separated column names, for a CSV file without a header line.")]
MissingQi = Annotated[str, typer.Option(help="Missing QI values (Parquet nulls): value or error.")]
MissingSensitive = Annotated[str, typer.Option(help="Missing sensitive values (Parquet nulls): value or error.")]


@contextmanager
def stage(text: str) -> Iterator[None]:
    """Progress on stderr, on a terminal only."""
    if notes.is_terminal:
        with notes.status(text):
            yield
    else:
        yield


def _read(path: Path, delimiter: str, names: str | None) -> Any:
    with stage(f"reading {path}"):
        return read_table(path, delimiter=delimiter, names=names.split(",") if names else None)


def _reading(delimiter: str, names: str | None, missing_qi: str, missing_sensitive: str) -> dict[str, str | None]:
    """How the file was read where that is not the default, for the command that repeats it."""
    return {
        "delimiter": None if delimiter == "," else delimiter, "names": names, "missing_qi": None if missing_qi == "value" else missing_qi,
        "missing_sensitive": None if missing_sensitive == "error" else missing_sensitive,
    }


def _principle(text: str) -> Principle:
    kinds = {"k": (KAnonymity, int), "distinct": (Distinct, int), "entropy": (Entropy, float), "t": (TCloseness, float)}
    name, _, value = text.partition("=")
    if name not in kinds:
        raise InputError(f"--also {text!r}: write one of {', '.join(f'{kind}=VALUE' for kind in kinds)}")
    kind, number = kinds[name]
    try:
        return kind(number(value))
    except ValueError:
        raise InputError(f"--also {text!r}: {value!r} is not {'a whole number' if number is int else 'a number'}") from None


def _pairs(words: list[str] | None, option: str) -> dict[str, str]:
    found = {}
    for word in words or []:
        name, _, value = word.rpartition("=")
        if not name or not value:
            raise InputError(f"{option} {word!r}: write NAME=VALUE")
        found[name] = value
    return found


def _whole(text: str, where: str) -> int:
    if not text.isdecimal():
        raise InputError(f"{where}: {text!r} is not a whole number")
    return int(text)


def _coarsening(text: str, where: str) -> int | Bins:
    kind, _, rest = text.partition(":")
    try:
        if kind == "width":
            return Bins(width=float(rest))
        if kind == "quantiles":
            return Bins(quantiles=_whole(rest, where))
        if kind == "edges":
            return Bins(edges=[float(edge) for edge in rest.split(",")])
    except ValueError as error:
        raise InputError(f"{where}: {error}") from None
    return _whole(text, where)


@app.command("anonymize")
def anonymize_command(
    file: File,
    qi: Qi,
    sensitive: Sensitive,
    l: L,
    output: Annotated[Path, typer.Option("-o", "--output", help="Where the release goes; CSV or Parquet by its ending.")],
    algorithm: Annotated[str, typer.Option("-a", "--algorithm", help="See 'ldiv algorithms'.")] = DEFAULT_ALGORITHM,
    effort: Annotated[str, typer.Option(help="Of the default algorithm: fast, default or best.")] = "default",
    certificate: Annotated[Path | None, typer.Option(help="Save the proof of how near to optimal it is, for its owner (.private.npz).")] = None,
    weight: Annotated[list[str] | None, typer.Option(help="NAME=W: a star in this column costs W; repeat for each.")] = None,
    protect: Annotated[list[str] | None, typer.Option(help="A column that is never starred; repeat for each.")] = None,
    also: Annotated[list[str] | None, typer.Option(
        help="k=10, distinct=4, entropy=3.5 or t=0.3: what every group must satisfy beside l-diversity; repeat for each.")] = None,
    coarsen: Annotated[list[str] | None, typer.Option(
        help="NAME=LEVEL of its hierarchy, or NAME=width:10, NAME=quantiles:4, NAME=edges:20,40; repeat for each.")] = None,
    hierarchy: Annotated[list[str] | None, typer.Option(help="NAME=FILE in the format of ARX; repeat for each.")] = None,
    report: Annotated[Path | None, typer.Option(help="Write an HTML page about the release.")] = None,
    star: Annotated[str, typer.Option(help="What a suppressed cell shows.")] = "*",
    seed: Annotated[int | None, typer.Option(help="Break ties at random, reproducibly.")] = None,
    delimiter: Delimiter = ",",
    names: Names = None,
    missing_qi: MissingQi = "value",
    missing_sensitive: MissingSensitive = "error",
) -> None:
    """Publish FILE so that every group of equal QI values is l-diverse, with few starred cells."""
    if output.exists() and output.samefile(file):
        raise InputError(f"the release would overwrite its own source {str(file)!r}: choose another -o")
    table = _read(file, delimiter, names)
    options: dict[str, Any] = {"effort": effort} if algorithm in ("auto", "lagrangian") else {}
    weights = {name: _whole(value, f"--weight {name}={value}") for name, value in _pairs(weight, "--weight").items()}
    trees = {name: Hierarchy.read(path) for name, path in _pairs(hierarchy, "--hierarchy").items()}
    coarse = {name: _coarsening(value, f"--coarsen {name}={value}") for name, value in _pairs(coarsen, "--coarsen").items()}
    if certificate is not None and coarse:
        raise InputError("--certificate is checked again on the file as it is: coarsen it into a file first, or leave --certificate out")
    with stage(f"anonymizing {table.num_rows:,} rows with {algorithm}"):
        release = anonymize(
            table, qi, sensitive, l, algorithm=algorithm, star=star, seed=seed,
            missing={"qi": missing_qi, "sensitive": missing_sensitive}, weights=weights, coarsen=coarse,
            hierarchies=trees, protect=protect or [], also=[_principle(text) for text in also or []], **options,
        )
        proof = release.certificate if certificate is not None else None
    with stage(f"writing {output}"):
        write_table(release.frame, output, delimiter=delimiter, header=names is None, like=table)
    if report is not None:
        with stage(f"writing {report}"):
            again = command(file, qi, sensitive, l, output, algorithm=algorithm, effort=effort if options else None, weight=weight or [],
                            protect=protect or [], coarsen=coarsen or [], hierarchy=hierarchy or [], star=star,
                            also=also or [], seed=seed, **_reading(delimiter, names, missing_qi, missing_sensitive))
            save_report(release, report, {"file": file.name, "rows": f"{release.n:,}", "command": again})
    notes.print(release.summary(), markup=False)
    if proof is not None and certificate is not None:
        save_certificate(proof, certificate, l=l, qi=qi, sensitive=sensitive, rows=release.n, weights=weights)
        notes.print(str(proof), markup=False)


@app.command("check")
def check_command(
    file: File,
    qi: Qi,
    sensitive: Sensitive,
    l: L,
    limit: Annotated[int, typer.Option(help="How many violating groups to list.")] = 10,
    delimiter: Delimiter = ",",
    names: Names = None,
    missing_qi: MissingQi = "value",
    missing_sensitive: MissingSensitive = "error",
) -> None:
    """Say whether FILE, as it is, is l-diverse; exit code 0 for yes, 1 for no."""
    table = _read(file, delimiter, names)
    report = check(table, qi, sensitive, l, missing={"qi": missing_qi, "sensitive": missing_sensitive})
    verdict = "yes" if report else "no"
    print(f"{verdict}: {report.rows:,} rows in {report.groups:,} QI-groups, l-diverse up to l = {report.max_l}")
    for violation in report.violations[:limit]:
        group = ", ".join(f"{name}={value}" for name, value in violation.group.items())
        print(
            f"  {group}: {violation.count:,} of {violation.rows:,} rows have {sensitive}={violation.value}, "
            f"{violation.excess:,} more than the {violation.allowed:,} allowed"
        )
    hidden = len(report.violations) - limit
    if hidden > 0:
        print(f"  and {hidden:,} more groups")
    if not report:
        raise typer.Exit(1)


@app.command("certify")
def certify_command(
    file: File,
    certificate: Annotated[Path, typer.Argument(help="A certificate that 'ldiv anonymize --certificate' saved; private, as the microdata are.")],
    release: Annotated[Path | None, typer.Option(help="The released table: its stars are counted and it is checked too.")] = None,
    star: Annotated[str, typer.Option(help="What a suppressed cell shows.")] = "*",
    delimiter: Delimiter = ",",
    names: Names = None,
) -> None:
    """Prove again, from the microdata FILE alone, the bound of a certificate; exit code 0 if it holds, 1 if not, 2 if it is none."""
    verdict = certify(_read(file, delimiter, names), certificate)
    print(verdict)
    holds = bool(verdict)
    if release is not None:
        table = _read(release, delimiter, names)
        stars = sum(verdict.weights.get(name, 1) * (value == star) for name in verdict.qi for value in table.column(name).to_pylist())
        report = check(table, list(verdict.qi), verdict.sensitive, verdict.l, missing={"qi": "value", "sensitive": "value"})
        if stars < verdict.proven:
            print(f"{release}: CONTRADICTION: {stars:,} stars, fewer than any release of {file} can have")
        else:
            print(f"{release}: {stars:,} stars, {stars / max(verdict.proven, 1):.4f} times the bound, {'l-diverse' if report else 'NOT l-diverse'}")
        holds = holds and bool(report) and stars == verdict.stars and table.num_rows == verdict.rows
    if not holds:
        raise typer.Exit(1)


@app.command("compare")
def compare_command(
    file: File,
    qi: Qi,
    sensitive: Sensitive,
    l: Annotated[list[int], typer.Option("-l", help="Repeat for several.")],
    algorithm: Annotated[list[str], typer.Option("-a", "--algorithm", help="Repeat for several; see 'ldiv algorithms'.")] = ["tp", "tp+", "cascade"],  # noqa: B006
    delimiter: Delimiter = ",",
    names: Names = None,
    missing_qi: MissingQi = "value",
    missing_sensitive: MissingSensitive = "error",
) -> None:
    """Stars, KL-divergence, seconds and memory of several algorithms on FILE, side by side."""
    missing = {"qi": missing_qi, "sensitive": missing_sensitive}
    data = Microdata.from_frame(_read(file, delimiter, names), qi, sensitive, missing=missing)
    lines = Table("l", "algorithm", "stars", "% of QI cells", "rows with a star", "groups", "KL (nats)", "seconds", "MB allocated at peak")
    for value in l:
        for name in algorithm:
            with stage(f"{name}, l = {value}"):
                tracemalloc.start()
                started = time.perf_counter()
                release = solve(Contingency.from_microdata(data), value, algorithm=name)
                seconds, peak = time.perf_counter() - started, tracemalloc.get_traced_memory()[1]
                tracemalloc.stop()
                lines.add_row(
                    str(value), name, f"{release.stars:,}", f"{100 * release.stars / max(release.n * release.d, 1):.2f}",
                    f"{release.suppressed_rows:,}", f"{release.groups:,}", f"{kl_divergence(release):.4f}", f"{seconds:.3f}", f"{peak / 1e6:,.1f}",
                )
    Console(width=None if notes.is_terminal else 140).print(lines)


@app.command("report")
def report_command(
    file: File,
    qi: Qi,
    sensitive: Sensitive,
    l: L,
    output: Annotated[Path, typer.Option("-o", "--output", help="Where the page goes (.html).")],
    algorithm: Annotated[str, typer.Option("-a", "--algorithm", help="See 'ldiv algorithms'.")] = DEFAULT_ALGORITHM,
    delimiter: Delimiter = ",",
    names: Names = None,
    missing_qi: MissingQi = "value",
    missing_sensitive: MissingSensitive = "error",
) -> None:
    """What a release of FILE would be like, as one HTML page; no release is written."""
    data = Microdata.from_frame(_read(file, delimiter, names), qi, sensitive, missing={"qi": missing_qi, "sensitive": missing_sensitive})
    with stage(f"anonymizing with {algorithm}"):
        release = solve(data, l, algorithm=algorithm)
    save_report(release, output, {
        "file": file.name, "rows": f"{release.n:,}", "command": command(
            file, qi, sensitive, l, "RELEASE.csv", algorithm=algorithm, **_reading(delimiter, names, missing_qi, missing_sensitive)
        ),
    })
    notes.print(f"{output}: {release!r}", markup=False)


@app.command("datasets")
def datasets_command(
    name: Annotated[str | None, typer.Argument(help="A data set to write out.")] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Where to; CSV or Parquet by its ending.")] = None,
) -> None:
    """List the data sets, or write one to a file."""
    if name is None:
        table = Table("name", "what")
        for entry in datasets.available().values():
            table.add_row(entry.name, entry.about)
        Console().print(table)
        return
    if output is None:
        raise InputError(f"say where to write {name!r}: -o FILE")
    with stage(f"writing {output}"):
        columns = datasets.load_frame(name)
        write_table(pa.table({key: pa.array(values) for key, values in columns.items()}), output)


@app.command("algorithms")
def algorithms_command() -> None:
    """List the algorithms with their guarantee, cost and source."""
    table = Table("name", "guarantee", "cost", "source")
    for entry in algorithms().values():
        table.add_row(entry.name, entry.guarantee, entry.cost, entry.source)
    Console().print(table)


def main() -> None:
    """Entry point: errors become one line on stderr and an exit code."""
    try:
        app()
    except NotEligibleError as error:
        notes.print(f"error: {error}", style="red", markup=False)
        sys.exit(1)
    except LdivError as error:
        if isinstance(error, MissingColumnError) and any(re.fullmatch(r"\s*[-+]?\d+(\.\d+)?\s*", str(name)) for name in error.columns):
            error = InputError(f"{error}. The first line looks like a row: name the columns with --names if the file has no header")
        notes.print(f"error: {error}", style="red", markup=False)
        sys.exit(2)


if __name__ == "__main__":
    main()
