"""Neighbourhoods: the heights lemma, the address of every star of the gap, and releases that only get better."""

import itertools
from dataclasses import replace

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from strategies import tables

import ldiv
from ldiv.algorithms.lagrangian.clock import Clock
from ldiv.algorithms.lagrangian.effort import EFFORTS
from ldiv.algorithms.lagrangian.flow import Limit, Program, solve
from ldiv.algorithms.lagrangian.neighbourhoods import Neighbourhoods
from ldiv.algorithms.lagrangian.search import Search
from ldiv.algorithms.lagrangian.sizes import Sizes
from ldiv.bounds.configuration import ConfigurationDual, ascend
from ldiv.bounds.multipliers import DualProblem


def around(data, l, seed=0, algorithm="cascade"):
    """A release's neighbourhoods over every pair of cell and pattern, at random prices."""
    release = ldiv.solve(data, l, algorithm=algorithm)
    dual = ConfigurationDual(DualProblem(data.contingency, l, data.d), threads=1)
    price = np.random.default_rng(seed).random(len(data.contingency.count)) * data.d
    return release, dual, price, Neighbourhoods(release, dual, price, np.ones(dual.problem.item.shape, dtype=np.float32))


def dense_tables(many):
    """Random tables with l >= 2, most of whose cells share coarser groups; hypothesis likes small ones better."""
    rng = np.random.default_rng(0)
    while many:
        n, d, m = int(rng.integers(8, 30)), int(rng.integers(1, 4)), int(rng.integers(3, 6))
        data = ldiv.Microdata.from_codes(rng.integers(0, 3, (n, d)), rng.integers(0, m, n), [3] * d + [m])
        if (l := ldiv.max_l(data)) >= 2:
            many -= 1
            yield data, l


def test_every_star_of_the_gap_of_dense_tables_has_an_address():
    for seed, (data, l) in enumerate(dense_tables(40)):
        check_gap(data, l, seed)


@settings(deadline=None, max_examples=80)
@given(tables(max_rows=25, max_d=3), st.integers(0, 100))
def test_every_star_of_the_gap_has_an_address(table, seed):
    check_gap(*table, seed)


def check_gap(data, l, seed):
    release, dual, price, near = around(data, l, seed)
    gap = near.gap()
    value, _ = dual(price)
    assert near.cost == release.stars
    assert gap.min(initial=0) > -1e-9 and gap.sum() <= release.stars - value + 1e-6
    untouched = sum(g.sum() for g in dual.gain) - np.concatenate(dual.gain)[near.group_number].sum()  # groups that are in no pair
    assert gap.sum() + untouched == pytest.approx(release.stars - value, abs=1e-6)


@settings(deadline=None, max_examples=60)
@given(tables(max_rows=14, max_d=2, max_size=3), st.integers(0, 1000))
def test_at_whole_heights_rows_are_a_flow_with_whole_vertices(table, seed):
    """The heights lemma: for any whole heights and any costs the linear program has a whole best vertex (or none at all)."""
    data, l = table
    *_, near = around(data, l)
    rng = np.random.default_rng(seed)
    pairs, cells = len(near.rows), len(near.dual.count)
    heights = rng.integers(0, 4, len(near.group_number))
    equal = np.zeros((cells, pairs))
    equal[near.cell, np.arange(pairs)] = 1
    below = np.zeros((len(near.group_of_item), pairs))
    below[near.item, np.arange(pairs)] = 1
    enough = np.zeros((len(heights), pairs))
    enough[near.group, np.arange(pairs)] = -1
    solved = linprog(
        rng.random(pairs),
        A_ub=np.vstack([below, enough]),
        b_ub=np.concatenate([heights[near.group_of_item], -l * heights]),
        A_eq=equal,
        b_eq=near.dual.count,
        method="highs-ds",
    )
    assert solved.status in (0, 2)
    if solved.status == 0:
        assert np.abs(solved.x - np.rint(solved.x)).max(initial=0) < 1e-7


