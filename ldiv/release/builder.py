"""A release under construction, entry by entry."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ldiv.release.release import Release
from ldiv.table.contingency import Contingency

__all__ = ["Entries"]


class Entries:
    """Entries (group, cell, rows) of a release under construction; groups are numbered as they come."""

    def __init__(self) -> None:
        self.group: list[NDArray[np.int64]] = []
        self.cell: list[NDArray[np.int32]] = []
        self.count: list[NDArray[np.int64]] = []
        self.groups = 0

    def add(self, group: NDArray[np.integer], cell: NDArray[np.int32], count: NDArray[np.int64], groups: int) -> None:
        """Append entries whose groups are numbered from 0 to groups - 1."""
        used = count > 0
        self.group.append(group[used].astype(np.int64) + self.groups)
        self.cell.append(cell[used])
        self.count.append(count[used])
        self.groups += groups

    def release(self, contingency: Contingency, **about: object) -> Release:
        return Release.from_entries(
            contingency,
            np.concatenate(self.group),
            np.concatenate(self.cell),
            np.concatenate(self.count),
            **about,  # type: ignore[arg-type]
        )
