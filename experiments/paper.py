"""The paper's figures (section 6), and those of our own beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from experiments.cells import Cell, Table
from experiments.figures import Figure, Rows, curve, enter, grid_cells
from experiments.grid import FIXED_D, FIXED_L, LEVELS, REAL, REAL_N, Panel, Scale, tables
from experiments.plotting import Line, bars, differences, lines
from experiments.results import Point, Results

__all__ = ["ALONG_D", "ALONG_L", "CENSUS", "DIMENSIONS", "along_n", "include"]

DIMENSIONS = range(1, 8)
ALONG_L: list[Point] = [(l, FIXED_D, None) for l in LEVELS]
ALONG_D: list[Point] = [(FIXED_L, d, None) for d in DIMENSIONS]
ALONG_D_L4: list[Point] = [(4, d, None) for d in DIMENSIONS]
CENSUS: list[Point] = [(l, d, None) for d in DIMENSIONS for l in LEVELS]

RIVALS = ("hilbert", "tp", "tp+")
STARS = {name: (name, "stars") for name in RIVALS}
SECONDS = {name: (name, "seconds") for name in RIVALS}
KL = {"tds": ("tds", "kl"), "tp+": ("tp+", "kl"), "TP+ multi-dimensional": ("tp+", "multidim")}


def include(algorithm: str) -> None:
    """Draw one more algorithm, a user's own say, into the figures of stars, seconds and KL."""
    STARS[algorithm] = (algorithm, "stars")
    SECONDS[algorithm] = (algorithm, "seconds")
    KL[algorithm] = (algorithm, "kl")


def along_n(scale: Scale) -> list[Point]:
    return [(FIXED_L, FIXED_D, n) for n in scale.sizes]


# What the figures show on their y axis: which lines, from which measure.
SHOWN = {"stars": (STARS, "quality"), "seconds": (SECONDS, "seconds"), "KL (nats)": (KL, "divergence")}


def along(name: str, title: str, place: str, x: str, label: str, points: list[Point] | Callable[[Scale], list[Point]]) -> Figure:
    """One of the paper's figures of an algorithm's stars, seconds or KL against l, d or n."""
    fields, measure = SHOWN[label]
    return curve(name, title, place, x=x, fields=fields, label=label, points=points if callable(points) else lambda scale: points, measure=measure)


# -- the census of phases ---------------------------------------------------------------------------------------------


def census_cells(scale: Scale) -> Iterator[Cell]:
    return grid_cells(scale, CENSUS, ["tp"])


def census_rows(results: Results) -> Rows:
    out = []
    for panel in results.scale.panels:
        for l in LEVELS:
            phases = [int(p) for d in DIMENSIONS for p in results.values(panel, "phase", "tp", l, d)]
            out.append({"panel": panel.label, "l": l, **{f"phase {k}": phases.count(k) for k in (1, 2, 3)}})
    return out


def census_draw(data: Rows, path: Path) -> None:
    bars(data, "panel", "l", ["phase 1", "phase 2", "phase 3"], "tables", path)


# -- the family on which phase three runs -------------------------------------------------------------------------------

COPIES = (1, 2, 5, 10, 20, 50, 100, 200)
FAMILY_LEVELS = (4, 6, 8, 10)


def family_cell(k: int, l: int) -> Cell:
    return Cell(Table("phase three", k, ("A1",), str(l)), l, "tp")


def family_cells(scale: Scale) -> Iterator[Cell]:
    return (family_cell(k, l) for l in FAMILY_LEVELS for k in COPIES)


def family_rows(results: Results) -> Rows:
    out = []
    for l in FAMILY_LEVELS:
        for k in COPIES:
            r = results.of(family_cell(k, l))
            bound = max(r["residue_sizes"][0], l * r["residue_heights"][0])
            out.append(
                {
                    "l": l,
                    "copies": k,
                    "n": r["n"],
                    "phase": r["phase"],
                    "rounds": r["rounds"],
                    "R after phase two": r["residue_sizes"][1],
                    "R": r["residue_sizes"][2],
                    "lower bound": bound,
                    "ratio": r["residue_sizes"][2] / bound,
                }
            )
    return out


def family_draw(data: Rows, path: Path) -> None:
    points = [Line("rounds of phase three", f"l = {r['l']}", r["copies"], r["rounds"]) for r in data]
    points += [Line("|R| over its lower bound", f"l = {r['l']}", r["copies"], r["ratio"]) for r in data]
    lines(points, "copies k", "", path, xlog=True, shared=False)


# -- is SAL / OCC a fair stand-in? -----------------------------------------------------------------------------------------

FAIR_DIMENSIONS = (2, 4, 6)
FAIR_LIMITS = {2: 12.0, 4: 5.0, 6: 5.0}
KL_LIMIT = 10.0
MODEL = (Panel("Income", "sal", "Income"), Panel("Occupation", "occ", "Occupation"))


