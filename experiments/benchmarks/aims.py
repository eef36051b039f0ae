"""What is aimed at, and how each number is measured. One entry an aim; `make bench` prints them all."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from math import log
from pathlib import Path
from statistics import mean, median
from typing import Any

import numpy as np

import ldiv
from experiments.benchmarks.yardstick import FIRST, fresh, polars_frame, ratio, table, yardstick
from ldiv.bounds.ascent import Ascent
from ldiv.bounds.multipliers import DualProblem
from ldiv.datasets.acs import QI

__all__ = ["AIMS", "Aim", "grown"]

L = 6
MIDDLE = ("Age", "BirthPlace", "Education", "WorkClass")  # d = 4 with large domains


@dataclass(frozen=True)
class Aim:
    """One line of the table. `measure` returns the number that should stay at or below `limit`, and a note."""

    name: str
    limit: float
    unit: str
    measure: Callable[[], tuple[float, str]]


def solving(algorithm: str, attributes: tuple[str, ...]) -> Callable[[], tuple[float, str]]:
    """Codes to verified release, in Y."""

    def measure() -> tuple[float, str]:
        data = table(attributes)
        seconds, of_y = ratio(lambda: ldiv.solve(fresh(data), L, algorithm=algorithm), yardstick(data))
        return of_y, f"{seconds:.3f} s"

    return measure


def tp_everywhere() -> tuple[float, str]:
    measured = [solving("tp", attributes)()[0] for attributes in combinations(QI, 4)]
    return mean(measured), f"35 tables, {min(measured):.2f} to {max(measured):.2f}"


def sweep() -> tuple[float, str]:
    """One sweep of prices over np.exp of as many float32 values, one thread."""
    contingency = table(MIDDLE).contingency
    problem = DualProblem(contingency, L, 4, threads=1)
    ascent = Ascent(problem)
    rows = contingency.count.astype(np.float32)
    values = -np.random.default_rng(0).random(ascent.share.size, dtype=np.float32)
    out = np.empty_like(values)

    ascent.select(map, np.inf)  # every pair

    def once() -> None:
        ascent.respond(map, rows, 0.05)
        ascent.adjust(map, 0.01)

    seconds, of_exp = ratio(once, lambda: np.exp(values, out=out))
    return of_exp, f"{1e9 * seconds / values.size:.2f} ns a cell and pattern"


def divergence(algorithm: str, attributes: tuple[str, ...]) -> Callable[[], tuple[float, str]]:
    def measure() -> tuple[float, str]:
        data = table(attributes)
        release = ldiv.solve(data, L, algorithm=algorithm)
        seconds, of_y = ratio(lambda: ldiv.kl_divergence(release), yardstick(data))
        return of_y, f"{seconds:.3f} s"

    return measure


def framed(kind: str) -> Callable[[], tuple[float, str]]:
    """anonymize(frame) to frame, TP."""

    def measure() -> tuple[float, str]:
        import pandas as pd

        data = table(FIRST)
        codes: Any = polars_frame(data)
        if kind != "polars":
            codes = pd.DataFrame({name: codes[name].to_numpy() for name in codes.columns})
        if kind == "pandas category":
            codes = codes.astype("category")
        elif kind == "pandas string":
            codes = pd.DataFrame({name: "value " + codes[name].astype(str) for name in codes.columns})
        seconds, of_y = ratio(lambda: ldiv.anonymize(codes, list(FIRST), "sensitive", L, algorithm="tp").frame, yardstick(data))
        return of_y, f"{seconds:.3f} s"

    return measure


def peak_memory() -> tuple[float, str]:
    """Bytes a row that TP takes above the codes, in a process of its own. Linux only."""
    script = "from experiments.benchmarks.aims import tp_peak\nprint(tp_peak())"
    grown = float(subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True, cwd=Path(__file__).parents[2]).stdout)
    return grown, "growth of the process's peak over the codes"


def tp_peak() -> float:
    data = table(QI, 2_000_000)
    ldiv.solve(table(FIRST, 600_000).head(1000), 2, algorithm="tp")  # code pages and buffers
    return grown(lambda: ldiv.solve(fresh(data), L, algorithm="tp")) / data.n


def grown(task: Callable[[], object]) -> float:
    """Bytes by which this process's peak rises above what it holds before a task. Linux only."""
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before = _status("VmRSS")
    task()
    return _status("VmHWM") - before


def _status(key: str) -> float:
    line = next(x for x in Path("/proc/self/status").read_text().splitlines() if x.startswith(key))
    return float(line.split()[1]) * 1024


def growth() -> tuple[float, str]:
    """The exponent of TP's time in n."""
    sizes, times = (100_000, 1_000_000, 10_000_000), []
    whole = table(FIRST, sizes[-1])
    for n in sizes:
        data = whole.head(n)
        runs = []
        for _ in range(5):
            started = time.perf_counter()
            ldiv.solve(fresh(data), L, algorithm="tp")
            runs.append(time.perf_counter() - started)
        times.append(median(runs))
    return log(times[-1] / times[0]) / log(sizes[-1] / sizes[0]), ", ".join(f"{t:.3f} s" for t in times)


def imports() -> tuple[float, str]:
    """Seconds of `import ldiv` over those of `import numpy`, both beyond Python's own start."""

    def seconds(statement: str) -> float:
        runs = []
        for _ in range(9):
            started = time.perf_counter()
            subprocess.run([sys.executable, "-c", statement], check=True)
            runs.append(time.perf_counter() - started)
        return median(runs)

    bare, numpy, ours = seconds("pass"), seconds("import numpy"), seconds("import ldiv")
    return (ours - bare) / (numpy - bare), f"{ours - bare:.3f} s, numpy {numpy - bare:.3f} s"


AIMS = [
    Aim("TP, (Age, Gender, Race, MaritalStatus)", 0.25, "Y", solving("tp", FIRST)),
    Aim("TP, mean over the 35 tables of d = 4", 0.5, "Y", tp_everywhere),
    Aim("TP, d = 7", 0.5, "Y", solving("tp", QI)),
    Aim("Hilbert, d = 4", 2, "Y", solving("hilbert", MIDDLE)),
    Aim("Hilbert, d = 7", 2, "Y", solving("hilbert", QI)),
    Aim("TP+, d = 4", 2, "Y", solving("tp+", MIDDLE)),
    Aim("TP+, d = 7", 2, "Y", solving("tp+", QI)),
    Aim("cascade, d = 4", 5, "Y", solving("cascade", MIDDLE)),
    Aim("cascade, d = 7", 12, "Y", solving("cascade", QI)),
    Aim("one sweep of prices, one thread", 3, "np.exp", sweep),
    Aim("KL of TP+, d = 4", 3, "Y", divergence("tp+", MIDDLE)),
    Aim("KL of TP+, d = 7", 3, "Y", divergence("tp+", QI)),
    Aim("KL of TDS, d = 4", 10, "Y", divergence("tds", MIDDLE)),
    Aim("frame to frame, pandas int", 3, "Y", framed("pandas int")),
    Aim("frame to frame, pandas category", 3, "Y", framed("pandas category")),
    Aim("frame to frame, polars", 3, "Y", framed("polars")),
    Aim("frame to frame, pandas string", 12, "Y", framed("pandas string")),
    Aim("peak memory of TP above the codes, d = 7", 24, "bytes a row", peak_memory),
    Aim("growth of TP from 1e5 to 1e7 rows", 1.08, "exponent", growth),
    Aim("import ldiv", 2, "import numpy", imports),
]
