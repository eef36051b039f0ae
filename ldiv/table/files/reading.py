"""From names to tables: regular files, standard input and other pipes, folders and patterns of Parquet files."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ldiv.errors import InputError
from ldiv.table.files.delimited import read_delimited
from ldiv.table.files.dialect import Dialect
from ldiv.table.files.folders import are_parts, values_of_folders
from ldiv.table.files.formats import Format, format_of_bytes, format_of_name
from ldiv.table.files.outputs import descriptor
from ldiv.table.files.workbook import read_workbook

__all__ = ["UNPACK_LIMIT", "Opened", "bytes_of", "expand", "open_table", "read_table"]

UNPACK_LIMIT = 2 << 30  # bytes: what a packed file may unpack to unless more is asked for
PIECE = 1 << 22


@dataclass(frozen=True)
class Opened:
    """A table that was read, and how it was written.

    Attributes
    ----------
    table : pyarrow.Table
    name : str
        The file, for people.
    format : Format
    dialect : Dialect or None
        Of a text file.
    inputs : tuple of str
        What was read, so that nothing is written over it.
    remark : str or None
        What should be said about it.
    """

    table: Any = field(repr=False)
    name: str
    format: Format
    dialect: Dialect | None
    inputs: tuple[str, ...]
    remark: str | None = None


def read_table(
    path: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    names: Sequence[str] | None = None,
    na: str | None = None,
    unpack_limit: int = UNPACK_LIMIT,
) -> Any:
    """Read a file into a pyarrow Table.

    Parameters
    ----------
    path : path
        ``.csv`` or ``.tsv`` (also followed by ``.gz``, ``.zst`` or ``.bz2``), ``.parquet``, ``.pq``, ``.xlsx``; a pipe holds what its first bytes
        say, ``-`` is standard input; a folder or a pattern such as ``parts/*.parquet`` holds Parquet files.
    delimiter : str, optional
        Of a text file; default a comma, in a .tsv a tab.
    names : sequence of str, optional
        Column names of a text file without a header line.
    na : str, optional
        The text that stands for a missing value in a text file; default none does, and an empty field is the empty string.
    unpack_limit : int
        Bytes that a packed file may unpack to.

    Returns
    -------
    pyarrow.Table
        Columns of text files are all text, so that what is written back is what was read.

    Raises
    ------
    InputError
        A missing or damaged file, an ending that says nothing, or a malformed line, by its number.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("zip,ill\\n007,flu\\n,cold\\n")
    >>> read_table(path, na="").to_pydict()
    {'zip': ['007', None], 'ill': ['flu', 'cold']}
    """
    return open_table([path], delimiter=delimiter, names=names, na=na, unpack_limit=unpack_limit).table


def open_table(
    paths: Sequence[str | os.PathLike[str]],
    *,
    delimiter: str | None = None,
    names: Sequence[str] | None = None,
    na: str | None = None,
    unpack_limit: int = UNPACK_LIMIT,
) -> Opened:
    """Read one file, or several Parquet files one after another; see :func:`read_table`."""
    given = [os.fspath(path) for path in paths]
    found = [name for path in given for name in expand(path)]
    label = given[0] if len(given) == 1 else f"{given[0]} and {len(given) - 1} more"
    if are_parts(given, found):
        for name in found:
            if format_of_name(name).kind != "parquet":
                raise InputError(f"{name!r}: several files are read as one table only if all are Parquet")
        _require_no_names("Parquet", names)
        return Opened(_read_parts(found, unpack_limit), label, Format("parquet"), None, (*given, *found))
    name = found[0]
    shown = "standard input" if name == "-" else name
    data, shape = _bytes_and_format(name, unpack_limit)
    remark, dialect = None, None
    if shape.is_text:
        table, dialect = read_delimited(data, shown, delimiter or shape.delimiter, names)
        if na is not None:
            table = _missing(table, na)
    elif shape.kind == "parquet":
        _require_no_names("Parquet", names)
        table = _read_parquet(data, shown, unpack_limit)
    else:
        _require_no_names("an Excel workbook", names)
        table, remark = read_workbook(data, shown, unpack_limit)
    return Opened(table, label, shape, dialect, (*given, name), remark)


def _require_no_names(kind: str, names: Sequence[str] | None) -> None:
    if names is not None:
        raise InputError(f"names: {kind} has names of its own; they are for text files without a header line")


def expand(path: str) -> list[str]:
    """The files that a name stands for: a pattern's, a folder's, or the file itself."""
    if descriptor(path, 0) is not None:
        return [path]
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError) as error:
        if isinstance(error, FileNotFoundError) and glob.has_magic(path):
            found = sorted(glob.glob(path, recursive=True))
            if not found:
                raise InputError(f"no file matches {path!r}") from None
            return found
        if isinstance(error, (FileNotFoundError, NotADirectoryError)):
            raise InputError(f"no file {path!r}") from None
        raise InputError(f"{path!r}: {getattr(error, 'strerror', None) or error}") from error
    if not stat.S_ISDIR(mode):
        return [path]
    parts = sorted(
        str(part)
        for part in Path(path).rglob("*")
        if part.suffix.lower() in (".parquet", ".pq") and part.is_file() and not any(p[0] in "._" for p in part.relative_to(path).parts)
    )
    if not parts:
        raise InputError(f"{path!r}: a folder without Parquet files")
    return parts


def _is_stream(path: str) -> bool:
    if descriptor(path, 0) is not None:
        return True
    return not stat.S_ISREG(os.stat(path).st_mode)


def bytes_of(path: str | os.PathLike[str], unpack_limit: int = UNPACK_LIMIT) -> Any:
    """A file's bytes as a pyarrow Buffer, unpacked if they are packed: mapped where it is a plain file, read to the end where it is a pipe."""
    return _bytes_and_format(os.fspath(path), unpack_limit, strict=False)[0]


def _bytes_and_format(path: str, limit: int, strict: bool = True) -> tuple[Any, Format]:
    import pyarrow as pa

    try:
        if _is_stream(path):
            number = descriptor(path, 0)
            with open(os.dup(number) if number is not None else path, "rb") as stream:
                data = pa.py_buffer(stream.read())
            known = None
            if strict and number is None and Path(path).suffix:
                try:
                    known = format_of_name(path)
                except InputError:
                    known = None  # a pipe needs no ending
        else:
            known = format_of_name(path) if strict else None
            data = pa.memory_map(path).read_buffer() if os.path.getsize(path) else pa.py_buffer(b"")
    except OSError as error:
        raise InputError(f"{path!r}: cannot be read: {error.strerror or error}") from error
    seen = format_of_bytes(data[:16].to_pybytes())
    shape = _agree(path, known, seen)
    if shape.compression is None:
        return data, shape
    unpacked = _unpack(data, shape.compression, limit, path)
    inner = format_of_bytes(unpacked[:16].to_pybytes())
    if inner is not None:
        raise InputError(f"{path!r}: holds {inner} packed with {shape.compression}: unpack it first")
    return unpacked, shape


def _agree(path: str, known: Format | None, seen: str | None) -> Format:
    """The format by name, unless the bytes say something else; by the bytes alone where there is no name."""
    if known is None:
        return Format("csv", seen) if seen in ("gzip", "zstd", "bz2") else Format(seen or "csv")
    wanted = known.compression or (known.kind if not known.is_text else None)
    if seen != wanted:
        if wanted == "parquet":
            raise InputError(f"{path}: not a readable Parquet file: its bytes are {seen or 'something else'}")
        raise InputError(f"{path!r}: its name says {known}, its bytes are {seen or 'plain'}: rename it" if seen or wanted else path)
    return known


def _unpack(data: Any, compression: str, limit: int, path: str) -> Any:
    import pyarrow as pa

    out = pa.BufferOutputStream()
    total = 0
    try:
        with pa.CompressedInputStream(pa.BufferReader(data), compression) as stream:
            while piece := stream.read(PIECE):
                total += len(piece)
                if total > limit:
                    raise InputError(f"{path!r}: unpacks to more than the {limit:,} bytes allowed (--unpack-limit, unpack_limit=)")
                out.write(piece)
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{path!r}: cannot be read to its end: {error}") from error
    return out.getvalue()


def _missing(table: Any, na: str) -> Any:
    """The table with nulls where the text says that a value is missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = [pc.if_else(pc.equal(column, na), pa.scalar(None, column.type), column) for column in table.columns]
    return pa.table(columns, names=table.column_names)


def _read_parquet(data: Any, name: str, limit: int) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        source = pq.ParquetFile(pa.BufferReader(data))
        _require_small(source.metadata, name, limit)
        return source.read()
    except InputError:
        raise
    except Exception as error:  # damaged files make Arrow raise UnicodeDecodeError, KeyError and others too
        raise InputError(f"{name}: not a readable Parquet file: {error}") from error


def _require_small(metadata: Any, name: str, limit: int) -> None:
    """Refuse a file that would unpack to more than allowed, by what it says of itself: a value takes a byte at least."""
    encoded = sum(metadata.row_group(k).total_byte_size for k in range(metadata.num_row_groups))
    size = max(encoded, metadata.num_rows * metadata.num_columns)
    if size > limit:
        raise InputError(f"{name!r}: unpacks to {size:,} bytes or more, more than the {limit:,} allowed (--unpack-limit, unpack_limit=)")


def _read_parts(names: list[str], limit: int) -> Any:
    """Several Parquet files one after another; a folder named year=2020 is a column."""
    import pyarrow as pa

    tables: list[Any] = []
    left = limit
    for name in names:
        data, _ = _bytes_and_format(name, left)
        table = _read_parquet(data, name, left)
        left -= table.nbytes
        for key, value in values_of_folders(name).items():
            if key not in table.column_names:
                table = table.append_column(key, pa.array([value] * table.num_rows, pa.string()))
        if tables and table.schema.names != tables[0].schema.names:
            raise InputError(
                f"{name!r}: its columns are {', '.join(table.column_names)}, those of {names[0]!r} are {', '.join(tables[0].column_names)}"
            )
        for part, whole in zip(table.schema, tables[0].schema if tables else table.schema, strict=True):
            if part.type != whole.type:
                raise InputError(f"{name!r}: column {part.name!r} is {part.type}, in {names[0]!r} it is {whole.type}")
        tables.append(table)
    return pa.concat_tables(tables)
