"""Hierarchies, bins, coarsening before anonymising, protected columns."""

import numpy as np
import pytest
from conftest import shared
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import tables

import ldiv
from ldiv import Bins, Hierarchy

CITIES = {"Europe": {"Italy": ["Rome", "Bari"], "France": ["Lyon"]}, "Asia": {"Japan": ["Kyoto"]}}


def test_files_in_the_format_of_arx(tmp_path):
    path = tmp_path / "city.csv"
    path.write_text("Rome;Italy;Europe;*\nBari;Italy;Europe;*\nLyon;France;Europe;*\nKyoto;Japan;Asia;*\n")
    tree = Hierarchy.read(path)
    assert tree.levels == Hierarchy.of(CITIES).levels and tree.height == 3
    taxonomy = tree.taxonomy(["Bari", "Kyoto", "Lyon", "Rome"])
    assert taxonomy.text[0] == "*" and [taxonomy.text[k] for k in taxonomy.leaf] == ["Bari", "Kyoto", "Lyon", "Rome"]
    europe = taxonomy.text.index("Europe")
    assert taxonomy.codes(europe) == (0, 2, 3) and "Asia" not in taxonomy.text  # a step with one child is left out
    for text, message in (
        ("Rome;Italy\nRome;France\n", r"line 2: value 'Rome' stands in line 1 already"),
        ("Rome;Italy;Europe\nBari;Italy;Asia\n", r"'Italy' at level 1 has two parents, 'Europe' and 'Asia'"),
        ("Rome;Italy;Europe\nBari;Italy\n", "'Bari' has fewer"),
        ("Rome\n", "line 1: one field only"),
    ):
        path.write_text(text)
        with pytest.raises(ldiv.InputError, match=message):
            Hierarchy.read(path)
    with pytest.raises(ldiv.InputError, match="no such hierarchy file"):
        Hierarchy.read(tmp_path / "nowhere.csv")


def test_coarsen_names_what_does_not_fit():
    table = {"City": ["Rome", "Oslo"], "Age": [20, 31]}
    with pytest.raises(ldiv.InputError, match="column 'City': value 'Oslo' is not in its hierarchy"):
        ldiv.coarsen(table, {"City": 1}, {"City": CITIES})
    with pytest.raises(ldiv.InputError, match="level 9 is not one of 0 to 3"):
        ldiv.coarsen({"City": ["Rome"]}, {"City": 9}, {"City": CITIES})
    with pytest.raises(ldiv.InputError, match="no column 'Town'"):
        ldiv.coarsen(table, {"Town": 1})
    with pytest.raises(ldiv.InputError, match="has no hierarchy"):
        ldiv.coarsen(table, {"City": 1})
    with pytest.raises(ldiv.InputError, match="'Oslo' is not a number"):
        ldiv.coarsen(table, {"City": Bins(width=10)})
    for wrong in ({}, {"width": 1, "quantiles": 2}, {"width": 0}, {"quantiles": 0}, {"edges": [3, 3]}):
        with pytest.raises(ldiv.InputError):
            Bins(**wrong)


def test_bins():
    ages = [18, 19, 25, 40, 40, 71, None]
    out = ldiv.coarsen({"Age": np.array(ages, dtype=object)}, {"Age": Bins(edges=[20, 40])})["Age"].tolist()
    assert out == ["< 20", "< 20", "[20, 40)", ">= 40", ">= 40", ">= 40", None]
    halves = ldiv.coarsen({"Age": np.arange(100)}, {"Age": Bins(quantiles=4)})["Age"]
    assert sorted(np.unique(halves, return_counts=True)[1]) == [24, 25, 25, 26]
    assert set(ldiv.coarsen({"x": np.array([-0.5, 0.5])}, {"x": Bins(width=0.25)})["x"]) == {"[-0.5, -0.25)", "[0.5, 0.75)"}


def test_bins_of_a_width_that_is_no_binary_number():
    """k / 10 stands in [k / 10, (k + 1) / 10), also where floats divide to less."""
    for k in range(-30, 100):
        assert Bins(width=0.1).texts([k / 10, f"{k / 10}"], np.array([1, 1]), "x") == [f"[{k / 10:g}, {(k + 1) / 10:g})"] * 2


