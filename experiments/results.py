"""Results as numbers: means over the projections of SAL-d or OCC-d, straight from the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.grid import Cell, Panel, Scale, tables
from experiments.store import Store

__all__ = ["NotRunError", "Results"]


class NotRunError(LookupError):
    """A cell that a figure or claim needs is not in the store."""


class Results:
    """The store, seen at one scale."""

    def __init__(self, store: Store, scale: Scale) -> None:
        self.store, self.scale = store, scale

    def of(self, cell: Cell) -> dict[str, Any]:
        """One cell's result."""
        result = self.store.get(cell)
        if result is None:
            raise NotRunError(f"not in the store: {cell}")
        return result

    def values(
        self, panel: Panel, field: str, algorithm: str, l: int, d: int, *, measure: str = "quality", n: int | None = None
    ) -> np.ndarray[Any, Any]:
        """A field over all projections on d attributes, in the order of the projections."""
        cells = (Cell(table, l, algorithm, measure) for table in tables(self.scale, panel, d, n))
        return np.array([self.of(cell)[field] for cell in cells])

    def mean(self, panel: Panel, field: str, algorithm: str, l: int, d: int, **more: Any) -> float:
        """The mean over the projections."""
        return float(self.values(panel, field, algorithm, l, d, **more).mean())

    def series(
        self, panel: Panel, field: str, algorithm: str, points: Sequence[tuple[int, int]], **more: Any
    ) -> list[float]:
        """Means at several (l, d)."""
        return [self.mean(panel, field, algorithm, l, d, **more) for l, d in points]
