"""Primal heuristics: whole rows from fractional shares, by rounding and diving, then repair and local search on single rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv._kernels.cells import hand_out, tally
from ldiv._kernels.inverted_list import InvertedList
from ldiv._kernels.local_search import LocalSearch
from ldiv._kernels.multipliers import propose
from ldiv._kernels.phase_one import phase_one
from ldiv._kernels.tp import Phases
from ldiv.algorithms.cascade import descend
from ldiv.algorithms.lagrangian.ascent import DIVE_HEAT, DIVE_STEP
from ldiv.algorithms.lagrangian.effort import Effort
from ldiv.algorithms.sizes import settle_sizes
from ldiv.bounds.ascent import Ascent
from ldiv.bounds.multipliers import DualProblem
from ldiv.release.builder import Entries
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency

__all__ = ["Assignment", "diving", "rounding"]

PASSES = 8
PLACE_LOOKS = 200_000_000
ENOUGH = 0.97  # of the rows not yet fixed: a dive that leaves more of them is the last
NONE = np.empty(0, dtype=np.int64)
LOOKS = 64_000  # of rebuilding, for each cell, over the number of patterns: these wait for memory


class Assignment:
    """Whole rows given to the groups of the patterns; every group is l-eligible with at least k rows, or empty, at every moment."""

    def __init__(self, problem: DualProblem) -> None:
        self.problem, self.k = problem, problem.units
        self.left = problem.contingency.count.copy()
        self.given = [np.zeros(items, dtype=np.int64) for items in problem.items]  # rows of each item
        # Of each pattern: the cells that have rows in it, and these.
        self.used: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = [(NONE, NONE)] * len(problem.patterns)

    def rows(self, p: int) -> NDArray[np.int64]:
        """The rows of each cell in a pattern."""
        rows = np.zeros(len(self.left), dtype=np.int64)
        cells, used = self.used[p]
        rows[cells] = used
        return rows

    def keep(self, p: int, rows: NDArray[Any]) -> None:
        """These are the rows of each cell in a pattern. Only few cells have any, so others take no memory."""
        cells = np.flatnonzero(rows)
        self.used[p] = cells, rows[cells].astype(np.int64)

    def absorb(self, p: int, proposal: NDArray[np.int64], keep: float = 0.0) -> None:
        """Give a pattern the proposed rows as far as its groups can be published with them: phase one on what is there and what is new.

        What is there can be published, so the cut never reaches it. With `keep`, only groups that keep at least that part of their proposal
        take anything.
        """
        problem = self.problem
        item, indptr = problem.item[p], problem.indptr[p]
        offered = tally(item, problem.items[p], proposal)
        offered[-1] = 0  # of groups that can hold no row
        kept = np.empty_like(offered)
        size, _ = phase_one(indptr, self.given[p] + offered, problem.l, kept, self.k)
        more = kept - self.given[p]
        if keep > 0:
            lengths = np.diff(indptr)
            before, wanted = (np.add.reduceat(x, indptr[:-1]) for x in (self.given[p], offered))
            more *= np.repeat(size - before >= keep * wanted, lengths)
        if more.any():
            taken = hand_out(item, more, proposal)
            self.left -= taken
            self.given[p] += more
            self.keep(p, self.rows(p) + taken)

    def refill(self) -> None:
        """What is left joins groups where it fits, or founds new ones, fewest stars first."""
        for p in range(len(self.problem.patterns)):
            if not self.left.any():
                return
            self.absorb(p, self.left)

    @property
    def cost(self) -> int:
        """Stars if what is left went to the all-star group."""
        problem, cost = self.problem, int(self.left.sum()) * self.problem.all_stars
        _, group_of_item = problem.all_groups
        for p, (cells, rows) in enumerate(self.used):
            cost += int(problem.price_of_all[group_of_item[problem.item[p, cells] + problem.offset[p]]] @ rows)
        return cost

    def ledger(self) -> tuple[LocalSearch, NDArray[np.int64], NDArray[np.int32]]:
        """A local search from here, and the rows of each item and of each pattern and cell, shape (P, C), that it changes, beside `left`."""
        problem = self.problem
        indptr, group_of_item = problem.all_groups
        cells, bounds = problem.cells_by_group
        rows = np.zeros(problem.item.shape, dtype=np.int32)
        for p, (mine, used) in enumerate(self.used):
            rows[p, mine] = used
        given = np.concatenate(self.given)
        search = LocalSearch(
            problem.item,
            problem.offset,
            group_of_item,
            indptr,
            problem.floor.astype(np.int32),
            problem.price_of_all.astype(np.int32),
            problem.finer,
            cells,
            bounds,
            given,
            rows,
            self.left,
            problem.l,
            self.k,
        )
        return search, given, rows

    def settle(self, rounds: int = 0) -> None:
        """Single rows: what is left finds places, with partners borrowed from finer groups; then rows move to groups with fewer stars.

        Then so many rounds of rebuilding groups a few at a time.
        """
        problem, c = self.problem, self.problem.contingency
        ledger, given, rows = self.ledger()
        ledger.improve(PASSES)
        # A row sent to the all-star group pays for all its attributes and needs partners that pay as much: no place dearer than that.
        all_stars = problem.all_stars
        ledger.place(all_stars * max(problem.l, self.k), all_stars - 1, PLACE_LOOKS)
        ledger.improve(PASSES)
        if rounds:
            ledger.rebuild(rounds, LOOKS * len(c.count) // len(problem.patterns))
            ledger.improve(PASSES)
        self.given = [given[problem.part(p)] for p in range(len(problem.patterns))]
        for p, row in enumerate(rows):
            self.keep(p, row)

    def in_rows(self, unit: int, count: NDArray[np.int64]) -> Assignment:
        """The same assignment counted in rows instead of units of so many, of a table with `count` rows a cell; what units left over joins."""
        if unit == 1:
            return self
        full = Assignment(self.problem)
        full.k = self.problem.k
        full.given = [given * unit for given in self.given]
        full.used = [(cells, rows * unit) for cells, rows in self.used]
        full.left = count - sum((full.rows(p) for p in range(len(full.used))), start=np.zeros_like(count))
        full.refill()
        return full

    def borrow(self) -> None:
        """Make what is left l-eligible, with k rows or none, by TP's phases two and three on all groups, those with most stars first."""
        problem, c = self.problem, self.problem.contingency
        residue = tally(c.sensitive, c.m, self.left)
        if residue.sum() >= max(problem.l * residue.max(initial=0), self.k if residue.any() else 0):
            return
        indptr, _ = problem.all_groups
        sensitive = np.concatenate(problem.sensitive)
        if problem.l == 1:  # items are cells there, and SA values say nothing
            sensitive, residue = np.zeros_like(sensitive), residue.sum(keepdims=True)
        kept = np.concatenate(self.given)
        order = np.arange(len(indptr) - 1, dtype=np.int32)[::-1].copy()
        if residue.sum() < problem.l * residue.max(initial=0):
            self._phases(sensitive, kept, residue, order)
        settle_sizes(indptr, sensitive, kept, residue, problem.l, self.k, order)
        for p in range(len(problem.patterns)):
            gone = self.given[p] - kept[problem.part(p)]
            if gone.any():
                mine = self.rows(p)
                back = hand_out(problem.item[p], gone, mine)
                self.keep(p, mine - back)
                self.given[p] = kept[problem.part(p)].copy()
                self.left += back

    def _phases(self, sensitive: NDArray[np.int32], kept: NDArray[np.int64], residue: NDArray[np.int64], order: NDArray[np.int32]) -> None:
        """TP's phases two and three, on the items of all patterns in place of cells."""
        problem, m = self.problem, self.problem.contingency.m
        indptr, group_of_item = problem.all_groups
        groups = len(indptr) - 1
        size = np.add.reduceat(kept, indptr[:-1])
        height = np.maximum.reduceat(kept, indptr[:-1])
        rank = np.empty(groups, dtype=np.int64)
        rank[order] = np.arange(groups)
        column = np.lexsort((rank[group_of_item], sensitive)).astype(np.int32)
        column_indptr = np.searchsorted(sensitive[column], np.arange(m + 1)).astype(np.int64)
        values = np.arange(m, dtype=np.int32)
        run = Phases(
            InvertedList(indptr, kept, size, height),
            sensitive,
            group_of_item,
            residue,
            problem.l,
            column,
            column_indptr,
            order,
            values,
            values,
        )
        run.phase_two()
        if not run.eligible:
            run.phase_three()

    def release(self, c: Contingency, seed: int | None) -> Release:
        """Borrow, send what is left down the cascade, and build the release of a table. After :meth:`settle` and :meth:`in_rows`."""
        problem = self.problem
        self.borrow()
        entries = Entries()
        for p, (cells, rows) in enumerate(self.used):
            if len(cells):
                lengths = np.diff(problem.indptr[p])
                group_of_item = np.repeat(np.arange(len(lengths)), lengths)
                entries.add(group_of_item[problem.item[p, cells]], cells.astype(np.int32), rows, len(lengths))
        if self.left.any():
            descend(problem.lattice, self.left, problem.l, entries, seed, self.k)
        return entries.release(c, problem.lattice, l=problem.l, algorithm="lagrangian")


