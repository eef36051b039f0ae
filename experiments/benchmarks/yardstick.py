"""The yardstick Y: polars counting the cells of a table with two threads, timed beside what is compared with it."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from statistics import median
from typing import Any

os.environ.setdefault("POLARS_MAX_THREADS", "2")  # before polars is imported

import polars as pl  # noqa: E402

from ldiv.datasets.acs import QI  # noqa: E402
from ldiv.datasets.census import sal  # noqa: E402
from ldiv.table.contingency import Contingency  # noqa: E402
from ldiv.table.microdata import Microdata  # noqa: E402

__all__ = ["FIRST", "N", "fresh", "polars_frame", "ratio", "table", "yardstick"]

N = 600_000
FIRST = ("Age", "Gender", "Race", "MaritalStatus")


@lru_cache(maxsize=2)
def _whole(n: int) -> Microdata:
    return sal(n)


def table(attributes: Sequence[str] = QI, n: int = N) -> Microdata:
    """SAL with some of its attributes."""
    return _whole(n).project(attributes)


def fresh(data: Microdata) -> Contingency:
    """The cells, counted anew: what every algorithm's time includes."""
    return Contingency.from_microdata(data)


def polars_frame(data: Microdata) -> pl.DataFrame:
    """The same codes as a polars frame, four bytes each: the yardstick does not shrink with what the package keeps."""
    return pl.DataFrame({**{name: data.codes[:, j] for j, name in enumerate(data.names)}, "sensitive": data.sensitive})


def yardstick(data: Microdata) -> Callable[[], Any]:
    """What is timed as Y."""
    frame = polars_frame(data)
    keys = [*data.names, "sensitive"]
    return lambda: frame.group_by(keys).len()


def ratio(task: Callable[[], Any], unit: Callable[[], Any], repeats: int = 5) -> tuple[float, float]:
    """Seconds of a task, and over the unit's: medians of runs in turns, so that a slow moment meets both."""
    task(), unit()
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for function, taken in zip((task, unit), times, strict=True):
            gc.collect()
            started = time.perf_counter()
            function()
            taken.append(time.perf_counter() - started)
    seconds, one = (median(taken) for taken in times)
    return seconds, seconds / one
