"""Spark: a table larger than a machine. A session is taken where there is one; a local one is made, and stopped afterwards, where there is none."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ldiv.engines.plan import Counts, Plan
from ldiv.engines.room import Room
from ldiv.engines.sources import Sources
from ldiv.engines.sql import SPARK, count_query, numbered_query, release_query, rows_query
from ldiv.engines.tables import forms_of, pieces_of, plan_of, secret_of, texts_of
from ldiv.errors import InputError
from ldiv.table.files.folders import values_of_folders

__all__ = ["Spark", "is_spark", "session_of"]

TASK = 5_000_000  # rows of one cell that a task sorts; those of larger ones are numbered in buckets
GLOB, PLAIN = r"([\\\[\]{}*?])", r"\\\1"  # what Spark would take for a pattern in a name
SENT = 20_000_000  # combinations up to which a plan goes to every executor


def is_spark(frame: Any) -> bool:
    """Whether that is a DataFrame of Spark, without importing it."""
    return type(frame).__module__.startswith("pyspark.sql") and type(frame).__name__ == "DataFrame"


@contextlib.contextmanager
def session_of(given: Any, threads: int | None, memory: int, folder: Path) -> Iterator[Any]:
    """The session to work in."""
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise InputError("engine 'spark' needs the package: pip install 'ldiv[spark]'") from error
    found = given if given is not None else SparkSession.getActiveSession()
    if found is not None:
        yield found
        return
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        raise InputError("engine 'spark' needs Java 17 or newer: install it, or set JAVA_HOME")
    builder = SparkSession.builder.master(f"local[{threads or '*'}]").appName("ldiv")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": f"{max(memory >> 20, 512)}m",
        "spark.driver.maxResultSize": "0",
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / ".ldiv-warehouse"),
        "spark.sql.shuffle.partitions": str(2 * (threads or os.cpu_count() or 1)),
        "spark.sql.session.timeZone": "UTC",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    try:
        made = builder.getOrCreate()
    except Exception as error:  # whatever Java says
        raise InputError(f"a local session of Spark cannot be started: {_first(error)}") from error
    made.sparkContext.setLogLevel("ERROR")
    try:
        yield made
    finally:
        made.stop()


def require_parquet(kind: str) -> None:
    """Refuse text files: Spark's reader changes letters that it cannot read, and leaves empty lines out."""
    if kind != "parquet":
        raise InputError("engine 'spark' reads and writes Parquet, not text files, which Spark does not give back as they were: use engine='duckdb'")


