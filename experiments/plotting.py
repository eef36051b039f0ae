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

__all__ = ["Line", "bars", "differences", "dots", "lines", "save"]

# Marker, dash and shade all differ, so that a black-and-white print can be read.
STYLE: dict[str, dict[str, Any]] = {
    "hilbert": {"marker": "s", "linestyle": "--", "color": "#b35806"},
    "tp": {"marker": "o", "linestyle": "-", "color": "#2166ac"},
    "tp+": {"marker": "^", "linestyle": "-", "color": "#053061"},
    "tds": {"marker": "D", "linestyle": ":", "color": "#7f3b08"},
    "mondrian": {"marker": "v", "linestyle": "-.", "color": "#8073ac"},
    "cascade": {"marker": "P", "linestyle": "-", "color": "#1b7837"},
    "lagrangian": {"marker": "*", "linestyle": "-", "color": "#762a83"},
    "TP+ multi-dimensional": {"marker": "x", "linestyle": "--", "color": "#4393c3"},
    "bound": {"marker": "", "linestyle": (0, (1, 1)), "color": "#000000"},
}
NAMES = {"hilbert": "Hilbert", "tp": "TP", "tp+": "TP+", "tds": "TDS", "mondrian": "Mondrian", "kl": "KL"}
SPARE = [
    {"marker": m, "linestyle": s, "color": c}
    for m, s, c in zip("xdph1", ["--", "-.", ":", "-", "--"], ["#444444", "#777777", "#222222", "#999999", "#555555"], strict=True)
]
MANY = 7  # series beyond which their names would cover lines
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


def name_x(ax: Axes, x: str) -> None:
    """The name of the x axis: a symbol in italics, words upright."""
    ax.set_xlabel(x, style="italic" if len(x) == 1 else "normal")


def panels(names: list[str], down: bool = False) -> tuple[Figure, list[Axes]]:
    """Panels side by side, or one below the other for pages that are read on a phone."""
    many = len(names)
    size = (5.6, 2.9 * many) if down else (4.2 * many + 0.4, 3.4)
    figure, grid = plt.subplots(many if down else 1, 1 if down else many, figsize=size, layout="constrained", squeeze=False)
    axes = grid.ravel()
    for name, ax in zip(names, axes, strict=True):
        ax.set_title(name, fontsize=11)
        ax.grid(True, linewidth=0.4, alpha=0.5)
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
    return figure, list(axes)


def lines(
    points: list[Line],
    x: str,
    label: str,
    path: Path,
    *,
    log: bool = False,
    xlog: bool = False,
    shared: bool = True,
    ticks: list[float] | None = None,
    floor: float = 0,
    down: bool = False,
) -> None:
    """Lines against x; the panels share their y axis unless told otherwise. `ticks` of x where not every x has one, `floor` of y, panels `down` the page."""
    names = list(dict.fromkeys(p.panel for p in points))
    figure, axes = panels(names, down)
    for name, ax in zip(names, axes, strict=True):
        mine = [p for p in points if p.panel == name]
        for place, series in enumerate(dict.fromkeys(p.series for p in mine)):
            line = [p for p in mine if p.series == series]
            ax.plot(
                [p.x for p in line],
                [p.y for p in line],
                label=NAMES.get(series, series),
                markersize=5,
                linewidth=1.3,
                markerfacecolor="white",
                **style(series, place),
            )
        marks = ticks or sorted({p.x for p in mine})
        if xlog:
            ax.set_xscale("log")
        ax.set_xticks(marks, [f"{t:,}" if t < 10_000 else f"{t / 1000:,.0f}k" if t < 10**6 else f"{t / 10**6:,.0f}M" for t in marks])
        ax.minorticks_off()
        name_x(ax, x)
        if log:
            ax.set_yscale("log")
            heights = [p.y for p in (points if shared else mine)]
            ax.set_ylim(min(heights) / 1.3, max(heights) * 1.3)
        else:
            top = max(p.y for p in (points if shared else mine))
            ax.set_ylim(floor, top * 1.05)
            ax.yaxis.set_major_formatter(lambda y, _: f"{y:,.0f}" if abs(y) >= 1000 else f"{y:.6g}")
    axes[0].set_ylabel(label)
    if len(axes) == 1:
        axes[0].legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1, 1))
    else:
        known = {
            label: handle for ax in reversed(axes) for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
        }  # a series may miss in some panels
        beside = {"loc": "upper left", "bbox_to_anchor": (1, 1)} if len(known) > MANY else {}
        axes[-1].legend(known.values(), known.keys(), frameon=False, fontsize=9, **beside)
    save(figure, path)


