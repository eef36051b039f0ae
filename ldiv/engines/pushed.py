"""Phase one inside the engine, where there are more combinations of values than the process that solves can hold.

Each column's values are few, and get their codes here; combinations become cells of codes in the engine, which cuts every group to its eligible height by one
query over windows. What that takes out of the groups, R, comes here with its histogram, and the algorithms go on with it. Where R is not l-eligible by
itself, groups from which phase two may take rows come too, as many as it asks for.
"""

from __future__ import annotations

from collections.abc import Sequence, Sized
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.algorithms.pushed import BY_RESIDUE, MoreGroupsError, first_order, release_of_part
from ldiv.asking import Asked
from ldiv.engines.coded import Coded, Column
from ldiv.engines.plan import KEEP, Counts, Plan, planned
from ldiv.engines.room import TooManyError
from ldiv.privacy.requirement import require_eligible
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency
from ldiv.table.counted import Counted

__all__ = ["Pushed", "can_push"]

FIRST = 64  # groups of each value that are fetched for phase two at first


def can_push(asked: Asked, targets: Sequence[str]) -> bool:
    """Whether the release needs only what phase one takes out of its groups."""
    options = {name for name, given in asked.options.items() if name != "threads" and _said(given)}
    trees = [name for name in asked.hierarchies or {} if name not in (asked.coarsen or {})]
    return asked.algorithm in BY_RESIDUE and len(targets) <= 1 and not options and not trees


def _said(given: Any) -> bool:
    """Whether an option asks for anything: none, no and an empty list do not."""
    return given is not None and given is not False and not (isinstance(given, Sized) and not len(given))


class _Part:
    """The rows that came here, as a source of codes and texts."""

    def __init__(self, columns: dict[str, Column], value: dict[str, NDArray[np.int64]]) -> None:
        self.columns, self.value = columns, value

    def encode(self, name: str) -> tuple[NDArray[np.int32], None, None]:
        return self.columns[name].source.encode(name)[0][self.value[name]], None, None

    def texts(self, name: str, codes: NDArray[np.int32]) -> list[str | None]:
        source = self.columns[name].source
        return source.texts(name, source.encode(name)[0])


