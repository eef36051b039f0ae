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
    ("Adult, d = 7", Table("adult", 30_162, ADULT, "occupation"), 3, (3, *SIZES[2:])),
    ("Adult, d = 9", Table("adult", 30_162, NINE, ""), 1, SIZES),
    ("NIST national 2019, d = 10", Table("nist", 27_253, NIST, ""), 1, (*SIZES[:3], 6, *SIZES[3:])),
    ("ACS 2018, d = 5", Table("acs2018", 248_381, ACS, ""), 1, SIZES),
)
ALGORITHMS = ("cascade", "lagrangian")
# Published: panel, tool and what it promises, k, loss; docs/peers.md has the sources. ARX's loss at d = 9 is of values of hierarchies, not of stars.
PUBLISHED = (
    ("Adult, d = 7", "ARX, local, distinct 3", 5, 23_554 / (7 * 30_162)),
    ("Adult, d = 9", "ARX, full domain, hierarchies", 5, 0.2212867),
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
                tool = algorithm if l == 1 else f"{algorithm}, l = {l}"
                bound = found["bound"] if algorithm == "lagrangian" else 0  # the cascade proves none of its own
                numbers = {"stars": found["stars"], "bound": bound, "loss": found["stars"] / entries, "least": bound / entries}
                out.append({"panel": panel, "tool": tool, "k": k, **numbers, "seconds": found["seconds"]})
    for panel, tool, k, loss in PUBLISHED:
        out.append({"panel": panel, "tool": tool, "k": k, "stars": 0, "bound": 0, "loss": loss, "least": 0, "seconds": 0})
    return out


def drawing(data: Rows, path: Path) -> None:
    points = [Line(r["panel"], r["tool"], r["k"], 100 * r["loss"]) for r in data]
    points += [Line(r["panel"], r["tool"].replace("lagrangian", "bound"), r["k"], 100 * r["least"]) for r in data if r["least"]]
    lines(points, "k", "cells starred (%)", path, xlog=True, shared=False, ticks=[2, 5, 10, 20, 50, 100])


enter(Figure("near_k", "Stars and bound for groups of at least k rows, and what others have published", PLACE, cells, rows, drawing, default=False))
