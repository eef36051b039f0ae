"""Several sensitive attributes: each l-diverse in every group."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ldiv


@given(st.integers(0, 10**6), st.integers(2, 3), st.sampled_from(["tp", "cascade", "auto"]))
@settings(max_examples=80)
def test_each_is_l_diverse(seed, l, algorithm):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 60))
    table = {"a": rng.integers(0, 3, n), "b": rng.integers(0, 3, n), "s": rng.integers(0, 5, n), "t": rng.integers(0, 4, n)}
    try:
        release = ldiv.anonymize(table, ["a", "b"], ["s", "t"], l, algorithm=algorithm)
    except ldiv.NotEligibleError:
        assert min(ldiv.max_l(table, "s"), ldiv.max_l(table, "t")) < l
        return
    for name in ("s", "t"):
        assert ldiv.check(release.frame, ["a", "b"], name, l)
        assert np.array_equal(release.frame[name], table[name])
    assert release.certificate.bound <= release.stars
    assert release.stars >= ldiv.anonymize(table, ["a", "b"], "s", l, algorithm=algorithm).certificate.bound


def test_income_and_occupation():
    table = ldiv.datasets.load_frame("acs2018")
    qi = ["Gender", "Race", "MaritalStatus"]
    release = ldiv.anonymize(table, qi, ["Occupation", "Income"], 6, effort="fast")
    assert ldiv.check(release.frame, qi, "Income", 6) and ldiv.check(release.frame, qi, "Occupation", 6)
    assert release.contingency.sensitive_domain.name == "Occupation and Income"


def test_refusals():
    table = {"a": [1, 1, 2, 2], "s": [1, 2, 1, 2], "t": [1, 1, 1, 2]}
    with pytest.raises(ldiv.NotEligibleError, match="stands in 3 of 4 rows"):
        ldiv.anonymize(table, ["a"], ["s", "t"], 2)
    with pytest.raises(ldiv.InputError, match="named twice"):
        ldiv.anonymize(table, ["a"], ["s", "s"], 2)
    with pytest.raises(ldiv.InputError, match="sensitive is empty"):
        ldiv.anonymize(table, ["a"], [], 2)


def test_each_column_is_checked_by_itself_at_the_end():
    """Two groups diverse in the first column; the second column says the same in one of them."""
    from ldiv.constraints.several import check_each

    data = ldiv.Microdata.from_codes([[0], [0], [1], [1]], [0, 1, 2, 3])
    release = ldiv.solve(data, 2, algorithm="tp")
    first, second = np.array([0, 1, 0, 1], dtype=np.int32), np.array([0, 1, 1, 1], dtype=np.int32)
    check_each(release, 2, ["s"], [first])
    with pytest.raises(ldiv.UnsafeReleaseError, match="not 2-diverse in 't'"):
        check_each(release, 2, ["s", "t"], [first, second])


def test_several_columns_are_as_strong_as_the_weakest():
    table = {"a": ["1", "1", "1", "2", "2", "2"], "s": [1, 2, 3, 1, 2, 3], "t": [1, 1, 2, 1, 2, 2]}
    for columns in (["s", "t"], ["t", "s"]):
        assert ldiv.max_l(table, columns) == ldiv.max_l(table, "t") == 2 < ldiv.max_l(table, "s")
        one, other, both = (ldiv.audit(table, ["a"], x) for x in ("s", "t", columns))
        for name, found in both.items():
            weakest = max if name in ("alpha", "t", "unique") else min
            assert found == weakest(one[name], other[name])
        assert both["t"] == other["t"] > one["t"]
