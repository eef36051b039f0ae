"""The result store: one small JSON file a cell, written atomically, found by inputs and sources. Failures are never stored."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from experiments.cells import Cell
from experiments.sources import fingerprint
from ldiv.algorithms import get
from ldiv.files import atomic

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
        sources = fingerprint(get(cell.algorithm).solve.__module__, "experiments.measure")
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

    def put(self, cell: Cell, result: dict[str, Any]) -> None:
        """Store a result; the file appears whole or not at all."""
        path = self.path(cell)
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic(path) as stream:
            stream.write(json.dumps({"cell": asdict(cell), "result": result}, sort_keys=True).encode())
