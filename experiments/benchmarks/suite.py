"""The asv suite: times, peak memory and tracked numbers of kernels, algorithms, frames and files, over n, d, l and algorithm."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import ldiv
from experiments.benchmarks import aims, engines
from experiments.benchmarks.real import YEARS, real_table
from experiments.benchmarks.yardstick import FIRST, fresh, polars_frame, ratio, table, yardstick
from ldiv._kernels.hilbert import curve_keys
from ldiv._kernels.phase_one import phase_one
from ldiv.bounds.ascent import Ascent
from ldiv.bounds.multipliers import DualProblem
from ldiv.datasets.acs import QI
from ldiv.table.files import read_table, write_table

DS = {4: FIRST, 7: QI}
ROWS = {"lagrangian": 20_000, "exact": 40}  # of a real table, for algorithms that take long


class Kernels:
    """One kernel at a time on cells that are there."""

    params = [[100_000, 600_000], [4, 7]]
    param_names = ["n", "d"]

    def setup(self, n: int, d: int) -> None:
        self.data = table(DS[d], n)
        self.cells = self.data.contingency
        self.kept = np.empty_like(self.cells.count)

    def time_count_cells(self, n: int, d: int) -> None:
        fresh(self.data)

    def time_phase_one(self, n: int, d: int) -> None:
        phase_one(self.cells.indptr, self.cells.count, 6, self.kept)

    def time_project(self, n: int, d: int) -> None:
        self.cells.project(range(d - 1))

    def time_curve_keys(self, n: int, d: int) -> None:
        curve_keys(self.cells.codes, 7)


class Algorithms:
    """Codes of a real table to verified release: every algorithm that is registered."""

    params = [YEARS, [4, 7], sorted(ldiv.list_algorithms())]
    param_names = ["year", "d", "algorithm"]
    timeout = 300

    def setup(self, year: int, d: int, algorithm: str) -> None:
        self.data = real_table(year, d, ROWS.get(algorithm, 100_000))
        self.options = {"effort": "fast"} if algorithm in ("auto", "lagrangian") else {}

    def time_solve(self, year: int, d: int, algorithm: str) -> None:
        ldiv.solve(fresh(self.data), 6, algorithm=algorithm, **self.options)

    def peakmem_solve(self, year: int, d: int, algorithm: str) -> None:
        ldiv.solve(fresh(self.data), 6, algorithm=algorithm, **self.options)

    def track_stars(self, year: int, d: int, algorithm: str) -> int:
        return ldiv.solve(self.data, 6, algorithm=algorithm, **self.options).stars

    def track_kl(self, year: int, d: int, algorithm: str) -> float:
        return ldiv.kl_divergence(ldiv.solve(self.data, 6, algorithm=algorithm, **self.options))


class Sizes:
    """The paper's own algorithms and the cascade on SAL, over n, d and l."""

    params = [[100_000, 600_000], [4, 7], [2, 10], ["tp", "tp+", "hilbert", "cascade"]]
    param_names = ["n", "d", "l", "algorithm"]
    timeout = 300

    def setup(self, n: int, d: int, l: int, algorithm: str) -> None:
        self.data = table(DS[d], n)

    def time_solve(self, n: int, d: int, l: int, algorithm: str) -> None:
        ldiv.solve(fresh(self.data), l, algorithm=algorithm)


class Verify:
    """A released table held against its source, in its order and in another."""

    params = [YEARS, [4, 7], ["keep", "random"]]
    param_names = ["year", "d", "order"]
    timeout = 300
    unit = "bytes a row"

    def setup(self, year: int, d: int, order: str) -> None:
        data = real_table(year, d, 100_000 if order == "keep" else 20_000)  # rows whose order is not known are matched
        self.qi = list(data.names)
        self.source = polars_frame(data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ldiv.DisclosureWarning)  # of the order
            self.release = ldiv.anonymize(self.source, self.qi, "sensitive", 6, algorithm="tp+", order=order, seed=0)

    def verify(self) -> None:
        assert ldiv.verify(self.source, self.release.frame, self.qi, "sensitive", 6)

    def time_verify(self, year: int, d: int, order: str) -> None:
        self.verify()

    def time_inside(self, year: int, d: int, order: str) -> None:
        self.release.verify()

    def track_memory(self, year: int, d: int, order: str) -> float:
        return aims.grown(self.verify) / len(self.source)


