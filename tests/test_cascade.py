"""The cascade: lazily evaluated and still the greedy choice that it promises."""

from itertools import combinations

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from strategies import tables

import ldiv
from ldiv._kernels.cells import hand_out
from ldiv.algorithms.cascade import Entries, descend
from ldiv.algorithms.tp import split
from ldiv.table.lattice import Lattice


def kept_by_phase_one(part, subset, l):
    """Rows that phase one keeps on a projection, row by row."""
    rows = []
    for cell, group in enumerate(part.group_of_cell):
        rows += [(tuple(part.codes[group, list(subset)].tolist()), int(part.sensitive[cell]))] * int(part.count[cell])
    kept, _ = oracle.phase_one(rows, l)
    return sum(sum(count.values()) for count in kept.values())


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
            result = split(projected, l)
            if not result.kept.any():
                open_.remove(subset)
                continue
            taken = hand_out(item, result.kept, part.count)
            steps.append((subset, int(taken.sum())))
            part, _ = part.restrict(part.count - taken)
    return steps


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
