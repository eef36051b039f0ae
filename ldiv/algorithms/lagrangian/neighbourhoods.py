"""Large neighbourhoods: where the gap sits, some hundred cells are published anew, as well as can be while all other rows stay.

At any prices y, stars - D(y) = sum over QI-groups of (what the group could gain at most - what it gains as it is): every star of the gap has a group for
an address. Neighbourhoods grow from these, over the (cell, pattern) pairs that the configuration ascent has used.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ldiv.algorithms.lagrangian.clock import Clock
from ldiv.algorithms.lagrangian.flow import PERTURBATION, Limit, Program, solve
from ldiv.algorithms.lagrangian.sizes import Sizes
from ldiv.bounds.configuration import ConfigurationDual
from ldiv.release.builder import Entries
from ldiv.release.nodes import columns_of
from ldiv.release.release import Release

__all__ = ["Neighbourhoods"]

TOGETHER = 4  # programs made from the same state, solved side by side, applied one after the other
SIZE, SMALLEST, LARGEST = 100, 50, 1_100  # cells of a neighbourhood: at first, and at the ends
A_LOOK = 90  # iterations of the simplex method that one of 200 cells takes: what is counted
NODES, WORK = 60, 40_000  # of a program's search: nodes, and pairs times checks
HARDER = 3  # times that programs are given four times as much, when nothing more is found
OF_A_GROUP, OTHERS = 40, 20  # cells of one group that come along: of those in it, and of those that could be
PATIENCE = 12  # batches without a star saved after which it ends
RENEW = 8  # batches between two looks at where the gap is


@dataclass(frozen=True)
class Part:
    """A neighbourhood: its pairs, and the items and groups they are in."""

    pairs: NDArray[np.int64]
    items: NDArray[np.int64]
    groups: NDArray[np.int64]
    program: Program


class Neighbourhoods:
    """A release that is being improved, as rows of (cell, pattern) pairs.

    Parameters
    ----------
    release : Release
        Of the problem's table; groups of patterns that the problem leaves out stay as they are.
    dual : ConfigurationDual
    price : ndarray of float64
        Of each cell: where the gap sits is seen from them.
    support : ndarray of float32, shape (P, C)
        Pairs above 0 are free to be used, beside those the release uses.
    """

    def __init__(self, release: Release, dual: ConfigurationDual, price: NDArray[np.float64], support: NDArray[np.float32]) -> None:
        self.release, self.dual, self.price = release, dual, price
        problem = self.problem = dual.problem
        self.l, self.k = dual.l, dual.k
        number = {kept: p for p, kept in enumerate(problem.patterns)}
        shown = columns_of(release, problem.lattice)
        pattern_of_group = np.array([number.get(tuple(sorted(row[row >= 0].tolist())), -1) for row in shown], dtype=np.int64)
        group_of_entry = np.repeat(np.arange(release.groups), np.diff(release.indptr))
        pattern = pattern_of_group[group_of_entry]
        self.stays = pattern < 0  # entries of patterns that the problem leaves out
        patterns = np.int64(len(problem.patterns))
        cells, used = np.nonzero(support.T > 0)
        mine = ~self.stays
        now = release.cell[mine] * patterns + pattern[mine]
        pair = np.unique(np.concatenate([cells * patterns + used, now]))
        self.cell, self.pattern = pair // patterns, pair % patterns
        self.rows = np.zeros(len(pair), dtype=np.int64)
        np.add.at(self.rows, np.searchsorted(pair, now), release.count[mine])
        place = problem.item[self.pattern, self.cell] + problem.offset[self.pattern]
        dead = problem.offset[self.pattern + 1] - 1 == place
        if dead.any():  # of groups that can hold no row
            keep = ~dead
            self.cell, self.pattern, self.rows, place = self.cell[keep], self.pattern[keep], self.rows[keep], place[keep]
        _, group_of_item = problem.all_groups
        self.group_number, group = np.unique(group_of_item[place], return_inverse=True)
        _, self.item = np.unique(place, return_inverse=True)
        self.group_of_item = np.zeros(int(self.item.max(initial=-1)) + 1, dtype=np.int64)
        self.group_of_item[self.item] = group
        self.group = group
        self.stars = problem.price_of_all[group_of_item[place]]
        self.of_cell = np.searchsorted(self.cell, np.arange(len(self.dual.count) + 1))
        self.in_group = np.argsort(group, kind="stable")
        self.of_group = np.searchsorted(group[self.in_group], np.arange(len(self.group_number) + 1))
        self.item_starts = np.searchsorted(self.group_of_item, np.arange(len(self.group_number) + 1))  # items are numbered by group
        self.given = np.bincount(self.item, weights=self.rows, minlength=len(self.group_of_item)).astype(np.int64)
        self.choice = np.diff(self.of_cell) > 1
        self.size = SIZE
        self.random = np.random.default_rng(0)

    @property
    def cost(self) -> int:
        """Stars of the rows in pairs."""
        return int(self.rows @ self.stars)

    def gap(self) -> NDArray[np.float64]:
        """What each group adds to stars - D(y): at least 0, and the sum is the gap (of rows in pairs)."""
        self.dual(self.price)
        gain: NDArray[np.float64] = np.concatenate(self.dual.gain)[self.group_number]
        return gain - np.bincount(self.group, weights=self.rows * (self.price[self.cell] - self.stars), minlength=len(gain))

    def grown(self, seed: int) -> NDArray[np.int64]:
        """Cells around a group: those in it and some that could be, then those of the groups that these could be in, and so on."""
        got: list[int] = []
        known, reached, queue = set(), {seed}, [seed]
        for group in queue:
            pairs = self.in_group[self.of_group[group] : self.of_group[group + 1]]
            pairs = pairs[self.choice[self.cell[pairs]]]
            inside = self.rows[pairs] > 0
            for some, most in ((self.cell[pairs[inside]], OF_A_GROUP), (self.cell[pairs[~inside]], OTHERS)):
                chosen = self.random.choice(some, most, replace=False) if len(some) > most else some
                for cell in chosen.tolist():
                    if cell in known:
                        continue
                    known.add(cell)
                    got.append(cell)
                    if len(got) >= self.size:
                        return np.sort(np.array(got))
                    for other in self.group[self.of_cell[cell] : self.of_cell[cell + 1]].tolist():
                        if other not in reached:
                            reached.add(other)
                            queue.append(other)
        return np.sort(np.array(got, dtype=np.int64))

    def part(self, cells: NDArray[np.int64]) -> Part:
        """The program that publishes these cells anew, all others staying."""
        lengths = self.of_cell[cells + 1] - self.of_cell[cells]
        pairs = _ranges(self.of_cell[cells], lengths)
        items, item = np.unique(self.item[pairs], return_inverse=True)
        groups, group = np.unique(self.group_of_item[items], return_inverse=True)
        start = self.rows[pairs]
        given = self.given[items] - np.bincount(item, weights=start, minlength=len(items)).astype(np.int64)
        whole, heads = self._items_of(groups)
        stay = self.given[whole]
        stay[np.searchsorted(whole, items)] = given
        size, height = np.add.reduceat(stay, heads), np.maximum.reduceat(stay, heads)
        rows = np.add.reduceat(start, np.cumsum(lengths) - lengths)
        noise = self.random.random(len(pairs)) * (PERTURBATION / max(int(rows.sum()), 1))
        unit = self.problem.lattice.unit  # the solver's tolerances are for numbers like those of stars
        return Part(
            pairs,
            items,
            groups,
            Program(np.repeat(np.arange(len(cells)), lengths), item, (self.stars[pairs] + noise) / unit, rows, group, given, size, height, start),
        )

    def _items_of(self, groups: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """All items of some groups, and where each group's begin among them."""
        lengths = self.item_starts[groups + 1] - self.item_starts[groups]
        return _ranges(self.item_starts[groups], lengths), np.cumsum(lengths) - lengths

    def apply(self, part: Part, rows: NDArray[np.int64]) -> int:
        """Take the rows of a program's solution, where they still fit what others have changed in the meantime. Returns the stars saved."""
        before = self.rows[part.pairs]
        saved = int((before - rows) @ self.stars[part.pairs])
        if saved < 0 or not np.array_equal(before, part.program.start):
            return 0
        change = np.bincount(part.program.item, weights=rows - before, minlength=len(part.items)).astype(np.int64)
        self.given[part.items] += change
        whole, heads = self._items_of(part.groups)
        now = self.given[whole]
        size, height = np.add.reduceat(now, heads), np.maximum.reduceat(now, heads)
        if (size < np.where(size > 0, np.maximum(self.l * height, self.k), 0)).any():
            self.given[part.items] -= change
            return 0
        self.rows[part.pairs] = rows
        return saved

    def improve(
        self,
        looks: int,
        *,
        patient: bool = True,
        goal: int = 0,
        clock: Clock | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> int:
        """Solve neighbourhoods, as much work as so many of 200 cells are, until `goal` stars, the end of time, or many in vain: if `patient`, programs are then
        given more time, a few times. The same for any number of threads. Returns how many were solved."""
        clock = clock or Clock()
        done, batches, patience, harder = 0, 0, 0, 0
        left = looks * A_LOOK
        sizes = Sizes(SIZE, SMALLEST, LARGEST)
        weight = np.zeros(0)
        everything = np.count_nonzero(self.choice)
        threads = self.dual.threads
        with nullcontext() if threads == 1 else ThreadPoolExecutor(min(threads, TOGETHER)) as pool:
            spread = map if pool is None else pool.map
            while left > 0 and self.cost > goal and not clock.over():
                if patience >= PATIENCE:
                    if not patient or harder == HARDER:
                        break
                    patience, harder = 0, harder + 1
                    sizes.free()
                if batches % RENEW == 0 or not weight.any():
                    weight = np.maximum(self.gap(), 0)
                    weight[weight < 1e-6 * max(float(weight.max(initial=0)), 1e-9)] = 0
                    if not weight.any():
                        break
                batches += 1
                self.size = sizes.next()
                seeds = self.random.choice(len(weight), min(TOGETHER, int(np.count_nonzero(weight))), replace=False, p=weight / weight.sum())
                parts = [self.part(cells) for cells in map(self.grown, seeds.tolist()) if len(cells)]
                limits = [Limit(NODES << 2 * harder, (WORK << 2 * harder) // len(part.pairs), clock) for part in parts]
                found = list(spread(lambda part, limit: solve(part.program, self.l, self.k, limit), parts, limits))
                saved = 0
                for seed, part, solution in zip(seeds, parts, found, strict=False):
                    gain = self.apply(part, solution.rows) if solution.rows is not None else 0
                    saved += gain
                    if not gain:
                        weight[seed] *= 0.5
                done += len(seeds)
                work = sum(solution.work for solution in found)
                left -= max(work, len(seeds))
                if all(len(part.program.rows) == everything for part in parts) and any(solution.best for solution in found):
                    break  # there is no larger neighbourhood
                sizes.told(saved, work, all(solution.best for solution in found))
                patience = 0 if saved else patience + 1
                if progress is not None:
                    progress(self.cost)
        return done

    def result(self) -> Release:
        """The release as it is now."""
        r = self.release
        entries = Entries()
        number = np.repeat(np.arange(r.groups), np.diff(r.indptr))
        if self.stays.any():
            entries.add(number[self.stays], r.cell[self.stays], r.count[self.stays], r.groups)
        entries.add(self.group, self.cell.astype(np.int32), self.rows, len(self.group_number))
        return entries.release(r.contingency, self.problem.lattice, l=r.l, algorithm=r.algorithm, info=r.info)


def _ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers of all ranges that begin at `starts`, one after another."""
    ends = np.cumsum(lengths)
    numbers: NDArray[np.int64] = np.arange(int(ends[-1]) if len(ends) else 0)
    numbers += np.repeat(starts - (ends - lengths), lengths)
    return numbers
