"""Small tables for notebooks, every text escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

__all__ = ["table_html"]

LONGEST = 60


def table_html(caption: str, heads: Sequence[str], rows: Sequence[Sequence[Any]], foot: str = "") -> str:
    """A table; numbers to the right, long texts cut."""

    def cell(value: Any) -> str:
        text = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
        text = text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
        right = " style='text-align:right'" if isinstance(value, (int, float)) else ""
        return f"<td{right}>{escape(text)}</td>"

    head = "".join(f"<th>{escape(x)}</th>" for x in heads)
    body = "".join(f"<tr>{''.join(map(cell, row))}</tr>" for row in rows)
    end = f"<tr><td colspan='{max(len(heads), 1)}'>{escape(foot)}</td></tr>" if foot else ""
    return f"<table><caption>{escape(caption)}</caption>{f'<tr>{head}</tr>' if head else ''}{body}{end}</table>"