class Spark:
    """The source as a view of a session; views of a plan are dropped at the end."""

    name = "spark"
    dialect = SPARK
    combinations = SPARK.name("ldiv combinations")

    def __init__(self, session: Any, frame: Any, memory: int, sources: Sources | None = None) -> None:
        self.session, self.frame, self.sources = session, frame, sources
        self.room = Room(memory)
        self.kept: dict[str, Any] = {}
        self.tables: dict[str, str] = {}
        self.tag = uuid.uuid4().hex[:12]
        self.views: list[str] = []
        self.table = self._view("source", frame)

    @classmethod
    def of_files(cls, session: Any, sources: Sources, memory: int) -> Spark:
        require_parquet(sources.kind)
        with errors():
            return cls(session, reading(session, sources.files, sources), memory, sources)

    def __enter__(self) -> Spark:
        return self

    def __exit__(self, *_: Any) -> None:
        for frame in self.kept.values():
            frame.unpersist()
        for view in self.views:
            self.session.catalog.dropTempView(view)

    def _view(self, name: str, frame: Any) -> str:
        view = f"ldiv_{name.replace(' ', '_')}_{self.tag}"
        frame.createOrReplaceTempView(view)
        self.views.append(view)
        return view

    # -- the four methods ----------------------------------------------------------------------------------------------

    def count(self, keys: Sequence[str], rest: Sequence[str], to_text: bool) -> Counts:
        """Every combination of keys there is.

        Raises
        ------
        TooManyError
            More than fit the driver; they stay where they are.
        """
        self.make("ldiv combinations", count_query(SPARK, self.table, keys, [SPARK.name(x) for x in rest]))
        with errors():
            self.room.require_combinations(self.kept["ldiv combinations"].count(), keys)
        self.counted = self.counts(f"SELECT * FROM {self.combinations}", len(keys))
        return self.counted

    def rows(self, keys: Sequence[str], rest: Sequence[str], to_text: bool, part: int, parts: int) -> Counts:
        """Every combination of keys and what else there is: one part of the rows."""
        return self.counts(rows_query(SPARK, self.table, keys, [SPARK.name(x) for x in rest], part, parts), len(keys))

    def published(self, plan: Plan) -> Any:
        """The release as a DataFrame, which is computed when it is asked for."""
        import pyarrow as pa

        if plan.query is None:
            keys = self.counted.table
            table = plan_of(plan, pa.array(np.arange(len(plan.form))))
            send = [*keys.column_names, "ldiv form", "ldiv cell"]
            whole = pa.table([*keys.columns, table.column("ldiv form"), table.column("ldiv cell")], names=send)
        names = {
            "ldiv plan": self._take("plan", whole) if plan.query is None else self._view("plan", self.sql(plan.query)),
            "ldiv pieces": self._take("pieces", pieces_of(plan)),
            "ldiv forms": self._take("forms", forms_of(plan)),
            "ldiv secret": self._take("secret", secret_of(plan)),
        }
        for at, name in enumerate([*plan.qi, *plan.targets]):
            if plan.shown[name].how == "lookup":
                pairs = texts_of(plan, name) if plan.looked else pa.table({"own": keys.column(name), "shown": table.column(f"ldiv text {at}")})
                names[f"ldiv texts {at}"] = self._take(f"texts {at}", pairs, distinct=True)
        floats = [name for name, kind in self.frame.dtypes if kind in ("float", "double")]
        cell, _, high, _ = plan.pieces
        hint = "/*+ BROADCAST(p) */ " if plan.query is None and len(plan.form) <= SENT else ""
        every, match = [*plan.qi, *plan.targets, *plan.rest], SPARK.joined([*plan.qi, *plan.targets], "t", "p")
        large = bool(len(cell) and high.max() > TASK)
        rows = numbered_query(SPARK, self.table, names["ldiv plan"], plan, every, match, buckets=large, hint=hint)
        query = release_query(SPARK, rows, plan, floats)
        for name, view in names.items():
            query = query.replace(SPARK.name(name), view)
        return self.session.sql(query)

    def write(self, plan: Plan, folder: Path, kind: str, file: str | None = None) -> None:
        """Write the release: into one file of the folder, or into several."""
        require_parquet(kind)
        with errors():
            frame = self.ordered(self.published(plan), plan, 1 if file is not None else None)
            inside = folder / ".spark"
            frame.write.option("compression", "zstd").parquet(f"file://{inside.absolute()}")
        parts = sorted(path for path in inside.iterdir() if path.name.startswith("part-"))
        for number, part in enumerate(parts):
            os.replace(part, folder / (file or f"part-{number:05d}.parquet"))
        shutil.rmtree(inside)

    def ordered(self, published: Any, plan: Plan, parts: int | None) -> Any:
        """Rows in parts and in an order that depend on what is published and on nothing else."""
        from pyspark.sql import functions as f

        key = f.xxhash64(*(f.col(SPARK.name(name)) for name in plan.columns))
        spread = published.repartition(1) if parts == 1 else published.repartition(*(f.col(SPARK.name(name)) for name in plan.columns))
        return spread.sortWithinPartitions(key)

    def reread(self, files: Sequence[str], kind: str, keys: Sequence[str], rest: Sequence[str]) -> Counts:
        """Count what was written, as anyone would who reads it."""
        return self.counts(self.recounted(files, kind, keys, rest), len(keys))

    def recounted(self, files: Any, kind: str, keys: Sequence[str], rest: Sequence[str]) -> str:
        """The query that counts files, or a table that was published."""
        frame = files
        if isinstance(files, list):  # not a DataFrame
            assert self.sources is not None
            with errors():
                frame = reading(self.session, files, self.sources, written=True)
        names = ", ".join(SPARK.name(x) for x in keys)
        hashed = f"shiftrightunsigned(xxhash64({', '.join(SPARK.name(x) for x in rest)}), 2)" if rest else "0"
        mark = f"CAST(sum(CAST({hashed} AS DECIMAL(38, 0))) % {1 << 62} AS BIGINT)"
        with errors():
            view = self._view("written", frame)
        return f"SELECT {names}, count(*) AS {SPARK.name('ldiv rows')}, {mark} AS {SPARK.name('ldiv mark')} FROM {view} GROUP BY {names}"

    # -- what is done there with combinations that are too many for the driver -----------------------------------------

    def make(self, name: str, query: str) -> None:
        """Keep what a query gives as a table."""
        with errors():
            self._keep(name, self.sql(query))

    def ask(self, query: str) -> Any:
        """What a query gives, as a table of Arrow."""
        with errors():
            return self.sql(query).toArrow()

    def take(self, name: str, table: Any) -> None:
        """Keep a table of Arrow."""
        with errors():
            self._keep(name, self.session.createDataFrame(table))

    def sql(self, query: str) -> Any:
        """A query about tables that are kept."""
        for name, view in self.tables.items():
            query = query.replace(SPARK.name(name), view)
        return self.session.sql(query)

    def _keep(self, name: str, frame: Any) -> None:
        if name in self.kept:
            self.kept[name].unpersist()
        self.kept[name] = frame.persist()
        self.tables[name] = self._view(name, self.kept[name])

    # -- inside --------------------------------------------------------------------------------------------------------

    def counts(self, query: str, keys: int) -> Counts:
        """What a query counts."""
        found = self.ask(query)
        rows = found.column(keys).to_numpy().astype(np.int64)
        return Counts(found.select(range(keys)), rows, found.column(keys + 1).to_numpy().astype(np.uint64))

    def _take(self, name: str, table: Any, distinct: bool = False) -> str:
        frame = self.session.createDataFrame(table)
        return self._view(name, frame.distinct() if distinct else frame)


