"""Rows of one person: who the rows belong to, and how many persons share a sensitive value in each group.

A person with several rows counts once for each value that its rows hold, and once for the size of a group.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ldiv._kernels.cells as _cells
from ldiv.arguments import shown
from ldiv.errors import InputError, MissingColumnError
from ldiv.table.contingency import Contingency
from ldiv.table.frames import named, open_frame
from ldiv.table.microdata import Microdata
from ldiv.table.ranking import rank_rows

__all__ = ["Counted", "Persons", "persons_of"]


@dataclass(frozen=True, eq=False)
class Persons:
    """Which person each row belongs to.

    Attributes
    ----------
    name : object
        The column that says so.
    code : ndarray of int32, shape (n,)
        A number for each row, 0 .. count - 1, all of them used.
    count : int
    """

    name: Any
    code: NDArray[np.int32]
    count: int

    @property
    def with_several_rows(self) -> int:
        """Persons with more than one row."""
        return int((np.bincount(self.code, minlength=self.count) > 1).sum())

    def having(self, sensitive: NDArray[np.int32], m: int) -> NDArray[np.int64]:
        """How many persons have a row with each sensitive value, shape (m,)."""
        _, first, _ = rank_rows([sensitive, self.code], [m, max(self.count, 1)])
        return _cells.tally(sensitive[first], m)

    def counted(self, c: Contingency) -> Counted:
        """The persons of each group of equal QI values and how many of them share each sensitive value; O(n)."""
        if c.cell_of_row is None:
            raise InputError("unit= names a column, and counts have no rows: give a table")
        number = c.group_of_cell[c.cell_of_row].astype(np.int32)
        return Counted.of(number, c.groups, self, c.sensitive[c.cell_of_row], c.m)


@dataclass(frozen=True, eq=False)
class Counted:
    """Persons in groups: group g has ``size[g]`` of them, and the values ``sensitive[indptr[g]:indptr[g + 1]]``, each with ``count`` of them."""

    size: NDArray[np.int64]
    indptr: NDArray[np.int64]
    sensitive: NDArray[np.int32]
    count: NDArray[np.int64]

    @classmethod
    def of(cls, group: NDArray[np.int32], groups: int, persons: Persons, sensitive: NDArray[np.int32], m: int) -> Counted:
        """From the group, person and sensitive value of each row."""
        many = max(persons.count, 1)
        _, alone, _ = rank_rows([group, persons.code], [max(groups, 1), many])
        _, once, _ = rank_rows([group, sensitive, persons.code], [max(groups, 1), m, many])
        rank, first, bounds = rank_rows([group[once], sensitive[once]], [max(groups, 1), m], split=True)
        size = _cells.tally(group[alone], max(groups, 1))[:groups]
        return cls(size, bounds, sensitive[once][first], _cells.tally(rank, len(first)))

    def heights(self, m: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """In each group the most persons with one value, and that value."""
        _, height, pillar = _cells.heights(self.indptr, self.sensitive, self.count, m)
        return height, pillar


def persons_of(frame: Any, unit: Any, others: Any = ()) -> Persons:
    """Read the column that says whose a row is; persons that have been read are taken as they are.

    Raises
    ------
    InputError
        No such column, several, one of `others`, missing values in it, or a table that is codes already.
    """
    if isinstance(unit, Persons):
        return unit
    if isinstance(frame, (Microdata, Contingency)):
        raise InputError("unit= names a column of a table, and codes have none: give the table")
    source = open_frame(frame)
    names = named(unit, source.columns, "unit")
    if len(names) != 1:
        raise InputError(f"unit must be one column, the one that says whose a row is, not {shown(unit)}")
    if names[0] not in source.columns:
        raise InputError(f"unit: {MissingColumnError(names[0], source.columns)}")
    if names[0] in others:
        raise InputError(f"unit: column {names[0]!r} cannot be a quasi-identifier or sensitive: it says whose a row is")
    code, domain = Microdata.read_sensitive(source, names[0], role="unit")
    _, first, _ = rank_rows([code], [domain.size])
    return Persons(names[0], code, len(first))
