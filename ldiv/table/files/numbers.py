"""Which text columns hold numbers, as Python's readers would find, without changing a letter of what is published.

A column stays text; its numbers only decide the order of its values and whether that order means something. So bins, ranges, splits and
t-closeness are those of the same table read by pandas, and ``007`` is published as ``007``. With a decimal comma ``12,5`` is a number and ``12.5``
is none, as for ``pandas.read_csv(decimal=",")``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldiv.errors import InputError
from ldiv.table.domain import Domain
from ldiv.table.text import COMMAS, text_of

__all__ = ["ColumnKind", "decide", "decide_all", "require_decimal", "widened"]

WHOLE = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)
FRACTION = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)
WORDS_FOR_MISSING = {  # what pandas.read_csv takes for missing
    "#N/A",
    "#N/A N/A",
    "#NA",
    "-1.#IND",
    "-1.#QNAN",
    "-NaN",
    "-nan",
    "1.#IND",
    "1.#QNAN",
    "<NA>",
    "N/A",
    "NA",
    "NULL",
    "NaN",
    "None",
    "n/a",
    "nan",
    "null",
}


@dataclass(frozen=True)
class ColumnKind:
    """What a text column was taken for.

    Attributes
    ----------
    name : str
    kind : {"integer", "number", "text"}
    reason : str or None
        Why it is text although it looks like numbers.
    domain : Domain or None
        Of numbers: the texts in ascending order, ordered.
    """

    name: str
    kind: str
    reason: str | None = None
    domain: Domain | None = None

    def __str__(self) -> str:
        return f"{self.name}: {self.kind}" + (f" ({self.reason})" if self.reason else "")


def require_decimal(decimal: str) -> str:
    """A point or a comma.

    Raises
    ------
    InputError
        Anything else.
    """
    if decimal not in (".", ","):
        raise InputError(f"decimal {decimal!r}: what stands before the fractions of numbers must be '.' or ','")
    return decimal


def decide(column: Any, name: str, decimal: str = ".") -> ColumnKind:
    """What a column of text holds.

    Parameters
    ----------
    column : pyarrow array of text
        Null where a value is missing.
    name : str
    decimal : {".", ","}
        What stands before the fractions of its numbers.

    Returns
    -------
    ColumnKind
        Whole numbers of 64 bits, else numbers, else text. Two spellings of one number (``1.5``, ``1.50``) make it text: they would be one value, and
        published apart.

    Notes
    -----
    O(n), and a sort of the distinct values.

    Examples
    --------
    >>> import pyarrow as pa
    >>> decide(pa.array(["10", "9", None]), "Age").domain.labels
    ['9', '10', None]
    >>> str(decide(pa.array(["10,5", "9"]), "Weight", ",")), str(decide(pa.array(["10,5", "9"]), "Weight"))
    ('Weight: number', "Weight: text ('10,5' is no number; --decimal , makes it one)")
    """
    import pyarrow.compute as pc

    texts: list[str | None] = pc.unique(column).to_pylist()
    values: dict[float, str] = {}
    whole = True
    for text in texts:
        if text is None:
            continue
        number: float
        if whole and WHOLE.fullmatch(text):
            number = int(text)
            if not -(2**63) <= number < 2**64:
                return ColumnKind(name, "text", f"{_cut(text)} is beyond 64 bits")
        elif FRACTION.fullmatch(point := _point(text, decimal)):
            whole, number = False, float(point)
            if not math.isfinite(number):
                return ColumnKind(name, "text", f"{_cut(text)} is beyond a float")
        else:
            hint = _hint(text, decimal)
            return ColumnKind(name, "text", f"{_cut(text)} is no number{hint}" if values or "decimal" in hint else None)
        if number in values:
            return ColumnKind(name, "text", f"{_cut(values[number])} and {_cut(text)} are one number, written apart")
        values[number] = text
    if not values:
        return ColumnKind(name, "text")
    if not whole:  # a float may hold two long whole numbers as one
        floats: dict[float, str] = {}
        for number, text in values.items():
            if floats.setdefault(float(number), text) != text:
                return ColumnKind(name, "text", f"{_cut(floats[float(number)])} and {_cut(text)} are one number, written apart")
        values = floats
    labels: list[Any] = [values[number] for number in sorted(values)]
    if None in texts:
        labels.append(None)
    return ColumnKind(name, "integer" if whole else "number", None, Domain(name, len(labels), labels, ordered=True))


def widened(column: Any) -> Any:
    """Numbers of 16 and 32 bits as those of 64 bits that print alike: 0.1, not 0.10000000149011612. Other columns are left as they are.

    Examples
    --------
    >>> import pyarrow as pa
    >>> widened(pa.array([0.1, None], pa.float32())).to_pylist()
    [0.1, None]
    """
    import pyarrow as pa

    if pa.types.is_dictionary(column.type) and pa.types.is_floating(column.type.value_type):
        column = column.cast(column.type.value_type)
    if column.type not in (pa.float16(), pa.float32()):
        return column
    narrow = np.float16 if column.type == pa.float16() else np.float32
    values = column.to_pylist()
    return pa.array([None if value is None else float(text_of(narrow(value))) for value in values], pa.float64())


def _hint(text: str, decimal: str) -> str:
    """What would make a number of a text, or a missing value."""
    if text in WORDS_FOR_MISSING:
        return f"; --na {text} makes it missing"
    other = "," if decimal == "." else "."
    return f"; --decimal {other} makes it one" if FRACTION.fullmatch(_point(text, other)) else ""


def _point(text: str, decimal: str) -> str:
    """A number's text with a point, where it has the mark that it should have; else something that is no number."""
    return text if decimal == "." else text.translate(COMMAS)


def decide_all(
    table: Any, columns: Iterable[str], numeric: Sequence[str] = (), text: Sequence[str] = (), decimal: str = "."
) -> Mapping[str, ColumnKind]:
    """What each of some text columns of a table holds; `numeric` must be numbers, `text` are not looked at.

    Raises
    ------
    InputError
        A column that is to be numeric and is not, with its first value that is none.
    """
    found = {}
    require_decimal(decimal)
    for name in columns:
        if name in text:
            found[name] = ColumnKind(name, "text", "as asked")
            continue
        kind = decide(table.column(name), name, decimal)
        if name in numeric and kind.domain is None:
            cells = enumerate(table.column(name).to_pylist(), 1)
            wrong = next(((row, value) for row, value in cells if value is not None and not FRACTION.fullmatch(_point(value, decimal))), None)
            where = f"row {wrong[0]}: {wrong[1]!r} is no number{_hint(wrong[1], decimal)}" if wrong else kind.reason or "no numbers in it"
            raise InputError(f"column {name!r} is not numeric: {where}")
        found[name] = kind
    return found


def _cut(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")
