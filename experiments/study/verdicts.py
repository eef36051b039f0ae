"""What is said of a published number and ours: one rule, whatever was replayed."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

__all__ = ["Replay", "beside", "claimed", "compared", "kept", "many", "save"]

RULE = (
    "*Agrees*: within what the row says, of the mean of ours over the draws; beyond that *ours is better* or *ours is worse*. "
    "*Not comparable*: another table or other queries, so nothing is ranked."
)


@dataclass(frozen=True)
class Replay:
    """One number, or one claim.

    Attributes
    ----------
    source : str
        Where it is published.
    what : str
        The number and its settings.
    published, ours : str
        Of several draws the mean, the least and the greatest.
    within : str
        How far apart they may be to agree.
    verdict : str
        ``"agrees"``, ``"ours is better"``, ``"ours is worse"``, ``"differs"`` (of a claim), ``"not comparable"``.
    why : str
        What the verdict rests on, and what differs.
    """

    source: str
    what: str
    published: str
    ours: str
    within: str
    verdict: str
    why: str


def compared(source: str, what: str, published: float, ours: Sequence[float], *, within: float, more: bool, why: str, form: str = "{:.4f}") -> Replay:
    """A number of the same table by the same protocol; of `ours` one for each draw. `more`: whether the greater is the better."""
    apart = mean(ours) - published
    verdict = "agrees" if abs(apart) <= within else "ours is better" if (apart > 0) == more else "ours is worse"
    return Replay(source, what, form.format(published), many(ours, form), f"{within:g}", verdict, why)


def claimed(source: str, what: str, published: str, ours: str, holds: bool, within: str, why: str) -> Replay:
    """Something that holds or does not."""
    return Replay(source, what, published, ours, within, "agrees" if holds else "differs", why)


def beside(source: str, what: str, published: str, ours: str, why: str) -> Replay:
    """Numbers of different tables or queries."""
    return Replay(source, what, published, ours, "", "not comparable", why)


def many(values: Sequence[float], form: str = "{:.4f}") -> str:
    """The mean of several draws, and from the least to the greatest where they are not shown as one."""
    least, middle, most = (form.format(x) for x in (min(values), mean(values), max(values)))
    return middle if least == most else f"{middle} ({least} to {most} in {len(values)} draws)"


def kept(path: Path, anew: list[str]) -> list[dict[str, Any]]:
    """What stands there of the replays that are not run now."""
    if not path.is_file():
        return []
    with path.open(newline="") as stream:
        return [dict(row) for row in csv.DictReader(stream) if row["replay"] not in anew]


def save(rows: list[dict[str, Any]], folder: Path) -> list[Path]:
    """The replays as CSV and as a page."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "replays.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    lines = ["# Published numbers, replayed", "", "`python -m experiments.study.replays`; commit and date of each row stand in replays.csv.", ""]
    lines += [RULE, "", "| what | published | ours | within | verdict | |", "|---|---|---|---|---|---|"]
    seen = ""
    for row in rows:
        if row["source"] != seen:
            seen = row["source"]
            lines.append(f"| **{seen}** | | | | | |")
        lines.append(f"| {row['what']} | {row['published']} | {row['ours']} | {row['within']} | {row['verdict']} | {row['why']} |")
    (folder / "replays.md").write_text("\n".join(lines) + "\n")
    return [folder / "replays.csv", folder / "replays.md"]
