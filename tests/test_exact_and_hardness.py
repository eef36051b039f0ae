"""Section 3 as running code, and exact optima against brute force."""

import os
import signal
import threading

import numpy as np
import oracle
import pytest
from scipy.sparse import csr_matrix
from strategies import PHASE_THREE, from_histograms

import ldiv
from ldiv.algorithms import exact as programs
from ldiv.algorithms import program
from ldiv.algorithms.exact import exact, fewest_stars
from ldiv.algorithms.lagrangian.clock import Clock
from ldiv.hardness import gadget, has_matching, matching_of, no_instance, yes_instance


def random_table(rng, most_rows=8, values=4):
    n, d, m = int(rng.integers(4, most_rows + 1)), int(rng.integers(1, 4)), int(rng.integers(2, values + 1))
    return ldiv.Microdata.from_codes(rng.integers(0, 3, (n, d)), rng.integers(0, m, n), [3] * d + [m])


def test_stars_are_the_brute_force_optimum():
    rng = np.random.default_rng(0)
    solved = 0
    while solved < 80:
        data = random_table(rng)
        l = min(int(rng.integers(2, 5)), ldiv.max_l(data))
        if l < 2:
            continue
        release = ldiv.solve(data, l, algorithm="exact", effort="fast")
        assert release.info["optimal"]
        assert release.stars == release.info["bound"] == oracle.fewest_stars(oracle.rows_of(data.codes, data.sensitive), l)
        solved += 1


def test_tuples_are_the_brute_force_optimum():
    rng = np.random.default_rng(1)
    for _ in range(80):
        groups = [tuple(rng.integers(0, 3, 4)) for _ in range(3)]
        data = from_histograms(*groups) if any(map(any, groups)) else None
        if data is None or ldiv.max_l(data) < 2:
            continue
        l = min(int(rng.integers(2, 4)), ldiv.max_l(data))
        release = ldiv.solve(data, l, algorithm="exact", objective="tuples")
        best = oracle.fewest_tuples(oracle.rows_of(data.codes, data.sensitive), l)
        assert release.info["optimal"] and release.info["tuple_bound"] == best
        assert release.suppressed_rows == best  # one attribute: the rows that are starred are those taken out


def test_matching_for_two_values():
    rng = np.random.default_rng(2)
    for _ in range(60):
        half, d = int(rng.integers(2, 5)), int(rng.integers(1, 4))
        data = ldiv.Microdata.from_codes(rng.integers(0, 3, (2 * half, d)), [0, 1] * half, [3] * d + [2])
        release = ldiv.solve(data, 2, algorithm="exact")
        assert release.stars == oracle.fewest_stars(oracle.rows_of(data.codes, data.sensitive), 2)
        assert release.stars == fewest_stars(data.contingency, 2, Clock(), effort="fast").stars


@pytest.mark.slow
def test_a_time_limit_leaves_a_valid_release_and_a_proven_bound():
    data = ldiv.datasets.load("acs2018", qi=["Age", "Gender", "Race", "MaritalStatus"]).head(1500)
    release = ldiv.solve(data, 4, algorithm="exact", time_limit=2)
    assert release.max_l >= 4 and release.info["bound"] <= release.stars
    with pytest.raises(ldiv.InputError, match="objective must be"):
        exact(data.contingency, 2, objective="rows")


@pytest.mark.parametrize("m", range(3, 9))
@pytest.mark.parametrize("size, extra", [(2, 1), (3, 2)])
def test_the_gadget_decides_both_ways(m, size, extra):
    for make, answer in ((yes_instance, True), (no_instance, False)):
        points = make(size, extra, seed=m)
        assert has_matching(points, size) == answer
        instance = gadget(points, size, m)
        release = ldiv.solve(instance.data, 3, algorithm="exact", effort="fast", target=instance.threshold)
        assert (release.stars <= instance.threshold) == answer == (release.info["bound"] <= instance.threshold)
        assert release.stars >= instance.threshold
        found = matching_of(instance, release)
        assert (found is not None) == answer
        if found:
            assert set(found) <= set(points) and all(sorted(p[j] for p in found) == list(range(size)) for j in range(3))


def test_gadget_refuses_nonsense():
    for points, size, m, message in [([(0, 0, 2)], 2, 3, "triples"), ([(0, 0, 0)] * 2, 2, 3, "twice"), ([(0, 0, 0)], 1, 9, "m must")]:
        with pytest.raises(ldiv.InputError, match=message):
            gadget(points, size, m)


def market_split(size=6, values=50):
    """An integer program that branch and bound cannot solve (Cornuejols and Dawande 1998), as arguments of integer_program."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 100, (size, values))
    slack = np.hstack([a, np.eye(size), -np.eye(size)])
    cost = np.concatenate([np.zeros(values), np.ones(2 * size)])
    high = np.concatenate([np.ones(values), np.full(2 * size, 10_000)])
    return cost, [csr_matrix(np.zeros((1, len(cost))))], np.zeros(1), np.zeros(len(cost)), high, (csr_matrix(slack), a.sum(axis=1) // 2)


def test_a_long_program_ends_at_its_time_limit_with_what_it_has(monkeypatch):
    monkeypatch.setattr(program, "SHORT", 0.2)
    *arguments, equal = market_split()
    for limit in (0.0, 0.3, 3.5):
        solved = program.integer_program(*arguments, Clock(limit), equal=equal)
        assert not solved.infeasible and (solved.bound is None or solved.bound >= -1e-9)
        assert solved.x is None or np.array_equal(equal[0] @ solved.x, equal[1])


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_a_long_program_can_be_interrupted(monkeypatch):
    monkeypatch.setattr(program, "SHORT", 0.2)
    *arguments, equal = market_split()
    timer = threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        program.integer_program(*arguments, Clock(), equal=equal)
    timer.join()


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_the_first_interrupt_of_an_exact_search_keeps_the_best():
    data = ldiv.datasets.load("acs2018", qi=["Age", "Gender", "MaritalStatus", "Education"], sensitive="Occupation").head(6000)
    timer = threading.Timer(4, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    release = ldiv.solve(data, 6, algorithm="exact")  # which takes minutes
    assert not timer.is_alive() and release.max_l >= 6 and release.info["bound"] <= release.stars and not release.info["optimal"]


def test_what_is_too_large_is_refused(monkeypatch):
    with pytest.raises(ldiv.InputError, match="too large for an exact answer: .* pairs of rows to be matched"):
        ldiv.solve(ldiv.Microdata.from_codes(np.arange(40_000)[:, None], [0, 1] * 20_000), 2, algorithm="exact")
    monkeypatch.setattr(programs, "MOST_PRODUCTS", 10)
    with pytest.raises(ldiv.InputError, match="too large for an exact answer: 13 cells"):
        ldiv.solve(from_histograms(*PHASE_THREE), 4, algorithm="exact", objective="tuples")
