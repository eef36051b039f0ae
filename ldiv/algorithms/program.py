"""Integer programs: HiGHS within a time limit that holds, and that Ctrl-C ends."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.algorithms.lagrangian.clock import Clock
from ldiv.errors import LdivError

__all__ = ["Solved", "integer_program"]

SHORT = 0.8  # seconds within which most programs are solved: those are solved here
GRACE = 1.0  # seconds between HiGHS's own limit and the end: a process has to start, and to tell
LOOK = 0.1  # seconds between two looks at the clock
INFEASIBLE = 2

# HiGHS does not look at signals, and looks at its clock when it suits it: what takes long runs in a process of its own, which can be ended.
CHILD = """
import pickle, sys
from scipy.optimize import milp
found = milp(**pickle.load(sys.stdin.buffer))
pickle.dump((found.x, found.mip_dual_bound, found.status), sys.stdout.buffer)
"""


@dataclass(frozen=True)
class Solved:
    """What is known at the end.

    Attributes
    ----------
    x : ndarray of int64 or None
        The best point found.
    bound : float or None
        No point is lower.
    infeasible : bool
    """

    x: NDArray[np.int64] | None
    bound: float | None
    infeasible: bool


def integer_program(
    cost: NDArray[np.float64],
    upper: list[Any],
    limits: NDArray[Any],
    low: NDArray[Any],
    high: NDArray[Any],
    clock: Clock,
    equal: tuple[Any, NDArray[Any]] | None = None,
) -> Solved:
    """Minimise cost @ x over whole x from low to high with upper @ x <= limits and equal[0] @ x = equal[1].

    Ends within a second once the clock is over, or stopped, with what is known then.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp  # here, not above: scipy doubles the start of the command
    from scipy.sparse import vstack

    constraints = [LinearConstraint(vstack(upper), -np.inf, limits)]
    if equal is not None:
        constraints.append(LinearConstraint(equal[0], equal[1], equal[1]))
    job = {"c": cost, "constraints": constraints, "integrality": np.ones(len(cost)), "bounds": Bounds(low, high)}
    if clock.over():
        return Solved(None, None, False)
    found = milp(**job, options={"mip_rel_gap": 0.0, "time_limit": min(SHORT, clock.left)})
    if found.status != 1 or not sys.executable or clock.left < 2 * GRACE:
        return _solved(found.x, found.mip_dual_bound, found.status)
    options = {"mip_rel_gap": 0.0} if clock.left == math.inf else {"mip_rel_gap": 0.0, "time_limit": clock.left - GRACE}
    given: bytes | None = pickle.dumps({**job, "options": options})
    # A session of its own: Ctrl-C is for this process, which decides what it means.
    with subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True) as child:
        try:
            while True:
                try:
                    answer, _ = child.communicate(given, timeout=LOOK)
                    break
                except subprocess.TimeoutExpired:
                    given = None
                    if clock.over():
                        return _solved(found.x, found.mip_dual_bound, found.status)  # what the first seconds brought
        finally:
            child.kill()
            child.wait()  # Popen does not, where an interrupt ended it
    if child.returncode != 0:
        raise LdivError(f"the integer program's process ended with code {child.returncode}, perhaps for lack of memory; use fewer attributes or rows")
    return _solved(*pickle.loads(answer))


def _solved(x: NDArray[np.float64] | None, bound: float | None, status: int) -> Solved:
    known = bound is not None and np.isfinite(bound)
    return Solved(None if x is None else np.rint(x).astype(np.int64), float(bound) if known and bound is not None else None, status == INFEASIBLE)
