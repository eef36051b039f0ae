"""What a published cell says of a value: the value itself, its text, or a sub-domain that holds it."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from ldiv.errors import InputError
from ldiv.table.text import text_of

INTERVAL = r"\[[^\[\], ]+, [^\[\], ]+\)|\[[^\[\]; ]+; [^\[\]; ]+\)|(?:>=|<) [^ ]+?(?=, |$)"


def missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType", "MaskedConstant"):
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return False


def text_of_cell(value: Any) -> str:
    if missing(value):
        return ""
    if isinstance(value, (np.datetime64, np.timedelta64, dt.timedelta, np.float16, np.float32)):
        return text_of(value)  # libraries print them in ways of their own
    return value.hex() if isinstance(value, (bytes, bytearray)) else str(value)


def shown_as(value: Any) -> str:
    text = (
        repr(value if not isinstance(value, np.generic) else value.item()) if not isinstance(value, (np.datetime64, np.timedelta64)) else str(value)
    )
    return text if len(text) <= 60 else text[:57] + "..."


def same_cell(value: Any, published: Any) -> bool:
    """Whether a published cell is a value of the source: itself, or its text."""
    if missing(value) or missing(published):
        return (missing(value) and missing(published)) or (text_of_cell(value) == "" == text_of_cell(published))
    if type(value) is type(published):
        return bool(text_of_cell(value) == text_of_cell(published) or (isinstance(value, (float, np.floating)) and value == published))
    if not isinstance(published, str):
        if isinstance(value, str):
            return value == str(published)
        if isinstance(value, (bool, np.bool_)) != isinstance(published, (bool, np.bool_)):
            return False
        try:
            if isinstance(value, (np.float16, np.float32)) and isinstance(published, float):
                return bool(type(value)(published) == value)  # the same digits, in more bits
            return bool(value == published)
        except (TypeError, ValueError):
            return False
    if isinstance(value, str):
        return value == published
    if isinstance(value, (bool, np.bool_)):
        return published == str(bool(value))
    if isinstance(value, np.timedelta64):  # for numpy a kind of integer
        return published == text_of_cell(value)
    if isinstance(value, (int, np.integer)):
        return published == str(int(value))
    if isinstance(value, (float, np.floating)):
        try:
            return bool(type(value)(published) == value)
        except ValueError:
            return False
    if isinstance(value, np.datetime64):
        try:
            return bool(np.datetime64(published.replace(" ", "T")) == value)
        except ValueError:
            return False
    if isinstance(value, dt.datetime):
        head = re.sub(r"(\.\d{6})\d{3}", r"\1", published)
        try:
            return dt.datetime.fromisoformat(head) == (value.to_pydatetime(warn=False) if hasattr(value, "to_pydatetime") else value)
        except (ValueError, TypeError):
            return False
    if isinstance(value, dt.timedelta):
        return published.split("+")[0] == str(dt.timedelta(days=value.days, seconds=value.seconds, microseconds=value.microseconds))
    return published == text_of_cell(value)


def holds(published: Any, value: Any, order: dict[str, int], above: Mapping[str, set[str]] | None) -> bool:
    """Whether a published text is a sub-domain with the value in it: an interval, a range, a set, or a text above it in a hierarchy."""
    if not isinstance(published, str):
        return False
    text = "missing" if missing(value) else text_of_cell(value)
    if isinstance(value, (np.datetime64, dt.datetime, dt.timedelta)):
        text = next((word for word in pieces(published) if same_cell(value, word)), text)
    if above is not None and published in above.get(text, ()):
        return True
    if published.endswith(" or missing"):
        return missing(value) or same_cell(value, published[:-11]) or holds(published[:-11], value, order, above)
    if published.startswith("{") and published.endswith("}"):
        inner = published[1:-1]
        if any(is_element(inner, word) for word in (text, *(above.get(text, ()) if above is not None else ()))):
            return True
        # Of a table that was coarsened into intervals the elements are intervals.
        return any(is_element(inner, word) and holds(word, value, order, above) for word in re.findall(INTERVAL, inner))
    number = amount(text)
    bound = re.fullmatch(r"(>=|<) (.+)", published)
    if bound and number is not None:
        edge = amount(bound[2])
        return edge is not None and (number >= edge if bound[1] == ">=" else number < edge)
    half = re.fullmatch(r"\[([^;]+), ([^;]+)\)|\[(.+); (.+)\)", published)  # with decimal commas a semicolon stands between
    if half and number is not None:
        low, high = amount(half[1] or half[3]), amount(half[2] or half[4])
        return low is not None and high is not None and low <= number < high
    if published.startswith("[") and published.endswith("]"):
        for cut in places(published, " - "):
            left, right = published[1:cut], published[cut + 3 : -1]
            low, high = amount(left), amount(right)
            if number is not None and low is not None and high is not None:
                return low <= number <= high
            if left in order and right in order and text in order:
                return order[left] <= order[text] <= order[right]
    return False


def is_element(inner: str, word: str) -> bool:
    """Whether a word is one of those that stand in braces, between commas; words may hold commas."""
    return any(
        (at == 0 or inner[:at].endswith(", ")) and (at + len(word) == len(inner) or inner[at + len(word) :].startswith(", "))
        for at in places(inner, word)
    )


def pieces(published: str) -> list[str]:
    return re.split(r" - |, ", published.strip("[]{}"))


def places(text: str, part: str) -> list[int]:
    return [m.start() for m in re.finditer(f"(?={re.escape(part)})", text)]


def amount(text: str) -> Decimal | None:
    """A number's text, with a decimal point or a decimal comma."""
    text = text.strip()
    try:
        number = Decimal(text.replace(",", ".") if text.count(",") == 1 and "." not in text else text)
    except ArithmeticError:
        return None
    return number if number.is_finite() else None


def ancestors(tree: Any, column: Any) -> dict[str, set[str]]:
    """For each value the texts above it, from rows, nested dicts, a file or anything with such rows in `levels`."""
    above: dict[str, set[str]] = {"missing": {"missing"}}
    if tree == "auto" or hasattr(tree, "width") or (isinstance(tree, (list, tuple)) and tree and all(hasattr(bins, "width") for bins in tree)):
        return above  # intervals and ranges, which say themselves what they hold
    if isinstance(tree, (str, Path)):
        import csv

        with open(tree, newline="", encoding="utf-8-sig") as stream:
            tree = [row for row in csv.reader(stream, delimiter=";") if row]
    if hasattr(tree, "levels"):
        tree = list(tree.levels.values())
    if isinstance(tree, Mapping):

        def walk(part: Any, path: tuple[str, ...]) -> None:
            if isinstance(part, Mapping):
                for name, below in part.items():
                    walk(below, (*path, str(name)))
            else:
                for value in part:
                    above.setdefault(text_of_cell(value), set()).update(path)

        walk(tree, ())
        return above
    try:
        for row in tree:
            above.setdefault(text_of_cell(row[0]), set()).update(map(str, row[1:]))
    except (TypeError, IndexError) as error:
        raise InputError(f"hierarchy of {column!r}: neither rows nor nested dicts nor a file") from error
    return above


def sorted_texts(values: Sequence[Any], sort: bool) -> dict[str, int]:
    """The place of each value's text in the order of the values, for ranges."""
    present = [value for value in values if not missing(value)]
    try:
        present = sorted(present) if sort else present
    except TypeError:  # values without an order: their ranges hold what their texts say
        present = sorted(present, key=text_of_cell)
    order = {}
    for place, value in enumerate(present):
        order[text_of_cell(value)] = place
    return order
