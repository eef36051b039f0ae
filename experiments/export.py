"""Everything that is stored as one tidy table: a row a result, with the cell, the numbers and where they come from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments.store import Store
from ldiv.errors import InputError

__all__ = ["export"]


def export(store: Store, path: Path) -> tuple[Path, int]:
    """Write the store to a CSV or Parquet file, by its ending; returns it and how many results it holds.

    A result with a list of rows gives a row for each of them; columns that a row lacks are empty.
    """
    if path.suffix not in (".csv", ".parquet"):
        raise InputError(f"--out {str(path)!r}: write to a .csv or a .parquet file")
    rows: list[dict[str, Any]] = []
    count = 0
    for record in store.records():
        count += 1
        cell, result = record["cell"], record["result"]
        table = cell["table"]
        head = {
            **{k: v for k, v in table.items() if k != "attributes"},
            "attributes": " ".join(table["attributes"]),
            "l": cell["l"],
            "algorithm": cell["algorithm"],
            "measure": cell["measure"],
        }
        came = {f"from_{k}": v for k, v in record.get("provenance", {}).items()}
        for row in result.get("rows", [{}]):
            plain = {k: v for k, v in {**result, **row}.items() if k != "rows"}
            numbers = {f"{k}_{i}" if isinstance(v, list) else k: x for k, v in plain.items() for i, x in enumerate(v if isinstance(v, list) else [v])}
            rows.append({**head, **{k if k not in head else f"measured_{k}": v for k, v in numbers.items()}, **came})
    if not rows:
        raise InputError(f"{store.root} holds no results yet: python -m experiments run")
    import pandas as pd

    frame = pd.DataFrame(rows)
    frame.to_csv(path, index=False) if path.suffix == ".csv" else frame.to_parquet(path, index=False)
    return path, count
