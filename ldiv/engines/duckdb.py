"""DuckDB: a table larger than memory on one machine. Counts, joins, sorts and spills within a limit; reads and writes files itself."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ldiv.engines.faults import damaged, of_text
from ldiv.engines.packing import Packing
from ldiv.engines.plan import Counts, Plan
from ldiv.engines.room import Room
from ldiv.engines.sources import Sources
from ldiv.engines.sql import DUCKDB, count_query, numbered_query, release_query, rows_query
from ldiv.engines.tables import forms_of, pieces_of, plan_of, secret_of, texts_of
from ldiv.errors import InputError

__all__ = ["DuckDB"]

MOST_TOLD = 300  # letters of what DuckDB says


class DuckDB:
    """One connection of its own, in memory, which spills into a folder that is removed."""

    name = "duckdb"
    dialect = DUCKDB
    combinations = "combinations"

    def __init__(self, sources: Sources, memory: int, threads: int | None, spill: Path | None) -> None:
        try:
            import duckdb
        except ImportError as error:
            raise InputError("engine 'duckdb' needs the package: pip install 'ldiv[duckdb]'") from error
        self.duckdb, self.sources, self.memory = duckdb, sources, memory
        self.spill = Path(tempfile.mkdtemp(prefix=".ldiv-spill-", dir=spill))
        self.room = Room(memory)
        try:
            self._connect(threads)
        except BaseException:  # also a signal: nobody else knows of the folder yet
            shutil.rmtree(self.spill, ignore_errors=True)
            raise
        self.table = reading(sources.files, sources)

    def _connect(self, threads: int | None) -> None:
        self.connection = self.duckdb.connect(":memory:")
        self.run(f"SET memory_limit = '{self.room.engine >> 20}MiB'")
        self.run(f"SET temp_directory = {DUCKDB.string(str(self.spill))}")
        self.run("SET preserve_insertion_order = false")
        self.run("SET enable_progress_bar = false")
        if threads is not None:
            self.run(f"SET threads = {threads}")

    def __enter__(self) -> DuckDB:
        return self

    def __exit__(self, *_: Any) -> None:
        self.connection.close()
        shutil.rmtree(self.spill, ignore_errors=True)

    def run(self, query: str) -> Any:
        with self.errors():
            return self.connection.execute(query)

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        """What DuckDB raises, in words for who asked."""
        try:
            yield
        except RuntimeError as error:  # what a signal's handler raised is lost when a query is running
            if "interrupted" in str(error).lower():
                raise KeyboardInterrupt from error
            raise
        except self.duckdb.Error as error:
            told = str(error).split("\nLINE ")[0]  # not the query, in which the salt stands
            text = " ".join(line.strip() for line in told.splitlines() if line.strip())[:MOST_TOLD]
            if isinstance(error, self.duckdb.OutOfMemoryException):
                if "max_temp_directory_size" in str(error) or "No space" in str(error):
                    raise InputError(f"no room to spill in {str(self.spill.parent)!r}; nothing was written ({text})") from error
                raise InputError(
                    f"{self.memory >> 20:,} MB are too little memory for DuckDB; nothing was written: give more (--memory-limit, memory_limit=), or "
                    f"fewer threads ({text})"
                ) from error
            if "No space left" in str(error) or os.strerror(errno.ENOSPC) in str(error):
                raise InputError(f"the disk is full; nothing was written ({text})") from error
            if self.sources.is_text:
                why = of_text(str(error), self.sources)
                if why is not None:
                    raise InputError(why) from None  # what DuckDB says holds the line itself
            else:
                name = damaged(self.sources.files, self._read, self.duckdb.Error)
                if name is not None:
                    raise InputError(f"{name}: not a readable Parquet file: {text}; nothing was written") from error
            raise InputError(f"DuckDB cannot read or write this; nothing was written: {text}") from error

    def _read(self, name: str) -> None:
        """Read a file to its end."""
        self.connection.execute(f"SELECT max(hash(t)) FROM {reading([name], self.sources)} t").fetchall()

    # -- the four methods ----------------------------------------------------------------------------------------------

    def count(self, keys: Sequence[str], rest: Sequence[str], to_text: bool) -> Counts:
        """Every combination of keys there is; it stays here, numbered, for the plan to refer to.

        Raises
        ------
        TooManyError
            More than fit the process; they stay here.
        """
        counted = count_query(DUCKDB, self.table, keys, self._hashed(rest, to_text))
        self.run(f"CREATE OR REPLACE TEMP TABLE combinations AS SELECT *, row_number() OVER () AS {DUCKDB.name('ldiv id')} FROM ({counted})")
        found = int(self.run("SELECT count(*) FROM combinations").fetchall()[0][0])
        self.room.require_combinations(found, keys)
        self.counted, self.numbers = self._counts("SELECT * FROM combinations", len(keys))
        return self.counted

    def rows(self, keys: Sequence[str], rest: Sequence[str], to_text: bool, part: int, parts: int) -> Counts:
        """Every combination of keys and what else there is: one part of the rows."""
        return self._counts(rows_query(DUCKDB, self.table, keys, self._hashed(rest, to_text), part, parts), len(keys))[0]

    def write(self, plan: Plan, folder: Path, kind: str, file: str | None = None) -> None:
        """Write the release: into one file of the folder, or into several."""
        types = self._types()
        packing = Packing.of(plan, plan.own.get if plan.own else self.counted.table.column, types, self._words, self._ranges)
        ordered = self._packed(plan, packing) if packing is not None else self._by_columns(plan, types)
        if kind == "parquet":
            how = "FORMAT parquet, COMPRESSION zstd"
        else:
            delimiter = self.sources.delimiter if self.sources.is_text else "\t" if kind == "tsv" else ","
            header = self.sources.header if self.sources.is_text else True
            if not self.sources.is_text:
                shown = (f"{self._text(x) if x in plan.rest else DUCKDB.name(x)} AS {DUCKDB.name(x)}" for x in plan.columns)
                ordered = f"SELECT {', '.join(shown)} FROM ({ordered})"
            how = f"FORMAT csv, HEADER {str(header).lower()}, DELIMITER {DUCKDB.string(delimiter)}, QUOTE '\"', ESCAPE '\"', NULLSTR {DUCKDB.string(self.sources.na)}"
        target = str(folder / file) if file is not None else str(folder)
        if file is None:
            how += ", FILE_SIZE_BYTES '256MB', OVERWRITE_OR_IGNORE true, FILENAME_PATTERN 'part-{i}'"
        self.run(f"COPY ({ordered}) TO {DUCKDB.string(target)} ({how})")

    def reread(self, files: Sequence[str], kind: str, keys: Sequence[str], rest: Sequence[str]) -> Counts:
        """Count what was written, as anyone would who reads it."""
        return self._counts(self.recounted(files, kind, keys, rest), len(keys))[0]

    def recounted(self, files: Sequence[str], kind: str, keys: Sequence[str], rest: Sequence[str]) -> str:
        """The query that counts it."""
        table = reading(files, self.sources, kind=kind, columns=self.published)
        names = ", ".join(DUCKDB.name(x) for x in keys)
        hashes = f"hash({', '.join(DUCKDB.name(x) for x in rest)}) >> 2" if rest else "0"
        total = f"CAST(sum({hashes}) % {1 << 62} AS BIGINT)"
        return f"SELECT {names}, count(*) AS {DUCKDB.name('ldiv rows')}, {total} AS {DUCKDB.name('ldiv mark')} FROM {table} GROUP BY ALL"

    # -- what is done here with combinations that are too many to be taken out -----------------------------------------

    def make(self, name: str, query: str) -> None:
        """Keep what a query gives as a table."""
        self.run(f"CREATE OR REPLACE TEMP TABLE {DUCKDB.name(name)} AS {query}")

    def ask(self, query: str) -> Any:
        """What a query gives, as a table of Arrow."""
        with self.errors():
            return self.connection.sql(query).to_arrow_table()

    def take(self, name: str, table: Any) -> None:
        """Keep a table of Arrow."""
        self.run(f"DROP TABLE IF EXISTS {DUCKDB.name(name)}")
        self._take(name, table)

    # -- inside --------------------------------------------------------------------------------------------------------

    def _counts(self, query: str, keys: int) -> tuple[Counts, Any]:
        """Counts, and what else the query gives of each combination."""
        with self.errors():
            found = self.connection.sql(query).to_arrow_table()
        rows = found.column(keys).to_numpy().astype(np.int64)
        mark = found.column(keys + 1).to_numpy().astype(np.uint64)
        return Counts(found.select(range(keys)), rows, mark), found.column(keys + 2) if found.num_columns > keys + 2 else None

    def _hashed(self, columns: Sequence[str], to_text: bool) -> list[str]:
        """What is hashed of columns: as they are, or as a text file holds them."""
        return [self._text(x) if to_text else DUCKDB.name(x) for x in columns]

    def _text(self, name: str) -> str:
        """A column that is published as it is, as the text that Python has for its values; what is no number is missing."""
        own, kind = DUCKDB.name(name), str(self.sources.types[name])
        if kind == "bool":
            return f"CASE WHEN {own} THEN 'True' WHEN NOT {own} THEN 'False' END"
        if kind in ("float", "double"):
            return f"CASE WHEN {DUCKDB.no_number.format(own)} THEN NULL ELSE {DUCKDB.as_text(own)} END"
        if kind.startswith("timestamp"):
            return f"regexp_replace(strftime({own}, '%Y-%m-%d %H:%M:%S.%f'), '[.]000000$', '')"
        return DUCKDB.as_text(own)

    def _types(self) -> dict[str, str]:
        return {name: kind for name, kind, *_ in self.run(f"DESCRIBE SELECT * FROM {self.table}").fetchall()}

    def _packed(self, plan: Plan, packing: Packing) -> str:
        """What is published and in which order, with all named columns as one number."""
        self._number(plan)
        self._plan(plan, f"{packing.encoded([*plan.qi, *plan.targets])} AS {DUCKDB.name('ldiv key')}")
        self._take("ldiv forms", packing.table())
        seen = self._seen(packing, plan)
        for name, words in packing.types(plan, seen).items():
            self._type(f"ldiv shown {name}", words)
        joined = packing.joined(self.table, plan)
        if packing.apart or not plan.splits:  # columns that may be wide are read once more rather than kept
            return packing.query(f"({joined})", plan, seen)
        self.run(f'CREATE TEMP TABLE "ldiv joined" AS {joined}')
        return packing.query('"ldiv joined"', plan, seen)

    def _seen(self, packing: Packing, plan: Plan) -> dict[str, set[int]]:
        """The codes of each named column that are shown somewhere."""
        self.run(f'CREATE TEMP TABLE "ldiv seen" AS {packing.numbers(plan)}')
        found = {}
        for name in [*plan.qi, *plan.targets]:
            codes = self.run(f'SELECT DISTINCT {packing.columns[name].code("number")} FROM "ldiv seen"').fetchall()
            found[name] = {int(code) for (code,) in codes}
        self.run('DROP TABLE "ldiv seen"')
        return found

    def _by_columns(self, plan: Plan, types: dict[str, str]) -> str:
        """The same with the columns side by side, whatever they hold and whatever is shown for them."""
        named = [*plan.qi, *plan.targets]
        self._number(plan)
        for at, name in enumerate(named):
            if plan.shown[name].how == "lookup" and name in plan.looked:
                self.take(f"ldiv texts {at}", texts_of(plan, name))
            elif plan.shown[name].how == "lookup":
                self.run(
                    f'CREATE TEMP TABLE "ldiv texts {at}" AS SELECT DISTINCT c.{DUCKDB.name(name)} AS own, n."ldiv text {at}" AS shown '
                    'FROM combinations c JOIN "ldiv numbers" n ON c."ldiv id" = n."ldiv id"'
                )
        self._plan(plan, DUCKDB.names(named, "c."))
        self._take("ldiv forms", forms_of(plan))
        rows = numbered_query(DUCKDB, self.table, '"ldiv plan"', plan, [*named, *plan.rest], DUCKDB.joined(named, "t", "p"))
        floats = [name for name in plan.qi if types[name] in ("FLOAT", "DOUBLE")]
        groups = f"hash({DUCKDB.names([name for name in plan.columns if name in named])})"
        return f"SELECT * FROM ({release_query(DUCKDB, rows, plan, floats)}) ORDER BY {groups}, hash({DUCKDB.names(plan.columns)})"

    def _number(self, plan: Plan) -> None:
        """What the plan says of each combination, by its number."""
        self.published = plan.columns
        if plan.query is None:
            self._take("ldiv numbers", plan_of(plan, self.numbers))
        self._take("ldiv pieces", pieces_of(plan))
        self._take("ldiv secret", secret_of(plan))

    def _plan(self, plan: Plan, keys: str) -> None:
        """The plan by keys, of the source's own types."""
        names = DUCKDB.names([*plan.qi, *plan.targets], "c.")
        here = f'SELECT {names}, n."ldiv form", n."ldiv cell" FROM combinations c JOIN "ldiv numbers" n ON c."ldiv id" = n."ldiv id"'
        self.run(f'CREATE TEMP TABLE "ldiv plan" AS SELECT {keys}, c."ldiv form", c."ldiv cell" FROM ({plan.query or here}) c')
        if plan.query is None:
            self.run('DROP TABLE "ldiv numbers"')
            self.run("DROP TABLE combinations")

    def _words(self, name: str, values: Sequence[str]) -> str:
        """A type whose values are these texts."""
        return self._type(f"ldiv words of {name}", values)

    def _type(self, name: str, values: Sequence[str]) -> str:
        self.run(f"CREATE TYPE {DUCKDB.name(name)} AS ENUM ({', '.join(map(DUCKDB.string, values))})")
        return DUCKDB.name(name)

    def _ranges(self, names: Sequence[str]) -> dict[str, tuple[int, int]]:
        """The least and the largest value of columns of whole numbers."""
        ends = ", ".join(f"min({x}), max({x})" for x in map(DUCKDB.name, names))
        found = self.run(f"SELECT {ends} FROM {self.table}").fetchall()[0]
        return {name: (found[2 * at] or 0, found[2 * at + 1] or 0) for at, name in enumerate(names)}

    def _take(self, name: str, table: Any) -> None:
        with self.errors():
            self.connection.register("ldiv given", table)
            self.connection.execute(f'CREATE TEMP TABLE {DUCKDB.name(name)} AS SELECT * FROM "ldiv given"')
            self.connection.unregister("ldiv given")


def reading(files: Sequence[str], sources: Sources, kind: str | None = None, columns: Sequence[str] | None = None) -> str:
    """Files as DuckDB reads them: Parquet by its own types, text as it stands."""
    listed = "[" + ", ".join(DUCKDB.string(name) for name in files) + "]"
    kind = sources.kind if kind is None else kind
    if kind == "parquet":
        folders = "true, hive_types_autocast = false" if sources.hive and columns is None else "false"
        return f"read_parquet({listed}, hive_partitioning = {folders}, union_by_name = false)"
    delimiter = sources.delimiter if sources.is_text else "\t" if kind == "tsv" else ","
    header = sources.header if sources.is_text else True
    named = ", ".join(f"{DUCKDB.string(name)}: 'VARCHAR'" for name in (sources.columns if columns is None else columns))
    return (
        f"read_csv({listed}, auto_detect = false, header = {str(header).lower()}, delim = {DUCKDB.string(delimiter)}, quote = '\"', escape = '\"', "
        f"nullstr = {DUCKDB.string(sources.na)}, columns = {{{named}}}, null_padding = false, ignore_errors = false, "
        "max_line_size = 16777216, hive_partitioning = false)"
    )
