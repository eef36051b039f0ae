"""The result store: one small JSON file a cell, written atomically, found by inputs and sources. Failures are never stored."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from experiments.cells import Cell
from experiments.measure import MEASURES, SOURCES
from experiments.provenance import provenance
from experiments.sources import fingerprint
from ldiv.algorithms import get
from ldiv.table.files import atomic

__all__ = ["Store"]

ROOT = Path(__file__).parent / "results"


class Store:
    """Results by cell.

    Parameters
    ----------
    root : path
        Folder of the results; made when first written to.
    """

    def __init__(self, root: Path = ROOT) -> None:
        self.root = root
        self._memory: dict[Cell, dict[str, Any]] = {}

    def path(self, cell: Cell) -> Path:
        """Where a cell's result is or will be."""
        made = SOURCES.get(cell.table.dataset)
        solver = "ldiv.anatomy" if cell.algorithm == "anatomy" else get(cell.algorithm).solve.__module__  # two tables: in no registry
        modules = {solver, MEASURES[cell.measure].__module__, "experiments.measure"}
        modules |= {made.load.__module__} if made is not None else set()
        sources = fingerprint(*sorted(modules), *(made.files() if made is not None else ()))
        key = json.dumps([asdict(cell), sources], sort_keys=True)
        return self.root / cell.measure / f"{hashlib.sha256(key.encode()).hexdigest()[:24]}.json"

    def get(self, cell: Cell) -> dict[str, Any] | None:
        """The stored result, or None."""
        if cell not in self._memory:
            try:
                self._memory[cell] = json.loads(self.path(cell).read_text())["result"]
            except FileNotFoundError:
                return None
        return self._memory[cell]

    def record(self, cell: Cell) -> dict[str, Any] | None:
        """All that is stored of a cell, its provenance and the seconds it took included; None where it is not there."""
        try:
            return dict(json.loads(self.path(cell).read_text()))
        except FileNotFoundError:
            return None

    def put(self, cell: Cell, result: dict[str, Any], seconds: float | None = None) -> None:
        """Store a result, with the seconds it took; the file appears whole or not at all."""
        path = self.path(cell)
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic(path) as stream:
            record = {"cell": asdict(cell), "result": result, "seconds": seconds, "provenance": provenance()}
            stream.write(json.dumps(record, sort_keys=True).encode())

    def records(self) -> Iterator[dict[str, Any]]:
        """All that is stored, whatever sources made it: cell, result and provenance of each."""
        for path in sorted(self.root.rglob("*.json")):
            yield json.loads(path.read_text())
