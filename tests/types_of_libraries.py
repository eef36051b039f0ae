"""Columns of every type that numpy, pandas, pyarrow, polars, DuckDB and Ibis list: three values each, or a null among them."""

import datetime as dt
import decimal
import uuid
import warnings

import numpy as np

D, DT, T, TD = dt.date, dt.datetime, dt.time, dt.timedelta
DAYS = [D(2020, 1, day) for day in (1, 2, 3)]
MOMENTS = [DT(2020, 1, day, 10, 30) for day in (1, 2, 3)]
CLOCKS = [T(hour, 30) for hour in (1, 2, 3)]
SPANS = [TD(days=day, seconds=5) for day in (1, 2, 3)]
DECIMALS = [decimal.Decimal(text) for text in ("1.10", "2.20", "3.30")]
WORDS, NUMBERS, HALVES, FLAGS = ["x", "y", "z"], [1, 2, 3], [0.5, 1.5, 2.5], [True, False, True]
BLOBS = [b"\x01\x02", b"\x03\x04", b"\x05\x06"]
PLACE = [0, 0, 0, 0, 1, 1, 2, 2]  # which value each of the eight rows has
SENSITIVE = [1, 2, 1, 2, 1, 1, 2, 2]  # so that the second and the third value are starred at l = 2


def spread(values, null=False):
    """The eight rows; the first value is null where asked."""
    return [None if null and k == 0 else values[k] for k in PLACE]


def of_numpy():
    """Every type code and unit; nulls are masks."""
    for code in np.typecodes["All"]:
        if code in "mM":
            for unit in ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps"):
                if not (code == "m" and unit in "YM"):
                    yield f"{np.dtype(code).name}[{unit}]", np.array(NUMBERS, dtype=f"{code}8[{unit}]")
        elif code == "V":
            yield "void", np.array(BLOBS, dtype="V2")
        elif code == "O":
            yield "object", np.array([1, "x", D(2020, 1, 1)], dtype=object)
        elif code in "SU":
            yield np.dtype(code).name, np.array(WORDS, dtype=f"{code}3")
        else:
            yield np.dtype(code).name + f" ({code})", np.array(FLAGS if code == "?" else NUMBERS).astype(code)
    yield "struct", np.array([(1, 2), (3, 4), (5, 6)], dtype=[("a", int), ("b", int)])
    yield "StringDType", np.array(WORDS, dtype=np.dtypes.StringDType())
    yield "big-endian int32", np.array(NUMBERS, dtype=">i4")


def numpy_columns():
    for name, values in of_numpy():
        column = values[PLACE]
        yield "numpy", name, False, {"q": column, "s": np.array(SENSITIVE)}
        yield "numpy", name, True, {"q": np.ma.masked_array(column, [k == 0 for k in PLACE]), "s": np.array(SENSITIVE)}


def of_pandas():
    """Every extension type that pandas registers, and numpy's."""
    import pandas as pd

    for name in ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"):
        yield name, NUMBERS
    yield from (("Float32", HALVES), ("Float64", HALVES), ("boolean", FLAGS), ("category", WORDS), ("object", [1, "x", D(2020, 1, 1)]))
    yield from (("string", WORDS), ("string[python]", WORDS), ("string[pyarrow]", WORDS), ("str", WORDS))
    yield from (("datetime64[ns]", MOMENTS), ("datetime64[s]", MOMENTS), ("datetime64[us, UTC]", MOMENTS), ("datetime64[ns, Europe/Berlin]", MOMENTS))
    yield from (("timedelta64[ns]", SPANS), ("timedelta64[s]", SPANS))
    yield "period[M]", pd.period_range("2020-01", periods=3, freq="M")
    yield "period[D]", pd.period_range("2020-01-01", periods=3, freq="D")
    yield "interval[int64]", pd.interval_range(0, 3)
    yield "interval[float64]", pd.interval_range(0.5, 3.5)
    yield "Sparse[int64]", NUMBERS
    yield "Sparse[float64]", HALVES
    for name in ("float16", "float32", "float64", "complex128", "int8", "uint64", "bool"):
        yield name, FLAGS if name == "bool" else NUMBERS


