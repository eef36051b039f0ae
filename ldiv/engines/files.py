"""Files in, files out, however large: counted by an engine, solved on cells, written and judged by the engine."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ldiv.arguments import THREADS, Choice, shown
from ldiv.asking import Asked
from ldiv.engines.cells import columns_of, judged, planned_cells
from ldiv.engines.checking import opened
from ldiv.engines.coded import values_of
from ldiv.engines.memory import held, write_held
from ldiv.engines.plan import Plan
from ldiv.engines.pushed import Pushed, can_push
from ldiv.engines.pushed_verdict import Expected, judge_pushed
from ldiv.engines.room import TooManyError, least_memory
from ldiv.engines.sources import Sources
from ldiv.engines.spark import require_parquet
from ldiv.engines.target import Place, placed
from ldiv.engines.types import require_comes_back, same_as_text
from ldiv.engines.verdict import require
from ldiv.errors import InputError
from ldiv.privacy.verify import Verdict
from ldiv.release.release import Release
from ldiv.table.files import require_distinct_missing
from ldiv.table.frames import named

__all__ = ["ENGINE", "ENGINES", "Written", "bytes_of_memory", "chosen", "run"]

ENGINES = ("auto", "memory", "duckdb", "spark")
ENGINE = Choice("engine", of=ENGINES)


@dataclass(frozen=True)
class Written:
    """What :func:`ldiv.anonymize_files` wrote.

    Attributes
    ----------
    release : Release
        Of the cells: stars, groups, bound; the rows are in the files.
    verdict : Verdict
        What was found in the files, which were read again.
    target : str
    engine : str
    seconds : dict
        Of counting, solving, writing and verifying.
    """

    release: Release
    verdict: Verdict
    target: str
    engine: str
    seconds: Mapping[str, float] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.verdict)

    def __repr__(self) -> str:
        return f"<Written {self.target!r} by {self.engine}: {self.release!r}>"


def bytes_of_memory(given: Any) -> int:
    """A limit of memory in bytes: a number, or text such as ``"800MB"``; half of the machine's where nothing is given.

    Examples
    --------
    >>> bytes_of_memory("1GB") == 10**9, bytes_of_memory("2GiB") == 2 * 2**30
    (True, True)
    """
    if given is None:
        return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2) if hasattr(os, "sysconf") else 4 << 30
    text = str(given).strip().upper().replace(" ", "")
    digits = text.rstrip("KMGTIB")
    unit = text[len(digits) :]
    power = "KMGT".find(unit[:1]) + 1 if unit not in ("", "B") else 0
    known = unit in ("", "B") or (power and unit[1:] in ("", "B", "IB"))
    try:
        size = float(digits) * (1024 if unit[1:] == "IB" else 1000) ** power if known and not isinstance(given, bool) else -1.0
    except ValueError:
        size = -1.0
    if not least_memory() <= size < 1 << 62:
        least = -(-least_memory() // 10**6)
        raise InputError(
            f"memory_limit must be bytes, or text such as '800MB' or '2GiB', at least {least} MB, which Python and an engine take without any data, "
            f"not {shown(given)}"
        )
    return int(size)


def chosen(engine: str, sources: Sources | None, memory: int) -> str:
    """The engine behind ``"auto"``: memory up to a quarter of it, DuckDB beyond."""
    if ENGINE.check(engine) != "auto" or sources is None:
        return engine
    return "memory" if sources.bytes <= memory // 4 else "duckdb"


def run(
    sources: Sources,
    target: str | os.PathLike[str],
    asked: Asked,
    *,
    engine: str = "auto",
    memory_limit: Any = None,
    threads: int | None = None,
    spill: str | os.PathLike[str] | None = None,
    session: Any = None,
    names: Sequence[str] | None = None,
    progress: Callable[[str], None] | None = None,
    adapt: Callable[[Any], Asked] | None = None,
    beside: Callable[[Release], None] | None = None,
) -> Written:
    """The release of files; see :func:`ldiv.anonymize_files`.

    Parameters
    ----------
    names : sequence of str, optional
        Of the columns of a text file without a header line.
    progress : callable, optional
        Called with what comes next.
    adapt : callable, optional
        What is asked, once the values are known: called with a table that holds all of those of named columns.
    beside : callable, optional
        What else is to be written once the release has been verified and before it appears.
    """
    memory, threads = bytes_of_memory(memory_limit), THREADS.check(threads)
    engine = chosen(engine, sources, memory)
    say = progress or (lambda text: None)
    clock = _Clock({})
    with placed(target, [*sources.given, *sources.files]) as place:
        stamp = sources.stamp()
        if engine == "memory":
            say(f"reading {len(sources.files):,} files")
            with clock("read"):
                table = held(sources, names)
            with clock("anonymize"):
                release, verdict = write_held(sources, table, names, asked if adapt is None else adapt(table), place)
        else:
            folder = Path(spill) if spill is not None else place.folder.parent
            # The index of a pandas table would restore the order of its rows.
            asked = _without(asked, sources, sources.index)
            _refuse(engine, sources, asked, place.kind != "parquet")
            if engine == "spark":
                require_parquet(sources.kind)
                require_parquet(place.kind)
            with opened(engine, sources, memory, threads, folder, session) as worker:
                release, verdict = _Job(worker, sources, asked, place, target, adapt, say, clock).counted()
        if sources.stamp() != stamp:
            raise InputError("the source changed while it was read; nothing was written")
        require(verdict)
        if beside is not None:
            beside(release)
    return Written(release, verdict, os.fspath(target), engine, clock.seconds)


@dataclass(frozen=True)
class _Job:
    """A release by an engine that does not hold the rows here."""

    worker: Any
    sources: Sources
    asked: Asked
    place: Place
    target: Any
    adapt: Callable[[Any], Asked] | None
    say: Callable[[str], None]
    clock: _Clock

    @property
    def columns(self) -> tuple[list[Any], list[Any], list[Any]]:
        """Quasi-identifiers, sensitive columns, and those of which every combination has a mark of what its rows hold: those that come back as they are."""
        qi, targets, rest = columns_of(self.sources.columns, self.asked)
        turned = [name for name in targets if name in (self.asked.coarsen or {}) or (self.to_text and not same_as_text(self.sources.types[name]))]
        return qi, targets, [*(name for name in targets if name not in turned), *rest]

    @property
    def to_text(self) -> bool:
        return self.place.kind != "parquet"

    @property
    def na(self) -> str | None:
        """How a missing value is written, where everything is text."""
        return self.sources.na if self.to_text else None

    def adapted(self, table: Callable[[], Any]) -> Asked:
        """What is asked, once the values are known."""
        return self.asked if self.adapt is None else _without(self.adapt(table()), self.sources, self.sources.index)

    def require_distinct(self, table: Any, names: list[Any]) -> None:
        """Refuse what could not be told from a missing value once it is text."""
        if self.to_text and not self.sources.is_text:
            require_distinct_missing(table, names, self.sources.na)

    def write(self, plan: Plan) -> None:
        self.say(f"writing {os.fspath(self.target)}")
        with self.clock("write"):
            self.worker.write(plan, self.place.folder, self.place.kind, self.place.file)
        self.say("reading what was written")

    def counted(self) -> tuple[Release, Verdict]:
        """Counted, solved on cells, written, and counted again from what was written."""
        qi, targets, marked = self.columns
        self.say(f"counting {len(self.sources.files):,} files")
        try:
            with self.clock("count"):
                counts = self.worker.count([*qi, *targets], marked, self.to_text and not self.sources.is_text)
        except TooManyError:
            if not can_push(self.asked, targets):
                raise
            return self.pushed()
        asked = self.adapted(lambda: counts.table)
        self.require_distinct(counts.table, [*qi, *targets])
        self.say(f"anonymizing {counts.total:,} rows in {len(counts.rows):,} combinations with {asked.algorithm}")
        with self.clock("solve"):
            release, plan = planned_cells(asked, counts, self.sources.columns, targets, self.to_text)
        self.write(plan)
        with self.clock("verify"):
            after = self.worker.reread(self.place.files(), self.place.kind, [*plan.qi, *plan.targets], marked)
            return release, judged(after, asked, counts, release, plan, self.sources.columns, self.na)

    def pushed(self) -> tuple[Release, Verdict]:
        """The same where combinations stay in the engine."""
        qi, targets, marked = self.columns
        self.say(f"anonymizing with {self.asked.algorithm}, phase one in {self.worker.name}")
        with self.clock("solve"):
            pushed = Pushed(self.worker, self.adapted(lambda: values_of(self.worker, [*qi, *targets])), qi, targets)
            for column in pushed.columns.values():
                self.require_distinct(column.table, column.table.column_names)
            expected = Expected(pushed)
            release, plan, counts = pushed.plan(self.sources.columns, self.to_text)
        self.write(plan)
        with self.clock("verify"):
            query = self.worker.recounted(self.place.files(), self.place.kind, [*plan.qi, *plan.targets], marked)
            return release, judge_pushed(pushed, query, expected, release, plan, counts, self.sources.columns, self.na)


class _Clock:
    """Seconds by the name of what took them."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self.seconds = seconds

    def __call__(self, name: str) -> _Clock:
        self.name = name
        return self

    def __enter__(self) -> None:
        self.begun = time.perf_counter()

    def __exit__(self, *_: Any) -> None:
        self.seconds[self.name] = time.perf_counter() - self.begun


def _without(asked: Asked, sources: Sources, left_out: Sequence[str]) -> Asked:
    """What is asked, with some more columns left out, but for those that it is about."""
    qi, targets, rest = columns_of(sources.columns, asked)
    more = [name for name in left_out if name in rest]
    return replace(asked, drop=[*named(asked.drop, sources.columns, "drop"), *more]) if more else asked


def _refuse(engine: str, sources: Sources, asked: Asked, to_text: bool) -> None:
    """What an engine cannot do, said before it reads anything."""
    qi, targets, rest = columns_of(sources.columns, asked)
    sources.require([*qi, *targets])
    if asked.unit is not None:
        raise InputError("unit= needs the rows of each person together: use engine='memory'")
    if asked.order != "random" and not asked.shuffle:
        raise InputError("an engine writes rows in an order of its own: order must be 'random', or use engine='memory'")
    for name in asked.coarsen or {}:
        if name not in qi and name not in targets:
            sources.require([name])
            raise InputError(f"coarsen: an engine coarsens quasi-identifiers and sensitive columns only, not {name!r}: use engine='memory'")
    for name in [*qi, *targets, *rest]:
        require_comes_back(engine, name, sources.types[name], named=name in qi or name in targets, to_text=to_text and not sources.is_text)
