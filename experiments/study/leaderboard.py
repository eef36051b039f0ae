"""The leaderboard: one page that holds its data, sorts, filters and draws trade-offs, on a phone too."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.study.config import Study
from experiments.study.measures import COLUMNS
from experiments.study.table import over_seeds
from ldiv.algorithms import list_algorithms

__all__ = ["save"]

TEMPLATE = Path(__file__).with_name("templates") / "leaderboard.html"


def save(study: Study, rows: Sequence[dict[str, Any]], path: Path) -> Path:
    """Write the page; of several seeds it shows the mean, and the lowest and highest where they differ."""
    own = list_algorithms()
    data = {
        "columns": {name: {"title": about, "less": less} for name, (about, less) in COLUMNS.items()},
        "shown": list(study.columns),
        "tables": list(study.tables),
        "about": {
            name: f"{own[name].source}" if name in own else "Xiao, Tao, VLDB 2006: quasi-identifiers are published as they are"
            for name in study.algorithms
        },
        "rows": [_rounded(row) for row in over_seeds(rows)],
        "origin": {key: rows[-1][key] for key in ("commit", "ldiv", "python", "cpu", "date")},
        "seeds": len(study.seeds),
    }
    text = TEMPLATE.read_text().replace("{{title}}", html.escape(study.title))
    embedded = json.dumps(data, separators=(",", ":")).replace("</", "<\\/")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.replace("{{data}}", embedded))
    return path


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(part) for key, part in value.items()}
    if isinstance(value, tuple):
        return [_rounded(part) for part in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value
