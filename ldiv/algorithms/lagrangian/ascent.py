"""The stages of the dual ascent: temperatures and steps, and colder ones while the bound still rises."""

from __future__ import annotations

from collections.abc import Callable

from ldiv.algorithms.lagrangian.effort import Effort, sweeps_for
from ldiv.bounds.ascent import Ascent
from ldiv.bounds.multipliers import DualProblem

__all__ = ["DIVE_HEAT", "DIVE_STEP", "HEAT", "STEP", "polish"]

HEAT, STEP = (0.2, 0.01), (0.2, 0.004)
DIVE_HEAT, DIVE_STEP = 0.03, 0.02


def polish(
    problem: DualProblem,
    ascent: Ascent,
    effort: Effort,
    before: int,
    over: Callable[[], bool],
    prove: Callable[[Ascent], int],
    progress: Callable[[str], None] | None,
) -> int:
    """Colder and smaller steps until the bound, `before` so far, has converged; `prove` is told each time. Returns the sweeps done."""
    assert effort.tolerance is not None
    heat, step = HEAT[1], STEP[1]
    rows, sweeps, done = problem.contingency.count, sweeps_for(effort, problem.l) // 2, 0
    while not over():
        done += ascent.run(rows, sweeps, (heat, heat / 2), (step, step / 2), over, progress)
        heat, step = heat / 2, step / 2
        bound = prove(ascent)
        if bound - before <= effort.tolerance * before:
            break
        before = bound
    return done
