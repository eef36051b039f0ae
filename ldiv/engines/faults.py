"""What DuckDB says of a file that it cannot read, in the words of this toolkit: which file and which line, what to do, and never a value of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from ldiv.engines.sources import Sources
from ldiv.errors import InputError
from ldiv.table.files import format_of_name
from ldiv.table.files.delimited import explain

__all__ = ["damaged", "of_text"]

ELSE = "use engine='memory'"


def of_text(told: str, sources: Sources) -> str | None:
    """Of a text file: the file and the line as memory names them, where the file is there to be looked at; None where the message is about no file."""
    found = re.search(r"^\s*file = (.+)$", told, re.MULTILINE)
    if found is None:
        return None
    name = found[1].strip()
    why = None
    if name in sources.files and format_of_name(name).compression is None:
        try:
            why = explain(np.memmap(name, dtype=np.uint8, mode="r"), sources.delimiter, len(sources.columns), name)
        except InputError as error:  # of quotes
            why = str(error)
        except (OSError, ValueError):  # gone meanwhile, or empty
            pass
    return f"{why}; nothing was written" if why is not None else f"{name}{_by_keyword(told)}; nothing was written"


def _by_keyword(told: str) -> str:
    """What DuckDB found, of a file that cannot be looked at again, or in which nothing is wrong by the standard."""
    line = re.search(r"Error on Line: (\d+)", told)
    where = f", line {line[1]}" if line else ""
    fields = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", told)
    if fields:
        return f"{where}: {fields[2]} fields, but the header has {fields[1]}"
    if "unicode" in told:
        return f"{where}: not UTF-8 text; convert the file to UTF-8 first"
    if "unterminated quote" in told:
        return f"{where}: a quote in the wrong place; put the field in quotes and double those within it"
    if "invalid state" in told:
        return f"{where}: lines end in several ways, or a field in quotes holds a line end unlike them, which DuckDB does not read: write them alike, or {ELSE}"
    if "line size" in told:
        return f"{where}: a line is longer than the 16 MiB that DuckDB reads: {ELSE}"
    return f"{where}: DuckDB cannot read it: {ELSE}"


def damaged(files: Sequence[str], read: Callable[[str], object], errors: type[Exception]) -> str | None:
    """The first of some files that cannot be read to its end."""
    for name in files:
        try:
            read(name)
        except errors:
            return name
    return None
