"""python -m experiments.peers [-l L] [--timeout S]: ldiv beside other tools on UCI Adult, written to paper_figures/peers.md and .csv.

Each peer is installed in an environment of its own under build/peers; one that cannot be had, fails or takes too long is named with the reason.
What a peer publishes is judged by ldiv.check, whatever the peer says of itself.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pandas as pd

import ldiv
from experiments.figures import write_csv
from experiments.measure import adult_file
from ldiv.datasets.external import ADULT_QI, adult_frame

ROOT = Path(__file__).parents[2]
QI = [name for name in ADULT_QI if name != "occupation"]
SENSITIVE = "occupation"
PEERS = {"anonypy": "anonypy", "anonypyx": "anonypyx", "anjana": "anjana", "pycanon": "pycanon"}
OURS = ("tp", "tp+", "mondrian", "cascade", "lagrangian")
RUNNER = Path(__file__).with_name("runners.py")


def environment(package: str) -> Path:
    """The Python of a peer's environment, made on first use."""
    folder = ROOT / "build" / "peers" / package
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", package, "pandas"], check=True, capture_output=True, text=True, timeout=600)
        (folder / "ready").touch()
    return python


def run(python: Path | str, name: str, source: Path, target: Path, l: int, timeout: int) -> dict[str, Any]:
    command = [python, RUNNER, name, source, target, str(l), ",".join(QI), SENSITIVE]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=timeout)
    return json.loads(done.stdout.strip().splitlines()[-1])


def judge(original: pd.DataFrame, published: pd.DataFrame, l: int) -> dict[str, Any]:
    """Rows, QI cells that are not a value of their column any more, and the largest l for which it is l-diverse."""
    known = {name: set(original[name].astype(str)) for name in QI}
    coarse = sum(int((~published[name].astype(str).isin(known[name])).sum()) for name in QI)
    report = ldiv.check(published.astype(str), QI, SENSITIVE, l)
    return {"rows": len(published), "cells": coarse, "l_eligible": bool(report), "true_l": report.max_l, "groups": report.groups}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m experiments.peers", description=__doc__)
    parser.add_argument("-l", type=int, default=4)
    parser.add_argument("--timeout", type=int, default=300, help="seconds a peer may take")
    options = parser.parse_args()
    original = pd.DataFrame(adult_frame(adult_file(), complete=True))[[*QI, SENSITIVE]]
    folder = ROOT / "build" / "peers"
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "adult.csv"
    original.to_csv(source, index=False)
    rows = []
    for name in OURS:
        script = (
            "import json, sys, time; import pandas as pd; import ldiv; t = pd.read_csv(sys.argv[1])\n"
            "from experiments.peers.runners import peak\n"
            "s = time.perf_counter()\n"
            "f = ldiv.anonymize(t, sys.argv[3].split(','), sys.argv[4], int(sys.argv[5]), algorithm=sys.argv[6]).frame\n"
            "s = time.perf_counter() - s; f.to_csv(sys.argv[2], index=False)\n"
            "print(json.dumps({'seconds': s, 'megabytes': peak() / 1024}))"
        )
        target = folder / f"ldiv {name}.csv"
        command = [sys.executable, "-c", script, source, target, ",".join(QI), SENSITIVE, str(options.l), name]
        cost = json.loads(subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout)
        rows.append({"tool": f"ldiv {name}", **judge(original, pd.read_csv(target, dtype=str), options.l), **cost, "note": ""})
    for name, package in PEERS.items():
        target = folder / f"{name}.csv"
        line: dict[str, Any] = {"tool": name, **dict.fromkeys(("rows", "cells", "l_eligible", "true_l", "groups", "seconds", "megabytes"), "")}
        try:
            cost = run(environment(package), name, source if name != "pycanon" else folder / "ldiv cascade.csv", target, options.l, options.timeout)
            note = "checks ldiv's cascade" if name == "pycanon" else ""
            rows.append({**line, **judge(original, pd.read_csv(target, dtype=str), options.l), **cost, "note": note})
        except subprocess.TimeoutExpired:
            rows.append({**line, "note": f"skipped: more than {options.timeout} s"})
        except (subprocess.CalledProcessError, OSError, ValueError) as error:
            text = (getattr(error, "stderr", "") or str(error)).strip().splitlines()
            rows.append({**line, "note": f"skipped: {text[-1][:90] if text else error}"})
        print(rows[-1], file=sys.stderr)
    out = ROOT / "paper_figures"
    write_csv(rows, out / "peers.csv")
    (out / "peers.md").write_text(table(rows, options.l))
    print(table(rows, options.l))
    return 0


def table(rows: list[dict[str, Any]], l: int) -> str:
    """The rows as Markdown."""
    head = ["tool", "rows", "QI cells not a value any more", f"{l}-diverse by our check", "true l", "groups", "seconds", "MB of the process", "note"]
    lines = [
        f"UCI Adult, complete rows, {len(QI)} quasi-identifiers, {SENSITIVE}, l = {l}.",
        "",
        "| " + " | ".join(head) + " |",
        "|" + " --- |" * len(head),
    ]
    for row in rows:
        cells = [
            f"{x:,.2f}" if isinstance(x, float) else ("yes" if x is True else "no" if x is False else f"{x:,}" if isinstance(x, int) else x)
            for x in row.values()
        ]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
