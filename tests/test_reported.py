"""What users of such tools reported: odd tables that must work, and bad ones that must be refused by name."""

import numpy as np
import pytest

import ldiv

pd = pytest.importorskip("pandas")


def release(columns, qi, l=2, sensitive="s", **options):
    return ldiv.anonymize(pd.DataFrame(columns), qi, sensitive, l, **options)


def test_no_rows_and_one_row():
    empty = release({"a": np.zeros(0, int), "s": np.zeros(0, int)}, ["a"])
    assert len(empty.frame) == 0 and empty.stars == 0 and list(empty.frame.columns) == ["a", "s"]
    with pytest.raises(ldiv.NotEligibleError, match="largest feasible l is 1"):
        release({"a": [1], "s": [1]}, ["a"])
    assert release({"a": [1], "s": [1]}, ["a"], l=1).frame["a"].tolist() == [1]


@pytest.mark.parametrize("algorithm", ["tp", "tp+", "hilbert", "cascade", "auto"])
def test_one_and_seventy_and_two_hundred_columns(algorithm):
    rng = np.random.default_rng(0)
    for d in (1, 70, 200):
        table = {f"q{j}": rng.integers(0, 3, 60) for j in range(d)} | {"s": rng.permutation(np.arange(60) % 4)}
        out = release(table, [f"q{j}" for j in range(d)], l=3, algorithm=algorithm)
        assert out.max_l >= 3 and out.frame.shape == (60, d + 1)


def test_columns_are_refused_by_name():
    table = {"a": [1, 1], "s": [1, 2]}
    doubled = pd.DataFrame([[1, 1, 2], [1, 1, 3]], columns=["a", "a", "s"])
    with pytest.raises(ldiv.InputError, match="'a' stands twice"):
        ldiv.anonymize(doubled, ["a"], "s", 2)
    with pytest.raises(ldiv.InputError, match="'s' cannot be both"):
        release(table, ["a", "s"])
    with pytest.raises(ldiv.InputError, match="qi is empty"):
        release(table, [])
    with pytest.raises(ldiv.InputError, match="no column 'b'"):
        release(table, ["b"])


def test_names_that_are_not_text_or_mean_something_elsewhere():
    frame = pd.DataFrame({0: [1, 1, 2, 3], (1, 2): [5, 5, 5, 6], "s": list("abab")})
    assert not isinstance(frame.columns, pd.MultiIndex)
    assert list(ldiv.anonymize(frame, [0, (1, 2)], "s", 2).frame.columns) == list(frame.columns)
    names = ["count", "index", "group", "*"]
    table = {name: [1, 1, 2, 3] for name in names} | {"s": list("abab")}
    assert list(release(table, names).frame.columns) == [*names, "s"]


def test_a_release_again_changes_nothing():
    table = {"a": [1, 1, 2, 3], "b": [1, 1, 2, 2], "s": list("abab")}
    once = release(table, ["a", "b"]).frame
    twice = ldiv.anonymize(once, ["a", "b"], "s", 2)
    assert twice.stars == 0 and twice.frame.equals(once)
    stars = pd.DataFrame({"a": ["*"] * 4, "s": list("abab")})
    assert ldiv.anonymize(stars, ["a"], "s", 2).frame.equals(stars)


def test_a_constant_column_and_constant_sensitive_values():
    assert release({"a": [7] * 4, "s": list("abab")}, ["a"]).stars == 0
    with pytest.raises(ldiv.NotEligibleError, match="'x' stands in 4 of 4 rows"):
        release({"a": [1, 2, 3, 4], "s": ["x"] * 4}, ["a"])
    with pytest.raises(ldiv.InputError, match="4 missing values in the sensitive column 's'"):
        release({"a": [1, 2, 3, 4], "s": [None] * 4}, ["a"])


@pytest.mark.parametrize(
    ("l", "message"), [(2.0, "float"), ("2", "str"), (0, "at least 1"), (-1, "at least 1"), (True, "bool"), (None, "l is missing")]
)
def test_l_of_other_kinds(l, message):
    with pytest.raises(ldiv.InputError, match=message):
        release({"a": [1, 1], "s": [1, 2]}, ["a"], l=l)


def test_l_of_one_stars_nothing():
    assert release({"a": [1, 2, 3], "s": [1, 1, 1]}, ["a"], l=1).stars == 0


def test_unicode_and_very_long_values():
    values = ["Ζωή", "名前", "e\u0301", "é", "x" * 100_000, ""]
    out = release({"a": values * 2, "s": ["u"] * 6 + ["v"] * 6}, ["a"])
    assert out.stars == 0 and out.frame["a"].tolist() == values * 2


def test_a_star_that_is_a_value():
    table = {"a": ["*", "*", "b", "c"], "s": list("abab")}
    with pytest.raises(ldiv.LdivError, match="choose another with star="):
        release(table, ["a"])
    assert release(table, ["a"], star="?").frame["a"].tolist() == ["*", "*", "?", "?"]


@pytest.mark.parametrize("kind", ["Int64", "boolean", "string", "datetime64[ns]", "category"])
def test_nullable_kinds_keep_their_dtype_with_null_stars(kind):
    values = {
        "Int64": [1, 1, 2, 3],
        "boolean": [True, True, False, None],
        "string": list("aabc"),
        "category": list("aabc"),
        "datetime64[ns]": ["2020-01-01"] * 2 + ["2021-01-01", "2022-01-01"],
    }[kind]
    frame = pd.DataFrame({"a": pd.Series(values).astype(kind), "s": list("abab")})
    out = ldiv.anonymize(frame, ["a"], "s", 2, star=None)
    assert out.frame["a"].isna().tolist() == [False, False, True, True]
    assert out.frame["a"].dtype == (frame["a"].dtype if kind != "category" else pd.CategoricalDtype(["a"]))


def test_large_ids_and_mixed_columns():
    big = 2**62
    out = release({"a": [big, big, big + 1, big + 2], "s": list("abab")}, ["a"])
    assert out.frame["a"].tolist() == [str(big), str(big), "*", "*"]
    mixed = pd.DataFrame({"a": pd.Series([1, "1", 1, "1"], dtype=object), "s": list("abba")})
    assert ldiv.anonymize(mixed, ["a"], "s", 2).stars == 0


def test_other_frames_come_back_as_they_are():
    table = {"a": [30, 30, 40, 50], "s": list("abab")}
    pl = pytest.importorskip("polars")
    lazy = ldiv.anonymize(pl.DataFrame(table).lazy(), ["a"], "s", 2).frame
    assert isinstance(lazy, pl.LazyFrame) and lazy.collect()["a"].to_list() == ["30", "30", "*", "*"]
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.from_arrow(pl.DataFrame(table).to_arrow())
    out = ldiv.anonymize(relation, ["a"], "s", 2).frame
    assert isinstance(out, duckdb.DuckDBPyRelation) and sorted(row[0] for row in out.fetchall()) == ["*", "*", "30", "30"]
    ibis = pytest.importorskip("ibis")
    out = ldiv.anonymize(ibis.memtable(pd.DataFrame(table)), ["a"], "s", 2).frame
    assert isinstance(out, ibis.Table) and sorted(out.to_pandas()["a"]) == ["*", "*", "30", "30"]
    with pytest.raises(ldiv.InputError, match="cannot read a list"):
        ldiv.anonymize([1, 2], ["a"], "s", 2)
