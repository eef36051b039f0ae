"""Where the gap sits: what heights that are fractions hide from the linear bound, what neighbourhoods save, and what is left."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from experiments.cells import Cell
from experiments.figures import Figure, Rows, enter
from experiments.grid import FIXED_D, FIXED_L, Scale, tables
from experiments.near import PLACE
from experiments.plotting import Line, lines
from experiments.results import Results

__all__: list[str] = []

ALONG_D = [(FIXED_L, d) for d in range(1, 8)]
ALONG_L = [(l, FIXED_D) for l in (2, 4, 6, 8, 10)]
KINDS = {
    "configuration": "bounds: configurations above multipliers",
    "saved": "releases: neighbourhoods below rounding",
    "left": "left between the two",
}


def chosen(scale: Scale, axis: str) -> Iterator[tuple[str, int, Cell]]:
    """Of each point one table, the middle one of its projections."""
    for panel in scale.panels:
        for l, d in ALONG_D if axis == "d" else ALONG_L:
            every = list(tables(scale, panel, d))
            yield panel.label, d if axis == "d" else l, Cell(every[len(every) // 2], l, "lagrangian", "stages")


def cells(scale: Scale) -> Iterator[Cell]:
    for axis in ("d", "l"):
        for _, _, cell in chosen(scale, axis):
            yield cell


def rows(results: Results) -> Rows:
    out: Rows = []
    for axis in ("d", "l"):
        for panel, x, cell in chosen(results.scale, axis):
            found = results.of(cell)
            stars = max(found["stars"], 1)
            parts = {
                "configuration": 100 * (found["bound"] - found["linear"]) / stars,
                "saved": 100 * (found["rounded"] - found["stars"]) / stars,
                "left": 100 * (found["stars"] - found["bound"]) / stars,
            }
            numbers = {name: found[name] for name in ("linear", "bound", "rounded", "stars")}
            out.append({"panel": panel, "axis": axis, "x": x, "attributes": " ".join(cell.table.attributes), **numbers, **parts})
    return out


def drawing(data: Rows, path: Path) -> None:
    against = {"d": f"against d, l = {FIXED_L}", "l": f"against l, d = {FIXED_D}"}
    points = [Line(f"{r['panel'].split()[-1]}, {against[r['axis']]}", KINDS[kind], r["x"], r[kind]) for kind in KINDS for r in data]
    lines(points, "d, or l", "% of the release's stars", path, shared=False)


enter(Figure("near_where", "Where the gap sits: bounds, releases, and what is left", PLACE, cells, rows, drawing, default=False))
