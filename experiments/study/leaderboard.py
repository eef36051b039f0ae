"""The leaderboard: one page that holds its data, sorts, filters and draws trade-offs, on a phone too."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.study.config import Study
from experiments.study.measures import COLUMNS
from ldiv.algorithms import list_algorithms

__all__ = ["save"]

TEMPLATE = Path(__file__).with_name("templates") / "leaderboard.html"


def save(study: Study, rows: Sequence[dict[str, Any]], path: Path) -> Path:
    """Write the page; of several seeds it shows the mean."""
    own = list_algorithms()
    data = {
        "columns": {name: {"title": about, "less": less} for name, (about, less) in COLUMNS.items()},
        "shown": list(study.columns),
        "tables": list(study.tables),
        "about": {
            name: f"{own[name].source}" if name in own else "Xiao, Tao, VLDB 2006: quasi-identifiers are published as they are"
            for name in study.algorithms
        },
        "rows": [_rounded(row) for row in _means(rows)],
        "origin": {key: rows[-1][key] for key in ("commit", "ldiv", "python", "cpu", "date")},
        "seeds": len(study.seeds),
    }
    text = TEMPLATE.read_text().replace("{{title}}", html.escape(study.title))
    embedded = json.dumps(data, separators=(",", ":")).replace("</", "<\\/")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.replace("{{data}}", embedded))
    return path


def _means(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["table"], row["l"], row["k"], row["algorithm"]), []).append(row)
    out = []
    for (table, l, k, algorithm), mine in groups.items():
        found = {"table": table, "l": l, "k": k, "algorithm": algorithm, "note": mine[0]["note"]}
        for name in COLUMNS:
            values = [row[name] for row in mine if row[name] is not None]
            if values:
                found[name] = sum(values) / len(values)
        out.append(found)
    return out


def _rounded(row: dict[str, Any]) -> dict[str, Any]:
    return {key: float(f"{value:.5g}") if isinstance(value, float) else value for key, value in row.items()}
