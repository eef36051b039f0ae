"""The study of a least size k of groups: stars and bound for k = 2 .. 100, and what other tools have published on the same tables.

A star loses all of a value, so the stars' share of the cells is what ARX calls loss (granularity): its published points stand in the same unit.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from experiments.cells import Cell, Table
from experiments.figures import Figure, Rows, enter
from experiments.grid import Scale
from experiments.near import ADULT, PLACE
from experiments.plotting import Line, lines
from experiments.results import Results

__all__: list[str] = []

SIZES = (2, 3, 5, 10, 20, 50, 100)
NINE = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "income")
NIST = ("AGEP", "SEX", "MSP", "RAC1P", "HOUSING_TYPE", "OWN_RENT", "EDU", "PINCP_DECILE", "DVET", "DEYE")
ACS = ("Age", "Gender", "Race", "MaritalStatus", "Education")
# Panel, table, l, the sizes.
TABLES = (
    ("Adult, d = 7", Table("adult", 30_162, ADULT, ""), 1, SIZES),
    ("Adult, d = 7, and l = 3", Table("adult", 30_162, ADULT, "occupation"), 3, (3, *SIZES[2:])),
    ("NIST national 2019, d = 10", Table("nist", 27_253, NIST, ""), 1, (*SIZES[:3], 6, *SIZES[3:])),
    ("ACS 2018, d = 5", Table("acs2018", 248_381, ACS, ""), 1, SIZES),
    ("Adult, d = 9", Table("adult", 30_162, NINE, ""), 1, SIZES),
)
ALGORITHMS = ("cascade", "lagrangian")
# Published: panel, tool, k, loss; docs/peers.md has the sources. At d = 7 ARX suppresses cells, for l = 3 distinct values; at d = 9 it generalises whole columns.
PUBLISHED = (
    ("Adult, d = 7, and l = 3", "ARX", 5, 23_554 / (7 * 30_162)),
    ("Adult, d = 9", "ARX", 5, 0.2212867),
)


def cells(_: Scale) -> Iterator[Cell]:
    for _, table, l, sizes in TABLES:
        for k in sizes:
            for algorithm in ALGORITHMS:
                yield Cell(table, l, algorithm, "nearness", k)


def rows(results: Results) -> Rows:
    out: Rows = []
    for panel, table, l, sizes in TABLES:
        entries = table.n * len(table.attributes)
        for algorithm in ALGORITHMS:
            for k in sizes:
                found = results.of(Cell(table, l, algorithm, "nearness", k))
                bound = found["bound"] if algorithm == "lagrangian" else 0  # the cascade proves none of its own
                numbers = {"stars": found["stars"], "bound": bound, "loss": found["stars"] / entries, "least": bound / entries}
                out.append({"panel": panel, "tool": algorithm, "k": k, **numbers, "seconds": found["seconds"]})
    for panel, tool, k, loss in PUBLISHED:
        out.append({"panel": panel, "tool": tool, "k": k, "stars": 0, "bound": 0, "loss": loss, "least": 0, "seconds": 0})
    return out


def drawing(data: Rows, path: Path) -> None:
    points = [Line(r["panel"], r["tool"], r["k"], 100 * r["loss"]) for r in data]
    points += [Line(r["panel"], "bound", r["k"], 100 * r["least"]) for r in data if r["least"]]
    lines(points, "k", "cells starred (%)", path, xlog=True, shared=False, ticks=[2, 5, 10, 20, 50, 100])


# -- what others measure ------------------------------------------------------------------------------------------------

EIGHT = NINE[:-1]
LEARNT = (2, 5, 10, 20, 50, 100)
# k-AnonML's own results (Computers & Security 111, 2021), random forest, accuracy in %, by k as in LEARNT.
KANONML = {
    "Mondrian": (82.252, 81.976, 81.733, 82.197, 81.578, 81.048),
    "top-down greedy": (82.142, 81.423, 80.992, 80.539, 80.141, 79.821),
    "k-NN clustering": (82.473, 81.755, 81.191, 81.269, 81.147, 79.876),
    "OLA": (81.269, 76.705, 80.915, 80.915, 76.804, 76.904),
}
ZERO_RULE = 75.1
SDCMICRO = 907  # NIST's report on sdcMicro's local suppression, k = 6: 18,720 rows, where an NA matches anything and rows with one are left out


def learnt_cells(_: Scale) -> Iterator[Cell]:
    for k in LEARNT:
        yield Cell(Table("adult", 30_162, EIGHT, ""), 1, "lagrangian", "utility", k)
    for algorithm in ALGORITHMS:
        yield Cell(Table("nist", 27_253, NIST, ""), 1, algorithm, "utility", 6)


def learnt_rows(results: Results) -> Rows:
    out: Rows = []
    for at, k in enumerate(LEARNT):
        found = results.of(Cell(Table("adult", 30_162, EIGHT, ""), 1, "lagrangian", "utility", k))
        for model in ("random forest", "linear SVM", "nearest neighbours"):
            out.append({"table": "Adult, d = 8", "measure": f"accuracy (%), {model}", "k": k, "tool": "lagrangian", "value": found[model]})
        out += [
            {"table": "Adult, d = 8", "measure": "accuracy (%), random forest", "k": k, "tool": f"k-AnonML: {tool}", "value": values[at]}
            for tool, values in KANONML.items()
        ]
    for algorithm in ALGORITHMS:
        found = results.of(Cell(Table("nist", 27_253, NIST, ""), 1, algorithm, "utility", 6))
        out.append({"table": "NIST, d = 10", "measure": "K-marginal", "k": 6, "tool": algorithm, "value": found["k_marginal"]})
    out.append({"table": "NIST, d = 10", "measure": "K-marginal", "k": 6, "tool": "sdcMicro, rows with NA left out", "value": SDCMICRO})
    return out


def learnt_drawing(data: Rows, path: Path) -> None:
    points = [Line(r["table"], r["tool"], r["k"], r["value"]) for r in data if r["measure"].endswith("random forest")]
    points += [Line(points[0].panel, "always the commoner class", k, ZERO_RULE) for k in (LEARNT[0], LEARNT[-1])]
    lines(points, "k", "accuracy of a random forest (%)", path, xlog=True, ticks=[2, 5, 10, 20, 50, 100], floor=ZERO_RULE - 1)


enter(
    Figure(
        "near_peers",
        "What others measure of k-anonymous tables, beside their results",
        PLACE,
        learnt_cells,
        learnt_rows,
        learnt_drawing,
        default=False,
    )
)
enter(Figure("near_k", "Stars and bound for groups of at least k rows, and what others have published", PLACE, cells, rows, drawing, default=False))
