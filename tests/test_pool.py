"""Combinations of levels that are priced in, looked at one by one, or left out: the bound is below every release whichever are, and the checker says the same."""

from contextlib import ExitStack
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import tables, with_trees

import ldiv
from ldiv.algorithms.lagrangian import effort, pooling
from ldiv.bounds.certificate import Certificate, Prices, load_certificate, save_certificate
from ldiv.bounds.configuration import ConfigurationDual, brought
from ldiv.bounds.levels import Levels
from ldiv.bounds.multipliers import SCALE, DualProblem
from ldiv.bounds.pool import Pool
from ldiv.bounds.proof import prove
from ldiv.table.lattice import UNIT, Lattice


def limited(kept, looked_at, everything=1 << 40):
    """Room for so many combinations, whatever the table."""
    stack = ExitStack()
    for module, name, value in (
        (effort, "COMBINATIONS", kept),
        (effort, "CHEAP_PAIRS", 0),
        (pooling, "LOOKED_AT", looked_at),
        (pooling, "EVERYTHING", everything),
    ):
        stack.enter_context(patch.object(module, name, value))
    return stack


@st.composite
def trees(draw, **options):
    data, l = draw(tables(**options))
    return with_trees(draw, data), l


@settings(deadline=None, max_examples=60)
@given(trees(max_rows=60, max_d=3, max_size=6, max_m=5), st.integers(1, 6), st.sampled_from([0, 60, 600, 1 << 40]), st.sampled_from([60, 1 << 40]))
def test_the_bound_holds_whatever_there_is_room_for(table, kept, looked_at, everything):
    data, l = table
    best = ldiv.solve(data, l, algorithm="lagrangian", nodes=True)
    with limited(kept, looked_at, everything):
        part = ldiv.solve(data, l, algorithm="lagrangian", nodes=True)
    if not Lattice.of_nodes(data.contingency).nodes:
        return
    assert part.info["bound"] <= best.info["loss"] and best.info["bound"] <= part.info["loss"]
    if (prices := part.info.get("prices")) is not None:
        assert min(prove(data.contingency, prices, l), part.info["loss"]) == part.info["bound"]


def test_what_prices_in_comes_near_what_all_combinations_prove():
    random = np.random.default_rng(5)
    table = {
        "A": random.integers(0, 32, 3000),
        "B": random.integers(0, 27, 3000),
        "C": random.integers(0, 16, 3000),
        "S": random.integers(0, 9, 3000),
    }
    widths = {"A": [ldiv.Bins(2), ldiv.Bins(4), ldiv.Bins(8)], "B": [ldiv.Bins(3), ldiv.Bins(9)], "C": [ldiv.Bins(2), ldiv.Bins(4)]}
    ask = {"qi": ["A", "B", "C"], "sensitive": "S", "l": 4, "hierarchies": widths, "algorithm": "lagrangian"}
    whole = ldiv.anonymize(table, **ask)
    assert whole.info["prices"].combinations is None
    bounds, losses = [], []
    for looked_at in (0, 1 << 40):
        with limited(16, looked_at):
            part = ldiv.anonymize(table, **ask)
        bounds.append(part.info["bound"])
        losses.append(part.info["loss"])
        assert (part.info["prices"].combinations is None) == (looked_at > 0)
    assert bounds[0] < bounds[1]
    assert bounds[1] > 0.97 * whole.info["bound"]
    assert losses[1] < 1.05 * whole.info["loss"] < losses[0]


@settings(deadline=None, max_examples=60)
@given(trees(max_rows=30, max_d=3, max_size=6), st.randoms(use_true_random=False))
def test_what_a_row_loses_where_it_loses_least_of_what_is_left_out(table, random):
    data, _ = table
    lattice = Lattice.of_nodes(data.contingency)
    if not lattice.nodes:
        return
    every = [pattern for _, pattern in lattice.ranked]
    kept = [pattern for pattern in every if random.random() < 0.6 or not pattern]
    others = [pattern for pattern in every if pattern not in kept and random.random() < 0.3]
    pool = Pool(lattice, kept, others)
    left = [pattern for pattern in every if pattern not in kept and pattern not in others]
    cap = pool.cap()
    if not left:
        assert cap is None and pool.numbers is None
        return
    lost = []
    for pattern in left:
        projected, item = lattice.table.project(pattern)
        of_group = np.broadcast_to(lattice.losses(pattern, projected.codes), projected.groups)
        lost.append(of_group[projected.group_of_cell[item]])
    assert np.array_equal(cap, np.min(lost, axis=0))
    prices = Prices(2, np.zeros(1, dtype=np.int64), pool.looked_at, loss="ncp", combinations=pool.numbers)
    chosen, least = Levels(data.contingency, prices, {}).chosen(prices)
    assert len(list(chosen)) == pool.looked_at and np.array_equal(least, cap)


