"""The configuration bound: a price a cell, and every group's best whole l-eligible set exactly; its dual, and the ascent.

Any prices y prove that no release has fewer stars than sum_c n_c y_c - sum_g max(0, best_g(y)), where best_g is the largest of sum (y_c - stars) over the
whole l-eligible sets of rows that group g could publish. It is never below the linear bound: start from the least that a row of each cell pays there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ldiv._kernels.configuration as _configuration
from ldiv.bounds.certificate import Prices
from ldiv.bounds.multipliers import SCALE, DualProblem, never
from ldiv.bounds.pool import Pool
from ldiv.table.lattice import Pattern

__all__ = ["ConfigurationDual", "ascend", "brought"]

OF_NODES = 0.2  # of a star: what tells nodes apart is less than what tells stars
LONGER, SHORTER = 2.0, 0.98
SMALL = 200_000  # pairs of cells and groups below which a second thread costs more than it gives


class ConfigurationDual:
    """The dual function of a problem's groups.

    Parameters
    ----------
    problem : DualProblem
        Must hold every pattern that a release may use.
    threads : int, optional
        The value does not depend on it.
    """

    def __init__(self, problem: DualProblem, threads: int | None = None) -> None:
        c = self.contingency = problem.contingency
        self.problem, self.l, self.k = problem, problem.l, problem.k
        self.threads = threads or problem.threads
        self.stars = [pays.astype(np.float64) for pays in problem.pays]
        self.unit = float(np.mean(problem.lattice.star)) * (OF_NODES if problem.lattice.nodes else 1)
        self.count = c.count.astype(np.int64)
        self.group_of_item: list[NDArray[np.int32]] = []
        self.starts: list[NDArray[np.int64]] = []
        for item, indptr in zip(problem.item, problem.indptr, strict=True):
            group = np.repeat(np.arange(len(indptr) - 1, dtype=np.int32), np.diff(indptr))
            self.group_of_item.append(group)
            self.starts.append(np.concatenate([[0], np.cumsum(np.bincount(group[item], minlength=len(indptr) - 1))]).astype(np.int64))
        self.height = [np.zeros(len(starts) - 1, dtype=np.int64) for starts in self.starts]
        self.gain = [np.zeros(len(starts) - 1) for starts in self.starts]
        self.order = np.arange(len(c.count), dtype=np.int32)
        self.reach = np.full(len(self.stars), self.unit)  # of each pattern, for the kernel's speed only
        self.alone = self.threads == 1 or problem.item.size < SMALL
        self.gained = np.zeros(len(self.stars))  # of each pattern, at the last prices

    def __call__(
        self, price: NDArray[np.float64], spread: Callable[..., Any] = map, share: NDArray[np.float32] | None = None
    ) -> tuple[float, NDArray[np.int64]]:
        """The bound that these prices prove, in floats, and for each cell its rows less those that groups take: the direction of ascent.

        The rows taken are added to `share`, shape (P, C), where it is given. O(patterns * cells), and for each group that a row pays in a look at its dearest cells.
        """
        self.order = self.order[np.argsort(-price[self.order], kind="stable")]  # few change places between two sweeps

        def respond(patterns: range) -> NDArray[np.int64]:
            usage = np.zeros(len(self.count), dtype=np.int64)
            for p in patterns:
                rows = None if share is None else share[p]
                gained[p], twice = _configuration.respond(
                    **self._arguments(p, price), height=self.height[p], usage=usage, gain=self.gain[p], reach=self.reach[p], share=rows
                )
                # What is looked at twice costs more than a longer list.
                self.reach[p] *= LONGER if twice else SHORTER
            return usage

        gained = self.gained = np.zeros(len(self.stars))
        left = self.count - sum(spread(respond, [range(t, len(self.stars), self.threads) for t in range(self.threads)]))  # whole: in any order
        return float(self.count @ price) - float(gained.sum()), left

    def _arguments(self, p: int, price: NDArray[np.float64]) -> dict[str, Any]:
        """What both kernels take of a pattern at these prices, after `order` has been renewed."""
        c = self.contingency
        layout = {"item": self.problem.item[p], "group_of_item": self.group_of_item[p], "starts": self.starts[p], "stars": self.stars[p]}
        cells = {"order": self.order, "sensitive": c.sensitive, "m": c.m, "count": self.count, "price": price}
        return {**layout, **cells, "l": self.l, "k": self.k}

    def proven(self, price: NDArray[np.float64]) -> tuple[int, Prices] | None:
        """The bound that these prices prove, rounded up, and the prices in whole units; None where doubles could not add these up exactly.

        Sums of multiples of 1 / SCALE below 2**53 / SCALE are exact, whatever their order; of multiples of a larger unit, as far as that takes.
        """
        whole = np.minimum(np.rint(price * SCALE), np.asarray(self.problem.cap, dtype=np.float64)).astype(np.int64)
        largest = max(float(np.abs(whole).max(initial=0)), float(self.problem.all_stars * SCALE))
        unit = 1
        while largest * 2 * float(self.count.sum()) >= 2.0**53 * unit:
            unit *= 2
        if unit > SCALE:
            return None
        whole = whole // unit * unit
        value, _ = self(whole / SCALE)
        value -= float(brought(self.problem, self.problem.pool, whole / SCALE).sum())
        return max(0, math.ceil(value)), Prices(self.l, whole, self.problem.most, self.k, **self.problem.said)

    def forced(self, price: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """The bound of these prices, and for each pattern and cell, shape (P, C), by how much it rises if a row of the cell is published in the pattern.

        A pair at which both together pass the stars of a release is in no better one. O(patterns * cells) looks at groups' dearest cells.
        """
        value, _ = self(price)
        loss = np.empty(self.problem.item.shape)
        for p in range(len(self.stars)):
            _configuration.forced(**self._arguments(p, price), height=self.height[p], gain=self.gain[p], loss=loss[p])
        return value, loss


def brought(problem: DualProblem, pool: Pool | None, price: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the groups of each of a pool's other combinations bring at these prices. O(others * cells), in the memory of a few of them."""
    if pool is None or not pool.others:
        return np.zeros(0)

    def of(block: list[Pattern]) -> NDArray[np.float64]:
        dual = ConfigurationDual(problem.of(Pool(problem.lattice, block)))
        dual(price)
        return dual.gained

    with ThreadPoolExecutor(problem.threads) as threads:
        return np.concatenate(list(threads.map(of, pool.blocks())))


