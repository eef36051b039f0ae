"""The study of near-optimal releases: every algorithm beside the proven bound. Minutes to hours, so drawn only when named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from experiments.cells import Cell
from experiments.figures import FIGURES, Figure, Rows, grid_cells
from experiments.grid import FIXED_D, FIXED_L, Scale
from experiments.plotting import Line, lines
from experiments.results import Point, Results

__all__: list[str] = []

ALGORITHMS = ("hilbert", "tp", "tp+", "cascade", "lagrangian")
ALONG_L: list[Point] = [(l, FIXED_D, None) for l in (2, 4, 6, 8, 10)]
ALONG_D: list[Point] = [(FIXED_L, d, None) for d in range(1, 6)]


def study(name: str, title: str, points: list[Point], x: str, fields: tuple[str, ...]) -> Figure:
    """Stars (or another field) of all algorithms, with the bound that the prices prove."""

    def cells(scale: Scale) -> Iterator[Cell]:
        return grid_cells(scale, points, ALGORITHMS, "nearness")

    def rows(results: Results) -> Rows:
        out = []
        for panel in results.scale.panels:
            for algorithm in ALGORITHMS:
                for l, d, _ in points:
                    means = {field: results.mean(panel, field, algorithm, (l, d, None), measure="nearness") for field in FIELDS}
                    out.append({"panel": panel.label, "algorithm": algorithm, "l": l, "d": d, **means})
        return out

    def drawing(data: Rows, path: Path) -> None:
        field = fields[0]
        points = [Line(r["panel"], r["algorithm"], r[x], r[field]) for r in data]
        if field == "stars":
            points += [Line(r["panel"], "bound", r[x], r["bound"]) for r in data if r["algorithm"] == "lagrangian"]
        lines(points, x, FIELDS[field], path, log=field == "stars")

    return Figure(name, title, "ours (docs/near-optimal.md)", cells, rows, drawing, default=False)


FIELDS = {"stars": "stars", "bound": "bound", "kl": "KL (nats)", "seconds": "seconds"}

for figure in [
    study("near_vs_l", "Stars of all algorithms and the proven bound; d = 4", ALONG_L, "l", ("stars",)),
    study("near_vs_d", "Stars of all algorithms and the proven bound; l = 6", ALONG_D, "d", ("stars",)),
    study("near_kl_vs_l", "KL-divergence of all algorithms; d = 4", ALONG_L, "l", ("kl",)),
]:
    FIGURES[figure.name] = figure
