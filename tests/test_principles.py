"""Other principles against their definitions, group by group, and enforced."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import published_groups
from strategies import tables

import ldiv
from ldiv import AlphaK, Distinct, Entropy, Frequency, KAnonymity, Recursive, TCloseness
from ldiv.release.histograms import histograms


def by_definition(values, everyone, m):
    """The strength of one group, from the definitions."""
    count = Counter(values)
    n = len(values)
    share = [c / n for c in count.values()]
    return {
        "k": n,
        "l": n // max(count.values()),
        "distinct_l": len(count),
        "entropy_l": math.exp(-sum(p * math.log(p) for p in share)),
        "alpha": max(share),
        "t": sum(abs(count[v] / n - everyone[v] / everyone.total()) for v in range(m)) / 2,
    }


def recursive(values, c, l):
    r = sorted(Counter(values).values(), reverse=True)
    return r[0] < c * sum(r[l - 1 :])


@given(tables(max_rows=30), st.sampled_from([1.0, 2.0, 3.5]))
@settings(max_examples=150)
def test_audit_is_the_weakest_group(table, c):
    data, _ = table
    found = ldiv.audit(data, c=c)
    groups = list(published_groups(data.codes, data.sensitive).values())
    everyone = Counter(data.sensitive.tolist())
    each = [by_definition(values, everyone, data.m) for values in groups]
    for key, pick in (("k", min), ("l", min), ("distinct_l", min), ("entropy_l", min), ("alpha", max), ("t", max)):
        assert found[key] == pytest.approx(pick(x[key] for x in each), abs=1e-9)
    largest = 0
    while largest < data.m and all(recursive(values, c, largest + 1) for values in groups):
        largest += 1
    assert found["recursive_l"] == largest and found["unique"] == sum(len(values) == 1 for values in groups)


PRINCIPLES = [KAnonymity(5), Frequency(2), AlphaK(0.6, 3), Distinct(3), Entropy(2.0), Recursive(2.0, 2), TCloseness(0.3)]


@given(tables(max_rows=40), st.sampled_from(PRINCIPLES))
@settings(max_examples=200)
def test_enforced_and_still_l_diverse(table, principle):
    data, l = table
    try:
        release = ldiv.solve(data, l, algorithm="tp", also=[principle])
    except ldiv.InputError as error:
        assert "the whole table as one group" in str(error)
        return
    assert release.max_l >= l and release.n == data.n
    published = ldiv.audit({**{f"q{j}": release.codes[:, j] for j in range(data.d)}, "s": data.sensitive}, [f"q{j}" for j in range(data.d)], "s")
    strong = {
        KAnonymity: lambda: published["k"] >= 5,
        Frequency: lambda: published["l"] >= 2,
        Distinct: lambda: published["distinct_l"] >= 3,
        AlphaK: lambda: published["alpha"] <= 0.6 + 1e-9 and published["k"] >= 3,
        Entropy: lambda: published["entropy_l"] >= 2 - 1e-9,
        Recursive: lambda: published["recursive_l"] >= 2,
        TCloseness: lambda: published["t"] <= 0.3 + 1e-9,
    }
    assert strong[type(principle)]()


def test_violating_groups_merge_where_they_agree():
    """Two pairs that differ in one attribute meet there; the groups that were large enough stay as they are."""
    rows = [[0, 0]] * 2 + [[0, 1]] * 2 + [[3, 3]] * 4 + [[1, 2]] * 2 + [[2, 2]] * 2
    data = ldiv.Microdata.from_codes(rows, [0, 1] * 6, [4, 4])
    release = ldiv.solve(data, 2, algorithm="tp", also=[KAnonymity(4)])
    assert release.codes.tolist() == [[0, -1]] * 4 + [[3, 3]] * 4 + [[-1, 2]] * 4


def test_earth_mover_on_an_ordered_attribute():
    """Li et al. 2007, example of salaries 3k..11k: the two groups are at 0.375 and 0.167."""
    salary = [3, 4, 5, 6, 8, 11, 7, 9, 10]
    table = {"zip": ["a"] * 3 + ["b"] * 3 + ["c"] * 3, "salary": [3, 4, 5, 6, 8, 11, 7, 9, 10]}
    assert sorted(salary) == list(range(3, 12))
    groups = ldiv.Microdata.from_frame(table, ["zip"], "salary")
    c = groups.contingency
    from ldiv.privacy.principles import Histograms

    level = TCloseness(1).level(Histograms(c.indptr, c.sensitive, c.count, c.histogram, True))
    assert np.round(level[:2], 3).tolist() == [0.375, 0.167]


def test_what_the_whole_table_lacks_is_said():
    with pytest.raises(ldiv.InputError, match="KAnonymity"):
        ldiv.solve(ldiv.Microdata.from_codes([[0], [1]], [0, 1]), 1, also=[KAnonymity(3)])
    ages = ldiv.datasets.load("acs2018", qi=["Age"]).head(500)
    with pytest.raises(ldiv.InputError, match="values and stars only"):
        ldiv.solve(ages, 3, algorithm="mondrian", also=[KAnonymity(30)])


@pytest.mark.parametrize("k", range(2, 60))
def test_a_bound_that_is_reached_exactly_holds(k):
    """k values equally often have exactly the entropy log k and the share 1 / k, whatever their sums are in floats."""
    data = ldiv.Microdata.from_codes(np.zeros((3 * k, 1), dtype=int), list(range(k)) * 3)
    groups = histograms(ldiv.solve(data, k, algorithm="tp"), np.zeros(k, dtype=np.int64), 1)
    for principle in (ldiv.Entropy(k), ldiv.AlphaK(1 / k, 3 * k), ldiv.Frequency(k), ldiv.Distinct(k), ldiv.KAnonymity(3 * k)):
        assert principle.holds(groups).all()
    for principle in (ldiv.Entropy(k + 0.001), ldiv.AlphaK(1 / k, 3 * k + 1), ldiv.Frequency(k + 1), ldiv.Distinct(k + 1)):
        assert not principle.holds(groups).any()