def test_quantiles_are_of_rows():
    """Half of the rows have the largest of four values: it has an interval of its own."""
    assert Bins(quantiles=2).texts([1, 2, 3, 4], np.array([1, 1, 1, 5]), "x") == ["< 4"] * 3 + [">= 4"]
    column = np.array([1, 2, 3, 4, 4, 4, 4, 4])
    assert ldiv.coarsen({"x": column}, {"x": Bins(quantiles=2)})["x"].tolist() == ["< 4"] * 3 + [">= 4"] * 5


def test_int_column_and_text_hierarchy_same_kind_out():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"Age": [1, 2, 3], "x": [1, 1, 1]}, index=[7, 8, 9])
    out = ldiv.coarsen(frame, {"Age": 1}, {"Age": [("1", "low"), ("2", "low"), ("3", "high")]})
    assert out["Age"].tolist() == ["low", "low", "high"] and out.index.tolist() == [7, 8, 9] and frame["Age"].tolist() == [1, 2, 3]


def test_coarsening_first_stars_less():
    table = ldiv.datasets.load_frame("acs2018")
    table["Age"] = ldiv.datasets.load("acs2018").codes[:, 0] + 17
    qi = ["Age", "Gender", "Race"]
    fine = ldiv.anonymize(table, qi, "Income", 6, effort="fast")
    coarse = ldiv.anonymize(table, qi, "Income", 6, effort="fast", coarsen={"Age": Bins(width=10)})
    assert coarse.stars < fine.stars and set(coarse.frame["Age"]) <= {*(f"[{k}, {k + 10})" for k in range(10, 100, 10)), "*"}
    assert ldiv.check(coarse.frame, qi, "Income", 6)


def test_hierarchies_serve_the_algorithms_that_generalise():
    table = {"City": ["Rome", "Bari", "Lyon", "Kyoto"] * 6, "D": ["flu", "cold", "cough", "flu", "flu", "cold"] * 4}
    release = ldiv.anonymize(table, ["City"], "D", 2, algorithm="tds", hierarchies={"City": CITIES})
    assert set(release.frame["City"]) <= {"*", "Europe", "Italy", "Rome", "Bari", "Lyon", "Kyoto"}


@pytest.mark.parametrize("algorithm, options", [("mondrian", {}), ("multidim", {}), ("multidim", {"of": "hilbert"})])
def test_recoding_publishes_nodes_where_hierarchies_are_given(algorithm, options):
    rng = np.random.default_rng(2)
    table = {"City": rng.choice(["Rome", "Bari", "Lyon", "Nice"], 60), "Age": rng.integers(0, 4, 60), "D": rng.integers(0, 4, 60)}
    trees = {"City": {"Italy": ["Rome", "Bari"], "France": ["Lyon", "Nice"]}}
    release = ldiv.anonymize(table, ["City", "Age"], "D", 3, algorithm=algorithm, hierarchies=trees, **options)
    assert set(release.frame["City"]) <= {"Rome", "Bari", "Lyon", "Nice", "Italy", "France", "*"} and release.max_l >= 3
    assert all(text.startswith("[") or text == "*" or text.isdigit() for text in map(str, release.frame["Age"]))
    sets = ldiv.anonymize(table, ["City", "Age"], "D", 3, algorithm=algorithm, hierarchies=trees, nodes=False, **options)
    assert ldiv.kl_divergence(sets) <= ldiv.kl_divergence(release) + 1e-12  # a node covers the set below it


def test_adult_with_the_hierarchies_of_arx():
    folder = shared("adult") / "arx"
    table = ldiv.datasets.external.adult_frame(shared("adult") / "adult.data.gz", complete=True)
    trees = {name: folder / f"adult_hierarchy_{name}.csv" for name in ("education", "marital-status", "race")}
    out = ldiv.coarsen(table, {"education": 1, "marital-status": 1}, trees)
    assert set(out["marital-status"]) == {"spouse present", "spouse not present"} and len(set(out["education"])) == 5


