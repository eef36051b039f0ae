"""Hierarchies of the experiments' data sets, as rows of texts or files."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["ARX_FILES", "of_acs", "of_adult"]

ARX_FILES = Path(__file__).parents[2] / "shared" / "data" / "adult" / "arx"  # real hierarchies that do not travel with the project
DIVISIONS = {
    "Northeast": {"New England": "CT ME MA NH RI VT", "Mid-Atlantic": "NJ NY PA"},
    "Midwest": {"East North Central": "IL IN MI OH WI", "West North Central": "IA KS MN MO NE ND SD"},
    "South": {"South Atlantic": "DE DC FL GA MD NC SC VA WV", "East South Central": "AL KY MS TN", "West South Central": "AR LA OK TX"},
    "West": {"Mountain": "AZ CO ID MT NV NM UT WY", "Pacific": "AK CA HI OR WA"},
}
STAGES = ((8, "no diploma"), (10, "high school"), (13, "some college"), (17, "a degree"))  # up to which code
OTHERS = {
    "MaritalStatus": {"married": (0, 5), "was married": (1, 2, 3), "never married": (4,)},
    "WorkClass": {"private": (0, 1), "government": (2, 3, 4), "self-employed": (5, 6), "without pay": (7, 8)},
    "Race": {"American Indian or Alaska Native": (2, 3, 4), "Asian or Pacific": (5, 6), "other": (7, 8), "White alone": (0,), "Black alone": (1,)},
}


def of_adult(names: tuple[str, ...]) -> dict[str, Any]:
    """ARX's hierarchies of Adult."""
    return {name: ARX_FILES / f"adult_hierarchy_{name}.csv" for name in names}


@cache
def of_acs(names: tuple[str, ...]) -> dict[str, Any]:
    """Of ACS, and what stands in for SAL and OCC: ages in 5, 10 and 20 years, places by division and region, education by stage; Gender has none."""
    from ldiv.datasets.acs import load

    found: dict[str, Any] = {}
    for domain in load().domains:
        labels = [str(label) for label in domain.labels or ()]
        if domain.name == "Age":
            ages = [(label, int(label[:2])) for label in labels]
            found["Age"] = [(label, *(f"{a // w * w} to {a // w * w + w - 1}" for w in (5, 10, 20))) for label, a in ages]
        elif domain.name == "BirthPlace":
            division = {code: (name, region) for region, parts in DIVISIONS.items() for name, codes in parts.items() for code in codes.split()}
            found["BirthPlace"] = [(label, *division.get(label.partition("/")[2], ("Territories", "Territories"))) for label in labels]
        elif domain.name == "Education":
            found["Education"] = [(label, next(stage for end, stage in STAGES if code < end)) for code, label in enumerate(labels)]
        elif domain.name in OTHERS:
            above = {code: name for name, codes in OTHERS[domain.name].items() for code in codes}
            found[domain.name] = [(label, above[code]) for code, label in enumerate(labels)]
    return {name: tree for name, tree in found.items() if name in names}
