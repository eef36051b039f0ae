"""What is written after an option, taken apart; a mistake names the option."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

from ldiv.errors import InputError
from ldiv.privacy.principles import Distinct, Entropy, KAnonymity, Principle, TCloseness
from ldiv.table.coarsening import Bins, Hierarchy
from ldiv.table.files import bytes_of
from ldiv.table.files.numbers import require_decimal

__all__ = ["coarsening", "decimal_of", "hierarchy_of", "pairs", "principle", "size_of", "whole"]

NOT_UTF8 = "not UTF-8 text; convert the file to UTF-8 first"
PRINCIPLES: dict[str, tuple[Any, Any]] = {"k": (KAnonymity, int), "distinct": (Distinct, int), "entropy": (Entropy, float), "t": (TCloseness, float)}


def principle(text: str) -> Principle:
    """``k=10`` and the like."""
    name, _, value = text.partition("=")
    if name not in PRINCIPLES:
        raise InputError(f"--also {text!r}: write one of {', '.join(f'{kind}=VALUE' for kind in PRINCIPLES)}")
    kind, number = PRINCIPLES[name]
    try:
        return kind(number(value))  # type: ignore[no-any-return]
    except ValueError:
        raise InputError(f"--also {text!r}: {value!r} is not {'a whole number' if number is int else 'a number'}") from None


def pairs(words: list[str] | None, option: str, columns: list[str]) -> dict[str, str]:
    """``NAME=VALUE`` by name. Names may hold ``=`` and so may values: the longest name that is a column wins, else the last ``=`` divides.

    Raises
    ------
    InputError
        No ``=``, or a name given twice.
    """
    found: dict[str, str] = {}
    for word in words or []:
        places = [place for place, letter in enumerate(word) if letter == "="]
        known = [place for place in places if word[:place] in columns]
        place = known[-1] if known else places[-1] if places else 0
        name, value = word[:place], word[place + 1 :]
        if not name or not value:
            raise InputError(f"{option} {word!r}: write NAME=VALUE")
        if name in found:
            raise InputError(f"{option}: column {name!r} is named twice")
        found[name] = value
    return found


def whole(text: str, where: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise InputError(f"{where}: {text!r} is not a whole number")
    return int(text)


def decimal_of(reading: Any) -> str:
    """What stands before fractions in the text file that is read."""
    try:
        return "." if reading.decimal is None else require_decimal(reading.decimal)
    except InputError as error:
        raise InputError(f"--{error}") from None


def coarsening(text: str, where: str, decimal: str = ".") -> int | Bins:
    """A level of a hierarchy, or how to make intervals."""
    kind, _, rest = text.partition(":")
    try:
        if kind == "width":
            return Bins(width=float(rest), decimal=decimal)
        if kind == "quantiles":
            return Bins(quantiles=whole(rest, where), decimal=decimal)
        if kind == "edges":
            return Bins(edges=[float(edge) for edge in rest.split(",")], decimal=decimal)
    except ValueError as error:
        raise InputError(f"{where}: {error}") from None
    return whole(text, where)


def size_of(text: str) -> int:
    """``500M`` in bytes."""
    found = re.fullmatch(r"(\d+)([KMGT]?)B?", text.strip().upper(), re.ASCII)
    if not found:
        raise InputError(f"--unpack-limit {text!r}: write bytes, or a number with K, M, G or T")
    return int(found[1]) << (10 * "_KMGT".index(found[2] or "_"))


def hierarchy_of(path: str, column: str, limit: int, decimal: str = ".") -> Hierarchy | list[Bins] | str:
    """A hierarchy file, also from a pipe; or one that is made from the column's values."""
    if path == "auto":
        return path
    if path.startswith("width:"):
        try:
            return [Bins(width=float(width), decimal=decimal) for width in path[6:].split(",")]
        except ValueError as error:
            raise InputError(f"--hierarchy {column}={path}: {error}") from None
    if Path(path).is_file():
        try:
            return Hierarchy.read(path)
        except (UnicodeDecodeError, OSError, csv.Error) as error:
            reason = NOT_UTF8 if isinstance(error, UnicodeDecodeError) else error
            raise InputError(f"--hierarchy {column}={path}: {reason}") from error
    if not Path(path).exists() and path != "-":
        raise InputError(f"{path}: no such hierarchy file")
    try:
        text = bytes_of(path, limit).to_pybytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"--hierarchy {column}={path}: {NOT_UTF8}") from error
    return Hierarchy.of([row for row in csv.reader(io.StringIO(text, newline=""), delimiter=";") if row], path)
