"""A release under construction: entry by entry, or from groups of equal rows that stay whole."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.release.form import Subdomain
from ldiv.release.nodes import covered
from ldiv.release.recoding import boxes
from ldiv.release.release import Release
from ldiv.table.arrays import seal
from ldiv.table.contingency import Contingency
from ldiv.table.lattice import Lattice

__all__ = ["Entries", "merged"]


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

    def release(self, contingency: Contingency, lattice: Lattice | None = None, **about: Any) -> Release:
        """The release; along a lattice of nodes, each group showing the lowest ones above what it holds."""
        group, cell, count = np.concatenate(self.group), np.concatenate(self.cell), np.concatenate(self.count)
        seal(cell, count)
        if lattice is not None and lattice.nodes:
            about["published"], about["subdomains"] = covered(lattice, group, cell, self.groups)
        return Release.from_entries(contingency, group, cell, count, **about)

    def boxed(self, contingency: Contingency, nodes: bool, **about: Any) -> Release:
        """The release whose groups show the range, set or node of what they hold."""
        c = contingency
        if not self.groups:
            return Release.from_entries(c, c.group_of_cell, c.sensitive, c.count, **about)
        group, cell, count = np.concatenate(self.group), np.concatenate(self.cell), np.concatenate(self.count)
        published, subdomains = boxes(c, group, c.group_of_cell[cell], self.groups, nodes)
        return Release.from_entries(c, group, cell, count, published=published, subdomains=subdomains, **about)


def merged(
    contingency: Contingency,
    group: NDArray[np.int32],
    published: NDArray[np.int32],
    subdomains: list[list[Subdomain]],
    *,
    l: int,
    algorithm: str,
    info: dict[str, object] | None = None,
) -> Release:
    """A release whose QI-groups are unions of groups of equal rows.

    Parameters
    ----------
    group : ndarray of int32, shape (groups of equal rows,)
        The QI-group of each.
    published, subdomains
        As :meth:`~ldiv.Release.from_entries` takes them.
    """
    c = contingency
    cells = np.arange(len(c.count), dtype=np.int32)
    return Release.from_entries(
        c, group[c.group_of_cell], cells, c.count, l=l, algorithm=algorithm, published=published, subdomains=subdomains, info=info
    )