@given(tables(max_rows=40), st.integers(0, 2))
@settings(max_examples=60)
def test_protected_columns_have_no_star(table, which):
    data, l = table
    if data.d < 2:
        return
    name = data.names[which % data.d]
    try:
        release = ldiv.solve(data, l, effort="fast", protect=[name])
    except ldiv.InputError as error:
        assert "protect fewer columns" in str(error)
        parts = [
            ldiv.max_l(ldiv.Microdata.from_codes(data.codes[data.codes[:, which % data.d] == v], data.sensitive[data.codes[:, which % data.d] == v]))
            for v in np.unique(data.codes[:, which % data.d])
        ]
        assert min(parts) < l
        return
    assert release.stars_by_attribute[name] == 0 and release.max_l >= l


def test_protection_is_refused_by_name():
    data = ldiv.datasets.load("acs2018", qi=["Gender", "Race"])
    with pytest.raises(ldiv.InputError, match="protect: 'Sex' is not"):
        ldiv.solve(data, 2, protect=["Sex"])
    assert ldiv.solve(data, 2, protect=["Gender", "Race"]).stars == 0  # every group of equal rows is 2-diverse
    with pytest.raises(ldiv.InputError, match="not with 'mondrian'"):
        ldiv.solve(data, 2, protect=["Gender"], algorithm="mondrian")
    free = ldiv.solve(data, 4, protect=["Gender"])
    assert free.info["bound"] <= free.stars and free.stars_by_attribute["Gender"] == 0


def test_trade_off_counts_what_coarsening_loses():
    rng = np.random.default_rng(3)
    table = {"a": rng.integers(0, 20, 300), "b": rng.integers(0, 3, 300), "s": rng.integers(0, 6, 300)}
    options = {"a": [None, Bins(width=2), Bins(width=20)], "b": [None, Bins(width=3)]}
    tried = ldiv.trade_off(table, ["a", "b"], "s", 3, options)
    assert len(tried) == 6 and [x.kl for x in tried] == sorted(x.kl for x in tried)
    everything = next(x for x in tried if x.columns == {"a": Bins(width=20), "b": Bins(width=3)})
    assert everything.stars == 0 and everything.kl > tried[0].kl
    plain = next(x for x in tried if not x.columns)
    release = ldiv.anonymize(table, ["a", "b"], "s", 3, algorithm="cascade")
    assert plain.stars == release.stars and plain.kl == pytest.approx(ldiv.kl_divergence(release))
    by_stars = ldiv.trade_off(table, ["a", "b"], "s", 3, options, best="stars")
    assert by_stars[0].stars == min(x.stars for x in tried)
    # All values in one bin is the same as a column of stars.
    starred = ldiv.solve(ldiv.Microdata.from_codes(np.zeros((300, 1), int), table["s"]), 3, algorithm="tp")
    alone = ldiv.trade_off({"a": table["a"], "s": table["s"]}, ["a"], "s", 3, {"a": [Bins(width=20)]})[0]
    counts = np.unique(np.stack([table["a"], table["s"]]), axis=1, return_counts=True)
    f, star = counts[1] / 300, np.bincount(table["s"], minlength=6)[counts[0][1]] / 300 / 20
    assert alone.kl == pytest.approx(float((f * np.log(f / star)).sum())) and starred.stars == 0
    for wrong, message in (
        ({"best": "beauty"}, "best must be"),
        ({"options": {"z": [None]}}, "'z' is not a quasi"),
        ({"options": {"a": [None] * 1001}}, "more than 1,000"),
    ):
        with pytest.raises(ldiv.InputError, match=message):
            ldiv.trade_off(table, ["a", "b"], "s", 3, **{"options": options, **wrong})


def test_a_multiple_of_the_width_begins_its_interval():
    """0.3 // 0.1 is 2 in floats; the interval of 0.3 is [0.3, 0.4) all the same."""
    for width, steps in ((0.1, 40), (0.05, 60), (0.7, 30)):
        values = [round(k * width, 2) for k in range(steps)]
        texts = ldiv.coarsen({"x": np.array(values)}, {"x": ldiv.Bins(width=width)})["x"].tolist()
        assert [float(text[1:].split(",")[0]) for text in texts] == values


# -- intervals ----------------------------------------------------------------------------------------------------


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
