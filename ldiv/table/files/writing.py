"""From tables to files, in the format that the name's ending asks for; a file appears whole or not at all."""

from __future__ import annotations

import bz2
import gzip
import io
import os
from typing import IO, Any

from ldiv.errors import InputError
from ldiv.table.files.delimited import plain, write_delimited
from ldiv.table.files.dialect import Dialect, require_delimiter
from ldiv.table.files.formats import Format, format_of_name
from ldiv.table.files.outputs import atomic
from ldiv.table.files.workbook import write_workbook

__all__ = ["formula_columns", "write_table"]


def write_table(
    table: Any,
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    header: bool = True,
    dialect: Dialect | None = None,
    na: str = "",
) -> None:
    """Write a pyarrow Table in the format that the ending of the name asks for; the file appears whole or not at all.

    Parameters
    ----------
    table : pyarrow.Table
    path : path
        Notes on its schema are written as they are; a release has none (:mod:`ldiv.table.backends`).
    delimiter : str, optional
        Of a text file; default that of the dialect, else a comma, in a .tsv a tab.
    header : bool
        Whether a text file begins with the column names; the dialect knows better where one is given.
    dialect : Dialect, optional
        How the text file was written that the table came from: line ends, quotes and byte order mark come back.
    na : str
        What a missing value is in a text file.

    Raises
    ------
    InputError
        An ending that says nothing, no such folder, or a column that the format cannot hold.
    """
    shape = format_of_name(os.fspath(path))
    with atomic(path) as stream:
        if shape.kind == "parquet":
            import pyarrow.parquet as pq

            pq.write_table(table, stream)
        elif shape.kind == "xlsx":
            write_workbook(table, stream)
        else:
            chosen = delimiter or (dialect.delimiter if dialect is not None and shape.kind == "csv" else shape.delimiter)
            with _packed(stream, shape) as out:
                write_delimited(table, out, plain(dialect, require_delimiter(chosen), header), na)


class _Unclosed(io.RawIOBase):
    """A stream that stays open when what wraps it is closed."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self.stream.write(data)


def _packed(stream: IO[bytes], shape: Format) -> Any:
    """A stream that packs what is written; packing the same twice gives the same bytes."""
    if shape.compression == "gzip":
        return gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0, compresslevel=6)
    if shape.compression == "bz2":
        return bz2.BZ2File(stream, "wb")
    if shape.compression == "zstd":
        import pyarrow as pa

        return pa.CompressedOutputStream(_Unclosed(stream), "zstd")
    return io.BufferedWriter(_Unclosed(stream))


def formula_columns(table: Any) -> dict[Any, int]:
    """How many texts of each column a spreadsheet would run as formulas: they begin with ``=``, ``@``, a tab, or with a sign and are no number.

    Examples
    --------
    >>> import pyarrow as pa
    >>> formula_columns(pa.table({"a": ["=1+1", "-5", "x"], "b": ["1", "2", "3"]}))
    {'a': 1}
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    found = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            continue
        runs = pc.match_substring_regex(column, r"^[=@\t\r]|^[+-]")
        number = pc.match_substring_regex(column, r"^[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?%?$|^[+-]$")
        count = pc.sum(pc.and_(runs, pc.invert(number))).as_py()
        if count:
            found[name] = count
    return found


def require_distinct_missing(table: Any, names: list[Any], na: str) -> None:
    """Refuse columns in which missing values and the text for them would be one in a text file.

    Raises
    ------
    InputError
        Naming the column and the way out.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    for name in names:
        column = table.column(name)
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        if text and column.null_count and pc.any(pc.equal(column, na)).as_py():
            raise InputError(
                f"column {name!r} holds missing values and the text {na!r}, which the file could not tell apart: write missing values as another "
                "text (--na TEXT), or write Parquet"
            )
