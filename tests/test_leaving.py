"""Nothing rides along with the cells of a table that leaves, and nothing changes afterwards."""

import io
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ldiv

QI = ["age", "ward"]


def people(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"age": rng.integers(18, 90, n), "ward": rng.integers(0, 30, n), "ill": rng.integers(0, 8, n)})


# -- copies ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("made", ["anonymize", "solve"])
def test_changes_of_the_source_afterwards_change_nothing(made):
    def release_of(table):
        if made == "anonymize":
            return ldiv.anonymize(table, QI, "ill", 3, effort="fast", seed=1)
        return ldiv.solve(ldiv.Microdata.from_frame(table, QI, "ill"), 3, effort="fast", seed=1)

    expected = release_of(people(300)).frame
    frame = people(300)
    release = release_of(frame)
    frame.loc[:, "ward"] = 0
    frame.loc[5, "age"] = 1
    frame["age"] = frame["age"].to_numpy()[::-1]
    frame["name"] = "Ann"
    assert release.frame.equals(expected)
    arrays = {name: values.to_numpy().copy() for name, values in people(300).items()}
    release = release_of(arrays)
    for values in arrays.values():
        values[:] = 9
    assert all(np.array_equal(np.asarray(release.frame[name]).astype(str), expected[name].astype(str)) for name in expected)
    table = pl.from_pandas(people(300))
    release = release_of(table)
    table.drop_in_place("ward")
    assert release.frame.to_pandas().astype(str).equals(expected.astype(str))


def test_released_tables_share_no_memory_with_what_they_were_made_of():
    array = np.array([1, 1, 2, 2])
    labels = list("abab")
    made = {
        "dict": lambda: {"q": array, "x": array, "s": np.array(labels)},
        "pyarrow": lambda: pa.table({"q": pa.array(array), "x": pa.array(array), "s": labels}),
        "polars": lambda: pl.DataFrame({"q": array, "x": array, "s": labels}),
        "pandas": lambda: pd.DataFrame(
            {"q": pd.arrays.ArrowExtensionArray(pa.chunked_array([pa.array(array)])), "x": array, "s": labels}, copy=False
        ),
    }
    for kind, make in made.items():
        for release in (ldiv.anonymize(make(), ["q"], "s", 2), ldiv.solve(ldiv.Microdata.from_frame(make(), ["q"], "s"), 2)):
            array[:] = 9
            frame = release.frame
            for name in ("q", "x"):
                column = frame[name].to_pylist() if isinstance(frame, pa.Table) else list(frame[name])
                assert [int(v) for v in column] == [1, 1, 2, 2], (kind, name)
            array[:] = [1, 1, 2, 2]


# -- what no cell shows ----------------------------------------------------------------------------------------------


SECRET = "Smallplace"


def leaks(frame):
    """Whether a value that no cell shows is anywhere in the pickled or written table."""
    streams = [pickle.dumps(frame)]
    if isinstance(frame, pd.DataFrame):
        stream = io.BytesIO()
        frame.to_parquet(stream)
        streams.append(stream.getvalue())
    if isinstance(frame, pl.DataFrame):
        for write in (frame.write_parquet, frame.write_ipc):
            stream = io.BytesIO()
            write(stream)
            streams.append(stream.getvalue())
    if isinstance(frame, pa.Table):
        stream = io.BytesIO()
        pq.write_table(frame, stream)
        streams.append(stream.getvalue())
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, frame.schema) as writer:
            writer.write_table(frame)
        streams.append(sink.getvalue().to_pybytes())
    return any(SECRET.encode() in stream for stream in streams)


TOWNS = ["Oslo", "Oslo", SECRET, "Lom"]
CARRIERS = {
    "categories": pd.Series(TOWNS, dtype="category"),
    "ordered categories": pd.Series(pd.Categorical(TOWNS, sorted(set(TOWNS)), ordered=True)),
    "arrow dictionary": pd.Series(TOWNS, dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))),
    "arrow text": pd.Series(TOWNS, dtype=pd.ArrowDtype(pa.string())),
    "text": pd.Series(TOWNS, dtype="str"),
    "objects": pd.Series(TOWNS, dtype=object),
}
TABLES = {
    **{f"pandas {name}": (lambda c: lambda s: pd.DataFrame({"town": c, "s": s}))(column) for name, column in CARRIERS.items()},
    "pyarrow dictionary": lambda s: pa.table({"town": pa.array(TOWNS).dictionary_encode(), "s": s}),
    "pyarrow text": lambda s: pa.table({"town": TOWNS, "s": s}),
    "polars enum": lambda s: pl.DataFrame({"town": pl.Series(TOWNS, dtype=pl.Enum(sorted(set(TOWNS)))), "s": s}),
    "polars categorical": lambda s: pl.DataFrame({"town": pl.Series(TOWNS, dtype=pl.Categorical), "s": s}),
}


@pytest.mark.parametrize("star", ["*", None])
@pytest.mark.parametrize("kind", TABLES)
def test_a_starred_value_is_nowhere_in_the_table_that_leaves(kind, star):
    frame = ldiv.anonymize(TABLES[kind](list("abab")), ["town"], "s", 2, star=star).frame
    column = frame["town"].to_pylist() if isinstance(frame, pa.Table) else frame["town"].to_list()
    assert column.count(star) == 2 or sum(x is None or x is pd.NA or x != x for x in column) == 2
    assert not leaks(frame)


