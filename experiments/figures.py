"""The figures: for each the cells it needs, its numbers (CSV) and its drawing (PNG and PDF), with stable bytes."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.grid import FIXED_D, FIXED_L, LEVELS, Cell, Scale, tables
from experiments.plotting import Line, bars, lines
from experiments.results import Results

__all__ = ["FIGURES", "Figure", "cells_of", "draw"]

DIMENSIONS = range(1, 8)
STARS = ("tp",)


@dataclass(frozen=True)
class Figure:
    """A figure of the paper, or one of ours."""

    name: str
    title: str
    place: str
    cells: Callable[[Scale], Iterator[Cell]]
    rows: Callable[[Results], list[dict[str, Any]]]
    draw: Callable[[list[dict[str, Any]], Path], None]


def grid_cells(scale: Scale, points: list[tuple[int, int]], algorithms: tuple[str, ...], measure: str = "quality") -> Iterator[Cell]:
    for panel in scale.panels:
        for l, d in points:
            for table in tables(scale, panel, d):
                for algorithm in algorithms:
                    yield Cell(table, l, algorithm, measure)


def curve(name: str, title: str, place: str, x: str, field: str, label: str, algorithms: tuple[str, ...],
          points: list[tuple[int, int]], measure: str = "quality") -> Figure:
    """A figure of means against l or d, one panel for each data set."""

    def cells(scale: Scale) -> Iterator[Cell]:
        return grid_cells(scale, points, algorithms, measure)

    def rows(results: Results) -> list[dict[str, Any]]:
        out = []
        for panel in results.scale.panels:
            for algorithm in algorithms:
                means = results.series(panel, field, algorithm, points, measure=measure)
                for (l, d), mean in zip(points, means, strict=True):
                    out.append({"panel": panel.label, "algorithm": algorithm, "l": l, "d": d, f"mean {field}": mean})
        return out

    def drawing(data: list[dict[str, Any]], path: Path) -> None:
        lines([Line(r["panel"], r["algorithm"], r[x], r[f"mean {field}"]) for r in data], x, label, path)

    return Figure(name, title, place, cells, rows, drawing)


def census_cells(scale: Scale) -> Iterator[Cell]:
    return grid_cells(scale, [(l, d) for d in DIMENSIONS for l in LEVELS], ("tp",))


def census_rows(results: Results) -> list[dict[str, Any]]:
    out = []
    for panel in results.scale.panels:
        for l in LEVELS:
            phases = [int(p) for d in DIMENSIONS for p in results.values(panel, "phase", "tp", l, d)]
            out.append({"panel": panel.label, "l": l, **{f"phase {k}": phases.count(k) for k in (1, 2, 3)}})
    return out


def census_draw(data: list[dict[str, Any]], path: Path) -> None:
    bars(data, "panel", "l", ["phase 1", "phase 2", "phase 3"], "tables", path)


ALONG_L = [(l, FIXED_D) for l in LEVELS]
ALONG_D = [(FIXED_L, d) for d in DIMENSIONS]

FIGURES = {
    figure.name: figure
    for figure in [
        curve("stars_vs_l", "Stars against l, mean of the 35 tables with d = 4", "section 6, stars against l",
              "l", "stars", "stars", STARS, ALONG_L),
        curve("stars_vs_d", "Stars against d, l = 6, mean of all projections", "section 6, stars against d",
              "d", "stars", "stars", STARS, ALONG_D),
        Figure("phase_census", "In which phase TP ends, over all 127 projections", "section 6, phases of TP",
               census_cells, census_rows, census_draw),
    ]
}


def cells_of(scale: Scale, names: list[str]) -> list[Cell]:
    """The cells that some figures need, each once."""
    return list(dict.fromkeys(cell for name in names for cell in FIGURES[name].cells(scale)))


def draw(results: Results, names: list[str], folder: Path) -> list[Path]:
    """Write the CSV, PNG and PDF of some figures; returns what was written."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name in names:
        figure = FIGURES[name]
        data = figure.rows(results)
        path = folder / f"{name}.csv"
        write_csv(data, path)
        figure.draw(data, folder / name)
        written += [path, folder / f"{name}.png", folder / f"{name}.pdf"]
    return written


def write_csv(data: list[dict[str, Any]], path: Path) -> None:
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(data[0]), lineterminator="\n")
        writer.writeheader()
        for row in data:
            writer.writerow({k: f"{v:.6g}" if isinstance(v, float) and not v.is_integer() else (
                int(v) if isinstance(v, float) else v) for k, v in row.items()})
