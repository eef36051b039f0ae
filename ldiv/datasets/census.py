"""SAL and OCC: tables with the paper's schema, drawn from a model of the census fitted to acs2018 (tools/fit_census.py)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.datasets import acs
from ldiv.errors import InputError
from ldiv.table.microdata import Microdata

__all__ = ["columns", "frame", "occ", "sal"]

DRAWS = 5  # 64-bit draws a row: one half for the component, one for each of nine attributes


@lru_cache(maxsize=2)
def columns(n: int = 600_000, seed: int = 0) -> dict[str, NDArray[np.uint8]]:
    """Codes of the nine attributes, shape (n,) each.

    Every row uses draws of its own, so a prefix of a larger table is the smaller table; every draw is compared with integers, so the
    same on every platform.
    """
    if n < 0:
        raise InputError(f"n must not be negative, got {n}")
    raw = np.random.PCG64(seed).random_raw(n * DRAWS) if n else np.zeros(0, np.uint64)
    draws = np.stack([raw >> np.uint64(32), raw & np.uint64(0xFFFFFFFF)], axis=1).astype(np.uint32).reshape(n, 2 * DRAWS)
    with (files("ldiv.datasets") / "data" / "census.npz").open("rb") as stream, np.load(stream) as packed:
        model = {name: packed[name] for name in packed.files}
    component = np.searchsorted(model["weight"], draws[:, 0], side="right")
    order = np.argsort(component, kind="stable")
    bounds = np.searchsorted(component[order], np.arange(len(model["weight"]) + 2))
    out = {}
    for j, name in enumerate(acs.domains(), 1):
        column = np.empty(n, dtype=np.uint8)
        for k in range(len(bounds) - 1):
            rows = order[bounds[k] : bounds[k + 1]]
            column[rows] = np.searchsorted(np.ascontiguousarray(model[name][:, k]), draws[rows, j], side="right")
        out[name] = column
    return out


def sal(n: int = 600_000, seed: int = 0, *, sensitive: str | None = None, qi: Sequence[str] | None = None) -> Microdata:
    """SAL: seven QI attributes and Income, a stand-in for the paper's census table of that name.

    Parameters
    ----------
    n : int, default 600000
        Rows; a smaller table is a prefix of a larger one.
    seed : int, default 0
    sensitive : str, optional
        Default Income.
    qi : sequence of str, optional

    Returns
    -------
    Microdata
        With the domain sizes of the paper's Table 6: Age 79, Gender 2, Race 9, MaritalStatus 6, BirthPlace 56, Education 17,
        WorkClass 9, Income 50.

    Notes
    -----
    Rows are independent draws from a mixture of product distributions fitted to acs2018; paper_figures/ shows how closely the
    stars and the KL-divergence of releases agree with the real table's. No row is a person. O(n) time, 80 bytes a row while
    drawing.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.datasets.sal(1000)
    >>> data.n, data.m, bool((data.codes[:10] == ldiv.datasets.sal(10).codes).all())
    (1000, 50, True)
    """
    return acs.microdata(columns(n, seed), sensitive, qi, "Income")


def occ(n: int = 600_000, seed: int = 0, *, sensitive: str | None = None, qi: Sequence[str] | None = None) -> Microdata:
    """OCC: as :func:`sal`, with Occupation as the sensitive attribute.

    Examples
    --------
    >>> import ldiv
    >>> ldiv.datasets.occ(1000).sensitive_domain.name
    'Occupation'
    """
    return acs.microdata(columns(n, seed), sensitive, qi, "Occupation")


def frame(n: int = 600_000, seed: int = 0) -> dict[str, NDArray[Any]]:
    """The nine columns with labels."""
    return acs.labelled(columns(n, seed))
