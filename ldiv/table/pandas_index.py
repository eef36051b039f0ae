"""Which columns of an Arrow table are the index of the pandas table it came from: pandas says so in a note on the schema."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["index_columns", "with_index"]


def _entries(schema: Any) -> dict[str, Any]:
    """The label of each index column by the column's name; empty without a note that can be read."""
    try:
        note = json.loads((schema.metadata or {})[b"pandas"])
        labels = {entry["field_name"]: entry["name"] for entry in note["columns"]}
        return {name: labels.get(name) for name in note["index_columns"] if isinstance(name, str) and name in schema.names}
    except (KeyError, TypeError, ValueError, AttributeError):
        return {}


def index_columns(schema: Any) -> list[str]:
    """Names of the columns that hold a pandas index, in its order.

    Examples
    --------
    >>> import pandas as pd, pyarrow as pa
    >>> index_columns(pa.Table.from_pandas(pd.DataFrame({"x": [1, 2]}, index=pd.Index([7, 9], name="id"))).schema)
    ['id']
    """
    return list(_entries(schema))


def with_index(table: Any, source: Any) -> Any:
    """The table with a note of its own that says which columns are the index, as far as they are there; of the source's note no more is kept."""
    labels = _entries(source)
    if not labels or not all(name in table.column_names for name in labels):
        return table
    columns = [{"name": label, "field_name": name, "pandas_type": "object", "numpy_type": "object", "metadata": None} for name, label in labels.items()]
    note = {"index_columns": list(labels), "column_indexes": [], "columns": columns}
    return table.replace_schema_metadata({"pandas": json.dumps(note)})
