"""python -m experiments run | figures | claims [--quick | --full] [--figure NAME]"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from experiments import claims
from experiments.figures import FIGURES, cells_of, draw
from experiments.grid import FULL, QUICK
from experiments.results import NotRunError, Results
from experiments.run import run
from experiments.store import ROOT, Store

PAPER_FIGURES = Path(__file__).parents[1] / "paper_figures"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("command", choices=["run", "figures", "claims"])
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help=f"{QUICK.about} (default)")
    size.add_argument("--full", action="store_true", help=FULL.about)
    parser.add_argument("--figure", action="append", choices=sorted(FIGURES), help="only this figure; repeat for more")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--results", type=Path, default=ROOT, help="folder of the result store")
    parser.add_argument("--out", type=Path, help="folder of the figures")
    options = parser.parse_args(arguments)
    scale = FULL if options.full else QUICK
    names = options.figure or list(FIGURES)
    out = options.out or (PAPER_FIGURES if scale is QUICK else PAPER_FIGURES / scale.name)
    store = Store(options.results)
    results = Results(store, scale)
    if options.command == "run":
        print(f"{scale.name}: {scale.about}", file=sys.stderr)
        return 1 if run(cells_of(scale, names), store, options.jobs) else 0
    if options.command == "figures":
        try:
            for path in draw(results, names, out):
                print(path)
        except NotRunError as error:
            print(f"{error}\nrun it first: python -m experiments run --{scale.name}", file=sys.stderr)
            return 1
        return 0
    judgements = claims.judge(results)
    claims.save(judgements, out)
    for j in judgements:
        print(f"{j.verdict:8} {j.claim.sentence}\n         {j.claim.place}. {j.numbers}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
