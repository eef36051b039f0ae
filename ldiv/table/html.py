"""What one sees of objects: short texts, and small tables for notebooks, every text in them escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

__all__ = ["short", "table_html"]

LONGEST = 60


def short(value: Any, longest: int = LONGEST) -> str:
    """A text in one line, cut where it is long."""
    text = " ".join(str(value).split())
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def table_html(caption: str, heads: Sequence[str], rows: Sequence[Sequence[Any]], foot: str = "") -> str:
    """A table; numbers to the right, long texts cut."""

    def cell(value: Any) -> str:
        text = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else short(value)
        right = " style='text-align:right'" if isinstance(value, (int, float)) else ""
        return f"<td{right}>{escape(text)}</td>"

    head = "".join(f"<th>{escape(x)}</th>" for x in heads)
    body = "".join(f"<tr>{''.join(map(cell, row))}</tr>" for row in rows)
    end = f"<tr><td colspan='{max(len(heads), 1)}'>{escape(foot)}</td></tr>" if foot else ""
    return f"<table><caption>{escape(caption)}</caption>{f'<tr>{head}</tr>' if head else ''}{body}{end}</table>"
