"""What was written of a table whose combinations stay in the engine, held against it there; what cannot be a row kept as it is, is judged here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.engines.cells import judged
from ldiv.engines.plan import Counts, Plan
from ldiv.engines.pushed import Pushed
from ldiv.engines.verdict import places, publishes
from ldiv.privacy.verify import Verdict
from ldiv.privacy.verify.cells import shown_as
from ldiv.privacy.verify.published import encode_published
from ldiv.privacy.verify.recoding import Recoding
from ldiv.release.publish import texts_above
from ldiv.release.release import Release
from ldiv.table.text import merge_alike

__all__ = ["Expected", "judge_pushed"]

MODULUS = 1 << 62


class Expected:
    """What the source holds, counted before the plan was made: rows, and the mark of what else is published."""

    def __init__(self, pushed: Pushed) -> None:
        self.rows, self.mark = _together(pushed.worker, pushed.worker.combinations)


def _together(worker: Any, table: str) -> tuple[int, int]:
    rows, mark = (worker.dialect.name(f"ldiv {x}") for x in ("rows", "mark"))
    total = worker.dialect.total.format(mark)
    found = worker.ask(f"SELECT CAST(sum({rows}) AS BIGINT) AS n, CAST({total} % {MODULUS} AS BIGINT) AS m FROM {table}")
    return int(found.column(0)[0].as_py()), int(found.column(1)[0].as_py())


def judge_pushed(
    pushed: Pushed, query: str, expected: Expected, release: Release, plan: Plan, counts: Counts, columns: Sequence[str], na: str | None
) -> Verdict:
    """Whether what a query counts of the written files is a truthful release of the table.

    Rows that phase one keeps show their own values: what the engine counted of them is taken from what it counts of the files. What is left must be few
    kinds of rows, and exactly those of the rows that came here, by :func:`ldiv.engines.verdict.judge`. Groups are looked at in the engine, all of them.
    Other columns are compared by one sum of hashes over all rows.
    """
    import pyarrow as pa

    worker, name = pushed.worker, pushed.dialect.name
    worker.make("ldiv written", query)
    table, asked = name("ldiv written"), pushed.asked
    rows, mark = _together(worker, table)
    faults = [] if rows == expected.rows else [f"{rows:,} rows are written, {expected.rows:,} were read"]
    if mark != expected.mark:
        faults.append(
            "columns that are neither quasi-identifiers nor sensitive are not what they were: the source changed meanwhile, or the file is damaged"
        )
    trees, _ = texts_above(release.contingency.domains, asked.hierarchies)
    values: dict[str, Any] = {}
    kind: dict[str, NDArray[np.int64]] = {}  # of written values
    for at, column in enumerate(pushed.names):
        own = pushed.columns[column].own
        written = worker.ask(f"SELECT DISTINCT {name(column)} FROM {table}").column(0)
        values[column] = written
        mine, theirs = encode_published(own), encode_published(written)
        shown = plan.looked[column].to_pylist() if column in plan.looked else own.to_pylist()
        if column in pushed.qi:
            if column not in plan.looked:
                shown = [mine.values[x] for x in mine.codes.tolist()]  # of the width that they have: Python's numbers have more digits
            there = places(theirs.values, na)
            code = np.array([there.get(publishes(text, na), -1) for text in shown] or [-1], dtype=np.int64)
            recoding = Recoding(mine, theirs, asked.star, trees.get(column), column)
            for a, b in zip(mine.codes.tolist(), code.tolist(), strict=True):
                if b >= 0 and not recoding.admits(a, b):
                    faults.append(f"column {column!r}: {shown_as(theirs.values[b])} stands for {shown_as(mine.values[a])}")
            kind[column], kept = theirs.codes.astype(np.int64), code
        else:
            alike = merge_alike([*shown, *written.to_pylist()]).astype(np.int64)
            kept, kind[column] = alike[: len(shown)], alike[len(shown) :]
        worker.take(f"ldiv kinds {at}", pa.table({"own": written, "kind": pa.array(kind[column].astype(np.int32))}))
        first = pushed.columns[column].first
        worker.take(
            f"ldiv stays {at}", pa.table({"code": pa.array(np.arange(len(first), dtype=np.int32)), "kind": pa.array(kept[first].astype(np.int32))})
        )
    faults_of_groups, shape = _groups(pushed, table)
    faults += faults_of_groups
    rest = _rest(pushed, table, len(plan.claims[0]))
    if rest is None:
        faults.append("kinds of rows are written more or less often than they were read: the source changed meanwhile, or the file is damaged")
        stars = dict.fromkeys(pushed.qi, 0)
    else:
        kinds, left = rest
        after = Counts(
            pa.table({x: values[x].take(pa.array(_first_of(kind[x])[kinds[:, at]])) for at, x in enumerate(pushed.names)}),
            left,
            np.zeros(len(left), dtype=np.uint64),
        )
        part = judged(after, asked, counts, release, plan, columns, na)
        faults += part.faults
        stars = part.stars_by_attribute
    groups, smallest, largest = shape
    dropped = [x for x in columns if x not in plan.columns]
    return Verdict(
        faults[:20], list(plan.qi), list(plan.targets), list(plan.rest), dropped, rows, groups, release.l, release.k,
        largest if plan.targets else 0, smallest, stars, False,
    )  # fmt: skip


def _first_of(kind: NDArray[np.int64]) -> NDArray[np.int64]:
    first = np.zeros(int(kind.max(initial=0)) + 1, dtype=np.int64)
    first[kind[::-1]] = np.arange(len(kind))[::-1]
    return first


def _kinds(pushed: Pushed, table: str) -> str:
    """The written combinations as kinds: a number for each quasi-identifier and one of the sensitive value."""
    name, d = pushed.dialect.name, len(pushed.qi)
    joins = " ".join(f"JOIN {name(f'ldiv kinds {at}')} k{at} ON c.{name(x)} {pushed.dialect.same} k{at}.own" for at, x in enumerate(pushed.names))
    listed = ", ".join([*(f"k{j}.kind AS q{j}" for j in range(d)), f"{f'k{d}.kind' if pushed.targets else '0'} AS s"])
    return f"SELECT {listed}, c.{name('ldiv rows')} AS n FROM {table} c {joins}"


def _groups(pushed: Pushed, table: str) -> tuple[list[str], tuple[int, int, int]]:
    """What is wrong with the groups of what was written, how many there are, the least size, and the largest l that holds."""
    l, k, keys = pushed.asked.l or 1, pushed.asked.k, pushed.keys
    whole = pushed.dialect.quotient
    cells = f"SELECT {keys}, s, sum(n) AS n FROM ({_kinds(pushed, table)}) t GROUP BY {keys}, s"
    sized = f"SELECT {keys}, CAST(sum(n) AS BIGINT) AS size, CAST(max(n) AS BIGINT) AS height FROM ({cells}) t GROUP BY {keys}"
    query = (
        f"SELECT count(*) AS groups, min(size) AS smallest, min(size {whole} height) AS l, sum(CASE WHEN size {whole} {l} < height THEN 1 ELSE 0 END) AS bad, "
        f"sum(CASE WHEN size < {k} THEN 1 ELSE 0 END) AS small FROM ({sized}) t"
    )
    groups, smallest, largest, bad, small = (int(x[0].as_py() or 0) for x in pushed.worker.ask(query).columns)
    faults = [f"{bad:,} groups are not {l}-diverse"] if bad else []
    if small:
        faults.append(f"a group has {smallest:,} rows, fewer than {k}")
    return faults, (groups, smallest, largest)


def _rest(pushed: Pushed, table: str, most: int) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """The kinds of rows that are written beside those that phase one keeps; None where rows that it keeps are missing, or more kinds are left than can be."""
    name, d, keys = pushed.dialect.name, len(pushed.qi), pushed.keys
    joins = " ".join(
        f"JOIN {name(f'ldiv stays {j}')} k{j} ON b.{x} = k{j}.code" for j, x in enumerate([*pushed.q, *(["s"] if pushed.targets else [])])
    )
    listed = ", ".join([*(f"k{j}.kind AS q{j}" for j in range(d)), f"{f'k{d}.kind' if pushed.targets else '0'} AS s"])
    kept = f"SELECT {listed}, -b.base AS n FROM {name('ldiv base')} b {joins}"
    both = f"{_kinds(pushed, table)} UNION ALL {kept}"
    left = f"SELECT {keys}, s, CAST(sum(n) AS BIGINT) AS n FROM ({both}) t GROUP BY {keys}, s"
    found = pushed.worker.ask(f"SELECT * FROM ({left}) t WHERE n <> 0 LIMIT {most + 1}")
    rows = found.column(d + 1).to_numpy().astype(np.int64)
    if len(rows) > most or (rows < 0).any():
        return None
    used = d + (1 if pushed.targets else 0)
    kinds = np.column_stack([found.column(j).to_numpy().astype(np.int64) for j in range(used)]) if len(rows) else np.zeros((0, used), dtype=np.int64)
    return (kinds, rows) if not (kinds < 0).any() else None