class Yardstick:
    """Seconds over those of polars counting the same cells."""

    params = [[4, 7], ["tp", "tp+", "hilbert", "cascade"]]
    param_names = ["d", "algorithm"]
    timeout = 300
    unit = "Y"

    def track_ratio(self, d: int, algorithm: str) -> float:
        data = table(DS[d])
        return ratio(lambda: ldiv.solve(fresh(data), 6, algorithm=algorithm), yardstick(data), 3)[1]


class Prices:
    """Near-optimal releases of the first 100,000 rows."""

    params = [[4, 7], ["fast", "default"]]
    param_names = ["d", "effort"]
    timeout = 600
    number = repeat = 1

    def setup(self, d: int, effort: str) -> None:
        self.data = table(DS[d], 100_000)

    def time_lagrangian(self, d: int, effort: str) -> None:
        ldiv.solve(self.data, 6, algorithm="lagrangian", effort=effort)

    def track_nearness(self, d: int, effort: str) -> float:
        return ldiv.solve(self.data, 6, algorithm="lagrangian", effort=effort).certificate.ratio


class Sweep:
    def setup(self) -> None:
        contingency = table(FIRST).contingency
        self.rows = contingency.count.astype(np.float32)
        self.ascent = Ascent(DualProblem(contingency, 6, 4, threads=1))
        self.ascent.select(map, 0.05)

    def time_select(self) -> None:
        self.ascent.select(map, 0.05)

    def time_respond(self) -> None:
        self.ascent.respond(map, self.rows, 0.05)

    def time_adjust(self) -> None:
        self.ascent.adjust(map, 0.01)


class Frames:
    params = [["pandas int", "pandas category", "pandas string", "polars"]]
    param_names = ["kind"]
    unit = "Y"
    timeout = 300

    def track_ratio(self, kind: str) -> float:
        return aims.framed(kind)()[0]


class Files:
    params = [["csv", "parquet"]]
    param_names = ["ending"]

    def setup(self, ending: str) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / f"table.{ending}"
        self.table: Any = polars_frame(table(FIRST, 100_000)).to_arrow()
        write_table(self.table, self.path)

    def teardown(self, ending: str) -> None:
        self.folder.cleanup()

    def time_read(self, ending: str) -> None:
        read_table(self.path)

    def time_write(self, ending: str) -> None:
        write_table(self.table, self.path)


class Engines:
    """Files to files by each engine; DuckDB's own copy and count of the same file beside it, and phase one inside the engine."""

    params = [["memory", "duckdb", "pushed"], [100_000, 1_000_000]]
    param_names = ["engine", "n"]
    timeout = 300

    def setup(self, engine: str, n: int) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.source = engines.make(Path(self.folder.name), n)

    def teardown(self, engine: str, n: int) -> None:
        self.folder.cleanup()

    def time_anonymize(self, engine: str, n: int) -> None:
        engines.release(engine, str(self.source), f"{self.folder.name}/out.parquet")

    def track_ratio(self, engine: str, n: int) -> float:
        """Processor seconds, in those of a copy and a count."""
        own = engines.used(lambda: engines.release(engine, str(self.source), f"{self.folder.name}/out.parquet"))
        return own / engines.unit(str(self.source), self.folder.name, 2)["unit_cpu"]


class Whole:
    """Numbers of the whole package."""

    timeout = 600

    def track_import(self) -> float:
        return aims.imports()[0]

    def track_growth(self) -> float:
        return aims.growth()[0]

    def track_bytes_a_row(self) -> float:
        return aims.peak_memory()[0]
