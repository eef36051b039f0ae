"""ldiv compare: several algorithms and several l on one table, side by side."""

from __future__ import annotations

import csv
import json
import time
import tracemalloc
from pathlib import Path
from typing import Annotated, Any

import typer

from ldiv.algorithms import get
from ldiv.api import solve
from ldiv.cli.console import Voice, answer, table_of
from ldiv.cli.job import Request, Source
from ldiv.cli.options import Asking, Columns, Files, Reading, Saying, Size, Solving, Whose
from ldiv.cli.outcome import bound_of
from ldiv.errors import InputError, LdivError, NotEligibleError
from ldiv.privacy.requirement import asked
from ldiv.release.measures import kl_divergence
from ldiv.release.release import Release
from ldiv.table.files import Outputs
from ldiv.table.microdata import Microdata

__all__ = ["compare_command"]

HEADS = {
    "l": "l",
    "k": "k",
    "algorithm": "algorithm",
    "stars": "stars",
    "share": "% of QI cells",
    "lost": "% lost",
    "ratio": "ratio to the bound",
    "suppressed_rows": "rows with a star",
    "groups": "groups",
    "kl": "KL (nats)",
    "seconds": "seconds",
    "megabytes": "MB allocated at peak",
    "note": "",
}


def compare_command(
    file: Files,
    columns: Columns,
    solving: Solving,
    asking: Asking,
    whose: Whose,
    reading: Reading,
    saying: Saying,
    l: Annotated[list[int] | None, typer.Option("-l", help="Repeat for several; left out where there is no sensitive column.")] = None,
    k: Size = 1,
    algorithm: Annotated[list[str], typer.Option("-a", "--algorithm", help="Repeat for several; see 'ldiv algorithms'.")] = ["tp", "tp+", "cascade"],  # noqa: B006
    output: Annotated[str | None, typer.Option("-o", "--output", help="Write the table to a file too, .csv or .json.")] = None,
    memory: Annotated[bool, typer.Option("--memory/--no-memory", help="Measure memory, in a second run of each.")] = True,
) -> None:
    """Stars, distance from the bound, KL-divergence, seconds and memory of several algorithms on FILE, side by side."""
    voice = Voice(saying.quiet)
    algorithms = list(dict.fromkeys(algorithm))
    for name in algorithms:
        get(name)
    for value in l or []:
        if value < 1:
            raise InputError(f"-l {value}: it must be at least 1")
    asking_for: list[int | None] = [*(l or [])] or [None]
    hard = [asked(bool(columns.sensitive), value, k)[0] for value in asking_for]
    source = Source(file, reading, columns, voice)
    request = Request(source, asking, solving, algorithms, whose)
    if output is not None and Path(output).suffix.lower() not in (".csv", ".json") and output != "-":
        raise InputError(f"-o {output!r}: the comparison is written as .csv or .json")
    with Outputs([*source.inputs, *request.hierarchy_files()]) as outputs:
        target = outputs.add(output, "the comparison", name="comparison.csv" if output == "-" else None) if output is not None else None
        source.read()
        request.fit()
        for name in algorithms:  # what is loaded on first use is no part of the seconds
            _warm(name)
        parts = request.codes()
        rows = []
        for value in dict.fromkeys(hard):
            rows += _rows(request, parts, value, k, algorithms, memory, voice)
        if target is not None:
            _write(rows, target.staged)
            outputs.commit()
    if saying.json:
        answer(rows)
    elif output != "-":
        heads = {key: head for key, head in HEADS.items() if key != "note" or any(row["note"] for row in rows)}
        table_of(list(heads.values()), [_cells(row)[: len(heads)] for row in rows])


def _warm(algorithm: str) -> None:
    solve(Microdata.from_codes([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 0, 1]), 2, algorithm=algorithm)


def _rows(request: Request, parts: list[Microdata], l: int, k: int, algorithms: list[str], memory: bool, voice: Voice) -> list[dict[str, Any]]:
    """A row for each algorithm; the ratio is to the best bound that any of them proved for this l."""
    rows: list[dict[str, Any]] = []
    best = 0.0
    for name in algorithms:
        row: dict[str, Any] = dict.fromkeys([*HEADS, "bound", "cost"]) | {"l": l, "k": k, "algorithm": name, "note": ""}
        rows.append(row)
        try:
            with voice.progress(f"{name}, l = {l}", request.solving.time_limit) as progress:
                started = time.perf_counter()
                release = request.solve_codes(parts, l, k, name, progress)
                row["seconds"] = time.perf_counter() - started
                best = max(best, _measure(row, release))
                if memory:
                    progress(f"{name}, l = {l}: memory")
                    row["megabytes"] = _peak(request, parts, l, k, name)
        except NotEligibleError as error:
            row["note"] = f"infeasible: the largest l is {error.max_l}"
        except LdivError as error:
            row["note"] = f"not possible: {error}"
    for row in rows:
        if row["cost"] is not None:
            row["ratio"] = row["cost"] / best if best else (1.0 if not row["cost"] else None)
            row["bound"] = best
    return rows


def _measure(row: dict[str, Any], release: Release) -> float:
    """Fill in what the release is worth; returns the bound it proves, 0 where there is none."""
    bound = bound_of(release)
    along = "loss" in release.info  # along hierarchies all that counts is what is lost
    cost = release.loss if along else release.cost if bound is not None else None
    row |= {
        "stars": release.stars,
        "share": 100 * release.stars / max(release.n * release.d, 1),
        "suppressed_rows": release.suppressed_rows,
        "groups": release.groups,
        "kl": kl_divergence(release),
        "cost": cost,
        "lost": None if cost is None else 100 * cost / max(release.n * int(release.contingency.weights.sum()), 1),
    }
    return 0.0 if bound is None or (along and bound.unit == 1) else bound.bound / bound.unit


def _peak(request: Request, parts: list[Microdata], l: int, k: int, algorithm: str) -> float:
    tracemalloc.start()
    try:
        request.solve_codes(parts, l, k, algorithm)
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def _cells(row: dict[str, Any]) -> list[str]:
    forms = {
        "stars": ",",
        "share": ".2f",
        "lost": ".2f",
        "ratio": ".4f",
        "suppressed_rows": ",",
        "groups": ",",
        "kl": ".4f",
        "seconds": ".3f",
        "megabytes": ",.1f",
    }
    return ["" if row[key] is None else format(row[key], forms.get(key, "")) for key in HEADS]


def _write(rows: list[dict[str, Any]], path: Path) -> None:
    if path.suffix.lower() == ".json":
        path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
        return
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, [*HEADS, "bound", "cost"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
