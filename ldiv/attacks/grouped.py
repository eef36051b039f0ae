"""What attacks read of a release: its groups, the QI points in them, and how many rows of each have which SA value (the last is what is to be guessed)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

import ldiv._kernels.cells as _cells
from ldiv.arguments import shown
from ldiv.errors import InputError
from ldiv.table.contingency import Contingency

__all__ = ["Grouped", "Histograms", "entries_of", "histograms_of"]


class Grouped(Protocol):
    """A release of groups: :class:`ldiv.Release`, or what :func:`ldiv.anatomize` returns."""

    @property
    def contingency(self) -> Contingency: ...

    @property
    def indptr(self) -> NDArray[np.int64]: ...

    @property
    def cell(self) -> NDArray[np.int32]: ...

    @property
    def count(self) -> NDArray[np.int64]: ...


@dataclass(frozen=True)
class Histograms:
    """The SA values of each group, in CSR: group g has ``value[indptr[g] : indptr[g + 1]]``, ascending, so many rows each."""

    indptr: NDArray[np.int64]
    value: NDArray[np.int32]
    count: NDArray[np.int64]

    @property
    def size(self) -> NDArray[np.int64]:
        return np.add.reduceat(self.count, self.indptr[:-1]) if len(self.indptr) > 1 else np.zeros(0, dtype=np.int64)


def entries_of(release: Any) -> tuple[Contingency, NDArray[np.int64]]:
    """The table of a release, and the group of each of its entries.

    Raises
    ------
    InputError
        Something that has no groups of rows.
    """
    c = getattr(release, "contingency", None)
    if not isinstance(c, Contingency) or any(not isinstance(getattr(release, name, None), np.ndarray) for name in ("indptr", "cell", "count")):
        raise InputError(f"a release is needed, not {shown(release)} ({type(release).__name__})")
    return c, np.repeat(np.arange(len(release.indptr) - 1), np.diff(release.indptr))


def histograms_of(release: Any) -> Histograms:
    """How many rows of each SA value each group has: what a release publishes of them."""
    c, group = entries_of(release)
    key, number = np.unique(group * c.m + c.sensitive[release.cell], return_inverse=True)
    count = _cells.tally(number.ravel().astype(np.int32), len(key), release.count)
    return Histograms(np.searchsorted(key, np.arange(len(release.indptr)) * c.m).astype(np.int64), (key % c.m).astype(np.int32), count)