def rounding(problem: DualProblem, ascent: Ascent) -> Assignment:
    """Whole rows from the shares: pattern by pattern, fewest stars first, then a refill."""
    state = Assignment(problem)
    for p in range(len(problem.patterns)):
        state.absorb(p, propose(problem.item[p], ascent.shares(p), state.left, problem.items[p]))
    state.refill()
    return state


def diving(problem: DualProblem, ascent: Ascent, effort: Effort, over: Callable[[], bool], progress: Callable[[str], None] | None) -> Assignment:
    """Fix the groups that rounding hardly changes, let prices settle for the others, and again."""
    state = Assignment(problem)
    left = int(state.left.sum())
    for turn in range(effort.dives):
        keep = 0.95 - 0.65 * turn / max(effort.dives - 1, 1)
        for p in range(len(problem.patterns)):
            state.absorb(p, propose(problem.item[p], ascent.shares(p), state.left, problem.items[p]), keep)
        if progress is not None:
            progress(f"dive {turn + 1} of {effort.dives}: {int(state.left.sum()):,} rows not yet fixed")
        before, left = left, int(state.left.sum())
        if not left or left > ENOUGH * before or over():
            break
        ascent.fixed = np.concatenate(state.given).astype(np.float32)
        ascent.run(state.left, effort.dive_sweeps, (DIVE_HEAT, DIVE_HEAT), (DIVE_STEP, DIVE_STEP), over)
    for p in range(len(problem.patterns)):
        state.absorb(p, propose(problem.item[p], ascent.shares(p), state.left, problem.items[p]))
    state.refill()
    return state
