"""Lagrangian: prices by dual ascent, whole rows by rounding and diving, what is left by TP and the cascade."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv._kernels.cells import hand_out, tally
from ldiv._kernels.inverted_list import Histogram
from ldiv._kernels.local_search import Ledger
from ldiv._kernels.multipliers import propose
from ldiv._kernels.tp import Refinement, phase_one
from ldiv.algorithms import register
from ldiv.algorithms.cascade import Entries, cascade, descend
from ldiv.arguments import Argument, Number, Plan, Whole
from ldiv.bounds.prices import Ascent, Market
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency

__all__ = ["EFFORTS", "EVERYTHING", "Effort", "lagrangian"]


@dataclass(frozen=True)
class Effort(Plan):
    """How hard to try.

    Attributes
    ----------
    patterns : int
        So many patterns have prices whatever the size of the table; time is then proportional to the number of cells.
    budget : int
        More patterns while they times the cells stay within it: small tables get them all.
    sweeps : int
        Of the ascent, for l up to 6; see :func:`sweeps_for`.
    tolerance : float or None
        Afterwards more stages of half so many sweeps, each at half the temperature and step of the one before, while one raises the bound by
        more than this part; None for no such stage.
    dives : int
        Rounds of fixing, each after `dive_sweeps` more sweeps on the rows not yet fixed; 0 rounds once.
    rounds : int
        Of rebuilding groups at the end, a few at a time.
    """

    patterns: int
    budget: int
    sweeps: int
    tolerance: float | None
    dives: int
    dive_sweeps: int
    rounds: int

    def __post_init__(self) -> None:
        for name, declared in PARTS.items():
            declared.check(getattr(self, name), f"effort: {name}")


PARTS: dict[str, Argument] = {
    "patterns": Whole("patterns", least=1),
    "budget": Whole("budget", least=0),
    "sweeps": Whole("sweeps", least=1, most=1 << 30),
    "tolerance": Number("tolerance", optional=True),
    "dives": Whole("dives", most=1 << 20),
    "dive_sweeps": Whole("dive_sweeps", most=1 << 30),
    "rounds": Whole("rounds", most=1 << 20),
}

EFFORTS = {
    "fast": Effort(29, 4_000_000, 60, None, 0, 0, 1),
    "default": Effort(99, 8_000_000, 100, 5e-3, 10, 10, 4),
    "best": Effort(120, 60_000_000, 200, 1e-3, 20, 25, 30),
}
MANY = 512  # patterns beyond which the sweeps cost more than they bring
EVERYTHING = 120_000_000  # patterns times cells that fit memory: about 3 GB


def sweeps_for(effort: Effort, l: int) -> int:
    """How many sweeps the ascent takes. Prices have farther to go where l is large: measured, l = 10 needs twice the sweeps of l = 6, while up to 6
    more bring nothing; a line through both."""
    return effort.sweeps * max(4, l - 2) // 4


def affordable(contingency: Contingency, effort: Effort) -> int:
    """Up to how many stars patterns have prices."""
    d, cells = contingency.d, len(contingency.count)
    most = d
    while most > 1:
        patterns = sum(comb(d, k) for k in range(most + 1))
        if (patterns <= MANY and patterns * cells <= effort.budget) or (patterns <= effort.patterns and patterns * cells <= EVERYTHING):
            break
        most -= 1
    return most


COUNTABLE = 1 << 30  # rows up to which they are assigned one by one; the ledger counts those of a cell in 32 bits


def unit_for(rows: int) -> int:
    """How many rows are assigned together: 1, or a power of two where there are very many."""
    return 1 << max(0, (rows // COUNTABLE).bit_length())


HEAT, STEP = (0.2, 0.01), (0.2, 0.004)
DIVE_HEAT, DIVE_STEP = 0.03, 0.02
PASSES = 8
PLACE_LOOKS = 200_000_000
LOOKS = 64_000  # of rebuilding, for each cell, over the number of patterns: these wait for memory


class Assignment:
    """Whole rows given to the groups of the patterns; every group is l-eligible at every moment."""

    def __init__(self, market: Market) -> None:
        self.market = market
        self.left = market.contingency.count.copy()
        self.given = [np.zeros(items, dtype=np.int64) for items in market.items]  # rows of each item
        self.rows: list[NDArray[np.int64] | None] = [None] * len(market.patterns)  # of each cell, by pattern

    def absorb(self, p: int, proposal: NDArray[np.int64], keep: float = 0.0) -> None:
        """Give a pattern the proposed rows as far as its groups stay l-eligible with them: phase one on what is there and what is new.

        What is there is l-eligible, so the cut never reaches it. With `keep`, only groups that keep at least that part of their proposal
        take anything.
        """
        market = self.market
        item, indptr = market.item[p], market.indptr[p]
        offered = tally(item, market.items[p], proposal)
        kept = np.empty_like(offered)
        size, _ = phase_one(indptr, self.given[p] + offered, market.l, kept)
        more = kept - self.given[p]
        if keep > 0:
            lengths = np.diff(indptr)
            before, wanted = (np.add.reduceat(x, indptr[:-1]) for x in (self.given[p], offered))
            more *= np.repeat(size - before >= keep * wanted, lengths)
        if more.any():
            taken = hand_out(item, more, proposal)
            self.left -= taken
            self.given[p] += more
            self.rows[p] = taken if self.rows[p] is None else self.rows[p] + taken

    def refill(self) -> None:
        """What is left joins groups where it fits, or founds new ones, fewest stars first."""
        for p in range(len(self.market.patterns)):
            if not self.left.any():
                return
            self.absorb(p, self.left)

    @property
    def cost(self) -> int:
        """Stars if what is left went to the all-star group."""
        cost = int(self.left.sum()) * self.market.stars[-1]
        return cost + sum(int(rows.sum()) * stars for rows, stars in zip(self.rows, self.market.stars, strict=True) if rows is not None)

    def settle(self, rounds: int = 0) -> None:
        """Single rows: what is left finds places, with partners borrowed from finer groups; then rows move to groups with fewer stars.

        Then so many rounds of rebuilding groups a few at a time.
        """
        market, c = self.market, self.market.contingency
        indptr, group_of_item = market.all_groups
        cells, bounds = market.cells_by_group
        rows = np.zeros(market.item.shape, dtype=np.int32)
        for p, mine in enumerate(self.rows):
            if mine is not None:
                rows[p] = mine
        given = np.concatenate(self.given)
        ledger = Ledger(
            market.item,
            market.offset,
            group_of_item,
            indptr,
            np.array(market.stars, dtype=np.int32),
            market.finer,
            cells,
            bounds,
            given,
            rows,
            self.left,
            market.l,
        )
        ledger.improve(PASSES)
        # A row sent to the all-star group pays for all its attributes and needs partners that pay as much: no place dearer than that.
        all_stars = market.stars[-1]
        ledger.place(all_stars * market.l, all_stars - 1, PLACE_LOOKS)
        ledger.improve(PASSES)
        if rounds:
            ledger.rebuild(rounds, LOOKS * len(c.count) // len(market.patterns))
            ledger.improve(PASSES)
        self.given = [given[market.part(p)] for p in range(len(market.patterns))]
        self.rows = [row.astype(np.int64) if row.any() else None for row in rows]

    def in_rows(self, unit: int, count: NDArray[np.int64]) -> Assignment:
        """The same assignment counted in rows instead of units of so many, of a table with `count` rows a cell; what units left over joins."""
        if unit == 1:
            return self
        full = Assignment(self.market)
        full.given = [given * unit for given in self.given]
        full.rows = [None if rows is None else rows * unit for rows in self.rows]
        full.left = count - sum((rows for rows in full.rows if rows is not None), start=np.zeros_like(count))
        full.refill()
        return full

    def borrow(self) -> None:
        """Make what is left l-eligible by TP's phases two and three on all groups, those with most stars first."""
        market, c = self.market, self.market.contingency
        residue = tally(c.sensitive, c.m, self.left)
        if residue.sum() >= market.l * residue.max(initial=0):
            return
        indptr, group_of_item = market.all_groups
        sensitive = np.concatenate(market.sensitive)
        kept = np.concatenate(self.given)
        groups = len(indptr) - 1
        size = np.add.reduceat(kept, indptr[:-1])
        height = np.maximum.reduceat(kept, indptr[:-1])
        order = np.arange(groups, dtype=np.int32)[::-1].copy()
        rank = np.empty(groups, dtype=np.int64)
        rank[order] = np.arange(groups)
        column = np.lexsort((rank[group_of_item], sensitive)).astype(np.int32)
        column_indptr = np.searchsorted(sensitive[column], np.arange(c.m + 1)).astype(np.int64)
        values = np.arange(c.m, dtype=np.int32)
        run = Refinement(
            Histogram(indptr, kept, size, height),
            sensitive,
            group_of_item,
            residue,
            market.l,
            column,
            column_indptr,
            order,
            values,
            values,
        )
        run.phase_two()
        if not run.eligible:
            run.phase_three()
        for p in range(len(market.patterns)):
            gone = self.given[p] - kept[market.part(p)]
            if gone.any():
                back = hand_out(market.item[p], gone, self.rows[p])
                self.rows[p] = self.rows[p] - back
                self.given[p] = kept[market.part(p)].copy()
                self.left += back

    def release(self, c: Contingency, seed: int | None) -> Release:
        """Borrow, send what is left down the cascade, and build the release of a table. After :meth:`settle` and :meth:`in_rows`."""
        market = self.market
        self.borrow()
        entries = Entries()
        cells = np.arange(len(c.count), dtype=np.int32)
        for p, rows in enumerate(self.rows):
            if rows is not None:
                lengths = np.diff(market.indptr[p])
                group_of_item = np.repeat(np.arange(len(lengths)), lengths)
                entries.add(group_of_item[market.item[p]], cells, rows, len(lengths))
        part, chosen = c.restrict(self.left)
        if part.n:
            descend(part, chosen, market.l, entries, seed)
        return entries.release(c, l=market.l, algorithm="lagrangian")


