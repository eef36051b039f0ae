"""The ascent of the linear bound: multipliers by Adam on a soft minimum, over the pairs of cell and pattern that matter."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ldiv._kernels.multipliers as _multipliers
from ldiv.bounds.multipliers import SCALE, TOO_MUCH, DualProblem, Multipliers, never

__all__ = ["Ascent"]

SMALL = 200_000  # patterns times cells below which a second thread costs more than it gives


class Ascent:
    """Dual ascent by Adam on a soft minimum, with some rows already fixed or not.

    Two passes a sweep: cells answer the multipliers (split by cells), patterns adjust them (split by patterns); each number is summed in one order
    whatever the number of threads. The soft minimum gives a pattern that costs REACH temperatures more than the least next to nothing, so only pairs of
    cell and pattern within that, and what a step of the heaviest load may change, are listed, anew every RENEW sweeps (without the latter k = 100 proved a
    seventh less); the bound of the multipliers is always that of all pairs.
    """

    DECAY = (0.9, 0.99)
    REACH, RENEW = 15.0, 5

    def __init__(self, problem: DualProblem) -> None:
        self.problem = problem
        total = int(problem.offset[-1])
        # Steps and temperatures are in stars of mean weight, so that scaled weights take the same way.
        self.unit = float(np.mean(problem.lattice.star))
        self.price, self.first, self.second, self.cost = (np.zeros(total, dtype=np.float32) for _ in range(4))
        self.fixed = np.empty(0, dtype=np.float32)  # rows that items have besides
        for p in range(len(problem.patterns)):
            self.cost[problem.part(p)] = np.repeat(problem.price_of_groups(p) / self.unit, np.diff(problem.indptr[p]))
            self.price[problem.offset[p + 1] - 1] = self.cost[problem.offset[p + 1] - 1] = TOO_MUCH
        self.pays = [(pays / self.unit).astype(np.float32) for pays in problem.pays]
        self.load = [problem.load(p) for p in range(len(problem.patterns))]
        self.heaviest = max((float(load.max(initial=0)) for load in self.load), default=0.0)
        patterns, cells = problem.item.shape
        blocks = -(-cells // _multipliers.BLOCK)
        self.start = np.zeros((blocks, patterns + 1), dtype=np.int64)
        self.near = np.empty(problem.item.size + 1, dtype=np.uint16)  # memory is taken as it is written
        self.share = np.empty(problem.item.size, dtype=np.float32)
        self.steps = 0
        self.chunks = [(k * blocks // problem.threads, (k + 1) * blocks // problem.threads) for k in range(problem.threads)]

    def select(self, spread: Callable[..., Any], temperature: float, step: float) -> None:
        """List the pairs that matter at this temperature, or may once prices have moved a step."""
        reach = self.REACH * temperature + step * self.heaviest

        def part(chunk: tuple[int, int]) -> None:
            _multipliers.select(self.problem.item, self.problem.offset, self.cost, reach, *chunk, self.near, self.start)

        list(spread(part, self.chunks))

    def respond(self, spread: Callable[..., Any], rows: NDArray[np.float32], temperature: float) -> float:
        """Cells spread over their listed patterns at the present costs; returns the dual value of the rows."""
        problem = self.problem

        def part(chunk: tuple[int, int]) -> float:
            return _multipliers.respond(problem.item, problem.offset, self.cost, rows, temperature, *chunk, self.near, self.start, self.share)

        return float(sum(spread(part, self.chunks)))

    def adjust(self, spread: Callable[..., Any], step: float) -> None:
        """Move all prices one step."""
        problem, (one, two) = self.problem, self.DECAY
        self.steps += 1
        correct = 1 / (1 - one**self.steps), 1 / (1 - two**self.steps)

        def move(p: int) -> None:
            s = problem.part(p)
            _multipliers.adjust(
                problem.item[p],
                self.near,
                self.start,
                self.share,
                p,
                problem.indptr[p],
                self.fixed[s],
                self.price[s],
                self.first[s],
                self.second[s],
                self.cost[s],
                self.load[p],
                self.pays[p],
                step,
                one,
                two,
                *correct,
            )

        list(spread(move, range(len(problem.patterns))))

    def shares(self, p: int) -> NDArray[np.float32]:
        """The rows of each cell that the last answer gives pattern p."""
        return np.asarray(_multipliers.shares(self.near, self.start, self.share, p, self.problem.item.shape[1]))

    def run(
        self,
        rows: NDArray[np.int64],
        sweeps: int,
        temperature: tuple[float, float],
        step: tuple[float, float],
        over: Callable[[], bool] = never,
        progress: Callable[[str], None] | None = None,
    ) -> int:
        """Sweeps at temperatures and steps falling geometrically; ends with the shares at the last multipliers. Returns the sweeps done."""
        from concurrent.futures import ThreadPoolExecutor

        weight = rows.astype(np.float32)
        done = 0
        alone = self.problem.threads == 1 or self.problem.item.size < SMALL
        with nullcontext() if alone else ThreadPoolExecutor(self.problem.threads) as pool:
            spread = map if pool is None else pool.map
            for k in range(sweeps):
                at = k / max(sweeps - 1, 1)
                heat = temperature[0] * (temperature[1] / temperature[0]) ** at
                size = step[0] * (step[1] / step[0]) ** at
                if k % self.RENEW == 0:
                    self.select(spread, heat, size)
                value = self.respond(spread, weight, heat)
                self.adjust(spread, size)
                done += 1
                if progress is not None and k % 10 == 9:
                    progress(f"sweep {k + 1} of {sweeps}: dual value {value * self.unit:,.0f}")
                if over():
                    break
            self.select(spread, temperature[1], 0.0)
            self.respond(spread, weight, temperature[1])
        return done

    def multipliers(self) -> Multipliers:
        """The present multipliers in whole units."""
        problem = self.problem
        price = self.price.astype(np.float64)
        price[problem.offset[1:] - 1] = 0  # of groups that can hold no row: not needed, and too large for whole units with large weights
        whole = np.rint(price * self.unit * SCALE).astype(np.int64)
        return Multipliers(problem.l, problem.most, [whole[problem.part(p)] for p in range(len(problem.patterns))])