class Pushed(Coded):
    """The release of such a table: what phase one takes out of groups comes here, and what becomes of every row goes back."""

    def release(self) -> tuple[Release, Counted, Any]:
        """The release of what came here, those cells, and how many rows of each the engine keeps apart.

        Raises
        ------
        NotEligibleError
        TooManyError
            What phase one takes out does not fit, or the phases after it would need more groups than fit.
        """
        asked, l = self.asked, self.asked.l or 1
        whole, residue = self.histograms
        values = np.flatnonzero(whole).astype(np.int32)
        one = Contingency._made(
            np.zeros((1, len(self.qi)), dtype=np.int32), np.array([0, len(values)]), values, whole[values], self.domains, self.sensitive_domain
        )
        require_eligible(one, l, asked.k)
        rows, height = int(residue.sum()), int(residue.max(initial=0))
        if 0 < rows < asked.k and asked.k > l:
            raise self._too_many(f"phase one takes {rows:,} rows out, fewer than k: which groups fill them up depends on all of them")
        first = 0 if rows // l >= height else FIRST
        if first:
            if asked.seed is not None:
                raise self._too_many("phase two is needed, and a seed shuffles all groups")
            self._alive(residue)
        while True:
            part = self._part(first)
            try:
                return self._solved(part, residue)
            except MoreGroupsError as error:
                if error.all_there:
                    raise self._too_many("phase three is needed, which looks at all groups") from None
                first *= 8

    def _too_many(self, why: str) -> TooManyError:
        count = int(self.worker.ask(f"SELECT count(*) FROM {self._cells_table()}").column(0)[0].as_py())
        try:
            self.worker.room.require_combinations(max(count, self.worker.room.most + 1), self.names)
        except TooManyError as error:
            return TooManyError(f"{error}; {why}")
        raise AssertionError

    def _alive(self, residue: NDArray[np.int64]) -> None:
        """Cells of groups that phase two may take rows from: fat ones, and those without a pillar of R; with the place of the group for each value."""
        domains = self.domains
        order = ", ".join(self.q[j] for j in first_order(domains, self.asked.algorithm))
        pillars = ", ".join(map(str, np.flatnonzero(residue == residue.max()).tolist()))
        conflict = f"max(CASE WHEN kept = height AND s IN ({pillars}) THEN 1 ELSE 0 END) OVER (PARTITION BY {self.keys})"
        marked = f"SELECT *, {conflict} AS conflict FROM {self._cells_table()} WHERE size > 0"
        self.worker.make(
            "ldiv alive",
            f"SELECT {self.keys}, s, row_number() OVER (PARTITION BY s ORDER BY {order}) AS place FROM ({marked}) t "
            f"WHERE kept > 0 AND (size > {self.asked.l} * height OR conflict = 0)",
        )

    def _same(self, a: str, b: str, names: Sequence[str]) -> str:
        return " AND ".join(f"{a}.{x} = {b}.{x}" for x in names)

    def _part(self, first: int) -> Any:
        """R, and the groups that are among the first of some value."""
        cells, alive = self._cells_table(), self.dialect.name("ldiv alive")
        if not first:
            query = f"SELECT {self.keys}, s, n, kept, 0 AS here, 0 AS place FROM {cells} WHERE n > kept"
            self.worker.make("ldiv base", f"SELECT {self.keys}, s, kept AS base FROM {cells} WHERE kept > 0")
        else:
            some = f"(SELECT DISTINCT {self.keys} FROM {alive} WHERE place <= {first})"
            query = (
                f"SELECT {', '.join(f'c.{x}' for x in [*self.q, 's', 'n', 'kept'])}, CASE WHEN g.{self.q[0]} IS NULL THEN 0 ELSE 1 END AS here, "
                f"coalesce(a.place, 0) AS place FROM {cells} c LEFT JOIN {some} g ON {self._same('c', 'g', self.q)} "
                f"LEFT JOIN {alive} a ON {self._same('c', 'a', [*self.q, 's'])} WHERE c.n > c.kept OR g.{self.q[0]} IS NOT NULL"
            )
            apart = f"SELECT c.* FROM {cells} c LEFT JOIN {some} g ON {self._same('c', 'g', self.q)} WHERE g.{self.q[0]} IS NULL"
            self.worker.make("ldiv base", f"SELECT {self.keys}, s, kept AS base FROM ({apart}) t WHERE kept > 0")
        count = int(self.worker.ask(f"SELECT count(*) FROM ({query}) t").column(0)[0].as_py())
        if count > self.worker.room.most:
            raise self._too_many(f"{count:,} cells that phase one takes rows out of, or that phase two may, are too many as well")
        found = self.worker.ask(f"{query} ORDER BY {self.keys}, s")
        if first:
            ends = self.worker.ask(f"SELECT DISTINCT s FROM {alive} WHERE place > {first}").column(0).to_numpy()
            place = found.column("place").to_numpy()
            last = (place > 0) & (place <= first) & np.isin(found.column("s").to_numpy(), ends)
        else:
            last = np.zeros(found.num_rows, dtype=bool)
        return found, last

    def _solved(self, part: Any, residue: NDArray[np.int64]) -> tuple[Release, Counted, Any]:
        found, last = part
        d = len(self.qi)
        codes = (
            np.asfortranarray(np.column_stack([found.column(j).to_numpy() for j in range(d)]).astype(np.int32))
            if found.num_rows
            else np.zeros((0, d), np.int32)
        )
        here, n, kept = (found.column(name).to_numpy().astype(np.int64) for name in ("here", "n", "kept"))
        base = np.where(here > 0, 0, kept)
        data = Counted(codes, found.column("s").to_numpy().astype(np.int32), self.domains, self.sensitive_domain, None, n - base)
        place = data.cell_of_combination
        of_cell = [np.empty(len(n), dtype=np.int64) for _ in range(2)]
        for array, given in zip(of_cell, (kept - base, last), strict=True):
            array[place] = given
        release = release_of_part(
            data.contingency,
            self.asked.l or 1,
            self.asked.algorithm,
            kept=of_cell[0],
            residue=residue,
            k=self.asked.k,
            seed=self.asked.seed,
            last=of_cell[1],
        )
        whole, counted = int(self.histograms[0].sum()), max(int(residue.sum()), (self.asked.l or 1) * int(residue.max(initial=0)))
        info = {**release.info, "elsewhere": whole - release.n, "counted": counted * int(data.contingency.weights.min(initial=1))}
        release = Release.verify(replace(release, k=self.asked.k, info=info)).drawn(self.asked.seed)
        return release, data, base

    # -- the plan ------------------------------------------------------------------------------------------------------

    def plan(self, columns: Sequence[str], to_text: bool) -> tuple[Release, Plan, Counts]:
        """The release of what came here, what becomes of every row of the table, and the combinations that came."""
        import pyarrow as pa

        release, data, base = self.release()
        value = {name: self.columns[name].first[data.narrow[:, j]] for j, name in enumerate(self.qi)}
        for name in self.targets:
            value[name] = self.columns[name].first[data.sensitive]
        table = pa.table({name: self.columns[name].own.take(pa.array(value[name])) for name in self.names})
        counts = Counts(table, data.rows, np.zeros(len(data.rows), dtype=np.uint64))
        source: Any = _Part(self.columns, value)
        plan = planned(self.asked, counts, columns, source, data, release, self.targets, to_text)
        plan = _apart(plan, base, data.rows)
        part = {f"q{j}": pa.array(data.narrow[:, j].astype(np.int32)) for j in range(len(self.qi))} | {"s": pa.array(data.sensitive)}
        self.worker.take("ldiv part", pa.table({**part, "form": pa.array(plan.form), "cell": pa.array(plan.cell)}))
        names = ", ".join(f"c.{self.dialect.name(name)}" for name in self.names)
        here = " AND ".join(f"{code} = p.{x}" for code, x in zip(self.codes, [*self.q, "s"], strict=True))
        form, cell = (self.dialect.name(f"ldiv {x}") for x in ("form", "cell"))
        query = (
            f"SELECT {names}, CASE WHEN p.s IS NULL THEN {_keeping(plan)} ELSE p.form END AS {form}, coalesce(p.cell, -1) AS {cell} "
            f"FROM {self.coded()} LEFT JOIN {self.dialect.name('ldiv part')} p ON {here}"
        )
        own = {name: column.own for name, column in self.columns.items()}
        shown = {name: pa.array(self.columns[name].texts, pa.string()) for name, how in plan.shown.items() if how.how == "lookup"}
        return release, replace(plan, query=query, own=own, looked=shown), counts