REGISTERED = {  # what the names above are of
    "ArrowDtype", "BaseMaskedDtype", "BooleanDtype", "CategoricalDtype", "DatetimeTZDtype", "Float32Dtype", "Float64Dtype", "Int16Dtype", "Int32Dtype", "Int64Dtype",
    "Int8Dtype", "IntervalDtype", "PeriodDtype", "SparseDtype", "StringDtype", "UInt16Dtype", "UInt32Dtype", "UInt64Dtype", "UInt8Dtype", "NumpyEADtype",
}  # fmt: skip


def pandas_columns():
    import pandas as pd

    for name, values in of_pandas():
        for null in (False, True):
            try:
                with warnings.catch_warnings(action="ignore"):
                    series = pd.Series(pd.array(list(values), dtype=name)).iloc[PLACE].reset_index(drop=True)
                    if null:
                        series = series.mask([k == 0 for k in PLACE])
            except (TypeError, ValueError, NotImplementedError):
                continue  # it cannot hold that
            yield "pandas", name, null, pd.DataFrame({"q": series, "s": SENSITIVE})
    for name, values in of_arrow():
        for null in (False, True):
            try:
                column = pd.array(spread(values.to_pylist(), null), dtype=pd.ArrowDtype(values.type))
            except Exception:  # pandas cannot hold it
                continue
            yield "pandas", f"{name}[pyarrow]", null, pd.DataFrame({"q": column, "s": SENSITIVE})


def of_arrow():
    """Every type number of pyarrow's."""
    import pyarrow as pa

    whole = {"": NUMBERS}
    for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"):
        yield name, pa.array(whole[""], getattr(pa, name)())
    yield "null", pa.array([None] * 3, pa.null())
    yield "bool", pa.array(FLAGS)
    yield "float16", pa.array(np.array(HALVES, dtype=np.float16), pa.float16())
    for name in ("string", "large_string", "string_view"):
        yield name, pa.array(WORDS, getattr(pa, name)())
    for name in ("binary", "large_binary", "binary_view"):
        yield name, pa.array(BLOBS, getattr(pa, name)())
    yield "fixed_size_binary", pa.array(BLOBS, pa.binary(2))
    yield from (("date32", pa.array(DAYS, pa.date32())), ("date64", pa.array(DAYS, pa.date64())))
    for unit in ("s", "ms", "us", "ns"):
        yield f"timestamp[{unit}]", pa.array(MOMENTS, pa.timestamp(unit))
        yield f"timestamp[{unit}, Europe/Berlin]", pa.array(MOMENTS, pa.timestamp(unit, "Europe/Berlin"))
        yield f"duration[{unit}]", pa.array(SPANS, pa.duration(unit))
    for unit in ("s", "ms"):
        yield f"time32[{unit}]", pa.array(CLOCKS, pa.time32(unit))
    for unit in ("us", "ns"):
        yield f"time64[{unit}]", pa.array(CLOCKS, pa.time64(unit))
    yield "month_day_nano_interval", pa.array([(k, k, k) for k in NUMBERS], pa.month_day_nano_interval())
    for bits in (32, 64, 128, 256):
        yield f"decimal{bits}", pa.array(DECIMALS, getattr(pa, f"decimal{bits}")(5, 2))
    yield "dictionary", pa.array(WORDS).dictionary_encode()
    yield "dictionary of numbers", pa.array(NUMBERS).dictionary_encode()
    yield "run_end_encoded", pa.RunEndEncodedArray.from_arrays([1, 2, 3], WORDS)
    yield "list", pa.array([[k] for k in NUMBERS])
    yield "large_list", pa.array([[k] for k in NUMBERS], pa.large_list(pa.int64()))
    yield "list_view", pa.array([[k] for k in NUMBERS], pa.list_view(pa.int64()))
    yield "large_list_view", pa.array([[k] for k in NUMBERS], pa.large_list_view(pa.int64()))
    yield "fixed_size_list", pa.array([[k] for k in NUMBERS], pa.list_(pa.int64(), 1))
    yield "struct", pa.array([{"a": k} for k in NUMBERS])
    yield "map", pa.array([[("a", k)] for k in NUMBERS], pa.map_(pa.string(), pa.int64()))
    one, two = pa.array(NUMBERS), pa.array(WORDS)
    codes = pa.array([0, 0, 0], pa.int8())
    yield "sparse_union", pa.UnionArray.from_sparse(codes, [one, two])
    yield "dense_union", pa.UnionArray.from_dense(codes, pa.array([0, 1, 2], pa.int32()), [one, two])
    yield "uuid", pa.array([uuid.UUID(int=k).bytes for k in NUMBERS], pa.uuid())
    yield "json", pa.array(["1", "2", "3"], pa.json_())
    yield "bool8", pa.ExtensionArray.from_storage(pa.bool8(), pa.array([0, 1, 1], pa.int8()))
    yield "opaque", pa.ExtensionArray.from_storage(pa.opaque(pa.int64(), "a", "b"), one)


