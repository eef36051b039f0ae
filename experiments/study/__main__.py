"""python -m experiments study CONFIG: run what is lacking, then the table, the page and the figures."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

from experiments.measure import SOURCES, microdata
from experiments.run import run
from experiments.store import ROOT, Store
from experiments.study.config import Study, read
from experiments.study.figures import draw
from experiments.study.leaderboard import save
from experiments.study.table import counted, rows_of, write
from ldiv.arguments import hint
from ldiv.errors import InputError, LdivError, MissingColumnError

__all__ = ["main"]

SHIPPED = Path(__file__).with_name("shipped.toml")
OUT = Path(__file__).parents[2] / "paper_figures" / "study"


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m experiments study", description=__doc__)
    parser.add_argument("config", type=Path, nargs="?", default=SHIPPED, help="a TOML file; default: the study that is shipped")
    parser.add_argument("--jobs", type=int, help="processes; default: what the file says")
    parser.add_argument("--results", type=Path, default=ROOT, help="folder of the result store")
    parser.add_argument("--out", type=Path, default=OUT, help="folder of the table, the page and the figures")
    parser.add_argument("--draw-only", action="store_true", help="run nothing: show what is there")
    return parser


def main(arguments: list[str] | None = None) -> int:
    asked = parser()
    options = asked.parse_args(arguments)
    sys.path.insert(0, "")  # a module beside the caller
    try:
        study = _there(read(options.config))
    except (InputError, ImportError) as error:
        asked.error(str(error))
    store = Store(options.results)
    failed = 0
    started = time.perf_counter()
    if not options.draw_only:
        failed = run(study.cells(), store, options.jobs or study.jobs, [*study.load, "experiments.study.measures"])
    rows, lacking = rows_of(study, store)
    print(f"{counted(rows)}, {time.perf_counter() - started:.0f} s", file=sys.stderr)
    if lacking:
        print(f"{lacking:,} of {len(study.cells()):,} measurements are not there yet", file=sys.stderr)
    if not rows:
        return 1
    for path in (write(rows, options.out / "study.csv"), save(study, rows, options.out / "leaderboard.html"), *draw(study, rows, options.out)):
        print(path)
    return 1 if failed else 0


def _there(study: Study) -> Study:
    """The study of the tables that can be loaded; the others are named.

    Raises
    ------
    InputError
        A table that is there, and has no such columns.
    """
    tables = {}
    for name, table in study.tables.items():
        try:
            data = SOURCES[table.dataset].load(1, table.sensitive)
        except MissingColumnError as error:
            raise InputError(f"{study.path}: {name}: sensitive: {error}") from error
        except (OSError, LdivError) as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
            continue
        for key, asked, known in (("qi", table.attributes, data.names), ("sensitive", (table.sensitive,), (data.sensitive_domain.name,))):
            wrong = next((column for column in asked if column not in known), None)
            if wrong is not None:
                raise InputError(f"{study.path}: {name}: {key}: no column {wrong!r}; there are: {', '.join(known)}{hint(wrong, known)}")
        try:
            microdata(replace(table, n=1))  # and its hierarchies
            tables[name] = table
        except (OSError, LdivError) as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
    if not tables:
        raise InputError("none of the tables can be loaded")
    return Study(**{**vars(study), "tables": tables})


if __name__ == "__main__":
    sys.exit(main())
