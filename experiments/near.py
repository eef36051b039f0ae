"""The study of near-optimal releases: every algorithm beside the proven bound. Minutes to hours, so drawn only when named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from experiments.cells import Cell, Table
from experiments.figures import Figure, Rows, enter, grid_cells
from experiments.grid import FIXED_D, FIXED_L, Scale, tables
from experiments.plotting import Line, dots, lines
from experiments.results import Point, Results

__all__: list[str] = []

PLACE = "ours (docs/near-optimal.md)"
ALGORITHMS = ("hilbert", "tp", "tp+", "cascade", "lagrangian")
ALONG_L: list[Point] = [(l, FIXED_D, None) for l in (2, 4, 6, 8, 10)]
ALONG_D: list[Point] = [(FIXED_L, d, None) for d in range(1, 8)]
RATIO_LEVELS = (2, 6, 10)
FIELDS = {"stars": "stars", "bound": "bound", "kl": "KL (nats)", "seconds": "seconds"}


def study(name: str, title: str, points: list[Point], x: str, field: str) -> Figure:
    """Stars (or another field) of all algorithms, with the bound that the prices prove."""

    def cells(scale: Scale) -> Iterator[Cell]:
        return grid_cells(scale, points, ALGORITHMS, "nearness")

    def rows(results: Results) -> Rows:
        out = []
        for panel in results.scale.panels:
            for algorithm in ALGORITHMS:
                for l, d, _ in points:
                    means = {key: results.mean(panel, key, algorithm, (l, d, None), measure="nearness") for key in FIELDS}
                    out.append({"panel": panel.label, "algorithm": algorithm, "l": l, "d": d, **means})
        return out

    def drawing(data: Rows, path: Path) -> None:
        points = [Line(r["panel"], r["algorithm"], r[x], r[field]) for r in data]
        if field == "stars":
            points += [Line(r["panel"], "bound", r[x], r["bound"]) for r in data if r["algorithm"] == "lagrangian"]
        lines(points, x, FIELDS[field], path, log=field == "stars")

    return Figure(name, title, PLACE, cells, rows, drawing, default=False)


# -- the ratio on every table ------------------------------------------------------------------------------------------


def ratio_cells(scale: Scale) -> Iterator[Cell]:
    for panel in scale.panels:
        for l in RATIO_LEVELS:
            for table in tables(scale, panel, FIXED_D):
                yield Cell(table, l, "lagrangian", "nearness")


def ratio_rows(results: Results) -> Rows:
    labels = {panel.sensitive: panel.label for panel in results.scale.panels}
    out = []
    for cell in ratio_cells(results.scale):
        found = results.of(cell)
        out.append(
            {
                "panel": labels[cell.table.sensitive],
                "l": cell.l,
                "attributes": " ".join(cell.table.attributes),
                "stars": found["stars"],
                "bound": found["bound"],
                "ratio": found["stars"] / found["bound"] if found["bound"] else 1.0,
            }
        )
    return out


def ratio_drawing(data: Rows, path: Path) -> None:
    dots([Line(r["panel"], "", r["l"], r["ratio"]) for r in data], "l", "stars / proven bound", path)


# -- what a sweep brings -----------------------------------------------------------------------------------------------

EFFORT_QI = [
    ("Age", "Gender", "Race", "MaritalStatus"),
    ("Age", "BirthPlace", "Education", "WorkClass"),
    ("Age", "Gender", "MaritalStatus", "BirthPlace", "Education"),
]


def timed_cells(measure: str) -> Callable[[Scale], Iterator[Cell]]:
    """The tables that are followed over time, under one measure."""

    def cells(scale: Scale) -> Iterator[Cell]:
        for panel in scale.panels:
            for qi in EFFORT_QI:
                yield Cell(Table(panel.dataset, scale.n, qi, panel.sensitive), FIXED_L, "lagrangian", measure)

    return cells


def timed_rows(measure: str, field: str, of: Callable[[float, float], float]) -> Callable[[Results], Rows]:
    """All that was recorded of them, with one more field of stars and bound."""

    def rows(results: Results) -> Rows:
        labels = {panel.sensitive: panel.label for panel in results.scale.panels}
        return [
            {"panel": labels[cell.table.sensitive], "attributes": " ".join(cell.table.attributes), **row, field: of(row["stars"], row["bound"])}
            for cell in timed_cells(measure)(results.scale)
            for row in results.of(cell)["rows"]
        ]

    return rows


def shortly(attributes: str) -> str:
    """A table's attributes, for a title or a legend."""
    words = attributes.split()
    return f"d = {len(words)}: {', '.join(words[:2])} ..."


def effort_drawing(data: Rows, path: Path) -> None:
    """Both sides as parts of the best bound of their table."""
    points = []
    for r in data:
        best = max(x["bound"] for x in data if (x["panel"], x["attributes"]) == (r["panel"], r["attributes"]))
        panel = shortly(r["attributes"])
        points += [Line(panel, f"{side}, {r['panel'].split()[-1]}", r["seconds"], r[side] / best) for side in ("stars", "bound")]
    lines(points, "seconds", "part of the best bound", path, xlog=True, ticks=[1, 3, 10, 30], floor=0.8)


# -- the gap as time goes on -------------------------------------------------------------------------------------------


