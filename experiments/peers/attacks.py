"""python -m experiments.peers.attacks: releases of the shipped table under anonymeter's attacks, written to paper_figures/peers_attacks.md and .csv.

Half of some people are released, the other half are those whom no release is about: what the attacks find out of these they know from the population, and
anonymeter's risk is what they find out beyond that. It is installed in an environment of its own under build/peers.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd

import ldiv
from experiments.figures import write_csv
from experiments.peers.__main__ import ROOT, environment

QI = ["Age", "Gender", "Race", "MaritalStatus", "Education"]
SENSITIVE = "Income"
RELEASES: dict[str, dict[str, Any] | None] = {
    "as it is": None,
    "auto, l = 2": {"l": 2},
    "auto, l = 4": {"l": 4},
    "auto, l = 10": {"l": 10},
    "tp+, l = 4": {"l": 4, "algorithm": "tp+"},
    "mondrian, l = 4": {"l": 4, "algorithm": "mondrian"},
    "auto, k = 4 alone": {"k": 4},
}
RUNNER = Path(__file__).with_name("attackers.py")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m experiments.peers.attacks", description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000, help="people that are released, and as many that are not")
    parser.add_argument("--attacks", type=int, default=1000, help="of each kind on each release")
    parser.add_argument("--timeout", type=int, default=600, help="seconds that the attacks on one release may take")
    options = parser.parse_args()
    python = environment("anonymeter")
    folder = ROOT / "build" / "peers"
    table = pd.DataFrame(ldiv.datasets.load_frame("acs2018"))[[*QI, SENSITIVE]].sample(2 * options.rows, random_state=1)
    people, others = table[: options.rows], table[options.rows :]
    people.to_csv(folder / "people.csv", index=False)
    others.to_csv(folder / "others.csv", index=False)
    rows: list[dict[str, Any]] = []
    out = ROOT / "paper_figures"
    asking = [python, "-c", "import importlib.metadata as m; print(m.version('anonymeter'))"]
    version = subprocess.run(asking, check=True, capture_output=True, text=True).stdout.strip()
    for name, asked in RELEASES.items():
        if asked is None:
            released, starred = people, 0.0
        else:
            release = ldiv.anonymize(people, QI, SENSITIVE if "l" in asked else None, order="random", **asked)
            released, starred = release.frame, 100 * release.stars / (release.n * release.d)
        released.to_csv(folder / "released.csv", index=False)
        files = [folder / f"{part}.csv" for part in ("people", "others", "released")]
        command = [python, RUNNER, *files, SENSITIVE, str(options.attacks)]
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=options.timeout)
        found = json.loads(done.stdout.strip().splitlines()[-1])
        rows += [{"release": name, "stars_percent": starred, **one} for one in found]
        print(name, [f"{one['attack']} {one['risk']:.3f}" for one in found], file=sys.stderr)
        write_csv(rows, out / "peers_attacks.csv")  # after each, so that what was measured stays if a later one takes too long
        (out / "peers_attacks.md").write_text(page(rows, options.rows, options.attacks, version))
    print((out / "peers_attacks.md").read_text())
    return 0


def page(rows: list[dict[str, Any]], people: int, attacks: int, version: str) -> str:
    """The rows as Markdown, a line for each release."""
    kinds = list(dict.fromkeys(row["attack"] for row in rows))
    head = ["release", "% of QI cells starred", *(f"{kind}: attack, control, risk (95 %)" for kind in kinds)]
    lines = [
        f"anonymeter {version}, {attacks:,} attacks of each kind on {people:,} people of the shipped table ({', '.join(QI)}; {SENSITIVE}); {people:,} others as control.",
        "",
        "| " + " | ".join(head) + " |",
        "|" + " --- |" * len(head),
    ]
    for name in dict.fromkeys(row["release"] for row in rows):
        mine = {row["attack"]: row for row in rows if row["release"] == name}
        cells = [name, f"{mine[kinds[0]]['stars_percent']:.1f}"]
        for kind in kinds:
            row = mine[kind]
            cells.append(f"{row['attack_rate']:.3f}, {row['control_rate']:.3f}, **{row['risk']:.3f}** ({row['low']:.3f} to {row['high']:.3f})")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
