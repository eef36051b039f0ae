"""Dataframes in and out: kinds, dtypes, order, index, missing values, and what must not be touched."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ldiv

COLUMNS = {
    "text": ["b", "a", "", "b", "c", "a"],
    "whole": [3, -1, 3, 3, 7, -1],
    "real": [0.5, -0.0, 0.0, 0.5, 2.25, 0.0],
    "flag": [True, False, True, True, False, True],
    "day": [datetime.date(2020, 1, d) for d in (1, 2, 1, 1, 3, 2)],
    "other": ["u", "v", "w", "x", "y", "z"],
    "ill": ["flu", "flu", "cold", "cold", "cough", "flu"],
}
QI = ["text", "whole", "real", "flag", "day"]
KINDS = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": lambda x: pa.table(x),
    "dict": lambda x: {k: np.array(v) for k, v in x.items()},
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def values(frame, name):
    column = frame[name]
    return column.to_pylist() if isinstance(column, pa.ChunkedArray) else list(np.asarray(column, dtype=object))


@every_kind
@pytest.mark.parametrize("name", QI)
def test_codes_follow_sorted_values(kind, name):
    data = ldiv.Microdata.from_frame(KINDS[kind](COLUMNS), [name], "ill")
    distinct = sorted({x + 0.0 if isinstance(x, float) else x for x in COLUMNS[name]})
    assert data.codes[:, 0].tolist() == [distinct.index(x) for x in COLUMNS[name]]
    assert data.domains[0].size == len(distinct)
    assert data.domains[0].ordered == (name != "text")


@every_kind
def test_release_keeps_everything_but_starred_qi_cells(kind):
    frame = KINDS[kind](COLUMNS)
    release = ldiv.anonymize(frame, ["text", "whole"], "ill", 2)
    out = release.frame
    assert type(out) is type(frame)
    assert list(out.keys() if kind == "dict" else (out.column_names if kind == "pyarrow" else out.columns)) == list(COLUMNS)
    for name in COLUMNS:
        if name not in ("text", "whole"):
            assert values(out, name) == values(frame, name)
    starred = 0
    for name in ("text", "whole"):
        for before, after, code in zip(COLUMNS[name], values(out, name), release.codes[:, ["text", "whole"].index(name)], strict=True):
            assert str(after) == ("*" if code < 0 else str(before))
            starred += after == "*"
    assert starred == release.stars > 0
    assert ldiv.check(out, ["text", "whole"], "ill", 2)
    assert values(frame, "whole") == COLUMNS["whole"]


@every_kind
def test_all_kinds_give_the_same_release(kind):
    reference = ldiv.anonymize(KINDS["pandas"](COLUMNS), QI, "ill", 2)
    release = ldiv.anonymize(KINDS[kind](COLUMNS), QI, "ill", 2)
    assert release.codes.tolist() == reference.codes.tolist()


def test_columns_without_stars_keep_their_dtype():
    frame = pd.DataFrame({"a": [1, 1, 1, 1], "b": [5, 6, 7, 8], "s": list("xyxy")})
    release = ldiv.anonymize(frame, ["a", "b"], "s", 2)
    assert release.frame["a"].dtype == frame["a"].dtype
    assert release.frame["b"].tolist() == ["*"] * 4


@pytest.mark.parametrize(
    "index", [[7, 7, 7, 7], ["p", "q", "p", "r"], pd.MultiIndex.from_product([[0, 1], [0, 1]]), pd.date_range("2020", periods=4)]
)
def test_any_index_is_kept(index):
    frame = pd.DataFrame({"a": [1, 1, 1, 1], "b": ["u", "v", "w", "x"], "s": list("xyyx")}, index=index)
    before = frame.copy(deep=True)
    out = ldiv.anonymize(frame, ["a", "b"], "s", 2).frame
    assert out.index.equals(frame.index)
    assert out["a"].tolist() == [1, 1, 1, 1] and out["b"].tolist() == ["*"] * 4
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize("dtype", ["Int64", "string", "category", "float32", "boolean"])
def test_pandas_dtypes_and_missing(dtype):
    raw = {"boolean": [True, None, True, None]}.get(dtype, [1, None, 1, None])
    frame = pd.DataFrame(
        {
            "a": pd.array([str(x) if x and dtype == "string" else x for x in raw], dtype=dtype)
            if dtype not in ("category", "float32")
            else pd.Series(raw, dtype=dtype),
            "s": list("xyyx"),
        }
    )
    data = ldiv.Microdata.from_frame(frame, ["a"], "s")
    assert data.codes[:, 0].tolist() == [0, 1, 0, 1] and data.domains[0].labels[1] is None
    assert ldiv.anonymize(frame, ["a"], "s", 2).stars == 0
    with pytest.raises(ldiv.InputError, match="2 missing values in column 'a', the first in row 1"):
        ldiv.anonymize(frame, ["a"], "s", 2, missing="error")


@every_kind
def test_missing_sensitive_is_an_error_unless_asked(kind):
    table = {"a": [1, 1, 2, 2], "s": [1.0, float("nan"), 1.0, 3.0]}
    frame = KINDS[kind](table)
    with pytest.raises(ldiv.InputError, match="missing values in the sensitive column 's', the first in row 1"):
        ldiv.anonymize(frame, ["a"], "s", 2)
    assert ldiv.anonymize(frame, ["a"], "s", 2, missing={"sensitive": "value"}).max_l == 2
    with pytest.raises(ldiv.InputError, match="missing="):
        ldiv.anonymize(frame, ["a"], "s", 2, missing="drop")


def test_nulls_of_polars_and_arrow():
    for frame in (
        pl.DataFrame({"a": ["x", None, "x", None], "s": [1, 2, 2, 1]}),
        pa.table({"a": pa.array(["x", None, "x", None]), "s": [1, 2, 2, 1]}),
    ):
        data = ldiv.Microdata.from_frame(frame, ["a"], "s")
        assert data.codes[:, 0].tolist() == [0, 1, 0, 1]
        out = ldiv.anonymize(frame, ["a"], "s", 2).frame
        assert values(out, "a") == ["x", None, "x", None]


def test_the_empty_string_is_a_value():
    data = ldiv.Microdata.from_frame({"a": np.array(["", "x", ""]), "s": np.array([1, 2, 3])}, ["a"], "s")
    assert data.domains[0].labels == ["", "x"]


def test_values_equal_across_types_stay_apart():
    frame = pd.DataFrame({"a": pd.Series([1, True, 1.0, "1"], dtype=object), "s": [1, 2, 3, 4]})
    assert len(set(ldiv.Microdata.from_frame(frame, ["a"], "s").codes[:, 0])) == 4


def test_categories():
    frame = pd.DataFrame({"a": pd.Categorical(["lo", "hi", "lo", "mid"], ["lo", "mid", "hi", "never"], ordered=True), "s": [1, 2, 2, 1]})
    data = ldiv.Microdata.from_frame(frame, ["a"], "s")
    assert data.domains[0].labels == ["lo", "mid", "hi"] and data.domains[0].ordered
    out = ldiv.anonymize(frame, ["a"], "s", 2).frame
    assert isinstance(out["a"].dtype, pd.CategoricalDtype) and out["a"].tolist() == ["lo", "*", "lo", "*"]
    for dtype in (pl.Categorical, pl.Enum(["lo", "mid", "hi"])):
        table = pl.DataFrame({"a": pl.Series(["lo", "hi", "lo", "mid"], dtype=dtype), "s": [1, 2, 2, 1]})
        out = ldiv.anonymize(table, ["a"], "s", 2).frame
        assert out["a"].to_list() == ["lo", "*", "lo", "*"] and out["a"].dtype == pl.Categorical
    arrow = pa.table({"a": pa.array(["lo", "hi", "lo", "mid"]).dictionary_encode(), "s": [1, 2, 2, 1]})
    assert values(ldiv.anonymize(arrow, ["a"], "s", 2).frame, "a") == ["lo", "*", "lo", "*"]


def test_star_none_writes_nulls():
    frame = pl.DataFrame({"a": [1, 2], "s": ["x", "y"]})
    out = ldiv.anonymize(frame, ["a"], "s", 2, star=None).frame
    assert out["a"].to_list() == [None, None] and out["a"].dtype == pl.Int64
    out = ldiv.anonymize(pd.DataFrame({"a": ["u", "v"], "s": [1, 2]}), ["a"], "s", 2, star=None).frame
    assert out["a"].isna().all()


def test_a_star_that_is_a_value_is_refused_only_where_it_would_mislead():
    frame = pd.DataFrame({"a": ["*", "x", "y", "y"], "s": [1, 2, 1, 2]})
    with pytest.raises(ldiv.LdivError, match="column 'a' already holds the value '\\*'"):
        ldiv.anonymize(frame, ["a"], "s", 2)
    out = ldiv.anonymize(frame, ["a"], "s", 2, star="?").frame
    assert out["a"].tolist() == ["?", "?", "y", "y"]
    again = ldiv.anonymize(out.replace("?", "*"), ["a"], "s", 2)  # a release stays as it is
    assert again.stars == 0 and again.frame["a"].tolist() == ["*", "*", "y", "y"]


def test_big_integers_decimals_and_dates():
    frame = pd.DataFrame(
        {
            "id": [2**62, 2**62 + 1, 2**62, 2**62 + 1],
            "money": [Decimal("1.10"), Decimal("2.20"), Decimal("1.10"), Decimal("2.20")],
            "when": pd.to_datetime(["2020-01-01", "2021-01-01"] * 2, utc=True),
            "s": [1, 2, 2, 1],
        }
    )
    assert ldiv.Microdata.from_frame(frame, ["id", "money", "when"], "s").codes.tolist() == [[0] * 3, [1] * 3] * 2


@pytest.mark.parametrize(
    "call, message",
    [
        (dict(qi=["nope"], sensitive="s"), "no column 'nope' in the table; there are: 'a', 's'"),
        (dict(qi=["a"], sensitive="nope"), "no column 'nope'"),
        (dict(qi=["a", "s"], sensitive="s"), "'s' cannot be both"),
        (dict(qi=["a", "a"], sensitive="s"), "'a' is named twice"),
        (dict(qi=[], sensitive="s"), "qi is empty"),
        (dict(qi=["a"], sensitive="s", domains={"b": 3}), "no column 'b'"),
        (dict(qi=["a"], sensitive="s", domains={"a": 1}), "declared with 1 values but 2"),
        (dict(qi=["a"], sensitive="s", domains={"a": [5]}), "value 1 of column 'a' is not in its declared domain"),
        (dict(qi=["a"], sensitive="s", algorithm="best"), "no algorithm 'best'; there are: "),
        (dict(qi=["a"], sensitive="s", l=2.0), "l must be a whole number, not 2.0"),
        (dict(qi=["a"], sensitive="s", l="2"), "l must be a whole number, not '2'"),
        (dict(qi=["a"], sensitive="s", l=0), "l must be at least 1"),
    ],
)
def test_bad_input_is_named(call, message):
    frame = pd.DataFrame({"a": [1, 2], "s": [1, 2]})
    with pytest.raises(ldiv.InputError, match=message.replace("*", "\\*")):
        ldiv.anonymize(frame, **{"l": 2, **call})


def test_bad_tables_are_named():
    doubled = pd.DataFrame([[1, 2, 3]], columns=["a", "a", "s"])
    with pytest.raises(ldiv.InputError, match="'a' stands twice"):
        ldiv.anonymize(doubled, ["a"], "s", 1)
    with pytest.raises(ldiv.InputError, match="cannot read a list"):
        ldiv.anonymize([1], ["a"], "s", 1)
    with pytest.raises(ldiv.InputError, match="differ in length"):
        ldiv.anonymize({"a": [1, 2], "s": [1]}, ["a"], "s", 1)
    with pytest.raises(ldiv.InputError, match="row 0: a list cannot be"):
        ldiv.anonymize(pd.DataFrame({"a": [[1], [2]], "s": [1, 2]}), ["a"], "s", 1)


def test_declared_domains():
    table = {"a": np.array([4, 2]), "s": np.array(["x", "y"])}
    data = ldiv.Microdata.from_frame(table, ["a"], "s", domains={"a": range(10), "s": 7})
    assert data.codes[:, 0].tolist() == [4, 2] and data.domains[0].size == 10 and data.m == 7


def test_from_codes_checks():
    for codes, sensitive, sizes, message in [
        ([[0], [3]], [0, 0], [3], "code 3 of 'A1' in row 1 is outside its domain 0..2"),
        ([[0], [-1]], [0, 0], None, "code -1 of 'A1' in row 1"),
        ([[0.5]], [0], None, "must be integers"),
        ([0, 1], [0, 1], None, "shape"),
        ([[0]], [0, 1], None, "shape"),
    ]:
        with pytest.raises(ldiv.InputError, match=message):
            ldiv.Microdata.from_codes(codes, sensitive, sizes)


def test_check_judges_other_tools_output():
    table = {"a": ["*", "*", "1", "1"], "s": ["x", "y", "x", "x"]}
    report = ldiv.check(table, ["a"], "s", 2)
    assert not report and report.max_l == 1 and report.groups == 2
    (violation,) = report.violations
    assert (violation.group, violation.value, violation.count, violation.excess) == ({"a": "1"}, "x", 2, 1)
    assert ldiv.check(table, ["a"], "s", 1)


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_whole_numbers_at_the_ends_of_their_type(kind):
    """As codes for algorithms, and as verification reads them: the very numbers, at either end and across the whole."""
    from ldiv.privacy.verify.published import encode_published
    from ldiv.table.encoding import encode_sortable

    ends = np.iinfo(kind)
    least = min(ends.min, 0)
    for values in ([ends.min, ends.min + 3], [ends.max - 3, ends.max, ends.max], [least, 0, 1], [0, ends.max], [ends.min, ends.max]):
        array = np.array(values, dtype=kind)
        codes, labels, _ = encode_sortable(array, np.zeros(len(array), bool), True)
        assert [labels[code] for code in codes] == values and labels == sorted(labels) and all(type(x) is int for x in labels)
        seen = encode_published(array)
        assert [seen.values[code] for code in seen.codes] == values
        table = {"q": np.repeat(array, 4), "s": np.tile([0, 1, 2, 3], len(array))}
        assert sorted(ldiv.anonymize(table, ["q"], "s", 4, order="random").frame["q"].tolist()) == sorted(np.repeat(array, 4).tolist())
