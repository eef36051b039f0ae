"""A least size k of groups: against brute force, in every phase, in bounds and proofs, and k-anonymity without a sensitive attribute."""

import json

import numpy as np
import oracle
import pytest
from conftest import shared
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import asked, histogram_tables

import ldiv
from ldiv._kernels.phase_one import phase_one
from ldiv.algorithms.sizes import settle_sizes
from ldiv.algorithms.tp import split
from ldiv.bounds.configuration import ConfigurationDual
from ldiv.bounds.multipliers import SCALE, DualProblem, Multipliers
from ldiv.bounds.proof import certify, prove
from ldiv.constraints import compose
from ldiv.privacy.requirement import publishable

TABLE = {"Age": [30, 30, 40, 40, 50, 50, 50], "Sex": list("fmfmfmm"), "Disease": ["flu", "cold", "flu", "cough", "cold", "flu", "cough"]}


def random_cases(seed, count, most_rows=8):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n, d, m = int(rng.integers(3, most_rows + 1)), int(rng.integers(1, 4)), int(rng.integers(1, 5))
        data = ldiv.Microdata.from_codes(rng.integers(0, 3, (n, d)), rng.integers(0, m, n), [3] * d + [m])
        yield data, int(rng.integers(1, ldiv.max_l(data) + 1)), int(rng.integers(1, n + 1))


def test_stars_are_the_brute_force_optimum_and_no_bound_is_above_it():
    for data, l, k in random_cases(0, 60):
        best = oracle.fewest_stars(oracle.rows_of(data.codes, data.sensitive), l, k=k)
        exact = ldiv.solve(data, l, k=k, algorithm="exact", effort="fast")
        assert exact.stars == exact.info["bound"] == best and exact.info["optimal"]
        assert ldiv.star_bound(data, l, k) <= best
        for name in ("cascade", "lagrangian"):
            release = ldiv.solve(data, l, k=k, algorithm=name)
            assert release.certificate.bound <= best <= release.stars
            assert ldiv.verify_certificate(data, release.certificate, l, k) >= release.certificate.bound


def test_tuples_are_the_brute_force_optimum():
    for data, l, k in random_cases(1, 60):
        best = oracle.fewest_tuples(oracle.rows_of(data.codes, data.sensitive), l, k)
        release = ldiv.solve(data, l, k=k, algorithm="exact", objective="tuples")
        assert release.info["optimal"] and release.info["tuple_bound"] == best
        assert ldiv.tuple_bound(data, l, k) <= best


@given(histogram_tables(min_l=1), st.integers(1, 30))
@settings(max_examples=150)
def test_phase_one_keeps_the_largest_part_that_may_be_published_or_nothing(table, k):
    data, l = table
    c = data.contingency
    kept = np.empty_like(c.count)
    size, height = phase_one(c.indptr, c.count, l, kept, k)
    plain, _ = oracle.phase_one(oracle.rows_of(data.codes, data.sensitive), l)
    for g in range(c.groups):
        rows = kept[c.indptr[g] : c.indptr[g + 1]]
        wanted = sum(plain[tuple(c.codes[g].tolist())].values())
        assert rows.sum() == size[g] == (wanted if wanted >= k else 0) and rows.max() == height[g]
        assert oracle.publishable([v for v, n in enumerate(rows) for _ in range(n)], l, k)


@given(histogram_tables(max_groups=5, min_l=1), st.integers(2, 12))
@settings(max_examples=200)
def test_tp_keeps_k_rows_in_groups_and_residue_within_its_guarantee(table, k):
    data, l = table
    k = min(k, data.n)
    c = data.contingency
    result = split(c, l, k=k)
    residue = np.bincount(c.sensitive, weights=c.count - result.kept, minlength=c.m)
    for rows in [*(result.kept[c.indptr[g] : c.indptr[g + 1]] for g in range(c.groups)), residue]:
        assert rows.min() >= 0 and (not rows.any() or (rows.sum() >= max(k, l * rows.max())))
    before, after = result.residue_sizes[0], result.residue_sizes[2]  # by phase one, and by all phases
    if k > l and after >= k:
        assert after <= residue.sum() <= before + k * (after - before)  # a group that lost a row brings at most k - 1 others
    if result.phase == 1 and (after >= k or not after):
        assert residue.sum() == ldiv.tuple_bound(data, l, k)  # optimal


