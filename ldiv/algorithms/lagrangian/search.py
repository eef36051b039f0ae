"""The search for a near-optimal release, stage by stage: the best release and the best bound so far stand at every moment."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.algorithms.cascade import cascade
from ldiv.algorithms.lagrangian.ascent import HEAT, STEP, polish
from ldiv.algorithms.lagrangian.clock import Clock
from ldiv.algorithms.lagrangian.effort import EFFORTS, Effort, affordable, sweeps_for, unit_for
from ldiv.algorithms.lagrangian.flow import Limit, solve
from ldiv.algorithms.lagrangian.neighbourhoods import TOGETHER, Neighbourhoods
from ldiv.algorithms.lagrangian.pooling import priced_in, widened
from ldiv.algorithms.lagrangian.rounding import diving, rounding
from ldiv.bounds import configuration
from ldiv.bounds.ascent import Ascent
from ldiv.bounds.certificate import Prices
from ldiv.bounds.configuration import ConfigurationDual, ascend
from ldiv.bounds.multipliers import SCALE, DualProblem, Multipliers
from ldiv.release.nodes import loss_of, recoded, weighed
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency
from ldiv.table.lattice import Lattice

__all__ = ["FINE_STEP", "Search"]

FINE_STEP = 0.02  # of the configuration ascent, once it has been near
WHOLE = 1 << 20  # patterns times cells up to which the whole program is looked at
CHEAP, LONGER = 600_000, 10  # patterns times cells below which more sweeps cost little, and so many times more are made at the most
MORE_LOOKS, FEW = 8, 16  # the more patterns, the longer a sweep takes and the more there is to be found: looks in proportion
MORE_LOOKS_AT_NODES = 16  # rounding does less there
OFTEN = 4  # cells for each look at the least: of a small table each cell is in many neighbourhoods soon
NODES, PAIRS = 1_000, 8_000  # of the search for a small table's optimum
WORK = 500_000  # pairs times checks of all its programs

Progress = Callable[[str], None]


class Search:
    """What is known so far of one table: the best release, the best bound, and what the next stage starts from."""

    def __init__(
        self,
        contingency: Contingency,
        l: int,
        seed: int | None,
        threads: int | None,
        clock: Clock,
        gap: float | None = None,
        progress: Progress | None = None,
        k: int = 1,
        lattice: Lattice | None = None,
    ) -> None:
        self.k, self.lattice = k, lattice or Lattice.of_stars(contingency)
        self.contingency, self.l, self.seed, self.threads, self.clock, self.ratio, self.progress = contingency, l, seed, threads, clock, gap, progress
        # Never worse than the cascade: other shares may round worse.
        self.best = recoded(cascade(contingency, l, k=k, seed=seed), self.lattice)
        self.cost = loss_of(self.best, self.lattice)
        self.bound = 0
        self.prices: Prices | None = None
        self.multipliers: Multipliers | None = None
        self.problem: DualProblem | None = None
        self.dual: ConfigurationDual | None = None
        self.price: NDArray[np.float64] | None = None
        self.support: NDArray[np.float32] | None = None  # rows of patterns and cells that groups have taken in the price ascent
        self.sweeps = 0
        self.optimal = False

    @property
    def goal(self) -> int:
        """Stars that are few enough."""
        return self.bound if self.ratio is None else max(self.bound, int(self.bound * self.ratio))

    @property
    def open(self) -> bool:
        """Whether there is anything left to do, and time for it."""
        return not self.optimal and self.cost > self.goal and not self.clock.over()

    def say(self, stage: str) -> None:
        if self.progress is not None:
            ratio = f", ratio {self.cost / self.bound:.4f}" if self.bound else ""
            self.progress(f"{stage}: {self.shown(self.cost)}, bound {self.shown(self.bound, '')}{ratio}")

    def shown(self, cost: float, what: str = " stars") -> str:
        """A number of stars, or what nodes lose in stars."""
        return f"{cost / self.lattice.unit:,.1f}{what and ' stars lost'}" if self.lattice.nodes else f"{cost:,.0f}{what}"

    def take(self, release: Release) -> None:
        if (cost := loss_of(release, self.lattice)) < self.cost:
            self.best, self.cost = release, cost

    def prove(self, bound: int, prices: Prices) -> None:
        if bound > self.bound or self.prices is None:
            self.bound, self.prices = bound, prices

    def run(self, effort: Effort) -> None:
        """All stages that an effort affords."""
        if self.cost == 0 or max(self.l, self.k) == 1 or not self.contingency.n:
            return
        quick = EFFORTS["default"]
        with self.clock.stopped_by_interrupt(self.progress) if effort.patient else nullcontext():
            self.linear(effort)
            self.configurations(min(effort.prices, quick.prices), min(effort.looks, quick.looks), configuration.STEP)
            if effort.looks:
                self.solve_whole()
            if effort.patient and not self.optimal:
                self.configurations(effort.prices, effort.looks, FINE_STEP)

    def linear(self, effort: Effort) -> None:
        """Multipliers by dual ascent, whole rows by rounding and diving, then single rows."""
        c, clock = self.contingency, self.clock
        unit = unit_for(c.n)
        coarse = c if unit == 1 else Contingency._made(c.codes, c.indptr, c.sensitive, c.count // unit, c.domains, c.sensitive_domain)
        problem = DualProblem(coarse, self.l, affordable(self.lattice, effort), self.threads, c.count, self.k, unit, self.lattice)
        if unit == 1 and not problem.complete and self.lattice.nodes:
            problem, done = priced_in(problem, sweeps_for(effort, self.l), clock.over, self.progress)
            self.sweeps += done
        self.problem = problem
        ascent = Ascent(problem)
        self.sweeps += ascent.run(coarse.count, sweeps_for(effort, self.l), HEAT, STEP, clock.over, self.progress)
        self._linear_bound(ascent)
        self.say("multipliers")
        candidates = [rounding(problem, ascent)]  # from the softer shares: harder ones round worse
        if effort.tolerance is not None:
            self.sweeps += polish(problem, ascent, effort, self.bound, clock.over, self._linear_bound, self.progress)
        if effort.dives and not clock.over():
            candidates.append(diving(problem, ascent, effort, clock.over, self.progress))
        del ascent  # single rows take as much memory again
        for state in candidates:
            state.settle()
        state = min(candidates, key=lambda state: state.cost)
        if effort.rounds and not clock.over():
            state.settle(effort.rounds)
        problem.forget()
        self.take(state.in_rows(unit, c.count).release(c, self.seed))
        self.say("rounding")

    def _linear_bound(self, ascent: Ascent) -> int:
        problem = ascent.problem
        multipliers = ascent.multipliers()
        least = problem.least(multipliers)
        if problem.others:
            proven = ConfigurationDual(problem).proven(least / SCALE)
            bound, prices = proven or (0, Prices(self.l, least, problem.most, problem.k, **problem.said))
        else:
            bound, prices = problem.bound(multipliers), Prices(self.l, least, problem.most, problem.k, **problem.said)
        if self.multipliers is None or bound > self.bound:
            self.multipliers = multipliers
            self.prove(bound, prices)
            self.price = least / SCALE
        return bound

    def configurations(self, sweeps: int, looks: int, step: float) -> None:
        """A price a cell by so many sweeps of the configuration ascent, then so many neighbourhoods where the gap sits."""
        problem = self.problem
        if problem is None or self.price is None or problem.contingency is not self.contingency or not sweeps or not self.open:
            return  # or rows are in larger units
        if self.dual is None:
            if problem.others:
                problem = self.problem = widened(problem, self.price)
            self.dual = ConfigurationDual(problem)
        if self.support is None and looks:
            self.support = np.zeros(problem.item.shape, dtype=np.float32)
        self.price, _, done = ascend(
            self.dual,
            self.price,
            sweeps * min(LONGER, max(1, CHEAP // problem.item.size)),
            step=step,
            support=self.support,
            goal=self.cost,
            over=self.clock.over,
            progress=None if self.progress is None else lambda bound: self.progress(f"prices: bound {self.shown(bound, '')}"),  # type: ignore[misc]
        )
        self.sweeps += done
        proven = self.dual.proven(self.price)
        if proven is not None:
            self.prove(*proven)
        self.say("prices")
        if looks and self.open:
            most = MORE_LOOKS_AT_NODES if self.lattice.nodes else MORE_LOOKS
            looks *= min(most, max(1, len(problem.patterns) // FEW))
            if step == configuration.STEP:
                looks = min(looks, max(TOGETHER, len(self.contingency.count) // OFTEN))
            self._look_around(looks, step < configuration.STEP)

    def _look_around(self, looks: int, patient: bool) -> None:
        assert self.dual is not None and self.price is not None and self.support is not None
        around = Neighbourhoods(self.best, self.dual, self.price, self.support)
        fixed = self.cost - around.cost
        around.improve(
            looks,
            patient=patient,
            goal=self.goal - fixed,
            clock=self.clock,
            progress=None
            if self.progress is None
            else lambda cost: self.progress(f"neighbourhoods: {self.shown(cost + fixed)}, bound {self.shown(self.bound, '')}"),  # type: ignore[misc]
        )
        self.take(around.result())
        self.say("neighbourhoods")

    def candidates(self, most: int) -> NDArray[np.bool_] | None:
        """Pairs of pattern and cell, shape (P, C), that a release of at most `most` stars can use: a row in another lifts the bound above that. None where
        nothing is known, or not of every pattern."""
        problem = self.problem
        if problem is None or self.dual is None or self.price is None or not problem.complete:
            return None
        proven = self.dual.proven(self.price)
        if proven is None:
            return None
        bound, loss = self.dual.forced(proven[1].value / SCALE)  # in whole units, so that no sum is rounded
        return np.asarray(loss <= most - bound)

    def solve_whole(self) -> None:
        """Where few enough pairs matter: the program of the whole table. What it ends with is the optimum, or stays open.

        First for releases of no more stars than the bound, then for a few more, and twice as many more: few pairs can be in such ones. Where the best over them has no
        more than were looked for, nothing is better; otherwise there is none of so few.
        """
        if self.dual is None or self.price is None or self.dual.problem.item.size > WHOLE:
            return
        most, step, left = self.bound, self.lattice.unit, WORK
        while self.open and left > 0:
            most = min(most, self.cost - 1)
            chosen = self.candidates(most)
            if chosen is None or (pairs := int(np.count_nonzero(chosen))) > PAIRS:
                return
            around = Neighbourhoods(self.best, self.dual, self.price, chosen.astype(np.float32))
            part = around.part(np.flatnonzero(np.diff(around.of_cell)))
            found = solve(part.program, self.l, self.dual.k, Limit(NODES, left // max(pairs, 1), self.clock))
            left -= found.checks * pairs
            if found.rows is not None and around.apply(part, found.rows):
                self.take(around.result())
            self.optimal = found.best and self.cost <= most + 1
            self.say("whole program")
            if not found.best:
                return
            most, step = most + step, 2 * step

    def release(self) -> Release:
        """The best release, with the best bound and its proof."""
        info: dict[str, Any] = {**self.best.info, "bound": min(self.bound, self.cost), "sweeps": self.sweeps}
        if self.prices is not None:
            info["prices"] = self.prices
        if self.optimal or self.bound >= self.cost:
            info["optimal"] = True
        return weighed(replace(self.best, algorithm="lagrangian", info=info), self.lattice)
