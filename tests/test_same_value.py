"""When two values are the same: QI told apart as finely, SA taken as one as coarsely as anyone could, in frames, CSV and Parquet alike."""

import csv
import datetime as dt
import io
from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ldiv
from ldiv.table.text import alike, merge_alike, text_of

NAN = float("nan")
MOMENT = dt.datetime(2024, 5, 1, 10)
AMBIGUOUS = [
    1,
    True,
    1.0,
    "1",
    np.int64(1),
    np.float32(1),
    Decimal("1"),
    Decimal("1.0"),
    Decimal("1.00"),
    0.0,
    -0.0,
    0,
    False,
    "0",
    "-0",
    None,
    NAN,
    "",
    pd.NA,
    pd.NaT,
    MOMENT,
    pd.Timestamp(MOMENT),
    MOMENT.replace(tzinfo=dt.UTC),
    pd.Timestamp("2024-05-01 12:00+02:00"),
    "2024-05-01 10:00:00",
    dt.date(2024, 5, 1),
    "2024-05-01",
    (1, 2),
    (1, 2.0),
    "é",
    "e\u0301",
    "x",
    " x",
    "True",
    "true",
]
rows = st.lists(st.tuples(st.sampled_from(AMBIGUOUS), st.sampled_from("abc")), min_size=4, max_size=24)


def is_diverse(groups, values, l):
    """The plainest reading of a written table: text by text."""
    found = {}
    for group, value in zip(groups, values, strict=True):
        found.setdefault(group, Counter())[value] += 1
    return all(count.total() >= l * max(count.values()) for count in found.values())


def column(values):
    return pd.Series(values, dtype=object)


@settings(deadline=None, max_examples=150)
@given(rows)
def test_the_written_file_of_any_mixture_is_l_diverse(table):
    q, s = zip(*table, strict=True)
    frame = pd.DataFrame({"q": column(q), "s": list(s)})
    if ldiv.max_l(frame, "s") < 2:
        return
    release = ldiv.anonymize(frame, ["q"], "s", 2, star="#", order="random").frame
    written = list(csv.DictReader(io.StringIO(release.to_csv(index=False))))
    assert is_diverse([row["q"] for row in written], [row["s"] for row in written], 2)
    assert is_diverse([(type(x), str(x)) for x in release["q"]], release["s"], 2)


@settings(deadline=None, max_examples=150)
@given(rows)
def test_a_sensitive_column_counts_its_values_as_coarsely_as_anyone_could(table):
    s, q = zip(*table, strict=True)
    frame = pd.DataFrame({"q": list(q), "s": column(s)})
    missing = {"sensitive": "value"}
    report = ldiv.check(frame, ["q"], "s", 2, missing=missing)
    written = pd.read_csv(io.StringIO(frame.to_csv(index=False)), dtype=str, keep_default_na=False)
    by_text = is_diverse(written["q"], written["s"], 2)
    by_value = is_diverse(q, [("none",) if pd.isna(x) is True else x for x in s], 2)
    by_number = is_diverse(q, [alike(x) for x in s], 2)
    assert not report or (by_text and by_value and by_number)
    assert ldiv.max_l(frame, "s", missing=missing) <= ldiv.max_l(written, "s")


@pytest.mark.parametrize(
    "pair",
    [
        (250, "250"),
        (250, np.int64(250)),
        (MOMENT, pd.Timestamp(MOMENT)),
        (MOMENT, np.datetime64(MOMENT)),
        (True, np.bool_(True)),
        (1.5, np.float64(1.5)),
        (1, True),
        (0.0, -0.0),
        (Decimal("1.10"), Decimal("1.1")),
        (None, ""),
        (NAN, None),
        (pd.NaT, ""),
        ("é", "e\u0301"),
        (0.1, np.float32(0.1)),
        ("1", "1.0"),
        (pd.Timestamp("2024-05-01 10:00+00:00"), pd.Timestamp("2024-05-01 12:00+02:00")),
        (b"a", "61"),
        ("NA", None),
        ("null", "N/A"),
        ("NULL", ""),
        ("inf", "1e400"),
        ("inf", "Infinity"),
        ("1e-400", "0"),
        ("12:00", "12:00:00"),
        ("2020-1-1", "2020-01-01"),
        ("2020-01-01 10:00Z", "2020-01-01 10:00"),
        ("true", "t"),
        (np.float32(0.1), "0.1"),
    ],
)
def test_pairs_that_are_one_sensitive_value(pair):
    frame = pd.DataFrame({"q": ["x", "x"], "s": column(pair)})
    assert merge_alike(pair).tolist() == [0, 0]
    assert ldiv.max_l(frame, "s", missing={"sensitive": "value"}) == 1
    assert not ldiv.check(frame, ["q"], "s", 2, missing={"sensitive": "value"})
    assert not ldiv.verify(frame, frame, ["q"], "s", 2)


@pytest.mark.parametrize(
    "pair",
    [
        ("flu", " flu"),
        ("flu\u00a0", "flu"),
        ("2024-05-01T10:00:00+00:00", "2024-05-01 12:00:00+02:00"),
        ("2024-05-01T10:00:00Z", "2024-05-01 10:00:00+00:00"),
        (Fraction(1, 2), 0.5),
        (True, "1"),
        (False, "0"),
        (True, "true"),
    ],
)
def test_pairs_that_could_be_taken_for_one(pair):
    assert merge_alike(pair).tolist() == merge_alike(pair[::-1]).tolist() == [0, 0]
    assert merge_alike(["x", *pair, "y"]).tolist() == [0, 1, 1, 3]


