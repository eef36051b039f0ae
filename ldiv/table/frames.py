"""Dataframes at the door: columns to codes, published values back to columns. The only module that knows them.

What is published says nothing of what is starred: no category, dictionary, mask, attribute or unused part of a buffer survives that no cell shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ldiv.errors import InputError, MissingColumnError
from ldiv.table.backends import backend_of
from ldiv.table.encoding import Encoded, compress, encode_arrow_text, encode_objects, encode_sortable, plus_zero
from ldiv.table.text import is_missing, text_of

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw

UNLIKE = ("BIT", "VARIANT")  # types of DuckDB whose bytes mean something else in Arrow
FINE = ("ps", "fs", "as")  # units of time that are not published

__all__ = ["Change", "Source", "named", "open_frame", "refuse_doubled"]


@dataclass(frozen=True)
class Change:
    """What happens to a column: -1 in `text` keeps a row's cell, k >= 0 replaces it by ``texts[k]``.

    `codes` are the column's codes as it was encoded, of any width: cells with equal codes are published alike, so that each value is turned into text once.
    """

    codes: NDArray[Any]
    text: NDArray[np.int32]
    texts: list[str | None]

    @property
    def nulls(self) -> bool:
        """Whether cells become nulls, so that the column keeps its type."""
        return self.texts == [None]


def named(given: Any, columns: Sequence[Any], role: str) -> list[Any]:
    """The column names in an argument that takes one name or several: names may be text, numbers or tuples.

    Raises
    ------
    InputError
        A set, whose order would decide ties, or something that is no sequence.
    """
    if isinstance(given, (set, frozenset)):
        raise InputError(f"{role} is a set, and a set has no order: pass a list")
    try:
        if isinstance(given, str) or given in columns:
            return [given]
    except (TypeError, ValueError):  # an array: equality is elementwise
        pass
    try:
        return [name.item() if isinstance(name, np.generic) else name for name in given]
    except TypeError:
        return [given]


def open_frame(frame: Any) -> Source:
    """Wrap whatever tabular thing the user has."""
    if isinstance(frame, Source):
        return frame
    if isinstance(frame, Mapping):
        return ArrayDict(frame)
    global nw  # imported when a table is first opened: codes need no dataframes, and it takes half as long to import as numpy
    import narwhals.stable.v2 as nw

    refuse_doubled(frame)
    try:
        wrapped = nw.from_native(frame)
    except TypeError as error:
        raise InputError(
            f"cannot read a {type(frame).__name__}: pass a pandas, polars or pyarrow table, a polars LazyFrame, a DuckDB relation, an Ibis "
            "table, or a dict of arrays"
        ) from error
    return Collected(wrapped, frame) if isinstance(wrapped, nw.LazyFrame) else Table(wrapped)


def refuse_doubled(frame: Any) -> None:
    """Raise where two columns have one name."""
    names = getattr(frame, "column_names", None)  # pyarrow; only eager tables can have a name twice
    if names is None and type(frame).__module__.startswith("pandas"):
        names = getattr(frame, "columns", None)
    try:
        names = list(names) if names is not None else []
        doubled = [name for name in names if names.count(name) > 1] if len(set(names)) < len(names) else []
    except TypeError:
        return
    if doubled:
        raise InputError(f"column name {doubled[0]!r} stands twice in the table: rename one of them")


def span_of(codes: NDArray[Any]) -> int:
    """One more than the largest code, of whatever width; 0 where there is none."""
    return int(codes.max()) + 1 if len(codes) else 0


class Source:
    """A table that can encode its columns and write a published copy of itself."""

    columns: Sequence[Any]
    rows: int

    @property
    def index(self) -> list[Any]:
        """Columns that are the index of a pandas table: they go with the order of the rows."""
        return []

    def lacks(self, name: Any) -> MissingColumnError:
        """The error for a column that is not there, with a likely reason."""
        if name in self.index_names():
            return MissingColumnError(name, self.columns, "; it is in the index: frame.reset_index() makes a column of it")
        only = str(self.columns[0]) if len(self.columns) == 1 else ""
        between = next((letter for letter in ";\t|," if letter in only), None)
        return MissingColumnError(name, self.columns, f"; perhaps the fields of its file are separated by {between!r}" if between else "")

    def index_names(self) -> list[Any]:
        """The names of the index of a pandas table."""
        return []

    def encode(self, name: Any) -> Encoded:
        """Codes by sorted value, the values (a missing one last, as None), and whether their order means something."""
        raise NotImplementedError

    def snapshot(self) -> Source:
        """The same table, out of reach of changes in place."""
        raise NotImplementedError

    def publish(self, changes: Mapping[Any, Change], order: NDArray[np.int64] | None = None, drop: Sequence[Any] = (), qi: Sequence[Any] = ()) -> Any:
        """A copy with changed columns.

        Parameters
        ----------
        changes : mapping of column to Change
        order : ndarray of int64, shape (rows,), optional
            Which row stands where; a pandas index is left out then.
        drop : sequence of columns
        qi : sequence of columns
            Quasi-identifiers: among those that keep their numbers, -0.0 is published as 0.0.
        """
        raise NotImplementedError

    def texts(self, name: Any, codes: NDArray[Any]) -> list[str | None]:
        """How each value of a column is published as text, by code; None for a missing one."""
        first = np.zeros(span_of(codes), dtype=np.int64)
        first[codes] = np.arange(self.rows)  # some row of each value
        return self.texts_of_rows(name, first)

    def texts_of_rows(self, name: Any, rows: NDArray[np.int64]) -> list[str | None]:
        raise NotImplementedError

    def index_values(self) -> dict[str, list[Any]]:
        """The values of a pandas index that is more than a count of rows, level by level: it is published like a column."""
        return {}


class ArrayDict(Source):
    """A dict of equally long arrays, lists or series."""

    def __init__(self, frame: Mapping[Any, Any]) -> None:
        self.arrays: dict[Any, Any] = {}
        lengths = {}
        for name, values in frame.items():
            array: Any = values
            if not isinstance(values, np.ndarray):
                series = _series(values)
                array = series if series is not None else _array(values)
            if isinstance(array, np.ndarray) and array.ndim != 1:
                raise InputError(f"column {name!r} must be one-dimensional, not of shape {array.shape}")
            self.arrays[name] = array
            lengths[name] = array.rows if isinstance(array, Table) else len(array)
        self.columns = list(self.arrays)
        if len(set(lengths.values())) > 1:
            raise InputError(f"columns differ in length: {lengths}")
        self.rows = next(iter(lengths.values()), 0)

    def snapshot(self) -> ArrayDict:
        return ArrayDict({k: v.snapshot().native_series() if isinstance(v, Table) else v.copy() for k, v in self.arrays.items()})

    def encode(self, name: Any) -> Encoded:
        values = self.arrays[name]
        if isinstance(values, Table):
            return values.encode(values.columns[0])
        missing = np.ma.getmaskarray(values).copy() if isinstance(values, np.ma.MaskedArray) else np.zeros(len(values), bool)
        values = np.ma.getdata(values)
        if values.dtype.kind == "V":
            raise InputError(f"column {name!r} of type {values.dtype}: an attribute must hold single values")
        if values.dtype.kind in "mM" and np.datetime_data(values.dtype)[0] in FINE:
            raise InputError(
                f"column {name!r} of type {values.dtype} is finer than nanoseconds, which no table holds: turn it into whole numbers first"
            )
        if values.dtype.kind in "OT":
            values = values.astype(object)
            values[missing] = None
            return encode_objects(values.tolist(), name)
        if values.dtype.kind in "fc":
            missing |= np.isnan(values)
        if values.dtype.kind in "mM":
            missing |= np.isnat(values)
        return encode_sortable(values, missing, values.dtype.kind not in "US")

    def texts_of_rows(self, name: Any, rows: NDArray[np.int64]) -> list[str | None]:
        values = self.arrays[name]
        if isinstance(values, Table):
            return values.texts_of_rows(values.columns[0], rows)
        return _texts(plus_zero(values[rows]))

    def publish(
        self, changes: Mapping[Any, Change], order: NDArray[np.int64] | None = None, drop: Sequence[Any] = (), qi: Sequence[Any] = ()
    ) -> dict[Any, Any]:
        out: dict[Any, Any] = {}
        for name, values in self.arrays.items():
            if name in drop:
                continue
            change = changes.get(name)
            if isinstance(values, Table):
                inner = values.columns[0]
                out[name] = values.publish_series({inner: change} if change else {}, order, qi=[inner] if name in qi else [])
                continue
            if change is not None:
                column = self.changed(name, values, change)
            elif isinstance(values, np.ma.MaskedArray):
                # What lies under a mask is not published.
                column = np.ma.masked_array(values.filled(np.zeros(1, values.dtype)[0]), np.ma.getmaskarray(values))
            else:
                column = plus_zero(values).copy() if name in qi else values.copy()
                if name in qi and column.dtype.kind == "O":
                    column[[is_missing(value) for value in column]] = None
            out[name] = column if order is None else column[order]
        return out

    def changed(self, name: Any, values: NDArray[Any], change: Change) -> NDArray[Any]:
        kept = change.text < 0
        if change.nulls:
            absent = np.ma.getmaskarray(values) | ~kept
            column = plus_zero(np.ma.getdata(values))
            column = column.copy() if column.dtype.kind in "mM" else column.astype(object)
            column[absent] = None  # of moments: not a time
            return column
        words = [*self.texts(name, change.codes), *change.texts]
        size = len(words) - len(change.texts)
        place = np.where(kept, change.codes, size + change.text)
        whole = None not in [words[k] for k in np.unique(place)] and values.dtype.kind != "O"
        return np.array([w or "" for w in words] if whole else words, dtype=str if whole else object)[place]


class Table(Source):
    """A pandas, polars, pyarrow, ... table, through narwhals; what differs between libraries stands in the backends."""

    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        self.frame = frame
        self.columns = list(frame.columns)
        self.rows = len(frame)

    @property
    def backend(self) -> Any:
        return backend_of(self.frame.implementation)

    @property
    def index(self) -> list[Any]:
        return self.backend.index(self.frame.to_native()) if self.frame.implementation.is_pyarrow() else []

    def snapshot(self) -> Table:
        return Table(nw.from_native(self.backend.copy(self.frame.to_native()), eager_only=True))

    def index_values(self) -> dict[str, list[Any]]:
        index = getattr(self.frame.to_native(), "index", None)
        if index is None or callable(index) or type(index).__name__ == "RangeIndex":
            return {}
        return {f"index {name}" if name is not None else "index": index.get_level_values(level).tolist() for level, name in enumerate(index.names)}

    def index_names(self) -> list[Any]:
        names = getattr(getattr(self.frame.to_native(), "index", None), "names", None)
        return [] if names is None else [name for name in names if name is not None]

    def native_series(self) -> Any:
        return self.frame.get_column(self.columns[0]).to_native()

    def encode(self, name: Any) -> Encoded:
        series = self.frame.get_column(name)
        dtype = series.dtype
        if dtype in (nw.Categorical, nw.Enum):
            return self.encode_categorical(series)
        if dtype in (nw.List, nw.Array, nw.Struct):
            raise InputError(f"column {name!r} of type {dtype}: an attribute must hold single values")
        if dtype == nw.String:
            return encode_arrow_text(series) or encode_objects(series.to_list(), name)
        if not (
            dtype in (nw.Boolean, nw.Date, nw.Datetime) or (dtype.is_numeric() and not dtype.is_decimal() and dtype not in (nw.Int128, nw.UInt128))
        ):
            return self.encode_values(series)
        missing = series.is_null()
        absent = missing.to_numpy().astype(bool)
        present = series.filter(~missing) if absent.any() else series
        values = present.to_numpy()
        if values.dtype.kind == "O":  # a library that has no array of them
            return self.encode_values(series)
        if dtype.is_float() and np.isnan(values).any():
            absent = absent.copy()
            absent[~absent] = np.isnan(values)
            values = values[~np.isnan(values)]
        codes, labels, _ = encode_sortable(values, np.zeros(len(values), bool), True)
        if isinstance(dtype, nw.Datetime) and dtype.time_zone is not None and labels:  # an array of them has forgotten the zone
            first = np.zeros(len(labels), dtype=np.int64)
            first[codes] = np.flatnonzero(~absent)
            labels = nw.from_native(self.backend.rows(series.to_native(), first), series_only=True).to_list()
        if absent.any():
            filled = np.full(self.rows, len(labels), dtype=np.int32)
            filled[~absent] = codes
            return filled, [*labels, None], True
        return codes, labels, True

    def encode_values(self, series: nw.Series[Any]) -> Encoded:
        """Any other type, value by value."""
        try:
            values = series.to_list()
        except Exception as error:  # whatever a library raises for a type it cannot give out
            raise InputError(f"column {series.name!r} of type {series.dtype} cannot be read ({error}): turn it into text first") from error
        return encode_objects(values, series.name)

    def encode_categorical(self, series: nw.Series[Any]) -> Encoded:
        native = series.to_native()
        if self.frame.implementation.is_pandas_like() and hasattr(native, "cat"):
            positions = native.cat.codes.to_numpy().astype(np.int64)
            categories, ordered = native.cat.categories.tolist(), bool(native.cat.ordered)
        elif not isinstance(series.dtype, nw.Enum):
            plain = Table(nw.from_native(self.backend.plain(native), series_only=True).to_frame())
            return plain.encode(plain.columns[0])
        else:
            plain = Table(series.cast(nw.String).to_frame())
            codes, labels, _ = plain.encode(plain.columns[0])
            rank = {value: place for place, value in enumerate(series.dtype.categories)}
            categories = [value for value in labels if value is not None]
            positions = np.where(codes == len(categories), -1, codes).astype(np.int64)
            by_rank = sorted(range(len(categories)), key=lambda k: rank[categories[k]])
            return compress(positions, categories, by_rank, True)
        if ordered:
            return compress(positions, categories, list(range(len(categories))), True)
        place, _, ordered = encode_objects(categories, series.name)
        return compress(positions, categories, np.argsort(place).tolist(), ordered)

    def texts_of_rows(self, name: Any, rows: NDArray[np.int64]) -> list[str | None]:
        series = nw.from_native(self.backend.rows(self.frame.get_column(name).to_native(), rows), series_only=True)
        dtype = series.dtype
        if dtype.is_float() and not series.is_null().any():
            return _texts(plus_zero(series.to_numpy()))  # as many digits as its own width needs
        if dtype.is_float():
            values = np.array([np.nan if is_missing(x) else x for x in series.to_list()]).astype(np.float32 if dtype == nw.Float32 else np.float64)
            return _texts(plus_zero(values))
        if dtype == nw.Datetime:
            return list(self.backend.moments(series))
        return _texts(series.to_list())

    def publish(self, changes: Mapping[Any, Change], order: NDArray[np.int64] | None = None, drop: Sequence[Any] = (), qi: Sequence[Any] = ()) -> Any:
        columns = {name: self.published(name, changes.get(name), name in qi) for name in self.columns if name not in drop}
        return self.backend.assemble(self.frame.to_native(), columns, order)

    def publish_series(self, changes: Mapping[Any, Change], order: NDArray[np.int64] | None, qi: Sequence[Any] = ()) -> Any:
        name = self.columns[0]
        frame = self.backend.assemble(self.frame.to_native(), {name: self.published(name, changes.get(name), name in qi)}, order)
        return nw.from_native(frame, eager_only=True).get_column(name).to_native()

    def published(self, name: Any, change: Change | None, qi: bool) -> Any:
        """A column as it is published, in the library's own kind."""
        series = self.frame.get_column(name)
        native = series.to_native()
        if change is None:
            return self.backend.clean(self.backend.one_zero(native) if qi else native)
        first = np.zeros(span_of(change.codes), dtype=np.int64)
        first[change.codes] = np.arange(self.rows)
        if change.nulls:
            absent = series.is_null().to_numpy().astype(bool)[first] if len(first) else np.zeros(0, bool)
            place = np.where((change.text < 0) & ~absent[change.codes], change.codes, np.int32(-1))
            return self.backend.gather(self.backend.one_zero(native), first, place)
        words = [*self.texts_of_rows(name, first), *change.texts]
        place = np.where(change.text < 0, change.codes, len(first) + change.text)
        return self.backend.words(native, words, place)


