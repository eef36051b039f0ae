"""Two real tables for benchmarks: the one that ships (2018), and one of the same columns from 2024 that does not travel with the project."""

from __future__ import annotations

import csv
import gzip
from functools import lru_cache
from pathlib import Path

import numpy as np

import ldiv
from experiments.benchmarks.yardstick import FIRST
from ldiv.datasets.acs import QI
from ldiv.datasets.external import find
from ldiv.errors import InputError
from ldiv.table.microdata import Microdata

__all__ = ["YEARS", "real_table"]

YEARS = [2018, 2024]
LATER = "table6_like_2024_600k.csv.gz"
SIZES = {"State": 49, "WorkClass": 9}  # where it differs from 2018: residence, not birth place


@lru_cache(maxsize=1)
def _later() -> Microdata:
    beside = Path(__file__).parents[3] / "shared" / "data" / LATER
    path = find(beside if beside.is_file() else None, [LATER], "600,000 workers of the 2024 American Community Survey, recoded as acs2018")
    with gzip.open(path, "rt", newline="") as stream:
        names = next(csv.reader(stream))
        rows = np.loadtxt(stream, dtype=np.int32, delimiter=",")
    qi = [name for name in names if name not in ("Income", "Occupation")]
    known = ldiv.datasets.load("acs2018")
    sizes = [SIZES[name] if name in SIZES else known.domains[known.names.index(name)].size for name in qi]
    codes = rows[:, [names.index(name) for name in qi]]
    return Microdata.from_codes(codes, rows[:, names.index("Income")], [*sizes, 50], names=qi, sensitive_name="Income")


def real_table(year: int, d: int, n: int = 100_000) -> Microdata:
    """The first n rows of a year's table, with 4 or all 7 of its QI attributes; asv skips what asks for a table that is not there."""
    try:
        data = ldiv.datasets.load("acs2018") if year == 2018 else _later()
    except InputError as error:
        raise NotImplementedError(str(error)) from error
    return data.project(FIRST if d == 4 else range(len(QI))).head(n)
