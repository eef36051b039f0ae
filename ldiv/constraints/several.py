"""Several sensitive attributes, each of them l-diverse in every group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ldiv._kernels.cells as _cells
from ldiv.errors import InputError, UnsafeReleaseError
from ldiv.privacy.principles import Frequency, Histograms, Principle
from ldiv.release.facts import after_merging
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency
from ldiv.table.domain import Domain
from ldiv.table.microdata import Microdata
from ldiv.table.ranking import rank_rows

GOLDEN = 0.6180339887498949  # multiples of it lie evenly between 0 and 1

__all__ = ["Component", "check_each", "joined", "spread"]


@dataclass(frozen=True, eq=False)
class Component(Principle):
    """A principle in one of the sensitive attributes that a joint one is made of: `code` gives its code for each joint code."""

    name: str
    code: NDArray[np.int32]
    ordered: bool
    principle: Principle
    joint = True

    def __post_init__(self) -> None:  # its parameters are those of the principle, which has looked at them
        pass

    def of(self, groups: Histograms) -> Histograms:
        """The histograms of this attribute alone."""
        number = np.repeat(np.arange(len(groups.indptr) - 1, dtype=np.int32), np.diff(groups.indptr))
        size = int(self.code.max(initial=0)) + 1
        rank, first, bounds = rank_rows([number, self.code[groups.sensitive]], [max(len(groups.indptr) - 1, 1), size], split=True)
        count = _cells.tally(rank, len(first), groups.count)
        whole = _cells.tally(self.code, size, groups.total)
        return replace(groups, indptr=bounds, sensitive=self.code[groups.sensitive[first]], count=count, total=whole, ordered=self.ordered)

    def holds(self, groups: Histograms) -> NDArray[np.bool_]:
        return self.principle.holds(self.of(groups))

    def level(self, groups: Histograms) -> NDArray[Any]:
        return self.principle.level(self.of(groups))

    def __str__(self) -> str:
        kind = f"{self.principle.l}-diversity" if isinstance(self.principle, Frequency) else str(self.principle)
        return f"{kind} of {self.name!r}"


def joined(parts: Sequence[Microdata]) -> tuple[Microdata, list[NDArray[np.int32]]]:
    """Tables that differ in their sensitive attribute as one with all of them together, and for each the code behind every joint code."""
    names = [data.sensitive_domain.name for data in parts]
    if len(set(names)) < len(names):
        raise InputError("a sensitive column is named twice")
    if any(not np.array_equal(data.narrow, parts[0].narrow) for data in parts[1:]):
        raise InputError("several sensitive columns must belong to the same rows, with the same quasi-identifiers")
    rank, first, _ = rank_rows([data.sensitive for data in parts], [data.m for data in parts])
    codes = [data.sensitive[first] for data in parts]
    labels = [tuple(data.sensitive_domain.label(int(code[k])) for data, code in zip(parts, codes, strict=True)) for k in range(len(first))]
    domain = Domain(" and ".join(map(str, names)), max(len(first), 1), labels)
    return parts[0].with_sensitive(rank, domain), codes


def spread(release: Release, joint: Contingency, code: NDArray[np.int32]) -> Release:
    """The release of the first sensitive attribute as one of the joint one: which of the rows alike in the first go where.

    Whatever the order of rows: those of a cell are taken in an order in which each joint code comes evenly often, each first value from another place
    on, so that what a group gets is a sample of the cell. O(n log n).
    """
    c = release.contingency
    first = code[joint.sensitive]  # of each joint cell
    mine = np.searchsorted(c.group_of_cell * np.int64(c.m) + c.sensitive, joint.group_of_cell * np.int64(c.m) + first).astype(np.int32)
    cell = np.repeat(np.arange(len(joint.count), dtype=np.int32), joint.count)
    turn = np.arange(len(cell)) - np.repeat(np.cumsum(joint.count) - joint.count, joint.count)
    even = ((turn + 0.5) / joint.count[cell] + first[cell] * GOLDEN) % 1.0
    row = np.lexsort((cell, even, mine[cell]))
    group = np.repeat(np.arange(release.groups, dtype=np.int32), np.diff(release.indptr))
    order = np.argsort(release.cell, kind="stable")
    return Release.from_entries(
        joint,
        np.repeat(group[order], release.count[order]),
        cell[row],
        np.ones(len(cell), dtype=np.int64),
        l=release.l,
        algorithm=release.algorithm,
        k=release.k,
        info=after_merging(release.info),
        published=release.published,
        subdomains=release.subdomains,
    )


def check_each(release: Release, l: int, names: Sequence[str], codes: Sequence[NDArray[np.int32]]) -> None:
    """What is promised, checked once more for each attribute by itself."""
    group = np.repeat(np.arange(release.groups, dtype=np.int32), np.diff(release.indptr))
    for name, code in zip(names, codes, strict=True):
        target = code[release.contingency.sensitive[release.cell]]
        rank, first, _ = rank_rows([group, target], [max(release.groups, 1), int(code.max(initial=0)) + 1])
        tops = np.zeros(release.groups, dtype=np.int64)
        np.maximum.at(tops, group[first], _cells.tally(rank, len(first), release.count))
        if (release.group_sizes // l < tops).any():
            raise UnsafeReleaseError(f"{release.algorithm}: a group is not {l}-diverse in {name!r}")
