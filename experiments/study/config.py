"""What a study compares, read from a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.cells import Cell, Table
from experiments.measure import SOURCES
from experiments.run import load
from experiments.study.measures import ANATOMY, COLUMNS, SEEDS, named
from ldiv.algorithms import get
from ldiv.arguments import hint
from ldiv.errors import InputError

__all__ = ["Study", "read"]

KNOWN = {"title", "tables", "algorithms", "l", "k", "seeds", "load", "jobs", "columns"}
OF_TABLE = {"name", "dataset", "rows", "qi", "sensitive"}


@dataclass(frozen=True)
class Study:
    """A study as its file describes it.

    Attributes
    ----------
    title : str
    tables : dict from name to Table
    algorithms : tuple of str
        Names of :func:`ldiv.list_algorithms`, and ``"anatomy"``.
    l, k, seeds : tuple of int
    load : tuple of str
        Modules that register algorithms or data sets of one's own.
    jobs : int
    columns : tuple of str
        The measures that its page begins with.
    """

    title: str
    tables: dict[str, Table]
    algorithms: tuple[str, ...]
    l: tuple[int, ...]
    k: tuple[int, ...]
    seeds: tuple[int, ...]
    load: tuple[str, ...]
    jobs: int
    columns: tuple[str, ...]

    def cells(self) -> list[Cell]:
        """Everything that is measured."""
        return [
            Cell(table, l, algorithm, named(seed), k)
            for table in self.tables.values()
            for l in self.l
            for k in self.k
            for algorithm in self.algorithms
            for seed in self.seeds
        ]


def read(path: Path) -> Study:
    """A study from its file.

    Raises
    ------
    InputError
        Naming the file, the key and what it may be.
    """
    try:
        found = tomllib.loads(path.read_text())
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: {error}") from error
    _only(path, found, KNOWN, "")
    modules = _list(path, found, "load", str, [])
    load(modules)
    tables = {}
    for number, entry in enumerate(found.get("tables", [])):
        where = f"tables[{number}]"
        _only(path, entry, OF_TABLE, where)
        lacking = OF_TABLE - entry.keys()
        if lacking:
            raise InputError(f"{path}: {where} lacks {', '.join(sorted(lacking))}")
        if entry["dataset"] not in SOURCES:
            raise InputError(f"{path}: {where}: no data set {entry['dataset']!r}; there are: {', '.join(SOURCES)}{hint(entry['dataset'], SOURCES)}")
        tables[entry["name"]] = Table(entry["dataset"], entry["rows"], tuple(entry["qi"]), entry["sensitive"])
    algorithms = _list(path, found, "algorithms", str, None)
    for name in algorithms:
        if name != ANATOMY:
            get(name)
    seeds = _list(path, found, "seeds", int, [0])
    if not tables:
        raise InputError(f"{path}: name at least one table, [[tables]]")
    if not set(seeds) <= set(range(SEEDS)):
        raise InputError(f"{path}: seeds must be from 0 to {SEEDS - 1}, not {seeds}")
    columns = _list(path, found, "columns", str, list(COLUMNS)[:8])
    for name in columns:
        if name not in COLUMNS:
            raise InputError(f"{path}: no measure {name!r}; there are: {', '.join(COLUMNS)}{hint(name, COLUMNS)}")
    return Study(
        str(found.get("title", path.stem)),
        tables,
        tuple(algorithms),
        tuple(_list(path, found, "l", int, None)),
        tuple(_list(path, found, "k", int, [1])),
        tuple(seeds),
        tuple(modules),
        int(found.get("jobs", 2)),
        tuple(columns),
    )


def _only(path: Path, found: Mapping[str, Any], known: set[str], where: str) -> None:
    for name in found:
        if name not in known:
            raise InputError(f"{path}: {where or 'the study'} has no {name!r}; it takes {', '.join(sorted(known))}{hint(name, known)}")


def _list(path: Path, found: Mapping[str, Any], name: str, kind: type, default: list[Any] | None) -> list[Any]:
    values = found.get(name, default)
    if not isinstance(values, list) or (default is None and not values) or any(type(x) is not kind for x in values):
        what = "whole numbers" if kind is int else "texts"
        raise InputError(f"{path}: {name} must be a list of {what}, not {values!r}")
    return values
