"""python -m experiments.benchmarks.engines FOLDER: engines on SAL of 1e6, 1e7, 1e8 rows in Parquet files: seconds, memory, exponents, and the figure.

Each measurement is a process of its own. The folder keeps the tables (some 1 GB for 1e8 rows) and what was measured (engines.csv); what is there is not
done again. Beside each stands what DuckDB needs to copy the same files and to count the same columns, measured right after it.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from math import log
from pathlib import Path
from typing import Any

QI = ("Age", "Gender", "Race", "MaritalStatus")
SENSITIVE, L, PIECE = "Income", 6, 1_000_000
FIELDS = ("engine", "rows", "seconds", "cpu", "megabytes", "unit_seconds", "unit_cpu", "count", "solve", "write", "verify", "stars", "groups", "load")
LIMITS = {"duckdb": "1GB", "pushed": "1GB", "spark": "2GB", "memory": "24GB"}


def make(folder: Path, rows: int) -> Path:
    """SAL in files of a million rows, each drawn with a seed of its own."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from ldiv.datasets.census import columns

    target = folder / f"sal-{rows}"
    staged = folder / f".sal-{rows}"
    if target.exists():
        return target
    staged.mkdir(parents=True, exist_ok=True)
    for k in range(-(-rows // PIECE)):
        path = staged / f"part-{k:05d}.parquet"
        if not path.exists():
            drawn = columns.__wrapped__(min(PIECE, rows - k * PIECE), k)
            pq.write_table(pa.table({name: pa.array(column) for name, column in drawn.items()}), f"{path}.part")
            os.rename(f"{path}.part", path)
    staged.rename(target)
    return target


def release(engine: str, source: str, target: str, session: Any = None, threads: int = 2) -> Any:
    """One release; ``"pushed"`` is DuckDB with phase one inside it."""
    import ldiv

    limit = LIMITS[engine]
    name = "duckdb" if engine == "pushed" else engine
    about = {"algorithm": "tp", "memory_limit": limit, "threads": threads, "session": session}
    with few_combinations() if engine == "pushed" else contextlib.nullcontext():
        return ldiv.anonymize_files(source, target, QI, SENSITIVE, L, engine=name, **about)


@contextlib.contextmanager
def few_combinations() -> Iterator[None]:
    """As if this process held no table's combinations, but all that phase one takes out of groups."""
    from ldiv.engines.room import Room, TooManyError

    def refuse(self: Room, found: int, keys: Any) -> None:
        raise TooManyError("for a measurement")

    real = Room.require_combinations
    Room.require_combinations = refuse  # type: ignore[method-assign]
    try:
        yield
    finally:
        Room.require_combinations = real  # type: ignore[method-assign]


def used(work: Callable[[], Any]) -> float:
    """Processor seconds of this process."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    work()
    after = resource.getrusage(resource.RUSAGE_SELF)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def one(engine: str, source: str, target: str, threads: int) -> dict[str, Any]:
    """One release, in this process."""
    from ldiv.engines.spark import session_of

    begun = time.perf_counter()
    with contextlib.ExitStack() as stack:
        session = stack.enter_context(session_of(None, threads, 2_000_000_000, Path(target).parent)) if engine == "spark" else None
        done = release(engine, source, target, session, threads)
        seconds = time.perf_counter() - begun
        own = resource.getrusage(resource.RUSAGE_SELF)
        cpu, peak = own.ru_utime + own.ru_stime, own.ru_maxrss
        if session is not None:  # Java is another process
            java = Path("/proc") / str(session.sparkContext._gateway.proc.pid)
            fields = (java / "stat").read_text().rsplit(")", 1)[1].split()
            cpu += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
            peak += int(next(x for x in (java / "status").read_text().splitlines() if x.startswith("VmHWM")).split()[1])
    return {
        "seconds": round(seconds, 2),
        "cpu": round(cpu, 2),
        "megabytes": round(peak * 1024 / 10**6),
        **{name: round(value, 2) for name, value in done.seconds.items()},
        "stars": done.release.stars,
        "groups": done.release.groups,
    }


def unit(source: str, folder: str, threads: int) -> dict[str, float]:
    """DuckDB's own COPY of the files, and a GROUP BY over the same columns: seconds, and processor seconds."""
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"SET threads = {threads}")
    connection.execute("SET preserve_insertion_order = false")
    table = f"read_parquet('{source}/*.parquet')"
    names = ", ".join([*QI, SENSITIVE])

    def both() -> None:
        connection.execute(f"COPY (SELECT * FROM {table}) TO '{folder}/copy.parquet' (FORMAT parquet, COMPRESSION zstd)")
        connection.execute(f"CREATE TABLE cells AS SELECT {names}, count(*) FROM {table} GROUP BY {names}")

    begun = time.perf_counter()
    cpu = used(both)
    taken = time.perf_counter() - begun
    os.remove(f"{folder}/copy.parquet")
    return {"unit_seconds": round(taken, 2), "unit_cpu": round(cpu, 2)}


def measure(engine: str, rows: int, folder: Path, threads: int) -> dict[str, Any]:
    source, target = make(folder, rows), folder / "out"
    shutil.rmtree(target, ignore_errors=True)

    def child(*words: str) -> Any:
        command = [sys.executable, "-m", "experiments.benchmarks.engines", str(folder), "--threads", str(threads), "--child", *words]
        done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[2])
        return json.loads(done.stdout.splitlines()[-1])

    found = child(engine, str(source), str(target))
    line = {"engine": engine, "rows": rows, **found, **child("unit", str(source), str(folder)), "load": round(os.getloadavg()[0], 1)}
    shutil.rmtree(target, ignore_errors=True)
    return line


