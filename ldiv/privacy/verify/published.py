"""A table of any kind as it was published, column by column; shares nothing with the code that encodes tables for algorithms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.errors import InputError
from ldiv.privacy.verify.cells import missing, text_of_cell
from ldiv.table.frames import refuse_doubled


@dataclass
class PublishedColumn:
    """Codes of rows and the distinct values behind them; the values of a source are told apart by type and text.

    Codes are kept as narrow as their number allows, an eighth of the memory for most columns: whoever reckons with them widens them first.
    """

    codes: NDArray[Any]
    values: list[Any]
    order: Sequence[Any] | None = None  # of categories, where it is not that of the values

    def __post_init__(self) -> None:
        self.codes = self.codes.astype(np.min_scalar_type(max(len(self.values) - 1, 0)), copy=False)

    def value_at(self, row: int) -> Any:
        return self.values[self.codes[row]]


class PublishedTable:
    """A table of any kind, column by column."""

    def __init__(self, table: Any, reading: Mapping[str, Any] | None) -> None:
        if isinstance(table, (str, Path)):
            from ldiv.table.files import read_table  # pyarrow is only needed for files

            table = read_table(table, **(reading or {}))
        self.seen: dict[Any, PublishedColumn] = {}
        if isinstance(table, Mapping):
            self.raw = dict(table)
            self.names = list(table)
            self.rows = len(next(iter(self.raw.values()))) if self.raw else 0
            return
        import narwhals.stable.v2 as nw

        refuse_doubled(table)
        try:
            frame = nw.from_native(table)
        except TypeError as error:
            raise InputError(f"cannot read a {type(table).__name__} as a table") from error
        frame = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        self.raw = {name: frame.get_column(name) for name in frame.columns}
        self.names = list(frame.columns)
        self.rows = len(frame)

    def same(self, other: PublishedTable, name: Any) -> bool:
        """Whether two columns are equal at a glance; False where a closer look is needed."""
        a, b = self.raw[name], other.raw[name]
        try:
            if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
                return a.dtype == b.dtype and a.dtype.kind in "iubUM" and np.array_equal(a, b)
            if a.dtype != b.dtype or a.is_null().any() or b.is_null().any() or a.dtype.is_float():
                return False
            return bool((a.to_native() == b.to_native()).all()) if hasattr(a.to_native(), "all") else a.to_native().equals(b.to_native())
        except Exception:  # whatever a library says of such a comparison, the slow way decides
            return False

    def read(self, name: Any) -> PublishedColumn:
        if name not in self.seen:
            self.seen[name] = encode_published(self.raw[name])
            categories = getattr(getattr(self.raw[name], "dtype", None), "categories", None)  # an Enum, or ordered categories of pandas
            if categories is None and hasattr(self.raw[name], "to_native") and hasattr(native := self.raw[name].to_native(), "cat"):
                categories = native.cat.categories.tolist() if getattr(native.cat, "ordered", False) else None
            self.seen[name].order = None if categories is None else list(categories)
        return self.seen[name]


def encode_published(raw: Any) -> PublishedColumn:
    """Distinct values by type and text, and where each stands."""
    array = _array(raw)
    if isinstance(array, np.ma.MaskedArray):
        array = np.array(
            [None if hidden else value for value, hidden in zip(array.data.tolist(), np.ma.getmaskarray(array), strict=True)], dtype=object
        )
    if isinstance(array, np.ndarray) and array.dtype.kind in "iu" and len(array):
        low, high = int(array.min()), int(array.max())
        if high - low < 1 << 20:
            codes = (array - array.dtype.type(low)).astype(np.int64) if low >= 0 else array.astype(np.int64) - low
            seen = np.bincount(codes, minlength=high - low + 1) > 0
            number = np.cumsum(seen) - 1
            return PublishedColumn(number.astype(np.min_scalar_type(int(number[-1])))[codes], [int(v) + low for v in np.flatnonzero(seen)])
    if isinstance(array, np.ndarray) and array.dtype.kind in "iubfmM":
        distinct, codes = np.unique(array, return_inverse=True)
        return PublishedColumn(codes, list(distinct) if array.dtype.kind in "mMf" else distinct.tolist())
    if isinstance(array, tuple):
        return PublishedColumn(*array)
    listed = array.tolist() if isinstance(array, np.ndarray) else list(array)
    seen_values: dict[Any, int] = {}
    values: list[Any] = []
    codes = np.empty(len(listed), dtype=np.int64)
    for row, value in enumerate(listed):
        key = value if type(value) is str else (type(value), text_of_cell(value))
        code = seen_values.setdefault(key, len(values))
        if code == len(values):
            values.append(value)
        codes[row] = code
    return PublishedColumn(codes, values)


def _is_half(native: Any) -> bool:
    """Whether a column holds numbers of 16 bits, as the libraries that have such name their types."""
    return str(getattr(native, "type", getattr(native, "dtype", None))) in ("halffloat", "halffloat[pyarrow]", "Float16")


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
        return column.indices.fill_null(len(words)).to_numpy(zero_copy_only=False), [*words, None]
    if raw.dtype.is_integer() and raw.dtype not in (nw.Int128, nw.UInt128) and not raw.is_null().any():
        return raw.to_numpy()
    if raw.dtype in (nw.Float32, nw.Float64) and not raw.is_null().any():
        return raw.to_numpy()
    narrow = np.float32 if raw.dtype == nw.Float32 else np.float16 if _is_half(raw.to_native()) else None
    if narrow is not None:
        return [None if missing(value) else narrow(value) for value in raw.to_list()]
    if raw.dtype == nw.Datetime and raw.dtype.time_zone is None:
        return raw.to_numpy()  # to the nanosecond
    return raw.to_list()
