"""The table that ships: 2018 ACS workers, the attributes of the paper's Table 6. See data/PROVENANCE.md."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.errors import MissingColumnError
from ldiv.table.arrays import narrowest
from ldiv.table.domain import Domain
from ldiv.table.microdata import Microdata
from ldiv.table.taxonomy import Taxonomy

__all__ = ["QI", "SENSITIVE", "columns", "domains", "frame", "load", "microdata"]

QI = ("Age", "Gender", "Race", "MaritalStatus", "BirthPlace", "Education", "WorkClass")
SENSITIVE = ("Income", "Occupation")

# Census regions and divisions; codes of BirthPlace are the states in FIPS order, then the island areas.
_DIVISIONS = {
    "Northeast": {"New England": "CT ME MA NH RI VT", "Middle Atlantic": "NJ NY PA"},
    "Midwest": {"East North Central": "IL IN MI OH WI", "West North Central": "IA KS MN MO NE ND SD"},
    "South": {
        "South Atlantic": "DE DC FL GA MD NC SC VA WV",
        "East South Central": "AL KY MS TN",
        "West South Central": "AR LA OK TX",
    },
    "West": {"Mountain": "AZ CO ID MT NV NM UT WY", "Pacific": "AK CA HI OR WA"},
}


def _taxonomy(name: str, labels: tuple[str, ...]) -> Taxonomy | None:
    """The trees of the unordered attributes; ordered ones are split where the data say."""
    if name == "BirthPlace":
        place = {label.rsplit("/", 1)[-1]: label for label in labels}
        tree: dict[str, Any] = {
            region: {division: [place.pop(state) for state in states.split()] for division, states in below.items()}
            for region, below in _DIVISIONS.items()
        }
        return Taxonomy.from_tree({**tree, "Island areas": list(place.values())}, labels)
    groups = {
        "MaritalStatus": {"Married": (0, 5), "Formerly married": (1, 2, 3), "Never married": (4,)},
        "Race": {"White": (0,), "Black": (1,), "American Indian or Alaska Native": (2, 3, 4), "Asian or Pacific": (5, 6), "Other or several": (7, 8)},
        "WorkClass": {"Employee of a private organization": (0, 1), "Government": (2, 3, 4), "Self-employed": (5, 6), "Without pay": (7, 8)},
    }.get(name)
    if groups is None:
        return None
    return Taxonomy.from_tree({node: [labels[k] for k in codes] for node, codes in groups.items()}, labels)


@cache
def domains() -> dict[str, Domain]:
    """The nine declared domains of Table 6, with labels and taxonomies."""
    about = json.loads((files("ldiv.datasets") / "data" / "recodes.json").read_text())
    out = {}
    for name, x in about.items():
        labels = tuple(x["labels"])
        out[name] = Domain(name, x["size"], labels, x["ordered"], _taxonomy(name, labels))
    return out


@cache
def columns() -> dict[str, NDArray[np.uint8]]:
    """The nine columns of codes, shape (248381,) each."""
    with (files("ldiv.datasets") / "data" / "acs2018.npz").open("rb") as stream, np.load(stream) as packed:
        return {name: packed[name] for name in packed.files}


def microdata(codes: dict[str, NDArray[Any]], sensitive: str | None, qi: Sequence[str] | None, default: str = "Income") -> Microdata:
    """Columns of codes in Table 6's domains as Microdata."""
    target = sensitive or default
    picked = list(qi) if qi is not None else [name for name in QI if name != target]
    for name in [*picked, target]:
        if name not in codes:
            raise MissingColumnError(name, tuple(codes))
    known = domains()
    packed = np.empty((len(codes[target]), len(picked)), dtype=narrowest(known[name].size for name in picked), order="F")
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
