"""Section 5: TP. Its worked examples, and each of its lemmas as a property against the naive oracle."""

from collections import Counter

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import PHASE_THREE, PHASE_TWO, TABLE_1, from_histograms, histogram_tables, rounds_table

import ldiv
from ldiv.algorithms.tp import split


def residue_of(data, result):
    c = data.contingency
    return np.bincount(c.sensitive, weights=c.count - result.kept, minlength=c.m).astype(int)


def test_table_1():
    release = ldiv.anonymize(TABLE_1, ["Age", "Gender", "Education"], "Disease", 2, algorithm="tp")
    starred = [d for d, a in zip(TABLE_1["Disease"], release.frame["Age"], strict=True) if a == "*"]
    assert Counter(starred) == {"HIV": 2, "pneumonia": 1, "bronchitis": 1}
    assert (release.suppressed_rows, release.phase) == (4, 1)
    assert release.stars_by_attribute == {"Age": 4, "Gender": 0, "Education": 4}  # all four are men


def test_phase_two_example():
    data = from_histograms(*PHASE_TWO)
    result = split(data.contingency, 3)
    assert result.residue_sizes[0] == 8 and result.residue_heights[0] == 4
    assert result.phase == 2 and result.residue_sizes[1] == 12 and result.residue_heights[1] == 4
    kept = result.kept.reshape(-1)
    assert kept[data.contingency.group_of_cell == 2].sum() == 0


def test_phase_three_example():
    result = split(from_histograms(*PHASE_THREE).contingency, 4)
    assert (result.phase, result.rounds) == (3, 1)
    assert result.residue_sizes == (12, 12, 20) and result.residue_heights == (4, 4, 5)


@pytest.mark.parametrize("k", [2, 3, 10, 40])
def test_phase_three_with_several_rounds(k):
    data = rounds_table(k)
    result = split(data.contingency, 4)
    assert (result.phase, result.rounds) == (3, k)
    residue = residue_of(data, result)
    assert residue.sum() >= 4 * residue.max()
    # Rounds are at most h(R) at the end of phase two, and h(R) grows by at most l - 2 a round.
    assert result.rounds <= result.residue_heights[1]
    assert result.residue_heights[2] - result.residue_heights[1] <= (4 - 2) * result.rounds


@given(histogram_tables(), st.randoms(use_true_random=False))
def test_phase_one_is_unique(table, random):
    data, l = table
    first = oracle.phase_one(oracle.rows_of(data.codes, data.sensitive), l, min)
    assert first == oracle.phase_one(oracle.rows_of(data.codes, data.sensitive), l, random.choice)
    c = data.contingency
    kept = np.empty(len(c.count), np.int64)
    from ldiv._kernels.phase_one import phase_one

    size, height = phase_one(c.indptr, c.count, l, kept)
    for g in range(c.groups):
        cells = slice(c.indptr[g], c.indptr[g + 1])
        ours = Counter({int(v): int(k) for v, k in zip(c.sensitive[cells], kept[cells], strict=True) if k})
        assert ours == first[0][tuple(c.codes[g].tolist())]
        assert (size[g], height[g]) == (sum(ours.values()), max(ours.values(), default=0))


@given(histogram_tables(max_groups=3, max_values=4, max_count=2))
@settings(max_examples=60)
def test_bounds_against_the_optimum(table):
    data, l = table
    opt = oracle.fewest_tuples(oracle.rows_of(data.codes, data.sensitive), l)
    result = split(data.contingency, l)
    size = result.residue_sizes
    assert opt >= max(size[0], l * result.residue_heights[0])  # Corollary of phase one
    if result.phase == 1:
        assert size[0] == opt
    if result.phase == 2:
        assert size[1] <= opt + l - 1
    assert size[2] <= l * opt  # Theorem 3


@given(histogram_tables())
def test_phase_two_does_not_raise_the_residue(table):
    data, l = table
    result = split(data.contingency, l)
    assert result.residue_heights[1] == result.residue_heights[0]


@given(histogram_tables(max_l=2))
def test_two_diversity_never_reaches_phase_three(table):
    data, _ = table
    l = min(2, ldiv.max_l(data))
    assert split(data.contingency, l).phase <= 2


@given(histogram_tables(max_groups=8, min_l=3), st.one_of(st.none(), st.integers(0, 99)))
@settings(max_examples=300)
def test_everything_ends_eligible(table, seed):
    data, l = table
    result = split(data.contingency, l, seed)
    c = data.contingency
    assert ((result.kept >= 0) & (result.kept <= c.count)).all()
    for g in range(c.groups):
        kept = result.kept[c.indptr[g] : c.indptr[g + 1]]
        assert kept.sum() >= l * kept.max()
    residue = residue_of(data, result)
    assert residue.sum() >= l * residue.max()
    assert (residue.sum(), residue.max()) == (result.residue_sizes[2], result.residue_heights[2])
    assert result.rounds <= max(result.residue_heights[1], 0)
    assert result.residue_heights[2] - result.residue_heights[1] <= max(l - 2, 0) * result.rounds


def test_random_search_meets_phase_three_and_its_bound():
    """Dense little tables in which dead groups abound: phase three in every shape that 8,000 draws give."""
    rng = np.random.default_rng(1)
    met = Counter()
    for _ in range(8000):
        l, extra = int(rng.integers(3, 6)), int(rng.integers(0, 3))
        groups = [tuple(rng.integers(0, 5, l + extra)) for _ in range(rng.integers(2, 7))]
        groups.append(tuple(rng.integers(0, 12, l + extra) * (rng.random(l + extra) < 0.5)))
        total = np.sum(groups, axis=0)
        if total.sum() == 0 or total.sum() < l * total.max():
            continue
        data = from_histograms(*groups)
        result = split(data.contingency, l)
        residue = residue_of(data, result)
        assert residue.sum() >= l * residue.max()
        # Against the lower bound of phase one, which OPT cannot beat.
        assert result.residue_sizes[2] <= l * max(result.residue_sizes[0], l * result.residue_heights[0])
        met[result.phase, min(result.rounds, 2)] += 1
    assert met[3, 1] > 10 and met[3, 2] > 3


def test_seed_changes_ties_only():
    data = from_histograms(*[(2, 2, 1, 1, 1, 1)] * 8, (9, 9, 0, 0, 0, 0))
    results = [split(data.contingency, 3, seed) for seed in (None, 1, 2, 3)]
    assert len({r.residue_sizes for r in results}) == 1
    assert len({r.kept.tobytes() for r in results}) > 1
    again = split(data.contingency, 3, 1)
    assert again.kept.tobytes() == results[1].kept.tobytes()


@settings(max_examples=100)
@given(histogram_tables())
def test_the_tuple_bound_is_what_phase_one_removes_with_partners(table):
    data, l = table
    _, residue = oracle.phase_one(oracle.rows_of(data.codes, data.sensitive), l)
    assert ldiv.tuple_bound(data, l) == max(sum(residue.values()), l * max(residue.values(), default=0))
