"""What an engine reads: files of one kind with one schema, looked at by their footers and headers before any row is."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ldiv.arguments import shown
from ldiv.errors import InputError, MissingColumnError
from ldiv.table.files import expand, format_of_name
from ldiv.table.files.delimited import read_delimited
from ldiv.table.files.dialect import first_record, require_delimiter
from ldiv.table.files.folders import are_parts, values_of_folders
from ldiv.table.files.outputs import descriptor
from ldiv.table.pandas_index import index_columns

__all__ = ["Sources"]

HEAD = 1 << 20  # bytes that a header line may have


@dataclass(frozen=True)
class Sources:
    """Files that are read as one table.

    Attributes
    ----------
    files : tuple of str
    kind : {"parquet", "csv", "tsv"}
    columns : tuple of str
        In the order in which they are published; folders named ``year=2020`` are columns of text, the last ones.
    types : dict of str to pyarrow.DataType
        By column; of text files, and of folders, text.
    hive : tuple of str
        The columns that are folders.
    index : tuple of str
        Columns that are the index of a pandas table: they go with the order of its rows.
    delimiter, na, header : of text files
    bytes : int
        What the table would take in memory, roughly.
    """

    files: tuple[str, ...]
    kind: str
    columns: tuple[str, ...]
    types: dict[str, Any] = field(repr=False)
    hive: tuple[str, ...] = ()
    delimiter: str = ","
    na: str = ""
    header: bool = True
    bytes: int = 0
    given: tuple[str, ...] = ()
    index: tuple[str, ...] = ()

    @property
    def is_text(self) -> bool:
        return self.kind in ("csv", "tsv")

    @classmethod
    def of(
        cls,
        source: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
        *,
        delimiter: str | None = None,
        names: Sequence[str] | None = None,
        na: str = "",
    ) -> Sources:
        """Look at all files there are.

        Raises
        ------
        InputError
            No such file, a file that cannot be read, files of several kinds, or one whose columns or their types are not those of the first.
        """
        import pyarrow as pa

        given = [os.fspath(source)] if isinstance(source, (str, os.PathLike)) else [os.fspath(part) for part in source]
        if not given:
            raise InputError("name at least one file to read")
        for path in given:
            if descriptor(path, 0) is not None:
                raise InputError(f"{path!r}: an engine reads files several times, and a pipe can be read once: write it to a file first")
        files = [name for path in given for name in expand(path)]
        for path in files:  # a named one, that is: to open it would take what is in it
            if os.path.exists(path) and not os.path.isfile(path):
                raise InputError(f"{path!r}: an engine reads files several times, and a pipe can be read once: write it to a file first")
        shapes = {format_of_name(name) for name in files}
        kinds = {shape.kind for shape in shapes}
        if len(kinds) > 1 or "xlsx" in kinds:
            raise InputError(f"{shown(given[0])}: the files of one table must all be Parquet, or all CSV, not {', '.join(sorted(map(str, shapes)))}")
        kind = kinds.pop()
        if kind == "parquet":
            if names is not None or delimiter is not None:
                raise InputError("names and delimiter are for text files, and these are Parquet")
            columns, types, hive, size, index = _parquet(files, are_parts(given, files))
            return cls(tuple(files), kind, columns, types, hive, na=na, bytes=size, given=tuple(given), index=index)
        if any(shape.compression == "bz2" for shape in shapes):
            raise InputError(f"{shown(given[0])}: packed with bz2, which engines do not read: pack it with gzip or zstd, or unpack it")
        separator = require_delimiter(delimiter) if delimiter is not None else next(iter(shapes)).delimiter
        columns = _text(files, separator, names)
        size = sum(os.path.getsize(name) for name in files)
        return cls(tuple(files), kind, columns, dict.fromkeys(columns, pa.string()), (), separator, na, names is None, size, tuple(given))

    def stamp(self) -> tuple[tuple[str, int, int, int], ...]:
        """What tells a file from a changed one without reading it."""
        found = []
        for name in self.files:
            try:
                status = os.stat(name)
            except OSError as error:
                raise InputError(f"{name!r}: {error.strerror}: the source changed while it was read; nothing was written") from error
            found.append((name, status.st_size, status.st_mtime_ns, status.st_ino))
        return tuple(found)

    def require(self, names: Iterable[Any]) -> None:
        for name in names:
            if name not in self.columns:
                raise MissingColumnError(name, self.columns)


def _parquet(files: list[str], parts: bool) -> tuple[tuple[str, ...], dict[str, Any], tuple[str, ...], int, tuple[str, ...]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    first: dict[str, Any] = {}
    hive: list[str] = []
    index: list[str] = []
    size = 0
    for name in files:
        try:
            with pq.ParquetFile(name) as file:
                schema, metadata = file.schema_arrow, file.metadata
        except Exception as error:  # damaged files make Arrow raise nearly anything
            raise InputError(f"{name}: not a readable Parquet file: {error}") from error
        names = schema.names
        if len(set(names)) < len(names):
            raise InputError(f"{name!r}: a column name stands twice: rename one of them")
        said = values_of_folders(name) if parts else {}
        folders = [key for key in said if key not in names]
        if folders and len(folders) < len(said):
            both = next(key for key in said if key in names)
            raise InputError(f"{name!r}: {both!r} is a column and a folder: rename one of them")
        types = dict(zip(names, schema.types, strict=True)) | dict.fromkeys(folders, pa.string())
        if not first:
            first, hive = types, folders
        if list(types) != list(first):
            raise InputError(f"{name!r}: its columns are {', '.join(types)}, those of {files[0]!r} are {', '.join(first)}")
        for column, kind in types.items():
            if kind != first[column]:
                raise InputError(f"{name!r}: column {column!r} is {kind}, in {files[0]!r} it is {first[column]}")
        index += [column for column in index_columns(schema) if column not in index]
        encoded = sum(metadata.row_group(k).total_byte_size for k in range(metadata.num_row_groups))
        size += max(encoded, metadata.num_rows * sum(_width(str(kind)) for kind in types.values()))
    return tuple(first), first, tuple(hive), size, tuple(index)


def _width(kind: str) -> int:
    """Bytes of a value in memory, roughly."""
    found = re.search(r"(8|16|32|64|128)", kind)
    return int(found[1]) // 8 if found else 1 if kind == "bool" else 12


def _text(files: list[str], delimiter: str, names: Sequence[str] | None) -> tuple[str, ...]:
    """The columns of text files, all with one header."""
    first: tuple[str, ...] = ()
    for name in files:
        header = tuple(names) if names is not None else _header(name, delimiter)
        doubled = next((column for column in header if header.count(column) > 1), None)
        if doubled is not None:
            raise InputError(f"{name}: column name {doubled!r} stands twice: rename one of them")
        first = first or header
        if header != first:
            raise InputError(f"{name!r}: its columns are {', '.join(header)}, those of {files[0]!r} are {', '.join(first)}")
    return first


def _header(name: str, delimiter: str) -> tuple[str, ...]:
    import pyarrow as pa

    try:
        with pa.input_stream(name, compression="detect") as stream:
            head = stream.read(HEAD)
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{name!r}: cannot be read: {error}") from error
    end = first_record(np.frombuffer(head, dtype=np.uint8))
    if not end:
        raise InputError(f"{name}: empty, not even a header line")
    table, _ = read_delimited(pa.py_buffer(head[:end]), name, delimiter)
    return tuple(table.column_names)
