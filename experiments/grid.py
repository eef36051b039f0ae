"""The grid: which tables, which l, which algorithms, and what is measured of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from ldiv.datasets.acs import QI

__all__ = ["FULL", "LEVELS", "QUICK", "Cell", "Panel", "Scale", "Table", "tables"]

LEVELS = range(2, 11)           # the l of the paper's experiments
FIXED_L = 6                     # where d or n varies
FIXED_D = 4                     # where l or n varies


@dataclass(frozen=True, order=True)
class Table:
    """A table of the grid: the first n rows of a data set on some attributes."""

    dataset: str
    n: int
    attributes: tuple[str, ...]
    sensitive: str


@dataclass(frozen=True, order=True)
class Cell:
    """One cell of the grid, solved once and stored once.

    `measure` is a function of experiments.measure: quality, divergence or seconds.
    """

    table: Table
    l: int
    algorithm: str
    measure: str = "quality"


@dataclass(frozen=True)
class Panel:
    """One half of a figure: SAL or OCC, or what stands in for it."""

    label: str
    dataset: str
    sensitive: str


@dataclass(frozen=True)
class Scale:
    """How large the experiments are."""

    name: str
    n: int
    panels: tuple[Panel, Panel]
    about: str


QUICK = Scale(
    "quick", 248_381, (Panel("ACS 2018, Income", "acs2018", "Income"), Panel("ACS 2018, Occupation", "acs2018", "Occupation")),
    "the shipped table, 248,381 rows",
)
FULL = QUICK                    # until the generator of SAL and OCC is here


def projections(d: int) -> list[tuple[str, ...]]:
    """All choices of d of the seven QI attributes."""
    return list(combinations(QI, d))


def tables(scale: Scale, panel: Panel, d: int, n: int | None = None) -> Iterator[Table]:
    """SAL-d or OCC-d: every projection on d attributes."""
    for attributes in projections(d):
        yield Table(panel.dataset, n or scale.n, attributes, panel.sensitive)