@pytest.mark.parametrize(
    "pair", [("flu", "Flu"), (1, 2), ("01x", "1x"), (dt.date(2020, 1, 1), dt.date(2020, 1, 2)), (2**60, 2**60 + 1), ("12:00", "13:00")]
)
def test_pairs_that_are_two(pair):
    assert ldiv.max_l(pd.DataFrame({"s": column(pair)}), "s", missing={"sensitive": "value"}) == 2


def test_large_whole_numbers_are_one_beside_a_fraction():
    pair = ["9007199254740993", "9007199254740992"]
    assert merge_alike(pair).tolist() == [0, 1]
    assert merge_alike([*pair, "1.5"]).tolist() == [0, 0, 2] == merge_alike([*map(int, pair), None]).tolist()


def zeros(kind):
    values = [0.0, -0.0, 0.0, -0.0, float("nan")]
    table = {"q": values, "s": list("uvuvw")}
    if kind == "dict":
        return {name: np.array(column) for name, column in table.items()}
    return {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[kind](table)


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow", "dict"])
def test_a_column_of_numbers_publishes_one_zero_and_one_missing_value(kind):
    out = ldiv.anonymize(zeros(kind), ["q"], "s", 1).frame["q"]
    values = out.to_pylist() if isinstance(out, pa.ChunkedArray) else list(out)
    assert {str(value) for value in values[:4]} == {"0.0"}
    objects = pd.DataFrame({"q": pd.Series([None, float("nan"), pd.NA, None], dtype=object), "s": list("abab")})
    assert [x is None for x in ldiv.anonymize(objects, ["q"], "s", 2).frame["q"]] == [True] * 4
    mixed = pa.table({"q": pa.array([None, float("nan"), None, float("nan")], from_pandas=False), "s": list("abab")})
    for table in (mixed, pl.from_arrow(mixed)):
        shown = ldiv.anonymize(table, ["q"], "s", 2).frame["q"]
        assert (shown.null_count if isinstance(shown, pa.ChunkedArray) else shown.null_count()) == 4


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_null_and_empty_are_one_sensitive_value_in_every_library(make):
    frame = make({"q": ["x", "x", "y", "y"], "s": ["", None, "flu", "gout"]})
    assert not ldiv.check(frame, ["q"], "s", 2, missing={"sensitive": "value"})
    release = ldiv.anonymize(frame, ["q"], "s", 2, missing={"sensitive": "value"})
    assert release.stars == 4


def test_declared_sensitive_domains_merge_too():
    data = ldiv.Microdata.from_frame({"q": [1, 1], "s": np.array(["01", "1"])}, ["q"], "s", domains={"s": ["01", "1", "2"]})
    assert data.sensitive.tolist() == [0, 0] and data.m == 3


LIBRARIES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "dict": lambda x: {k: v if isinstance(v, np.ndarray) else np.array(v) for k, v in x.items()},
}
TYPED = {
    "float32": (np.array([0.1, 0.1, 2.5, 3.5], np.float32), "0.1"),
    "float": ([30.0, 30.0, 40.5, 50.5], "30.0"),
    "int": ([7, 7, 8, 9], "7"),
    "large": ([1e22, 1e22, 2.0, 3.0], "1e+22"),
    "bool": ([True, True, True, False], "True"),
    "moment": ([dt.datetime(2020, 1, 1, 10, 30)] * 2 + [dt.datetime(2021, 1, 1), dt.datetime(2022, 1, 1)], "2020-01-01 10:30:00"),
    "micro": ([dt.datetime(2020, 1, 1, 10, 30, 0, 5)] * 2 + [dt.datetime(2021, 1, 1), dt.datetime(2022, 1, 1)], "2020-01-01 10:30:00.000005"),
    "duration": ([dt.timedelta(seconds=90)] * 2 + [dt.timedelta(days=2), dt.timedelta(0)], "0:01:30"),
    "day": ([dt.date(2020, 1, 1)] * 2 + [dt.date(2021, 1, 1), dt.date(2022, 1, 1)], "2020-01-01"),
}


@pytest.mark.parametrize("name", TYPED)
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_kept_value_has_one_text_whatever_the_library(name, library):
    values, text = TYPED[name]
    labels = list("abab") if name != "bool" else list("abba")
    out = ldiv.anonymize(LIBRARIES[library]({"q": values, "s": labels}), ["q"], "s", 2).frame["q"]
    out = out.to_pylist() if isinstance(out, pa.ChunkedArray) else list(out)
    assert set(out) == {text, "*"}


def test_moments_in_a_zone_keep_their_offset():
    zone = "Europe/Berlin"
    local = pd.to_datetime(["2024-10-27 00:30", "2024-10-27 01:30"] * 2, utc=True).tz_convert(zone)  # 02:30 twice that night
    frame = pd.DataFrame({"q": local, "x": [1, 2, 3, 4], "s": list("abab")})
    for table in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        data = ldiv.Microdata.from_frame(table, ["q"], "s")
        assert data.source.texts("q", data.codes[:, 0]) == ["2024-10-27 02:30:00+02:00", "2024-10-27 02:30:00+01:00"]


@pytest.mark.parametrize(
    "value, text",
    [
        (np.datetime64("2020-01-01T00:00:00.000000001"), "2020-01-01 00:00:00.000000001"),
        (pd.Timedelta("1 days 00:00:00.000000005"), "1 day, 0:00:00+5ns"),
        (np.float16(0.1), "0.1"),
        (b"\xff", "ff"),
        (Decimal("1.10"), "1.10"),
        (-0.0, "-0.0"),
        (np.timedelta64(90, "s"), "0:01:30"),
    ],
)
def test_texts(value, text):
    assert text_of(value) == text
