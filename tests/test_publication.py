"""What leaves: nothing rides along with the cells, nothing changes afterwards, every cell is true, a star is a star."""

import io
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ldiv

QI = ["age", "ward"]


def people(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"age": rng.integers(18, 90, n), "ward": rng.integers(0, 30, n), "ill": rng.integers(0, 8, n)})


# -- the order of the rows -----------------------------------------------------------------------------------------------


def filled_by_neighbours(out, name):
    """What an attacker fills in: the value on which the nearest visible cells above and below agree."""
    star = (out[name].astype(str) == "*").to_numpy()
    known = pd.to_numeric(out[name].where(~star)).astype(float)
    low, high = known.ffill().to_numpy(), known.bfill().to_numpy()
    return star, star & (low == high), low


def test_a_sorted_table_gives_stars_away_and_says_so():
    table = people().sort_values("age", ignore_index=True)
    with pytest.warns(ldiv.DisclosureWarning, match="the order of the rows gives stars away: .* starred cells .* in 'age'"):
        kept = ldiv.anonymize(table, QI, "ill", 3, effort="fast")
    star, sure, low = filled_by_neighbours(kept.frame, "age")
    right = sure & (low == table["age"].to_numpy())
    assert right.sum() > star.sum() / 4
    guess = kept.publication.neighbours["age"]
    assert (guess.starred, guess.filled, guess.right) == (star.sum(), sure.sum(), right.sum()) and guess.tells
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mixed = ldiv.anonymize(table, QI, "ill", 3, effort="fast", order="random")
    star, sure, low = filled_by_neighbours(mixed.frame, "age")
    truth = table["age"].to_numpy()[mixed.publication.rows]
    assert not mixed.publication.neighbours["age"].tells
    assert (sure & (low == truth)).sum() <= mixed.publication.neighbours["age"].chance + 4 * np.sqrt(mixed.publication.neighbours["age"].chance) + 2
    assert mixed.frame.index.equals(pd.RangeIndex(len(table)))


def test_a_random_order_says_nothing_and_a_seed_repeats_it():
    table = people(600)
    table.index = [f"person {k}" for k in range(600)]
    one, two = (ldiv.anonymize(table, QI, "ill", 3, effort="fast", order="random") for _ in range(2))
    assert not one.frame.equals(two.frame) and one.stars == two.stars
    assert not any("person" in str(x) for x in one.frame.index)
    a, b = (ldiv.anonymize(table, QI, "ill", 3, effort="fast", shuffle=True, seed=5) for _ in range(2))
    assert a.frame.equals(b.frame) and a.frame["ill"].tolist() != table["ill"].tolist()
    assert sorted(a.frame["ill"]) == sorted(table["ill"])
    with pytest.raises(ldiv.InputError, match="order must be one of 'keep', 'random', not 'sorted'"):
        ldiv.anonymize(table, QI, "ill", 3, order="sorted")


def test_the_order_is_not_drawn_from_what_places_rows_in_groups():
    """Who sees the order of the rows knows the numbers it was made from, so these must not be those that chose which row is starred."""
    release = ldiv.anonymize(people(600), QI, "ill", 3, algorithm="tp", order="random")
    low, high = release.draw & ((1 << 64) - 1), release.draw >> 64
    for entropy in ([low, high], release.draw, low, high):
        assert not np.array_equal(release.publication.rows, np.random.default_rng(entropy).permutation(600))


def change_a_cell(frame):
    starred = frame.index[frame["age"].astype(str) == "*"][0]
    frame = frame.copy()
    frame.loc[starred, "age"] = "1000"
    return frame


@pytest.mark.parametrize("damage, message", [(lambda frame: frame.iloc[::-1].reset_index(drop=True), "withheld"), (change_a_cell, "withheld")])
def test_a_table_that_is_not_what_was_promised_is_withheld(monkeypatch, damage, message):
    """Whatever goes wrong between the release and its table: rows that end in another order than was asked for, a cell that is not the source's."""
    publish = ldiv.Release.publish
    monkeypatch.setattr(ldiv.Release, "publish", lambda self, *a, **k: damage(publish(self, *a, **k)))
    with pytest.raises(ldiv.UnsafeReleaseError, match=message):
        ldiv.anonymize(people(300), QI, "ill", 3, algorithm="tp")


