"""Several sensitive attributes, each of them l-diverse in every group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.contingency import rank_rows
from ldiv.errors import InputError, UnsafeReleaseError
from ldiv.microdata import Domain, Microdata
from ldiv.principles import Frequency, Histograms, Principle, enforce
from ldiv.privacy import require_eligible
from ldiv.release import Release

__all__ = ["joined", "solve_several"]


@dataclass(frozen=True, eq=False)
class Component(Principle):
    """l-eligibility in one of the sensitive attributes that a joint one is made of: `code` gives its code for each joint code."""

    l: int
    name: str
    code: NDArray[np.int32]

    def holds(self, groups: Histograms) -> NDArray[np.bool_]:
        number = np.repeat(np.arange(len(groups.indptr) - 1, dtype=np.int32), np.diff(groups.indptr))
        size = int(self.code.max(initial=0)) + 1
        rank, first, bounds = rank_rows([number, self.code[groups.sensitive]], [max(len(groups.indptr) - 1, 1), size], split=True)
        count = np.bincount(rank, weights=groups.count, minlength=len(first)).astype(np.int64)
        return Frequency(self.l).holds(replace(groups, indptr=bounds, sensitive=self.code[groups.sensitive[first]], count=count))

    def level(self, groups: Histograms) -> NDArray[Any]:
        return np.where(self.holds(groups), self.l, 0)

    def __str__(self) -> str:
        return f"{self.l}-diversity of {self.name!r}"


def joined(parts: Sequence[Microdata]) -> tuple[Microdata, list[NDArray[np.int32]]]:
    """Tables that differ in their sensitive attribute as one with all of them together, and for each the code behind every joint code."""
    rank, first, _ = rank_rows([data.sensitive for data in parts], [data.m for data in parts])
    codes = [data.sensitive[first] for data in parts]
    labels = [tuple(data.sensitive_domain.label(int(code[k])) for data, code in zip(parts, codes, strict=True)) for k in range(len(first))]
    name = " and ".join(str(data.sensitive_domain.name) for data in parts)
    domain = Domain(name, max(len(first), 1), labels)
    return Microdata(parts[0].codes, rank, parts[0].domains, domain, parts[0].source), codes


def solve_several(parts: Sequence[Microdata], l: int, solve: Any, also: Sequence[Principle] = ()) -> Release:
    """Solve for the first sensitive attribute, then merge the groups in which another is not l-diverse.

    Parameters
    ----------
    parts : sequence of Microdata
        The same rows and quasi-identifiers, one sensitive attribute each; put the one that is hardest to diversify first.
    l : int
    solve : callable
        From Microdata to a release of it.
    also : sequence of Principle
        Judged on the sensitive attributes together.

    Returns
    -------
    Release
        Of the joint attribute; l-diverse in each.

    Raises
    ------
    NotEligibleError
        One of the attributes is not l-eligible in the whole table.
    """
    names = [data.sensitive_domain.name for data in parts]
    if len(set(names)) < len(names):
        raise InputError("a sensitive column is named twice")
    for data in parts:
        require_eligible(data.contingency, l)
    first = solve(parts[0])
    if not first.is_suppression:
        raise InputError("several sensitive attributes work with algorithms that publish values and stars only")
    whole, codes = joined(parts)
    c = whole.contingency
    assert c.cell_of_row is not None
    release = Release.from_entries(
        c, first.group, c.cell_of_row, np.ones(whole.n, dtype=np.int64), l=l, algorithm=first.algorithm,
        info={key: value for key, value in first.info.items() if key not in ("prices", "phase")},
    )
    components = [Component(l, name, code) for name, code in zip(names, codes, strict=True)]
    release = enforce(release, [*components, *also]).verify()
    for data in parts:      # what is promised is checked once more, by itself
        pairs = np.stack([release.group, data.sensitive])
        count = np.unique(pairs, axis=1, return_counts=True)
        tops = np.zeros(release.groups, dtype=np.int64)
        np.maximum.at(tops, count[0][0], count[1])
        if (release.group_sizes < l * tops).any():
            raise UnsafeReleaseError(f"{release.algorithm}: a group is not {l}-diverse in {data.sensitive_domain.name!r}")
    return release
