"""Cells that hold very many rows: every number is right, and nothing takes longer for them."""

import math
from fractions import Fraction

import numpy as np
import oracle
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from strategies import PHASE_THREE, PHASE_TWO, rounds_table

import ldiv
from ldiv._kernels.phase_one import phase_one
from ldiv.algorithms.hilbert import curve_order, group_along_curve
from ldiv.algorithms.tp import split
from ldiv.arguments import MOST_ROWS


def cells(histograms, times=1, shape=None):
    """A Contingency with a group for each histogram, over one attribute or the given shape."""
    h = np.array(histograms, dtype=object) * times
    h = h[(h != 0).any(axis=1)]
    group, value = np.nonzero(h)
    shape = shape or (len(h),)
    codes = np.stack(np.unravel_index(np.arange(len(h)), shape), axis=1)
    indptr = np.searchsorted(group, np.arange(len(h) + 1))
    domains = tuple(ldiv.Domain(f"A{j}", size, ordered=j == 0) for j, size in enumerate(shape))
    return ldiv.Contingency(codes, indptr, value, h[group, value].astype(np.int64), domains, ldiv.Domain("s", h.shape[1]))


def six_by_five(k):
    """6 groups x 5 values, counts times 2**k."""
    return cells([[4, 7, 1, 0, 3], [2, 2, 8, 5, 1], [0, 6, 3, 3, 4], [0, 0, 0, 8, 5], [1, 2, 3, 4, 5], [7, 1, 1, 1, 2]], 1 << k, (2, 3))


histograms = (
    st.integers(2, 6)
    .flatmap(lambda m: st.lists(st.lists(st.integers(0, 9), min_size=m, max_size=m), min_size=1, max_size=7))
    .filter(lambda h: any(map(any, h)))
)
every = pytest.mark.parametrize("name", sorted(ldiv.algorithms()))


def same(a, b):
    return (a.kept == b.kept).all() and (a.phase, a.rounds, a.residue_sizes, a.residue_heights) == (
        b.phase,
        b.rounds,
        b.residue_sizes,
        b.residue_heights,
    )


@settings(max_examples=200)
@given(histograms, st.sampled_from([1, 2, 7, 40]), st.lists(st.integers(0, 6), max_size=8), st.integers(2, 5), st.sampled_from([None, 3]))
def test_runs_of_moves_at_once_are_the_moves_one_by_one(h, times, more, l, seed):
    c = cells(h, times)
    count = c.count.copy()
    count[: len(more)] += np.array(more, dtype=np.int64)[: len(count)]
    c = ldiv.Contingency(c.codes, c.indptr, c.sensitive, count, c.domains, c.sensitive_domain)
    l = min(l, ldiv.max_l(c))
    assert same(split(c, l, seed), split(c, l, seed, few=-1))


@pytest.mark.parametrize("k", [1, 2, 5, 30])
def test_rounds_of_phase_three_at_once(k):
    c = rounds_table(k).contingency
    one, many = split(c, 4), split(c, 4, few=-1)
    assert one.phase == 3 and one.rounds == k and same(one, many)


def test_runs_of_moves_end_where_a_cell_runs_out():
    """Thin groups whose values all are pillars: nothing but their end stops the run."""
    for size in (2, 5, 15):
        c = cells([[size * 10, 0, 0]] + [[0, size, size]] * 8)
        one, many = split(c, 2), split(c, 2, few=-1)
        assert one.phase == 2 and same(one, many) and (many.kept >= 0).all()


THIN = [(3, 1, 2, 3, 3), (1, 3, 2, 3, 3), (3, 3, 3, 1, 2), (2, 1, 3, 3, 3), (3, 3, 1, 2, 3), (2, 3, 3, 3, 1), (3, 2, 3, 1, 3), (3, 3, 3, 3, 3)]


