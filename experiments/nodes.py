"""The study of recoding along hierarchies: what is lost, and the proven bound, beside stars alone and the field's other recodings.

What is lost is counted as ``loss="ncp"`` does, a node as its share of the domain and a star as 1, over all cells; sets and ranges by their share, too.
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

LEVELS = (2, 3, 4, 5, 6)
FOUR = ("Age", "Gender", "BirthPlace", "Education")
SEVEN = ("Age", "Gender", "Race", "MaritalStatus", "BirthPlace", "Education", "WorkClass")
# Panel, table, (l, k), algorithms; beside them stars alone, by the near-optimal search.
EVERY = ("lagrangian", "cascade", "tp+", "mondrian", "tds")
TABLES: tuple[tuple[str, Table, tuple[tuple[int, int], ...], tuple[str, ...]], ...] = (
    ("Adult, d = 7, ARX's hierarchies", Table("adult", 30_162, ADULT, "occupation"), (*((l, 1) for l in LEVELS), (3, 5)), EVERY),
    ("ACS 2018, d = 4", Table("acs2018", 248_381, FOUR, "Income"), tuple((l, 1) for l in (2, 6, 10)), EVERY),
    ("ACS 2018, d = 7", Table("acs2018", 248_381, SEVEN, "Income"), tuple((l, 1) for l in (2, 6)), EVERY),
)
# ARX 3.9.2, local recoding with the same hierarchies, loss in % by l; 937 to 5,465 of its rows are not l-diverse.
ARX = {2: 6.19, 3: 13.2, 4: 23.5, 6: 54.5}


def cells(_: Scale) -> Iterator[Cell]:
    for _, table, asked, algorithms in TABLES:
        for l, k in asked:
            for algorithm in algorithms:
                yield Cell(table, l, algorithm, "recoding", k)
            yield Cell(table, l, "lagrangian", "nearness", k)
            yield Cell(table, l, "lagrangian", "coarsened", k)


def rows(results: Results) -> Rows:
    out: Rows = []
    for panel, table, asked, algorithms in TABLES:
        for l, k in asked:
            about = {"panel": panel, "l": l, "k": k}
            for algorithm in algorithms:
                found = results.of(Cell(table, l, algorithm, "recoding", k))
                out.append({**about, "tool": algorithm, **{name: found[name] for name in ("lost", "bound", "kl", "stars", "seconds")}})
            found = results.of(Cell(table, l, "lagrangian", "coarsened", k))
            out.append(
                {**about, "tool": "levels for all rows, then stars", **{name: found[name] for name in ("lost", "bound", "kl", "stars", "seconds")}}
            )
            found = results.of(Cell(table, l, "lagrangian", "nearness", k))
            lost = 100 * found["stars"] / (table.n * len(table.attributes))
            out.append({**about, "tool": "stars alone", "lost": lost, "bound": 0, **{name: found[name] for name in ("kl", "stars", "seconds")}})
    for l, lost in ARX.items():
        about = {"panel": TABLES[0][0], "l": l, "k": 1, "tool": "ARX 3.9.2, local recoding"}
        out.append({**about, "lost": lost, "bound": 0, "kl": 0, "stars": 0, "seconds": 0})
    return out


def drawing(data: Rows, path: Path) -> None:
    chosen = [r for r in data if r["k"] == 1 and len({x["l"] for x in data if x["panel"] == r["panel"] and x["k"] == 1}) > 1]
    points = [Line(r["panel"], r["tool"], r["l"], r["lost"]) for r in chosen]
    points += [Line(r["panel"], "bound", r["l"], r["bound"]) for r in chosen if r["bound"]]
    lines(points, "l", "lost (% of what all stars lose)", path, log=True, shared=False)


enter(Figure("near_nodes", "What is lost along hierarchies, the bound, and other recodings", PLACE, cells, rows, drawing, default=False))
