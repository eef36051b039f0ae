"""The grid: which tables and which l, at which scale."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from experiments.cells import Cell, Table
from ldiv.datasets.acs import QI

__all__ = ["FIXED_D", "FIXED_L", "FULL", "LEVELS", "QUICK", "REAL", "REAL_N", "Cell", "Panel", "Scale", "Table", "tables"]

LEVELS = range(2, 11)  # the l of the paper's experiments
FIXED_L = 6  # where d or n varies
FIXED_D = 4  # where l or n varies


@dataclass(frozen=True)
class Panel:
    """One half of a figure: SAL or OCC, or what stands in for it."""

    label: str
    dataset: str
    sensitive: str


@dataclass(frozen=True)
class Scale:
    """How large the experiments are.

    `timed` is how many of the projections of each d are timed, spread evenly over them.
    """

    name: str
    n: int
    panels: tuple[Panel, Panel]
    timed: int
    about: str

    @property
    def sizes(self) -> list[int]:
        """The n of the experiment against n: sixths of the whole."""
        return [self.n * k // 6 for k in range(1, 7)]


REAL_N = 248_381
REAL = (Panel("ACS 2018, Income", "acs2018", "Income"), Panel("ACS 2018, Occupation", "acs2018", "Occupation"))
QUICK = Scale("quick", REAL_N, REAL, 3, f"the shipped table, {REAL_N:,} rows")
FULL = Scale("full", 600_000, (Panel("SAL", "sal", "Income"), Panel("OCC", "occ", "Occupation")), 7, "SAL and OCC, 600,000 rows each")


def projections(d: int) -> list[tuple[str, ...]]:
    """All choices of d of the seven QI attributes."""
    return list(combinations(QI, d))


def tables(scale: Scale, panel: Panel, d: int, n: int | None = None, limit: int | None = None) -> Iterator[Table]:
    """SAL-d or OCC-d: every projection on d attributes, or `limit` of them."""
    chosen = projections(d)
    if limit is not None and limit < len(chosen):
        chosen = [chosen[k * len(chosen) // limit] for k in range(limit)]
    for attributes in chosen:
        yield Table(panel.dataset, n or scale.n, attributes, panel.sensitive)