@settings(max_examples=150)
@example([THIN[2], THIN[6], THIN[4], THIN[7], THIN[3]], 1, 1, [1, 2, 4, 0, 3])  # groups alike to the set cover
@example([THIN[2], THIN[1], THIN[7], THIN[0], THIN[7], THIN[5]], 3, 1, [0, 1, 2, 3, 4])
@given(st.lists(st.sampled_from(THIN), min_size=2, max_size=7), st.integers(1, 4), st.integers(1, 4), st.permutations(range(5)))
def test_phase_three_among_thin_groups(groups, high, times, order):
    """Many groups between which the set cover has to choose, and rows that many rounds move."""
    rest = [4 * high if v in order[:3] else 0 for v in range(5)]
    c = cells([*groups, rest], times)
    l = min(4, ldiv.max_l(c))
    one, many = split(c, l), split(c, l, few=-1)
    assert same(one, many)
    if times == 1:
        rows = [((g,), v) for g, histogram in enumerate([*groups, rest]) for v, count in enumerate(histogram) for _ in range(count)]
        residue, phase, rounds = oracle.tp(rows, l)
        left = c.histogram - np.bincount(c.sensitive, weights=one.kept, minlength=c.m).astype(int)
        assert (one.phase, one.rounds) == (phase, rounds) and left.tolist() == [residue[v] for v in range(c.m)]


UNEVEN = [
    [[300, 300, 300, 100, 397], [300, 100, 200, 300, 300], [200, 396, 583, 300, 300], [300, 217, 200, 300, 437], [300, 300, 100, 200, 300]],
    [[40, 33, 60, 60, 111], [44, 100, 62, 79, 21], [20, 60, 40, 60, 60], [40, 60, 119, 60, 20], [60, 45, 60, 24, 60]],
    [[200, 560, 300, 300, 100], [100, 300, 302, 587, 442], [300, 511, 300, 100, 200], [300, 490, 300, 300, 300]],
]


@pytest.mark.parametrize("groups, rest", list(zip(UNEVEN, [[1200, 0, 1200, 1200, 0], [0, 160, 0, 160, 160], [400, 0, 400, 400, 0]], strict=True)))
def test_rounds_that_hold_runs_of_moves(groups, rest):
    """Dozens of rounds alike, in each of which a group gives many rows alike: runs within runs."""
    c = cells([*groups, rest])
    one, many = split(c, 4), split(c, 4, few=-1)
    assert one.phase == 3 and one.rounds > 30 and same(one, many)


