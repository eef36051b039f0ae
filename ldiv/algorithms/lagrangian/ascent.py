"""The stages of the dual ascent: temperatures and steps, and colder ones while the bound still rises."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from ldiv.algorithms.lagrangian.effort import Effort, sweeps_for
from ldiv.bounds.prices import Ascent, DualProblem

__all__ = ["DIVE_HEAT", "DIVE_STEP", "HEAT", "STEP", "polish"]

HEAT, STEP = (0.2, 0.01), (0.2, 0.004)
DIVE_HEAT, DIVE_STEP = 0.03, 0.02


def polish(
    problem: DualProblem, ascent: Ascent, effort: Effort, info: dict[str, Any], deadline: float, progress: Callable[[str], None] | None
) -> None:
    """Colder and smaller steps until the bound has converged; the best prices stand in `info`."""
    assert effort.tolerance is not None
    heat, step = HEAT[1], STEP[1]
    rows, sweeps = problem.contingency.count, sweeps_for(effort, problem.l) // 2
    while time.monotonic() < deadline:
        info["sweeps"] += ascent.run(rows, sweeps, (heat, heat / 2), (step, step / 2), deadline, progress)
        heat, step = heat / 2, step / 2
        prices = ascent.prices()
        bound, before = problem.bound(prices), info["bound"]
        if bound > before:
            info.update(bound=bound, prices=prices)
        if bound - before <= effort.tolerance * before:
            return
