"""Drawing: two panels side by side, legible in grey, the same bytes for the same numbers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

__all__ = ["Line", "bars", "lines", "save"]

# Marker, dash and shade all differ, so that a black-and-white print can be read.
STYLE: dict[str, dict[str, Any]] = {
    "hilbert": {"marker": "s", "linestyle": "--", "color": "#b35806"},
    "tp": {"marker": "o", "linestyle": "-", "color": "#2166ac"},
    "tp+": {"marker": "^", "linestyle": "-", "color": "#053061"},
    "tds": {"marker": "D", "linestyle": ":", "color": "#7f3b08"},
    "mondrian": {"marker": "v", "linestyle": "-.", "color": "#8073ac"},
    "cascade": {"marker": "P", "linestyle": "-", "color": "#1b7837"},
    "lagrangian": {"marker": "*", "linestyle": "-", "color": "#762a83"},
    "bound": {"marker": "", "linestyle": (0, (1, 1)), "color": "#000000"},
}
NAMES = {"hilbert": "Hilbert", "tp": "TP", "tp+": "TP+", "tds": "TDS", "mondrian": "Mondrian"}
SPARE = [{"marker": m, "linestyle": s, "color": c} for m, s, c in
         zip("xdph1", ["--", "-.", ":", "-", "--"], ["#444444", "#777777", "#222222", "#999999", "#555555"], strict=True)]
HATCHES = ["", "//", "xx", ".."]
GREYS = ["#f0f0f0", "#b0b0b0", "#606060", "#202020"]


@dataclass(frozen=True)
class Line:
    """One point of one line of one panel."""

    panel: str
    series: str
    x: float
    y: float


def style(name: str, place: int) -> dict[str, Any]:
    return STYLE.get(name, SPARE[place % len(SPARE)])


def panels(names: list[str]) -> tuple[Figure, list[Axes]]:
    figure, axes = plt.subplots(1, len(names), figsize=(4.2 * len(names) + 0.4, 3.4), layout="constrained", squeeze=False)
    for name, ax in zip(names, axes[0], strict=True):
        ax.set_title(name, fontsize=11)
        ax.grid(True, linewidth=0.4, alpha=0.5)
        ax.spines[["top", "right"]].set_visible(False)
    return figure, list(axes[0])


def lines(points: list[Line], x: str, label: str, path: Path, *, log: bool = False) -> None:
    """Lines against x, the panels sharing their y axis."""
    names = list(dict.fromkeys(p.panel for p in points))
    figure, axes = panels(names)
    top = max((p.y for p in points), default=1.0)
    for name, ax in zip(names, axes, strict=True):
        for place, series in enumerate(dict.fromkeys(p.series for p in points if p.panel == name)):
            line = [p for p in points if (p.panel, p.series) == (name, series)]
            ax.plot([p.x for p in line], [p.y for p in line], label=NAMES.get(series, series), markersize=5, linewidth=1.3,
                    markerfacecolor="white", **style(series, place))
        ax.set_xlabel(x, style="italic")
        ax.set_xticks(sorted({p.x for p in points}))
        if log:
            ax.set_yscale("log")
        else:
            ax.set_ylim(0, top * 1.05)
            ax.yaxis.set_major_formatter(lambda y, _: f"{y:,.6g}")
    axes[0].set_ylabel(label)
    axes[-1].legend(frameon=False, fontsize=9)
    save(figure, path)


def bars(data: list[dict[str, Any]], panel: str, x: str, stacks: list[str], label: str, path: Path) -> None:
    """Stacked bars against x."""
    names = list(dict.fromkeys(row[panel] for row in data))
    figure, axes = panels(names)
    for name, ax in zip(names, axes, strict=True):
        rows = [row for row in data if row[panel] == name]
        floor = [0.0] * len(rows)
        for stack, hatch, grey in zip(stacks, HATCHES, GREYS, strict=False):
            heights = [row[stack] for row in rows]
            ax.bar([row[x] for row in rows], heights, bottom=floor, label=stack, hatch=hatch, color=grey, edgecolor="black",
                   linewidth=0.6)
            floor = [a + b for a, b in zip(floor, heights, strict=True)]
        ax.set_xlabel(x, style="italic")
        ax.set_xticks([row[x] for row in rows])
    axes[0].set_ylabel(label)
    axes[-1].legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1, 1))
    save(figure, path)


def save(figure: Figure, path: Path) -> None:
    """PNG and PDF without a date, so that the same figure is the same bytes."""
    figure.savefig(path.with_suffix(".png"), dpi=150, metadata={"Software": None})
    figure.savefig(path.with_suffix(".pdf"), metadata={"CreationDate": None, "Producer": None, "Creator": None})
    plt.close(figure)