def exponent(lines: list[dict[str, Any]], field: str) -> float | None:
    """Of the growth of a field in the rows, from least squares on logarithms."""
    if len(lines) < 2:
        return None
    points = [(log(float(x["rows"])), log(float(x[field]))) for x in lines]
    mean_x, mean_y = (sum(p[j] for p in points) / len(points) for j in (0, 1))
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)


def draw(lines: list[dict[str, Any]], path: Path) -> None:
    """Processor seconds and memory against rows, one line an engine, with the exponent of each; on a machine that others use seconds say little."""
    from experiments.plotting import Line
    from experiments.plotting import lines as drawn

    points = []
    for panel, field in (("peak memory, MB", "megabytes"), ("processor seconds", "cpu")):
        for engine in dict.fromkeys(x["engine"] for x in lines):
            mine = sorted((x for x in lines if x["engine"] == engine), key=lambda x: float(x["rows"]))
            slope = exponent(mine, "cpu")
            label = engine if slope is None else f"{engine}, exponent {slope:.2f}"
            points += [Line(panel, label, float(x["rows"]), float(x[field])) for x in mine]
    unit = sorted((x for x in lines if x["engine"] == "duckdb"), key=lambda x: float(x["rows"]))
    points += [Line("processor seconds", "DuckDB's copy and count", float(x["rows"]), float(x["unit_cpu"])) for x in unit]
    drawn(points, "rows", "", path, log=True, xlog=True, shared=False, down=True)


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", nargs="+", type=lambda text: int(float(text)), default=[10**6, 10**7])
    parser.add_argument("--engines", nargs="+", choices=sorted(LIMITS), default=["duckdb"])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    asked = parser.parse_args(words)
    if asked.child:
        kind, source, target = asked.child
        print(json.dumps(unit(source, target, asked.threads) if kind == "unit" else one(kind, source, target, asked.threads)))
        return 0
    folder = asked.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / "engines.csv"
    lines: list[dict[str, Any]] = list(csv.DictReader(table.open())) if table.exists() else []
    for rows in asked.rows:
        for engine in asked.engines:
            if any((x["engine"], int(x["rows"])) == (engine, rows) for x in lines):
                continue
            lines.append(measure(engine, rows, folder, asked.threads))
            with table.open("w", newline="") as stream:
                writer = csv.DictWriter(stream, FIELDS, restval="", extrasaction="ignore")
                writer.writeheader()
                writer.writerows(lines)
            print(json.dumps(lines[-1]), flush=True)
    draw(lines, folder / "growth")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
