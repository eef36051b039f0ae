"""The configuration bound: a price a cell, and every group's best whole l-eligible set exactly; its dual, and the ascent.

Any prices y prove that no release has fewer stars than sum_c n_c y_c - sum_g max(0, best_g(y)), where best_g is the largest of sum (y_c - stars) over the
whole l-eligible sets of rows that group g could publish. It is never below the linear bound: start from the least that a row of each cell pays there.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ldiv._kernels.configuration as _configuration
from ldiv.bounds.prices import DualProblem

__all__ = ["ConfigurationDual", "ascend"]

CHUNKS = 8  # parts of the groups; more than threads, so that uneven ones even out
SMALL = 200_000  # pairs of cells and groups below which a second thread costs more than it gives


class ConfigurationDual:
    """The dual function of a problem's groups.

    Parameters
    ----------
    problem : DualProblem
        Must hold every pattern that a release may use.
    k : int
        The least size of a group.
    threads : int, optional
        The value does not depend on it.
    """

    def __init__(self, problem: DualProblem, k: int = 1, threads: int | None = None) -> None:
        c = self.contingency = problem.contingency
        self.l, self.k = problem.l, k
        self.threads = threads or min(2, os.cpu_count() or 1)
        self.cells, self.bounds = problem.cells_by_group
        groups = [len(indptr) - 1 for indptr in problem.indptr]
        self.pattern = np.repeat(np.arange(len(groups), dtype=np.int32), groups)
        alive = np.ones(len(self.pattern), dtype=bool)
        alive[np.cumsum(groups) - 1] = False  # the last group of a pattern gathers those that can hold no row
        self.stars = np.array(problem.stars, dtype=np.float64)
        self.count = c.count.astype(np.int64)
        self.height = np.zeros(len(self.pattern), dtype=np.int64)
        self.gain = np.zeros(len(self.pattern))
        listed = np.flatnonzero(alive).astype(np.int32)
        pairs = np.cumsum(self.bounds[listed, 1] - self.bounds[listed, 0]) if len(listed) else np.zeros(0, np.int64)
        cuts = np.searchsorted(pairs, np.linspace(0, pairs[-1] if len(pairs) else 0, CHUNKS + 1)[1:-1])
        self.parts = [np.ascontiguousarray(part) for part in np.split(listed, cuts)]
        self.alone = self.threads == 1 or (int(pairs[-1]) if len(pairs) else 0) < SMALL

    def __call__(self, price: NDArray[np.float64], spread: Callable[..., Any] = map) -> tuple[float, NDArray[np.int64]]:
        """The bound that these prices prove, in floats, and for each cell its rows less those that groups take: the direction of ascent.

        O(patterns * cells) and a sort of the rows that pay, in each group that has any.
        """
        c = self.contingency
        self.gain[:] = 0

        def part(groups: NDArray[np.int32]) -> NDArray[np.int64]:
            usage = np.zeros(len(self.count), dtype=np.int64)
            _configuration.respond(
                self.cells,
                self.bounds,
                self.pattern,
                groups,
                self.stars,
                c.sensitive,
                c.m,
                self.count,
                price,
                self.l,
                self.k,
                self.height,
                usage,
                self.gain,
            )
            return usage

        taken = np.zeros(len(self.count), dtype=np.int64)
        for usage in spread(part, self.parts):
            taken += usage
        return float(self.count @ price - self.gain.sum()), self.count - taken


STEP, LEAST_STEP = 0.05, 0.1  # of the prices in stars; the last as a part of the first
DECAY = (0.5, 0.99)


def ascend(
    dual: ConfigurationDual,
    price: NDArray[np.float64],
    sweeps: int,
    *,
    goal: float = np.inf,
    deadline: float = np.inf,
    tolerance: float = 1e-4,
    progress: Callable[[float], None] | None = None,
) -> tuple[NDArray[np.float64], float, int]:
    """Prices that prove more, from given ones, by Adam's steps along the rows that groups leave over or take too often.

    Ends after so many sweeps, when the bound passes `goal` - 1 (no release has fewer stars than `goal`), at the deadline, or when a tenth of the sweeps
    raised the bound by less than `tolerance` of it while steps were already small.

    Returns
    -------
    price, bound, sweeps : ndarray of float64, float, int
        The best met.
    """
    count, (one, two) = dual.count, DECAY
    first, second = np.zeros(len(count)), np.zeros(len(count))
    with nullcontext() if dual.alone else ThreadPoolExecutor(dual.threads) as pool:
        spread = map if pool is None else pool.map
        value, left = dual(price, spread)
        best, chosen = value, price
        done, checked = 0, value
        for k in range(sweeps):
            if best > goal - 1 or time.monotonic() > deadline:
                break
            step = STEP * LEAST_STEP ** (k / max(sweeps - 1, 1))
            slope = left / count
            first = one * first + (1 - one) * slope
            second = two * second + (1 - two) * slope * slope
            price = price + step * (first / (1 - one ** (k + 1))) / (np.sqrt(second / (1 - two ** (k + 1))) + 1e-3)
            value, left = dual(price, spread)
            done += 1
            if value > best:
                best, chosen = value, price
            if progress is not None:
                progress(best)
            if k % max(sweeps // 10, 20) == 0 and k:
                if best - checked < tolerance * abs(best) and k > sweeps // 2:
                    break
                checked = best
    return chosen, best, done