def test_a_residue_is_filled_up_by_as_few_rows_as_it_lacks():
    """Three rows in R, k = 6: three more, of values that keep it 3-eligible, from the group with most to spare."""
    indptr, sensitive = np.array([0, 4, 8]), np.tile(np.arange(4, dtype=np.int32), 2)
    kept, residue = np.array([2, 2, 2, 2, 9, 9, 9, 9]), np.array([1, 1, 1, 0])
    settle_sizes(indptr, sensitive, kept, residue, 3, 6)
    assert residue.sum() == 6 and residue.max() <= 2 and kept[:4].tolist() == [2, 2, 2, 2] and kept[4:].sum() == 33
    # A group of one row too few goes first, and then R lacks nothing.
    kept, residue = np.array([2, 1, 1, 1, 9, 9, 9, 9]), np.array([1, 1, 1, 0])
    settle_sizes(indptr, sensitive, kept, residue, 3, 6)
    assert kept.tolist() == [0, 0, 0, 0, 9, 9, 9, 9] and residue.tolist() == [3, 2, 2, 1]
    # None has any to spare: the smallest goes as a whole.
    kept, residue = np.array([2, 2, 1, 1, 2, 2, 2, 2]), np.array([1, 1, 1, 0])
    settle_sizes(indptr, sensitive, kept, residue, 3, 6)
    assert kept.tolist() == [0, 0, 0, 0, 2, 2, 2, 2] and residue.tolist() == [3, 3, 2, 1]


def test_the_rule_in_numpy():
    size, height = np.array([0, 6, 6, 5, 4]), np.array([0, 2, 3, 1, 2])
    assert publishable(size, height, 3).tolist() == [True, True, False, True, False]
    assert publishable(size, height, 3, 6).tolist() == [True, True, False, False, False]


@given(asked(max_rows=7, max_d=2, max_size=3, max_m=3), st.integers(0, 10**6))
@settings(max_examples=60)
def test_any_multipliers_and_any_prices_prove_a_bound(case, seed):
    data, l, k = case
    best = oracle.fewest_stars(oracle.rows_of(data.codes, data.sensitive), l, k=k)
    rng = np.random.default_rng(seed)
    for most in range(data.d + 1):
        problem = DualProblem(data.contingency, l, most, k=k)
        found = Multipliers(l, most, [rng.integers(0, 2 * SCALE, items) * rng.integers(0, 2) for items in problem.items])
        assert problem.bound(found) <= best
        dual = ConfigurationDual(problem)
        least = np.minimum(problem.least(found), 100 * SCALE) / SCALE
        assert most < data.d or problem.bound(found) <= max(0, np.ceil(dual(least)[0] - 1e-6))  # a price a cell proves no less
        for scale in (0.5, 1.0, 3.0):
            proven = dual.proven(scale * rng.random(len(data.contingency.count)) * data.d)
            assert proven is not None and proven[1].k == problem.k
            assert proven[0] <= best and (most < data.d or prove(data.contingency, proven[1], l) == proven[0])


def test_a_price_of_k_is_no_proof_for_smaller_groups():
    data = ldiv.Microdata.from_codes([[0, 0], [0, 1], [1, 0], [1, 1]] * 3)
    certificate = ldiv.solve(data, k=5, algorithm="lagrangian").certificate
    assert certificate.prices.k == 5 and "groups of at least 5 rows" in str(certificate)
    assert ldiv.verify_certificate(data, certificate, 1) == ldiv.verify_certificate(data, certificate, 1, 6) == certificate.bound > 0
    with pytest.raises(ldiv.InputError, match="groups of at least 5 rows, not 4"):
        ldiv.verify_certificate(data, certificate, 1, 4)