def arrow_columns():
    import pyarrow as pa

    for name, values in of_arrow():
        for null in (False, True):
            try:
                places = pa.array([None if null and k == 0 else k for k in PLACE], pa.int64())
                column = values.take(places)
            except pa.ArrowNotImplementedError:
                if null:
                    continue
                column = pa.concat_arrays([values.slice(k, 1) for k in PLACE]) if "union" not in name else _union(values, name)
            yield "pyarrow", name, null, pa.table({"q": column, "s": SENSITIVE})


def _union(values, name):
    import pyarrow as pa

    one, two = (values.field(k).take(pa.array(PLACE)) for k in (0, 1))
    codes = pa.array([0] * 8, pa.int8())
    if name == "sparse_union":
        return pa.UnionArray.from_sparse(codes, [one, two])
    return pa.UnionArray.from_dense(codes, pa.array(range(8), pa.int32()), [one, two])


def of_polars():
    """Every data type class of polars."""
    import polars as pl

    values = {
        "Boolean": FLAGS, "Date": DAYS, "Datetime": MOMENTS, "Time": CLOCKS, "Duration": SPANS, "Decimal": DECIMALS, "String": WORDS, "Utf8": WORDS, "Categorical": WORDS,
        "Binary": BLOBS, "Null": [None] * 3, "Object": [1, "x", D(2020, 1, 1)], "List": [[k] for k in NUMBERS], "Struct": [{"a": k} for k in NUMBERS],
        "Float16": HALVES, "Float32": HALVES, "Float64": HALVES,
    }  # fmt: skip
    values |= {"Map": [{"a": k} for k in NUMBERS]}
    made = {
        "Map": lambda: pl.Map(pl.String, pl.Int64),
        "Enum": lambda: pl.Enum(WORDS), "Array": lambda: pl.Array(pl.Int64, 1), "List": lambda: pl.List(pl.Int64), "Struct": lambda: pl.Struct({"a": pl.Int64}),
        "Decimal": lambda: pl.Decimal(5, 2), "Datetime": lambda: pl.Datetime("us"), "Duration": lambda: pl.Duration("us"), "Categorical": lambda: pl.Categorical(),
    }  # fmt: skip
    for name in sorted(dir(pl.datatypes)):
        kind = getattr(pl.datatypes, name)
        if not (isinstance(kind, type) and issubclass(kind, pl.DataType)) or name in ("DataType", "Field", "Unknown", "BaseExtension", "Extension"):
            continue
        if kind in (pl.datatypes.classes.NumericType, pl.datatypes.classes.TemporalType, pl.datatypes.classes.NestedType) or name.endswith("Type"):
            continue
        typed = made[name]() if name in made else kind
        yield name, typed, values.get(name, WORDS if name == "Enum" else [[k] for k in NUMBERS] if name == "Array" else NUMBERS)
    yield "Datetime[ns]", pl.Datetime("ns"), MOMENTS
    yield "Datetime[ms, Europe/Berlin]", pl.Datetime("ms", "Europe/Berlin"), [m.replace(tzinfo=dt.UTC) for m in MOMENTS]
    yield "Duration[ns]", pl.Duration("ns"), SPANS


def polars_columns():
    import polars as pl

    for name, kind, values in of_polars():
        for null in (False, True):
            yield "polars", name, null, pl.DataFrame({"q": pl.Series(spread(values, null), dtype=kind), "s": SENSITIVE})


