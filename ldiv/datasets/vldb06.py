"""The files of Anatomy's authors (SAL, OCC; VLDB 2006): census records as whole numbers, space-separated. They do not travel with the package."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.datasets.external import find
from ldiv.errors import InputError
from ldiv.table.microdata import Microdata

__all__ = ["frame", "load"]

QI = ("age", "gender", "education", "marital", "race", "workclass", "country")
TARGETS = {"salary": ("SAL.txt", "sal.txt", "SAL.data", "SAL"), "occupation": ("OCC.txt", "occ.txt", "OCC.data", "OCC")}
GET = "SAL.zip or OCC.zip of the authors of Anatomy (their page on VLDB 2006), unpacked"


def frame(path: str | Path | None = None, sensitive: str = "salary") -> dict[str, NDArray[Any]]:
    """The columns of a file: tuple-id, seven quasi-identifiers, and salary or occupation.

    Parameters
    ----------
    path : path, optional
        Default: SAL or OCC in $LDIV_DATA, ./data or the working directory.
    sensitive : {"salary", "occupation"}
        What the ninth column is.

    Raises
    ------
    InputError
        No such file, or a line that is not nine whole numbers, with its number.
    """
    if sensitive not in TARGETS:
        raise InputError(f"sensitive must be 'salary' (SAL) or 'occupation' (OCC), not {sensitive!r}")
    file = find(path, TARGETS[sensitive], GET)
    names = ("tuple-id", *QI, sensitive)
    rows = []
    with file.open() as stream:
        for number, line in enumerate(stream, 1):
            fields = line.replace(",", " ").split()
            if not fields:
                continue
            try:
                values = [int(x) for x in fields]
            except ValueError:
                values = []
            if len(values) != len(names):
                raise InputError(f"{file}, line {number}: nine whole numbers are needed ({' '.join(names)}), not {line.strip()[:60]!r}")
            rows.append(values)
    table = np.array(rows, dtype=np.int64).reshape(len(rows), len(names))
    return {name: table[:, j] for j, name in enumerate(names)}


def load(sensitive: str | None = None, qi: Sequence[str] | None = None, path: str | Path | None = None) -> Microdata:
    """A file as Microdata: tuple-id left out, domains from the least to the greatest number seen.

    Examples
    --------
    >>> import ldiv
    >>> ldiv.datasets.load("vldb06", sensitive="occupation", path="OCC.txt")     # doctest: +SKIP
    """
    target = "salary" if sensitive is None else sensitive
    table = frame(path, target)
    picked = list(QI if qi is None else qi)
    for name in picked:
        if name not in QI:
            raise InputError(f"qi: {name!r} is not one of {', '.join(QI)}")
    domains = {name: range(int(table[name].min()), int(table[name].max()) + 1) for name in (*picked, target) if len(table[name])}
    return Microdata.from_frame({name: table[name] for name in (*picked, target)}, picked, target, domains=domains, keep=False)
