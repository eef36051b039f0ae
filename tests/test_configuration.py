"""The configuration dual: every group's best whole l-eligible set, exactly, and a bound that is never above an optimum nor below the linear one."""

import itertools

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import tables

import ldiv
import ldiv._kernels.configuration as _configuration
from ldiv.bounds.configuration import ConfigurationDual, ascend
from ldiv.bounds.multipliers import SCALE, DualProblem


def best_set(profit, value, count, l, k):
    """The largest profit over all whole l-eligible sets of at least k rows, the empty one included, by trying them all."""
    best = 0.0
    for taken in itertools.product(*(range(c + 1) for c in count)):
        rows = sum(taken)
        heights = [sum(t for t, v in zip(taken, value, strict=True) if v == u) for u in set(value)]
        if rows >= max(l * max(heights), k) and rows:
            best = max(best, sum(t * p for t, p in zip(taken, profit, strict=True)))
    return best


@settings(deadline=None, max_examples=300)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3), st.integers(-6, 6)), min_size=1, max_size=5),
    st.integers(1, 3),
    st.integers(1, 5),
    st.integers(0, 4),
    st.sampled_from([0.0, 1.5, 4.0, 100.0]),
)
def test_the_best_set_of_a_group_is_the_best_of_all(cells, l, k, guess, reach):
    value, count, profit = (list(x) for x in zip(*cells, strict=True))
    n = len(cells)
    usage, gain, height = np.zeros(n, np.int64), np.zeros(2), np.array([guess, 0])
    price = 2.0 + np.array(profit, float)
    items = np.arange(n, dtype=np.int32)
    total, twice = _configuration.respond(
        items, np.zeros(n, np.int32), np.array([0, n, n]), np.argsort(-price).astype(np.int32), np.array([2.0]), np.array(value, np.int32), 4, np.array(count),
        price, l, k, height, usage, gain, reach,
    )  # fmt: skip
    assert twice in ((0,) if reach == 100.0 else (0, n))
    assert total == gain[0] == pytest.approx(best_set(profit, value, count, l, k))
    assert (usage <= count).all() and usage @ np.array(profit) == pytest.approx(total)
    tops = np.bincount(value, usage)
    assert usage.sum() == 0 or usage.sum() >= max(l * tops.max(), k)


def best_set_with(profit, value, count, l, k, cell):
    """The same over the sets with a row of one cell; None where there is none."""
    best = None
    for taken in itertools.product(*(range(int(j == cell), c + 1) for j, c in enumerate(count))):
        heights = [sum(t for t, v in zip(taken, value, strict=True) if v == u) for u in set(value)]
        if sum(taken) >= max(l * max(heights), k):
            worth = sum(t * p for t, p in zip(taken, profit, strict=True))
            best = worth if best is None else max(best, worth)
    return best


@settings(deadline=None, max_examples=300)
@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3), st.integers(-6, 6)), min_size=1, max_size=5),
    st.integers(1, 3),
    st.integers(1, 5),
    st.integers(0, 4),
)
def test_what_a_forced_row_costs_is_by_the_best_set_with_it(cells, l, k, guess):
    value, count, profit = (list(x) for x in zip(*cells, strict=True))
    n = len(cells)
    price = 2.0 + np.array(profit, float)
    loss, gain = np.empty(n), np.array([best_set(profit, value, count, l, k), 0.0])
    _configuration.forced(
        np.arange(n, dtype=np.int32), np.zeros(n, np.int32), np.array([0, n, n]), np.argsort(-price).astype(np.int32), np.array([2.0]),
        np.array(value, np.int32), 4, np.array(count), price, l, k, np.array([guess, 0]), gain, loss,
    )  # fmt: skip
    for cell in range(n):
        best = best_set_with(profit, value, count, l, k, cell)
        assert loss[cell] > 1e200 if best is None else loss[cell] == pytest.approx(gain[0] - best)


@settings(deadline=None, max_examples=60)
@given(tables(max_rows=6, max_d=2, max_size=3, max_m=4, max_l=3), st.integers(0, 10**6))
def test_any_prices_prove_a_bound(table, seed):
    data, l = table
    problem = DualProblem(data.contingency, l, data.d)
    dual = ConfigurationDual(problem)
    optimum = oracle.fewest_stars(oracle.rows_of(data.codes, data.sensitive), l)
    rng = np.random.default_rng(seed)
    for scale in (0.5, 1.0, 3.0):
        value, left = dual(scale * rng.random(len(data.contingency.count)) * data.d)
        assert value <= optimum + 1e-9 and left.shape == data.contingency.count.shape
    _, best, _ = ascend(dual, np.zeros(len(data.contingency.count)), 60, goal=optimum)
    assert best <= optimum + 1e-9


def test_how_far_cells_are_listed_changes_nothing():
    data = ldiv.datasets.load("acs2018", sensitive="Income", qi=["Gender", "Race", "MaritalStatus"])
    problem = DualProblem(data.contingency, 6, 3)
    price = np.random.default_rng(0).random(len(data.contingency.count)) * 3
    outcomes = []
    for reach in (0.01, 0.3, 50.0):
        dual = ConfigurationDual(problem)
        dual.reach[:] = reach
        share = np.zeros(problem.item.shape, dtype=np.float32)
        value, left = dual(price, share=share)
        outcomes.append((value, left.tolist(), share.tolist(), [gain.tolist() for gain in dual.gain]))
        assert (dual.reach > reach).any() == (reach < 1)  # looked at again, so farther the next time
    assert outcomes[0] == outcomes[1] == outcomes[2]


def test_never_below_the_linear_bound_and_the_same_with_any_threads():
    data = ldiv.datasets.load("acs2018", sensitive="Occupation", qi=["Gender", "Race", "MaritalStatus"])
    release = ldiv.solve(data, 6, algorithm="lagrangian", effort="fast")
    prices = release.proof.prices
    problem = DualProblem(data.contingency, 6, prices.most)
    start = prices.value / SCALE
    duals = [ConfigurationDual(problem, threads=threads) for threads in (1, 2)]
    duals[1].alone = False
    outcomes = [ascend(dual, start, 40) for dual in duals]
    assert outcomes[0][1] == outcomes[1][1] and np.array_equal(outcomes[0][0], outcomes[1][0])
    assert release.stars >= outcomes[0][1] >= duals[0](start)[0] >= release.proof.bound - 1
    assert outcomes[0][1] > release.proof.bound
