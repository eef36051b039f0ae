"""Which combinations of levels have multipliers, where there are more than is worth keeping: few at first, then those that price well.

A group of a coarse combination is a union of groups of finer ones, so nearly the same rows stand in very many groups, and few of these combinations are needed:
those whose groups would gain at the present prices are found by looking at all others one at a time, which takes the memory of one. What they gain at the final
prices is subtracted from the bound; so it holds for all releases. Where there are too many to look at, those that a sample of cells says could gain most are
looked at, and in the rest no row is thought to be worth more than it loses there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ldiv.table.lattice import Lattice, Pattern

__all__ = ["Pool"]

SAMPLE = 512  # cells
BLOCK = 1 << 22  # combinations times cells of the sample, or of the table, that are looked at together
NO_CAP = int(np.iinfo(np.int64).max)


@dataclass(frozen=True, eq=False)
class Pool:
    """Combinations of levels that have multipliers, and others that are looked at one by one.

    Attributes
    ----------
    lattice : Lattice
    kept : list of Pattern
        Those with multipliers, the root among them, that lose least first.
    others : list of Pattern
        Those that are looked at besides. The rest is left out: in it no row is worth more than it loses.
    """

    lattice: Lattice
    kept: list[Pattern]
    others: list[Pattern] = field(default_factory=list)

    @property
    def looked_at(self) -> int:
        """How many combinations are not left out."""
        return len(self.kept) + len(self.others)

    @property
    def numbers(self) -> NDArray[np.int64] | None:
        """Which combinations are not left out, as :attr:`ldiv.bounds.certificate.Prices.combinations` says it; None where none is."""
        if self.looked_at >= self.lattice.vectors:
            return None
        domains = self.lattice.contingency.domains
        by_name = sorted(range(len(domains)), key=lambda j: (str(domains[j].name), str(type(domains[j].name))))
        shape = [self.lattice.height[j] + 1 for j in by_name]
        return np.sort(np.ravel_multi_index(tuple(self.lattice.levels([*self.kept, *self.others])[:, by_name].T), shape).astype(np.int64))

    def cap(self) -> NDArray[np.int64] | None:
        """The least that a row of each cell loses in a combination that is left out; None where none is. O(smallest combinations left out * cells)."""
        if self.looked_at >= self.lattice.vectors:
            return None
        left = np.ones([height + 1 for height in self.lattice.height], dtype=bool)
        left[tuple(self.lattice.levels([*self.kept, *self.others]).T)] = False
        smallest = left.copy()  # a row loses no more a level below: only where that is looked at need anything be computed
        for axis in range(left.ndim):
            np.moveaxis(smallest, axis, 0)[1:] &= ~np.moveaxis(left, axis, 0)[:-1]
        least = np.full(len(self.lattice.contingency.codes), NO_CAP)
        losses = self._losses(np.arange(len(least)))
        for levels in np.argwhere(smallest):
            np.minimum(least, sum(of[level] for of, level in zip(losses, levels, strict=True)), out=least)
        return np.asarray(least[self.lattice.contingency.group_of_cell])

    def with_others(self, price: NDArray[np.float64], most: int) -> Pool:
        """The same with up to so many others, those in which a sample of cells says that rows could bring most at these prices."""
        kept = set(self.kept)
        others = [pattern for _, pattern in self.lattice.ranked if pattern not in kept]
        if len(others) > most:
            worth = self._at_most(others, price)
            chosen = np.sort(np.argsort(-worth, kind="stable")[:most])
            others = [others[k] for k in chosen.tolist()]
        return Pool(self.lattice, self.kept, others)

    def exchanged(self, used: NDArray[np.float64], gain: NDArray[np.float64], most: int, spare: int) -> Pool:
        """The others that gain most are kept, and up to `spare` of those kept go that are used least, so that there are `most`.

        Parameters
        ----------
        used : ndarray, shape (len(kept),)
            Rows of each combination kept.
        gain : ndarray, shape (len(others),)
            What the groups of each other one bring.
        most, spare : int
        """
        idle = np.argsort(used, kind="stable").tolist()
        paying = [k for k in np.argsort(-gain, kind="stable").tolist() if gain[k] > 0]
        room = max(0, most - len(self.kept))
        go = [k for k in idle if self.kept[k]][: min(spare, max(0, len(paying) - room))]  # the root stays
        come = paying[: room + len(go)]
        return self._moved(set(come), set(go))

    def _moved(self, come: set[int], go: set[int]) -> Pool:
        kept = {x for k, x in enumerate(self.kept) if k not in go} | {self.others[k] for k in come}
        every = {*self.kept, *self.others}
        ranked = [pattern for _, pattern in self.lattice.ranked if pattern in every]
        return Pool(self.lattice, [x for x in ranked if x in kept], [x for x in ranked if x not in kept])

    def blocks(self) -> list[list[Pattern]]:
        """The others, so many at a time that they take little memory."""
        step = max(1, BLOCK // max(1, len(self.lattice.contingency.count)))
        return [self.others[k : k + step] for k in range(0, len(self.others), step)]

    def _losses(self, groups: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Of each attribute what rows of some groups of equal rows lose on each level, shape (levels, groups)."""
        lattice, codes = self.lattice, self.lattice.contingency.codes[groups]
        out = []
        for j, height in enumerate(lattice.height):
            columns = [lattice.column[j, level] for level in range(height)]
            rows = [lattice.loss[k][lattice.node[k][codes[:, j]]] for k in columns]
            out.append(np.stack([*rows, np.full(len(groups), lattice.star[j])]).astype(np.int64))
        return out

    def _at_most(self, patterns: Sequence[Pattern], price: NDArray[np.float64]) -> NDArray[np.float64]:
        """What the rows of a sample of cells could bring in each combination, were every group of them l-eligible."""
        c = self.lattice.contingency
        sample = np.unique(np.linspace(0, len(c.count) - 1, SAMPLE).astype(np.int64))
        losses = [x.astype(np.float32) for x in self._losses(c.group_of_cell[sample].astype(np.int64))]
        worth, rows = price[sample].astype(np.float32), c.count[sample].astype(np.float32)
        levels, found = self.lattice.levels(patterns), np.empty(len(patterns))
        step = max(1, BLOCK // len(sample))
        for k in range(0, len(patterns), step):
            lost = sum(of[levels[k : k + step, j]] for j, of in enumerate(losses))
            found[k : k + step] = (np.maximum(worth - lost, 0) * rows).sum(axis=1)  # not by a library whose order depends on threads
        return found
