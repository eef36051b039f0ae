"""The table that ships: 2018 ACS workers, the attributes of the paper's Table 6. See data/PROVENANCE.md."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.errors import InputError
from ldiv.microdata import Domain, Microdata

__all__ = ["QI", "SENSITIVE", "columns", "domains", "frame", "load", "microdata"]

QI = ("Age", "Gender", "Race", "MaritalStatus", "BirthPlace", "Education", "WorkClass")
SENSITIVE = ("Income", "Occupation")


@cache
def domains() -> dict[str, Domain]:
    """The nine declared domains of Table 6, with labels."""
    about = json.loads((files("ldiv.datasets") / "data" / "recodes.json").read_text())
    return {name: Domain(name, x["size"], tuple(x["labels"]), x["ordered"]) for name, x in about.items()}


@cache
def columns() -> dict[str, NDArray[np.uint8]]:
    """The nine columns of codes, shape (248381,) each."""
    with (files("ldiv.datasets") / "data" / "acs2018.npz").open("rb") as stream, np.load(stream) as packed:
        return {name: packed[name] for name in packed.files}


def microdata(
    codes: dict[str, NDArray[Any]], sensitive: str | None, qi: Sequence[str] | None, default: str = "Income"
) -> Microdata:
    """Columns of codes in Table 6's domains as Microdata."""
    target = sensitive or default
    picked = list(qi) if qi is not None else [name for name in QI if name != target]
    for name in [*picked, target]:
        if name not in codes:
            raise InputError(f"no attribute {name!r}; there are: {', '.join(codes)}")
    known = domains()
    packed = np.empty((len(codes[target]), len(picked)), dtype=np.int32, order="F")
    for j, name in enumerate(picked):
        packed[:, j] = codes[name]
    return Microdata(packed, codes[target].astype(np.int32), tuple(known[name] for name in picked), known[target])


def load(sensitive: str | None = None, qi: Sequence[str] | None = None) -> Microdata:
    """acs2018 as Microdata."""
    return microdata(columns(), sensitive, qi)


def frame() -> dict[str, NDArray[Any]]:
    """acs2018 with labels."""
    return labelled(columns())


def labelled(codes: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Columns of codes as columns of labels."""
    known = domains()
    return {name: np.array(known[name].labels, dtype=object)[column] for name, column in codes.items()}
