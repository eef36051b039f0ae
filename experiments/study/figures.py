"""Figures of a study: what a release still answers, and what it gives away, by l."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.study.config import Study
from experiments.study.measures import COLUMNS
from experiments.study.table import over_seeds

__all__ = ["draw"]

DRAWN = ("query_median", "ncp", "guessed", "recovered")
MARKS = "osD^vP*Xhd<>p8."
FEW = 100  # times the least value: within that, powers of ten alone would be too few marks of an axis


def draw(study: Study, rows: Sequence[dict[str, Any]], folder: Path) -> list[Path]:
    """One figure a measure, a panel a table, a line an algorithm; of several seeds the mean, with a bar from the lowest to the highest."""
    import matplotlib  # only needed by who draws

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator

    written = []
    releases = [row for row in over_seeds(rows) if row["k"] == study.k[0]]
    for measure in DRAWN:
        there = [row for row in releases if measure in row]
        tables = [name for name in study.tables if any(row["table"] == name for row in there)]
        if not tables:
            continue
        wide = min(2, len(tables))
        figure, axes = plt.subplots(
            -(-len(tables) // wide), wide, figsize=(5.2 * wide, 3.6 * -(-len(tables) // wide)), squeeze=False, layout="constrained"
        )
        colours = plt.get_cmap("tab20").colors
        for ax in axes.flat[len(tables) :]:
            ax.set_visible(False)
        for ax, name in zip(axes.flat, tables, strict=False):
            for at, algorithm in enumerate(study.algorithms):
                mine = sorted(
                    (row["l"], row[measure], *row["spread"].get(measure, (row[measure],) * 2))
                    for row in there
                    if (row["table"], row["algorithm"]) == (name, algorithm)
                )
                if mine:
                    l, mean, low, high = np.array(mine, dtype=float).T
                    look = {"marker": MARKS[at % len(MARKS)], "color": colours[at % 20], "ms": 5, "lw": 1.2, "capsize": 2}
                    ax.errorbar(l, mean, yerr=[mean - low, high - mean], label=algorithm, **look)
            values = [row[measure] for row in there if row["table"] == name]
            if min(values) > 0:
                ax.set_yscale("log")
                ax.yaxis.set_major_formatter("{x:g}")
                if max(values) < FEW * min(values):
                    ax.yaxis.set_minor_locator(LogLocator(subs=(2, 5)))
                    ax.yaxis.set_minor_formatter("{x:g}")
                else:
                    ax.yaxis.set_minor_formatter("")
            ax.set_title(name, fontsize=10)
            ax.set_xlabel("l")
            ax.set_xticks(sorted({row["l"] for row in there if row["table"] == name}))
            ax.spines[["top", "right"]].set_visible(False)
            ax.grid(alpha=0.3)
        handles = {label: handle for ax in axes.flat for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
        figure.legend(handles.values(), handles.keys(), loc="outside right upper", fontsize=8, frameon=False)
        figure.suptitle(textwrap.fill(COLUMNS[measure][0], 48 * wide), fontsize=11, x=0.02, ha="left")
        path = folder / f"{measure}.png"
        figure.savefig(path, dpi=110)
        plt.close(figure)
        written.append(path)
    return written
