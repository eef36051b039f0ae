"""The linear ascent: cells answer along the pairs that matter, patterns move their prices along the gradient."""

import numpy as np
import pytest

import ldiv
import ldiv._kernels.multipliers as _multipliers
from ldiv.bounds.ascent import Ascent
from ldiv.bounds.multipliers import DualProblem


def started(problem, seed):
    """An ascent with some prices, and what each cell pays in each pattern there, shape (P, C)."""
    ascent = Ascent(problem)
    random = np.random.default_rng(seed)
    for p in range(len(problem.patterns)):
        alive = slice(int(problem.offset[p]), int(problem.offset[p + 1]) - 1)  # not the item of groups that can hold no row
        ascent.cost[alive] += random.random(problem.items[p] - 1).astype(np.float32) * 3
        ascent.price[alive] = random.random(problem.items[p] - 1)
    return ascent, ascent.cost[problem.item + problem.offset[:-1, None]]


def listed(ascent):
    """Whether each pair is listed, shape (P, C)."""
    shape = ascent.problem.item.shape
    found = np.zeros(shape, dtype=bool)
    for b in range(len(ascent.start)):
        for p in range(shape[0]):
            near = ascent.near[ascent.start[b, p] : ascent.start[b, p + 1]].astype(int) + b * _multipliers.BLOCK
            assert not found[p, near].any()
            found[p, near] = True
    return found


def table(rows):
    random = np.random.default_rng(5)
    return ldiv.Microdata.from_codes(random.integers(0, 9, (rows, 3)), random.integers(0, 12, rows))


@pytest.mark.parametrize("rows", [40, 5_000])  # less than a block, and several
@pytest.mark.parametrize("temperature", [0.01, 0.1, 10.0])
def test_cells_answer_as_a_soft_minimum_over_the_pairs_within_reach(rows, temperature):
    data = table(rows)
    problem = DualProblem(data.contingency, 2, 3, threads=2)
    ascent, paid = started(problem, 1)
    ascent.select(map, temperature, 0.0)
    least = paid.min(axis=0)
    found = listed(ascent)
    assert np.array_equal(found, paid <= least + np.float32(Ascent.REACH * temperature))
    count = data.contingency.count.astype(np.float32)
    value = ascent.respond(map, count, temperature)
    assert value == pytest.approx(float(count @ least), rel=1e-5)
    soft = np.where(found, np.exp((least - paid) / temperature), 0)
    soft *= count / soft.sum(axis=0)
    got = np.stack([ascent.shares(p) for p in range(len(problem.patterns))])
    assert got == pytest.approx(soft, abs=1e-4 * float(count.max()))
    assert got.sum(axis=0) == pytest.approx(count, rel=1e-4)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("some_fixed", [False, True])
def test_prices_move_up_where_a_value_has_more_than_its_part_and_costs_follow(seed, some_fixed):
    data, l = table(30 + 100 * seed), 2 + seed % 2
    problem = DualProblem(data.contingency, l, data.d)
    ascent, _ = started(problem, seed)
    fixed = np.random.default_rng(seed).integers(0, 4, int(problem.offset[-1])).astype(np.float32)
    if some_fixed:
        ascent.fixed = fixed
    ascent.select(map, 1.0, 0.0)
    ascent.respond(map, data.contingency.count.astype(np.float32), 1.0)
    before = ascent.price.copy()
    ascent.adjust(map, 0.25)
    for p, indptr in enumerate(problem.indptr):
        taken = np.bincount(problem.item[p], weights=ascent.shares(p), minlength=problem.items[p]) + some_fixed * fixed[problem.part(p)]
        price = ascent.price[problem.part(p)]
        for g in range(len(indptr) - 2):  # the last one can hold no row
            items = slice(int(indptr[g]), int(indptr[g + 1]))
            slope = l * taken[items] - taken[items].sum()
            moved = price[items] - before[problem.part(p)][items]
            clear = np.abs(slope) > 1e-3
            assert (moved[clear & (slope > 0)] > 0).all() and (moved[clear & (slope < 0)] <= 0).all() and (price[items] >= 0).all()
            now = problem.price_of_groups(p)[g] / ascent.unit + l * price[items] - price[items].sum()
            assert ascent.cost[problem.part(p)][items] == pytest.approx(now, abs=1e-4)


def test_leaving_out_what_is_far_above_the_least_costs_the_bound_nothing():
    data = ldiv.datasets.load("acs2018", sensitive="Income", qi=["Gender", "Race", "MaritalStatus", "WorkClass"])
    problem = DualProblem(data.contingency, 6, 4)
    bounds = []
    for reach in (Ascent.REACH, 1e6):
        ascent = Ascent(problem)
        ascent.REACH = reach
        ascent.run(data.contingency.count, 60, (0.2, 0.01), (0.2, 0.004))
        bounds.append(problem.bound(ascent.multipliers()))
    assert bounds[0] == pytest.approx(bounds[1], rel=1e-3)


@pytest.mark.parametrize("l, k", [(1, 100), (4, 1)])
def test_listed_pairs_prove_what_all_pairs_do(l, k, monkeypatch):
    """Also where loads are heavy, so that a step changes what a row pays by more than temperatures reach."""
    data = ldiv.datasets.load("acs2018", qi=["Age", "Gender", "Race", "Education"]).head(8_000)
    if k > 1:
        data = ldiv.Microdata.from_codes(data.codes, domains=data.domains)
    bound = {}
    for reach in (Ascent.REACH, 1e6):
        monkeypatch.setattr(Ascent, "REACH", reach)
        problem = DualProblem(data.contingency, l, 4, k=k)
        ascent = Ascent(problem)
        ascent.run(data.contingency.count, 100, (0.2, 0.01), (0.2, 0.004))
        bound[reach] = problem.bound(ascent.multipliers())
    assert min(bound.values()) >= 0.999 * max(bound.values()) > 0
