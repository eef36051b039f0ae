"""Results as numbers: means over the projections of SAL-d or OCC-d, straight from the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.cells import Cell
from experiments.grid import Panel, Scale, tables
from experiments.store import Store

__all__ = ["SAMPLED", "NotRunError", "Point", "Results"]

Point = tuple[int, int, int | None]  # l, d, n (None: all rows)


SAMPLED = ("seconds", "nearness")  # measures taken on `timed` of the projections


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
        """A field over the projections on d attributes (all, or those that are timed), in their order."""
        limit = self.scale.timed if measure in SAMPLED else None
        chosen = tables(self.scale, panel, d, n, limit)
        return np.array([self.of(Cell(table, l, algorithm, measure))[field] for table in chosen])

    def mean(self, panel: Panel, field: str, algorithm: str, point: Point, **more: Any) -> float:
        """The mean over the projections at a point."""
        l, d, n = point
        return float(self.values(panel, field, algorithm, l, d, n=n, **more).mean())

    def series(self, panel: Panel, field: str, algorithm: str, points: Sequence[Point], **more: Any) -> list[float]:
        """Means at several points."""
        return [self.mean(panel, field, algorithm, point, **more) for point in points]