def course_drawing(data: Rows, path: Path) -> None:
    points = [Line(r["panel"], shortly(r["attributes"]), r["seconds"], r["gap"]) for r in data]
    lines(points, "seconds", "proven gap (%)", path, xlog=True, log=True, ticks=[1, 3, 10, 30, 60])


# -- the distance to the optimum where it can be computed -----------------------------------------------------------------

COUNT = 40
SMALL_L = 3
FAMILIES = {"small": "random, 12 to 40 rows, d = 3", "gadget": "gadgets of section 3, 9 rows"}
RIVALS = ("tp", "tp+", "cascade", "lagrangian")


def small_cells(_: Scale) -> Iterator[Cell]:
    for family in FAMILIES:
        for seed in range(COUNT):
            for algorithm in (*RIVALS, "exact"):
                yield Cell(Table(family, seed, (), ""), SMALL_L, algorithm)


def small_rows(results: Results) -> Rows:
    out = []
    for family, label in FAMILIES.items():
        for seed in range(COUNT):
            best = results.of(Cell(Table(family, seed, (), ""), SMALL_L, "exact"))
            for algorithm in RIVALS:
                found = results.of(Cell(Table(family, seed, (), ""), SMALL_L, algorithm))
                out.append(
                    {
                        "family": label,
                        "table": seed,
                        "algorithm": algorithm,
                        "stars": found["stars"],
                        "optimum": best["stars"],
                        "optimal_proven": best["optimal"],
                        "ratio": found["stars"] / best["stars"] if best["stars"] else 1.0,
                        "guarantee": SMALL_L * found["d"],
                    }
                )
    return out


def small_drawing(data: Rows, path: Path) -> None:
    """Each algorithm's ratio to the optimum, table by table from best to worst; the guarantee l * d is far above, in the title."""
    points = []
    for family in FAMILIES.values():
        least = min(r["guarantee"] for r in data if r["family"] == family)
        for algorithm in RIVALS:
            ratios = sorted(r["ratio"] for r in data if (r["family"], r["algorithm"]) == (family, algorithm))
            points += [Line(f"{family}\n(guarantee l·d = {least} or more)", algorithm, k + 1, ratio) for k, ratio in enumerate(ratios)]
    lines(points, "tables, by ratio", "stars / optimum", path, ticks=[1, COUNT // 2, COUNT], floor=0.95)


# -- Adult, beside a lattice tool -------------------------------------------------------------------------------------------

ADULT = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country")
# ARX 3.9.2 with star-only hierarchies on the same 30,162 rows, its releases repaired to be truly l-diverse: cells starred, by l.
ARX = {2: 22_771, 3: 46_412, 4: 70_770, 5: 109_578, 6: 141_466}


def adult_cells(_: Scale) -> Iterator[Cell]:
    for l in ARX:
        for algorithm in ALGORITHMS:
            yield Cell(Table("adult", 30_162, ADULT, "occupation"), l, algorithm, "nearness")


def adult_rows(results: Results) -> Rows:
    out: Rows = []
    for cell in adult_cells(results.scale):
        found = results.of(cell)
        out.append({"algorithm": cell.algorithm, "l": cell.l, "stars": found["stars"], "bound": found["bound"], "seconds": found["seconds"]})
    return out + [{"algorithm": "ARX 3.9.2, repaired", "l": l, "stars": stars, "bound": 0, "seconds": np.nan} for l, stars in ARX.items()]


def adult_drawing(data: Rows, path: Path) -> None:
    panel = "UCI Adult, 30,162 rows, d = 7"
    points = [Line(panel, r["algorithm"], r["l"], r["stars"]) for r in data]
    points += [Line(panel, "bound", r["l"], r["bound"]) for r in data if r["algorithm"] == "lagrangian"]
    lines(points, "l", "stars", path, log=True)


enter(
    study("near_vs_l", "Stars of all algorithms and the proven bound; d = 4", ALONG_L, "l", "stars"),
    study("near_vs_d", "Stars of all algorithms and the proven bound; l = 6", ALONG_D, "d", "stars"),
    study("near_kl_vs_l", "KL-divergence of all algorithms; d = 4", ALONG_L, "l", "kl"),
    Figure(
        "near_ratios",
        "Stars over the proven bound on all 35 tables of d = 4; the line is the mean",
        PLACE,
        ratio_cells,
        ratio_rows,
        ratio_drawing,
        default=False,
    ),
    Figure(
        "near_course",
        "The proven gap as effort best goes on, a minute; l = 6",
        PLACE,
        timed_cells("course"),
        timed_rows("course", "gap", lambda stars, bound: 100 * (stars / bound - 1)),
        course_drawing,
        default=False,
    ),
    Figure(
        "near_effort",
        "Stars and bound against seconds, 10 to 400 sweeps; l = 6",
        PLACE,
        timed_cells("effort"),
        timed_rows("effort", "ratio", lambda stars, bound: stars / bound),
        effort_drawing,
        default=False,
    ),
    Figure("near_small", "Ratio to the optimum where it can be computed; l = 3", PLACE, small_cells, small_rows, small_drawing, default=False),
    Figure("near_adult", "Adult: all algorithms, the bound, and ARX", PLACE, adult_cells, adult_rows, adult_drawing, default=False),
)
