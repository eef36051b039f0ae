"""The release against its source: every kind of wrong release is refused, every right one passes, in whatever order its rows stand."""

import itertools
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import ldiv
from ldiv.privacy.verify.cells import holds

QI = ["age", "city"]


def source(n=60, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 26, n),
            "city": rng.choice(["Rome", "Bari", "Lyon"], n),
            "ill": rng.choice(list("abcd"), n),
            "note": rng.integers(0, 9, n),
        }
    )


def released(table, l=2, **options):
    return ldiv.anonymize(table, QI, "ill", l, algorithm="tp", seed=1, **options).frame


def first(column, condition):
    return int(np.flatnonzero(condition(column))[0])


def rows_deleted(out):
    return out[(out[QI].astype(str) != "*").all(axis=1)].reset_index(drop=True)


def row_doubled(out):
    return pd.concat([out, out.tail(1)], ignore_index=True)


def row_replaced_by_a_copy(out):
    return pd.concat([out.head(1), out.head(1), out.iloc[2:]], ignore_index=True)


def sensitive_changed(out):
    return out.assign(ill=["d", *out["ill"][1:]] if out["ill"][0] != "d" else ["a", *out["ill"][1:]])


def sensitive_rotated(out):
    return out.assign(ill=out["ill"].to_numpy()[::-1])


def other_column_changed(out):
    return out.assign(note=[99, *out["note"][1:]])


def value_swapped(out):
    city = out["city"].tolist()
    at = first(out["city"], lambda c: c.to_numpy() != "*")
    city[at] = "Lyon" if city[at] != "Lyon" else "Bari"
    return out.assign(city=city)


def value_invented(out):
    age = out["age"].tolist()
    age[first(out["age"], lambda c: c.to_numpy() == "*")] = "99"
    return out.assign(age=age)


def range_without_the_value(out):
    return out.assign(age=["[30 - 40]", *out["age"][1:]])


def set_without_the_value(out):
    return out.assign(city=["{Oslo, Lund}", *out["city"][1:]])


def column_invented(out):
    return out.assign(new=1)


WRONG = [
    rows_deleted,
    row_doubled,
    row_replaced_by_a_copy,
    sensitive_changed,
    sensitive_rotated,
    other_column_changed,
    value_swapped,
    value_invented,
    range_without_the_value,
    set_without_the_value,
    column_invented,
]


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("wrong", WRONG)
def test_releases_that_have_little_to_do_with_their_source_are_refused(wrong, shuffled):
    table = source()
    out = released(table)
    assert ldiv.verify(table, out, QI, "ill", 2)
    bad = wrong(out.copy())
    bad = bad.sample(frac=1, random_state=3).reset_index(drop=True) if shuffled else bad
    verdict = ldiv.verify(table, bad, QI, "ill", 1)
    assert not verdict and verdict.faults and str(verdict).startswith("no (QI age, city; sensitive ill): ")


def test_a_star_taken_back_is_not_diverse():
    table = source(400)
    out = ldiv.anonymize(table, QI, "ill", 3, algorithm="tp", seed=1).frame
    back = out.assign(age=table["age"].astype(str), city=table["city"])
    verdict = ldiv.verify(table, back, QI, "ill", 3)
    assert not verdict and any("more than 1/3" in fault for fault in verdict.faults)
    assert not ldiv.verify(table, out, QI, "ill", 3, k=10**6)


def test_columns_are_those_of_the_call_and_named():
    table = source()
    by_city = ldiv.anonymize(table, ["city"], "ill", 2).frame
    assert ldiv.verify(table, by_city, ["city"], "ill", 2)
    assert not ldiv.verify(table, by_city, QI, "ill", 2)
    assert "QI age, city; sensitive ill" in str(ldiv.verify(table, released(table), QI, "ill", 2))
    with pytest.raises(ldiv.InputError, match="no column 'town'"):
        ldiv.verify(table, by_city, ["town"], "ill", 2)
    for l in (0, 1.5, True, "2"):
        with pytest.raises(ldiv.InputError, match="l must be a whole number"):
            ldiv.verify(table, by_city, QI, "ill", l)


@pytest.mark.parametrize("order", ["keep", "random"])
@pytest.mark.parametrize("algorithm", ["tp", "tp+", "hilbert", "cascade", "auto", "mondrian", "tds", "multidim"])
def test_what_every_algorithm_publishes_passes_in_any_order(algorithm, order):
    table = source(84, 7)
    release = ldiv.anonymize(table, QI, "ill", 3, algorithm=algorithm, order=order)
    for claim in (None, release.publication.rows):
        verdict = ldiv.verify(table, release.frame, QI, "ill", 3, rows=claim)
        assert verdict, str(verdict)
        assert (verdict.stars, verdict.rows) == (release.stars, 84) and verdict.max_l == release.max_l
    assert ldiv.verify(table, release.frame.drop(columns="note"), QI, "ill", 3).dropped == ["note"]


