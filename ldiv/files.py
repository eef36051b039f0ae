"""Tables in files: CSV (also .gz) and Parquet, read strictly and written atomically."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from ldiv.errors import InputError

__all__ = ["atomic", "read_table", "write_table"]


def read_table(path: str | Path, *, delimiter: str = ",", names: list[str] | None = None) -> Any:
    """Read a CSV or Parquet file into a pyarrow Table.

    Parameters
    ----------
    path : path
        ``.parquet`` / ``.pq``, or else CSV, gzipped if it ends in ``.gz``.
    delimiter : str
    names : list of str, optional
        Column names of a CSV file without a header line.

    Returns
    -------
    pyarrow.Table
        CSV columns are all text, so that what is written back is what was read; an empty field is the empty string.

    Raises
    ------
    InputError
        A missing file, or a malformed line, by its number.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"no file {str(path)!r}")
    return _read_parquet(path) if _is_parquet(path) else _read_csv(path, delimiter, names)


def write_table(table: Any, path: str | Path, *, delimiter: str = ",", header: bool = True, like: Any = None) -> None:
    """Write a pyarrow Table as CSV or Parquet, by the file's ending; the file appears whole or not at all.

    Parameters
    ----------
    table : pyarrow.Table
    path : path
    delimiter : str
    header : bool
    like : pyarrow.Table, optional
        The table it came from, whose schema metadata (a pandas index, say) a Parquet file keeps.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise InputError(f"no folder {str(path.parent)!r} to write {path.name!r} in")
    with atomic(path) as stream:
        if _is_parquet(path):
            import pyarrow.parquet as pq

            pq.write_table(table.replace_schema_metadata(_metadata(table, like)), stream)
        else:
            _write_csv(table, stream, delimiter, header, path.suffix == ".gz")


@contextlib.contextmanager
def atomic(path: Path, mode: int | None = None) -> Iterator[IO[bytes]]:
    """A stream whose bytes replace `path` when the block ends well, and vanish when it does not."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if mode is None:
            umask = os.umask(0)
            os.umask(umask)
            mode = 0o666 & ~umask       # mkstemp makes it private; a user expects the usual permissions
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in (".parquet", ".pq")


def _read_parquet(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_table(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise InputError(f"{path}: not a readable Parquet file: {error}") from error


def _open(path: Path) -> IO[bytes]:
    return gzip.open(path, "rb") if path.suffix == ".gz" else open(path, "rb")     # type: ignore[return-value]


def _read_csv(path: Path, delimiter: str, names: list[str] | None) -> Any:
    import pyarrow as pa
    from pyarrow import csv as arrow

    try:
        header = names or _header(path, delimiter)
        doubled = next((name for name in header if header.count(name) > 1), None)
        if doubled is not None:
            raise InputError(f"{path}: column name {doubled!r} stands twice: rename one of them")
        with _open(path) as stream:
            return arrow.read_csv(
                stream,
                read_options=arrow.ReadOptions(column_names=header, skip_rows_after_names=0 if names else 1),
                parse_options=arrow.ParseOptions(
                    delimiter=delimiter, newlines_in_values=True, ignore_empty_lines=len(header) > 1
                ),
                convert_options=arrow.ConvertOptions(
                    column_types={name: pa.string() for name in header}, strings_can_be_null=False
                ),
            )
    except (EOFError, gzip.BadGzipFile, OSError) as error:
        raise InputError(f"{path}: cannot be read to its end: {error}") from error
    except (pa.ArrowInvalid, UnicodeDecodeError) as error:
        raise InputError(_explain(path, delimiter, len(header) if "header" in locals() else 0, error)) from error


def _header(path: Path, delimiter: str) -> list[str]:
    with _open(path) as raw:
        line = next(csv.reader((x.decode("utf-8-sig") for x in raw), delimiter=delimiter), None)
    if not line:
        raise InputError(f"{path}: empty, not even a header line")
    return line


def _explain(path: Path, delimiter: str, width: int, error: Exception) -> str:
    """Read once more, slowly, to name the first bad line."""
    number = 0
    with _open(path) as raw:

        def lines() -> Iterator[str]:
            nonlocal number
            for number, line in enumerate(raw, 1):      # noqa: B007
                yield line.decode("utf-8")

        reader = csv.reader(lines(), delimiter=delimiter, strict=True)
        start = 1
        try:
            for row in reader:
                if row and width and len(row) != width:
                    return f"{path}, line {start}: {len(row)} fields, but the header has {width}"
                start = reader.line_num + 1
        except UnicodeDecodeError:
            return f"{path}, line {number}: not UTF-8 text; convert the file to UTF-8 first"
        except csv.Error as reason:
            return f"{path}, line {start}: {reason}"
    return f"{path}: {error}"


def _write_csv(table: Any, stream: IO[bytes], delimiter: str, header: bool, zipped: bool) -> None:
    # The csv module, not Arrow's writer: that one quotes every text field, and a release should differ only in its stars.
    out: Any = gzip.GzipFile(filename="", mode="wb", fileobj=stream, mtime=0, compresslevel=6) if zipped else stream
    text = io.TextIOWrapper(out, encoding="utf-8", newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    if header:
        writer.writerow(table.column_names)
    for batch in table.to_batches(max_chunksize=1 << 14):
        writer.writerows(zip(*(column.to_pylist() for column in batch.columns), strict=True))
    text.detach()           # flushes, and leaves the stream open for its owner
    if zipped:
        out.close()


def _metadata(table: Any, like: Any) -> dict[bytes, bytes] | None:
    """The source's schema metadata, with pandas' notes on columns that became text brought up to date."""
    metadata = dict(like.schema.metadata or {}) if like is not None else {}
    if b"pandas" in metadata:
        notes = json.loads(metadata[b"pandas"])
        for note in notes.get("columns", []):
            name = note.get("field_name")
            if name in table.column_names and table.schema.field(name).type != like.schema.field(name).type:
                note.update(pandas_type="unicode", numpy_type="object", metadata=None)
        metadata[b"pandas"] = json.dumps(notes).encode()
    return metadata or None
