"""Dataframes at the door: columns to codes, published values back to columns. The only module that knows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ldiv.errors import InputError

if TYPE_CHECKING:
    import narwhals as nw


@dataclass(frozen=True)
class Change:
    """What happens to a column: -1 in `text` keeps a row's cell, k >= 0 replaces it by ``texts[k]``.

    `codes` are the column's codes as it was encoded: cells with equal codes are equal, so that each value is turned into text once.
    """

    codes: NDArray[np.int32]
    text: NDArray[np.int32]
    texts: list[str | None]


Encoded = tuple[NDArray[np.int32], list[Any], bool]
MASK = "ldiv: kept"      # name of a passing column


def open_frame(frame: Any) -> Source:
    """Wrap whatever tabular thing the user has."""
    if isinstance(frame, Source):
        return frame
    if isinstance(frame, Mapping):
        return ArrayDict(frame)
    if type(frame).__module__.startswith("pandas") and hasattr(frame, "columns"):
        doubled = frame.columns[frame.columns.duplicated()]
        if len(doubled):
            raise InputError(f"column name {doubled[0]!r} stands twice in the table: rename one of them")
    global nw       # imported when a table is first opened: codes need no dataframes, and it takes half as long to import as numpy
    import narwhals as nw

    try:
        wrapped = nw.from_native(frame)
    except TypeError as error:
        raise InputError(
            f"cannot read a {type(frame).__name__}: pass a pandas, polars or pyarrow table, a polars LazyFrame, a DuckDB relation, an Ibis "
            "table, or a dict of arrays"
        ) from error
    return Collected(wrapped) if isinstance(wrapped, nw.LazyFrame) else Table(wrapped)


class Source:
    """A table that can encode its columns and write a published copy of itself."""

    columns: Sequence[Any]
    rows: int

    def encode(self, name: str) -> Encoded:
        """Codes by sorted value, the values (a missing one last, as None), and whether their order means something."""
        raise NotImplementedError

    def publish(self, changes: Mapping[str, Change]) -> Any:
        """A copy with changed columns."""
        raise NotImplementedError


class ArrayDict(Source):
    """A dict of equally long arrays."""

    def __init__(self, frame: Mapping[str, Any]) -> None:
        self.arrays = {name: np.asarray(values) for name, values in frame.items()}
        self.columns = list(self.arrays)
        lengths = {name: len(values) for name, values in self.arrays.items() if values.ndim == 1}
        wrong = next((name for name in self.columns if name not in lengths), None)
        if wrong is not None:
            raise InputError(f"column {wrong!r} must be one-dimensional, not of shape {self.arrays[wrong].shape}")
        if len(set(lengths.values())) > 1:
            raise InputError(f"columns differ in length: {lengths}")
        self.rows = next(iter(lengths.values()), 0)

    def encode(self, name: str) -> Encoded:
        values = self.arrays[name]
        if values.dtype.kind == "O":
            return encode_objects(values.tolist(), name)
        missing = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), bool)
        if values.dtype.kind in "mM":
            missing = np.isnat(values)
        return encode_sortable(values, missing, values.dtype.kind != "U")

    def publish(self, changes: Mapping[str, Change]) -> dict[str, Any]:
        out = {name: values.copy() for name, values in self.arrays.items()}
        for name, change in changes.items():
            text, texts = change.text, change.texts
            kept, values = text < 0, _plus_zero(self.arrays[name])
            if None in texts or values.dtype.kind == "O":
                column = values.astype(object)
                column[~kept] = np.array([*texts, None], dtype=object)[text[~kept]]
            else:
                column = np.where(kept, values.astype(str), np.array([*texts, ""])[text])
            out[name] = column
        return out


class Table(Source):
    """A pandas, polars, pyarrow, ... table, through narwhals."""

    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        self.frame = frame
        self.columns = list(frame.columns)
        self.rows = len(frame)

    def encode(self, name: str) -> Encoded:
        series = self.frame.get_column(name)
        if series.dtype in (nw.Categorical, nw.Enum):
            return self.encode_categorical(series)
        if series.dtype == nw.Object or isinstance(series.dtype, (nw.Decimal, nw.Unknown, nw.Binary)):
            return encode_objects(series.to_list(), name)
        missing = series.is_null()
        if series.dtype.is_float():
            missing = missing | series.is_nan().fill_null(True)
        absent = missing.to_numpy().astype(bool)
        present = series.filter(~missing) if absent.any() else series
        if series.dtype == nw.String:
            found = encode_arrow_text(series)
            if found is not None:
                return found
            labels = sorted(present.unique().to_list())
            codes = np.full(self.rows, len(labels), dtype=np.int32)
            if labels:
                codes[~absent] = present.replace_strict(
                    labels, list(range(len(labels))), return_dtype=nw.Int32
                ).to_numpy()
            return codes, [*labels, None] if absent.any() else labels, False
        if series.dtype in (nw.List, nw.Array, nw.Struct):
            raise InputError(f"column {name!r} holds {series.dtype}: a quasi-identifier must hold single values")
        codes, labels, _ = encode_sortable(present.to_numpy(), np.zeros(len(present), bool), True)
        if absent.any():
            filled = np.full(self.rows, len(labels), dtype=np.int32)
            filled[~absent] = codes
            return filled, [*labels, None], True
        return codes, labels, True

    def encode_categorical(self, series: nw.Series[Any]) -> Encoded:
        native = series.to_native()
        if self.frame.implementation.is_pandas_like():
            positions = native.cat.codes.to_numpy().astype(np.int64)
            categories, ordered = native.cat.categories.tolist(), bool(native.cat.ordered)
        else:
            if self.frame.implementation.is_pyarrow():
                native = native.cast(native.type.value_type)
                plain = Table(nw.from_native({"x": native}["x"], series_only=True).to_frame())
            else:
                plain = Table(series.cast(nw.String).to_frame())
            codes, labels, ordered = plain.encode(plain.columns[0])
            if not isinstance(series.dtype, nw.Enum):
                return codes, labels, ordered
            rank = {value: place for place, value in enumerate(series.dtype.categories)}
            categories = [value for value in labels if value is not None]
            positions = np.where(codes == len(categories), -1, codes).astype(np.int64)
            by_rank = sorted(range(len(categories)), key=lambda k: rank[categories[k]])
            return _compress(positions, categories, by_rank, True)
        if ordered:
            return _compress(positions, categories, list(range(len(categories))), True)
        place, _, ordered = encode_objects(categories, str(series.name))
        return _compress(positions, categories, np.argsort(place).tolist(), ordered)

    def publish(self, changes: Mapping[str, Change]) -> Any:
        out = self.frame
        for name, change in changes.items():
            out = out.with_columns(self.published_column(name, change))
        return (out.clone() if out is self.frame else out).to_native()

    def published_column(self, name: str, change: Change) -> nw.Series[Any]:
        text, texts = change.text, change.texts
        column = self.frame.get_column(name)
        dtype = column.dtype
        kept = text < 0
        if dtype.is_float():
            column = column + 0.0        # -0.0 and 0.0 are one value and must be published as one
        if texts != [None]:
            if dtype == nw.Object:
                values = column.to_list()
                for row in np.flatnonzero(~kept):
                    values[row] = texts[text[row]]
                native = self.frame.get_column(name).to_native().copy()
                native[:] = values
                return nw.from_native(native, series_only=True)
            if dtype in (nw.Categorical, nw.Enum) and self.frame.implementation.is_pandas_like():
                native = column.to_native()
                fresh = [t for t in texts if t not in native.cat.categories]
                positions = {value: k for k, value in enumerate([*native.cat.categories, *fresh])}
                codes = np.where(kept, native.cat.codes.to_numpy(), np.array([positions[t] for t in texts])[text])
                native = native.cat.add_categories(fresh)
                again = type(native.array).from_codes(codes, dtype=native.dtype)
                return nw.from_native(type(native)(again, index=native.index, name=native.name), series_only=True)
            new = self.looked_up(column, change)
            return new.cast(nw.Categorical()) if dtype in (nw.Categorical, nw.Enum) else new
        frame = column.to_frame().with_columns(nw.new_series(MASK, kept, nw.Boolean, backend=self.frame.implementation))
        return frame.select(nw.when(nw.col(MASK)).then(nw.col(name)).alias(name)).get_column(name)

    def looked_up(self, column: nw.Series[Any], change: Change) -> nw.Series[Any]:
        """The column as text, stars in place: each value is written once, rows only point to it."""
        size = int(change.codes.max(initial=-1)) + 1
        first = np.zeros(size, dtype=np.int64)
        first[change.codes] = np.arange(self.rows)          # some row of each value
        values = column[first].cast(nw.String).to_list()
        place = np.where(change.text < 0, change.codes, size + change.text)
        words = nw.new_series(str(column.name), [*values, *change.texts], nw.String, backend=self.frame.implementation)
        new = words[place]
        if not self.frame.implementation.is_pandas_like():
            return new
        native = new.to_native()
        native.index = column.to_native().index
        native.name = column.name
        return nw.from_native(native, series_only=True)


class Collected(Table):
    """A polars LazyFrame, a DuckDB relation or an Ibis table: collected once, published as what it was.

    The order of its rows is whatever one collection gives; the published table has that order.
    """

    def __init__(self, frame: nw.LazyFrame[Any]) -> None:
        super().__init__(frame.collect())
        self.kind = frame.implementation

    def publish(self, changes: Mapping[str, Change]) -> Any:
        table = super().publish(changes)
        if self.kind.is_duckdb():
            import duckdb

            return duckdb.from_arrow(table)
        if self.kind.is_ibis():
            import ibis

            return ibis.memtable(table)
        return table.lazy()


def encode_arrow_text(series: nw.Series[Any]) -> Encoded | None:
    """Codes of text by Arrow's dictionaries, many times faster than by value; None where Arrow is not there or cannot hold the text."""
    try:
        import pyarrow as pa
    except ImportError:
        return None
    try:
        column = series.to_arrow().cast(pa.large_string()).dictionary_encode()
    except (pa.ArrowException, UnicodeError):
        return None
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    values = column.dictionary.to_pylist()
    order = sorted(range(len(values)), key=values.__getitem__)
    rank = np.empty(len(values) + 1, dtype=np.int32)
    rank[order] = np.arange(len(values), dtype=np.int32)
    rank[len(values)] = len(values)                     # a missing one
    codes = rank[column.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)]
    labels: list[Any] = [values[k] for k in order]
    return codes, [*labels, None] if column.null_count else labels, False


