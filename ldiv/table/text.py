"""When two values are the same: how a value is published, and who could take two values for one.

The rule (design, section 13): quasi-identifier values are told apart as finely as anyone could, by type, by equality and by text; sensitive
values are taken as one where anyone could take them as one. A union of l-eligible groups is l-eligible, and merging sensitive values only makes
the test stricter, so a release that is good at this reading is good at every other.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import math
import re
import unicodedata
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np

__all__ = ["MISSING_WORDS", "NUMBER", "alike", "is_missing", "merge_alike", "text_of"]

NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d{1,4})?")
COMMAS = str.maketrans({",": ".", ".": "?"})  # of a number with a decimal comma: one with a point is none then
MOMENT = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[-+]\d\d:?\d\d)?)?")
CLOCK = re.compile(r"(\d{1,2}):(\d\d)(:\d\d(\.0*)?)?")
INFINITY = re.compile(r"[-+]?inf(inity)?", re.IGNORECASE)
MISSING_KEY = ("text", "")
MISSING_WORDS = frozenset(  # what readers of files take for a missing value, in lower case
    ("", "na", "n/a", "nan", "-nan", "nat", "none", "null", "<na>", "#n/a", "#na", "#n/a n/a", "1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan")
)


def is_missing(value: Any) -> bool:
    """None, NaN, NaT, pandas' NA and numpy's masked constant."""
    if value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType"):
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # arrays and the like: not missing, and refused elsewhere
        return False


def text_of(value: Any) -> str:
    """How a value is published once its column holds a star: what Python's ``str`` prints of it, whatever library it came from.

    Numbers of 16 and 32 bits print as many digits as they need, ``30.0`` keeps its point, a moment is ``2020-01-01 10:30:00`` with its offset, a
    duration ``1 day, 0:01:30``.

    Examples
    --------
    >>> import numpy as np
    >>> text_of(np.float32(0.1)), text_of(30.0), text_of(np.datetime64("2020-01-01T10:30", "ns")), text_of(True)
    ('0.1', '30.0', '2020-01-01 10:30:00', 'True')
    """
    if isinstance(value, (np.float16, np.float32)):
        return str(float(str(value)))
    if isinstance(value, np.datetime64):
        return _moment(value)
    if isinstance(value, np.timedelta64):
        return _duration(value)
    if isinstance(value, dt.timedelta):
        nanoseconds = getattr(value, "nanoseconds", 0)
        plain = dt.timedelta(days=value.days, seconds=value.seconds, microseconds=value.microseconds)
        return str(plain) + (f"+{nanoseconds}ns" if nanoseconds else "")
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, bytearray):
        return bytes(value).hex()
    return str(value)


def _moment(value: np.datetime64) -> str:
    unit = np.datetime_data(value)[0]
    if unit in ("Y", "M", "W", "D"):
        return str(value.astype("datetime64[D]"))
    whole = str(value.astype("datetime64[s]")).replace("T", " ")
    nanoseconds = int((value - value.astype("datetime64[s]")).astype("timedelta64[ns]").astype(np.int64))
    if nanoseconds == 0:
        return whole
    return f"{whole}.{nanoseconds // 1000:06d}" if nanoseconds % 1000 == 0 else f"{whole}.{nanoseconds:09d}"


def _duration(value: np.timedelta64) -> str:
    nanoseconds = int(value.astype("timedelta64[ns]").astype(np.int64))
    rest = nanoseconds % 1000
    return str(dt.timedelta(microseconds=nanoseconds // 1000)) + (f"+{rest}ns" if rest else "")


def alike(value: Any) -> tuple[str, Any]:
    """What all values share that anyone could take for this one: numbers by amount (also those with a decimal comma), moments by instant, text without
    its margins, a missing one like empty text.

    Examples
    --------
    >>> len({alike(v) for v in (250, "250", 250.0, " 250", "2.5e2")}), alike(None) == alike(""), alike("flu") == alike("Flu")
    (1, True, False)
    """
    if is_missing(value):
        return MISSING_KEY
    if isinstance(value, (np.generic, np.ndarray)) and getattr(value, "dtype", np.dtype(object)).kind in "biufc":
        value = value.item()
    if isinstance(value, (bool, np.bool_)):
        return ("text", str(bool(value)))
    if isinstance(value, (int, float, Decimal)):
        return _number(value)
    text = unicodedata.normalize("NFC", text_of(value)).strip()
    if text.lower() in MISSING_WORDS:
        return MISSING_KEY
    if text[0] not in "+-.,0123456789tTfFiI":
        return ("text", text)
    if text.lower() in ("true", "false", "t", "f"):
        return ("text", {"t": "True", "f": "False"}[text[0].lower()])
    if NUMBER.fullmatch(text):
        return _number(Decimal(text))
    if "," in text and NUMBER.fullmatch(point := text.translate(COMMAS)):
        return _number(Decimal(point))
    if INFINITY.fullmatch(text):
        return ("number", -math.inf if text[0] == "-" else math.inf)
    if clock := CLOCK.fullmatch(text):
        return ("clock", (int(clock[1]), clock[2], (clock[3] or ":00")[1:3]))
    if found := MOMENT.fullmatch(text):
        try:
            moment = dt.datetime.fromisoformat(f"{found[1]}-{int(found[2]):02}-{int(found[3]):02}{found[4] or ''}")
        except ValueError:  # the 31st of February
            return ("text", text)
        # A reader may take a moment without an offset for one in UTC.
        return ("moment", (moment.astimezone(dt.UTC).replace(tzinfo=None) if moment.tzinfo else moment).isoformat())
    return ("text", text)


def _number(value: int | float | Decimal) -> tuple[str, Any]:
    """Equal amounts have equal keys. A reader's float is what is compared, so that 0.1 and the text 0.1 are one."""
    if isinstance(value, int):
        return ("number", value)
    if isinstance(value, float):
        return ("number", value if math.isinf(value) or value != int(value) else int(value))
    if not value.is_finite():
        return ("text", str(value))
    if value and value.adjusted() > 310:
        return ("number", math.copysign(math.inf, value))
    if not value or value.adjusted() < -330:
        return ("number", 0)
    return ("number", int(value)) if value == value.to_integral_value() else ("number", float(value))


