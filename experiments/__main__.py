"""The paper's experiments: run the grid, draw the figures, judge the claims, write the report."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from experiments import claims, near, paper, report  # noqa: F401 (near fills FIGURES)
from experiments.figures import FIGURES, cells_of, draw
from experiments.grid import FULL, QUICK
from experiments.results import NotRunError, Results
from experiments.run import load, run
from experiments.store import ROOT, Store
from ldiv.algorithms import get

PAPER_FIGURES = Path(__file__).parents[1] / "paper_figures"


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("command", choices=["run", "figures", "claims", "report"])
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help=f"{QUICK.about} (default)")
    size.add_argument("--full", action="store_true", help=FULL.about)
    parser.add_argument("--figure", action="append", choices=sorted(FIGURES), help="only this figure; repeat for more")
    parser.add_argument("--algorithm", action="append", default=[], help="one more algorithm in the figures; repeat for more")
    parser.add_argument("--load", action="append", default=[], metavar="MODULE", help="import a module that registers algorithms")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--results", type=Path, default=ROOT, help="folder of the result store")
    parser.add_argument("--out", type=Path, help="folder of the figures")
    return parser


def main(arguments: list[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    scale = FULL if options.full else QUICK
    names = options.figure or [name for name, figure in FIGURES.items() if figure.default]
    out = options.out or (PAPER_FIGURES if scale is QUICK else PAPER_FIGURES / scale.name)
    load(options.load)
    for name in options.algorithm:
        get(name)
        paper.include(name)
    store = Store(options.results)
    results = Results(store, scale)
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
        written = draw(results, names, out) if options.command == "figures" else [
            report.page(claims.judge(results), scale, {name: FIGURES[name].rows(results) for name in names}, out)
        ]
    except NotRunError as error:
        print(f"{error}\nrun it first: python -m experiments run --{scale.name}", file=sys.stderr)
        return 1
    for path in written:
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
