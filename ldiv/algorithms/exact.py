"""Exact optima: integer programs on cells (HiGHS), and matching where there are two sensitive values."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.algorithms import register
from ldiv.algorithms.cascade import Entries
from ldiv.algorithms.lagrangian import EFFORTS, EVERYTHING, Effort, lagrangian
from ldiv.algorithms.tp import tp
from ldiv.bounds import tuple_bound
from ldiv.contingency import Contingency
from ldiv.errors import InputError
from ldiv.prices import SCALE, Market
from ldiv.release import Release

__all__ = ["exact", "fewest_stars", "fewest_tuples", "matching"]


def fewest_tuples(contingency: Contingency, l: int, time_limit: float | None = None) -> Release:
    """Tuple minimisation as an integer program: how many rows of each cell stay.

    Parameters
    ----------
    contingency : Contingency
        Cells of an l-eligible table.
    l : int
    time_limit : float, optional
        Seconds; the best release so far and its proven gap are returned then.

    Returns
    -------
    Release
        ``info``: ``optimal``, ``tuple_bound`` (proven), ``tuples``.
    """
    from scipy.sparse import csr_matrix, vstack  # here, not above: scipy doubles the start of the command

    c = contingency
    cells = len(c.count)
    start = tp(c, l)
    if start.suppressed_rows <= tuple_bound(c, l):
        return replace(start, algorithm="exact", info={**start.info, "optimal": True, "tuple_bound": start.suppressed_rows})
    group = c.group_of_cell
    own = csr_matrix((np.ones(cells), (np.arange(cells), group)), shape=(cells, c.groups))
    stay = l * csr_matrix((np.ones(cells), (np.arange(cells), np.arange(cells)))) - own @ own.T
    values = csr_matrix((np.ones(cells), (c.sensitive, np.arange(cells))), shape=(c.m, cells))
    everyone = csr_matrix(np.ones((c.m, 1))) @ csr_matrix(np.ones((1, cells)))
    # l * (n_v - kept_v) <= n - kept, for the residue.
    rest = everyone - l * values
    limits = np.concatenate([np.zeros(cells), c.n - l * c.histogram])
    solved = _program(-np.ones(cells), [vstack([stay, rest])], limits, np.zeros(cells), c.count, time_limit)
    tuples, bound = start.suppressed_rows, tuple_bound(c, l)
    if solved.mip_dual_bound is not None:
        bound = max(bound, math.ceil(c.n + solved.mip_dual_bound - 1e-6))
    if solved.x is not None and c.n - np.rint(solved.x).sum() < tuples:
        kept = np.rint(solved.x).astype(np.int64)
        entries = Entries()
        numbers = np.arange(cells, dtype=np.int32)
        entries.add(group, numbers, kept, c.groups)
        entries.add(np.zeros(cells, dtype=np.int64), numbers, c.count - kept, 1)
        start = entries.release(c, l=l, algorithm="exact")
        tuples = int(c.n - kept.sum())
    return replace(
        start, algorithm="exact", info={**start.info, "optimal": bound >= tuples, "tuple_bound": bound, "tuples": tuples}
    )


def fewest_stars(
    contingency: Contingency, l: int, time_limit: float | None = None, effort: str | Effort = "default", target: int | None = None
) -> Release:
    """Star minimisation as an integer program: how many rows of each cell are published in each pattern.

    Variables that prices prove to be 0 in every better release than the Lagrangian's are left out first: in one of them a row pays its cell's
    least cost plus a reduced cost, so the whole would reach the stars that are there already. With `target`, only releases of at most so many
    stars are sought: then far more variables fall, and the question is decided sooner.

    Returns
    -------
    Release
        ``info``: ``optimal``, ``bound`` (proven), ``variables`` left of all.
    """
    from scipy.sparse import csr_matrix

    c = contingency
    chosen = EFFORTS[effort] if isinstance(effort, str) else effort
    start = lagrangian(c, l, effort=replace(chosen, patterns=1 << c.d), threads=1)
    prices = start.info.get("prices")
    bound = start.info["bound"]
    if bound >= start.cost or prices is None:
        return replace(start, algorithm="exact", info={**start.info, "bound": start.cost, "optimal": True})
    if len(c.count) << c.d > EVERYTHING:
        raise InputError(
            f"too large for an exact answer: {len(c.count):,} cells with 2^{c.d} patterns; use fewer attributes or algorithm='lagrangian'"
        )
    market = Market(c, l, c.d, threads=1)
    place = market.place()
    paid = market.costs(prices)[place]                                          # (P, C), exact
    least = paid.min(axis=0)
    total = int((c.count * least).sum())
    most = start.cost - 1 if target is None else min(start.cost - 1, target)
    if bound > most:
        return replace(start, algorithm="exact", info={**start.info, "optimal": bound == start.cost})
    pattern, cell = np.nonzero(paid - least <= most * SCALE - total)
    variables = len(cell)
    columns = np.arange(variables)
    item = place[pattern, cell]
    indptr, group_of_item = market.all_groups
    used, row = np.unique(item, return_inverse=True)
    group = group_of_item[used]
    of_item = csr_matrix((np.ones(variables), (row, columns)), shape=(len(used), variables))
    same = csr_matrix((np.ones(len(used)), (np.arange(len(used)), np.unique(group, return_inverse=True)[1])))
    eligible = l * of_item - same @ (same.T @ of_item)
    every = csr_matrix((np.ones(variables), (cell, columns)), shape=(len(c.count), variables))
    stars = np.array(market.stars)[pattern]
    budget = csr_matrix(stars[None, :].astype(float))
    solved = _program(
        stars.astype(float), [eligible, budget], np.append(np.zeros(len(used)), most), np.zeros(variables), c.count[cell],
        time_limit, equal=(every, c.count),
    )
    info: dict[str, Any] = {"variables": variables, "all_variables": int(paid.size)}
    if solved.mip_dual_bound is not None and np.isfinite(solved.mip_dual_bound):
        # The program knows only better releases than the one there: what it proves is the lesser of the two.
        bound = max(bound, min(most + 1, math.ceil(solved.mip_dual_bound - 1e-6)))
    if solved.status == 2:                                      # infeasible: there is none
        bound = most + 1
    best = start
    if solved.x is not None:
        rows = np.rint(solved.x).astype(np.int64)
        entries = Entries()
        entries.add(group_of_item[item], cell.astype(np.int32), rows, len(indptr) - 1)
        found = entries.release(c, l=l, algorithm="exact")
        if found.cost < best.cost:
            best = found
    bound = min(bound, best.cost)
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
    by_group = [np.bincount(group, weights=side, minlength=c.groups).astype(np.int64) for side in sides]
    paired = np.minimum(*by_group)
    entries = Entries()
    cells = np.arange(len(c.count), dtype=np.int32)
    left: list[NDArray[np.int32]] = []
    here = [np.minimum(side, paired[group]) for side in sides]       # one cell a value and group
    entries.add(group, cells, here[0] + here[1], c.groups)
    for side, gone in zip(sides, here, strict=True):
        left.append(np.repeat(cells, side - gone))
    a, b = (c.codes[group[side]] for side in left)
    weight = np.zeros((len(a), len(b)), dtype=np.int64)
    for j in range(c.d):
        weight += c.weights[j] * (a[:, j, None] != b[None, :, j])
    first, second = linear_sum_assignment(weight)
    pairs = np.arange(len(first))
    ones = np.ones(len(first), dtype=np.int64)
    entries.add(pairs, left[0][first], ones, len(pairs))
    entries.add(pairs - len(pairs), left[1][second], ones, 0)        # the same groups again
    release = entries.release(c, l=l, algorithm="exact")
    return replace(release, info={"optimal": True, "bound": release.cost})


@register(
    "exact",
    guarantee="optimal, or a proven gap when stopped",
    cost="exponential at worst; O(n^3) for two sensitive values and l = 2",
    source="integer programs on cells; the paper's section 3 for two values; docs/near-optimal.md",
)
def exact(
    contingency: Contingency, l: int, *, seed: int | None = None, objective: str = "stars", time_limit: float | None = None,
    effort: str | Effort = "default", target: int | None = None,
) -> Release:
    """The optimum, or the best found within a time limit with a proven bound.

    Parameters
    ----------
    contingency : Contingency
        Cells of an l-eligible table; small ones for stars (thousands of cells), larger ones for tuples.
    l : int
    seed : int, optional
        Ignored.
    objective : {"stars", "tuples"}
    time_limit : float, optional
        Seconds for the integer program.
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
    if objective not in ("stars", "tuples"):
        raise InputError(f"objective must be 'stars' or 'tuples', not {objective!r}")
    if objective == "tuples":
        return fewest_tuples(c, l, time_limit)
    if l == 2 and np.count_nonzero(c.histogram) == 2:
        return matching(c, l)
    return fewest_stars(c, l, time_limit, effort, target)


def _program(
    cost: NDArray[np.float64], upper: list[Any], limits: NDArray[Any], low: NDArray[Any], high: NDArray[Any],
    time_limit: float | None, equal: tuple[Any, NDArray[Any]] | None = None,
) -> Any:
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import vstack

    constraints = [LinearConstraint(vstack(upper), -np.inf, limits)]
    if equal is not None:
        constraints.append(LinearConstraint(equal[0], equal[1], equal[1]))
    options: dict[str, Any] = {"mip_rel_gap": 0.0}
    if time_limit is not None:
        options["time_limit"] = time_limit
    return milp(cost, constraints=constraints, integrality=np.ones(len(cost)), bounds=Bounds(low, high), options=options)