# -- which of several interchangeable rows is starred --------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["tp", "tp+", "cascade", "hilbert", "auto"])
def test_ties_in_a_cell_exclude_the_truth_as_often_as_chance(algorithm):
    """The attack: a starred row of (q, v) never stands before a visible row of (q, v), so a later visible one excludes q."""
    rng = np.random.default_rng(3)
    n = 4000
    data = ldiv.Microdata.from_codes(rng.integers(0, 6, (n, 3)), np.minimum(rng.geometric(0.25, n) - 1, 7))
    options = {"effort": "fast"} if algorithm == "auto" else {}
    release = ldiv.solve(data, 3, algorithm=algorithm, **options)
    cell = data.contingency.cell_of_row
    starred = (release.codes < 0).any(axis=1)
    last = np.full(len(data.contingency.count), -1)
    visible = np.flatnonzero(~starred)
    last[cell[visible]] = visible
    of_split = np.flatnonzero(starred & (last[cell] >= 0))
    assert len(of_split) > 50
    excluded = (last[cell[of_split]] > of_split).mean()
    # In a random order a starred row stands before the last of k visible ones with probability k / (k + 1).
    kinds = np.bincount(cell[visible], minlength=len(last))[cell[of_split]]
    expected = (kinds / (kinds + 1)).mean()
    assert abs(excluded - expected) < 5 * np.sqrt(expected * (1 - expected) / len(of_split)) + 0.03
    # And the share of stars does not depend on where in the file a row stands.
    halves = starred[: n // 2].mean(), starred[n // 2 :].mean()
    assert abs(halves[0] - halves[1]) < 0.06


def test_ties_are_fresh_and_a_seed_repeats_them():
    data = ldiv.Microdata.from_codes(np.repeat([[0], [1]], 40, axis=0), [0] * 25 + [1] * 15 + [1] * 25 + [0] * 15)
    groups = [ldiv.solve(data, 2, algorithm="tp").group.tolist() for _ in range(5)]
    assert any(g != groups[0] for g in groups)
    seeded = [ldiv.solve(data, 2, algorithm="tp", seed=7).group.tolist() for _ in range(2)]
    assert seeded[0] == seeded[1]
    release = ldiv.solve(data, 2, algorithm="tp", seed=7)
    assert str(release.draw) not in repr(release) + release.summary() + release._repr_html_()


# -- copies --------------------------------------------------------------------------------------------------------------


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


# -- what no cell shows --------------------------------------------------------------------------------------------------


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


# -- columns published as they are ---------------------------------------------------------------------------------------


def test_untouched_columns_are_named_measured_and_can_be_left_out():
    rng = np.random.default_rng(1)
    frame = people(1200)
    frame["decade"] = frame["age"] // 10
    frame["twin"] = frame["age"] + 1000
    frame["pid"] = np.arange(len(frame))
    frame["coin"] = rng.integers(0, 2, len(frame))
    release = ldiv.anonymize(frame, QI, "ill", 3, effort="fast")
    columns = {column.name: column for column in release.publication.passing}
    assert list(columns) == ["decade", "twin", "pid", "coin"]
    twin = columns["twin"].gives_back["age"]
    assert twin.right == twin.filled > 0.3 * twin.starred and twin.tells
    assert columns["pid"].alone == 1.0 and columns["pid"].gives_back["age"].filled == 0 and columns["pid"].flags
    assert not columns["coin"].flags
    notes = "\n".join(release.publication.notes())
    assert "'decade', 'twin', 'pid', 'coin'" in notes and "column 'twin' tells more: age" in notes
    less = ldiv.anonymize(frame, QI, "ill", 3, effort="fast", drop=["twin", "pid"])
    assert list(less.frame.columns) == ["age", "ward", "ill", "decade", "coin"]
    assert list(ldiv.anonymize(frame, QI, "ill", 3, effort="fast", only_named=True).frame.columns) == ["age", "ward", "ill"]
    with pytest.raises(ldiv.InputError, match="drop: column 'age' is a quasi-identifier"):
        ldiv.anonymize(frame, QI, "ill", 3, drop=["age"])
    with pytest.raises(ldiv.InputError, match="no column 'nope'"):
        ldiv.anonymize(frame, QI, "ill", 3, drop=["nope"])


# -- stars that are values -----------------------------------------------------------------------------------------------


STARS = {
    "0": [0, 0, 1, 2],
    "-1": [-1, -1, 1, 2],
    "0.5": [0.5, 0.5, 1.5, 2.5],
    "1": [1.0, 1.0, 2.0, 3.0],
    "True": [True, True, False, None],
    "true": [True, True, False, None],
    "2020-01-01": [pd.Timestamp(2020, 1, d) for d in (1, 1, 2, 3)],
    "x": ["x", "x", "y", "z"],
    " x": ["x", "x", "y", "z"],
    "": ["a", "a", None, "b"],
    "nan": [1.0, 1.0, float("nan"), 2.0],
}


@pytest.mark.parametrize(
    "library", [pd.DataFrame, pl.DataFrame, pa.table, lambda x: {k: np.array(v) for k, v in x.items()}], ids=["pandas", "polars", "pyarrow", "dict"]
)
@pytest.mark.parametrize("star", STARS)
def test_a_star_that_could_be_a_value_is_refused(star, library):
    with pytest.raises(ldiv.InputError, match="column 'q' already holds .*: choose another with star="):
        ldiv.anonymize(library({"q": STARS[star], "s": list("abab")}), ["q"], "s", 2, star=star)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_a_null_for_a_star_beside_nulls_is_refused_unless_asked_for(library):
    frame = library({"q": ["a", "b", None, None], "s": list("abab")})
    with pytest.raises(ldiv.InputError, match="'q' has missing values, so a null in place of a star"):
        ldiv.anonymize(frame, ["q"], "s", 2, star=None)
    assert ldiv.anonymize(frame, ["q"], "s", 2, star=None, star_is_null=True).stars == 2


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint64", "bool", "Int32", "boolean"])
def test_null_stars_keep_whole_numbers(dtype):
    values = [1, 1, 0, 0] if "bool" in dtype else [3, 3, 4, 5]
    if dtype in ("int64", "uint64"):
        values = [2**53 + 1, 2**53 + 1, 2**53 + 3, 2**53 + 4]
    frame = pd.DataFrame({"q": pd.Series(values, dtype=dtype), "s": list("abab") if "bool" not in dtype else list("abcc")})
    frame = frame if "bool" not in dtype else pd.DataFrame({"q": pd.Series([True, True, True, False], dtype=dtype), "s": list("abba")})
    out = ldiv.anonymize(frame, ["q"], "s", 2, star=None).frame["q"]
    assert out.dtype == {"bool": "boolean"}.get(dtype, dtype.capitalize().replace("Uint", "UInt") if "bool" not in dtype else dtype)
    assert [int(x) for x in out.dropna()] == [int(values[0])] * len(out.dropna()) and 0 < out.isna().sum() < 4


# -- bins ----------------------------------------------------------------------------------------------------------------


finite = st.floats(allow_nan=False, allow_infinity=False, width=64)
widths = st.floats(1e-6, 1e9) | st.integers(1, 10**6) | st.sampled_from([0.1, 0.05, 0.01, 1 / 3, 0.7, 1e-3, 2.5])


def interval(text):
    if text == "*":
        return float("-inf"), float("inf")
    if text.startswith(">= "):
        return float(text[3:]), float("inf")
    if text.startswith("< "):
        return float("-inf"), float(text[2:])
    return tuple(map(float, text[1:-1].split(", ")))


@settings(deadline=None, max_examples=300)
@given(
    st.lists(
        st.floats(-1e9, 1e9)
        | st.integers(-(10**12), 10**12)
        | st.integers(-500, 500).map(lambda k: k / 10)
        | st.integers(-500, 500).map(lambda k: k / 20),
        min_size=1,
        max_size=30,
    ),
    widths.map(lambda w: ldiv.Bins(width=w))
    | st.integers(1, 6).map(lambda q: ldiv.Bins(quantiles=q))
    | st.lists(finite, min_size=1, max_size=5, unique=True).map(lambda e: ldiv.Bins(edges=sorted(e))),
)
def test_every_value_lies_in_its_interval_and_intervals_are_disjoint(values, bins):
    table = {"x": np.array(values, dtype=float)}
    try:
        texts = ldiv.coarsen(table, {"x": bins})["x"].tolist()
    except ldiv.InputError as error:
        assert "finer than" in str(error)
        return
    for value, text in zip(table["x"], texts, strict=True):
        low, high = interval(text)
        assert low <= value < high and "nan" not in text and "inf" not in text
    edges = sorted({interval(text) for text in texts})
    assert all(a[1] <= b[0] for a, b in zip(edges, edges[1:], strict=False)) and len(edges) == len(set(texts))
    assert ldiv.verify({**table, "s": np.arange(len(values))}, {"x": np.array(texts), "s": np.arange(len(values))}, ["x"], "s", 1)


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1/2", "1_000", "ten", True])
def test_what_is_no_finite_number_is_not_binned(value):
    with pytest.raises(ldiv.InputError, match="column 'x' cannot be binned: .* is not a"):
        ldiv.coarsen({"x": ["12", value]}, {"x": ldiv.Bins(width=10)})
    with pytest.raises(ldiv.InputError, match="must be above 0|cannot be binned"):
        ldiv.Bins(width=float("nan") if value == "nan" else -1)


# -- after an attacker's report ------------------------------------------------------------------------------------------


def test_a_copy_of_a_starred_column_and_an_index_are_flagged():
    frame = people(600)
    frame["copy"] = frame["age"].map("{:d}".format)
    frame.index = frame["age"].rename("who")
    release = ldiv.anonymize(frame, QI, "ill", 3, effort="fast")
    passing = {column.name: column for column in release.publication.passing}
    assert set(passing) == {"copy", "index who"}
    for column in passing.values():
        guess = column.gives_back["age"]
        assert guess.right == guess.starred > 100 and column.flags
    assert "column 'index who' tells more" in "\n".join(release.publication.notes())
    unique = pd.DataFrame({"q": [1, 1, 7, 8], "x": [1, 1, 7, 8], "s": list("abab")})
    assert ldiv.anonymize(unique, ["q"], "s", 2).publication.passing[0].flags


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


def test_rows_beside_a_slice_do_not_come_along():
    whole = pa.table({"q": [1, 1, 2, 2, 987654321], "x": [5, 5, 5, 5, 987654321], "s": list("ababc")})
    frame = ldiv.anonymize(whole.slice(0, 4), ["q"], "s", 2).frame
    for name in ("q", "x"):
        for buffer in frame[name].combine_chunks().buffers():
            assert buffer is None or 987654321 not in np.frombuffer(buffer, np.int64)