def test_hierarchies_and_bins():
    table = source(80, 5)
    trees = {"city": {"Italy": ["Rome", "Bari"], "France": ["Lyon"]}}
    release = ldiv.anonymize(table, QI, "ill", 3, coarsen={"age": ldiv.Bins(width=2), "city": 1}, hierarchies=trees, algorithm="tp")
    assert ldiv.verify(table, release.frame, QI, "ill", 3, hierarchies=trees)
    assert not ldiv.verify(table, release.frame, QI, "ill", 3)
    wrong = release.frame.assign(city=["France" if x == "Italy" else x for x in release.frame["city"]])
    assert not ldiv.verify(table, wrong, QI, "ill", 3, hierarchies=trees)
    shifted = release.frame.assign(age=["[26, 28)" if x.startswith("[20") else x for x in release.frame["age"]])
    assert not ldiv.verify(table, shifted, QI, "ill", 3, hierarchies=trees)


def test_ordered_categories_have_ranges_in_their_order():
    grades = pd.Categorical(["low", "mid", "high", "top"] * 3, ["low", "mid", "high", "top"], ordered=True)
    table = pd.DataFrame({"grade": grades, "s": list("abcabcabcabc")})
    out = ldiv.anonymize(table, ["grade"], "s", 3, algorithm="mondrian").frame
    assert ldiv.verify(table, out, ["grade"], "s", 3)
    assert not ldiv.verify(table, pd.DataFrame({"grade": ["[mid - top]"] * 12, "s": table["s"]}), ["grade"], "s", 3)
    assert ldiv.verify(table, pd.DataFrame({"grade": ["[low - top]"] * 12, "s": table["s"]}), ["grade"], "s", 3)


KINDS = {
    "pandas": lambda x: x,
    "polars": pl.from_pandas,
    "pyarrow": lambda x: pa.Table.from_pandas(x, preserve_index=False),
    "dict": lambda x: {name: x[name].to_numpy() for name in x},
}


@pytest.mark.parametrize("after", KINDS)
@pytest.mark.parametrize("before", KINDS)
def test_libraries_mix(before, after):
    table = source()
    assert ldiv.verify(KINDS[before](table), KINDS[after](released(table)), QI, "ill", 2)


def test_files(tmp_path):
    table = source()
    table.to_csv(tmp_path / "in.csv", index=False)
    pq.write_table(pa.Table.from_pandas(table), tmp_path / "in.parquet")
    out = released(table)
    out.to_csv(tmp_path / "out.csv", index=False)
    for name in ("in.csv", "in.parquet"):
        verdict = ldiv.verify(tmp_path / name, str(tmp_path / "out.csv"), QI, "ill", 2)
        assert verdict, str(verdict)
    rows_deleted(out).to_csv(tmp_path / "less.csv", index=False)
    assert not ldiv.verify(tmp_path / "in.csv", tmp_path / "less.csv", QI, "ill", 2)


# -- the matching, against every permutation -----------------------------------------------------------------------------


cells = st.tuples(st.integers(0, 2), st.integers(0, 1), st.sampled_from("ab"))
shown = st.tuples(st.sampled_from(["0", "1", "2", "*"]), st.sampled_from(["0", "1", "*"]), st.sampled_from("ab"))


def fits(row, cell):
    return row[2] == cell[2] and all(text == "*" or text == str(value) for text, value in zip(row[:2], cell[:2], strict=True))


@settings(deadline=None, max_examples=300)
@given(st.lists(cells, min_size=1, max_size=6), st.data())
def test_rows_are_matched_exactly_when_some_permutation_fits(rows, data):
    if data.draw(st.booleans()):
        out = data.draw(st.lists(shown, min_size=len(rows), max_size=len(rows)))
    else:
        out = [(*("*" if data.draw(st.booleans()) else str(x) for x in row[:2]), row[2]) for row in data.draw(st.permutations(rows))]
    possible = any(all(fits(row, cell) for row, cell in zip(out, order, strict=True)) for order in itertools.permutations(rows))
    a = {name: [row[j] for row in rows] for j, name in enumerate("xys")}
    b = {name: [row[j] for row in out] for j, name in enumerate("xys")}
    assert bool(ldiv.verify(a, b, ["x", "y"], "s", 1)) == possible