def merge_alike(labels: Sequence[Any]) -> np.ndarray[Any, np.dtype[np.int32]]:
    """For each of some values the position of the first that anyone could take for it.

    Booleans equal 1 and 0 for Python and print as words, so where a column holds both readings all three are one.

    Examples
    --------
    >>> merge_alike(["1", 1, "x", 1.0, True, "true"]).tolist()
    [0, 0, 2, 0, 0, 0]
    """
    parent: dict[Any, Any] = {}

    def find(key: Any) -> Any:
        while parent.setdefault(key, key) != key:
            key = parent[key]
        return key

    keys = [alike(label) for label in labels]
    if any(key == MISSING_KEY or (key[0] == "number" and isinstance(key[1], float)) for key in keys):
        # Beside a fraction or a missing value readers make floats of whole numbers, and from 2**53 on several are one.
        keys = [("number", float(key[1])) if key[0] == "number" and 2**53 <= abs(key[1]) < math.inf else key for key in keys]
    for label, key in zip(labels, keys, strict=True):
        if isinstance(label, (bool, np.bool_)):
            parent[find(("number", int(label)))] = find(key)
        if is_missing(label):
            continue
        # Equal and printed apart, or printed alike and different: either makes one of two.
        parent[find(("text", text_of(label)))] = find(key)
        if not isinstance(label, str):
            with contextlib.suppress(TypeError):
                hash(label)
                parent[find(("value", label))] = find(key)
    first: dict[Any, int] = {}
    return np.array([first.setdefault(find(key), place) for place, key in enumerate(keys)], dtype=np.int32)
