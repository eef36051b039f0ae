"""Whether files of any size are l-diverse, and whether some are a release of others: counted by an engine, judged on what was counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import gettempdir
from typing import Any

from ldiv.engines.duckdb import DuckDB
from ldiv.engines.plan import Counts
from ldiv.engines.sources import Sources
from ldiv.engines.spark import Spark, session_of
from ldiv.engines.verdict import group_faults
from ldiv.privacy.eligibility import CheckReport, check
from ldiv.privacy.verify import Verdict
from ldiv.privacy.verify.matching import match_rows
from ldiv.privacy.verify.published import encode_published
from ldiv.privacy.verify.recoding import Recoding
from ldiv.table.counted import Counted

__all__ = ["check_files", "opened", "verify_files"]

MOST_FAULTS = 20


@contextmanager
def opened(engine: str, sources: Sources, memory: int, threads: int | None, spill: Path, session: Any = None) -> Iterator[Any]:
    """The engine at work on some files."""
    if engine == "duckdb":
        with DuckDB(sources, memory, threads, spill) as worker:
            yield worker
        return
    with session_of(session, threads, memory, spill) as found, Spark.of_files(found, sources, memory) as worker:
        yield worker


def check_files(
    sources: Sources,
    qi: Sequence[str],
    targets: Sequence[str],
    l: int,
    k: int = 1,
    *,
    engine: str = "duckdb",
    memory: int,
    threads: int | None = None,
    missing: str | Mapping[str, str] | None = None,
    session: Any = None,
) -> dict[str | None, CheckReport]:
    """:func:`ldiv.check` of files, once for each sensitive column; None stands for k alone.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("Age,Disease\\n30,flu\\n30,cold\\n40,flu\\n")
    >>> report = check_files(Sources.of(path), ["Age"], ["Disease"], 2, memory=1 << 30)["Disease"]
    >>> bool(report), report.groups, report.violations[0].group
    (False, 2, {'Age': '40'})
    """
    sources.require([*qi, *targets])
    names: Sequence[str | None] = targets or [None]
    with opened(engine, sources, memory, threads, Path(gettempdir()), session) as worker:
        counts = worker.count([*qi, *targets], [], False)
    found = {}
    for name in names:
        data = Counted.from_counts(counts.table, counts.rows, qi, name, missing=missing)
        found[name] = check(data.contingency, l=l if name is not None else None, k=k)
    return found


def verify_files(
    source: Sources,
    released: Sources,
    qi: Sequence[str],
    targets: Sequence[str],
    l: int,
    k: int = 1,
    *,
    engine: str = "duckdb",
    memory: int,
    threads: int | None = None,
    star: str | None = "*",
    hierarchies: Mapping[str, Any] | None = None,
    session: Any = None,
) -> Verdict:
    """:func:`ldiv.verify` of files: every row of the source finds a released row of its own among those that quasi-identifiers, sensitive values and a hash of
    all other columns allow (a maximum flow on what was counted). Where rows have other columns they are counted and matched in as many parts, by that
    hash, as fit: each part is one more read of both.

    Raises
    ------
    InputError
        A column that is not there; so many rows that could stand for each other that they cannot be matched.
    """
    source.require([*qi, *targets])
    released.require([*qi, *targets])
    others = [name for name in source.columns if name not in qi and name not in targets]
    unchanged, dropped = [x for x in others if x in released.columns], [x for x in others if x not in released.columns]
    to_text = released.is_text and not source.is_text
    faults = [f"column {name!r} is not in the source" for name in released.columns if name not in source.columns]
    with ExitStack() as stack:
        workers = [stack.enter_context(opened(engine, one, memory, threads, Path(gettempdir()), session)) for one in (source, released)]
        as_text = to_text, False
        before, after = (worker.count([*qi, *targets], unchanged, text) for worker, text in zip(workers, as_text, strict=True))
        if before.total != after.total:
            faults.append(f"{after.total:,} rows are published, the source has {before.total:,}")
        elif int(before.mark.sum()) % (1 << 62) != int(after.mark.sum()) % (1 << 62):
            faults.append("columns that are neither quasi-identifiers nor sensitive are not those of the source")
        elif unchanged:
            parts = max(-(-before.total // max(workers[0].room.most, 1)), 1)
            for part in range(parts):
                pair = [worker.rows([*qi, *targets], unchanged, text, part, parts) for worker, text in zip(workers, as_text, strict=True)]
                faults += _unmatched(pair, qi, targets, star, hierarchies)
                if len(faults) >= MOST_FAULTS:
                    break
        else:
            faults += _unmatched([before, after], qi, targets, star, hierarchies)
    column = {name: encode_published(after.table.column(name)) for name in [*qi, *targets]}
    recoded = {name: Recoding(encode_published(before.table.column(name)), column[name], star, (hierarchies or {}).get(name), name) for name in qi}
    groups, smallest, largest, wrong = group_faults(after.rows, [column[name] for name in qi], [(name, column[name]) for name in targets], l, k)
    shown = {name: int(after.rows[one.is_star[one.published.codes]].sum()) for name, one in recoded.items()}
    stars = shown if before.total == after.total else dict.fromkeys(qi, 0)
    return Verdict(
        [*faults, *wrong][:MOST_FAULTS],
        list(qi),
        list(targets),
        unchanged,
        dropped,
        after.total,
        groups,
        l,
        k,
        largest if targets else 0,
        smallest,
        stars,
        False,
    )


def _unmatched(
    counts: Sequence[Counts], qi: Sequence[str], targets: Sequence[str], star: str | None, hierarchies: Mapping[str, Any] | None
) -> list[str]:
    """What is wrong with released rows as rows of the source, in whatever order: they agree in the mark of other columns, too."""
    before, after = counts
    if before.total != after.total:
        return ["a row is published that the source does not have, or more often than there"]
    if not before.total:
        return []

    columns = {name: (encode_published(before.table.column(name)), encode_published(after.table.column(name))) for name in [*qi, *targets]}
    recoded = [Recoding(*columns[name], star, (hierarchies or {}).get(name), name) for name in qi]
    same = [Recoding(*columns[name], False, None, name) for name in targets]
    beside = Recoding(encode_published(before.mark), encode_published(after.mark), False, None, "columns beside")
    problem = match_rows([*same, beside], recoded, (before.rows, after.rows))
    return [problem] if problem else []
