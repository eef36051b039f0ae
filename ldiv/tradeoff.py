"""Which coarsening is best: releases of a table coarsened in several ways, compared in the values of the original."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np

from ldiv.algorithms import get, list_algorithms
from ldiv.api import solve
from ldiv.arguments import BEST
from ldiv.errors import InputError
from ldiv.release.form import Subdomain
from ldiv.release.measures import kl_divergence
from ldiv.release.release import Release
from ldiv.table.coarsening import Bins, coarsen
from ldiv.table.microdata import Microdata

__all__ = ["Choice", "lift", "trade_off"]

MOST = 1000  # combinations that are tried at the most


@dataclass(frozen=True)
class Choice:
    """One way to coarsen, and what the release is like then.

    Attributes
    ----------
    columns : dict
        As :func:`ldiv.coarsen` takes it; columns that stay as they are do not stand in it.
    stars : int
    kl : float
        KL-divergence in nats in the values of the original table: what coarsening loses counts too.
    """

    columns: dict[str, Any]
    stars: int
    kl: float


def lift(release: Release, data: Microdata) -> Release:
    """The release of a coarsened table, with the original's values behind what it publishes.

    Parameters
    ----------
    release : Release
        Of a table with the same rows as `data` and as many attributes, each a function of the original's.
    data : Microdata
        The original.

    Notes
    -----
    The groups stay as they are, so l-diversity carries over. O(n * d).
    """
    coarse = release.contingency.data
    if coarse is None or coarse.narrow.shape != data.narrow.shape:
        raise InputError("lift needs the release of a table with the same rows and as many attributes")
    published = release.published.copy()
    subdomains: list[list[Subdomain]] = []
    for j in range(data.d):
        kinds: list[Subdomain] = []
        pairs = np.unique(np.stack([coarse.narrow[:, j], data.narrow[:, j]]), axis=1) if data.n else np.zeros((2, 0), dtype=int)
        behind = {int(code): pairs[1][pairs[0] == code] for code in np.unique(pairs[0])}
        for k, coarse_kind in enumerate(release.subdomains[j]):
            fine = np.concatenate([behind.get(int(code), pairs[1][:0]) for code in coarse_kind.codes])
            published[release.published[:, j] == -2 - k, j] = -2 - len(kinds)
            kinds.append(Subdomain(tuple(sorted(set(fine.tolist()))), coarse_kind.text))
        for code, fine in behind.items():
            mine = release.published[:, j] == code
            if len(fine) == 1:
                published[mine, j] = fine[0]
            else:
                published[mine, j] = -2 - len(kinds)
                kinds.append(Subdomain(tuple(fine.tolist()), str(coarse.domains[j].label(code))))
        subdomains.append(kinds)
    c = data.contingency
    assert c.cell_of_row is not None
    return Release.from_entries(
        c,
        release.group,
        c.cell_of_row,
        np.ones(data.n, dtype=np.int64),
        l=release.l,
        algorithm=release.algorithm,
        published=published,
        subdomains=subdomains,
    )


def trade_off(
    frame: Any,
    qi: Sequence[str],
    sensitive: str,
    l: int,
    options: Mapping[str, Sequence[int | Bins | None]],
    *,
    hierarchies: Mapping[str, Any] | None = None,
    best: str = "kl",
    algorithm: str = "cascade",
    missing: str | Mapping[str, str] | None = None,
) -> list[Choice]:
    """Try every combination of coarsenings, best first.

    Parameters
    ----------
    frame, qi, sensitive, l, hierarchies, missing
        As :func:`ldiv.anonymize` takes them.
    options : mapping of column to sequence
        What to try for each column: levels, :class:`ldiv.Bins`, None for as it is.
    best : {"kl", "stars"}
        What counts; ties by the other.
    algorithm : str, default "cascade"
        A suppression algorithm.

    Returns
    -------
    list of Choice

    Raises
    ------
    InputError
        More than 1,000 combinations, an unknown column or objective.

    Notes
    -----
    One release and one KL-divergence for each combination. Few stars are easily had by coarsening everything away; KL-divergence counts what that
    loses.

    Examples
    --------
    >>> import ldiv
    >>> table = {"Age": [30, 31, 42, 43, 44, 45], "Disease": ["flu", "cold"] * 3}
    >>> tried = ldiv.trade_off(table, ["Age"], "Disease", 2, {"Age": [None, ldiv.Bins(width=10)]})
    >>> tried[0].columns, tried[0].stars, tried[1].stars
    ({'Age': Bins(width=10, quantiles=None, edges=None)}, 0, 6)
    """
    best = BEST.check(best)
    if not get(algorithm).suppression:
        names = ", ".join(repr(name) for name, entry in sorted(list_algorithms().items()) if entry.suppression)
        raise InputError(f"algorithm must be one that publishes values and stars only, not {algorithm!r}; there are: {names}")
    for name in options:
        if name not in qi:
            raise InputError(f"options: {name!r} is not a quasi-identifier; there are: {', '.join(map(repr, qi))}")
    if prod(len(tried) for tried in options.values()) > MOST:
        raise InputError(f"more than {MOST:,} combinations of coarsenings: try fewer")
    original = Microdata.from_frame(frame, qi, sensitive, missing=missing)
    found = []
    for combination in product(*options.values()):
        columns = {name: how for name, how in zip(options, combination, strict=True) if how is not None}
        data = Microdata.from_frame(coarsen(frame, columns, hierarchies) if columns else frame, qi, sensitive, missing=missing)
        release = solve(data, l, algorithm=algorithm)
        found.append(Choice(columns, release.stars, kl_divergence(lift(release, original))))
    return sorted(found, key=lambda choice: (choice.kl, choice.stars) if best == "kl" else (choice.stars, choice.kl))
