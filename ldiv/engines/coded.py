"""Combinations of values that stay in an engine, as cells of codes: each column's values are few, and get their codes here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.asking import Asked
from ldiv.engines.sql import Dialect
from ldiv.table.domain import NO_SENSITIVE, Domain
from ldiv.table.frames import Source, open_frame

__all__ = ["Coded", "Column", "values_of"]

ONE = "ldiv one"  # a column of one value


@dataclass(frozen=True)
class Column:
    """The values of a column and their codes.

    Attributes
    ----------
    table : pyarrow.Table
        Each distinct value once, as the source has it.
    source : Source
        The same, coarsened, as a table of one row a value.
    code : ndarray of int32
        Of each value; several values may be one.
    domain : Domain
    """

    table: Any
    source: Source
    code: NDArray[np.int32]
    domain: Domain

    @property
    def own(self) -> Any:
        """The values."""
        return self.table.column(0)

    @property
    def texts(self) -> list[str | None]:
        """What each of them shows."""
        code = self.source.encode(self.table.column_names[0])[0]
        text = self.source.texts(self.table.column_names[0], code)
        return [text[x] for x in code.tolist()]

    @cached_property
    def first(self) -> NDArray[np.int64]:
        """A value of each code."""
        first = np.zeros(max(self.domain.size, int(self.code.max(initial=0)) + 1), dtype=np.int64)
        first[self.code[::-1]] = np.arange(len(self.code))[::-1]
        return first


def values_of(worker: Any, names: Sequence[str]) -> Any:
    """All values of each column; shorter columns go on with a value that they had."""
    import pyarrow as pa

    found = {name: worker.ask(f"SELECT DISTINCT {worker.dialect.name(name)} FROM {worker.combinations}").column(0).combine_chunks() for name in names}
    most = max(map(len, found.values()))
    return pa.table({name: column.take(pa.array(np.minimum(np.arange(most), len(column) - 1))) for name, column in found.items()})


class Coded:
    """A table whose combinations are in an engine, as cells of codes, with what phase one keeps of each.

    Parameters
    ----------
    worker : an engine
        With its combinations counted.
    """

    def __init__(self, worker: Any, asked: Asked, qi: list[str], targets: list[str]) -> None:
        self.worker, self.asked, self.qi, self.targets = worker, asked, qi, targets
        self.dialect: Dialect = worker.dialect
        self.names = [*qi, *targets]
        self.columns = {name: self._column(name) for name in self.names}
        self.q = [f"q{j}" for j in range(len(qi))]
        self.keys = ", ".join(self.q)
        for at, name in enumerate(self.names):
            self._take_codes(at, self.columns[name])
        self._cells()

    # -- codes ---------------------------------------------------------------------------------------------------------

    def _column(self, name: str) -> Column:
        import pyarrow as pa

        column, rows = self.dialect.name(name), self.dialect.name("ldiv rows")
        few = self.worker.ask(f"SELECT count(*) FROM (SELECT DISTINCT {column} FROM {self.worker.combinations}) t").column(0)[0].as_py()
        self.worker.room.require(few, f"values of {name!r}", "or coarsen it")
        found = self.worker.ask(f"SELECT {column}, CAST(sum({rows}) AS BIGINT) AS n FROM {self.worker.combinations} GROUP BY {column}")
        counts = found.column(1).to_numpy().astype(np.int64)
        table = pa.table({name: found.column(0).combine_chunks(), ONE: np.zeros(len(counts), dtype=np.int8)})
        role = [name, ONE] if name in self.qi else [ONE, name]

        def only(given: Any) -> Any:
            return {x: y for x, y in given.items() if x == name} or None if given else None

        asked = replace(
            self.asked,
            qi=[role[0]],
            sensitive=role[1],
            l=self.asked.l or 1,
            domains=only(self.asked.domains),
            weights=only(self.asked.weights) if name in self.qi else None,
            coarsen=only(self.asked.coarsen),
            hierarchies=only(self.asked.hierarchies),
            drop=(),
        )
        source = asked.coarsened(open_frame(table), counts)
        data = asked.microdata(source, role[1], counts)
        code, domain = (data.narrow[:, 0].astype(np.int32), data.domains[0]) if name in self.qi else (data.sensitive, data.sensitive_domain)
        return Column(table.select([name]), source, np.ascontiguousarray(code), domain)

    def _take_codes(self, at: int, column: Column) -> None:
        import pyarrow as pa

        self.worker.take(f"ldiv codes {at}", pa.table({"own": column.own, "code": pa.array(column.code)}))

    def coded(self) -> str:
        """Combinations joined with their codes: what a query's FROM takes."""
        name = self.dialect.name
        joins = [f"JOIN {name(f'ldiv codes {at}')} k{at} ON c.{name(x)} {self.dialect.same} k{at}.own" for at, x in enumerate(self.names)]
        return f"{self.worker.combinations} c {' '.join(joins)}"

    @property
    def codes(self) -> list[str]:
        """The codes of a combination, and the names under which cells have them."""
        return [*(f"k{j}.code" for j in range(len(self.qi))), f"k{len(self.qi)}.code" if self.targets else "0"]

    # -- phase one -----------------------------------------------------------------------------------------------------

    def _cells(self) -> None:
        """Cells with what phase one keeps of them: with falling counts n(1), n(2), ... of a group and tails t(i) = n(i) + n(i+1) + ... the cut is
        min(n(1), min of t(i) // (l - i + 1) for i = 1..l), none with fewer than l values; a group that keeps fewer than k rows keeps none."""
        l, k, keys = self.asked.l or 1, self.asked.k, self.keys
        rows = self.dialect.name("ldiv rows")
        listed = ", ".join(f"{code} AS {name}" for code, name in zip(self.codes, [*self.q, "s"], strict=True))
        grouped = ", ".join(code for code in self.codes if code != "0")
        cells = f"SELECT {listed}, CAST(sum(c.{rows}) AS BIGINT) AS n FROM {self.coded()} GROUP BY {grouped}"
        falling = f"PARTITION BY {keys} ORDER BY n DESC, s"
        tails = (
            f"SELECT {keys}, s, n, row_number() OVER ({falling}) AS place, count(*) OVER (PARTITION BY {keys}) AS many, max(n) OVER (PARTITION BY {keys}) AS top, "
            f"CAST(sum(n) OVER ({falling} ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS BIGINT) AS tail FROM ({cells}) t"
        )
        least = f"min(CASE WHEN place <= {l} THEN tail {self.dialect.quotient} ({l} - place + 1) END) OVER (PARTITION BY {keys})"
        cut = f"SELECT {keys}, s, n, CASE WHEN many < {l} THEN 0 ELSE least(top, {least}) END AS cut FROM ({tails}) t"
        sizes = f"SELECT {keys}, s, n, cut, CAST(sum(least(n, cut)) OVER (PARTITION BY {keys}) AS BIGINT) AS size FROM ({cut}) t"
        none = f"size < {k}"
        self.worker.make(
            "ldiv cells",
            f"SELECT {keys}, s, n, CASE WHEN {none} THEN 0 ELSE least(n, cut) END AS kept, CASE WHEN {none} THEN 0 ELSE size END AS size, "
            f"CASE WHEN {none} THEN 0 ELSE cut END AS height FROM ({sizes}) t",
        )

    @cached_property
    def sensitive_domain(self) -> Domain:
        return self.columns[self.targets[0]].domain if self.targets else NO_SENSITIVE

    @property
    def domains(self) -> tuple[Domain, ...]:
        return tuple(self.columns[name].domain for name in self.qi)

    def _cells_table(self) -> str:
        return self.dialect.name("ldiv cells")

    @cached_property
    def histograms(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows by sensitive value, of the table and of R."""
        found = self.worker.ask(f"SELECT s, CAST(sum(n) AS BIGINT) AS n, CAST(sum(n - kept) AS BIGINT) AS r FROM {self._cells_table()} GROUP BY s")
        whole, residue = (np.zeros(self.sensitive_domain.size, dtype=np.int64) for _ in range(2))
        place = found.column(0).to_numpy()
        whole[place], residue[place] = found.column(1).to_numpy(), found.column(2).to_numpy()
        return whole, residue
