"""All columns of a row as one number, for DuckDB: joins compare one column, sorts carry one, and columns with stars are written from a list of words.

What a form hides is a star in the number before anything is sorted, so the order of rows depends on what is published alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldiv.engines.plan import KEEP, Plan
from ldiv.engines.sql import DUCKDB

__all__ = ["Packing"]

BITS = 62
MOST_WORDS = 4096  # values of a column up to which they are listed in the query
WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
Range = tuple[int, int]


@dataclass(frozen=True)
class _Column:
    """Where a column stands in the number, and how it gets there and back; 0 stands for a missing value, the code after the last one for a star."""

    shift: int
    width: int
    encoded: str
    words: list[str | None] | None
    low: int
    kind: str

    @property
    def star(self) -> int:
        """The code of a star."""
        return (1 << self.width) - 1

    def code(self, key: str) -> str:
        return f"(({key} >> {self.shift}) & {(1 << self.width) - 1})"

    def number(self, key: str) -> str:
        return f"nullif({self.code(key)}, 0) + {self.low - 1}"


@dataclass(frozen=True)
class Packing:
    """The columns of a plan as one number.

    Attributes
    ----------
    columns : dict of str to _Column
        The named ones above the bit `floor`, what else is published and fits below it.
    floor : int
    forms : list of tuple of int
        By form the bits of named columns that stay, and the stars that are added.
    apart : list of str
        Columns that are not in the number.
    """

    columns: dict[str, _Column]
    floor: int
    forms: list[tuple[int, int]]
    apart: list[str]

    @classmethod
    def of(
        cls,
        plan: Plan,
        column_of: Callable[[str], Any],
        types: dict[str, str],
        words: Callable[[str, Sequence[str]], str],
        ranges: Callable[[Sequence[str]], dict[str, Range]],
    ) -> Packing | None:
        """The packing; None where a named column is no whole number and no text of few values, or 62 bits are too few, or something is shown but values and stars.

        Parameters
        ----------
        column_of : callable
            Values of a column, each at least once.
        words : callable
            ``words(name, values)`` makes a type of these texts and returns its name.
        ranges : callable
            The least and the largest value of columns of whole numbers.
        """
        import pyarrow.compute as pc  # DuckDB's extra brings it

        named = [*plan.qi, *plan.targets]
        suppressing = all(len(texts) == 2 for texts in plan.texts)
        if not suppressing or any(plan.shown[name].how == "lookup" for name in named):
            return None
        sizes: dict[str, int] = {}
        lows: dict[str, int] = {}
        listed: dict[str, list[str] | None] = {}
        for name in named:
            column = column_of(name)
            if types[name] in WHOLE:
                ends = pc.min_max(column).as_py()
                lows[name], sizes[name] = ends["min"] or 0, (ends["max"] or 0) - (ends["min"] or 0) + 1
                listed[name] = [str(lows[name] + k) for k in range(sizes[name])] if sizes[name] <= MOST_WORDS else None
            elif types[name] == "VARCHAR":
                values = pc.unique(column.drop_null()).sort()
                if len(values) > MOST_WORDS or not len(values):
                    return None
                lows[name], sizes[name], listed[name] = 1, len(values), values.to_pylist()
            else:
                return None
        widths = {name: (sizes[name] + (name in plan.qi)).bit_length() for name in named}
        if sum(widths.values()) > BITS:
            return None
        whole = [name for name in plan.rest if types[name] in WHOLE]
        inside: list[str] = []
        for name, (low, high) in (ranges(whole) if whole else {}).items():
            width = (high - low + 1).bit_length()
            if sum(widths.values()) + width <= BITS:
                inside.append(name)
                lows[name], listed[name], widths[name] = low, None, width
        columns: dict[str, _Column] = {}
        shift = 0
        for name in [*inside[::-1], *named[::-1]]:  # the first quasi-identifier highest, so that rows are in its order
            if listed[name] is not None and types[name] == "VARCHAR":
                code = f"CAST(enum_code(CAST({DUCKDB.name(name)} AS {words(name, listed[name] or [])})) AS BIGINT) + 1"
            else:
                code = f"CAST({DUCKDB.name(name)} AS BIGINT) - ({lows[name] - 1})"
            below = shift if name in inside else shift - sum(widths[x] for x in inside)
            encoded = f"(coalesce({code}, 0) << {below})"
            columns[name] = _Column(shift, widths[name], encoded, listed[name], lows[name], types[name])  # type: ignore[arg-type]
            shift += widths[name]
        forms = []
        for codes in plan.forms.tolist():
            hidden = [columns[name] for name, code in zip(plan.qi, codes, strict=True) if code != KEEP]
            stars = sum(column.star << column.shift for column in hidden)
            forms.append((((1 << shift) - 1) - stars, stars))
        return cls(columns, sum(widths[x] for x in inside), forms, [name for name in plan.rest if name not in inside])

    @property
    def beside(self) -> str:
        """Columns that are not in the number, of rows ``t``: a table may have a column named like one of a query."""
        return "".join(f", t.{DUCKDB.name(name)}" for name in self.apart)

    def encoded(self, names: Sequence[str]) -> str:
        """Named columns, or others, of a row as a number; they start at bit 0 each."""
        return " + ".join(self.columns[name].encoded for name in names if name in self.columns) or "0"

    def table(self) -> Any:
        """What the engine is told of each form: bits of the whole number that stay, stars that are added."""
        import pyarrow as pa

        masks, stars = zip(*self.forms, strict=True)
        return pa.table({"ldiv form": pa.array(np.arange(len(masks))), "mask": pa.array(masks, pa.int64()), "stars": pa.array(stars, pa.int64())})

    def joined(self, source: str, plan: Plan) -> str:
        """Rows as they are published where all of their combination take one form, with -1 for the cell; else as they are, with the number of the cell."""
        key, rest, form, cell = (DUCKDB.name(f"ldiv {x}") for x in ("key", "rest", "form", "cell"))
        apart = self.beside
        named, others = self.encoded([*plan.qi, *plan.targets]), self.encoded(plan.rest)
        packed = f"SELECT {named} AS {key}, {others} AS {rest}{apart} FROM {source} t"
        whole = f"p.{key} << {self.floor}"
        moves = f"SELECT p.{key}, p.{cell}, CASE WHEN p.{form} < 0 THEN {whole} ELSE (({whole}) & f.mask) + f.stars END AS shown FROM {{}} p LEFT JOIN {{}} f ON p.{form} = f.{form}"
        moved = moves.format(DUCKDB.name("ldiv plan"), DUCKDB.name("ldiv forms"))
        return f"SELECT p.shown + t.{rest} AS {key}, p.{cell}{apart} FROM ({packed}) t JOIN ({moved}) p ON t.{key} = p.{key}"

    def numbers(self, plan: Plan) -> str:
        """Every number that named columns show somewhere: of the plan's combinations, in the forms that rows of theirs take."""
        key, form, cell = (DUCKDB.name(f"ldiv {x}") for x in ("key", "form", "cell"))
        masked = f"(((p.{key} << {self.floor}) & f.mask) + f.stars) AS number"
        here, forms = DUCKDB.name("ldiv plan"), DUCKDB.name("ldiv forms")
        found = f"SELECT {masked} FROM {here} p JOIN {forms} f ON p.{form} = f.{form}"
        if plan.splits:
            found += f" UNION ALL SELECT {masked} FROM {here} p JOIN {DUCKDB.name('ldiv pieces')} q ON p.{cell} = q.{cell} JOIN {forms} f ON q.{form} = f.{form} WHERE p.{form} < 0"
        return f"SELECT DISTINCT number FROM ({found})"

    def query(self, joined: str, plan: Plan, seen: Mapping[str, set[int]]) -> str:
        """What is published, in an order of it; of :meth:`joined` rows."""
        key, form, cell, number = (DUCKDB.name(f"ldiv {x}") for x in ("key", "form", "cell", "number"))
        apart = self.beside
        rows = f"SELECT t.{key}{apart} FROM {joined} t WHERE t.{cell} < 0"
        if plan.splits:
            salt = f"(SELECT salt FROM {DUCKDB.name('ldiv secret')})"
            digest = f"md5_number(concat({salt}, {DUCKDB.as_text(f'hash(t.{key}{apart})')}))"
            ranked = f"SELECT t.*, row_number() OVER (PARTITION BY t.{cell} ORDER BY {digest}) - 1 AS {number} FROM {joined} t WHERE t.{cell} >= 0"
            rows += (
                f" UNION ALL SELECT (t.{key} & f.mask) + f.stars AS {key}{apart} FROM ({ranked}) t JOIN {DUCKDB.name('ldiv pieces')} q "
                f"ON t.{cell} = q.{cell} AND t.{number} >= q.low AND t.{number} < q.high JOIN {DUCKDB.name('ldiv forms')} f ON q.{form} = f.{form}"
            )
        order = key + (f", hash({DUCKDB.names(self.apart)})" if self.apart else "")
        columns = ", ".join(f"{self._shown(name, plan, seen)} AS {DUCKDB.name(name)}" for name in plan.columns)
        return f"SELECT {columns} FROM (SELECT * FROM ({rows}) ORDER BY {order})"

    def types(self, plan: Plan, seen: Mapping[str, set[int]]) -> dict[str, list[str]]:
        """Columns that are written as words, each of a type of its own, and the words: those that are shown, since a file lists all that its type has.

        Parameters
        ----------
        seen : mapping of str to set of int
            The codes of each named column that are shown somewhere.
        """
        found = {}
        for at, name in enumerate([*plan.qi, *plan.targets]):
            column = self.columns[name]
            changed = at < len(plan.qi) and plan.changed[at]
            if (
                column.words is not None
                and not (changed and plan.nulls(at))
                and (changed or plan.shown[name].how == "text" or column.kind == "VARCHAR")
            ):
                star = plan.texts[at][1] if changed else None
                words = [word for code, word in enumerate(column.words, 1) if word is not None and code in seen[name]]
                found[name] = words if star is None or star in words else [*words, star]
        return found

    def _shown(self, name: str, plan: Plan, seen: Mapping[str, set[int]]) -> str:
        """What is published of a column, from the number."""
        key = DUCKDB.name("ldiv key")
        if name not in self.columns:
            return DUCKDB.name(name)
        column, at = self.columns[name], plan.qi.index(name) if name in plan.qi else None
        changed = at is not None and plan.changed[at]
        star = plan.texts[at][1] if at is not None else None
        if name in self.types(plan, seen):
            words = [
                "NULL",
                *("NULL" if word is None or code not in seen[name] else DUCKDB.string(word) for code, word in enumerate(column.words or [], 1)),
            ]
            if changed:
                words += ["NULL"] * (column.star - len(words)) + [DUCKDB.string(star)]
            return f"(CAST([{', '.join(words)}] AS {DUCKDB.name(f'ldiv shown {name}')}[]))[{column.code(key)} + 1]"
        text = name in plan.shown and plan.shown[name].how == "text"
        if column.kind == "VARCHAR":  # with nulls for stars
            value = f"[NULL, {', '.join(map(DUCKDB.string, column.words or []))}][{column.code(key)} + 1]"
        else:
            value = DUCKDB.as_text(column.number(key)) if text else f"CAST({column.number(key)} AS {column.kind})"
        return f"CASE WHEN {column.code(key)} = {column.star} THEN {DUCKDB.string(star)} ELSE {value} END" if changed else value
