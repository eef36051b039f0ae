"""Which columns of an Arrow table are the index of the pandas table it came from: pandas says so in a note on the schema."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["index_columns", "with_index"]

RANGE = {"kind": "range", "name": None, "start": 0, "stop": 0, "step": 1}


def _entries(schema: Any) -> list[tuple[Any, Any]]:
    """Each level of the index: the name of its column and its label, or a range and None; empty without a note that can be read."""
    try:
        note = json.loads((schema.metadata or {})[b"pandas"])
        labels = {entry["field_name"]: entry["name"] for entry in note["columns"]}
        levels = note["index_columns"]
    except (KeyError, TypeError, ValueError):
        return []
    found: list[tuple[Any, Any]] = []
    for level in levels if isinstance(levels, list) else []:
        if isinstance(level, str) and level in schema.names:
            found.append((level, labels.get(level)))
        elif isinstance(level, dict) and level.keys() == RANGE.keys() and all(isinstance(level[key], int) for key in ("start", "stop", "step")):
            found.append((level, None))
    return found


def index_columns(schema: Any) -> list[str]:
    """Names of the columns that hold a pandas index, in its order.

    Examples
    --------
    >>> import pandas as pd, pyarrow as pa
    >>> index_columns(pa.Table.from_pandas(pd.DataFrame({"x": [1, 2]}, index=pd.Index(["a", "b"], name="id"))).schema)
    ['id']
    """
    return [name for name, _ in _entries(schema) if isinstance(name, str)]


def with_index(table: Any, source: Any) -> Any:
    """The table, its rows in the order of its source, with a note of its own that says what the index is; no more is kept of the source's note."""
    levels = [(level, label) for level, label in _entries(source) if isinstance(level, dict) or level in table.column_names]
    if not levels or all(isinstance(level, dict) and {**level, "stop": 0} == RANGE for level, _ in levels):
        return table  # as pandas numbers rows anyway
    columns = [
        {"name": label, "field_name": level, "pandas_type": "object", "numpy_type": "object", "metadata": None}
        for level, label in levels
        if isinstance(level, str)
    ]
    note = {"index_columns": [level for level, _ in levels], "column_indexes": [], "columns": columns}
    return table.replace_schema_metadata({"pandas": json.dumps(note)})
