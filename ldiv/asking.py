"""What is asked of a release, taken apart once: the same for tables in memory and for those that an engine counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.algorithms import Algorithm, get, list_algorithms
from ldiv.arguments import shown
from ldiv.constraints import compose, compose_persons
from ldiv.constraints.several import joined
from ldiv.errors import InputError, MissingColumnError
from ldiv.privacy.persons import Persons, persons_of
from ldiv.privacy.requirement import asked
from ldiv.release.decoding import refuse_nodes_like_values
from ldiv.release.publish import publish
from ldiv.release.release import Release
from ldiv.table.coarsening import Bins, coarsen
from ldiv.table.counted import Counted
from ldiv.table.files import decide_all
from ldiv.table.frames import Source, named, open_frame
from ldiv.table.microdata import Microdata

__all__ = ["DEFAULT_ALGORITHM", "Asked", "solved"]

DEFAULT_ALGORITHM = "auto"


@dataclass(frozen=True)
class Asked:
    """The arguments of :func:`ldiv.anonymize` but for the table, looked at as far as that can be done without one."""

    qi: Any
    sensitive: Any = None
    l: Any = None
    k: Any = 1
    algorithm: str = DEFAULT_ALGORITHM
    star: str | None = "*"
    domains: Mapping[str, Any] | None = None
    seed: int | None = None
    missing: str | Mapping[str, str] | None = None
    weights: Mapping[str, int] | None = None
    coarsen: Mapping[str, int | Bins] | None = None
    hierarchies: Mapping[str, Any] | None = None
    order: str = "keep"
    shuffle: bool = False
    drop: Any = ()
    only_named: bool = False
    star_is_null: bool = False
    unit: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        l, k = asked(self.sensitive is not None, self.l, self.k)
        for name in ("domains", "weights", "coarsen", "hierarchies"):
            given = getattr(self, name)
            if given is not None and not isinstance(given, Mapping):
                raise InputError(f"{name} must be a mapping from column to what it takes, not {shown(given)} ({type(given).__name__})")
        for name in ("shuffle", "only_named", "star_is_null"):
            flag = getattr(self, name)
            if not isinstance(flag, (bool, np.bool_)):
                raise InputError(f"{name} must be True or False, not {shown(flag)}")
        self.__dict__.update(l=l, k=k)

    @property
    def solver(self) -> Algorithm:
        return get(self.algorithm)

    def targets(self, columns: Sequence[Any]) -> list[Any]:
        """The sensitive columns."""
        found = [] if self.sensitive is None else named(self.sensitive, columns, "sensitive")
        if not found and self.sensitive is not None:
            raise InputError("sensitive is empty: name at least one sensitive column")
        return found

    def coarsened(self, original: Source, counts: NDArray[np.int64] | None = None) -> Source:
        """The table as it is solved; of combinations that stand for `counts` rows each, where these are given."""
        source = open_frame(coarsen(original, self.coarsen, self.hierarchies, counts=counts)) if self.coarsen else original
        for name in self.hierarchies or {}:
            if name not in source.columns:
                raise InputError(f"hierarchies: {MissingColumnError(name, source.columns)}")
        return source

    def microdata(self, source: Source, name: Any, counts: NDArray[np.int64] | None = None) -> Microdata:
        """The table with one of its sensitive columns, or none."""
        data: Microdata
        if counts is None:
            data = Microdata.from_frame(source, self.qi, name, domains=self.domains, missing=self.missing, keep=False)
        else:
            data = Counted.from_counts(source, counts, self.qi, name, domains=self.domains, missing=self.missing)
        trees = {column: tree for column, tree in (self.hierarchies or {}).items() if column not in (self.coarsen or {})}
        data = data.with_hierarchies(trees)
        for domain in data.domains:
            if domain.name in trees:
                refuse_nodes_like_values(domain)
        return data.weighted(self.weights) if self.weights else data

    @property
    def solver_options(self) -> dict[str, Any]:
        """The algorithm's options, along hierarchies where it is given some.

        Raises
        ------
        InputError
            Hierarchies for an algorithm that publishes values and stars only.
        """
        trees = [column for column in self.hierarchies or {} if column not in (self.coarsen or {})]
        nodes = {"nodes": True} if trees and self.solver.generalises else {}
        if trees and not nodes and self.solver.suppression:
            raise InputError(
                f"hierarchies: algorithm {self.algorithm!r} publishes values and stars only; publish columns on a level of theirs by coarsen=, or choose one of "
                f"{', '.join(repr(name) for name, x in list_algorithms().items() if x.generalises or not x.suppression)}"
            )
        return {**nodes, **self.options, "k": self.k, "seed": self.seed}

    def solve(self, tables: Sequence[Microdata], persons: Persons | None = None) -> Release:
        """The verified release of the rows, given once for each sensitive column."""
        if persons is not None:
            release = compose_persons(tables, persons, self.l, self.solver, **self.solver_options)
        else:
            release = compose(tables, self.l, self.solver, **self.solver_options)
        return release.drawn(self.seed)

    def with_numbers(self, table: Any, decimal: str = ".") -> Asked:
        """What is asked of a table of texts, in which some columns hold numbers: their values are in the order of numbers."""
        names = [*named(self.qi, table.column_names, "qi"), *self.targets(table.column_names)]
        kinds = decide_all(table, [name for name in names if name not in (self.coarsen or {})], decimal=decimal)
        return replace(self, domains={**{x.name: x.domain for x in kinds.values() if x.domain is not None}, **(self.domains or {})})

    def anonymize(self, frame: Any) -> Release:
        """The release of a table in memory, with the table that is published."""
        original = open_frame(frame)
        source = self.coarsened(original)
        targets = self.targets(source.columns)
        self.solver_options  # noqa: B018  what cannot be meant is said before any column is read
        persons = None
        if self.unit is not None:
            persons = persons_of(source, self.unit, [*named(self.qi, source.columns, "qi"), *targets])
        release = self.solve([self.microdata(source, name) for name in targets or [None]], persons)
        return publish(
            release,
            source,
            frame,
            targets,
            star=self.star,
            order="random" if self.shuffle else self.order,
            drop=named(self.drop, source.columns, "drop"),
            only_named=self.only_named,
            star_is_null=self.star_is_null,
            hierarchies=self.hierarchies,
            persons=persons,
        )


def solved(tables: Sequence[Microdata]) -> Microdata:
    """The table whose cells a release of several sensitive columns is about."""
    return joined(tables)[0] if len(tables) > 1 else tables[0]