@settings(deadline=None, max_examples=40)
@given(trees(max_rows=40, max_d=3, max_size=6), st.integers(0, 1 << 30))
def test_others_bring_what_they_would_bring_with_multipliers(table, seed):
    data, l = table
    c, lattice = data.contingency, Lattice.of_nodes(data.contingency)
    if not lattice.nodes or l < 2:
        return
    price = np.random.default_rng(seed).integers(0, data.d * UNIT, len(c.count)).astype(float)
    whole = DualProblem(c, l, lattice.vectors, lattice=lattice)
    kept = whole.patterns[::3] if () in whole.patterns[::3] else [*whole.patterns[::3], ()]
    pool = Pool(lattice, kept).with_others(price, 1 << 40)
    dual = ConfigurationDual(whole)
    value, _ = dual(price)
    part = ConfigurationDual(whole.of(pool))
    partly, _ = part(price)
    assert partly - brought(part.problem, pool, price).sum() == pytest.approx(value, abs=1e-6)
    assert part.proven(price)[0] == dual.proven(price)[0]
    assert prove(c, Prices(l, np.rint(price * SCALE).astype(np.int64), lattice.vectors, loss="ncp"), l) == dual.proven(price)[0]


def test_what_others_bring_is_subtracted_from_the_bound():
    random = np.random.default_rng(5)
    table = {"A": random.integers(0, 16, 900), "B": random.integers(0, 16, 900), "S": random.integers(0, 5, 900)}
    data = ldiv.Microdata.from_frame(table, ["A", "B"], "S").with_hierarchies({x: [ldiv.Bins(2), ldiv.Bins(4)] for x in "AB"})
    c, lattice = data.contingency, Lattice.of_nodes(data.contingency)
    price = np.full(len(c.count), 0.14 * UNIT)
    pool = Pool(lattice, lattice.patterns(2)).with_others(price, 1 << 40)
    gain = brought(DualProblem(c, 3, 2, lattice=lattice), pool, price).sum()
    assert 0 < gain < 0.14 * UNIT * c.n
    bound, prices = ConfigurationDual(DualProblem(c, 3, 2, lattice=lattice).of(pool)).proven(price)
    assert 0 < bound == prove(c, prices, 3) <= 0.14 * UNIT * c.n - gain + 1


def test_some_others_are_chosen_by_what_a_sample_could_bring():
    random = np.random.default_rng(6)
    table = {"A": random.integers(0, 16, 500), "B": random.integers(0, 16, 500), "S": random.integers(0, 4, 500)}
    data = ldiv.Microdata.from_frame(table, ["A", "B"], "S").with_hierarchies({x: [ldiv.Bins(2), ldiv.Bins(4), ldiv.Bins(8)] for x in "AB"})
    lattice = Lattice.of_nodes(data.contingency)
    price = np.full(len(data.contingency.count), 0.3 * UNIT)
    pool = Pool(lattice, lattice.patterns(3)).with_others(price, 8)
    assert len(pool.others) == 8 and not set(pool.others) & set(pool.kept)
    left = [pattern for _, pattern in lattice.ranked if pattern not in pool.others and pattern not in pool.kept]

    def least(pattern):
        projected, _ = lattice.table.project(pattern)
        return lattice.losses(pattern, projected.codes).min()

    assert max(map(least, pool.others)) <= min(map(least, left))


def test_a_pool_exchanges_the_idle_for_those_that_bring_most():
    random = np.random.default_rng(8)
    table = {"A": random.integers(0, 16, 200), "B": random.integers(0, 16, 200), "S": random.integers(0, 4, 200)}
    data = ldiv.Microdata.from_frame(table, ["A", "B"], "S").with_hierarchies({x: [ldiv.Bins(2), ldiv.Bins(4)] for x in "AB"})
    lattice = Lattice.of_nodes(data.contingency)
    pool = Pool(lattice, lattice.patterns(4)).with_others(np.zeros(len(data.contingency.count)), 1 << 40)
    root = pool.kept.index(())
    used = np.array([5.0, 1.0, 2.0, 3.0, 4.0])
    used[root] = 0
    gain = np.zeros(len(pool.others))
    gain[[2, 5]] = 7, 9
    new = pool.exchanged(used, gain, len(pool.kept), 3)
    assert set(new.kept) == (set(pool.kept) - {pool.kept[1], pool.kept[2]}) | {pool.others[2], pool.others[5]}
    assert new.looked_at == pool.looked_at == lattice.vectors and () in new.kept
    one = pool.exchanged(used, gain, len(pool.kept), 1)
    assert set(one.kept) == (set(pool.kept) - {pool.kept[1]}) | {pool.others[5]}
    wider = pool.exchanged(used, gain, len(pool.kept) + 5, 0)
    assert set(wider.kept) == set(pool.kept) | {pool.others[2], pool.others[5]}


def test_what_is_left_out_stands_in_the_certificate(tmp_path):
    numbers = np.array([0, 3, 5])
    prices = Prices(2, np.arange(4), 3, loss="ncp", combinations=numbers)
    save_certificate(Certificate(5, 4, "prices", prices), tmp_path / "a.private.npz")
    read, _ = load_certificate(tmp_path / "a.private.npz")
    assert np.array_equal(read.prices.combinations, numbers) and read.prices.most == 3