@settings(deadline=None, max_examples=100)
@given(st.lists(cells, min_size=4, max_size=30), st.integers(1, 3), st.data())
def test_groups_are_counted_as_one_would_by_hand(rows, l, data):
    out = [("*" if data.draw(st.booleans()) else str(x), str(y), s) for x, y, s in rows]
    a = {name: [row[j] for row in rows] for j, name in enumerate("xys")}
    b = {name: [row[j] for row in out] for j, name in enumerate("xys")}
    groups = {}
    for row in out:
        groups.setdefault(row[:2], Counter())[row[2]] += 1
    largest = min(count.total() // max(count.values()) for count in groups.values())
    verdict = ldiv.verify(a, b, ["x", "y"], "s", l)
    assert (bool(verdict), verdict.max_l, verdict.groups) == (largest >= l, largest, len(groups))
    assert verdict.stars == sum(row[0] == "*" for row in out) and verdict.smallest == min(c.total() for c in groups.values())


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.integers(2, 3))
def test_one_wrong_cell_is_seen(seed, l):
    rng = np.random.default_rng(seed)
    table = source(40, seed)
    assume(ldiv.max_l(table, "ill") >= l)
    out = released(table, l)
    name = rng.choice(["age", "city", "ill", "note"])
    row = int(rng.integers(40))
    values = out[name].astype(object).tolist()
    others = sorted({x for x in table[name].tolist() if str(x) != str(table[name][row])}, key=str)
    values[row] = others[rng.integers(len(others))]
    assert not ldiv.verify(table, out.assign(**{name: pd.Series(values, dtype=object)}), QI, "ill", 1, rows=np.arange(40))


@pytest.mark.parametrize("algorithm", ["mondrian", "multidim", "tds"])
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_ranges_of_moments_and_durations(algorithm, zone):
    rng = np.random.default_rng(2)
    days = pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 9, 60), unit="D")
    table = pd.DataFrame({
        "day": days.tz_localize(zone), "lag": pd.to_timedelta(rng.integers(0, 5, 60), unit="h"), "x": rng.integers(0, 5, 60).astype(np.float32) / 10,
        "s": rng.choice(list("abcd"), 60),
    })  # fmt: skip
    for kind in (lambda x: x, pl.from_pandas):
        frame = kind(table)
        release = ldiv.anonymize(frame, ["day", "lag", "x"], "s", 2, algorithm=algorithm)
        assert ldiv.verify(frame, release.frame, ["day", "lag", "x"], "s", 2)


@pytest.mark.parametrize(
    "text, inside, outside",
    [
        ("[20, 30)", [20, 29, 29.5], [30, 19, 19.999]),
        (">= 30", [30, 31], [29, 29.5]),
        ("< 30", [29, -5], [30, 31]),
        ("[20 - 30]", [20, 25, 30], [19, 31]),
        ("[low - high]", ["low", "mid", "high"], ["none", "top"]),
        ("{ab, c}", ["ab", "c"], ["b", "a", "ab, ", ""]),
        ("{b, ca}", ["b", "ca"], ["c", "a"]),
        ("{a, b, c}", ["a", "a, b", "b, c"], ["a,", ", b"]),
    ],
)
def test_a_sub_domain_holds_its_ends_and_nothing_beside(text, inside, outside):
    order = {word: place for place, word in enumerate(("none", "low", "mid", "high", "top"))}
    for value in inside:
        assert holds(text, value, order, None), value
    for value in outside:
        assert not holds(text, value, order, None), value


def test_rows_must_name_each_row_of_the_source_once():
    table = source()
    out = released(table)
    assert ldiv.verify(table, out, QI, "ill", 2, rows=np.arange(60))
    for wrong in ([0, *range(59)], [*range(59)], [*range(1, 61)]):
        with pytest.raises(ldiv.InputError, match="rows must name every row of the source once"):
            ldiv.verify(table, out, QI, "ill", 2, rows=np.array(wrong))


def test_values_that_look_like_stars_in_the_source_are_no_stars():
    table = {"a": ["*", "*", "x", "y"], "s": ["1", "2", "1", "2"]}
    verdict = ldiv.verify(table, {"a": ["*", "*", "*", "*"], "s": table["s"]}, ["a"], "s", 2)
    assert verdict and verdict.stars == 2


def test_empty_text_finds_its_row_in_any_order():
    table = pa.table({"town": ["", "Rome", "Rome", ""], "ill": ["a", "b", "a", "b"]})
    turned = table.take(pa.array([3, 1, 2, 0]))
    assert ldiv.verify(table, turned, ["town"], "ill", 2)
    starred = pa.table({"town": ["*", "Rome", "Rome", "*"], "ill": ["b", "b", "a", "a"]})
    assert ldiv.verify(table, starred, ["town"], "ill", 2)
    wrong = pa.table({"town": ["", "", "Rome", ""], "ill": ["b", "b", "a", "a"]})
    assert not ldiv.verify(table, wrong, ["town"], "ill", 1)
