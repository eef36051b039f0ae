"""CSV and TSV: read strictly as text by Arrow, written so that only changed cells differ from what was read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import IO, Any

import numpy as np

from ldiv.errors import InputError
from ldiv.table.files.dialect import (
    CR,
    LF,
    Dialect,
    QuoteStyle,
    fields_of,
    first_record,
    needs_quotes,
    other_separator,
    quote_styles,
    require_delimiter,
    wrong_width,
)
from ldiv.table.files.numbers import widened
from ldiv.table.text import is_missing, text_of

__all__ = ["explain", "read_delimited", "write_delimited"]

BOM = b"\xef\xbb\xbf"
ROWS = 1 << 16  # written at a time


def read_delimited(buffer: Any, name: str, delimiter: str, names: Sequence[str] | None = None) -> tuple[Any, Dialect]:
    """A pyarrow Table of text columns, and how the file was written.

    Parameters
    ----------
    buffer : pyarrow.Buffer
        The whole file, unpacked.
    name : str
        For messages.
    delimiter : str
    names : sequence of str, optional
        Column names of a file without a header line.

    Raises
    ------
    InputError
        Not UTF-8, a line with too few or too many fields, a quote in the wrong place, a name that stands twice; by line.
    """
    delimiter = require_delimiter(delimiter)
    data = np.frombuffer(buffer, dtype=np.uint8)
    if data[:2].tobytes() in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError(f"{name}, line 1: not UTF-8 text but UTF-16; convert the file to UTF-8 first")
    bom = data[:3].tobytes() == BOM
    if bom:
        data, buffer = data[3:], buffer.slice(3)
    try:
        return _read(buffer, data, name, delimiter, names, bom)
    except InputError as error:
        hint = other_separator(data, delimiter)
        raise InputError(f"{error}{hint}") from error if hint else None


def _read(buffer: Any, data: Any, name: str, delimiter: str, names: Sequence[str] | None, bom: bool) -> tuple[Any, Dialect]:
    """The table behind the byte order mark."""
    import pyarrow as pa
    from pyarrow import csv

    end = first_record(data)
    if not end:
        raise InputError(f"{name}: empty, not even a header line" if not len(data) else f"{name}, line 1: empty, where the column names should be")
    if names is None:
        first = _header(data, end, delimiter, name)
        header, quoted = [text for text, _ in first], tuple(mark for _, mark in first)
    else:
        header, quoted = list(names), None
    doubled = next((column for column in header if header.count(column) > 1), None)
    if doubled is not None:
        raise InputError(f"{name}: column name {doubled!r} stands twice: rename one of them")
    if names is None and end == len(data):  # Arrow wants a line end after the header
        return pa.table({column: pa.array([], pa.string()) for column in header}), Dialect(delimiter, "\n", bom, quoted, (), False)
    block = min(max(1 << 20, _longest(data, end)), 2**31 - 1)
    try:
        table = csv.read_csv(
            pa.BufferReader(buffer),
            read_options=csv.ReadOptions(column_names=header, skip_rows_after_names=0 if names is not None else 1, block_size=block),
            parse_options=csv.ParseOptions(delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=len(header) > 1),
            convert_options=csv.ConvertOptions(column_types={column: pa.string() for column in header}, strings_can_be_null=False),
        )
    except pa.ArrowInvalid as error:
        raise InputError(explain(data, delimiter, len(header), name) or f"{name}: {error}") from error
    styles = quote_styles(data, delimiter, table.columns, 0 if names is not None else 1, name)
    line_end = "\r\n" if data[end : end + 2].tobytes() == b"\r\n" else "\r" if data[end : end + 1].tobytes() == b"\r" else "\n"
    return table, Dialect(delimiter, line_end, bom, quoted, styles, bool(data[-1] in (LF, CR)))


def _header(data: Any, end: int, delimiter: str, name: str) -> list[tuple[str, bool]]:
    from ldiv.table.files.dialect import blocks

    for _ in blocks(data[:end], delimiter, name):  # the quotes of the header must be in order before it can be taken apart
        pass
    try:
        return fields_of(data[:end].tobytes(), delimiter)
    except UnicodeDecodeError as error:
        raise InputError(f"{name}, line 1: not UTF-8 text; convert the file to UTF-8 first") from error


def _longest(data: Any, end: int) -> int:
    """A block that holds the longest line, as Arrow wants it; twice, since a block may begin in the middle of one."""
    longest, begun = end, 0
    step = 1 << 24
    for start in range(0, len(data), step):
        ends = np.flatnonzero(data[start : start + step] == LF)
        if len(ends):
            ends += start
            longest = max(longest, int(ends[0]) - begun, int(np.diff(ends).max(initial=0)))
            begun = int(ends[-1])
    return 2 * max(longest, len(data) - begun) + 2


def explain(data: Any, delimiter: str, width: int, name: str) -> str | None:
    """What is wrong with a file of `width` columns that a reader refused, by the line; None where nothing is."""
    from ldiv.table.files.dialect import line_of

    place = _not_utf8(data)
    if place is not None:
        return f"{name}, line {line_of(data, place)}: not UTF-8 text; convert the file to UTF-8 first"
    return wrong_width(data, delimiter, width, name)


def _not_utf8(data: Any) -> int | None:
    """The first byte that is no UTF-8."""
    start, step = 0, 1 << 24
    while start < len(data):
        part = data[start : start + step].tobytes()
        try:
            part.decode("utf-8")
        except UnicodeDecodeError as error:
            if error.start + 4 <= len(part) or start + len(part) >= len(data):
                return start + error.start
            start += error.start  # a character cut in two
            continue
        start += len(part)
    return None


def write_delimited(table: Any, stream: IO[bytes], dialect: Dialect, na: str = "") -> None:
    """Write a table as text.

    Parameters
    ----------
    table : pyarrow.Table
    stream : binary stream
    dialect : Dialect
        Quotes by column position; what needs none has them if it had them.
    na : str
        What a missing value is written as.

    Notes
    -----
    O(bytes), in Arrow throughout; Python's text of a value where a column is not text.
    """
    import pyarrow as pa

    end = dialect.line_end
    if dialect.bom:
        stream.write(BOM)
    pending = b""
    if dialect.header is not None:
        marks = [*dialect.header, *[False] * len(table.column_names)]
        row = [
            _quoted(pa.array([str(name)]), QuoteStyle(mark), dialect.delimiter, len(table.column_names) == 1)
            for name, mark in zip(table.column_names, marks, strict=False)
        ]
        pending = (dialect.delimiter.join(field[0].as_py() for field in row) + end).encode()
    for batch in table.to_batches(max_chunksize=ROWS):
        if not batch.num_rows:
            continue
        fields = [
            _quoted(
                _text(column, batch.schema.names[k]).fill_null(na),
                dialect.style(k),
                dialect.delimiter,
                len(batch.columns) == 1 and not dialect.columns,
            )
            for k, column in enumerate(batch.columns)
        ]
        lines = _glued(_glued(*fields, dialect.delimiter), "", end)
        stream.write(pending)
        pending = _bytes(lines)
    stream.write(pending if dialect.last_line_ends else pending[: -len(end)])


def _glued(*parts: Any) -> Any:
    """Texts side by side, row by row, the last part between each two."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.binary_join_element_wise(*(pa.scalar(part, pa.large_string()) if isinstance(part, str) else part for part in parts))


