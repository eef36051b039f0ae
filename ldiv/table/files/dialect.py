"""How a CSV file is written: delimiter, line ends, mark at its start, quotes. Found while reading, so that writing gives it back.

The bytes are looked at in numpy, a block at a time. Inside quotes is where an odd number of quotes came before; in a file that follows RFC 4180 a
quote that opens has a separator before it, one that closes has one after it, and two that touch are a quote within the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.errors import InputError

HEAD = 1 << 16  # bytes of which the first line is looked at

__all__ = ["Dialect", "QuoteStyle", "first_record", "fields_of", "other_separator", "quote_styles", "require_delimiter", "wrong_width"]

QUOTE, LF, CR = 34, 10, 13
BLOCK = 1 << 24
Bytes = NDArray[np.uint8]


@dataclass(frozen=True)
class QuoteStyle:
    """Which fields of a column stand in quotes that need none: all or none of them, but for some values."""

    quoted: bool = False
    but: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written.

    Attributes
    ----------
    delimiter : str
        One ASCII character.
    line_end : str
        ``"\\n"``, ``"\\r\\n"`` or ``"\\r"``; that of the first line.
    bom : bool
        Whether it begins with a byte order mark, as Excel writes and needs it.
    header : tuple of bool or None
        Which column names are quoted; None where the file has no header line.
    columns : tuple of QuoteStyle
        By position; a column beyond them has quotes where needed only.
    last_line_ends : bool
        Whether a line end follows the last line.
    """

    delimiter: str = ","
    line_end: str = "\n"
    bom: bool = False
    header: tuple[bool, ...] | None = ()
    columns: tuple[QuoteStyle, ...] = field(default=(), repr=False)
    last_line_ends: bool = True

    def style(self, position: int) -> QuoteStyle:
        """The quotes of a column."""
        return self.columns[position] if position < len(self.columns) else QuoteStyle()

    def with_delimiter(self, delimiter: str) -> Dialect:
        return replace(self, delimiter=delimiter)


def require_delimiter(delimiter: str) -> str:
    """One ASCII character that can separate fields; ``\\t`` as typed in a shell is a tab.

    Raises
    ------
    InputError
        Another.
    """
    delimiter = "\t" if delimiter == "\\t" else delimiter
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0':
        raise InputError(f"delimiter {delimiter!r}: it must be one ASCII character, no quote and no line end (write '\\t' for a tab)")
    return delimiter


def first_record(data: Bytes) -> int:
    """Where the first line outside quotes ends: the position of its line end, or the length of the data."""
    size = 1 << 16
    while True:
        part = data[:size]
        outside = np.cumsum(part == QUOTE) % 2 == 0
        ends = np.flatnonzero(outside & ((part == LF) | (part == CR)))
        if len(ends):
            return int(ends[0])
        if size >= len(data):
            return len(data)
        size *= 4


def fields_of(record: bytes, delimiter: str) -> list[tuple[str, bool]]:
    """The fields of one line whose quotes are in order, and whether each stands in quotes."""
    found, start, inside = [], 0, False
    for place, byte in enumerate([*record, ord(delimiter)]):
        inside ^= byte == QUOTE
        if byte == ord(delimiter) and not inside or place == len(record):
            text = record[start:place].decode("utf-8")
            quoted = text.startswith('"')
            found.append((text[1:-1].replace('""', '"') if quoted else text, quoted))
            start = place + 1
    return found


def line_of(data: Bytes, position: int) -> int:
    """The line, counted from 1, in which a byte stands."""
    ends = 0
    for start in range(0, position, BLOCK):
        part = data[start : min(start + BLOCK, position)]
        after = data[start + 1 : min(start + BLOCK, position) + 1]
        lone = part == CR
        lone[: len(after)] &= after != LF
        ends += int(np.count_nonzero(part == LF) + np.count_nonzero(lone))
    return ends + 1


@dataclass(frozen=True)
class Block:
    """What stands outside quotes in one block: `ends` are all separators, `last` those that end a line; `opening` the quotes that open a field."""

    start: int
    ends: NDArray[np.int64]
    last: NDArray[np.bool_]
    opening: NDArray[np.int64]


def blocks(data: Bytes, delimiter: str, name: str) -> Iterator[Block]:
    """Walk through the separators of a file.

    Raises
    ------
    InputError
        A quote in the wrong place, by its line.
    """
    separator = ord(delimiter)
    inside, before, opened = 0, LF, 0
    for start in range(0, len(data), BLOCK):
        part = data[start : start + BLOCK]
        following = int(data[start + len(part)]) if start + len(part) < len(data) else LF
        previous = np.concatenate([[np.uint8(before)], part[:-1]])
        nexts = np.concatenate([part[1:], [np.uint8(following)]])
        quotes = np.flatnonzero(part == QUOTE)
        opens = (np.arange(len(quotes)) + inside) % 2 == 0
        beside = np.where(opens, previous[quotes], nexts[quotes])
        fine = (beside == separator) | (beside == LF) | (beside == CR) | (beside == QUOTE)
        if not fine.all():
            k = int(np.argmin(fine))
            where = f"{name}, line {line_of(data, start + int(quotes[k]))}"
            raise InputError(
                f"{where}: a quote within a field that does not begin with one; put the field in quotes and double those within it"
                if opens[k]
                else f"{where}: text after a closing quote; a quote within a quoted field must be doubled"
            )
        if opens.any():
            opened = start + int(quotes[opens][-1])
        if len(quotes):
            outside = (np.cumsum(part == QUOTE) + inside) % 2 == 0
            inside = (inside + len(quotes)) % 2
        else:
            outside = np.full(len(part), not inside)
        last = (part == LF) | ((part == CR) & (nexts != LF))
        ends = np.flatnonzero(outside & ((part == separator) | last))
        opening = quotes[opens & (previous[quotes] != QUOTE)]
        yield Block(start, ends + start, last[ends], opening + start)
        before = int(part[-1])
    if inside:
        raise InputError(f"{name}, line {line_of(data, opened)}: unexpected end of data within quotes")