@pytest.mark.parametrize("k", [6, 24, 25, 60])
@pytest.mark.parametrize("seed", range(3))
def test_the_inverted_list_of_high_cells(k, seed):
    """Groups of few and of many cells, of heights beyond what is sorted by counting."""
    rng = np.random.default_rng(seed)
    low, high = 3 * k, 8 * k
    histograms = [[*rng.integers(low, high, k).tolist(), 0], [*rng.integers(low, high, k).tolist(), 0], [0] * k + [30]]
    c = cells(histograms)
    l = min(sum(h) // max(h) for h in histograms[:2])  # so that both groups are soon thin, and their pillars count
    rows = [((g,), v) for g, histogram in enumerate(histograms) for v, count in enumerate(histogram) for _ in range(count)]
    residue, phase, rounds = oracle.tp(rows, l)
    found = split(c, l)
    left = c.histogram - np.bincount(c.sensitive, weights=found.kept, minlength=c.m).astype(int)
    assert (found.phase, found.rounds) == (phase, rounds) and left.tolist() == [residue[v] for v in range(c.m)]
    assert phase > 1 and same(found, split(c, l, few=-1))


def test_the_examples_of_the_phases_scaled_up():
    for histograms_, l, phase in ((PHASE_TWO, 3, 2), (PHASE_THREE, 4, 3)):
        for times in (1 << 20, 3**20, 1 << 50):
            result = split(cells(histograms_, times), l)
            assert result.phase == phase and result.residue_sizes[2] >= l * result.residue_heights[2]
            assert result.residue_sizes[0] == times * split(cells(histograms_), l).residue_sizes[0]
            assert result.residue_sizes[2] <= times * split(cells(histograms_), l).residue_sizes[2]


@settings(max_examples=40)
@given(histograms, st.integers(16, 53), st.integers(2, 5))
def test_any_table_scaled_up_is_decided_at_once(h, k, l):
    small, large = cells(h), cells(h, 1 << k)
    l = min(l, ldiv.max_l(small))
    ones, result = split(small, l), split(large, l)
    assert result.residue_sizes[0] >= ones.residue_sizes[0] and result.kept.sum() + result.residue_sizes[2] == large.n
    for name in ("tp", "tp+", "hilbert", "cascade"):
        release = ldiv.solve(large, l, algorithm=name)
        assert release.stars >= ldiv.star_bound(large, l) and release.max_l >= l
        assert len(release.count) < 100 * (len(large.count) + l)  # entries are by cells


def test_where_scaling_is_exact_the_objective_is_scaled():
    """Phase one is: heights that are whole stay whole. So is what follows where groups only thin out evenly."""
    for k in range(0, 56, 5):
        c = six_by_five(k)
        for l in (2, 3):
            kept = np.empty_like(c.count)
            size, height = phase_one(c.indptr, c.count, l, kept)
            assert all(int(s) // l >= int(h) for s, h in zip(size, height, strict=True)) and (kept <= c.count).all()
            release = ldiv.solve(c, l, algorithm="tp")
            assert release.phase == 1 or release.suppressed_rows >= ldiv.tuple_bound(c, l)
            assert release.suppressed_rows < 2**k * (ldiv.solve(six_by_five(0), l, algorithm="tp").suppressed_rows + 1)
        hilbert = ldiv.solve(c, 2, algorithm="hilbert")
        assert hilbert.stars == 2**k * ldiv.solve(six_by_five(0), 2, algorithm="hilbert").stars


@every
@pytest.mark.parametrize("k", [0, 20, 31, 40, 54])
def test_every_number_of_a_release(name, k):
    """Against sums in Python's integers, which do not wrap."""
    c = six_by_five(k)
    try:
        release = ldiv.solve(c, 2, algorithm=name)
    except ldiv.InputError as error:
        assert name == "exact" and k > 20 and "too large for an exact answer: " in str(error)
        return
    rows = [int(x) for x in release.count]
    groups = [rows[a:b] for a, b in zip(release.indptr[:-1], release.indptr[1:], strict=True)]
    sizes = list(map(sum, groups))
    assert sum(sizes) == release.n == c.n == sum(c.count.tolist()) and release.group_sizes.tolist() == sizes
    starred = [[int(x) == -1 for x in row] for row in release.published]
    assert release.stars == sum(size * sum(row) for size, row in zip(sizes, starred, strict=True)) == release.cost
    assert list(release.stars_by_attribute.values()) == [sum(size * row[j] for size, row in zip(sizes, starred, strict=True)) for j in range(2)]
    assert release.suppressed_rows == sum(size * any(row) for size, row in zip(sizes, starred, strict=True))
    assert ldiv.discernibility(release) == sum(size**2 for size in sizes)
    assert ldiv.average_group_size(release) == c.n / len(sizes)
    assert ldiv.max_l(c) == sum(c.count.tolist()) // max(c.histogram.tolist()) and release.max_l >= 2
    assert math.isfinite(ldiv.kl_divergence(release)) and 0 <= ldiv.kl_divergence(release) < 1 and 0 <= ldiv.ncp(release) <= 1
    if release.is_suppression:
        assert release.certificate.bound <= release.stars
        assert ldiv.verify_certificate(c, release.certificate, 2) == release.certificate.bound
    report = ldiv.check(c, l=3)
    excess = [violation.excess for violation in report.violations]
    assert report.rows == c.n and report.groups == 6 and excess == sorted(excess, reverse=True)


@pytest.mark.parametrize("name", ["tp", "tp+", "hilbert", "cascade", "mondrian", "tds", "auto", "multidim"])
def test_the_largest_table_there_can_be(name):
    """2**62 rows: in one cell for l = 1, in two values for l = 2."""
    one = ldiv.solve(cells([[MOST_ROWS]]), 1, algorithm=name)
    assert one.n == MOST_ROWS and one.stars == 0 and ldiv.discernibility(one) == MOST_ROWS**2
    half = 1 << 60
    c = cells([[half, half, 0], [half, half - 1, 1]])
    release = ldiv.solve(c, 2, algorithm=name)
    assert release.n == MOST_ROWS and release.max_l == 2 and ldiv.check(c, l=2).max_l == 2
    with pytest.raises(ldiv.InputError, match="at most 2\\*\\*62"):
        cells([[half, half, 1], [half, half - 1, 1]])


def test_principles_of_very_many_rows():
    c = cells([[1 << 55, 1 << 55, 1 << 55], [(1 << 55) + 1, 1 << 55, 1 << 55]])
    found = ldiv.audit(c)
    assert found["k"] == 3 << 55 and found["l"] == 2 and found["distinct_l"] == 3
    release = ldiv.solve(c, 2, also=[ldiv.KAnonymity(4 << 55)], algorithm="tp")
    assert release.groups == 1 and release.stars == c.n
    with pytest.raises(ldiv.InputError, match="KAnonymity"):
        ldiv.solve(c, 2, also=[ldiv.KAnonymity(7 << 55)], algorithm="tp")


def test_hilbert_along_the_curve_is_the_grouping_row_by_row():
    """Entries against the grouping of single rows, each group and cell by itself."""
    rng = np.random.default_rng(2)
    for _ in range(200):
        h = rng.integers(0, 30, (int(rng.integers(1, 6)), int(rng.integers(2, 6))))
        if not h.any():
            continue
        c = cells(h.tolist())
        l = min(int(rng.integers(1, 4)), ldiv.max_l(c))
        group, cell, rows = group_along_curve(c, l)
        assert np.array_equal(np.bincount(cell, rows, len(c.count)).astype(int), c.count)
        values = {}
        for g, k, n in zip(group.tolist(), cell.tolist(), rows.tolist(), strict=True):
            values.setdefault(g, {}).setdefault(int(c.sensitive[k]), []).append(n)
        for held in values.values():
            tops = [sum(x) for x in held.values()]
            assert sum(tops) >= l * max(tops)


def grouped_row_by_row(c, l):
    """The groups, as sorted cells: pillars where the rest would not be eligible without them, else the nearest heads on the curve."""
    position = curve_order(c)[c.group_of_cell]
    buckets = {}
    for cell in sorted(range(len(c.count)), key=lambda k: position[k]):
        buckets.setdefault(int(c.sensitive[cell]), []).extend([cell] * int(c.count[cell]))
    while n := sum(map(len, buckets.values())):
        if n < 2 * l:
            yield sorted(cell for bucket in buckets.values() for cell in bucket)
            return
        top = max(map(len, buckets.values()))
        taken = [v for v, bucket in buckets.items() if len(bucket) == top] if top > (n - l) // l else []
        near = sorted((position[bucket[0]], v) for v, bucket in buckets.items() if bucket and v not in taken)
        taken += [v for _, v in near[: max(l - len(taken), 0)]]
        yield sorted(buckets[v].pop(0) for v in taken)


@settings(max_examples=200)
@given(histograms, st.booleans(), st.integers(1, 5))
def test_hilbert_takes_the_nearest_heads_and_what_must_be_taken(h, skewed, l):
    """Tables that are just eligible too, where values are taken out of their turn."""
    c = cells([[4 * x if v == 0 and skewed else x for v, x in enumerate(row)] for row in h])
    l = min(l, ldiv.max_l(c))
    group, cell, rows = group_along_curve(c, l)
    found = []
    for g in range(int(group.max()) + 1):
        mine = group == g
        if (rows[mine] > 1).any():
            assert len(set(rows[mine].tolist())) == 1
        found += [sorted(cell[mine].tolist())] * int(rows[mine][0])
    assert found == list(grouped_row_by_row(c, l))


def test_weights_and_many_rows():
    c = six_by_five(50)
    domains = tuple(ldiv.Domain(x.name, x.size, weight=10_000) for x in c.domains)
    heavy = ldiv.Contingency(c.codes, c.indptr, c.sensitive, c.count, domains, c.sensitive_domain)
    plain, scaled = ldiv.solve(c, 3), ldiv.solve(heavy, 3)
    assert scaled.cost == 10_000 * plain.stars and scaled.certificate.bound <= scaled.cost
    assert Fraction(ldiv.verify_certificate(heavy, scaled.certificate, 3), scaled.cost) > Fraction(3, 4)
