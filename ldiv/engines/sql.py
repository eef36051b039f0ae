"""The queries that engines share; what differs between their dialects of SQL stands in one object each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ldiv.engines.plan import Plan

__all__ = ["DUCKDB", "SPARK", "Dialect", "count_query", "mark", "numbered_query", "release_query", "rows_query"]

MODULUS = 1 << 62  # of sums of hashes


@dataclass(frozen=True)
class Dialect:
    """What DuckDB and Spark say differently."""

    quotes: str
    same: str  # a null-safe equal sign
    text: str
    hash: str
    digest: str  # a hash of {} as a number from 0 to 2**62 - 1, in a type that holds sums of it
    quotient: str  # of whole numbers
    total: str  # of numbers below 2**62, too large for 64 bits
    zero: str  # a number with a point, with one zero, in its own type
    no_number: str  # of a column itself DuckDB believes the least and the largest value in a Parquet file, and those say nothing of such

    def name(self, column: str) -> str:
        return f"{self.quotes}{column.replace(self.quotes, 2 * self.quotes)}{self.quotes}"

    def names(self, columns: Sequence[str], of: str = "") -> str:
        return ", ".join(f"{of}{self.name(column)}" for column in columns)

    def string(self, text: str | None) -> str:
        if text is None:
            return "NULL"
        body = text.replace("'", "''") if self.quotes == '"' else text.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{body}'"

    def joined(self, columns: Sequence[str], left: str, right: str) -> str:
        return " AND ".join(f"{left}.{self.name(column)} {self.same} {right}.{self.name(column)}" for column in columns)

    def as_text(self, value: str) -> str:
        return f"CAST({value} AS {self.text})"


DUCKDB = Dialect('"', "IS NOT DISTINCT FROM", "VARCHAR", "hash", "(hash({}) >> 2)", "//", "sum({})", "{} + 0", "isnan([{}][1])")
SPARK = Dialect(
    "`",
    "<=>",
    "STRING",
    "xxhash64",
    "CAST(shiftrightunsigned(xxhash64({}), 2) AS DECIMAL(38, 0))",
    "div",
    "sum(CAST({} AS DECIMAL(38, 0)))",
    "{} + CAST(0 AS FLOAT)",
    "isnan({})",
)


def mark(dialect: Dialect, columns: Sequence[str]) -> str:
    """The sum of a hash of some expressions, the same in whatever order rows come; duplicates do not cancel each other, as they would in an exclusive or."""
    if not columns:
        return "CAST(0 AS BIGINT)"
    return f"CAST(sum({dialect.digest.format(', '.join(columns))}) % {MODULUS} AS BIGINT)"


def count_query(dialect: Dialect, table: str, keys: Sequence[str], rest: Sequence[str]) -> str:
    """Every combination of keys, its rows, and the mark of what else there is."""
    names = dialect.names(keys)
    return (
        f"SELECT {names}, count(*) AS {dialect.name('ldiv rows')}, {mark(dialect, rest)} AS {dialect.name('ldiv mark')} FROM {table} GROUP BY {names}"
    )


def rows_query(dialect: Dialect, table: str, keys: Sequence[str], rest: Sequence[str], part: int, parts: int) -> str:
    """Every combination of keys and a hash of what else there is, and its rows: one part of the table, by that hash."""
    names, marked = dialect.names(keys), dialect.name("ldiv mark")
    hashed = f"SELECT {names}, CAST({dialect.digest.format(', '.join(rest))} AS BIGINT) AS {marked} FROM {table}"
    return f"SELECT {names}, count(*) AS {dialect.name('ldiv rows')}, {marked} FROM ({hashed}) t WHERE {marked} % {parts} = {part} GROUP BY {names}, {marked}"


def numbered_query(
    dialect: Dialect, table: str, plan_table: str, plan: Plan, every: Sequence[str], match: str, *, buckets: bool = False, hint: str = ""
) -> str:
    """Rows with the form that each takes: by an equi-join where all rows of a cell take one, by their number in it where a cell is split.

    Numbers follow a keyed digest of the whole row: rows alike in everything are interchangeable, which of the others is starred depends on the salt. That
    is a secret, and stands in a table, not here: queries are shown in messages, logs and pages.
    With `buckets` the rows of a cell are numbered by the first letters of the digest side by side, each bucket from where those before it end: the numbers
    are the same, and no task has a whole cell to sort.

    Parameters
    ----------
    every : sequence of str
        The columns of a row.
    match : str
        When a row ``t`` is one of a combination ``p`` of the plan.
    """
    form, cell, number, digest = (dialect.name(f"ldiv {x}") for x in ("form", "cell", "number", "digest"))
    own = dialect.names(every, "t.")
    joined = f"{table} t JOIN {plan_table} p ON {match}"
    whole = f"SELECT {hint}{own}, p.{form} FROM {joined} WHERE p.{form} >= 0"
    if not plan.splits:
        return whole
    keyed = f"md5(concat((SELECT salt FROM {dialect.name('ldiv secret')}), {dialect.as_text(f'{dialect.hash}({own})')}))"
    split = f"SELECT {hint}{own}, p.{cell}, {keyed} AS {digest} FROM {joined} WHERE p.{form} < 0"
    if not buckets:
        ranked = f"SELECT t.*, row_number() OVER (PARTITION BY t.{cell} ORDER BY t.{digest}) - 1 AS {number} FROM ({split}) t"
    else:
        first = f"substr({digest}, 1, 2)"
        bucket, inside, before, many = (dialect.name(f"ldiv {x}") for x in ("bucket", "inside", "before", "many"))
        sizes = f"SELECT {cell}, {first} AS {bucket}, count(*) AS {many} FROM ({split}) t GROUP BY {cell}, {first}"
        ends = f"SELECT {cell}, {bucket}, sum({many}) OVER (PARTITION BY {cell} ORDER BY {bucket}) - {many} AS {before} FROM ({sizes}) t"
        placed = (
            f"SELECT t.*, {first} AS {bucket}, row_number() OVER (PARTITION BY {cell}, {first} ORDER BY {digest}) - 1 AS {inside} FROM ({split}) t"
        )
        ranked = (
            f"SELECT {own}, t.{cell}, t.{inside} + b.{before} AS {number} FROM ({placed}) t "
            f"JOIN ({ends}) b ON t.{cell} = b.{cell} AND t.{bucket} = b.{bucket}"
        )
    pieces = dialect.name("ldiv pieces")
    return (
        f"{whole} UNION ALL SELECT {own}, q.{form} FROM ({ranked}) t JOIN {pieces} q "
        f"ON t.{cell} = q.{cell} AND t.{number} >= q.low AND t.{number} < q.high"
    )


def release_query(dialect: Dialect, rows: str, plan: Plan, floats: Sequence[str]) -> str:
    """What is published of rows with forms; `floats` are columns in which several bit patterns are one value."""
    joins, shown = "", {}
    form = dialect.name("ldiv form")
    if any(plan.changed):
        joins += f" JOIN {dialect.name('ldiv forms')} f ON t.{form} = f.{form}"
    for at, name in enumerate([*plan.qi, *plan.targets]):
        own = f"t.{dialect.name(name)}"
        how = plan.shown[name].how
        if how == "text":
            value = dialect.as_text(own)
        elif how == "lookup":
            value = f"x{at}.shown"
            joins += f" JOIN {dialect.name(f'ldiv texts {at}')} x{at} ON {own} {dialect.same} x{at}.own"
        elif name in floats and name in plan.qi:
            value = f"CASE WHEN {dialect.no_number.format(own)} THEN NULL ELSE {dialect.zero.format(own)} END"
        else:
            value = own
        if at < len(plan.qi) and plan.changed[at]:
            value = (
                f"CASE WHEN f.changed{at} THEN f.text{at} ELSE {value} END"
                if not plan.nulls(at)
                else f"CASE WHEN f.changed{at} THEN NULL ELSE {value} END"
            )
        shown[name] = value
    columns = ", ".join(f"{shown.get(name, f't.{dialect.name(name)}')} AS {dialect.name(name)}" for name in plan.columns)
    return f"SELECT {columns} FROM ({rows}) t{joins}"