def encode_sortable(values: NDArray[Any], missing: NDArray[np.bool_], ordered: bool) -> Encoded:
    """Codes of a numpy array whose values sort: numbers, dates, fixed-width text."""
    present = _plus_zero(values[~missing] if missing.any() else values)
    if present.dtype.kind in "iu" and len(present):
        low, high = int(present.min()), int(present.max())
        if high - low < max(1 << 16, 2 * len(present)):     # a table by value, instead of a sort of all rows
            offset = (present - low).astype(np.int64) if low >= 0 else present.astype(np.int64) - low
            seen = np.bincount(offset, minlength=high - low + 1) > 0
            distinct: NDArray[Any] = np.flatnonzero(seen) + low
            inverse = (np.cumsum(seen) - 1)[offset]
        else:
            distinct, inverse = np.unique(present, return_inverse=True)
    else:
        distinct, inverse = np.unique(present, return_inverse=True)
    labels = list(distinct) if distinct.dtype.kind in "mM" else distinct.tolist()
    if not missing.any():
        return inverse.astype(np.int32), labels, ordered
    codes = np.full(len(values), len(labels), dtype=np.int32)
    codes[~missing] = inverse
    return codes, [*labels, None], ordered


def encode_objects(values: list[Any], name: str) -> Encoded:
    """Codes of arbitrary Python values. Equal values of different types (1, True, 1.0) stay apart: they print apart."""
    codes = np.empty(len(values), dtype=np.int32)
    seen: dict[Any, int] = {}
    absent = []
    for row, value in enumerate(values):
        if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
            absent.append(row)
            continue
        try:
            codes[row] = seen.setdefault((type(value), value), len(seen))
        except TypeError as error:
            raise InputError(
                f"column {name!r}, row {row}: a {type(value).__name__} cannot be a single value of an attribute"
            ) from error
    keys = list(seen)
    try:
        order = sorted(range(len(keys)), key=lambda k: (keys[k][0].__name__, keys[k][1]))
    except TypeError:       # a type without an order
        order = sorted(range(len(keys)), key=lambda k: (keys[k][0].__name__, str(keys[k][1])))
    place = np.empty(len(keys) + 1, dtype=np.int32)
    place[order] = np.arange(len(keys), dtype=np.int32)
    place[len(keys)] = len(keys)
    codes[absent] = len(keys)
    labels = [keys[k][1] for k in order]
    kinds = {kind for kind, _ in keys}
    ordered = len(kinds) == 1 and hasattr(labels[0], "__sub__")     # numbers and dates, unlike text, have distances
    return place[codes], [*labels, None] if absent else labels, ordered


def _compress(positions: NDArray[np.int64], categories: list[Any], order: list[int], ordered: bool) -> Encoded:
    """Codes in the given order of categories, those not seen left out; position -1 is missing."""
    used = np.bincount(positions[positions >= 0], minlength=len(categories)) > 0
    order = [k for k in order if used[k]]
    place = np.full(len(categories) + 1, len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    labels = [categories[k] for k in order]
    return place[positions], [*labels, None] if (positions < 0).any() else labels, ordered


def _plus_zero(values: NDArray[Any]) -> NDArray[Any]:
    """-0.0 becomes 0.0: equal values must be published alike."""
    return values + 0.0 if values.dtype.kind == "f" else values