def dots(points: list[Line], x: str, label: str, path: Path) -> None:
    """One dot for each point, the mean at each x as a line."""
    names = list(dict.fromkeys(p.panel for p in points))
    figure, axes = panels(names)
    for name, ax in zip(names, axes, strict=True):
        mine = [p for p in points if p.panel == name]
        at = sorted({p.x for p in mine})
        means = [sum(ys) / len(ys) for ys in ([p.y for p in mine if p.x == t] for t in at)]
        ax.plot([p.x for p in mine], [p.y for p in mine], "o", color="#555555", markersize=4, alpha=0.35, markeredgewidth=0)
        ax.plot(at, means, "-", color="black", linewidth=1.6)
        for t, mean in zip(at, means, strict=True):
            ax.annotate(f"{mean:.3f}", (t, mean), xytext=(-6, 3), textcoords="offset points", ha="right", fontsize=8)
        ax.set_xticks(at)
        ax.margins(x=0.18)
        name_x(ax, x)
        ax.set_ylim(1, max(p.y for p in points) * 1.02)
    axes[0].set_ylabel(label)
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
            ax.bar([row[x] for row in rows], heights, bottom=floor, label=stack, hatch=hatch, color=grey, edgecolor="black", linewidth=0.6)
            floor = [a + b for a, b in zip(floor, heights, strict=True)]
        name_x(ax, x)
        ax.set_xticks([row[x] for row in rows])
    axes[0].set_ylabel(label)
    axes[-1].legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1, 1))
    save(figure, path)


def differences(data: list[dict[str, Any]], panel: str, x: str, series: str, value: str, limit: str, path: Path) -> None:
    """Grouped bars of differences in per cent, each with the limit it has to stay within."""
    names = list(dict.fromkeys(row[panel] for row in data))
    figure, axes = panels(names)
    kinds = list(dict.fromkeys(row[series] for row in data))
    for name, ax in zip(names, axes, strict=True):
        groups = list(dict.fromkeys(row[x] for row in data if row[panel] == name))
        for k, kind in enumerate(kinds):
            rows = [row for row in data if (row[panel], row[series]) == (name, kind)]
            places = [groups.index(row[x]) + (k - (len(kinds) - 1) / 2) * 0.2 for row in rows]
            what, _, algorithm = kind.partition(" ")
            label = f"{NAMES.get(what, what)}, {NAMES.get(algorithm, algorithm)}"
            ax.bar(places, [row[value] for row in rows], 0.18, label=label, hatch=HATCHES[k], color=GREYS[k], edgecolor="black", linewidth=0.6)
            for place, row in zip(places, rows, strict=True):
                for side in (-1, 1):
                    ax.plot([place - 0.09, place + 0.09], [side * row[limit]] * 2, color="black", linewidth=1)
        ax.axhline(0, color="black", linewidth=0.6)
        ax.set_xticks(range(len(groups)), [f"{x} = {g}" for g in groups])
    axes[0].set_ylabel(value + " (strokes: limits)")
    axes[-1].legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1, 1))
    save(figure, path)


def save(figure: Figure, path: Path) -> None:
    """PNG and PDF without a date, so that the same figure is the same bytes."""
    figure.savefig(path.with_suffix(".png"), dpi=150, metadata={"Software": None})
    figure.savefig(path.with_suffix(".pdf"), metadata={"CreationDate": None, "Producer": None, "Creator": None})
    plt.close(figure)