SQL = {
    "BOOLEAN": ("true", "false", "true"), "BLOB": (r"'\x01'", r"'\x02'", r"'\x03'"), "DATE": ("'2020-01-01'", "'2020-01-02'", "'2020-01-03'"),
    "TIME": ("'01:30:00'", "'02:30:00'", "'03:30:00'"), "INTERVAL": ("'1 day'", "'2 days'", "'3 days'"), "VARCHAR": ("'x'", "'y'", "'z'"),
    "UUID": tuple(f"'{uuid.UUID(int=k)}'" for k in NUMBERS), "BIT": ("'001'", "'010'", "'011'"), "ENUM": ("'x'", "'y'", "'z'"),
    "LIST": ("[1]", "[2]", "[3]"), "ARRAY": ("[1]", "[2]", "[3]"), "STRUCT": ("{'a': 1}", "{'a': 2}", "{'a': 3}"),
    "MAP": ("MAP {'a': 1}", "MAP {'a': 2}", "MAP {'a': 3}"), "UNION": ("1", "2", "3"),
}  # fmt: skip
FORMS = {
    "ENUM": "ENUM('x', 'y', 'z')", "LIST": "INTEGER[]", "ARRAY": "INTEGER[1]", "STRUCT": "STRUCT(a INTEGER)", "MAP": "MAP(VARCHAR, INTEGER)",
    "UNION": "UNION(n INTEGER, t VARCHAR)", "DECIMAL": "DECIMAL(5, 2)", "NULL": "INTEGER",
}  # fmt: skip
UNHELD = ("TABLE", "LAMBDA", "INVALID", "UNKNOWN", "ANY", "TYPE")  # no column holds them


def duckdb_columns():
    """Every type of duckdb_types()."""
    import duckdb

    for (name,) in duckdb.sql("SELECT DISTINCT logical_type FROM duckdb_types() ORDER BY 1").fetchall():
        if name in UNHELD:
            continue
        kind = next((k for k in SQL if name == k or (k in ("TIME",) and name.startswith("TIME") and "STAMP" not in name)), None)
        if kind is None and name.startswith("TIMESTAMP"):
            texts = ("'2020-01-01 10:30:00'", "'2020-01-02 10:30:00'", "'2020-01-03 10:30:00'")
        else:
            texts = ("NULL", "NULL", "NULL") if name == "NULL" else SQL.get(kind, ("1", "2", "3"))
        for null in (False, True):
            rows = ", ".join(f"({'NULL' if null and k == 0 else texts[k]}, {s})" for k, s in zip(PLACE, SENSITIVE, strict=True))
            try:
                table = duckdb.sql(f"SELECT CAST(q AS {FORMS.get(name, name)}) AS q, s FROM (VALUES {rows}) t(q, s)")
                table.fetchall()
            except duckdb.Error:
                table = None
            yield "duckdb", name, null, table


def ibis_columns():
    """Every data type class of Ibis that has values without a setting of its own, through its tables in memory."""
    import ibis
    import ibis.expr.datatypes as dtypes

    values = {
        "Boolean": FLAGS, "Date": DAYS, "Time": CLOCKS, "Timestamp": MOMENTS, "String": WORDS, "Binary": BLOBS, "Decimal": DECIMALS, "UUID": [uuid.UUID(int=k) for k in NUMBERS],
        "Float16": HALVES, "Float32": HALVES, "Float64": HALVES, "JSON": ["1", "2", "3"], "Null": [None] * 3, "Array": [[k] for k in NUMBERS],
        "Struct": [{"a": k} for k in NUMBERS], "Map": [{"a": k} for k in NUMBERS], "INET": WORDS, "MACADDR": WORDS, "Interval": SPANS,
    }  # fmt: skip
    made = {
        "Array": lambda: dtypes.Array(dtypes.int64), "Struct": lambda: dtypes.Struct({"a": dtypes.int64}), "Map": lambda: dtypes.Map(dtypes.string, dtypes.int64),
        "Decimal": lambda: dtypes.Decimal(5, 2), "Interval": lambda: dtypes.Interval("s"),
    }  # fmt: skip
    for name in sorted(dir(dtypes)):
        kind = getattr(dtypes, name)
        if not (isinstance(kind, type) and issubclass(kind, dtypes.DataType)) or kind.__subclasses__() and name not in values:
            continue
        for null in (False, True):
            try:
                typed = made[name]() if name in made else kind()
                numbers = values.get(name, NUMBERS)
                table = ibis.memtable({"q": spread(numbers, null), "s": SENSITIVE}, schema={"q": typed, "s": "int64"})
                table.to_pyarrow()
            except Exception:  # Ibis or its engine has no such column
                yield "ibis", name, null, None
                continue
            yield "ibis", name, null, table


def columns():
    """(library, type, whether it has nulls, table or None where the library itself cannot make one)."""
    for library in (numpy_columns, pandas_columns, arrow_columns, polars_columns, duckdb_columns, ibis_columns):
        yield from library()
