"""What a certificate says it is about, looked at; and the stars that persons force whose rows are published alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ldiv.arguments import WEIGHT, L, Whole, shown
from ldiv.errors import InputError
from ldiv.privacy.persons import Persons
from ldiv.table.microdata import Microdata

__all__ = ["alike", "subject"]


def subject(about: dict[str, Any], where: str | Path) -> tuple[list[Any], list[Any], int, dict[Any, int], int | None]:
    """What a certificate says it is about: quasi-identifiers, sensitive columns, l, weights and rows, each looked at."""
    qi, sensitive, weights = about.get("qi"), about.get("sensitive"), about.get("weights") or {}
    targets = sensitive if isinstance(sensitive, list) else [] if sensitive is None else [sensitive]
    bare = sensitive is None and about.get("l") == 1  # k-anonymity alone
    named = all(isinstance(x, (str, int)) for x in [*qi, *targets]) if isinstance(qi, list) else False
    if not named or not qi or not (bare or targets):
        raise InputError(f"{where}: the certificate does not say which columns it is about (qi {shown(qi)}, sensitive {shown(sensitive)})")
    if not isinstance(weights, dict):
        raise InputError(f"{where}: weights must be a mapping, not {shown(weights)}")
    checked = {name: WEIGHT.check(weight, f"{where}: weight of {shown(name)}") for name, weight in weights.items()}
    rows = Whole("rows", optional=True).check(about.get("rows"), f"{where}: rows")
    return qi, targets, L.check(about.get("l"), f"{where}: l"), checked, rows


def alike(data: Microdata, persons: Persons) -> int:
    """Stars, each times its weight, that every release has that publishes all rows of a person alike: those of a column in all rows of a person whose rows
    differ there. O(n d log n)."""
    total, rows = 0, np.bincount(persons.code, minlength=persons.count)
    for j, weight in enumerate(data.contingency.weights):
        held = np.unique(np.stack([persons.code, data.narrow[:, j]]), axis=1)[0]  # each person once for each of its values
        total += int(weight) * int(rows[np.bincount(held, minlength=persons.count) > 1].sum())
    return total