@pytest.mark.parametrize("kind", TABLES)
def test_a_value_filtered_out_before_is_nowhere_in_an_untouched_column(kind):
    whole = TABLES[kind](list("abab"))
    rows = [0, 1, 3]
    part = whole.iloc[rows] if isinstance(whole, pd.DataFrame) else whole[rows] if isinstance(whole, pl.DataFrame) else whole.take(rows)
    if isinstance(whole, pd.DataFrame):
        part = part.assign(q=1)
    elif isinstance(whole, pl.DataFrame):
        part = part.with_columns(q=pl.lit(1))
    else:
        part = part.append_column("q", pa.array([1] * 3))
    frame = ldiv.anonymize(part, ["q"], "s", 1).frame
    assert not leaks(frame)


def test_values_under_a_mask_are_not_published():
    hidden = np.ma.array([5, 5, 987654321, 6], mask=[0, 0, 1, 0])
    table = {"q": np.array(list("xxyy")), "masked": hidden, "s": np.array(list("abab"))}
    out = ldiv.anonymize(table, ["q"], "s", 2).frame["masked"]
    assert np.ma.getmaskarray(out).tolist() == [False, False, True, False] and 987654321 not in out.data
    assert hidden.data[2] == 987654321
    values = pd.arrays.IntegerArray(np.array([5, 5, 987654321, 6]), np.array([False, False, True, False]))
    series = ldiv.anonymize(pd.DataFrame({"q": list("xxyy"), "x": values, "s": list("abab")}), ["q"], "s", 2).frame["x"]
    assert series.isna().tolist() == [False, False, True, False] and 987654321 not in series.array._data
    starred = ldiv.anonymize(pd.DataFrame({"q": [1, 1, 987654321, 987654322], "s": list("abab")}), ["q"], "s", 2, star=None).frame["q"]
    assert starred.dtype == "Int64" and starred.isna().sum() == 2 and 987654321 not in starred.array._data
    for frame in (
        pl.DataFrame({"q": [1, 1, 987654321, 987654322], "s": list("abab")}),
        pa.table({"q": [1, 1, 987654321, 987654322], "s": list("abab")}),
    ):
        out = ldiv.anonymize(frame, ["q"], "s", 2, star=None).frame
        array = out["q"].to_arrow() if isinstance(out, pl.DataFrame) else out["q"].combine_chunks()
        assert array.null_count == 2 and 987654321 not in np.frombuffer(array.buffers()[1], np.int64)


def test_values_under_the_mask_of_an_untouched_column_are_not_published():
    """Arrow and polars keep bytes under a null, and Arrow those beyond a slice."""
    hidden = np.array([5, 987654321, 6, 7], dtype=np.int64)
    validity = pa.py_buffer(np.packbits([1, 0, 1, 1], bitorder="little").tobytes())
    column = pa.Array.from_buffers(pa.int64(), 4, [validity, pa.py_buffer(hidden.tobytes())], null_count=1)
    table = pa.table({"q": list("xxyy"), "note": column, "s": list("abab")})
    assert pl.from_arrow(table)["note"].to_arrow().null_count == 1
    for frame in (table, pl.from_arrow(table)):
        out = ldiv.anonymize(frame, ["q"], "s", 2).frame["note"]
        array = out.to_arrow() if isinstance(out, pl.Series) else out.combine_chunks()
        assert array.to_pylist() == [5, None, 6, 7] and 987654321 not in np.frombuffer(array.buffers()[1], np.int64)
    long = pa.table({"q": list("xxyy") * 50, "note": [1, 2, 3, 4] + [987654321] * 196, "s": list("abab") * 50})
    out = ldiv.anonymize(long.slice(0, 4), ["q"], "s", 2).frame["note"]
    assert out.to_pylist() == [1, 2, 3, 4]
    for chunk in out.chunks:
        assert 987654321 not in np.frombuffer(chunk.buffers()[1], np.int64)


def test_an_index_of_categories_keeps_only_those_it_shows():
    index = pd.CategoricalIndex(["a", SECRET, "b", "c"])
    part = pd.DataFrame({"q": [1] * 4, "s": list("abcd")}, index=index).iloc[[0, 2, 3]]
    out = ldiv.anonymize(part, ["q"], "s", 2).frame
    assert out.index.tolist() == ["a", "b", "c"] and SECRET not in out.index.categories
    assert SECRET in part.index.categories


def test_notes_on_a_table_do_not_leave():
    frame = people(200)
    frame.attrs = {"source": f"/home/{SECRET}"}
    assert ldiv.anonymize(frame, QI, "ill", 2, effort="fast").frame.attrs == {}
    field = pa.field("age", pa.int64(), metadata={"note": SECRET})
    table = pa.table({"age": [1, 1], "s": ["a", "b"]}, schema=pa.schema([field, ("s", pa.string())], metadata={"note": SECRET}))
    assert not leaks(ldiv.anonymize(table, ["age"], "s", 2).frame)
    levels = pd.MultiIndex.from_tuples([("a", 1), (SECRET, 2), ("a", 3), ("b", 4)])
    part = pd.DataFrame({"q": [1] * 4, "s": list("abab")}, index=levels).iloc[[0, 2, 3]]
    out = ldiv.anonymize(part.assign(s=list("abc")), ["q"], "s", 2).frame
    assert SECRET not in out.index.levels[0] and out.index.tolist() == [("a", 1), ("a", 3), ("b", 4)]


def test_rows_beside_a_slice_do_not_come_along():
    whole = pa.table({"q": [1, 1, 2, 2, 987654321], "x": [5, 5, 5, 5, 987654321], "s": list("ababc")})
    frame = ldiv.anonymize(whole.slice(0, 4), ["q"], "s", 2).frame
    for name in ("q", "x"):
        for buffer in frame[name].combine_chunks().buffers():
            assert buffer is None or 987654321 not in np.frombuffer(buffer, np.int64)
