"""Tables in files: CSV, TSV (also packed), Parquet and Excel, read strictly and written so that nothing is lost or half there."""

from ldiv.table.files.dialect import Dialect, QuoteStyle
from ldiv.table.files.formats import ENDINGS, Format, format_of_name
from ldiv.table.files.numbers import ColumnKind, decide_all
from ldiv.table.files.outputs import Outputs, Target, atomic, descriptor
from ldiv.table.files.reading import UNPACK_LIMIT, Opened, bytes_of, expand, open_table, read_table
from ldiv.table.files.writing import formula_columns, require_distinct_missing, write_table

__all__ = [
    "ENDINGS",
    "UNPACK_LIMIT",
    "ColumnKind",
    "Dialect",
    "Format",
    "Opened",
    "Outputs",
    "QuoteStyle",
    "Target",
    "atomic",
    "bytes_of",
    "decide_all",
    "descriptor",
    "expand",
    "format_of_name",
    "formula_columns",
    "open_table",
    "read_table",
    "require_distinct_missing",
    "write_table",
]
