"""Exact optima: integer programs on cells (HiGHS), and matching where there are two sensitive values."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv._kernels.cells import tally
from ldiv.algorithms import register
from ldiv.algorithms.lagrangian.clock import Clock
from ldiv.algorithms.lagrangian.effort import EFFORTS, EVERYTHING, Effort
from ldiv.algorithms.lagrangian.search import WHOLE, Search
from ldiv.algorithms.program import integer_program
from ldiv.algorithms.tp import tp
from ldiv.arguments import OBJECTIVE
from ldiv.bounds import tuple_bound
from ldiv.bounds.multipliers import SCALE
from ldiv.errors import InputError
from ldiv.release.builder import Entries
from ldiv.release.release import Release
from ldiv.table.arrays import dot
from ldiv.table.contingency import Contingency

__all__ = ["exact", "fewest_stars", "fewest_tuples", "matching"]

MOST_ROWS = 1 << 31  # programs are solved in floating point, where larger whole numbers come out wrong
MOST_COST = 1 << 40
MOST_PAIRS = 8_000  # to be matched: a table of distances of half a gigabyte
MOST_PRODUCTS = 50_000_000  # entries of the program for tuples


def _small_enough(contingency: Contingency) -> None:
    c = contingency
    if c.n >= MOST_ROWS or c.n * int(c.weights.sum()) >= MOST_COST:
        raise InputError(
            f"too large for an exact answer: {c.n:,} rows, and at most {MOST_ROWS:,} (with all stars at most {MOST_COST:,} by weight) can be solved "
            "in floating point; use algorithm='lagrangian'"
        )


def fewest_tuples(contingency: Contingency, l: int, clock: Clock, k: int = 1) -> Release:
    """Tuple minimisation as an integer program: how many rows of each cell stay.

    Parameters
    ----------
    contingency : Contingency
        Cells of an l-eligible table.
    l : int
    k : int
        The least size of a group.
    clock : Clock
        Once it is over, the best release so far and its proven gap are returned.

    Returns
    -------
    Release
        ``info``: ``optimal``, ``tuple_bound`` (proven), ``tuples``.
    """
    from scipy.sparse import bmat, csr_matrix, vstack  # here, not above: scipy doubles the start of the command

    c = contingency
    _small_enough(c)
    cells = len(c.count)
    start = tp(c, l, k=k)
    if start.suppressed_rows <= tuple_bound(c, l, k):
        return replace(start, algorithm="exact", info={**start.info, "optimal": True, "tuple_bound": start.suppressed_rows})
    if int((np.diff(c.indptr).astype(np.int64) ** 2).sum()) + c.m * cells > MOST_PRODUCTS:
        raise InputError(f"too large for an exact answer: {cells:,} cells and {c.m:,} sensitive values; use algorithm='tp'")
    group = c.group_of_cell
    own = csr_matrix((np.ones(cells), (np.arange(cells), group)), shape=(cells, c.groups))
    stay = l * csr_matrix((np.ones(cells), (np.arange(cells), np.arange(cells)))) - own @ own.T
    values = csr_matrix((np.ones(cells), (c.sensitive, np.arange(cells))), shape=(c.m, cells))
    everyone = csr_matrix(np.ones((c.m, 1))) @ csr_matrix(np.ones((1, cells)))
    # l * (n_v - kept_v) <= n - kept, for the residue.
    rest = everyone - l * values
    limits = np.concatenate([np.zeros(cells), c.n - l * c.histogram])
    rows, high = vstack([stay, rest]), c.count
    if k > l:  # of each group, and of the residue, whether it holds any row
        within = csr_matrix((np.ones(cells), (group, np.arange(cells))), shape=(c.groups, cells))
        sizes, numbers = csr_matrix(within @ c.count[:, None]), np.arange(c.groups)
        used = csr_matrix((np.ones(c.groups), (numbers, numbers)), shape=(c.groups, c.groups + 1))
        last = csr_matrix(([1.0], ([0], [c.groups])), shape=(1, c.groups + 1))
        gone = csr_matrix(-np.ones((1, cells)))  # and how many rows the residue has, less n
        rows = bmat([[rows, None], [-within, k * used], [within, -used.multiply(sizes)], [-gone, k * last], [gone, -c.n * last]])
        limits = np.concatenate([limits, np.zeros(2 * c.groups), [c.n, -c.n]])
        high = np.concatenate([c.count, np.ones(c.groups + 1, dtype=np.int64)])
    cost = np.where(np.arange(len(high)) < cells, -1.0, 0.0)
    solved = integer_program(cost, [rows], limits, np.zeros(len(high)), high, clock)
    tuples, bound = start.suppressed_rows, tuple_bound(c, l, k)
    if solved.bound is not None:
        bound = max(bound, math.ceil(c.n + solved.bound - 1e-6))
    if solved.x is not None and c.n - solved.x[:cells].sum() < tuples:
        kept = solved.x[:cells]
        entries = Entries()
        every = np.arange(cells, dtype=np.int32)
        entries.add(group, every, kept, c.groups)
        entries.add(np.zeros(cells, dtype=np.int64), every, c.count - kept, 1)
        start = entries.release(c, l=l, algorithm="exact")
        tuples = int(c.n - kept.sum())
    return replace(start, algorithm="exact", info={**start.info, "optimal": bound >= tuples, "tuple_bound": bound, "tuples": tuples})


def fewest_stars(contingency: Contingency, l: int, clock: Clock, effort: str | Effort = "default", target: int | None = None, k: int = 1) -> Release:
    """Star minimisation as an integer program: how many rows of each cell are published in each pattern.

    Variables that prices prove to be 0 in every better release than the Lagrangian's are left out first: in one of them a row pays its cell's
    least cost plus a reduced cost, so the whole would reach the stars that are there already. With `target`, only releases of at most so many
    stars are sought: then far more variables fall, and the question is decided sooner.

    Returns
    -------
    Release
        ``info``: ``optimal``, ``bound`` (proven), ``variables`` left of all.
    """
    from scipy.sparse import bmat, csr_matrix, vstack

    c = contingency
    _small_enough(c)
    if len(c.count) << c.d > EVERYTHING:
        raise InputError(
            f"too large for an exact answer: {len(c.count):,} cells with 2^{c.d} patterns; use fewer attributes or algorithm='lagrangian'"
        )
    chosen = EFFORTS[effort] if isinstance(effort, str) else effort
    search = Search(c, l, None, 1, Clock(None if clock.left == math.inf else clock.left / 2, clock), k=k)
    search.run(replace(chosen, patterns=1 << c.d))
    start, bound = search.release(), search.bound
    problem = search.problem
    if bound >= start.cost or problem is None or search.multipliers is None:
        return replace(start, algorithm="exact", info={**start.info, "bound": start.cost, "optimal": True})
    if search.optimal:
        return replace(start, algorithm="exact", info={**start.info, "bound": start.cost, "proof": "exact"})
    place = problem.item + problem.offset[:-1, None]
    paid = problem.costs(search.multipliers)[place]  # (P, C), exact
    least = paid.min(axis=0)
    total = dot(c.count, least)
    most = start.cost - 1 if target is None else min(start.cost - 1, target)
    if bound > most:
        return replace(start, algorithm="exact", info={**start.info, "optimal": bound == start.cost})
    needed = paid - least <= most * SCALE - total
    if needed.size <= WHOLE and (also := search.candidates(most)) is not None:
        needed &= also
    pattern, cell = np.nonzero(needed)
    variables = len(cell)
    columns = np.arange(variables)
    item = place[pattern, cell]
    indptr, group_of_item = problem.all_groups
    used, row = np.unique(item, return_inverse=True)
    group = group_of_item[used]
    of_item = csr_matrix((np.ones(variables), (row, columns)), shape=(len(used), variables))
    same = csr_matrix((np.ones(len(used)), (np.arange(len(used)), np.unique(group, return_inverse=True)[1])))
    eligible = l * of_item - same @ (same.T @ of_item)
    every = csr_matrix((np.ones(variables), (cell, columns)), shape=(len(c.count), variables))
    stars = problem.price_of_all[problem.all_groups[1][item]]
    budget = csr_matrix(stars[None, :].astype(float))
    parts, limits, cost, high = [eligible, budget], np.append(np.zeros(len(used)), most), stars.astype(float), c.count[cell]
    if k > l:  # of each group, whether it holds any row: at least k then, and of no item more than there are
        groups = same.shape[1]
        in_use = csr_matrix((np.ones(groups), (np.arange(groups), np.arange(groups))))
        there = csr_matrix((of_item @ c.count[cell]).astype(float)[:, None])
        smallest = bmat([[-(same.T @ of_item), k * in_use], [of_item, -same.multiply(there)]])
        wide = csr_matrix((sum(part.shape[0] for part in parts), groups))
        parts = [bmat([[vstack(parts), wide]]), smallest]
        limits = np.append(limits, np.zeros(groups + len(used)))
        cost, high = np.append(cost, np.zeros(groups)), np.append(high, np.ones(groups, dtype=np.int64))
        every = bmat([[every, csr_matrix((len(c.count), groups))]])
    solved = integer_program(
        cost,
        parts,
        limits,
        np.zeros(len(high)),
        high,
        clock,
        equal=(every, c.count),
    )
    info: dict[str, Any] = {"variables": variables, "all_variables": int(paid.size)}
    if solved.bound is not None:
        # The program knows only better releases than the one there: what it proves is the lesser of the two.
        bound = max(bound, min(most + 1, math.ceil(solved.bound - 1e-6)))
    if solved.infeasible:  # there is none
        bound = most + 1
    best = start
    if solved.x is not None:
        rows = solved.x[:variables]
        entries = Entries()
        entries.add(group_of_item[item], cell.astype(np.int32), rows, len(indptr) - 1)
        found = entries.release(c, l=l, algorithm="exact")
        if found.cost < best.cost:
            best = found
    bound = min(bound, best.cost)
    info["prices"] = search.prices
    if bound > start.info["bound"]:  # more than they prove
        info["proof"] = "exact"
    return replace(best, algorithm="exact", info={**info, "bound": bound, "optimal": bound == best.cost})


def matching(contingency: Contingency, l: int) -> Release:
    """Star minimisation with two sensitive values and l = 2: minimum-weight perfect bipartite matching.

    Every group splits into pairs of rows with different values. Rows with equal QI values are paired first, which is optimal because the number of
    differing attributes is a metric; the others by the Hungarian method. O(k^3) for k pairs that remain.
    """
    from scipy.optimize import linear_sum_assignment

    c = contingency
    present = np.flatnonzero(c.histogram)
    sides = [np.where(c.sensitive == v, c.count, 0) for v in present]
    group = c.group_of_cell
    by_group = [tally(group, c.groups, side) for side in sides]
    paired = np.minimum(*by_group)
    entries = Entries()
    cells = np.arange(len(c.count), dtype=np.int32)
    left: list[NDArray[np.int32]] = []
    pairs_left = int(sides[0].sum() - paired.sum())
    if pairs_left > MOST_PAIRS:
        raise InputError(
            f"too large for an exact answer: {pairs_left:,} pairs of rows to be matched, at most {MOST_PAIRS:,} can be; use algorithm='lagrangian'"
        )
    here = [np.minimum(side, paired[group]) for side in sides]  # one cell a value and group
    entries.add(group, cells, here[0] + here[1], c.groups)
    for side, gone in zip(sides, here, strict=True):
        left.append(np.repeat(cells, side - gone))
    a, b = (c.codes[group[side]] for side in left)
    weight = np.zeros((len(a), len(b)), dtype=np.int32)
    for j in range(c.d):
        weight += np.int32(c.weights[j]) * (a[:, j, None] != b[None, :, j])
    first, second = linear_sum_assignment(weight)
    pairs = np.arange(len(first))
    ones = np.ones(len(first), dtype=np.int64)
    entries.add(pairs, left[0][first], ones, len(pairs))
    entries.add(pairs - len(pairs), left[1][second], ones, 0)  # the same groups again
    release = entries.release(c, l=l, algorithm="exact")
    return replace(release, info={"optimal": True, "bound": release.cost, "proof": "exact"})


@register(
    "exact",
    guarantee="optimal, or a proven gap when stopped",
    cost="exponential at worst; O(n^3) for two sensitive values and l = 2",
    source="integer programs on cells; the paper's section 3 for two values; docs/near-optimal.md",
    any_order=True,
)
def exact(
    contingency: Contingency,
    l: int,
    *,
    k: int = 1,
    seed: int | None = None,
    objective: str = "stars",
    time_limit: float | None = None,
    effort: str | Effort = "default",
    target: int | None = None,
) -> Release:
    """The optimum, or the best found within a time limit with a proven bound.

    Parameters
    ----------
    contingency : Contingency
        Cells of an l-eligible table; small ones for stars (thousands of cells), larger ones for tuples.
    l : int
    k : int
        The least size of a group.
    seed : int, optional
        Ignored.
    objective : {"stars", "tuples"}
    time_limit : float, optional
        Seconds in all: half of them at the most for the Lagrangian that starts the search, the rest for the integer program; kept to within about
        a second. The first Ctrl-C ends the search and keeps the best so far.
    effort : optional
        Of the Lagrangian that starts the search for stars.
    target : int, optional
        Only decide whether there is a release of at most so many stars: if not, ``info["bound"]`` is more.

    Returns
    -------
    Release
        ``info["optimal"]`` says whether it is proven optimal, ``info["bound"]`` (or ``"tuple_bound"``) what is proven.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.Microdata.from_codes([[0, 0], [0, 1], [1, 1], [1, 0]], [0, 1, 0, 1])
    >>> release = ldiv.solve(data, l=2, algorithm="exact")
    >>> release.stars, release.info["optimal"]
    (4, True)
    """
    c = contingency
    stars, clock = OBJECTIVE.check(objective) == "stars", Clock(time_limit)
    if stars and l == 2 >= k and np.count_nonzero(c.histogram) == 2:
        return matching(c, l)
    with clock.stopped_by_interrupt():
        return fewest_stars(c, l, clock, effort, target, k) if stars else fewest_tuples(c, l, clock, k)
