"""Running the grid: two processes, resumable at any moment, nothing finished is lost."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from importlib import import_module
from pathlib import Path

from experiments.cells import Cell
from experiments.measure import measure
from experiments.store import Store

__all__ = ["load", "run"]

ALONE = ("seconds", "effort", "course")  # measured with nothing beside them


def run(cells: Iterable[Cell], store: Store, jobs: int = 2, modules: Sequence[str] = ()) -> int:
    """Solve the cells that the store lacks; returns how many failed.

    A job is a table with all its cells, so that its contingency is built once, those of one release one after the other. Cells that measure time come last, one at a
    time in this process, with nothing beside them. `modules` are imported in every process: they register algorithms.
    """
    pending = [cell for cell in dict.fromkeys(cells) if store.get(cell) is None]
    alone = [cell for cell in pending if cell.measure in ALONE]
    shared = sorted(
        (cell for cell in pending if cell.measure not in ALONE), key=lambda cell: (cell.table, cell.l, cell.k, cell.algorithm, cell.measure)
    )
    by_table = [list(group) for _, group in itertools.groupby(shared, key=lambda cell: cell.table)]
    progress = Progress(len(pending))
    failed = 0
    with ProcessPoolExecutor(jobs, initializer=load, initargs=(modules,)) as pool:
        futures = {pool.submit(solve_table, group, store.root): len(group) for group in by_table}
        waiting = set(futures)
        try:
            while waiting:
                done, waiting = wait(waiting, timeout=2, return_when=FIRST_COMPLETED)
                for future in done:
                    failed += report(future.result())
                    progress.advance(futures[future])
                progress.show()
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            print("\ninterrupted: what is finished is stored, the same command goes on from here", file=sys.stderr)
            raise SystemExit(130) from None
    for cell in alone:
        failed += report(solve_table([cell], store.root))
        progress.advance(1)
        progress.show()
    progress.close()
    return failed


def load(modules: Sequence[str]) -> None:
    """Import modules that register algorithms."""
    for module in modules:
        import_module(module)


def solve_table(cells: Sequence[Cell], root: Path) -> list[str]:
    """Solve the cells of one table, each stored as soon as it is there; returns what went wrong."""
    store, errors = Store(root), []
    for cell in cells:
        try:
            started = time.perf_counter()
            store.put(cell, measure(cell), time.perf_counter() - started)
        except Exception as error:  # a failure is reported, never stored, and does not stop the others
            errors.append(f"{cell}: {type(error).__name__}: {error}")
    return errors


def report(errors: Sequence[str]) -> int:
    for error in errors:
        print(f"failed: {error}", file=sys.stderr)
    return len(errors)


class Progress:
    """A line on stderr: on a terminal rewritten in place, elsewhere one every ten seconds."""

    def __init__(self, total: int) -> None:
        self.total, self.done = total, 0
        self.started = self.shown = time.monotonic()
        self.live = sys.stderr.isatty()
        if total:
            print(f"{total:,} cells to solve", file=sys.stderr)

    def advance(self, cells: int) -> None:
        self.done += cells

    def show(self) -> None:
        now = time.monotonic()
        if not self.done or (not self.live and now - self.shown < 10):
            return
        self.shown = now
        left = (now - self.started) / self.done * (self.total - self.done)
        line = f"{self.done:,} of {self.total:,} cells, {now - self.started:.0f} s, about {left:.0f} s left"
        print(f"\r{line}\x1b[K" if self.live else line, end="" if self.live else "\n", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self.total:
            end = "\r" if self.live else ""
            print(f"{end}{self.done:,} cells in {time.monotonic() - self.started:.1f} s", file=sys.stderr)
