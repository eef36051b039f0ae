"""What is measured of a cell. Each function takes the cell's contingency and returns numbers that JSON can hold."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import ldiv
from experiments.grid import Cell, Table
from ldiv.api import solve
from ldiv.contingency import Contingency
from ldiv.datasets import load

__all__ = ["measure", "microdata"]


@lru_cache(maxsize=2)
def whole(dataset: str, n: int, sensitive: str) -> ldiv.Microdata:
    """All seven QI attributes of the first n rows of a data set."""
    return load(dataset, sensitive=sensitive).head(n)


@lru_cache(maxsize=1)
def microdata(table: Table) -> ldiv.Microdata:
    """A table of the grid."""
    return whole(table.dataset, table.n, table.sensitive).project(table.attributes)


def quality(contingency: Contingency, cell: Cell) -> dict[str, Any]:
    """Stars, suppressed rows, groups and, of TP, the phase it ended in and R after every phase."""
    release = solve(contingency, cell.l, algorithm=cell.algorithm)
    return {
        "stars": release.stars, "suppressed_rows": release.suppressed_rows, "groups": release.groups,
        "n": release.n, "d": release.d,
        **{k: v for k, v in release.info.items() if k in ("phase", "residue_sizes", "residue_heights", "rounds")},
    }


MEASURES = {"quality": quality}


def measure(cell: Cell) -> dict[str, Any]:
    """Solve and measure one cell."""
    return MEASURES[cell.measure](microdata(cell.table).contingency, cell)