def rounding(market: Market, ascent: Ascent) -> Assignment:
    """Whole rows from the shares: pattern by pattern, fewest stars first, then a refill."""
    state = Assignment(market)
    for p in range(len(market.patterns)):
        state.absorb(p, propose(market.item[p], ascent.share[p], state.left, market.items[p]))
    state.refill()
    return state


def diving(market: Market, ascent: Ascent, effort: Effort, deadline: float, progress: Callable[[str], None] | None) -> Assignment:
    """Fix the groups that rounding hardly changes, let prices settle for the others, and again."""
    state = Assignment(market)
    for turn in range(effort.dives):
        keep = 0.95 - 0.65 * turn / max(effort.dives - 1, 1)
        for p in range(len(market.patterns)):
            state.absorb(p, propose(market.item[p], ascent.share[p], state.left, market.items[p]), keep)
        if progress is not None:
            progress(f"dive {turn + 1} of {effort.dives}: {int(state.left.sum()):,} rows not yet fixed")
        if not state.left.any() or time.monotonic() > deadline:
            break
        ascent.fixed[:] = np.concatenate(state.given)
        ascent.run(state.left, effort.dive_sweeps, (DIVE_HEAT, DIVE_HEAT), (DIVE_STEP, DIVE_STEP), deadline)
    for p in range(len(market.patterns)):
        state.absorb(p, propose(market.item[p], ascent.share[p], state.left, market.items[p]))
    state.refill()
    return state


