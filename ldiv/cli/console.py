"""What the command says: one line where it is an error, nothing of the data that could steer a terminal, and live progress on one."""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

__all__ = ["Voice", "one_line", "out", "shown", "table_of", "tell"]

LONGEST_VALUE, LONGEST_LINE = 120, 1200
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def shown(value: Any, longest: int = LONGEST_VALUE) -> str:
    """A value of the data, fit for a terminal: control characters escaped, cut where it is long."""
    text = "(missing)" if value is None else str(value)
    text = CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def one_line(message: str) -> str:
    """A message in one line, long values cut."""
    message = CONTROL.sub(lambda found: " " if found[0] in "\n\r\t" else found[0].encode("unicode_escape").decode(), message)
    message = re.sub(rf"""(['"])((?:(?!\1).){{{LONGEST_VALUE - 3}}})(?:(?!\1).){{4,}}\1""", r"\1\2...\1", message)
    if len(message) > LONGEST_LINE:
        message = f"{message[: LONGEST_LINE - 300]} ... {message[-290:]}"
    return message.strip()


def tell(line: str) -> None:
    """A remark on standard error; where nobody reads those, the work goes on."""
    with contextlib.suppress(OSError, ValueError):
        print(line, file=sys.stderr, flush=True)


def out(text: str = "") -> None:
    """A line of the answer, on standard output."""
    print(text)


def answer(value: Any) -> None:
    """The answer for a program: JSON on standard output."""
    print(json.dumps(value, ensure_ascii=True, default=str))


def table_of(columns: list[str], rows: list[list[str]]) -> None:
    """A table on standard output, as wide as the terminal."""
    table = Table()
    for column in columns:
        table.add_column(Text(column))
    for row in rows:
        table.add_row(*(Text(shown(cell, 400)) for cell in row))
    screen = Console()
    writer = Console(width=None if screen.is_terminal else 140)
    with writer.capture() as shape:
        writer.print(table)
    out(shape.get().rstrip("\n"))


class Voice:
    """What is said on standard error, unless the command was asked to be quiet."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet = quiet
        self.screen = Console(stderr=True, highlight=False, soft_wrap=True)

    def say(self, text: str) -> None:
        """A note of one or more lines."""
        if not self.quiet:
            for line in text.splitlines():
                tell(shown(line, 2000))

    def warn(self, text: str) -> None:
        if not self.quiet:
            tell(f"warning: {one_line(text)}")

    @contextmanager
    def progress(self, stage: str, limit: float | None = None) -> Iterator[Progress]:
        """A line that changes while the block runs; on a terminal only."""
        if self.quiet or not self.screen.is_terminal or os.environ.get("TERM") == "dumb":
            yield Progress(stage, limit)
            return
        progress = Progress(stage, limit)
        with self.screen.status(progress) as status:
            progress.moved = lambda: status.update(progress)
            yield progress


class Progress:
    """A live line: stage, stars, bound, gap, seconds so far and left. Call it with what an algorithm reports: a line of text, or a mapping (or
    object) with any of ``stage``, ``stars``, ``bound``, ``left``."""

    def __init__(self, stage: str, limit: float | None = None) -> None:
        self.stage, self.limit = stage, limit
        self.stars: float | None = None
        self.bound: float | None = None
        self.left: float | None = None
        self.begun = self.staged = time.monotonic()
        self.moved: Callable[[], None] = lambda: None

    def __call__(self, event: Any) -> None:
        if isinstance(event, str):
            self._read(event)
        else:
            fields = event if isinstance(event, Mapping) else vars(event) if hasattr(event, "__dict__") else {}
            for name in ("stage", "stars", "bound", "left"):
                if fields.get(name) is not None:
                    setattr(self, name, fields[name])
        self.moved()

    def _read(self, text: str) -> None:
        """What the algorithms report in words: how far they are, and the bound."""
        now = time.monotonic()
        stage = text.split(":")[0]
        done = re.search(r"(\w+) (\d+) of (\d+)", stage)
        if done:
            if not self.stage.startswith(done[1]):
                self.staged = now - (now - self.staged) / max(int(done[2]), 1)
            self.left = (now - self.staged) / int(done[2]) * (int(done[3]) - int(done[2]))
        known = False
        for name, pattern in (("stars", r"([\d,]+) stars"), ("bound", r"(?:dual value|bound) ([\d,]+)")):
            if value := re.search(pattern, text):
                setattr(self, name, float(value[1].replace(",", "")))
                known = True
        self.stage = stage if known else text

    def __rich__(self) -> Text:
        now = time.monotonic()
        parts = [shown(self.stage)]
        if self.stars is not None:
            parts.append(f"stars {self.stars:,.0f}")
        if self.bound is not None:
            parts.append(f"bound {self.bound:,.0f}")
        if self.stars is not None and self.bound:
            parts.append(f"gap {100 * (self.stars / self.bound - 1):.2f} %")
        parts.append(f"{now - self.begun:.0f} s")
        left = self.left if self.limit is None else min(self.limit - (now - self.begun), self.left if self.left is not None else self.limit)
        if left is not None and left >= 0.5:
            parts.append(f"about {left:.0f} s left")
        elif left is not None:
            parts.append("nearly done")
        return Text(", ".join(parts))
