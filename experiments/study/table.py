"""A study's results as one tidy table: a row for each release, every measure a column, where it comes from beside it."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from experiments.store import Store
from experiments.study.config import Study
from experiments.study.measures import COLUMNS, recodes

__all__ = ["counted", "over_seeds", "rows_of", "write"]

KEYS = ("table", "dataset", "rows", "attributes", "sensitive", "hierarchies", "l", "k", "algorithm", "seed")
ORIGIN = ("commit", "ldiv", "numpy", "python", "cpu", "date")


def rows_of(study: Study, store: Store) -> tuple[list[dict[str, Any]], int]:
    """What is stored of a study, and how many of its cells are not there."""
    name_of = {table: name for name, table in study.tables.items()}
    rows, lacking = [], 0
    for cell in study.cells():
        record = store.record(cell)
        if record is None:
            lacking += 1
            continue
        made, found = record["provenance"], record["result"]
        rows.append(
            {
                "table": name_of[cell.table],
                "dataset": cell.table.dataset,
                "rows": found["n"],
                "attributes": " ".join(cell.table.attributes),
                "sensitive": cell.table.sensitive,
                "hierarchies": ("used" if recodes(cell.algorithm) else "not used") if cell.table.hierarchies else "",
                "l": cell.l,
                "k": cell.k,
                "algorithm": cell.algorithm,
                "seed": int(cell.measure.removeprefix("study-")),
                "note": found.get("note", f"the largest l is {found['infeasible']}" if "infeasible" in found else ""),
                **{column: found.get(column) for column in COLUMNS},
                **{key: made.get(key) for key in ORIGIN},
            }
        )
    return rows, lacking


def counted(rows: Sequence[dict[str, Any]]) -> str:
    """How many releases there are, and how many there cannot be."""
    notes = [row["note"] for row in over_seeds(rows)]
    none = sum(map(bool, notes))
    return f"{len(notes) - none:,} releases" + (f", and {none:,} that do not exist" if none else "")


def over_seeds(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row for each release: of every measure the mean over its seeds, and as `spread` the lowest and the highest where the seeds differ."""
    releases: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        releases.setdefault((row["table"], row["l"], row["k"], row["algorithm"]), []).append(row)
    out = []
    for mine in releases.values():
        values = {name: [row[name] for row in mine if row[name] is not None] for name in COLUMNS}
        spread = {name: (min(x), max(x)) for name, x in values.items() if x and min(x) < max(x)}
        means = {name: mean(x) if name in spread else x[0] for name, x in values.items() if x}
        out.append({**{key: mine[0][key] for key in ("table", "hierarchies", "l", "k", "algorithm", "note")}, **means, "spread": spread})
    return out


def write(rows: Sequence[dict[str, Any]], path: Path) -> Path:
    """The table as CSV."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, [*KEYS, "note", *COLUMNS, *ORIGIN], lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: f"{value:.6g}" if isinstance(value, float) else value for key, value in row.items()} for row in rows)
    return path
