"""Lagrangian: prices by dual ascent, whole rows by rounding and diving, what is left by TP and the cascade."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ldiv.algorithms import register
from ldiv.algorithms.cascade import cascade
from ldiv.algorithms.lagrangian.ascent import HEAT, STEP, polish
from ldiv.algorithms.lagrangian.effort import EFFORTS, EVERYTHING, Effort, affordable, sweeps_for, unit_for
from ldiv.algorithms.lagrangian.rounding import diving, rounding
from ldiv.bounds.prices import Ascent, DualProblem
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency

__all__ = ["EFFORTS", "EVERYTHING", "Effort", "lagrangian"]


@register(
    "lagrangian",
    guarantee="l * d on stars; a proven lower bound with every release; never more stars than the cascade",
    cost="O(sweeps * patterns * cells)",
    source="this project; docs/near-optimal.md",
)
def lagrangian(
    contingency: Contingency,
    l: int,
    *,
    seed: int | None = None,
    effort: str | Effort = "default",
    time_limit: float | None = None,
    threads: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> Release:
    """Near-optimal stars with a certificate, by Lagrangian prices on the eligibility constraints.

    Parameters
    ----------
    contingency : Contingency
        Cells of an l-eligible table.
    l : int
    seed : int, optional
        For the parts that TP and the cascade do.
    effort : {"fast", "default", "best"} or Effort
    time_limit : float, optional
        Seconds, from the start; checked between sweeps. The release then depends on the machine's speed.
    threads : int, optional
        The result does not depend on it.
    progress : callable, optional
        Called with a line of text now and then.

    Returns
    -------
    Release
        ``info["bound"]`` is a proven lower bound on the stars of every release, ``info["prices"]`` its proof, ``info["sweeps"]`` what it took.

    Notes
    -----
    Time O(sweeps * patterns * cells), space 12 bytes for each pattern and cell and 36 for each item. From 2**30 rows on rows are assigned in units of
    a power of two, and only what units leave over is assigned exactly.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.datasets.load("acs2018", qi=["Age", "Gender", "Race", "MaritalStatus"])
    >>> release = ldiv.solve(data, l=6, algorithm="lagrangian")
    >>> release.info["bound"] <= release.stars < 1.05 * release.info["bound"]
    True
    """
    c = contingency
    deadline = time.monotonic() + time_limit if time_limit is not None else np.inf
    best = (  # never worse than these: other shares may round worse
        lagrangian(c, l, seed=seed, time_limit=time_limit, threads=threads, progress=progress) if effort == "best" else cascade(c, l, seed=seed)
    )
    chosen = EFFORTS[effort] if isinstance(effort, str) else effort
    if l == 1 or not c.n or best.cost == 0:
        return replace(best, algorithm="lagrangian", info={**best.info, "bound": 0, "sweeps": 0})
    if time.monotonic() >= deadline and "prices" in best.info:
        return best
    unit = unit_for(c.n)
    coarse = c if unit == 1 else Contingency._made(c.codes, c.indptr, c.sensitive, c.count // unit, c.domains, c.sensitive_domain)
    problem = DualProblem(coarse, l, affordable(c, chosen), threads, c.count)
    ascent = Ascent(problem)
    sweeps = ascent.run(coarse.count, sweeps_for(chosen, l), HEAT, STEP, deadline, progress)
    prices = ascent.prices()
    info = {"bound": problem.bound(prices), "prices": prices, "sweeps": sweeps}
    candidates = [rounding(problem, ascent)]  # from the softer shares: harder ones round worse
    if chosen.tolerance is not None:
        polish(problem, ascent, chosen, info, deadline, progress)
    if chosen.dives and time.monotonic() < deadline:
        candidates.append(diving(problem, ascent, chosen, deadline, progress))
    for state in candidates:
        state.settle()
    state = min(candidates, key=lambda state: state.cost)
    if chosen.rounds and time.monotonic() < deadline:
        state.settle(chosen.rounds)
    release = state.in_rows(unit, c.count).release(c, seed)
    if info["bound"] < best.info.get("bound", 0):
        info.update(bound=best.info["bound"], prices=best.info["prices"])
    if release.cost < best.cost:
        best = release
    return replace(best, algorithm="lagrangian", info={**best.info, **info})