def other_separator(data: Any, delimiter: str) -> str:
    """A likelier separator, as the end of a message: one that stands in the first line, where the given one does not."""
    head = bytes(data[:HEAD]).split(b"\n")[0].split(b"\r")[0]
    if delimiter.encode() in head:
        return ""
    other = max(b";\t|,", key=head.count)
    return f"; perhaps the fields are separated by {chr(other)!r}: --delimiter {chr(other)!r}, delimiter={chr(other)!r}" if head.count(other) else ""


def wrong_width(data: Bytes, delimiter: str, width: int, name: str) -> str | None:
    """A message about the first line without `width` fields; empty lines do not count unless `width` is 1."""
    begun, fields = 0, 0
    for block in blocks(data, delimiter, name):
        stops = block.ends[block.last]
        counts = np.diff(np.flatnonzero(block.last), prepend=-1 - fields)  # separators of each line, its own end included
        starts = np.concatenate([[begun], stops[:-1] + 1]) if len(stops) else stops
        bad = (counts != width) & ~((counts == 1) & (_blank(data, starts, stops)))
        if bad.any():
            k = int(np.argmax(bad))
            return f"{name}, line {line_of(data, int(starts[k]))}: {counts[k]} fields, but the header has {width}"
        if len(stops):
            begun, fields = int(stops[-1]) + 1, int(len(block.last) - 1 - np.flatnonzero(block.last)[-1])
        else:
            fields += len(block.last)
    if begun < len(data) and fields + 1 != width:
        return f"{name}, line {line_of(data, begun)}: {fields + 1} fields, but the header has {width}"
    return None


def _blank(data: Bytes, starts: NDArray[np.int64], stops: NDArray[np.int64]) -> NDArray[np.bool_]:
    length = stops - starts
    return np.asarray((length == 0) | ((length == 1) & (data[np.minimum(starts, len(data) - 1)] == CR)))


def quote_styles(data: Bytes, delimiter: str, columns: Sequence[Any], skip: int, name: str) -> tuple[QuoteStyle, ...]:
    """How each column was quoted; the quotes of the whole file are checked on the way.

    Parameters
    ----------
    data : ndarray of uint8
        The file from its first line on.
    columns : sequence of pyarrow arrays of text
        What was read.
    skip : int
        Lines before the first row (a header).

    Raises
    ------
    InputError
        A quote in the wrong place, by its line.

    Notes
    -----
    O(bytes); a file without quotes is only searched for one.
    """
    if not any((data[start : start + BLOCK] == QUOTE).any() for start in range(0, len(data), BLOCK)):
        return ()
    width, rows = len(columns), len(columns[0]) if len(columns) else 0
    quoted = np.zeros((width, rows), dtype=bool)
    before, begun = 0, 0  # separators so far, of lines that hold fields; where the line under way begins
    for block in blocks(data, delimiter, name):
        counts = np.ones(len(block.ends), dtype=np.int64)
        if width > 1:
            stops = block.ends[block.last]
            starts = np.concatenate([[begun], stops[:-1] + 1]) if len(stops) else stops
            counts[np.flatnonzero(block.last)[_blank(data, starts, stops)]] = 0
            begun = int(stops[-1]) + 1 if len(stops) else begun
        total = np.cumsum(counts)
        place = np.searchsorted(block.ends, block.opening)
        number = before + np.concatenate([[0], total])[place]
        row, column = np.divmod(number, width)
        inside = (row >= skip) & (row < rows + skip)
        quoted[column[inside], row[inside] - skip] = True
        before += int(total[-1]) if len(total) else 0
    return tuple(_style(column, quoted[k], delimiter) for k, column in enumerate(columns))


def needs_quotes(column: Any, delimiter: str) -> Any:
    """Which texts cannot stand without quotes, as a pyarrow array."""
    import pyarrow.compute as pc

    return pc.fill_null(pc.match_substring_regex(column, f"[\\x22\\x0a\\x0d\\x{ord(delimiter):02x}]"), False)


def _style(column: Any, quoted: NDArray[np.bool_], delimiter: str) -> QuoteStyle:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not quoted.any():
        return QuoteStyle()
    free = ~needs_quotes(column, delimiter).to_numpy()
    ours, theirs = free & quoted, free & ~quoted
    if not theirs.any():
        return QuoteStyle(True) if ours.any() else QuoteStyle()
    if not ours.any():
        return QuoteStyle()
    usual = bool(ours.sum() >= theirs.sum())
    rare, common = (theirs, ours) if usual else (ours, theirs)
    counts: dict[str, list[int]] = {}
    for mask in (rare, common):
        for pair in pc.value_counts(column.filter(pa.array(mask))).to_pylist():
            counts.setdefault(pair["values"], [0, 0])[mask is common] += pair["counts"]
    return QuoteStyle(usual, frozenset(value for value, (few, many) in counts.items() if few > many))