@pytest.mark.parametrize("through", ["highspy", "scipy"])
@settings(deadline=None, max_examples=25)
@given(table=tables(max_rows=6, max_d=2, max_size=3, max_m=4, max_l=3))
def test_a_neighbourhood_of_everything_is_the_optimum(table, through):
    data, l = table
    release, _, _, near = around(data, l)
    part = near.part(np.arange(len(near.dual.count)))
    with pytest.MonkeyPatch.context() as patch:
        if through == "scipy":
            patch.setitem(__import__("sys").modules, "highspy", None)
        found = solve(part.program, l, 1, Limit(10_000, 10_000))
    assert found.best and near.apply(part, found.rows) >= 0
    best = oracle.fewest_stars(oracle.rows_of(data.codes, data.sensitive), l)
    assert near.cost == best == ldiv.Release.verify(near.result()).stars


def test_a_least_size_of_groups():
    """Two cells of three rows and one of two, k = 3: the two alone would be too few."""
    program = Program(
        cell=np.array([0, 0, 1, 1]),
        item=np.array([0, 2, 1, 3]),
        cost=np.array([0.0, 1.0, 0.0, 1.0]),
        rows=np.array([1, 1]),
        group=np.array([0, 0, 1, 1]),
        given=np.array([0, 0, 2, 2]),
        size=np.array([0, 4]),
        height=np.array([0, 2]),
        start=np.array([0, 1, 0, 1]),
    )
    assert solve(program, 2, 1, Limit(100, 100)).rows.tolist() == [1, 0, 1, 0]
    assert solve(program, 2, 3, Limit(100, 100)).rows.tolist() == [0, 1, 0, 1]


def test_only_better_and_the_same_with_any_threads():
    data = ldiv.datasets.load("acs2018", sensitive="Occupation", qi=["Gender", "Race", "MaritalStatus"])
    release = ldiv.solve(data, 6, algorithm="lagrangian", effort="fast")
    costs = []
    for threads in (1, 2):
        dual = ConfigurationDual(DualProblem(data.contingency, 6, data.d), threads=threads)
        support = np.zeros(dual.problem.item.shape, dtype=np.float32)
        price, bound, _ = ascend(dual, release.proof.prices.value / 2**20, 60, support=support)
        near = Neighbourhoods(release, dual, price, support)
        assert near.cost == release.stars
        near.improve(24)
        better = ldiv.Release.verify(near.result())
        assert bound <= better.stars == near.cost < release.stars
        costs.append((near.cost, near.rows.tolist()))
    assert costs[0] == costs[1]


def test_a_program_keeps_account_of_the_rows_that_stay():
    shared = 0
    for data, l in dense_tables(40):
        *_, near = around(data, l)
        cells = len(near.dual.count)
        rng = np.random.default_rng(data.n)
        part = near.part(np.sort(rng.choice(cells, rng.integers(1, cells + 1), replace=False)))
        program = part.program
        assert np.array_equal(program.given + np.bincount(program.item, program.start, len(part.items)), near.given[part.items])
        moved = np.isin(near.cell, near.cell[part.pairs])
        for g, group in enumerate(part.groups):
            stay = np.bincount(near.item, near.rows * ~moved, len(near.group_of_item))[near.group_of_item == group]
            assert (program.size[g], program.height[g]) == (stay.sum(), stay.max())
        shared += program.given.any()
    assert shared > 10


def test_what_no_longer_fits_or_costs_more_is_not_applied():
    """Two groups of three rows with a pillar of two: without stars neither is 2-eligible, and all starred is dearer than what there is."""
    data = ldiv.Microdata.from_codes([[0], [0], [0], [1], [1], [1]], [0, 0, 1, 1, 1, 2])
    release, _, _, near = around(data, 2)
    part = near.part(np.arange(len(near.dual.count)))
    before = near.rows.copy(), near.given.copy()
    assert 0 < near.cost < 6
    for stars in (0, 1):
        rows = np.where(near.stars[part.pairs] == stars, part.program.rows[part.program.cell], 0)
        assert rows.sum() == 6 and near.apply(part, rows) == 0
        assert all(np.array_equal(x, y) for x, y in zip(before, (near.rows, near.given), strict=True))
    assert near.result().stars == release.stars