def polish(market: Market, ascent: Ascent, effort: Effort, info: dict[str, Any], deadline: float, progress: Callable[[str], None] | None) -> None:
    """Colder and smaller steps until the bound has converged; the best prices stand in `info`."""
    assert effort.tolerance is not None
    heat, step = HEAT[1], STEP[1]
    rows, sweeps = market.contingency.count, sweeps_for(effort, market.l) // 2
    while time.monotonic() < deadline:
        info["sweeps"] += ascent.run(rows, sweeps, (heat, heat / 2), (step, step / 2), deadline, progress)
        heat, step = heat / 2, step / 2
        prices = ascent.prices()
        bound, before = market.bound(prices), info["bound"]
        if bound > before:
            info.update(bound=bound, prices=prices)
        if bound - before <= effort.tolerance * before:
            return


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
    market = Market(coarse, l, affordable(c, chosen), threads, c.count)
    ascent = Ascent(market)
    sweeps = ascent.run(coarse.count, sweeps_for(chosen, l), HEAT, STEP, deadline, progress)
    prices = ascent.prices()
    info = {"bound": market.bound(prices), "prices": prices, "sweeps": sweeps}
    candidates = [rounding(market, ascent)]  # from the softer shares: harder ones round worse
    if chosen.tolerance is not None:
        polish(market, ascent, chosen, info, deadline, progress)
    if chosen.dives and time.monotonic() < deadline:
        candidates.append(diving(market, ascent, chosen, deadline, progress))
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