def test_rows_of_a_cell_cost_neither_time_nor_stars():
    """2**50 rows a cell, most cells alone; the few others are few however many rows there are beside them."""
    domains = (ldiv.Domain("A", 4), ldiv.Domain("B", 3))
    codes = [[a, b] for a in range(4) for b in range(3)]
    count = [2**50, 3, 2, 1, 2**50, 1, 2, 2, 2**50, 4, 1, 1]
    cells = ldiv.Contingency(codes, range(13), [0] * 12, count, domains, ldiv.Microdata.from_codes([[0]]).sensitive_domain)
    release = ldiv.solve(cells, k=5)
    assert release.group_sizes.min() >= 5 and release.certificate.bound <= release.stars <= 2 * 17 + 10
    for name in ("tp", "hilbert", "tp+", "cascade"):
        assert ldiv.solve(cells, k=5, algorithm=name).group_sizes.min() >= 5


# -- through the doors -----------------------------------------------------------------------------------------------------


def test_k_anonymity_of_a_frame_without_a_sensitive_column():
    release = ldiv.anonymize(TABLE, ["Age", "Sex"], k=2)
    assert (release.l, release.k, release.promise) == (1, 2, "2-anonymous")
    assert oracle.smallest(zip(*(map(str, release.frame[name]) for name in ("Age", "Sex")), strict=True)) >= 2
    assert list(release.frame["Disease"]) == TABLE["Disease"]
    assert ldiv.check(release.frame, ["Age", "Sex"], k=2) and not ldiv.check(TABLE, ["Age", "Sex"], k=2)
    assert ldiv.verify(TABLE, release.frame, ["Age", "Sex"], k=2) and not ldiv.verify(TABLE, release.frame, ["Age", "Sex"], k=5)
    assert ldiv.audit(release.frame, ["Age", "Sex"]) == {"k": 2, "unique": 0}
    assert "2-anonymous release of 7 rows" in release.summary()


def test_check_says_which_groups_are_too_small():
    report = ldiv.check(TABLE, ["Age"], "Disease", 2, k=3)
    assert not report and report.k == 3 and report.smallest == 2 and len(report.violations) == 2
    worst = report.violations[0]
    assert (worst.rows, worst.least, worst.short, worst.excess) == (2, 3, 1, 0) and "2 rows where there must be 3" in str(worst)
    assert ldiv.check(TABLE, ["Age"], "Disease", 2, k=2)
    assert ldiv.max_l(TABLE, "Disease", k=7) == 2 and ldiv.max_l(TABLE, "Disease", k=8) == 0


@pytest.mark.parametrize(
    "given, message",
    [
        ({"l": 2}, "l must be left out where there is no sensitive attribute, not 2"),
        ({}, "name the sensitive column, sensitive=, or ask for groups of at least k rows"),
        ({"sensitive": "Disease", "k": 3}, "l is missing: .* without a sensitive column leave that out"),
        ({"sensitive": "Disease", "l": 2, "k": 8}, "k must be at most the 7 rows of the table, not 8"),
        ({"sensitive": "Disease", "l": 2, "k": 0}, "k must be at least 1, not 0"),
        ({"k": 2.0}, "k must be a whole number, not 2.0"),
    ],
)
def test_what_cannot_be_meant_is_refused(given, message):
    with pytest.raises(ldiv.InputError, match=message):
        ldiv.anonymize(TABLE, ["Age", "Sex"], **given)


