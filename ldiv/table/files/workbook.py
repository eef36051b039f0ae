"""Excel workbooks: the first sheet as a table, and a table as a sheet. Needs ``ldiv[excel]``."""

from __future__ import annotations

import datetime
import io
import zipfile
from typing import IO, Any

from ldiv.errors import InputError
from ldiv.table.files.numbers import widened
from ldiv.table.text import text_of

__all__ = ["MOST_COLUMNS", "MOST_ROWS", "read_workbook", "write_workbook"]

LARGEST = 1 << 53  # a spreadsheet's numbers are floats
MOST_ROWS, MOST_COLUMNS, MOST_LETTERS = 1_048_576, 16_384, 32_767  # what a sheet and a cell hold


def read_workbook(data: Any, name: str, limit: int) -> tuple[Any, str | None]:
    """The first sheet as a pyarrow Table; its first row names the columns.

    Parameters
    ----------
    data : bytes-like
    name : str
        For messages.
    limit : int
        Bytes that the parts of the file may unpack to.

    Returns
    -------
    pyarrow.Table, str or None
        And a remark, where the workbook has more than one sheet.

    Raises
    ------
    InputError
        Not a workbook, no header, a name that stands twice, or a formula without a stored value.
    """
    import pyarrow as pa

    openpyxl = _openpyxl()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            parts = packed.infolist()
            size = sum(part.file_size for part in parts)
            if size > limit:
                raise InputError(f"{name}: unpacks to {size:,} bytes, more than the {limit:,} allowed (--unpack-limit, unpack_limit=)")
            formulas = any(
                b"<f>" in text or b"<f " in text or b"<f/" in text
                for text in map(packed.read, (part for part in parts if part.filename.startswith("xl/worksheets/")))
            )
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        sheet = book.worksheets[0]
        rows = [list(row) for row in sheet.iter_rows(values_only=True)]
        if formulas:
            _require_values(openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=False).worksheets[0], rows, name)
    except InputError:
        raise
    except Exception as error:  # openpyxl raises whatever its parsers raise
        raise InputError(f"{name}: not a readable Excel workbook: {error}") from error
    while rows and all(value is None for value in rows[-1]):
        rows.pop()
    if not rows:
        raise InputError(f"{name}: the first sheet is empty, not even a header row")
    width = max(len(row) for row in rows)
    rows = [row + [None] * (width - len(row)) for row in rows]
    while width and all(row[width - 1] is None for row in rows):
        width -= 1
    header = rows[0][:width]
    for place, title in enumerate(header):
        if title is None:
            raise InputError(f"{name}, row 1: column {place + 1} has no name")
    names = [str(title) for title in header]
    doubled = next((title for title in names if names.count(title) > 1), None)
    if doubled is not None:
        raise InputError(f"{name}: column name {doubled!r} stands twice: rename one of them")
    table = pa.table({title: _column([row[place] for row in rows[1:]]) for place, title in enumerate(names)})
    others = len(book.worksheets) - 1
    return table, f"sheet {sheet.title!r}; {others} more not read" if others else None


def _require_values(sheet: Any, rows: list[list[Any]], name: str) -> None:
    """Every formula has the value that a spreadsheet stored for it."""
    for cells, values in zip(sheet.iter_rows(), rows, strict=True):
        for cell, value in zip(cells, values, strict=True):
            if cell.data_type == "f" and value is None:
                raise InputError(f"{name}: cell {cell.coordinate} is a formula without a stored value: open and save it in a spreadsheet first")


def _column(values: list[Any]) -> Any:
    """Typed where all values have one type (whole numbers and fractions are numbers), else text."""
    import pyarrow as pa

    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int}:
        return (
            pa.array(values, pa.int64() if all(value is None or -(2**63) <= value < 2**63 for value in values) else pa.string())
            if kinds
            else pa.array(values, pa.string())
        )
    if kinds <= {int, float}:
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    for kind, arrow in (
        (bool, pa.bool_()),
        (str, pa.string()),
        (datetime.datetime, pa.timestamp("us")),
        (datetime.date, pa.date32()),
        (datetime.time, pa.time64("us")),
    ):
        if kinds == {kind}:
            return pa.array(values, arrow)
    return pa.array([None if value is None else str(value) for value in values], pa.string())


def write_workbook(table: Any, stream: IO[bytes]) -> None:
    """Write one sheet. Text stays text: what begins with ``=`` is no formula.

    Raises
    ------
    InputError
        More rows, columns or letters than a sheet holds, a character it cannot hold, or a type it has not.
    """
    import pyarrow as pa

    openpyxl = _openpyxl()
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.utils.exceptions import IllegalCharacterError

    require_room(table)
    book = openpyxl.Workbook(write_only=True)
    book.properties.creator = None
    sheet = book.create_sheet("release")

    def number(value: int | float) -> Any:
        made = WriteOnlyCell(sheet, value)
        made._value = repr(value)  # with all its digits, of which openpyxl would write 16
        return made

    def cell(value: Any, column: str) -> Any:
        if isinstance(value, datetime.datetime) and value.tzinfo is not None:
            value = value.isoformat(" ")
        if type(value) in (int, float):
            return number(value)
        if not isinstance(value, str):
            try:
                return WriteOnlyCell(sheet, value)
            except ValueError:
                raise InputError(f"column {column!r}: a workbook cannot hold a {type(value).__name__}; write Parquet") from None
        if len(value) > MOST_LETTERS:
            raise InputError(f"column {column!r}: a text of {len(value):,} characters; a workbook's cell holds {MOST_LETTERS:,}")
        try:
            made = WriteOnlyCell(sheet, value)
        except IllegalCharacterError:
            raise InputError(f"column {column!r}: {value!r} has a character that a workbook cannot hold") from None
        made.data_type = "s"
        return made

    names = [str(name) for name in table.column_names]
    try:
        sheet.append([cell(name, name) for name in names])
        columns = [_held(widened(column)) for column in table.columns]
        for batch in pa.table(columns, names).to_batches(max_chunksize=1 << 14):
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                sheet.append([None if value is None else cell(value, name) for name, value in zip(names, row, strict=True)])
    except BaseException:
        sheet.close()  # or its half-written part complains when it is collected
        raise
    book.save(stream)


def _held(column: Any) -> Any:
    """A column as a sheet can hold it: as texts where it has numbers that a spreadsheet's are not (beyond 2**53, of more digits, or not finite)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_decimal(kind):
        as_text = True
    elif pa.types.is_integer(kind):
        least, most = pc.min_max(column).as_py().values()
        as_text = least is not None and not -LARGEST <= least <= most <= LARGEST
    else:
        as_text = pa.types.is_floating(kind) and not pc.all(pc.is_finite(column)).as_py() and pc.any(pc.invert(pc.is_finite(column))).as_py()
    if not as_text:
        return column
    return pa.chunked_array([pa.array([None if value is None else text_of(value) for value in column.to_pylist()], pa.string())])


def require_room(table: Any) -> None:
    """Refuse a table that no sheet can hold."""
    if table.num_rows + 1 > MOST_ROWS or table.num_columns > MOST_COLUMNS:
        raise InputError(
            f"a workbook's sheet holds {MOST_ROWS - 1:,} rows below its header and {MOST_COLUMNS:,} columns, not {table.num_rows:,} and "
            f"{table.num_columns:,}: write CSV or Parquet"
        )


def _openpyxl() -> Any:
    try:
        import openpyxl
    except ImportError as error:
        raise InputError("Excel workbooks need openpyxl: pip install 'ldiv[excel]'") from error
    return openpyxl