def _bytes(lines: Any) -> bytes:
    """The bytes of all texts of an Arrow array, one after another."""
    import pyarrow as pa

    lines = lines.cast(pa.large_string())
    offsets = np.frombuffer(lines.buffers()[1], dtype=np.int64)[lines.offset : lines.offset + len(lines) + 1]
    return memoryview(lines.buffers()[2])[int(offsets[0]) : int(offsets[-1])].tobytes()


def _text(column: Any, name: str) -> Any:
    """The texts of a column, null where a value is missing."""
    import pyarrow as pa
    import pyarrow.types as kinds

    if kinds.is_dictionary(column.type):
        return _text(column.dictionary, name).take(column.indices)
    if kinds.is_string(column.type) or kinds.is_large_string(column.type) or kinds.is_integer(column.type):
        return column.cast(pa.large_string())
    if hasattr(kinds, "is_string_view") and kinds.is_string_view(column.type):
        return column.cast(pa.large_string())
    if kinds.is_nested(column.type) or "binary" in str(column.type):
        raise InputError(f"column {name!r} holds {column.type}: a text file cannot hold it; write Parquet, or leave the column out")
    return pa.array([None if is_missing(value) else text_of(value) for value in widened(column).to_pylist()], pa.large_string())


def _quoted(texts: Any, style: QuoteStyle, delimiter: str, alone: bool) -> Any:
    """Texts in quotes where they need them or had them; an empty field that is `alone` in its line needs them too."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = texts.cast(pa.large_string())
    needed = needs_quotes(texts, delimiter)
    if alone:
        needed = pc.or_(needed, pc.equal(texts, ""))
    if style.but:
        rare = pc.is_in(texts, value_set=pa.array(sorted(style.but), pa.large_string()))
        wanted = pc.or_(needed, pc.invert(rare) if style.quoted else rare)
    elif style.quoted:
        wanted = pa.array(np.ones(len(texts), dtype=bool))
    else:
        wanted = needed
    if not pc.any(wanted).as_py():
        return texts
    return pc.if_else(wanted, _glued('"', pc.replace_substring(texts, '"', '""'), '"', ""), texts)


def plain(dialect: Dialect | None, delimiter: str, header: bool) -> Dialect:
    """The dialect to write in: that of the source with another delimiter, or the plain one."""
    if dialect is None:
        return Dialect(delimiter, header=() if header else None)
    return replace(dialect, delimiter=delimiter)