def _keeping(plan: Plan) -> int:
    return int(np.flatnonzero((plan.forms == KEEP).all(axis=1))[0])


def _apart(plan: Plan, base: NDArray[np.int64], rows: NDArray[np.int64]) -> Plan:
    """The plan with so many rows of each combination kept as they are before all others."""
    forms = plan.forms
    if not (forms == KEEP).all(axis=1).any():
        forms = np.concatenate([forms, np.full((1, forms.shape[1]), KEEP, dtype=np.int32)])
    keep = int(np.flatnonzero((forms == KEEP).all(axis=1))[0])
    split = np.flatnonzero((base > 0) | (plan.form < 0))
    number = np.full(len(base), -1, dtype=np.int32)
    number[split] = np.arange(len(split), dtype=np.int32)
    of_old = np.full(int(plan.cell.max(initial=-1)) + 1, -1, dtype=np.int64)
    of_old[plan.cell[plan.cell >= 0]] = np.flatnonzero(plan.cell >= 0)
    cell, low, high, form = plan.pieces
    owner = of_old[cell] if len(cell) else np.zeros(0, dtype=np.int64)
    single = split[plan.form[split] >= 0]
    first = split[base[split] > 0]
    none = np.zeros(len(first), dtype=np.int64)
    pieces = (
        np.concatenate([number[first], number[single], number[owner]]).astype(np.int64),
        np.concatenate([none, base[single], low + base[owner]]),
        np.concatenate([base[first], base[single] + rows[single], high + base[owner]]),
        np.concatenate([none + keep, plan.form[single], form]),
    )
    order = np.lexsort((pieces[1], pieces[0]))
    whole = np.where(number >= 0, -1, plan.form)
    return replace(plan, forms=forms, form=whole, cell=number, pieces=tuple(x[order] for x in pieces))