def test_time_gap_and_interrupts():
    assert not Clock().over() and Clock(0.0).left <= 0
    clock = Clock(1000.0)
    said = []
    import os
    import signal

    with clock.stopped_by_interrupt(said.append):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in itertools.repeat(None, 1000):
            if clock.over():
                break
        assert clock.over() and "kept" in said[0]
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(10**6):
                pass
    data = ldiv.datasets.load("acs2018", sensitive="Occupation", qi=["Gender", "Race", "MaritalStatus"])
    loose, tight = (ldiv.solve(data, 6, gap=gap) for gap in (1.5, None))
    assert loose.certificate.ratio <= 1.5 and tight.stars <= loose.stars
    with pytest.raises(ldiv.InputError, match="gap"):
        ldiv.solve(data, 6, gap=0.9)


def test_what_is_called_the_best_is_the_best(monkeypatch):
    """Programs of real neighbourhoods against scipy's way to the same solver: given a point to start from HiGHS calls worse ones the best."""
    data = ldiv.datasets.load("acs2018", sensitive="Occupation", qi=["Age", "Gender", "Race", "MaritalStatus"])
    *_, near = around(data, 6)
    near.size = 150
    gap = near.gap()
    seeds = np.argsort(-gap, kind="stable")[:24]
    programs = [near.part(near.grown(int(seed))).program for seed in seeds]
    found = [solve(program, 6, 1, Limit(2_000, 10_000)) for program in programs]
    monkeypatch.setitem(__import__("sys").modules, "highspy", None)
    for program, one in zip(programs, found, strict=True):
        other = solve(program, 6, 1, Limit(2_000, 10_000))
        assert one.best and other.best
        assert program.cost @ one.rows == pytest.approx(program.cost @ other.rows, abs=1e-5)


def test_a_search_of_a_whole_table_says_optimal_of_optima_only():
    """From a bound and a release that are both bad: what it calls the optimum is what trying all partitions finds."""
    rng, said = np.random.default_rng(4), 0
    while said < 12:
        data = ldiv.Microdata.from_codes(rng.integers(0, 3, (8, 3)), rng.integers(0, 4, 8), [3, 3, 3, 4])
        if ldiv.max_l(data) < 2:
            continue
        search = Search(data.contingency, 2, None, 1, Clock())
        search.linear(replace(EFFORTS["default"], rounds=0))
        search.configurations(20, 0, 0.05)
        if search.dual is None:
            continue
        every = np.arange(len(data.contingency.count), dtype=np.int32)
        search.best = ldiv.Release.from_entries(data.contingency, every * 0, every, data.contingency.count, l=2, algorithm="one group")
        search.cost, search.bound = search.best.cost, 0
        search.solve_whole()
        best = oracle.fewest_stars(oracle.rows_of(data.codes, data.sensitive), 2)
        assert search.optimal and search.cost == best == search.best.stars
        said += 1


def test_sizes_grow_where_larger_ones_save_more_and_shrink_where_programs_stay_open():
    sizes = Sizes(100, 50, 1_000)
    assert sizes.sizes[sizes.at] <= 100 and sizes.sizes == sorted(sizes.sizes) and max(sizes.sizes) <= 1_000
    first = sizes.next()
    sizes.told(10, 100, True)
    tried = []
    for _ in range(4 * 5):  # a larger one saves more for its work: taken once it has been tried
        tried.append(sizes.next())
        sizes.told(10 if tried[-1] == first else 50, 100, True)
    assert first in tried and tried[-1] > first
    at = sizes.at
    for _ in range(2):  # nothing saved: on to the next
        while sizes.next() != sizes.sizes[at]:
            sizes.told(0, 100, True)
        sizes.told(0, 100, True)
    assert sizes.at > at
    while sizes.at:
        size = sizes.next()
        sizes.told(0, 100, False)
        assert sizes.next() < size or sizes.at == 0
    sizes.free()
    for _ in range(40):
        sizes.next()
        sizes.told(0, 100, True)
    assert sizes.at == len(sizes.sizes) - 1
