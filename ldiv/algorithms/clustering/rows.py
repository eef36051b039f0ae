"""What clustering algorithms share: the rows not yet taken, and clusters of which each is l-eligible and leaves an l-eligible rest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import ldiv._kernels.clusters as _clusters
from ldiv.release.builder import Entries
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency

__all__ = ["UNIT", "Rows"]

UNIT = 1_000_000  # the distance across a whole domain


class Rows:
    """The rows of a table that no cluster has yet, and the clusters so far, all on cells.

    A cluster is made of sets of at least l rows with different SA values, as many as hold k rows: l-eligible by construction. A value that would be
    too frequent among the rest without being taken is taken (as in Hilbert's grouping), so the rest is l-eligible after every set. Rows alike are
    interchangeable: a cluster that can be had several times over is, at once.
    """

    def __init__(self, c: Contingency, l: int, k: int) -> None:
        self.c, self.l = c, l
        self.sets = max(1, -(-k // l))
        self.least = self.sets * l
        seen, numbers = zip(*(np.unique(column, return_inverse=True) for column in c.codes.T), strict=True)
        self.seen: tuple[NDArray[np.int32], ...] = seen
        self.numbers = np.stack(numbers, axis=1).astype(np.int32)
        self.offset = np.cumsum([0, *map(len, seen)]).astype(np.int64)
        self.left = c.count.copy()
        self.rows = c.n
        self.of_value = c.histogram.copy()
        self.points = np.arange(c.groups, dtype=np.int32)
        self.spent = 0
        self.clusters: list[dict[int, int]] = []  # rows of each cell
        self.times: list[int] = []

    def _find(self, kernel: Callable[..., int], table: NDArray[np.int64], allowed: NDArray[np.int8]) -> int:
        c = self.c
        return int(kernel(self.numbers, self.points, c.indptr, c.sensitive, self.left, allowed, self.offset, table))

    def nearest(self, table: NDArray[np.int64], allowed: NDArray[np.int8]) -> int:
        """The nearest cell with a row left of an allowed value, -1 for none; `table` has the distance of each value seen, attribute after attribute."""
        return self._find(_clusters.nearest, table, allowed)

    def farthest(self, table: NDArray[np.int64]) -> int:
        """The farthest cell from which a cluster may start."""
        return self._find(_clusters.farthest, table, self.starters())

    def due(self) -> NDArray[np.bool_]:
        """The values that the next set must take, for the rest to stay l-eligible."""
        top = int(self.of_value.max())
        return np.asarray(self.of_value == top) if top > (self.rows - self.l) // self.l else np.zeros(self.c.m, dtype=bool)

    def starters(self) -> NDArray[np.int8]:
        """The values that may be the first of a set."""
        due = self.due()
        return (due if int(due.sum()) >= self.l else self.of_value > 0).astype(np.int8)

    def numbers_of(self, cell: int) -> NDArray[np.int32]:
        """The QI values of a cell, numbered among those seen."""
        return np.asarray(self.numbers[self.c.group_of_cell[cell]])

    def cluster(self, first: int, table_of: Callable[[NDArray[np.int32]], NDArray[np.int64]], sets: int | None = None) -> None:
        """Take a cluster around a cell, and as many like it as there are.

        Parameters
        ----------
        first : int
            A cell of a value that :meth:`starters` allow.
        table_of : callable
            From the QI values of the row just taken to the table of distances for the next.
        sets : int, optional
            How many sets it is made of; default: as many as hold k rows.
        """
        taken: dict[int, int] = {}
        table = np.zeros(self.offset[-1], dtype=np.int64)
        for _ in range(sets or self.sets):
            if self.rows < 2 * self.l:
                self._take_all(taken)
                break
            due, open_ = self.due(), self.of_value > 0
            free = max(self.l - int(due.sum()), 0)
            while free > 0 or due.any():
                cell = first if first >= 0 else self.nearest(table, (open_ if free > 0 else due & open_).astype(np.int8))
                first = -1
                value = int(self.c.sensitive[cell])
                free -= not due[value]
                due[value] = open_[value] = False
                table = self._take(cell, taken, table_of)
        self._repeat(taken)

    def rest(self) -> None:
        """Take all rows that are left as one cluster; where they are too few for one, they join the last."""
        taken: dict[int, int] = {}
        few = self.rows < self.least
        self._take_all(taken)
        if few and self.clusters and taken:
            self.join(len(self.clusters) - 1, taken)
        elif taken:
            self.clusters.append(taken)
            self.times.append(1)

    def join(self, number: int, taken: dict[int, int]) -> None:
        """Put rows of cells into a cluster, and with it into those like it."""
        whole = {cell: rows * self.times[number] for cell, rows in self.clusters[number].items()}
        for cell, rows in taken.items():
            whole[cell] = whole.get(cell, 0) + rows
        self.clusters[number], self.times[number] = whole, 1

    def _take_all(self, taken: dict[int, int]) -> None:
        for cell in np.flatnonzero(self.left).tolist():
            taken[cell] = taken.get(cell, 0) + int(self.left[cell])
        self.left[:], self.of_value[:], self.rows = 0, 0, 0

    def _put(self, cell: int, rows: int) -> None:
        self.left[cell] += rows
        self.of_value[self.c.sensitive[cell]] += rows
        self.rows += rows

    def _take(self, cell: int, taken: dict[int, int], table_of: Callable[[NDArray[np.int32]], NDArray[np.int64]]) -> NDArray[np.int64]:
        self._put(cell, -1)
        taken[cell] = taken.get(cell, 0) + 1
        self.spent += not self.left[cell]
        if 8 * self.spent > len(self.points):
            self.spent = 0
            group = self.c.group_of_cell[np.flatnonzero(self.left)]
            self.points = np.ascontiguousarray(group[np.diff(group, prepend=-1) > 0])
        return table_of(self.numbers_of(cell))

    def _repeat(self, taken: dict[int, int]) -> None:
        """Take as many clusters alike as cells have rows for, while the rest stays l-eligible."""
        cells = list(taken)
        rows = np.array([taken[cell] for cell in cells], dtype=np.int64)
        more = int((self.left[cells] // rows).min()) if self.rows else 0
        if more:
            mine = np.zeros(self.c.m, dtype=np.int64)
            np.add.at(mine, self.c.sensitive[cells], rows)
            size = int(rows.sum())
            # l (left_v - x mine_v) <= left - x size for every v, i.e. x (size - l mine_v) <= left - l left_v
            for v in np.flatnonzero(self.of_value).tolist():
                spare, slack = size - self.l * int(mine[v]), self.rows - self.l * int(self.of_value[v])
                if spare > 0:
                    more = min(more, slack // spare)
        if more > 0:
            self.left[cells] -= more * rows
            np.subtract.at(self.of_value, self.c.sensitive[cells], more * rows)
            self.rows -= more * int(rows.sum())
            self.spent += int((self.left[cells] == 0).sum())
        self.clusters.append(taken)
        self.times.append(1 + max(more, 0))

    def release(self, algorithm: str, nodes: bool, k: int) -> Release:
        """What the clusters publish: of each attribute the range, set or node of what they hold."""
        c, entries = self.c, Entries()
        for taken, times in zip(self.clusters, self.times, strict=True):
            cells = np.array(list(taken), dtype=np.int32)
            entries.add(np.zeros(len(cells), np.int64), cells, times * np.array(list(taken.values()), dtype=np.int64), 1)
        return entries.boxed(c, nodes, l=self.l, k=k, algorithm=algorithm)