def fairness_cells(scale: Scale) -> Iterator[Cell]:
    for panel in (*REAL, *MODEL):
        for d in FAIR_DIMENSIONS:
            for table in tables(scale, panel, d, REAL_N):
                for algorithm in RIVALS:
                    yield Cell(table, FIXED_L, algorithm)
                yield Cell(table, FIXED_L, "tp+", "divergence")


def fairness_rows(results: Results) -> Rows:
    out = []
    for real, model in zip(REAL, MODEL, strict=True):
        for d in FAIR_DIMENSIONS:
            measures = [(name, "stars", "quality", FAIR_LIMITS[d]) for name in RIVALS] + [("tp+", "kl", "divergence", KL_LIMIT)]
            for algorithm, field, measure, limit in measures:
                ours, theirs = (
                    float(np.mean([results.of(Cell(t, FIXED_L, algorithm, measure))[field] for t in tables(results.scale, panel, d, REAL_N)]))
                    for panel in (model, real)
                )
                out.append(
                    {
                        "panel": model.label,
                        "d": d,
                        "measure": f"{field} {algorithm}",
                        "real": theirs,
                        "model": ours,
                        "difference %": 100 * (ours / theirs - 1),
                        "limit %": limit,
                    }
                )
    return out


def fairness_draw(data: Rows, path: Path) -> None:
    differences(data, "panel", "d", "measure", "difference %", "limit %", path)


# -- coarsening first (section 5.6) ------------------------------------------------------------------------------------------

COARSE_QI = ("Age", "Gender", "Race", "MaritalStatus")
COARSE_ALGORITHMS = ("tp+", "cascade")


def coarse_cells(scale: Scale) -> Iterator[Cell]:
    for panel in scale.panels:
        for algorithm in COARSE_ALGORITHMS:
            yield Cell(Table(panel.dataset, scale.n, COARSE_QI, panel.sensitive), FIXED_L, algorithm, "coarsening")


def coarse_rows(results: Results) -> Rows:
    labels = {panel.sensitive: panel.label for panel in results.scale.panels}
    return [
        {"panel": labels[cell.table.sensitive], "algorithm": cell.algorithm, **row}
        for cell in coarse_cells(results.scale)
        for row in results.of(cell)["rows"]
    ]


def coarse_draw(data: Rows, path: Path) -> None:
    """KL against stars: each point a width of the intervals of Age, from single years at the right to all years in one."""
    points = [Line(r["panel"], r["algorithm"], r["stars"] / 1000, r["kl"]) for r in data]
    top = max(point.x for point in points)
    lines(points, "thousands of stars", "KL (nats)", path, ticks=[round(top * k / 4) for k in range(5)])


enter(
    along("stars_vs_l", "Stars against l; mean of the 35 tables with d = 4", "Figure 2 (section 6, stars against l)", "l", "stars", ALONG_L),
    along("stars_vs_d", "Stars against d; l = 6, mean of all projections", "Figure 3 (section 6, stars against d)", "d", "stars", ALONG_D),
    Figure("phase_census", "In which phase TP ends, over all 127 projections", "section 6, phases of TP", census_cells, census_rows, census_draw),
    along("seconds_vs_l", "Seconds against l; d = 4", "Figure 4 (section 6, time against l)", "l", "seconds", ALONG_L),
    along("seconds_vs_d_l4", "Seconds against d; l = 4", "Figure 5 (section 6, time against d, the caption's l)", "d", "seconds", ALONG_D_L4),
    along("seconds_vs_d_l6", "Seconds against d; l = 6", "Figure 5 (section 6, time against d, the text's l)", "d", "seconds", ALONG_D),
    along("seconds_vs_n", "Seconds against n; d = 4, l = 6", "Figure 6 (section 6, time against n)", "n", "seconds", along_n),
    along("kl_vs_l", "KL-divergence against l; mean of the 35 tables with d = 4", "Figure 7 (section 6, KL against l)", "l", "KL (nats)", ALONG_L),
    along("kl_vs_d", "KL-divergence against d; l = 6, mean of all projections", "Figure 8 (section 6, KL against d)", "d", "KL (nats)", ALONG_D),
    Figure(
        "coarsening",
        "Age in intervals of 1, 2, 4 ... 80 years first, then anonymised; d = 4, l = 6",
        "section 5.6, preprocessing",
        coarse_cells,
        coarse_rows,
        coarse_draw,
    ),
    Figure(
        "phase_three",
        "A family of tables on which TP does reach phase three",
        "ours (experiments/families.py)",
        family_cells,
        family_rows,
        family_draw,
    ),
    Figure(
        "fairness",
        "SAL and OCC beside the real table; l = 6, n = 248,381, means over projections",
        "ours",
        fairness_cells,
        fairness_rows,
        fairness_draw,
    ),
)
