"""Integer programs: HiGHS within a time limit that holds, and that Ctrl-C ends."""

from __future__ import annotations

import pickle
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.errors import LdivError

__all__ = ["Solved", "integer_program"]

SHORT = 2.0  # seconds within which most programs are solved: those are solved here
GRACE = 1.0  # seconds between HiGHS's own limit and the end: a process has to start, and to tell
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
    time_limit: float | None = None,
    equal: tuple[Any, NDArray[Any]] | None = None,
) -> Solved:
    """Minimise cost @ x over whole x from low to high with upper @ x <= limits and equal[0] @ x = equal[1].

    Ends within a second of the time limit, with what is known then; an interrupt (Ctrl-C) ends it at once.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp  # here, not above: scipy doubles the start of the command
    from scipy.sparse import vstack

    started = time.monotonic()
    constraints = [LinearConstraint(vstack(upper), -np.inf, limits)]
    if equal is not None:
        constraints.append(LinearConstraint(equal[0], equal[1], equal[1]))
    job = {"c": cost, "constraints": constraints, "integrality": np.ones(len(cost)), "bounds": Bounds(low, high)}
    if time_limit is not None and time_limit <= 0:
        return Solved(None, None, False)
    short = SHORT if time_limit is None else min(SHORT, time_limit)
    found = milp(**job, options={"mip_rel_gap": 0.0, "time_limit": short})
    left = None if time_limit is None else time_limit - (time.monotonic() - started)
    if found.status != 1 or not sys.executable or (left is not None and left < 2 * GRACE):
        return _solved(found.x, found.mip_dual_bound, found.status)
    options = {"mip_rel_gap": 0.0} if left is None else {"mip_rel_gap": 0.0, "time_limit": left - GRACE}
    with subprocess.Popen([sys.executable, "-c", CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        try:
            answer, _ = child.communicate(pickle.dumps({**job, "options": options}), timeout=left)
        except subprocess.TimeoutExpired:
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
