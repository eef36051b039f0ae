"""python -m experiments.benchmarks.grid: the minutes of the paper's whole grid in memory, two processes, nothing stored.

Both tables, all 127 projections, l = 2 .. 10: TP, TP+ and Hilbert from cells to verified release, and the KL-divergence of TP+.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import ldiv
from experiments.benchmarks.yardstick import N
from experiments.grid import LEVELS, projections
from ldiv.datasets.acs import QI
from ldiv.datasets.census import occ, sal
from ldiv.table.microdata import Microdata

ALGORITHMS = ("tp", "tp+", "hilbert")
WHOLE: list[Microdata] = []  # loaded before the processes are forked


def one_table(job: tuple[int, tuple[str, ...]]) -> Counter[str]:
    """Seconds of each part of a table's cells of the grid."""
    which, attributes = job
    seconds: Counter[str] = Counter()

    def timed(what: str, started: float) -> None:
        seconds[what] += time.perf_counter() - started

    started = time.perf_counter()
    contingency = WHOLE[which].project(attributes).contingency
    timed("cells", started)
    for l in LEVELS:
        for algorithm in ALGORITHMS:
            started = time.perf_counter()
            release = ldiv.solve(contingency, l, algorithm=algorithm)
            timed(algorithm, started)
            if algorithm == "tp+":
                started = time.perf_counter()
                ldiv.kl_divergence(release)
                timed("KL", started)
    return seconds


def main(processes: int = 2) -> None:
    WHOLE[:] = [sal(N), occ(N)]
    jobs = [(which, attributes) for d in range(len(QI), 0, -1) for attributes in projections(d) for which in (0, 1)]
    started, total = time.perf_counter(), Counter[str]()
    with ProcessPoolExecutor(processes, mp_context=get_context("fork")) as pool:
        for k, seconds in enumerate(pool.map(one_table, jobs), 1):
            total += seconds
            print(f"\r{k} of {len(jobs)} tables, {time.perf_counter() - started:.0f} s", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    minutes = (time.perf_counter() - started) / 60
    parts = ", ".join(f"{what} {total[what]:.0f} s" for what in ("cells", *ALGORITHMS, "KL"))
    print(
        f"{len(jobs)} tables of {N:,} rows, l = {LEVELS[0]} .. {LEVELS[-1]}, {processes} processes: {minutes:.1f} minutes "
        f"({'pass' if minutes <= 15 else 'short'}, aim 15); process seconds: {parts}"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
