"""Rounding and the local search on single rows: what is given stays l-eligible, nothing is lost, no more partners than needed, never more stars."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import tables, with_trees

import ldiv
from ldiv._kernels.multipliers import propose
from ldiv.algorithms.lagrangian.rounding import Assignment
from ldiv.bounds.multipliers import DualProblem
from ldiv.table.lattice import Lattice


class Books:
    """A local search and the arrays it works on, looked at from outside."""

    def __init__(self, state):
        problem = self.problem = state.problem
        _, group_of_item = problem.all_groups
        self.search, self.given, self.rows = state.ledger()
        self.left = state.left
        self.pays = problem.price_of_all[group_of_item[problem.item + problem.offset[:-1, None]]]  # of each pattern and cell

    @property
    def cost(self):
        return int((self.rows * self.pays).sum())

    def groups(self, rows):
        """SA histogram of each group of each pattern that holds rows, counted from the rows."""
        problem, c = self.problem, self.problem.contingency
        found = {}
        for p, kept in enumerate(problem.patterns):
            for cell in np.flatnonzero(rows[p]):
                key = (p, tuple(problem.lattice.table.codes[c.group_of_cell[cell], list(kept)].tolist()))
                value = int(c.sensitive[cell])
                found.setdefault(key, {}).setdefault(value, 0)
                found[key][value] += int(rows[p, cell])
        return found

    def eligible(self, rows, p, cell):
        """Whether the group of a cell in a pattern is l-eligible and has at least k rows, or none."""
        c = self.problem.contingency
        key = (p, tuple(self.problem.lattice.table.codes[c.group_of_cell[cell], list(self.problem.patterns[p])].tolist()))
        count = self.groups(rows).get(key, {})
        size = sum(count.values())
        return size >= self.problem.l * max(count.values(), default=0) and (size >= self.problem.k or not size)

    def check(self):
        c = self.problem.contingency
        assert (self.rows >= 0).all() and (self.left >= 0).all()
        assert np.array_equal(self.rows.sum(axis=0) + self.left, c.count)
        for count in self.groups(self.rows).values():
            assert sum(count.values()) >= max(self.problem.l * max(count.values()), self.problem.k)
        for p in range(len(self.problem.patterns)):
            held = np.bincount(self.problem.item[p], weights=self.rows[p], minlength=self.problem.items[p])
            assert np.array_equal(self.given[self.problem.part(p)], held)

    def better_moves(self):
        """Single rows that could still stand in a group with fewer stars."""
        for p, cell in np.argwhere(self.rows > 0):
            for q in range(len(self.pays)):
                if self.pays[q, cell] < self.pays[p, cell]:
                    rows = self.rows.copy()
                    rows[p, cell] -= 1
                    rows[q, cell] += 1
                    alive = self.problem.item[q, cell] < self.problem.items[q] - 1
                    if alive and self.eligible(rows, p, cell) and self.eligible(rows, q, cell):
                        yield p, q, int(cell)


@st.composite
def books(draw, **options):
    """A table some of whose rows were given to patterns in any way."""
    data, l = draw(tables(**{"max_rows": 30, "max_d": 3, "max_size": 3, "max_m": 5, **options}))
    k = draw(st.one_of(st.just(1), st.integers(1, min(7, data.n))))
    lattice = None
    if draw(st.booleans()):
        data = with_trees(draw, data)
        lattice = Lattice.of_nodes(data.contingency, draw(st.sampled_from(["ncp", "level"])))
    most = data.d if lattice is None else lattice.vectors
    state = Assignment(DualProblem(data.contingency, max(l, 2) if ldiv.max_l(data) > 1 else 1, most, k=k, lattice=lattice))
    for p in draw(st.permutations(range(len(state.problem.patterns)))):
        offer = np.array([draw(st.integers(0, int(k))) for k in state.left], dtype=np.int64)
        state.absorb(p, offer)
    return Books(state)


@settings(max_examples=150)
@given(books())
def test_improving_ends_where_no_single_row_can_move(found):
    found.check()
    before = found.cost
    saved = found.search.improve(100)
    found.check()
    assert saved == before - found.cost >= 0
    assert not list(found.better_moves())


@settings(max_examples=200)
@given(books(max_rows=40), st.integers(0, 3))
def test_placing_and_rebuilding_keep_the_books(found, rounds):
    stars = found.problem.all_stars
    left = int(found.left.sum())
    placed = found.search.place(stars * max(found.problem.l, found.problem.k), stars, 10**6)
    found.check()
    assert placed == left - int(found.left.sum())
    before = found.cost
    saved = found.search.rebuild(rounds, 10**6)
    found.check()
    assert saved == before - found.cost >= 0


@pytest.mark.parametrize("seed", range(6))
def test_rebuilding_never_costs_more(seed):
    """Round by round on tables with hundreds of rows, where putting rows back often would."""
    rng = np.random.default_rng(seed)
    data = ldiv.Microdata.from_codes(rng.integers(0, 5, (300, 4)), rng.permutation(np.arange(300) % 9))
    state = Assignment(DualProblem(data.contingency, 4, 4))
    state.refill()
    found = Books(state)
    found.search.place(16, 4, 10**6)
    total = 0
    for _ in range(4):
        before = found.cost
        saved = found.search.rebuild(1, 10**6)
        found.check()
        assert saved == before - found.cost >= 0
        total += saved
    assert total > 0


@pytest.mark.parametrize("l", [2, 3, 4])
def test_a_row_brings_no_more_partners_than_it_needs(l):
    """A group can spare just the l - 1 partners that a row beside it needs: with one more to bring it would stay outside."""
    codes = [[0, 0]] * (2 * l - 1) + [[0, 1]]
    data = ldiv.Microdata.from_codes(codes, [*range(1, 2 * l), 0])
    state = Assignment(DualProblem(data.contingency, l, 2))
    state.refill()
    assert int(state.left.sum()) == 1
    state.settle()
    assert not state.left.any() and state.cost == l


@pytest.mark.parametrize("l", [2, 3, 4])
def test_rows_that_need_no_partner_all_join(l):
    """A group of l + 1 values, two rows each, has room for more rows of a new value than there are of any other."""
    many = 2 * (l + 1) // (l - 1)
    sensitive = [*range(1, l + 2)] * 2 + [0] * many
    state = Assignment(DualProblem(ldiv.Microdata.from_codes([[0]] * len(sensitive), sensitive).contingency, l, 1))
    state.absorb(0, np.array([0] + [2] * (l + 1), dtype=np.int64))
    found = Books(state)
    assert found.left.tolist() == [many] + [0] * (l + 1) and many > 2
    assert found.search.place(0, found.problem.all_stars, 10**6) == many  # a limit of 0: nobody brings partners
    found.check()
    assert not found.left.any()


@settings(max_examples=200)
@given(st.lists(st.tuples(st.integers(0, 4), st.floats(0, 6, width=32), st.integers(0, 9)), min_size=1, max_size=30))
def test_rounding_keeps_the_sum_of_an_item_to_within_a_row(cells):
    item, share, rows = (np.array(x) for x in zip(*cells, strict=True))
    out = propose(item.astype(np.int32), share.astype(np.float32), rows.astype(np.int64), 5)
    assert (out >= 0).all() and (out <= rows).all()
    for i in range(5):
        mine = item == i
        assert out[mine].sum() <= share[mine].sum() + 0.5 + 1e-6
        if (rows[mine] >= share[mine] + 1).all():  # nothing stands in the way
            assert out[mine].sum() >= share[mine].sum() - 0.5 - 1e-6


def test_a_group_of_k_rows_lends_none():
    """A row that lacks one partner finds it only in a finer group that keeps k rows without it."""
    for spare in (0, 1):
        codes = [[0, 0]] * (4 + spare) + [[0, 1]] * 2 + [[0, 2]] * 2 + [[0, 3]]
        sensitive = [*range(4 + spare), 0, 0, 1, 1, 0]
        problem = DualProblem(ldiv.Microdata.from_codes(codes, sensitive).contingency, 2, 2, k=4)
        state, second = Assignment(problem), problem.contingency.codes[problem.contingency.group_of_cell, 1]
        for kept, chosen in (((0, 1), second == 0), ((0,), (second == 1) | (second == 2))):
            state.absorb(problem.patterns.index(kept), np.where(chosen, state.left, 0))
        found = Books(state)
        assert found.left.sum() == 1
        assert found.search.place(8, 1, 10**6) == spare
        found.check()
