"""The figures: for each the cells it needs, its numbers (CSV) and its drawing (PNG and PDF), with stable bytes."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.cells import Cell
from experiments.grid import Scale, tables
from experiments.plotting import Line, lines
from experiments.results import SAMPLED, Point, Results

__all__ = ["FIGURES", "Figure", "Rows", "cells_of", "curve", "draw", "enter", "grid_cells", "write_csv"]

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Figure:
    """A figure of the paper, or one of ours.

    Attributes
    ----------
    cells : callable
        The cells it needs at a scale.
    rows : callable
        Its numbers, as they go into the CSV.
    draw : callable
        Draws the numbers to a path without suffix.
    """

    name: str
    title: str
    place: str
    cells: Callable[[Scale], Iterable[Cell]]
    rows: Callable[[Results], Rows]
    draw: Callable[[Rows, Path], None]
    default: bool = True  # whether it is drawn without being named


def grid_cells(scale: Scale, points: Iterable[Point], algorithms: Iterable[str], measure: str = "quality") -> Iterator[Cell]:
    """Every projection at every point, for every algorithm, in both panels."""
    limit = scale.timed if measure in SAMPLED else None
    for panel in scale.panels:
        for l, d, n in points:
            for table in tables(scale, panel, d, n, limit):
                for algorithm in algorithms:
                    yield Cell(table, l, algorithm, measure)


def curve(
    name: str,
    title: str,
    place: str,
    *,
    x: str,
    fields: dict[str, tuple[str, str]],
    label: str,
    points: Callable[[Scale], list[Point]],
    measure: str = "quality",
) -> Figure:
    """A figure of means over projections against l, d or n, one panel for each data set.

    `fields` maps the name of a line to its algorithm and the field of its results.
    """

    def cells(scale: Scale) -> Iterator[Cell]:
        return grid_cells(scale, points(scale), dict.fromkeys(a for a, _ in fields.values()), measure)

    def rows(results: Results) -> Rows:
        out = []
        where = points(results.scale)
        for panel in results.scale.panels:
            for line, (algorithm, field) in fields.items():
                for (l, d, n), mean in zip(where, results.series(panel, field, algorithm, where, measure=measure), strict=True):
                    out.append({"panel": panel.label, "line": line, "l": l, "d": d, "n": n or results.scale.n, label: mean})
        return out

    def drawing(data: Rows, path: Path) -> None:
        lines([Line(r["panel"], r["line"], r[x], r[label]) for r in data], x, label, path)

    return Figure(name, title, place, cells, rows, drawing)


FIGURES: dict[str, Figure] = {}


def enter(*figures: Figure) -> None:
    """Make figures known by their names."""
    for figure in figures:
        if figure.name in FIGURES:
            raise ValueError(f"there is a figure {figure.name!r} already: choose another name")
        FIGURES[figure.name] = figure


def cells_of(scale: Scale, names: Iterable[str]) -> list[Cell]:
    """The cells that some figures need, each once."""
    return list(dict.fromkeys(cell for name in names for cell in FIGURES[name].cells(scale)))


def draw(results: Results, names: Iterable[str], folder: Path) -> list[Path]:
    """Write the CSV, PNG and PDF of some figures; returns what was written."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name in names:
        figure = FIGURES[name]
        data = figure.rows(results)
        write_csv(data, folder / f"{name}.csv")
        figure.draw(data, folder / name)
        written += [folder / f"{name}{ending}" for ending in (".csv", ".png", ".pdf")]
    return written


def write_csv(data: Rows, path: Path) -> None:
    """Rows as CSV, six significant digits."""
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(data[0]), lineterminator="\n")
        writer.writeheader()
        for row in data:
            writer.writerow(
                {k: f"{v:.6g}" if isinstance(v, float) and abs(v) < 1e5 else (f"{v:.1f}" if isinstance(v, float) else v) for k, v in row.items()}
            )