class Collected(Table):
    """A polars LazyFrame, a DuckDB relation or an Ibis table: collected once, published as what it was.

    The order of its rows is whatever one collection gives; the published table has that order.
    """

    def __init__(self, frame: nw.LazyFrame[Any], native: Any) -> None:
        super().__init__(frame.collect())
        self.kind = frame.implementation
        self.types = dict(zip(native.columns, map(str, native.types), strict=True)) if self.kind.is_duckdb() else {}

    def snapshot(self) -> Collected:
        return self

    def publish(self, changes: Mapping[Any, Change], order: NDArray[np.int64] | None = None, drop: Sequence[Any] = (), qi: Sequence[Any] = ()) -> Any:
        table = super().publish(changes, order, drop, qi)
        if self.kind.is_duckdb():
            import duckdb

            def quoted(name: str) -> str:
                return '"' + name.replace('"', '""') + '"'

            for name in self.columns:
                if name not in drop and self.types[name] in UNLIKE:
                    raise InputError(
                        f"column {name!r} of type {self.types[name]} does not come back from Arrow as it was: cast it to VARCHAR, or drop it"
                    )
            starred = {name for name, change in changes.items() if not change.nulls}
            shown = [name for name in self.columns if name not in drop]
            return duckdb.from_arrow(table).project(
                ", ".join(
                    quoted(name)
                    if name in starred or (name in qi and self.types[name].startswith("ENUM"))
                    else f"CAST({quoted(name)} AS {self.types[name]}) AS {quoted(name)}"
                    for name in shown
                )
            )
        if self.kind.is_ibis():
            import ibis

            return ibis.memtable(table)
        return table.lazy()


def _series(values: Any) -> Table | None:
    """A column that belongs to a dataframe library, with its own types."""
    global nw
    import narwhals.stable.v2 as nw

    try:
        series = nw.from_native(values, series_only=True)
    except TypeError:
        return None
    return Table(series.alias(str(series.name) or "x").to_frame())


def _array(values: Any) -> NDArray[Any]:
    """A numpy array of a list or whatever numpy takes; of mixed types an array of objects, as numpy would turn them all into text."""
    listed = list(values) if isinstance(values, (list, tuple, range)) else None
    if listed is not None:
        kinds = {type(value) for value in listed if not isinstance(value, np.generic)}
        if len(kinds) > 1 and kinds != {int, float}:
            array = np.empty(len(listed), dtype=object)
            array[:] = listed
            return array
    return np.asarray(values)


def _texts(values: Any) -> list[str | None]:
    return [None if is_missing(value) else text_of(value) for value in values]
