"""The release against its source, from what is published alone: trusts nothing, and shares no code with what makes releases."""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.errors import InputError, MissingColumnError
from ldiv.frames import named

__all__ = ["Verdict", "verify"]

MOST_PAIRS = 30_000_000     # candidate pairs of rows that a matching may look at
MOST_FAULTS = 20


@dataclass(frozen=True)
class Verdict:
    """What :func:`verify` found; true where the release is one of its source and l-diverse.

    Attributes
    ----------
    faults : list of str
        What is wrong, by column and row; empty for a good release.
    qi, sensitive : list
        The columns that were judged.
    unchanged, dropped : list
        Other columns of the source: published as they are, and left out.
    rows, groups : int
    l, k : int
        What was asked for.
    max_l, smallest : int
        The largest l that holds in every group, of the sensitive column that is worst, and the smallest group; 0 without rows.
    stars_by_attribute : dict
        Starred cells of each QI column.
    in_order : bool
        Whether row i of the release is row i of the source; else the rows were matched.
    """

    faults: list[str]
    qi: list[Any]
    sensitive: list[Any]
    unchanged: list[Any]
    dropped: list[Any]
    rows: int
    groups: int
    l: int
    k: int
    max_l: int
    smallest: int
    stars_by_attribute: dict[Any, int] = field(default_factory=dict)
    in_order: bool = True

    @property
    def stars(self) -> int:
        """Starred cells."""
        return sum(self.stars_by_attribute.values())

    def __bool__(self) -> bool:
        return not self.faults

    def __str__(self) -> str:
        judged = f"QI {', '.join(map(str, self.qi))}; sensitive {', '.join(map(str, self.sensitive))}"
        if self.faults:
            return f"no ({judged}): " + "; ".join(self.faults)
        order = "in their order" if self.in_order else "in another order"
        return (f"yes ({judged}): {self.rows:,} rows {order}, {self.groups:,} QI-groups, l-diverse up to {self.max_l}, "
                f"smallest group {self.smallest:,}, {self.stars:,} stars")