STEP = 0.05  # of the prices, in stars of mean weight
FALL = 0.1  # of the steps from the first sweep to the last
DECAY = (0.5, 0.99)


def ascend(
    dual: ConfigurationDual,
    price: NDArray[np.float64],
    sweeps: int,
    *,
    step: float = STEP,
    support: NDArray[np.float32] | None = None,
    goal: float = np.inf,
    over: Callable[[], bool] = never,
    tolerance: float = 1e-4,
    progress: Callable[[float], None] | None = None,
) -> tuple[NDArray[np.float64], float, int]:
    """Prices that prove more, from given ones, by Adam's steps along the rows that groups leave over or take too often.

    Ends after so many sweeps, when the bound passes `goal` - 1 (no release has fewer stars than `goal`), when it is `over`, or when a tenth of the sweeps
    raised the bound by less than `tolerance` of it while steps were already small. The rows that groups take in the later half are
    added to `support`, shape (P, C), where it is given: the pairs of cells and patterns of which good releases are made.

    Returns
    -------
    price, bound, sweeps : ndarray of float64, float, int
        The best met.
    """
    count, (one, two) = dual.count, DECAY
    unit = step * dual.unit
    highest = np.asarray(dual.problem.cap) / SCALE  # more is not proven
    first, second = np.zeros(len(count)), np.zeros(len(count))
    with nullcontext() if dual.alone else ThreadPoolExecutor(dual.threads) as pool:
        spread = map if pool is None else pool.map
        value, left = dual(price, spread)
        best, chosen = value, price
        done, checked = 0, value
        for k in range(sweeps):
            if best > goal - 1 or over():
                break
            size = unit * FALL ** (k / max(sweeps - 1, 1))
            slope = left / count
            first = one * first + (1 - one) * slope
            second = two * second + (1 - two) * slope * slope
            price = price + size * (first / (1 - one ** (k + 1))) / (np.sqrt(second / (1 - two ** (k + 1))) + 1e-3)
            price = np.minimum(price, highest)
            value, left = dual(price, spread, support if k >= sweeps // 2 else None)
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
