"""python -m experiments.benchmarks [words]: the aims whose name holds one of the words, measured now; exit code 0 whatever falls short."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.table import Table

from experiments.benchmarks.aims import AIMS


def main(words: list[str]) -> int:
    lines = Table("what", "measured", "aim", "in", "verdict", "note")
    for aim in AIMS:
        if words and not any(word.lower() in aim.name.lower() for word in words):
            continue
        print(aim.name, "...", file=sys.stderr, flush=True)
        number, note = aim.measure()
        lines.add_row(aim.name, f"{number:.3g}", f"{aim.limit:g}", aim.unit, "pass" if number <= aim.limit else "short", note)
    Console(width=160).print(lines)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