def reading(session: Any, files: Sequence[str], sources: Sources, written: bool = False) -> Any:
    """Parquet files as Spark reads them; not text, of which its reader changes what it cannot read, and leaves lines out."""
    uris = [f"file://{re.sub(GLOB, PLAIN, str(Path(name).absolute()))}" for name in files]
    if written or not sources.hive:
        return session.read.parquet(*uris)
    from pyspark.sql import functions as f

    parts = []
    for name, uri in zip(files, uris, strict=True):
        part = session.read.parquet(uri)
        said = values_of_folders(name)
        for key in sources.hive:
            part = part.withColumn(key, f.lit(said[key]).cast("string"))
        parts.append(part)
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.union(part)
    return whole


@contextlib.contextmanager
def errors() -> Iterator[None]:
    """What Spark raises, in words for who asked."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        text = _first(error)
        if "No space left" in str(error):
            raise InputError(f"the disk is full; nothing was written ({text})") from error
        if "OutOfMemoryError" in str(error):
            raise InputError(f"too little memory for Spark; nothing was written: give its driver or executors more ({text})") from error
        if type(error).__module__.startswith(("pyspark", "py4j")):
            raise InputError(f"Spark cannot read or write this; nothing was written: {text}") from error
        raise


def _first(error: Exception) -> str:
    """The first lines of what Java says, with its cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    cause = next((line for line in lines if line.startswith("Caused by:")), "")
    head = next((line for line in lines if not line.startswith("An error occurred")), "no reason")
    return " ".join(part for part in (head[:300], cause[:300]) if part)
