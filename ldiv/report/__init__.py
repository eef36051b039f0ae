"""One HTML page about a release: what was asked, what came out, how near to optimal, what is left of risk and use. Needs ``ldiv[report]``.

The page holds counts and column names only, never a row; it loads nothing from the network and runs no script.
"""

from __future__ import annotations

import datetime as dt
import os
import platform
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ldiv._version import __version__
from ldiv.errors import InputError
from ldiv.privacy.principles import Histograms
from ldiv.release.measures import kl_divergence, ncp
from ldiv.release.release import Release
from ldiv.report.sensitive import Part, parts_of
from ldiv.table.domain import NO_SENSITIVE
from ldiv.table.files import atomic
from ldiv.table.microdata import Microdata
from ldiv.table.text import text_of
from ldiv.tradeoff import lift

__all__ = ["render", "save"]

MOST_BARS = 30  # more SA values than this are summed up in a last bar


def render(release: Release, request: Mapping[str, Any] | None = None, *, original: Microdata | None = None, written: bool = False) -> str:
    """The page as text.

    Parameters
    ----------
    release : Release
    request : mapping, optional
        What was asked, line by line, such as the name of the file and its SHA-256; ``"command"`` is shown as the way to repeat it.
    original : Microdata, optional
        Of the table before it was coarsened, the same rows; what is left of its use is then measured in its values. Without it, in the values of
        the table that the release was made of.
    written : bool
        Whether the release was written to a file and read back; the page says so.

    Returns
    -------
    str
        HTML; the same release gives the same bytes on the same day.

    Raises
    ------
    InputError
        jinja2 is not installed.

    Examples
    --------
    >>> import ldiv
    >>> from ldiv.report import render
    >>> data = ldiv.datasets.load("acs2018", qi=["Gender", "Race"])
    >>> page = render(ldiv.solve(data, 4, effort="fast"))
    >>> page.startswith("<!doctype html>"), "<script" in page
    (True, False)
    """
    require_jinja()
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(loader=PackageLoader("ldiv.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    return environment.get_template("page.html").render(**_content(release, dict(request or {}), original, written))


def require_jinja() -> None:
    """Refuse before any work where a page could not be written after it.

    Raises
    ------
    InputError
        jinja2 is not installed.
    """
    if find_spec("jinja2") is None:
        raise InputError("a report needs jinja2: pip install 'ldiv[report]'")


def save(
    release: Release, path: str | Path, request: Mapping[str, Any] | None = None, *, original: Microdata | None = None, written: bool = False
) -> None:
    """Write the page, whole or not at all; parameters as of :func:`render`."""
    page = render(release, request, original=original, written=written).encode()
    with atomic(Path(path)) as stream:
        stream.write(page)


def _content(release: Release, request: dict[str, Any], original: Microdata | None, written: bool) -> dict[str, Any]:
    parts = parts_of(release)
    certificate = release.certificate if release.certified else None
    rows = max(release.n, 1)
    starred = [{"name": str(name), "count": stars, "share": stars / rows} for name, stars in release.stars_by_attribute.items()]
    persons = release.publication.persons if release.publication is not None else None
    bare = parts[0].name == NO_SENSITIVE.name
    return {
        "made": f"ldiv {__version__}, Python {platform.python_version()}, numpy {np.__version__}, {_today()}",
        "release": release,
        "names": ", ".join(str(part.name) for part in parts),
        "asked": _asked(release),
        "bare": bare,
        "persons": persons,
        "request": {k: v for k, v in request.items() if k != "command"},
        "command": request.get("command"),
        "starred": starred,
        "recoded": [{"name": str(name), "count": nodes, "share": nodes / rows} for name, nodes in release.nodes_by_attribute.items()]
        if not release.is_suppression
        else [],
        "publication": release.publication,
        "certificate": certificate,
        "cells": release.n * release.d,
        "sizes": _sizes(parts[0].after.size),
        "parts": [
            {"name": str(part.name), "shares": _shares(part.after, release.l), "values": _sensitive(part, release.l), "l": 2 * release.l}
            for part in parts
        ],
        "written": written,
        **_use(release, original),
        "risk": _risk(release, parts)[: -2 if bare else None],
    }


def _today() -> str:
    """The date; SOURCE_DATE_EPOCH sets it where pages must not differ."""
    now = os.environ.get("SOURCE_DATE_EPOCH")
    return (dt.datetime.fromtimestamp(int(now), dt.UTC) if now else dt.datetime.now(dt.UTC)).date().isoformat()


def _asked(release: Release) -> list[tuple[str, str]]:
    """What was asked beside l."""
    found = []
    weights = {domain.name: domain.weight for domain in release.contingency.domains if domain.weight != 1}
    if weights:
        found.append(("weights of stars", ", ".join(f"{name}: {weight}" for name, weight in weights.items())))
    if release.protected:
        found.append(("never starred", ", ".join(map(str, release.protected))))
    if highest := release.info.get("highest"):
        found.append(("highest level shown", ", ".join(f"{name}: {level}" for name, level in highest.items())))
    if also := release.info.get("also"):
        found.append(("beside l-diversity", ", ".join(also)))
    return found


def _risk(release: Release, parts: list[Part]) -> list[tuple[str, int, int]]:
    def least(sizes: Any) -> int:
        return int(sizes.min()) if len(sizes) else 0

    before, after = parts[0].before, parts[0].after
    found = [
        ("rows alone with their QI values", int((before.size == 1).sum()), int((after.size == 1).sum())),
        ("smallest group", least(before.size), least(after.size)),
    ]
    if parts[0].persons is not None:
        persons = parts[0].persons
        found.append(("persons in the smallest group", least(persons[0].size), least(persons[1].size)))
    return [
        *found,
        ("groups of equal QI values", release.contingency.groups, release.groups),
        ("largest l that holds", min(part.most(0) for part in parts), min(part.most(1) for part in parts)),
        (
            "rows in groups that show one sensitive value only",
            max(_bare(part.before) for part in parts),
            max(_bare(part.after) for part in parts),
        ),
    ]


def _use(release: Release, original: Microdata | None) -> dict[str, Any]:
    """What is left of the table's use: a value of a coarser table, or a sub-domain, is not the value that stood there."""
    visible = release.published >= 0
    measured = release
    if original is None:
        kept = int(release.group_sizes @ visible.sum(axis=1))
    else:
        measured = lift(release, original)
        coarse = release.contingency.data
        assert coarse is not None
        kept = 0
        for j, (before, after) in enumerate(zip(original.domains, coarse.domains, strict=True)):
            pairs, rows = np.unique(np.stack([original.narrow[:, j], coarse.narrow[:, j]]), axis=1, return_inverse=True)
            same = np.array([text_of(before.label(int(a))) == text_of(after.label(int(b))) for a, b in pairs.T], dtype=bool)
            kept += int((same[rows.ravel()] & visible[release.group, j]).sum()) if len(same) else 0
    return {"kl": kl_divergence(measured), "ncp": ncp(measured), "kept": kept / max(release.n * release.d, 1), "coarsened": original is not None}


def _bare(groups: Histograms) -> int:
    return int(groups.size[groups.size == groups.height].sum()) if len(groups.count) else 0


def _sizes(size: Any) -> list[dict[str, Any]]:
    """Rows by the size of their group, in doubling classes."""
    out: list[dict[str, Any]] = []
    low = 1
    while len(size) and low <= size.max():
        inside = (size >= low) & (size < 2 * low)
        out.append({"name": f"{low:,}" if low == 1 else f"{low:,} to {2 * low - 1:,}", "count": int(size[inside].sum()), "groups": int(inside.sum())})
        low *= 2
    total = max(sum(x["count"] for x in out), 1)
    return [{**x, "share": x["count"] / total} for x in out if x["groups"]]


def _shares(groups: Histograms, l: int) -> list[dict[str, Any]]:
    """Rows by the share of the commonest sensitive value of their group; nothing may be above 1/l."""
    size, height = groups.size, groups.height
    if not len(size):
        return []
    share = height / size
    edges = np.linspace(0, 1 / l, 6)
    out = []
    for k, (a, b) in enumerate(zip(edges, edges[1:], strict=False)):
        inside = (share > a) & (share <= b + (1e-12 if k == 4 else 0))
        out.append({"name": f"{100 * a:.1f} to {100 * b:.1f} %", "count": int(size[inside].sum()), "share": size[inside].sum() / size.sum()})
    return out


def _sensitive(part: Part, l: int) -> list[dict[str, Any]]:
    """Each sensitive value's share in the table, and the largest it has in any group of at least 2l rows."""
    groups, total = part.after, part.after.total
    order = np.argsort(-total, kind="stable")
    size = np.repeat(groups.size, np.diff(groups.indptr)) if len(groups.count) else np.zeros(0)
    most = np.zeros(len(total))
    large = size >= 2 * l
    np.maximum.at(most, groups.sensitive[large], groups.count[large] / size[large])
    whole = max(int(total.sum()), 1)
    rows = [{"name": str(part.labels[v]), "count": int(total[v]), "share": total[v] / whole, "most": most[v]} for v in order if total[v]]
    if len(rows) > MOST_BARS:
        rest = rows[MOST_BARS:]
        rows = [
            *rows[:MOST_BARS],
            {
                "name": f"{len(rest)} others",
                "count": sum(x["count"] for x in rest),
                "share": sum(x["share"] for x in rest),
                "most": max(x["most"] for x in rest),
            },
        ]
    return rows
