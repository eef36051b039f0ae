"""What differs between dataframe libraries when a table is published: rows, nulls, categories, and nothing that no cell shows."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from ldiv.table.pandas_index import index_columns, with_index
from ldiv.table.text import is_missing, text_of

__all__ = ["backend_of"]


def backend_of(implementation: Any) -> Any:
    """The backend of a narwhals implementation."""
    if implementation.is_polars():
        return Polars
    if implementation.is_pyarrow():
        return Arrow
    return Pandas


class Pandas:
    """pandas and what is like it."""

    @staticmethod
    def one_zero(series: Any) -> Any:
        """Numbers in which -0.0 is 0.0, and objects in which every missing value is None: what is one value is published as one."""
        import pandas as pd

        if hasattr(series.dtype, "pyarrow_dtype"):
            return _arrow_backed(series, Arrow.one_zero(_chunked(series)))
        if isinstance(series.dtype, np.dtype) and series.dtype.kind in "fc":
            return _like(series, np.where(series.to_numpy() == 0, series.dtype.type(0), series.to_numpy()))
        if isinstance(series.dtype, np.dtype) and series.dtype.kind == "O":
            values = series.to_numpy(dtype=object, copy=True)
            values[np.array([is_missing(value) for value in values], dtype=bool)] = None
            return _like(series, values, dtype=object)
        if isinstance(series.dtype, (pd.Float32Dtype, pd.Float64Dtype)):
            values = series.to_numpy(dtype=series.dtype.numpy_dtype, na_value=np.nan)
            return _like(series, pd.array(np.where(values == 0, values.dtype.type(0), values), dtype=series.dtype))
        return series

    @staticmethod
    def copy(frame: Any) -> Any:
        out = frame.copy(deep=True)
        for at in range(frame.shape[1]):  # a deep copy leaves Arrow's memory shared
            if hasattr(frame.dtypes.iloc[at], "pyarrow_dtype"):
                out.isetitem(at, Pandas.clean(frame.iloc[:, at]))
        return out

    @staticmethod
    def plain(series: Any) -> Any:
        """A column of Arrow dictionaries as what it holds."""
        import pyarrow as pa

        return (
            series.astype(f"{type(series.dtype).__name__}")
            if not hasattr(series.dtype, "pyarrow_dtype")
            else _arrow_backed(series, pa.chunked_array(series.array.__arrow_array__()).cast(series.dtype.pyarrow_dtype.value_type))
        )

    @staticmethod
    def rows(series: Any, rows: NDArray[np.int64]) -> Any:
        import pandas as pd

        if not hasattr(series.dtype, "pyarrow_dtype"):
            return series.iloc[rows]
        taken = _taken(_chunked(series), _indices(rows))  # pandas takes rows of some types of Arrow only
        return pd.Series(pd.arrays.ArrowExtensionArray(taken), name=series.name, copy=False)

    @staticmethod
    def moments(series: Any) -> list[str | None]:
        if series.dtype.time_zone is None:
            return [None if np.isnat(x) else text_of(x) for x in series.to_numpy()]
        return [None if is_missing(x) else str(x) for x in series.to_native()]

    @staticmethod
    def clean(series: Any) -> Any:
        """The same column without what no cell shows: unused categories, values under a mask, buffers beyond its rows."""
        import pandas as pd

        if isinstance(series.dtype, pd.CategoricalDtype):
            return series.cat.remove_unused_categories()
        if hasattr(series.dtype, "pyarrow_dtype"):
            return _arrow_backed(series, Arrow.clean(_chunked(series)))
        if hasattr(series.array, "_mask") and series.isna().any():
            place = np.arange(len(series))
            place[series.isna().to_numpy()] = -1
            return _like(series, series.array.take(place, allow_fill=True))
        return series.copy(deep=True)

    @staticmethod
    def gather(series: Any, first: NDArray[np.int64], place: NDArray[np.int64]) -> Any:
        """Row k shows the value in row ``first[place[k]]``, or a null where that is -1; whole numbers stay whole numbers."""
        import pandas as pd

        if isinstance(series.dtype, pd.CategoricalDtype):
            taken = series.array.take(first).take(place, allow_fill=True)
            return _like(series, taken.remove_unused_categories())
        if hasattr(series.dtype, "pyarrow_dtype"):
            return _arrow_backed(series, Arrow.gather(_chunked(series), first, place))
        values = series.array.take(first)
        if isinstance(series.dtype, pd.IntervalDtype) and series.dtype.subtype.kind in "iu":  # as intervals with nulls they would become fractions
            return _like(series, np.array([*values, None], dtype=object)[place], dtype=object)
        if isinstance(series.dtype, np.dtype) and series.dtype.kind in "iub":
            values = pd.array(
                values,
                dtype={"i": "Int", "u": "UInt", "b": "boolean"}[series.dtype.kind]
                + (str(8 * series.dtype.itemsize) if series.dtype.kind in "iu" else ""),
            )
        if isinstance(series.dtype, np.dtype) and series.dtype.kind == "O":
            objects = np.empty(len(first) + 1, dtype=object)
            objects[:-1] = values
            return _like(series, objects[place], dtype=object)
        return _like(series, values.take(place, allow_fill=True))

    @staticmethod
    def words(series: Any, words: list[str | None], place: NDArray[np.int64]) -> Any:
        """The column as text: row k shows ``words[place[k]]``; a column of categories has categories of text, those seen only."""
        import pandas as pd

        if isinstance(series.dtype, pd.CategoricalDtype):
            used = np.unique(place)
            shown = list(dict.fromkeys(words[k] for k in used if words[k] is not None))
            position = {word: k for k, word in enumerate(shown)}
            code = np.full(len(words), -1)
            code[used] = [-1 if words[k] is None else position[words[k]] for k in used]
            return _like(
                series,
                pd.Categorical.from_codes(code[place], categories=shown or pd.Index(shown, dtype=object), ordered=series.dtype.ordered),
            )
        if hasattr(series.dtype, "pyarrow_dtype"):
            import pyarrow as pa

            return _arrow_backed(series, pa.chunked_array([pa.array(words, pa.string()).take(pa.array(place))]))
        if isinstance(series.dtype, pd.StringDtype):
            return _like(series, pd.array(words, dtype=series.dtype).take(place))
        # What text is by default: str with an Arrow array from pandas 3 on, objects before.
        palette = pd.Series(words, dtype="str" if int(pd.__version__.split(".")[0]) >= 3 else object)
        return _like(series, palette.array.take(place))

    @staticmethod
    def assemble(frame: Any, columns: Mapping[Any, Any], order: NDArray[np.int64] | None) -> Any:
        import pandas as pd

        out = frame.loc[:, [name in columns for name in frame.columns]].copy(deep=False)
        if out is frame:  # pragma: no cover - a subclass that returns itself
            out = frame.copy(deep=True)
        out.attrs = {}
        if order is not None:
            out = out.reset_index(drop=True)
        for at, name in enumerate(out.columns):
            out.isetitem(at, columns[name] if order is None else Pandas.rows(columns[name], order).reset_index(drop=True))
        if order is not None:
            return out
        if isinstance(out.index, pd.MultiIndex):
            out.index = out.index.remove_unused_levels()
        elif isinstance(out.index, pd.CategoricalIndex):
            out.index = out.index.remove_unused_categories()
        else:
            out.index = out.index.copy()
        return out


def _indices(rows: NDArray[np.int64]) -> Any:
    import pyarrow as pa

    return pa.array(rows)


def _like(series: Any, values: Any, **options: Any) -> Any:
    """A series with the index and name of another."""
    import pandas as pd

    return pd.Series(values, index=series.index, name=series.name, copy=False, **options)


def _chunked(series: Any) -> Any:
    import pyarrow as pa

    array = series.array.__arrow_array__()
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])


def _arrow_backed(series: Any, column: Any) -> Any:
    import pandas as pd

    return _like(series, pd.arrays.ArrowExtensionArray(column))


class Polars:
    """polars; its dictionaries hold what is used whenever they leave."""

    @staticmethod
    def copy(frame: Any) -> Any:
        import polars as pl

        return pl.DataFrame([Polars.clean(column) for column in frame.get_columns()])  # a column may share its memory with a numpy array

    @staticmethod
    def one_zero(series: Any) -> Any:
        import polars as pl

        if not series.dtype.is_float():
            return series
        # Not series + 0.0, which polars leaves out.
        shown = pl.when(series == 0).then(pl.lit(0.0, dtype=series.dtype)).when(series.is_nan()).then(None).otherwise(series)
        return pl.select(shown.alias(series.name)).to_series()

    @staticmethod
    def plain(series: Any) -> Any:
        import polars as pl

        return series.cast(pl.String)

    @staticmethod
    def rows(series: Any, rows: NDArray[np.int64]) -> Any:
        return series.gather(rows)

    @staticmethod
    def moments(series: Any) -> list[str | None]:
        return _moments(
            series.to_native().dt.replace_time_zone(None)
            if series.dtype.time_zone is None
            else series.to_native().dt.convert_time_zone("UTC").dt.replace_time_zone(None),
            series.dtype.time_zone,
        )

    @staticmethod
    def clean(series: Any) -> Any:
        import polars as pl

        if isinstance(series.dtype, pl.Enum):
            seen = set(series.cast(pl.String).unique().drop_nulls().to_list())
            return series.cast(pl.String).cast(pl.Enum([text for text in series.dtype.categories if text in seen]))
        if series.null_count() and series.dtype != pl.Null and series.dtype != pl.Object:
            place = pl.Series(np.arange(len(series)), dtype=pl.UInt32).zip_with(series.is_not_null(), pl.Series([None], dtype=pl.UInt32))
            return series.gather(place)  # a null that is gathered has nothing under its mask
        return series if isinstance(series.dtype, pl.Object) else series.gather(pl.Series(np.arange(len(series)), dtype=pl.UInt32))

    @staticmethod
    def gather(series: Any, first: NDArray[np.int64], place: NDArray[np.int64]) -> Any:
        import polars as pl

        if isinstance(series.dtype, pl.Object):
            values = [*series.gather(first).to_list(), None]
            return pl.Series(series.name, [values[k] for k in place], dtype=pl.Object)
        rows = pl.Series(np.where(place < 0, 0, place), dtype=pl.UInt32).zip_with(pl.Series(place >= 0), pl.Series([None], dtype=pl.UInt32))
        return Polars.clean(series.gather(first).gather(rows))

    @staticmethod
    def words(series: Any, words: list[str | None], place: NDArray[np.int64]) -> Any:
        import polars as pl

        new = pl.Series(series.name, words, dtype=pl.String).gather(place)
        return new.cast(pl.Categorical) if isinstance(series.dtype, (pl.Categorical, pl.Enum)) else new

    @staticmethod
    def assemble(frame: Any, columns: Mapping[Any, Any], order: NDArray[np.int64] | None) -> Any:
        import polars as pl

        out = pl.DataFrame([column.alias(name) for name, column in columns.items()])
        return out if order is None else out[order]


class Arrow:
    """pyarrow: notes on schema and fields are not published but for the names of index columns, dictionaries are made anew."""

    @staticmethod
    def index(frame: Any) -> list[str]:
        return index_columns(frame.schema)

    @staticmethod
    def copy(frame: Any) -> Any:
        import pyarrow as pa

        return pa.table([Arrow.clean(column) for column in frame.columns], schema=frame.schema)

    @staticmethod
    def one_zero(column: Any) -> Any:
        import pyarrow as pa
        import pyarrow.compute as pc

        kind = column.type
        if pa.types.is_dictionary(kind) and pa.types.is_floating(kind.value_type):
            return Arrow.one_zero(column.cast(kind.value_type)).dictionary_encode().cast(kind)
        if not pa.types.is_floating(kind) or kind == pa.float16():
            return column
        zero = pc.if_else(pc.equal(column, pa.scalar(0.0, kind)), pa.scalar(0.0, kind), column)
        return pc.if_else(pc.is_nan(zero), pa.scalar(None, kind), zero)

    @staticmethod
    def plain(column: Any) -> Any:
        return column.cast(column.type.value_type)

    @staticmethod
    def rows(column: Any, rows: NDArray[np.int64]) -> Any:
        import pyarrow as pa

        return _taken(column, pa.array(rows))

    @staticmethod
    def moments(series: Any) -> list[str | None]:
        import pyarrow as pa

        return _moments(series.to_native().cast(pa.timestamp(series.to_native().type.unit)), series.dtype.time_zone)

    @staticmethod
    def clean(column: Any) -> Any:
        """The same column without what no cell shows: dictionaries, values under nulls, buffers beyond its rows."""
        import pyarrow as pa
        import pyarrow.compute as pc

        kind = column.type
        if pa.types.is_dictionary(kind):
            return pc.cast(column, kind.value_type).dictionary_encode().cast(pa.dictionary(kind.index_type, kind.value_type, kind.ordered))
        # Taken row by row: a null that is taken has nothing under its mask, nothing of a slice's neighbours comes along, and no memory is shared with
        # whatever the column was made of.
        rows = np.arange(len(column))
        return _taken(column, pa.array(rows, mask=column.is_null().to_numpy()) if column.null_count else pa.array(rows))

    @staticmethod
    def gather(column: Any, first: NDArray[np.int64], place: NDArray[np.int64]) -> Any:
        import pyarrow as pa

        values = _taken(column, pa.array(first))
        dictionary = pa.types.is_dictionary(column.type)
        values = values.cast(column.type.value_type) if dictionary else values
        taken = _taken(values, pa.array(np.where(place < 0, 0, place), mask=place < 0))
        return taken.dictionary_encode().cast(column.type) if dictionary else taken

    @staticmethod
    def words(column: Any, words: list[str | None], place: NDArray[np.int64]) -> Any:
        import pyarrow as pa

        new = pa.chunked_array([pa.array(words, pa.string()).take(pa.array(place))])
        return new.dictionary_encode() if pa.types.is_dictionary(column.type) else new

    @staticmethod
    def assemble(frame: Any, columns: Mapping[Any, Any], order: NDArray[np.int64] | None) -> Any:
        import pyarrow as pa

        out = pa.table(dict(columns)) if columns else pa.table({})
        if order is None:
            return with_index(out, frame.schema)
        return pa.table({name: _taken(out.column(name), pa.array(order)) for name in out.column_names})


def _taken(column: Any, rows: Any) -> Any:
    """Rows of an Arrow column, also of the types that Arrow cannot take from."""
    import pyarrow as pa

    try:
        return column.take(rows)
    except pa.ArrowNotImplementedError:
        pass
    for way in (pa.large_string(), pa.large_binary()):
        try:
            return column.cast(way).take(rows).cast(column.type)
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            continue
    values = column.to_pylist()
    return pa.chunked_array([pa.array([None if row is None else values[row] for row in rows.to_pylist()], column.type)])


def _moments(values: Any, zone: str | None) -> list[str | None]:
    """Moments as text, in their own time zone."""
    out: list[str | None] = []
    for value in np.asarray(values.to_numpy(), dtype="datetime64"):
        if np.isnat(value):
            out.append(None)
        elif zone is None:
            out.append(text_of(value))
        else:
            out.append(_local(value, zone))
    return out


def _local(value: np.datetime64, zone: str) -> str:
    try:
        whole = value.astype("datetime64[us]")
        rest = int((value - whole).astype("timedelta64[ns]").astype(np.int64)) if np.datetime_data(value)[0] == "ns" else 0
        where: dt.tzinfo = dt.datetime.strptime(zone, "%z").tzinfo or dt.UTC if zone[0] in "+-" else ZoneInfo(zone)
        local = whole.astype(dt.datetime).replace(tzinfo=dt.UTC).astimezone(where)
    except (ValueError, OverflowError, AttributeError, KeyError):  # beyond the calendar of Python
        return text_of(value) + "+00:00"
    text = str(local)
    if not rest:
        return text
    head, offset = text[:-6], text[-6:]
    return f"{head if '.' in head else head + '.000000'}{rest:03d}{offset}"