def test_k_goes_with_every_other_constraint():
    rng = np.random.default_rng(3)
    table = {"A": rng.integers(0, 4, 200), "B": rng.integers(0, 5, 200), "C": rng.integers(0, 2, 200)}
    table |= {"S": rng.permutation(np.arange(200) % 6), "T": rng.permutation(np.arange(200) % 5), "who": np.arange(200) // 2}
    qi = ["A", "B", "C"]
    for more in ({"protect": ["C"]}, {"also": [ldiv.Distinct(4)]}, {"weights": {"A": 5}}, {"algorithm": "mondrian"}):
        release = (
            ldiv.anonymize(table, qi, "S", 3, k=8, effort="fast", **more)
            if "algorithm" not in more
            else ldiv.anonymize(table, qi, "S", 3, k=8, **more)
        )
        assert release.group_sizes.min() >= 8 and ldiv.verify(table, release.frame, qi, "S", 3, k=8, rows=np.arange(200))
    several = ldiv.anonymize(table, qi, ["S", "T"], 2, k=8)
    assert several.group_sizes.min() >= 8 and several.k == 8
    with pytest.raises(ldiv.InputError, match="8-|KAnonymity|k = 8|k=150"):
        ldiv.anonymize(table, qi, "S", 2, k=150, protect=["C"])
    persons = ldiv.anonymize(table, qi, k=5, unit="who", drop=["who"])
    assert ldiv.verify(table, persons.frame, qi, k=5, unit="who", rows=np.arange(200)) and persons.publication.verdict.smallest >= 5


def test_an_algorithm_that_knows_no_sizes_has_its_groups_merged():
    def own(contingency, l, *, seed=None):
        return ldiv.algorithms.get("cascade").solve(contingency, l)

    algorithm = ldiv.Algorithm("own", own)
    data = ldiv.Microdata.from_codes([[a, b] for a in range(4) for b in range(6)] * 2, [0, 1] * 24)
    assert not algorithm.sizes and ldiv.algorithms.get("cascade").sizes
    with pytest.raises(ldiv.InputError, match="knows no least size of groups"):
        algorithm.solve(data, 2, k=5)
    release = compose([data], 2, algorithm, k=5)
    assert release.group_sizes.min() >= 5 and release.k == 5


def test_a_certificate_of_k_alone_is_proved_again_from_the_table(tmp_path):
    release = ldiv.anonymize(TABLE, ["Age", "Sex"], k=3)
    path = tmp_path / "proof.private.npz"
    ldiv.save_certificate(release.certificate, path, qi=["Age", "Sex"], sensitive=None, l=1, k=3, rows=7)
    verdict = certify(TABLE, path)
    assert verdict and verdict.k == 3 and "no release on Age, Sex with groups of at least 3 rows has fewer than" in str(verdict)
    _, about = ldiv.load_certificate(path)
    assert json.loads(json.dumps(about))["k"] == 3


# -- real tables ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def adult():
    qi = ["age", "workclass", "education", "marital-status", "race", "sex", "native-country"]
    return ldiv.datasets.external.adult(shared("adult/adult.data.gz"), complete=True, sensitive="occupation", qi=qi)


def test_k_inside_costs_less_than_merging_afterwards(adult):
    inside, merged = ldiv.solve(adult, 3, k=5, effort="fast"), ldiv.solve(adult, 3, also=[ldiv.KAnonymity(5)], effort="fast")
    assert inside.group_sizes.min() >= 5 and inside.stars < merged.stars
    bare = ldiv.Microdata.from_codes(adult.codes, domains=adult.domains)
    assert ldiv.solve(bare, k=5, effort="fast").stars < 18_500


def test_rows_as_their_own_values_are_the_same_problem(adult):
    """k-anonymity is k-diversity of rows that are all different: no better release can be proven for one than found for the other."""
    data = adult.project(["age", "marital-status", "race"]).head(3_000)
    bare = ldiv.Microdata.from_codes(data.codes, domains=data.domains)
    rows = ldiv.Microdata.from_codes(data.codes, np.arange(data.n), domains=data.domains)
    one, other = ldiv.solve(bare, k=4), ldiv.solve(rows, 4)
    assert one.certificate.bound <= other.stars and other.certificate.bound <= one.stars <= 1.05 * other.certificate.bound


@given(histogram_tables(max_groups=3, max_values=3, max_count=3, min_l=1), st.integers(2, 7))
@settings(max_examples=60)
def test_tp_is_within_k_times_l_of_the_fewest_tuples_but_for_what_fills_its_residue(table, k):
    data, l = table
    k = min(k, data.n)
    best = oracle.fewest_tuples(oracle.rows_of(data.codes, data.sensitive), l, k)
    result = split(data.contingency, l, k=k)
    moved = data.n - int(result.kept.sum())
    assert best <= moved and (moved <= max(k, l) * l * best or result.residue_sizes[2] < k)


def test_a_release_with_a_group_too_small_is_withheld():
    data = ldiv.Microdata.from_codes([[0], [0], [1], [1], [1]])
    c = data.contingency
    release = ldiv.Release.from_entries(c, c.group_of_cell, np.arange(2, dtype=np.int32), c.count, l=1, k=3, algorithm="own")
    with pytest.raises(ldiv.UnsafeReleaseError, match="1 QI-groups have fewer than 3 rows, the smallest 2"):
        release.verify()
