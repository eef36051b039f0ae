"""The cascade: lazily evaluated and still the greedy choice that it promises."""

from collections import Counter
from itertools import combinations

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import tables

import ldiv
from ldiv._kernels.cells import hand_out, tally
from ldiv._kernels.phase_one import phase_one
from ldiv.algorithms.cascade import Entries, descend, keeps
from ldiv.algorithms.tp import forced_pillars, split
from ldiv.table.lattice import Lattice


def commonest(part, l):
    """The values of which a part has so many rows that there is one for every l rows."""
    return [v for v, rows in enumerate(part.histogram.tolist()) if rows == part.n // l]


def kept_by_phase_one(part, subset, l):
    """Rows that phase one keeps on a projection, row by row, no more of a group than it has of each of the commonest values."""
    rows = []
    for cell, group in enumerate(part.group_of_cell):
        rows += [(tuple(part.codes[group, list(subset)].tolist()), int(part.sensitive[cell]))] * int(part.count[cell])
    kept, _ = oracle.phase_one(rows, l)
    return sum(sum(min(rows, *(group[v] for v in commonest(part, l)), rows) for rows in group.values()) for group in kept.values())


def steps_of_greed(part, l):
    """(kept attributes, rows) of every step, each projection counted anew before each of them."""
    weights = part.weights
    levels = {}
    for k in range(1, part.d):
        for subset in combinations(range(part.d), part.d - k):
            levels.setdefault(int(weights.sum() - weights[list(subset)].sum()), []).append(subset)
    steps = []
    for _, subsets in sorted(levels.items()):
        open_ = list(subsets)
        while open_ and part.n:
            kept, subset = min((-kept_by_phase_one(part, s, l), s) for s in open_)
            if not kept:
                break
            projected, item = part.project(subset)
            result = split(projected, l, forced=np.isin(np.arange(part.m), commonest(part, l)).astype(np.int8))
            if not result.kept.any():
                open_.remove(subset)
                continue
            taken = hand_out(item, result.kept, part.count)
            steps.append((subset, int(taken.sum())))
            part, _ = part.restrict(part.count - taken)
    return steps


@given(st.integers(1, 5), st.lists(st.lists(st.integers(0, 5), min_size=6, max_size=6), min_size=1, max_size=6))
def test_a_value_with_a_row_for_every_l_is_a_pillar_of_every_group(l, counts):
    groups = [Counter({v: rows for v, rows in enumerate(group) if rows}) for group in counts]
    groups = [group for group in groups if group and max(group.values()) * l <= sum(group.values())]  # l-eligible
    together = sum(groups, Counter())
    for value, rows in together.items():
        if rows == sum(together.values()) // l:
            assert all(group[value] == max(group.values()) == sum(group.values()) // l for group in groups)


@settings(max_examples=150)
@given(tables(max_rows=40, max_d=2, max_size=4), st.lists(st.booleans(), min_size=8, max_size=8), st.integers(1, 6))
def test_no_group_keeps_more_than_it_has_of_each_value_that_must_be_a_pillar(table, marks, k):
    data, l = table
    c = data.contingency
    forced = np.resize(np.array(marks, dtype=np.int8), c.m)
    kept = np.empty_like(c.count)
    size, height = phase_one(c.indptr, c.count, l, kept, k, c.sensitive, forced)
    _, most = phase_one(c.indptr, c.count, l, np.empty_like(kept))
    for g in range(c.groups):
        there = dict(zip(c.sensitive[c.indptr[g] : c.indptr[g + 1]].tolist(), c.count[c.indptr[g] : c.indptr[g + 1]].tolist(), strict=True))
        cut = min([int(most[g]), *(there.get(v, 0) for v in np.flatnonzero(forced).tolist())])
        rows = [min(count, cut) for count in there.values()]
        rows = rows if sum(rows) >= k else [0] * len(rows)
        assert kept[c.indptr[g] : c.indptr[g + 1]].tolist() == rows and (size[g], height[g]) == (sum(rows), max(rows))
    assert keeps(c, tuple(range(c.d)), l, k, forced) == size.sum()


@settings(max_examples=150)
@given(tables(max_rows=30, max_d=2, max_size=3))
def test_what_has_to_be_a_pillar_takes_nothing_that_could_stay(table):
    """Of tables from which phase two leaves groups: with the values that have to be pillars phase one still keeps all of a release without stars."""
    data, l = table
    c = data.contingency
    forced = forced_pillars(c, l)
    kept = np.empty_like(c.count)
    size, height = phase_one(c.indptr, c.count, l, kept, 1, c.sensitive, forced)
    assert (tally(c.group_of_cell, c.groups, kept) == size).all() and (np.maximum.reduceat(kept, c.indptr[:-1]) == height).all()
    assert (size // l >= height).all()
    best = ldiv.solve(data, l, algorithm="exact")
    whole = (best.published >= 0).all(axis=1)
    entry, _ = best.entries_of(np.flatnonzero(whole))
    assert (tally(best.cell[entry], len(kept), best.count[entry]) <= kept).all()


class Recorded(Entries):
    def __init__(self):
        super().__init__()
        self.steps = []

    def add(self, group, cell, count, groups):
        super().add(group, cell, count, groups)
        self.steps.append(int(count.sum()))


@settings(max_examples=120)
@given(tables(max_rows=40, max_d=4, max_size=3))
def test_each_step_takes_the_projection_that_keeps_most_rows(table):
    data, l = table
    if l == 1:
        return
    c = data.contingency
    entries = Recorded()
    descend(Lattice.of_stars(c), c.count, l, entries)
    expected = [rows for _, rows in steps_of_greed(c, l)]
    assert entries.steps[: len(expected)] == expected
    assert sum(entries.steps) == c.n and len(entries.steps) <= len(expected) + 1


@pytest.mark.parametrize("seed", range(12))
def test_counts_are_taken_anew_where_rows_are_gone(seed):
    """Tables of which several projections of one level keep rows, so that what one takes is missing from the others."""
    rng = np.random.default_rng(seed)
    data = ldiv.Microdata.from_codes(rng.integers(0, 4, (90, 3)), rng.permutation(np.arange(90) % 6))
    entries = Recorded()
    descend(Lattice.of_stars(data.contingency), data.contingency.count, 3, entries)
    expected = [rows for _, rows in steps_of_greed(data.contingency, 3)]
    assert len(expected) >= 2 and entries.steps[: len(expected)] == expected


def test_the_attribute_of_little_weight_is_starred_first():
    codes = [[0, 0], [0, 1], [1, 0], [1, 1]]
    for weights in ((1, 5), (5, 1)):
        domains = [ldiv.Domain(name, 2, weight=weight) for name, weight in zip("ab", weights, strict=True)]
        data = ldiv.Microdata.from_codes(codes, [0, 1, 1, 0], domains=domains)
        release = ldiv.solve(data, 2, algorithm="cascade")
        assert release.cost == 4 and release.stars_by_attribute[("a", "b")[weights.index(1)]] == 4


@settings(max_examples=100)
@given(tables())
def test_the_better_of_two(table):
    data, l = table
    assert ldiv.solve(data, l, algorithm="cascade").stars <= ldiv.solve(data, l, algorithm="tp+").stars
