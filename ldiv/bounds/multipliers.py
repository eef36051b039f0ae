"""Multipliers on the eligibility constraints: the Lagrangian dual of star minimisation, and its exact value.

A group's pillar pays its partners: docs/near-optimal.md has the derivation.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ldiv._kernels.cells as _cells
import ldiv._kernels.multipliers as _multipliers
from ldiv._kernels.phase_one import phase_one
from ldiv.arguments import THREADS, USUAL_THREADS
from ldiv.bounds.pool import NO_CAP, Pool
from ldiv.table.arrays import dot
from ldiv.table.contingency import Contingency
from ldiv.table.domain import Domain
from ldiv.table.lattice import Lattice

__all__ = ["SCALE", "TOO_MUCH", "DualProblem", "Multipliers", "never"]

SCALE = 1 << 20  # bounds are proven in units of 1 / SCALE star
TOO_MUCH = 1 << 36  # more than a row can cost


def never() -> bool:
    """No end but the last sweep."""
    return False


@dataclass(frozen=True)
class Multipliers:
    """Multipliers on the eligibility constraints, in whole units of 1 / SCALE star.

    Attributes
    ----------
    l : int
    most : int
        Patterns with more stars are left out, which the bound allows for (the all-star pattern is always there).
    values : list of ndarray of int64
        One array a pattern, an entry for each cell of its projection.
    """

    l: int
    most: int
    values: list[NDArray[np.int64]]


class DualProblem:
    """Patterns, the items that cells fall into, and what is known of them.

    Item i of pattern p is a cell of the projection on the kept attributes: a value g of theirs and an SA value v. Groups of which phase one keeps nothing
    can hold no row, whatever the release. All their cells fall into the pattern's last item, which stands in a group of its own and costs too much.

    A row of an item stands for `load` rows of its group at the least: l, and k / N in a group of at least k rows that can hold no more than N of the item.
    Where l is 1 the SA says nothing, and every cell of the table is an item of its own in each pattern: k x <= n_c X is (2) of docs/near-optimal.md then.

    Parameters
    ----------
    contingency : Contingency
    l : int
    most : int
        Patterns with at most this many stars, and the all-star one.
    threads : int, optional
        Default: two, or one where there is one core. The result does not depend on it.
    rows : ndarray of int64, optional
        The rows of each cell where `contingency` counts them in larger units: what a bound is about.
    k : int
        The least size of a group, in rows.
    unit : int
        How many rows `contingency` counts as one.
    lattice : Lattice, optional
        Default: of stars.
    pool : Pool, optional
        The combinations of levels that have multipliers, and those that are looked at besides. Default: the `most` that lose least.
    """

    def __init__(
        self,
        contingency: Contingency,
        l: int,
        most: int,
        threads: int | None = None,
        rows: NDArray[np.int64] | None = None,
        k: int = 1,
        unit: int = 1,
        lattice: Lattice | None = None,
        pool: Pool | None = None,
    ) -> None:
        c = self.contingency = contingency
        self.lattice = lattice or Lattice.of_stars(c)
        self.rows = c.count if rows is None else rows
        self.l, self.k, self.most = l, k if k > l else 1, min(most, self.lattice.enough)
        self.pool = pool
        if self.lattice.nodes:
            self.pool = pool or Pool(self.lattice, self.lattice.patterns(most))
            self.most = self.pool.looked_at
        self.units = -(-self.k // unit)  # k as `contingency` counts
        self.patterns = self.pool.kept if self.pool is not None else self.lattice.patterns(most)
        self.pays: list[NDArray[np.int64]] = []  # what a row loses in each group of a pattern, or one number for all of them
        self.threads = THREADS.check(threads) or USUAL_THREADS
        self.item = np.empty((len(self.patterns), len(c.count)), dtype=np.int32)  # within its pattern
        self.indptr: list[NDArray[np.int64]] = []
        self.sensitive: list[NDArray[np.int32]] = []
        self.most_rows: list[NDArray[np.int64]] = []  # N of each item, where there is a k
        table = self.lattice.table if l > 1 else _apart(self.lattice.table)
        for p, kept in enumerate(self.patterns):
            projected, item = table.project(kept)
            lengths = np.diff(projected.indptr)
            able = lengths >= l  # phase one keeps a row of l values
            if self.k > 1:
                held = _cells.tally(item, len(projected.count), self.rows)
                able = phase_one(projected.indptr, held, l, held, self.k)[0] > 0
            alive = np.repeat(able, lengths)
            place = np.where(alive, np.cumsum(alive) - 1, np.count_nonzero(alive))
            self.item[p] = place[item]
            self.indptr.append(np.concatenate([[0], np.cumsum(lengths[able]), [np.count_nonzero(alive) + 1]]))
            self.sensitive.append(np.append(projected.sensitive[alive], 0).astype(np.int32))
            pays = self.lattice.losses(kept, projected.codes)
            self.pays.append(np.append(pays[able], self.lattice.most) if self.lattice.nodes else pays)
            if self.k > 1:
                self.most_rows.append(np.append(held[alive], 1))
        self.items = [len(s) for s in self.sensitive]
        self.offset = np.concatenate([[0], np.cumsum(self.items)]).astype(np.int64)

    def of(self, pool: Pool) -> DualProblem:
        """The same table with another pool, rows counted one by one."""
        return DualProblem(self.contingency, self.l, 1, self.threads, None, self.k, 1, self.lattice, pool)

    @cached_property
    def floor(self) -> NDArray[np.int64]:
        """The least that a row loses in a group of each pattern or one after it, shape (P,)."""
        least = np.array([pays.min() for pays in self.pays], dtype=np.int64)
        return np.minimum.accumulate(least[::-1])[::-1].copy()

    @property
    def all_stars(self) -> int:
        """What a row loses that shows nothing."""
        return self.lattice.most

    def price_of_groups(self, p: int) -> NDArray[np.int64]:
        """What a row loses in each group of a pattern, the last group being that of all that can hold no row."""
        return np.broadcast_to(self.pays[p], (len(self.indptr[p]) - 1,))

    def load(self, p: int) -> NDArray[np.float32]:
        """How many rows of its group a row of each item of a pattern stands for; one number where it is l for all."""
        if self.k == 1:
            return np.full(1, self.l, dtype=np.float32)
        return np.maximum(self.l, self.k / self.most_rows[p]).astype(np.float32)

    def part(self, p: int) -> slice:
        """The items of a pattern among all."""
        return slice(int(self.offset[p]), int(self.offset[p + 1]))

    @cached_property
    def all_groups(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The groups of all patterns in one list: their items, and the group of each item."""
        indptr = np.concatenate([[0], *(x[1:] + o for x, o in zip(self.indptr, self.offset[:-1], strict=True))]).astype(np.int64)
        return indptr, np.repeat(np.arange(len(indptr) - 1, dtype=np.int32), np.diff(indptr))

    @cached_property
    def price_of_all(self) -> NDArray[np.int64]:
        """What a row loses in each group of all patterns."""
        return np.concatenate([self.price_of_groups(p) for p in range(len(self.patterns))])

    @cached_property
    def cells_by_group(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """For each pattern its cells in order of their items, shape (P, C); and for each group where its cells begin and end there."""
        cells = np.empty_like(self.item)
        bounds = []
        for p, item in enumerate(self.item):
            cells[p] = np.argsort(item, kind="stable")
            ends = np.concatenate([[0], np.cumsum(np.bincount(item, minlength=self.items[p]))])[self.indptr[p]]
            bounds.append(np.stack([ends[:-1], ends[1:]], axis=1))
        return cells, np.concatenate(bounds).astype(np.int64)

    def forget(self) -> None:
        """Lets go of what is large and can be made again."""
        self.__dict__.pop("cells_by_group", None)

    @cached_property
    def finer(self) -> NDArray[np.int8]:
        """finer[p, q]: pattern q shows all that p shows, and more."""
        level = self.lattice.levels(self.patterns)
        below = np.array([(level <= mine).all(axis=1) for mine in level])
        return np.ascontiguousarray(below & ~below.T, dtype=np.int8)

    @property
    def complete(self) -> bool:
        """Whether every pattern has multipliers."""
        return (len(self.patterns) if self.lattice.nodes else self.most) >= self.lattice.enough

    @property
    def others(self) -> bool:
        """Whether there are patterns without multipliers that are not left out: what they bring has to be subtracted from a bound."""
        return self.pool is not None and bool(self.pool.others)

    @cached_property
    def cap(self) -> int | NDArray[np.int64]:
        """What a row (of each cell) pays at the most, in units of 1 / SCALE star: a pattern that is left out has more than `most` stars, and no
        multipliers, so it costs at least what the cheapest most + 1 do; of nodes, what the row loses where it loses least of those left out."""
        if self.pool is not None:
            least = self.pool.cap()
            return NO_CAP if least is None else least * SCALE
        if self.most >= self.contingency.d - 1:
            return NO_CAP
        return int(np.sort(self.contingency.weights)[: self.most + 1].sum()) * SCALE

    @property
    def said(self) -> dict[str, Any]:
        """What prices say of what their bound is about."""
        return {} if self.pool is None else {**self.lattice.priced, "combinations": self.pool.numbers}

    def least(self, multipliers: Multipliers) -> NDArray[np.int64]:
        """The least that a row of each cell pays at these multipliers, in units of 1 / SCALE star. O(patterns * cells)."""
        return np.asarray(np.minimum(self.worth(multipliers), self.cap))

    def worth(self, multipliers: Multipliers) -> NDArray[np.int64]:
        """The same as far as patterns with multipliers go."""
        return _multipliers.cheapest(self.item, self.offset, self.costs(multipliers), NO_CAP)

    def bound(self, multipliers: Multipliers) -> int:
        """The stars that every release must have, proven by these multipliers: integers throughout, rounded up. O(patterns * cells).

        Only where no pattern without multipliers is looked at besides (:attr:`others`).
        """
        return max(0, -(-dot(self.rows, self.least(multipliers)) // SCALE))

    def costs(self, multipliers: Multipliers) -> NDArray[np.int64]:
        """What a row pays in each item at these multipliers, in units of 1 / SCALE star."""
        cost = np.empty(self.offset[-1], dtype=np.int64)
        for p, value in enumerate(multipliers.values):
            if len(value) != self.items[p] or (len(value) and value.min() < 0):
                raise ValueError(f"pattern {p} needs {self.items[p]} multipliers of at least 0")
            lengths = np.diff(self.indptr[p])
            worth = np.add.reduceat(value, self.indptr[p][:-1]) if len(value) else value
            pays = self.l * value
            if self.k > 1:  # rounded down, which keeps what is proven true
                kind = np.int64 if self.k * int(value.max(initial=0)) < 1 << 62 else object
                pays = np.maximum(pays, (value.astype(kind) * self.k // self.most_rows[p]).astype(np.int64))
            cost[self.part(p)] = pays + np.repeat(self.price_of_groups(p) * SCALE - worth, lengths)
            cost[self.offset[p + 1] - 1] = TOO_MUCH * SCALE
        return cost


def _apart(contingency: Contingency) -> Contingency:
    """The same cells, each with an SA value of its own."""
    c = contingency
    own = np.arange(len(c.count), dtype=np.int32)
    return Contingency._made(c.codes, c.indptr, own, c.count, c.domains, Domain("cell", max(len(own), 1)))
