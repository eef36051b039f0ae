"""The paper's experiments: run the grid, draw the figures, judge the claims, write the report."""

from __future__ import annotations

import argparse
import sys
from difflib import get_close_matches
from pathlib import Path

from experiments import claims, near, nodes, paper, report, sizes, where  # noqa: F401 (they fill FIGURES)
from experiments.export import export
from experiments.figures import FIGURES, cells_of, draw
from experiments.grid import FULL, QUICK, Scale
from experiments.measure import MEASURES, SOURCES
from experiments.results import NotRunError, Results
from experiments.run import load, run
from experiments.store import ROOT, Store
from experiments.study.__main__ import main as study
from ldiv.algorithms import get
from ldiv.errors import InputError

PAPER_FIGURES = Path(__file__).parents[1] / "paper_figures"


COMMANDS = ["run", "figures", "claims", "report", "list", "export"]


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument(
        "command",
        choices=COMMANDS,
        help="list: what there is and what it takes; export: everything stored, one tidy table; beside them: study [CONFIG]",
    )
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help=f"{QUICK.about} (default)")
    size.add_argument("--full", action="store_true", help=FULL.about)
    parser.add_argument("--figure", action="append", metavar="NAME", help="only this figure ('list' names them); repeat for more")
    parser.add_argument("--algorithm", action="append", default=[], metavar="NAME", help="one more algorithm in the figures; repeat for more")
    parser.add_argument(
        "--load",
        action="append",
        default=[],
        metavar="MODULE",
        help="import a module with algorithms, figures, measures or data sets of your own; repeat for more",
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--results", type=Path, default=ROOT, help="folder of the result store")
    parser.add_argument("--out", type=Path, help="folder of the figures; for 'export' a file, .csv or .parquet")
    return parser


def main(arguments: list[str] | None = None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    if words[:1] == ["study"]:
        return study(words[1:])
    asked = parser()
    options = asked.parse_args(arguments)
    sys.path.insert(0, "")  # a module beside the caller
    try:
        load(options.load)  # first: what it brings can then be named
        for name in options.algorithm:
            get(name)
            paper.include(name)
    except (ImportError, InputError) as error:
        asked.error(str(error))
    names = options.figure or [name for name, figure in FIGURES.items() if figure.default]
    unknown = next((name for name in names if name not in FIGURES), None)
    if unknown is not None:
        near_by = get_close_matches(unknown, FIGURES, 1)
        asked.error(f"no figure {unknown!r}{f'; did you mean {near_by[0]!r}?' if near_by else ''}; there are: {', '.join(FIGURES)}")
    if options.jobs < 1:
        asked.error(f"--jobs must be at least 1, not {options.jobs}")
    scale = FULL if options.full else QUICK
    out = options.out or (PAPER_FIGURES if scale is QUICK else PAPER_FIGURES / scale.name)
    store = Store(options.results)
    results = Results(store, scale)
    if options.command == "list":
        listing(scale, store)
        return 0
    if options.command == "export":
        path, count = export(store, options.out or Path("results.csv"))
        print(f"{path}: {count:,} results")
        return 0
    if options.command == "run":
        print(f"{scale.name}: {scale.about}", file=sys.stderr)
        return 1 if run(cells_of(scale, names), store, options.jobs, options.load) else 0
    if options.command == "claims":
        judgements = claims.judge(results)
        claims.save(judgements, out)
        report.gallery(judgements, scale, out)
        for j in judgements:
            print(f"{j.verdict:8} {j.claim.sentence}\n         {j.claim.place}. {j.numbers}")
        return 0
    try:
        written = (
            draw(results, names, out)
            if options.command == "figures"
            else [report.page(claims.judge(results), scale, {name: FIGURES[name].rows(results) for name in names}, out)]
        )
    except NotRunError as error:
        figures = "".join(f" --figure {name}" for name in options.figure or [])
        loads = "".join(f" --load {module}" for module in options.load)
        print(f"{error}\nrun it first: python -m experiments run --{scale.name}{figures}{loads}", file=sys.stderr)
        return 1
    for path in written:
        print(path)
    return 0


def listing(scale: Scale, store: Store) -> None:
    """Every figure: what it shows, how many cells it takes, how many of them are there, and how long the others may take."""
    known = {True: " ", False: "+"}
    print(f"figures at the scale {scale.name} ({scale.about}); those marked + are drawn only when named")
    print(f"{'':2}{'name':16} {'cells':>7} {'there':>7} {'seconds':>8}  what, and where in the paper")
    for name, figure in FIGURES.items():
        cells = cells_of(scale, [name])
        there = [found for cell in cells if (found := store.record(cell)) is not None]
        took = [found["seconds"] for found in there if found.get("seconds") is not None]
        left = f"{sum(took) / len(took) * (len(cells) - len(there)):8,.0f}" if took else f"{'?' if len(cells) > len(there) else 0:>8}"
        print(f"{known[figure.default]} {name:16} {len(cells):7,} {len(there):7,} {left}  {figure.title} ({figure.place})")
    print("measures: " + ", ".join(MEASURES) + "\ndata sets: " + ", ".join(SOURCES))


if __name__ == "__main__":
    sys.exit(main())
