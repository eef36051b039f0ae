"""What a study compares, read from a TOML file."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.cells import Cell, Table
from experiments.measure import SOURCES
from experiments.run import load
from experiments.study.measures import ANATOMY, COLUMNS, SEEDS, named
from ldiv.algorithms import get
from ldiv.arguments import hint
from ldiv.errors import InputError, LdivError
from ldiv.privacy.requirement import validate_k, validate_l

__all__ = ["Study", "read"]

KNOWN = {"title", "tables", "algorithms", "l", "k", "seeds", "load", "jobs", "columns"}
OF_TABLE = {"name": str, "dataset": str, "rows": int, "qi": list, "sensitive": str}
MAY = {"hierarchies": bool}  # along the data set's own, as experiments.measure.DataSet has them
KINDS = {str: "a text", int: "a whole number of at least 1", bool: "true or false", list: "a list of different texts"}


@dataclass(frozen=True)
class Study:
    """A study as its file describes it.

    Attributes
    ----------
    path : Path
        The file.
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

    path: Path
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
    entries = found.get("tables")
    if not isinstance(entries, list) or not entries or not all(isinstance(x, dict) for x in entries):
        raise InputError(f"{path}: name at least one table, [[tables]]")
    tables: dict[str, Table] = {}
    for number, entry in enumerate(entries):
        where = f"{path}: tables[{number}]"
        table = _table(path, where, entry)
        if entry["name"] in tables or table in tables.values():
            raise InputError(f"{where}: the table {entry['name']!r} is there already, or another name has the same rows and columns")
        tables[entry["name"]] = table
    algorithms = _list(path, found, "algorithms", str, None)
    for name in algorithms:
        _asked(path, "algorithms", get, name if name != ANATOMY else "auto")
    levels, sizes = _list(path, found, "l", int, None), _list(path, found, "k", int, [1])
    for value in levels:
        _asked(path, "l", validate_l, value)
    for value in sizes:
        _asked(path, "k", validate_k, value)
    seeds = _list(path, found, "seeds", int, [0])
    if not set(seeds) <= set(range(SEEDS)):
        raise InputError(f"{path}: seeds must be from 0 to {SEEDS - 1}, not {seeds}")
    columns = _list(path, found, "columns", str, list(COLUMNS)[:8])
    for name in columns:
        if name not in COLUMNS:
            raise InputError(f"{path}: no measure {name!r}; there are: {', '.join(COLUMNS)}{hint(name, COLUMNS)}")
    jobs = found.get("jobs", 2)
    if type(jobs) is not int or jobs < 1:
        raise InputError(f"{path}: jobs must be {KINDS[int]}, not {jobs!r}")
    title = found.get("title", path.stem)
    if type(title) is not str:
        raise InputError(f"{path}: title must be {KINDS[str]}, not {title!r}")
    return Study(
        path,
        title,
        tables,
        tuple(algorithms),
        tuple(levels),
        tuple(sizes),
        tuple(seeds),
        tuple(modules),
        jobs,
        tuple(columns),
    )


def _table(path: Path, where: str, entry: Mapping[str, Any]) -> Table:
    known = {**OF_TABLE, **MAY}
    _only(path, entry, known, where.removeprefix(f"{path}: "))
    lacking = OF_TABLE.keys() - entry.keys()
    if lacking:
        raise InputError(f"{where} lacks {', '.join(sorted(lacking))}")
    for name, value in entry.items():
        kind = known[name]
        texts = kind is not list or (value and all(type(x) is str for x in value) and len(set(value)) == len(value))
        if type(value) is not kind or not texts or (kind is int and value < 1):
            raise InputError(f"{where}: {name} must be {KINDS[kind]}, not {value!r}")
    source = entry["dataset"]
    if source not in SOURCES:
        raise InputError(f"{where}: no data set {source!r}; there are: {', '.join(SOURCES)}{hint(source, SOURCES)}")
    along = entry.get("hierarchies", False)
    if along and SOURCES[source].hierarchies is None:
        having = [name for name, made in SOURCES.items() if made.hierarchies is not None]
        raise InputError(f"{where}: hierarchies must be false, since the data set {source!r} has none; there are hierarchies of: {', '.join(having)}")
    return Table(source, entry["rows"], tuple(entry["qi"]), entry["sensitive"], along)


def _asked(path: Path, key: str, look: Callable[[Any], Any], value: Any) -> None:
    try:
        look(value)
    except LdivError as error:
        raise InputError(f"{path}: {key}: {error}") from error


def _only(path: Path, found: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    for name in found:
        if name not in known:
            raise InputError(f"{path}: {where or 'the study'} has no {name!r}; it takes {', '.join(sorted(known))}{hint(name, known)}")


def _list(path: Path, found: Mapping[str, Any], name: str, kind: type, default: list[Any] | None) -> list[Any]:
    values = found.get(name, default)
    if not isinstance(values, list) or (default is None and not values) or any(type(x) is not kind for x in values) or len(set(values)) < len(values):
        what = "different whole numbers" if kind is int else "different texts"
        raise InputError(f"{path}: {name} must be a list of {what}, not {values!r}")
    return values
