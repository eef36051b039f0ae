"""Combinations of levels priced in: where there are more than is worth keeping, a short ascent on few says which others are needed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ldiv.algorithms.lagrangian.ascent import HEAT, STEP
from ldiv.algorithms.lagrangian.effort import EVERYTHING, LOOKED_AT
from ldiv.bounds.ascent import Ascent
from ldiv.bounds.configuration import brought
from ldiv.bounds.multipliers import SCALE, DualProblem, never

__all__ = ["priced_in", "widened"]


def priced_in(
    problem: DualProblem, sweeps: int, over: Callable[[], bool] = never, progress: Callable[[str], None] | None = None
) -> tuple[DualProblem, int]:
    """A problem with as many combinations of levels as the one given, the half that rows use least exchanged for those that bring most at its multipliers.

    Returns
    -------
    problem : DualProblem
        Its pool looks at the others, too, as far as time allows.
    sweeps : int
        Done.
    """
    assert problem.pool is not None
    most = len(problem.patterns)
    ascent = Ascent(problem)
    done = ascent.run(problem.contingency.count, sweeps, HEAT, STEP, over, progress)
    price = problem.worth(ascent.multipliers()) / SCALE
    used = np.array([ascent.shares(p).sum() for p in range(most)])
    del ascent
    pool = problem.pool.with_others(price, LOOKED_AT // max(1, len(problem.contingency.count)))
    return problem.of(pool.exchanged(used, brought(problem, pool, price), most, most // 2)), done


def widened(problem: DualProblem, price: NDArray[np.float64]) -> DualProblem:
    """A problem that has, besides, all the combinations that bring anything at these prices, as far as memory allows."""
    pool = problem.pool
    assert pool is not None
    most = max(len(pool.kept), EVERYTHING // max(1, len(problem.contingency.count)))
    return problem.of(pool.exchanged(np.zeros(len(pool.kept)), brought(problem, pool, price), most, 0))