def verify(
    source: Any, released: Any, qi: Sequence[Any], sensitive: Any, l: int, *, k: int = 1, star: str | None = "*",
    hierarchies: Mapping[Any, Any] | None = None, orders: Mapping[Any, Sequence[Any]] | None = None,
    rows: NDArray[np.integer] | None = None, reading: Mapping[str, Any] | None = None,
) -> Verdict:
    """Whether `released` is a truthful, l-diverse release of `source`.

    Every row of the source is there once; QI cells are the source's, a star, or a sub-domain that holds the source's value; other columns
    are unchanged (or left out); in every group of rows with equal published QI values at most 1/l share a sensitive value.

    Parameters
    ----------
    source, released : tables or paths
        Any table that :func:`ldiv.anonymize` takes, or a CSV or Parquet file. `source` is the table as it was given, or as it was coarsened.
    qi : sequence of columns
    sensitive : column or sequence of columns
        Each is judged by itself.
    l : int
    k : int, default 1
        The least size of a group.
    star : str or None
        What a suppressed cell shows; None for a null.
    hierarchies : mapping of column to tree, optional
        Rows (value first), nested dicts or files of hierarchies whose texts may stand in place of values.
    orders : mapping of column to values in order, optional
        For ranges of an attribute whose order is not that of its values; ordered categories bring theirs.
    rows : ndarray of int, shape (n,), optional
        Which row of the source each released row claims to be. Default: the same order, or else any order in which every released row
        finds a source row of its own.
    reading : mapping, optional
        Options for reading files, as :func:`ldiv.files.read_table` takes them.

    Returns
    -------
    Verdict
        Truthy where all holds; ``.faults`` says what does not.

    Raises
    ------
    InputError
        Columns that are in neither table, or files that cannot be read.

    Notes
    -----
    Sensitive values count as one where anyone could take them as one, published QI values are told apart as finely as anyone could. O(n d) with
    the rows in order; in another order a maximum flow decides, exactly, whether the rows can be matched.

    Examples
    --------
    >>> import ldiv
    >>> source = {"Age": [30, 30, 40, 50], "Disease": ["flu", "cold", "flu", "cough"]}
    >>> released = {"Age": ["30", "30", "*", "*"], "Disease": ["flu", "cold", "flu", "cough"]}
    >>> print(ldiv.verify(source, released, ["Age"], "Disease", 2))
    yes (QI Age; sensitive Disease): 4 rows in their order, 2 QI-groups, l-diverse up to 2, smallest group 2, 2 stars
    >>> print(ldiv.verify(source, {**released, "Age": ["30", "30", "30", "*"]}, ["Age"], "Disease", 2))
    no (QI Age; sensitive Disease): row 2, column 'Age': '30' is published where the source has 40; ...
    """
    for name, value in (("l", l), ("k", k)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
            raise InputError(f"{name} must be a whole number of at least 1, not {value!r}")
    if star is not None and not isinstance(star, str):
        raise InputError(f"star must be text or None, not {star!r}")
    before, after = _Columns(source, reading), _Columns(released, reading)
    qi = named(qi, before.names, "qi")
    targets = named(sensitive, before.names, "sensitive")
    for name in [*qi, *targets]:
        for table in (before, after):
            if name not in table.names:
                raise MissingColumnError(name, table.names)
    if not qi or not targets:
        raise InputError("name at least one quasi-identifier and one sensitive column")
    others = [name for name in before.names if name not in qi and name not in targets]
    unchanged, dropped = [n for n in others if n in after.names], [n for n in others if n not in after.names]
    faults = [f"column {name!r} is not in the source" for name in after.names if name not in before.names]
    column = {name: after.read(name) for name in [*qi, *targets]}
    stars: dict[Any, int] = dict.fromkeys(qi, 0)
    in_order = True
    if after.rows != before.rows:
        faults.append(f"{after.rows:,} rows are published, the source has {before.rows:,}")
    else:
        for name, order in (orders or {}).items():
            if name in before.names:
                before.read(name).order = order
        recoded = {name: _Recoding(before.read(name), column[name], star, (hierarchies or {}).get(name), name) for name in qi}
        rest = [name for name in [*targets, *unchanged] if not (rows is None and before.same(after, name))]
        same = {name: _Recoding(before.read(name), column[name] if name in column else after.read(name), False, None, name) for name in rest}
        place = None if rows is None else np.asarray(rows)
        if place is not None and not np.array_equal(np.sort(place), np.arange(before.rows)):
            raise InputError("rows must name every row of the source once")
        found = [fault for one in [*same.values(), *recoded.values()] for fault in one.faults(place)]
        if found and place is None:
            rest = [name for name in [*targets, *unchanged] if name not in same]
            same |= {name: _Recoding(before.read(name), after.read(name), False, None, name) for name in rest}
            problem = _match(list(same.values()), list(recoded.values()))
            in_order = problem is not None
            found = [*found[:MOST_FAULTS - 1], problem] if problem else []
        faults += found
        stars = {name: one.stars(place) for name, one in recoded.items()}
    groups, smallest, largest = _groups([column[name] for name in qi], [column[name] for name in targets])
    if after.rows and largest[0] < l:
        g, size, height, which, value = largest[1]
        where = ", ".join(f"{name}={_shown(column[name].value_at(g))}" for name in qi)
        faults.append(f"{where}: {height:,} of {size:,} rows have {targets[which]}={_shown(value)}, more than 1/{l}; {largest[2]:,} groups are not {l}-diverse")
    if after.rows and smallest < k:
        faults.append(f"a group has {smallest:,} rows, fewer than {k}")
    return Verdict(faults[:MOST_FAULTS], qi, targets, unchanged, dropped, after.rows, groups, int(l), int(k), largest[0], smallest, stars, in_order)


# -- reading what is published -------------------------------------------------------------------------------------------


@dataclass
class _Column:
    """Codes of rows and the distinct values behind them; the values of a source are told apart by type and text."""

    codes: NDArray[np.int64]
    values: list[Any]
    order: Sequence[Any] | None = None      # of categories, where it is not that of the values

    def value_at(self, row: int) -> Any:
        return self.values[self.codes[row]]


class _Columns:
    """A table of any kind, column by column."""

    def __init__(self, table: Any, reading: Mapping[str, Any] | None) -> None:
        if isinstance(table, (str, Path)):
            from ldiv.files import read_table       # pyarrow is only needed for files

            table = read_table(table, **(reading or {}))
        self.seen: dict[Any, _Column] = {}
        if isinstance(table, Mapping):
            self.raw = dict(table)
            self.names = list(table)
            self.rows = len(next(iter(self.raw.values()))) if self.raw else 0
            return
        import narwhals.stable.v2 as nw

        try:
            frame = nw.from_native(table)
        except TypeError as error:
            raise InputError(f"cannot read a {type(table).__name__} as a table") from error
        frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        self.raw = {name: frame.get_column(name) for name in frame.columns}
        self.names = list(frame.columns)
        self.rows = len(frame)

    def same(self, other: _Columns, name: Any) -> bool:
        """Whether two columns are equal at a glance; False where a closer look is needed."""
        a, b = self.raw[name], other.raw[name]
        try:
            if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
                return a.dtype == b.dtype and a.dtype.kind in "iubUM" and np.array_equal(a, b)
            if a.dtype != b.dtype or a.is_null().any() or b.is_null().any() or a.dtype.is_float():
                return False
            return bool((a.to_native() == b.to_native()).all()) if hasattr(a.to_native(), "all") else a.to_native().equals(b.to_native())
        except Exception:           # whatever a library says of such a comparison, the slow way decides
            return False

    def read(self, name: Any) -> _Column:
        if name not in self.seen:
            self.seen[name] = _encode(self.raw[name])
            categories = getattr(getattr(self.raw[name], "dtype", None), "categories", None)        # an Enum, or ordered categories of pandas
            if categories is None and hasattr(self.raw[name], "to_native") and hasattr(native := self.raw[name].to_native(), "cat"):
                categories = native.cat.categories.tolist() if getattr(native.cat, "ordered", False) else None
            self.seen[name].order = None if categories is None else list(categories)
        return self.seen[name]


def _encode(raw: Any) -> _Column:
    """Distinct values by type and text, and where each stands."""
    array = _array(raw)
    if isinstance(array, np.ma.MaskedArray):
        array = np.array([None if hidden else value for value, hidden in zip(array.data.tolist(), np.ma.getmaskarray(array), strict=True)], dtype=object)
    if isinstance(array, np.ndarray) and array.dtype.kind in "iu" and len(array):
        low, high = int(array.min()), int(array.max())
        if high - low < 1 << 20:
            codes = array.astype(np.int64) - low
            seen = np.bincount(codes, minlength=high - low + 1) > 0
            return _Column((np.cumsum(seen) - 1)[codes], [int(v) + low for v in np.flatnonzero(seen)])
    if isinstance(array, np.ndarray) and array.dtype.kind in "iubfM":
        distinct, codes = np.unique(array, return_inverse=True)
        return _Column(codes.astype(np.int64), list(distinct) if array.dtype.kind in "Mf" else distinct.tolist())
    if isinstance(array, tuple):
        return _Column(*array)
    listed = array.tolist() if isinstance(array, np.ndarray) else list(array)
    seen_values: dict[Any, int] = {}
    values: list[Any] = []
    codes = np.empty(len(listed), dtype=np.int64)
    for row, value in enumerate(listed):
        key = value if type(value) is str else (type(value), _text(value))
        code = seen_values.setdefault(key, len(values))
        if code == len(values):
            values.append(value)
        codes[row] = code
    return _Column(codes, values)


def _array(raw: Any) -> Any:
    if isinstance(raw, np.ndarray):
        return raw
    if not hasattr(raw, "to_native"):
        import narwhals.stable.v2 as nw

        try:
            raw = nw.from_native(raw, series_only=True)
        except TypeError:
            return raw
    import narwhals.stable.v2 as nw

    if raw.dtype == nw.String:
        try:
            import pyarrow as pa
        except ImportError:
            return raw.to_list()
        try:
            column = raw.to_arrow().cast(pa.large_string()).dictionary_encode()
        except (pa.ArrowException, UnicodeError):
            return raw.to_list()
        column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        column = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
        words = column.dictionary.to_pylist()
        return column.indices.fill_null(len(words)).to_numpy(zero_copy_only=False).astype(np.int64), [*words, None]
    if raw.dtype.is_integer() and raw.dtype not in (nw.Int128, nw.UInt128) and not raw.is_null().any():
        return raw.to_numpy()
    if raw.dtype in (nw.Float32, nw.Float64) and not raw.is_null().any():
        return raw.to_numpy()
    if raw.dtype == nw.Datetime and raw.dtype.time_zone is None:
        return raw.to_numpy()           # to the nanosecond
    return raw.to_list()


# -- what a cell says ----------------------------------------------------------------------------------------------------


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType", "MaskedConstant"):
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return False


def _text(value: Any) -> str:
    return "" if _is_missing(value) else value.hex() if isinstance(value, (bytes, bytearray)) else str(value)


def _shown(value: Any) -> str:
    text = repr(value if not isinstance(value, np.generic) else value.item()) if not isinstance(value, np.datetime64) else str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _equal(value: Any, published: Any) -> bool:
    """Whether a published cell is a value of the source: itself, or its text."""
    if _is_missing(value) or _is_missing(published):
        return (_is_missing(value) and _is_missing(published)) or (_text(value) == "" == _text(published))
    if type(value) is type(published):
        return bool(_text(value) == _text(published) or (isinstance(value, (float, np.floating)) and value == published))
    if not isinstance(published, str):
        if isinstance(value, str):
            return value == str(published)
        if isinstance(value, (bool, np.bool_)) != isinstance(published, (bool, np.bool_)):
            return False
        try:
            return bool(value == published)
        except (TypeError, ValueError):
            return False
    if isinstance(value, str):
        return value == published
    if isinstance(value, (bool, np.bool_)):
        return published == str(bool(value))
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
    return published == _text(value)


def _holds(published: Any, value: Any, order: dict[str, int], above: Mapping[str, set[str]] | None) -> bool:
    """Whether a published text is a sub-domain with the value in it: an interval, a range, a set, or a text above it in a hierarchy."""
    if not isinstance(published, str):
        return False
    text = "missing" if _is_missing(value) else _text(value)
    if isinstance(value, (np.datetime64, dt.datetime, dt.timedelta)):
        text = next((word for word in _pieces(published) if _equal(value, word)), text)
    if above is not None and published in above.get(text, ()):
        return True
    if published.endswith(" or missing"):
        return _is_missing(value) or _equal(value, published[:-11]) or _holds(published[:-11], value, order, above)
    if published.startswith("{") and published.endswith("}"):
        inner = published[1:-1]
        return any(inner[at:at + len(text)] == text and inner[:at].endswith(", ") in (True,) or at == 0 and inner.startswith(text)
                   for at in _places(inner, text) if inner[at + len(text):] == "" or inner[at + len(text):].startswith(", "))
    number = _amount(text)
    bound = re.fullmatch(r"(>=|<) (.+)", published)
    if bound and number is not None:
        edge = _amount(bound[2])
        return edge is not None and (number >= edge if bound[1] == ">=" else number < edge)
    half = re.fullmatch(r"\[(.+), (.+)\)", published)
    if half and number is not None:
        low, high = _amount(half[1]), _amount(half[2])
        return low is not None and high is not None and low <= number < high
    if published.startswith("[") and published.endswith("]"):
        for cut in _places(published, " - "):
            left, right = published[1:cut], published[cut + 3:-1]
            low, high = _amount(left), _amount(right)
            if number is not None and low is not None and high is not None:
                return low <= number <= high
            if left in order and right in order and text in order:
                return order[left] <= order[text] <= order[right]
    return False


def _pieces(published: str) -> list[str]:
    return re.split(r" - |, ", published.strip("[]{}"))


def _places(text: str, part: str) -> list[int]:
    return [m.start() for m in re.finditer(f"(?={re.escape(part)})", text)]


def _amount(text: str) -> Decimal | None:
    try:
        number = Decimal(text.strip())
    except ArithmeticError:
        return None
    return number if number.is_finite() else None


def _ancestors(tree: Any, column: Any) -> dict[str, set[str]]:
    """For each value the texts above it, from rows, nested dicts, a file or anything with such rows in `levels`."""
    above: dict[str, set[str]] = {"missing": {"missing"}}
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
                    above.setdefault(_text(value), set()).update(path)

        walk(tree, ())
        return above
    try:
        for row in tree:
            above.setdefault(_text(row[0]), set()).update(map(str, row[1:]))
    except (TypeError, IndexError) as error:
        raise InputError(f"hierarchy of {column!r}: neither rows nor nested dicts nor a file") from error
    return above


class _Recoding:
    """What a column publishes for which values of the source, pair by pair of distinct values."""

    def __init__(self, source: _Column, published: _Column, star: Any, tree: Any, name: Any) -> None:
        self.source, self.published, self.name, self.star = source, published, name, star
        self.above = None if tree is None else _ancestors(tree, name)
        self.order: dict[str, int] | None = None
        self.known: dict[tuple[int, int], bool] = {}
        self.is_star = np.array([star is not False and (_is_missing(x) if star is None else isinstance(x, str) and x == star) for x in published.values] or [False])

    def admits(self, a: int, b: int) -> bool:
        """Whether source value a may be published as b."""
        if (a, b) not in self.known:
            value, text = self.source.values[a], self.published.values[b]
            good = bool(self.is_star[b]) or _equal(value, text)
            if not good and self.star is not False:
                if self.order is None:
                    self.order = _sorted_texts(self.source.values if self.source.order is None else self.source.order, self.source.order is None)
                good = _holds(text, value, self.order, self.above)
            self.known[a, b] = good
        return self.known[a, b]

    def stars(self, place: NDArray[Any] | None) -> int:
        """Cells that show a star and are none in the source."""
        shown = int(self.is_star[self.published.codes].sum()) if len(self.published.codes) else 0
        own = [k for k, x in enumerate(self.source.values) if (_is_missing(x) if self.star is None else _text(x) == self.star)]
        return max(shown - int(np.isin(self.source.codes, own).sum()), 0) if own else shown

    def faults(self, place: NDArray[Any] | None) -> list[str]:
        """The first row of each pair that must not be, worst columns in a line each."""
        codes = self.source.codes if place is None else self.source.codes[place]
        width = max(len(self.published.values), 1)
        key = codes * width + self.published.codes
        if len(self.source.values) * width <= 4 * len(key) + 1000:
            pairs = np.flatnonzero(np.bincount(key, minlength=1))
        else:
            pairs = np.unique(key)
        bad = [pair for pair in pairs.tolist() if not self.admits(*divmod(pair, width))]
        if not bad:
            return []
        wrong = np.isin(key, bad)
        row = int(np.flatnonzero(wrong)[0])
        more = f" ({int(wrong.sum()):,} such cells)" if wrong.sum() > 1 else ""
        return [f"row {row}, column {self.name!r}: {_shown(self.published.value_at(row))} is published where the source has "
                f"{_shown(self.source.values[codes[row]])}{more}"]


def _sorted_texts(values: Sequence[Any], sort: bool) -> dict[str, int]:
    """The place of each value's text in the order of the values, for ranges."""
    present = [value for value in values if not _is_missing(value)]
    try:
        present = sorted(present) if sort else present
    except TypeError:                       # values without an order: their ranges hold what their texts say
        present = sorted(present, key=_text)
    order = {}
    for place, value in enumerate(present):
        order[_text(value)] = place
        if isinstance(value, (np.datetime64, dt.datetime)):
            order[_text(value).replace("T", " ")] = place
    return order


# -- rows in another order -----------------------------------------------------------------------------------------------


def _match(rest: list[_Recoding], qi: list[_Recoding]) -> str | None:
    """None where every released row can be given a source row of its own, else what stands in the way.

    Rows alike are one kind; a fully visible kind can only be its own source; for the others a maximum flow from source kinds to released kinds
    decides.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    n = len(qi[0].source.codes)
    left, right = [], []
    for one in rest:                        # other columns: the same value on both sides
        texts: dict[Any, int] = {}
        left.append(np.array([texts.setdefault(_key(v), len(texts)) for v in one.source.values] or [0])[one.source.codes])
        right.append(np.array([texts.setdefault(_key(v), len(texts)) for v in one.published.values] or [0])[one.published.codes])
    shown = []
    for one in qi:
        texts = {_key(v): code for code, v in enumerate(one.source.values)}
        shown.append(np.array([-1 if star else texts.get(_key(v), -2 - code) for code, (v, star) in enumerate(
            zip(one.published.values, one.is_star[:len(one.published.values)], strict=True))] or [0])[one.published.codes])
    a = np.column_stack([_ranked(left, right)[:n], *(one.source.codes for one in qi)])
    b = np.column_stack([_ranked(left, right)[n:], *shown])
    kinds_a, count_a = np.unique(a, axis=0, return_counts=True)
    kinds_b, count_b = np.unique(b, axis=0, return_counts=True)
    whole = (kinds_b[:, 1:] >= 0).all(axis=1)
    both, at = np.unique(np.concatenate([kinds_a, kinds_b[whole]]), axis=0, return_inverse=True)
    at = at.ravel()
    left_over = np.zeros(len(both), dtype=np.int64)
    left_over[at[:len(kinds_a)]] += count_a
    left_over[at[len(kinds_a):]] -= count_b[whole]
    if (left_over < 0).any():
        return "a row is published that the source does not have, or more often than there"
    kinds_a, count_a = both[left_over > 0], left_over[left_over > 0]
    kinds_b, count_b = kinds_b[~whole], count_b[~whole]
    if not len(kinds_b):
        return None
    heads, tails = [], []
    patterns, pattern = np.unique(kinds_b[:, 1:] >= 0, axis=0, return_inverse=True)
    for p, kept in enumerate(patterns):
        members = np.flatnonzero(pattern.ravel() == p)
        columns = np.append(True, kept)
        joint, place = np.unique(np.concatenate([kinds_a[:, columns], kinds_b[members][:, columns]]), axis=0, return_inverse=True)
        place = place.ravel()
        ours, theirs = place[:len(kinds_a)], place[len(kinds_a):]
        order = np.argsort(ours, kind="stable")
        low, high = np.searchsorted(ours[order], theirs), np.searchsorted(ours[order], theirs, side="right")
        if sum(map(len, heads)) + int((high - low).sum()) > MOST_PAIRS:
            raise InputError("too many rows could stand for each other to match them: publish the rows in their order, or pass rows=")
        tail = np.repeat(members, high - low)
        head = order[np.arange((high - low).sum()) - np.repeat(np.cumsum(high - low) - (high - low), high - low) + np.repeat(low, high - low)]
        for j, one in enumerate(qi):        # a sub-domain must hold the value
            special = kinds_b[tail, 1 + j] <= -2
            if special.any():
                pairs = np.unique(np.column_stack([kinds_a[head[special], 1 + j], -2 - kinds_b[tail[special], 1 + j]]), axis=0)
                bad = {(x, y) for x, y in pairs.tolist() if not one.admits(x, y)}
                keep = ~special
                keep[special] = [pair not in bad for pair in zip(kinds_a[head[special], 1 + j].tolist(), (-2 - kinds_b[tail[special], 1 + j]).tolist(), strict=True)]
                head, tail = head[keep], tail[keep]
        heads.append(head)
        tails.append(tail)
    head, tail = np.concatenate(heads), np.concatenate(tails)
    nodes = 2 + len(kinds_a) + len(kinds_b)
    sources, targets = np.arange(len(kinds_a)), np.arange(len(kinds_b))
    graph = csr_array((
        np.concatenate([count_a, np.minimum(count_a[head], count_b[tail]), count_b]).astype(np.int32),
        (np.concatenate([np.zeros(len(sources), int), 2 + head, 2 + len(kinds_a) + targets]),
         np.concatenate([2 + sources, 2 + len(kinds_a) + tail, np.ones(len(targets), int)]))), shape=(nodes, nodes))
    flow = maximum_flow(graph, 0, 1).flow_value
    total = int(count_b.sum())
    return None if flow == total else f"{total - int(flow):,} released rows find no source row of their own, in whatever order"


def _key(value: Any) -> Any:
    """Equal for values of the source and of the release that are the same cell."""
    if _is_missing(value):
        return ""
    if isinstance(value, (float, np.floating)):
        return str(value + type(value)(0))
    if isinstance(value, np.datetime64):
        return str(value.astype("datetime64[ns]"))
    return _text(value)


def _ranked(left: list[NDArray[Any]], right: list[NDArray[Any]]) -> NDArray[Any]:
    """One number for all the other columns together, over both tables."""
    n = len(left[0]) + len(right[0])
    rank = np.zeros(n, dtype=np.int64)
    for a, b in zip(left, right, strict=True):
        both = np.concatenate([a, b])
        rank = np.unique(rank * (int(both.max(initial=0)) + 1) + both, return_inverse=True)[1].ravel()
    return rank


# -- groups --------------------------------------------------------------------------------------------------------------


def _groups(qi: list[_Column], targets: list[_Column]) -> tuple[int, int, tuple[int, Any, int]]:
    """QI-groups, the least size, and (the largest l that holds, the worst group, how many groups fall short of it)."""
    rows = len(qi[0].codes)
    if not rows:
        return 0, 0, (0, None, 0)
    key = np.zeros(rows, dtype=np.int64)
    size = 1
    for column in qi:
        width = max(len(column.values), 1)
        if size * width >= 1 << 62:
            key = np.unique(key, return_inverse=True)[1].ravel()
            size = int(key.max()) + 1
        key = key * width + column.codes
        size *= width
    worst: tuple[int, Any, int] = (rows + 1, None, 0)
    groups = smallest = 0
    for which, column in enumerate(targets):
        number = _one_of(column.values)
        value = number[column.codes]
        width = int(number.max(initial=0)) + 1
        if size * width >= 1 << 62:
            key = np.unique(key, return_inverse=True)[1].ravel()
            size = int(key.max()) + 1
        pair = key * width + value
        pair.sort()
        starts = np.flatnonzero(np.append(True, pair[1:] != pair[:-1]))
        count = np.diff(np.append(starts, rows))
        group = pair[starts] // width
        heads = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
        total, height = np.add.reduceat(count, heads), np.maximum.reduceat(count, heads)
        groups, smallest = len(heads), int(total.min())
        least = int((total // height).min())
        if least < worst[0]:
            g = int(np.argmin(total / height))
            inside = slice(heads[g], heads[g + 1] if g + 1 < len(heads) else None)
            pillar = int(pair[starts[inside][int(np.argmax(count[inside]))]] % width)
            row = int(np.flatnonzero(key == group[heads[g]])[0])
            worst = (least, (row, int(total[g]), int(height[g]), which, column.values[int(np.flatnonzero(number == pillar)[0])]),
                     int((total // height <= least).sum()))
    return groups, smallest, worst


def _one_of(values: list[Any]) -> NDArray[np.int64]:
    """Numbers for sensitive values; the same one for all that anyone could take for one: equal, printed alike, a number however it is written,
    missing or empty."""
    parent: dict[Any, Any] = {}

    def root(key: Any) -> Any:
        while parent.setdefault(key, key) != key:
            key = parent[key]
        return key

    own = []
    for value in values:
        text = unicodedata.normalize("NFC", _text(value)).strip()
        amount = _amount(text) if re.fullmatch(r"[-+.\deE]+", text) else None
        key: Any = ("text", text) if amount is None else ("number", float(amount)) if abs(amount) < 2**53 else ("number", str(amount.normalize()))
        own.append(key)
        if not isinstance(value, str):
            parent[root(("plain", _text(value)))] = root(key)
            try:
                parent[root(("value", hash(value), value))] = root(key)
            except TypeError:
                pass
            if isinstance(value, (bool, np.bool_)):
                parent[root(("number", float(value)))] = root(key)
    number: dict[Any, int] = {}
    return np.array([number.setdefault(root(key), len(number)) for key in own] or [0], dtype=np.int64)
