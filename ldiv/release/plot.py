"""Drawings of releases in matplotlib (``pip install 'ldiv[report]'``): each returns its axes, to be changed or saved by ``axes.figure.savefig``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ldiv.arguments import shown
from ldiv.errors import InputError

__all__ = ["Plot", "plot_compare"]

BLUE, GREY = "#2166ac", "#777777"
COLOURS = ("#2166ac", "#b2182b", "#4d9221", "#8073ac", "#e08214", "#35978f", "#c51b7d", "#666666")  # told apart in print and by most eyes
MARKS = "osD^vPX*"


def _axes(ax: Any, size: tuple[float, float]) -> Any:
    try:
        import matplotlib.pyplot as plt  # only needed by who draws
    except ImportError as error:
        raise InputError("drawing needs matplotlib: pip install 'ldiv[report]'") from error
    if ax is None:
        _, ax = plt.subplots(figsize=size, layout="constrained")
    elif not hasattr(ax, "barh"):
        raise InputError(f"ax must be axes of matplotlib, or None, not {shown(ax)}")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _groups(count: int) -> str:
    return f"{count:,} group{'s' if count != 1 else ''}"


def _bars(ax: Any, names: Sequence[str], values: Sequence[float], words: Sequence[str], title: str, xlabel: str) -> Any:
    bars = ax.barh(range(len(names)), values, color=BLUE)
    ax.bar_label(bars, words, padding=3)
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set_xlim(0, max([*values, 1e-9]) * 1.35)
    ax.set_title(title, loc="left", fontsize="medium")
    ax.set_xlabel(xlabel)
    return ax


class Plot:
    """What :attr:`ldiv.Release.plot` draws.

    Examples
    --------
    >>> import ldiv
    >>> release = ldiv.solve(ldiv.datasets.load("acs2018", qi=["Age", "Race"]), 6, algorithm="tp")
    >>> [bar.get_text() for bar in release.plot.stars().texts]
    ['18,456 (7.43 %)', '18,456 (7.43 %)']
    """

    def __init__(self, release: Any) -> None:
        self._release = release

    def __repr__(self) -> str:
        return "<Plot: stars(), groups(), shares()>"

    def stars(self, ax: Any = None) -> Any:
        """Starred cells of each quasi-identifier, as a part of all rows.

        Parameters
        ----------
        ax : matplotlib axes, optional

        Returns
        -------
        matplotlib axes
        """
        stars = self._release.stars_by_attribute
        rows = max(self._release.n, 1)
        shares = [100 * count / rows for count in stars.values()]
        words = [f"{count:,} ({share:.2f} %)" for count, share in zip(stars.values(), shares, strict=True)]
        ax = _axes(ax, (6, 0.8 + 0.4 * len(stars)))
        return _bars(ax, [str(name) for name in stars], shares, words, "Stars by column", "% of rows")

    def groups(self, ax: Any = None) -> Any:
        """Rows by the size of their QI-group, in doubling classes.

        Parameters
        ----------
        ax : matplotlib axes, optional

        Returns
        -------
        matplotlib axes
        """
        sizes = self._release.group_sizes
        names, rows, words = [], [], []
        low = 1
        while len(sizes) and low <= sizes.max():
            inside = (sizes >= low) & (sizes < 2 * low)
            if inside.any():
                names.append("1" if low == 1 else f"{low:,} to {2 * low - 1:,}")
                rows.append(float(sizes[inside].sum()))
                words.append(f"{int(sizes[inside].sum()):,} in {_groups(int(inside.sum()))}")
            low *= 2
        return _bars(_axes(ax, (6, 0.8 + 0.4 * max(len(names), 1))), names, rows, words, "Rows by the size of their group", "rows")

    def shares(self, ax: Any = None) -> Any:
        """How many rows are in groups whose commonest sensitive value has at most which share; none may lie beyond 1/l.

        Parameters
        ----------
        ax : matplotlib axes, optional

        Returns
        -------
        matplotlib axes
        """
        release = self._release
        size, height, _ = release._heights
        ax = _axes(ax, (6, 3))
        order = np.argsort(height / size) if len(size) else np.zeros(0, int)
        ax.step([0, *(height / size)[order], 1 / release.l], [0, *np.cumsum(size[order]), release.n], where="post", color=BLUE)
        ax.axvline(1 / release.l, color=GREY, linestyle="--")
        ax.annotate(f"1/{release.l}", (1 / release.l, 0), xytext=(-4, 4), textcoords="offset points", ha="right", color=GREY)
        ax.set_xlim(0, 1.05 / release.l)
        ax.set_ylim(0, max(release.n, 1) * 1.05)
        ax.set_title("Rows by the share of the commonest value in their group", loc="left", fontsize="medium")
        ax.set_xlabel("share of at most")
        ax.set_ylabel("rows")
        return ax


def plot_compare(releases: Mapping[str, Any] | Sequence[Any], *, what: str = "stars", ax: Any = None) -> Any:
    """Releases side by side: a line for each algorithm over l, or bars where all have the same l; with the best proven bound where all are
    of the same table.

    Parameters
    ----------
    releases : sequence of Release, mapping from name to Release, or rows of ``ldiv compare --json``
    what : {"stars", "suppressed_rows", "groups", "kl", "seconds"}
        What is compared; the last two are in the rows of ``ldiv compare`` only.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes

    Raises
    ------
    InputError
        Nothing to compare, or rows without `what`.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.datasets.load("acs2018", qi=["Age", "Race"])
    >>> axes = ldiv.plot_compare([ldiv.solve(data, l, algorithm=name) for l in (2, 6) for name in ("tp", "cascade")])
    >>> axes.get_legend_handles_labels()[1]
    ['tp', 'cascade', 'no release has fewer']
    """
    rows = [row for row in _rows(releases) if row.get(what) is not None]
    if not rows:
        raise InputError(f"nothing to compare: no release has {shown(what)}")
    names = list(dict.fromkeys(row["name"] for row in rows))
    levels = sorted({row["l"] for row in rows})
    same = len({row["table"] for row in rows}) == 1  # of another table, coarsened say, another bound holds
    bounds = {
        l: None if not same else max([row["bound"] for row in rows if row["l"] == l and row["bound"] is not None], default=None) for l in levels
    }
    label = {"stars": "stars", "suppressed_rows": "rows with a star", "groups": "groups", "kl": "KL-divergence (nats)"}.get(what, what)
    if len(levels) == 1:
        values = {row["name"]: row[what] for row in rows}
        words = [f"{value:,}" if isinstance(value, int) else f"{value:.4g}" for value in values.values()]
        ax = _axes(ax, (6, 0.8 + 0.4 * len(values)))
        _bars(ax, list(values), list(values.values()), words, f"{label} at l = {levels[0]}", label)
        if what == "stars" and bounds[levels[0]] is not None:
            ax.axvline(bounds[levels[0]], color=GREY, linestyle="--", label="no release has fewer")
            ax.legend(frameon=False, loc="lower right")
        return ax
    ax = _axes(ax, (6, 3.6))
    for k, name in enumerate(names):
        points = sorted((row["l"], row[what]) for row in rows if row["name"] == name)
        ax.plot(*zip(*points, strict=True), color=COLOURS[k % len(COLOURS)], marker=MARKS[k % len(MARKS)], label=name)
    proved = [(l, bound) for l, bound in bounds.items() if bound is not None]
    if what == "stars" and proved:
        ax.plot(*zip(*proved, strict=True), color=GREY, linestyle="--", label="no release has fewer")
    ax.set_xticks(levels)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("l")
    ax.set_ylabel(label)
    ax.legend(frameon=False)
    return ax


def _rows(releases: Any) -> list[dict[str, Any]]:
    pairs = releases.items() if isinstance(releases, Mapping) else ((None, one) for one in releases) if hasattr(releases, "__iter__") else ()
    found = []
    for name, one in pairs:
        if isinstance(one, Mapping) and "l" in one and "algorithm" in one:
            found.append({"bound": None, "table": None, **one, "name": name or one["algorithm"]})
        elif hasattr(one, "published") and hasattr(one, "algorithm"):
            facts = {key: getattr(one, key) for key in ("stars", "suppressed_rows", "groups")}
            plain = one.is_suppression and one.cost == one.stars and "loss" not in one.info
            c = one.contingency
            table = hash((c.codes.tobytes(), c.sensitive.tobytes(), c.count.tobytes()))
            found.append({"table": table, "l": one.l, "name": str(name or one.algorithm), "bound": one.certificate.bound if plain else None, **facts})
        else:
            raise InputError(f"releases must be releases, or rows of ldiv compare --json, not {shown(one)}")
    return found
