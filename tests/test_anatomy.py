"""Anatomy: two tables that hold every row, no group with a value twice, and what they let one expect."""

import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import TABLE_1, from_histograms, tables

import ldiv
from ldiv.anatomy import _grouped
from ldiv.attacks import definetti, negated
from ldiv.errors import UnsafeReleaseError
from ldiv.utility import Workload, total_variation


@settings(max_examples=100)
@given(tables(max_rows=40), st.integers(0, 3))
def test_no_group_holds_a_value_twice(table, seed):
    data, l = table
    release = ldiv.anatomize(data, l=l, seed=seed)
    sizes = Counter(release.group.tolist())
    assert min(sizes.values()) >= l and max(sizes.values()) < 2 * l and sorted(sizes) == list(range(release.groups))
    assert max(Counter(zip(release.group.tolist(), data.sensitive.tolist(), strict=True)).values()) == 1
    assert (ldiv.anatomize(data, l=l, seed=seed).group == release.group).all()
    assert release.cell.tolist() and sum(release.count.tolist()) == data.n
    assert negated(release, 0).highest <= 1 / l + 1e-12 and definetti(release).commonest <= 1 / l + 1e-12


@pytest.mark.parametrize("library", ["dict", "pandas", "polars", "pyarrow"])
def test_the_two_tables(library):
    table = TABLE_1
    if library != "dict":
        module = pytest.importorskip(library, reason=f"needs {library}")
        table = module.table(TABLE_1) if library == "pyarrow" else module.DataFrame(TABLE_1)
    release = ldiv.anatomize(table, ["Age", "Gender", "Education"], "Disease", 2, seed=3)

    def column(made, name):
        found = made[name]
        return found.tolist() if hasattr(found, "tolist") and library != "pyarrow" else found.to_pylist() if library == "pyarrow" else found.to_list()

    rows = list(zip(*(column(release.qit, name) for name in ("Age", "Gender", "Education", "Group-ID")), strict=True))
    assert Counter(row[:3] for row in rows) == Counter(zip(*(TABLE_1[name] for name in ("Age", "Gender", "Education")), strict=True))
    assert [row[3] for row in rows] == sorted(row[3] for row in rows)
    lines = list(zip(*(column(release.st, name) for name in ("Group-ID", "Disease", "Count")), strict=True))
    assert Counter({g: sum(n for h, _, n in lines if h == g) for g, _, _ in lines}) == Counter(row[3] for row in rows)
    assert Counter({d: sum(n for _, e, n in lines if e == d) for _, d, _ in lines}) == Counter(TABLE_1["Disease"])
    assert type(release.qit) is type(table) and release.groups == 5 and "l=2: 10 rows" in repr(release)


def test_the_largest_values_are_taken_first():
    """Counts 4, 3, 1 for l = 2: pairs (0, 1), (0, 1), then 2 each of 0 and 1 and one 2: (0, 1), (0, 2) in some order, nothing is left."""
    values = np.array([0] * 4 + [1] * 3 + [2])
    group = _grouped(values, 3, 2, np.random.default_rng(0))
    pairs = Counter(tuple(sorted(values[group == g].tolist())) for g in range(4))
    assert pairs == Counter({(0, 1): 3, (0, 2): 1})
    rest = np.array([0, 0, 1, 1, 2])  # (0, 1), (0, 1) and a 2 that joins one
    group = _grouped(rest, 3, 2, np.random.default_rng(0))
    assert sorted(Counter(group.tolist()).values()) == [2, 3]


def test_a_row_that_is_left_joins_a_group_without_its_value():
    """Counts 3, 2, 2 for l = 2: three pairs, one of which holds a 2, and a 2 that is left."""
    values = np.array([0] * 3 + [1] * 2 + [2] * 2)
    for seed in range(30):
        group = _grouped(values, 3, 2, np.random.default_rng(seed))
        assert sorted(Counter(group.tolist()).values()) == [2, 2, 3]
        assert max(Counter(zip(group.tolist(), values.tolist(), strict=True)).values()) == 1


@settings(max_examples=40)
@given(tables(max_rows=20), st.integers(0, 5))
def test_what_it_lets_one_expect_row_by_row(table, seed):
    data, l = table
    release = ldiv.anatomize(data, l=l, seed=seed)
    workload = Workload.anatomy(data, selectivity=0.4, count=6, seed=seed)
    found = workload.answers(release)
    for q in range(6):
        total = 0.0
        for i in range(data.n):
            if all(mask[q, data.codes[i, j]] for j, mask in enumerate(workload.masks)):
                mine = data.sensitive[release.group == release.group[i]]
                total += workload.chosen[q, mine].mean()
        assert found[q] == pytest.approx(total)
    assert all(apart == pytest.approx(0, abs=1e-9) for apart in total_variation(release).values())
    assert workload.errors(release).actual.tolist() == workload.answers(data).tolist()


def test_what_is_refused():
    data = from_histograms((3, 1), (0, 2))
    with pytest.raises(ldiv.NotEligibleError):
        ldiv.anatomize(data, l=3)
    with pytest.raises(ldiv.InputError, match="leave them out"):
        ldiv.anatomize(data, ["A"], "s", 2)
    with pytest.raises(ldiv.InputError, match="name the quasi-identifiers"):
        ldiv.anatomize({"A": [1]}, l=1)
    with pytest.raises(ldiv.InputError, match=re.escape("'Group-ID' is called like")):
        ldiv.anatomize({"Group-ID": [1, 2], "s": [1, 2]}, ["Group-ID"], "s", 2)


def test_what_is_wrong_is_withheld():
    data = from_histograms((2, 2), (2, 2))
    good = ldiv.anatomize(data, l=2, seed=0)
    wrong = np.array([0 if v == 0 else 1 for v in data.sensitive], dtype=np.int32)  # groups of one value
    with pytest.raises(UnsafeReleaseError, match="not 2-diverse"):
        ldiv.Anatomy(good.contingency, wrong, 2, good.names).verify()

    class Forged(ldiv.Anatomy):
        @property
        def st(self):
            return {"Group-ID": np.array([0, 0]), "sensitive": np.array([0, 1]), "Count": np.array([4, 4])}

        @property
        def qit(self):
            made = super().qit
            return made | {"A1": made["A1"][::-1] * 0} if self.l == 1 else made

    with pytest.raises(UnsafeReleaseError, match="groups of different sizes"):
        Forged(good.contingency, good.group, 2, good.names).verify()
    with pytest.raises(UnsafeReleaseError, match="quasi-identifiers published are not those"):
        Forged(good.contingency, good.group, 1, good.names).verify()
    with pytest.raises(UnsafeReleaseError, match="not those of its rows"):
        twice = from_histograms((1, 1), (1, 1))
        swapped = ldiv.anatomize(twice, l=2, seed=0)
        object.__setattr__(swapped, "group", np.array([0, 0, 0, 1], dtype=np.int32))
        Forged2(swapped.contingency, swapped.group, 1, swapped.names).verify()


class Forged2(ldiv.Anatomy):
    """Tables of other groups than its rows have."""

    @property
    def qit(self):
        return super().qit | {"Group-ID": np.array([0, 0, 0, 0])}

    @property
    def st(self):
        return {"Group-ID": np.array([0, 0]), "sensitive": np.array([0, 1]), "Count": np.array([2, 2])}

    @property
    def _histogram(self):
        return np.array([0, 0]), np.array([0, 1]), np.array([2, 2])
