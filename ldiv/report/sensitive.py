"""The sensitive columns of a release one by one, also where they were released together; and the persons behind its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.constraints.several import Component
from ldiv.privacy.persons import Counted
from ldiv.privacy.principles import Frequency, Histograms
from ldiv.release.histograms import histograms
from ldiv.release.release import Release
from ldiv.table.domain import NO_SENSITIVE

__all__ = ["Part", "parts_of"]


@dataclass(frozen=True, eq=False)
class Part:
    """One sensitive column: its values, its histograms in the groups before and after, and those of persons where rows belong to persons."""

    name: Any
    labels: list[Any]
    before: Histograms
    after: Histograms
    persons: tuple[Counted, Counted] | None

    def most(self, which: int) -> int:
        """The largest l that holds, before (0) or after (1)."""
        groups = (self.before, self.after)[which]
        if not len(groups.count):
            return 0
        largest = int((groups.size // groups.height).min())
        if self.persons is None:
            return largest
        counted = self.persons[which]
        height, _ = counted.heights(len(self.labels))
        return min(largest, int((counted.size // height).min()))


def parts_of(release: Release) -> list[Part]:
    """One for each sensitive column."""
    c = release.contingency
    before = Histograms(c.indptr, c.sensitive, c.count, c.histogram, c.sensitive_domain.ordered)
    after = histograms(release, np.repeat(np.arange(release.groups), np.diff(release.indptr)), release.groups)
    names = release.publication.verdict.sensitive if release.publication is not None else []
    persons = release.publication.persons if release.publication is not None else None
    if len(names) < 2 and persons is None:
        domain = c.sensitive_domain
        return [Part(domain.name, [domain.label(code) for code in range(domain.size)], before, after, None)]
    found = []
    for at, name in enumerate(names or [NO_SENSITIVE.name]):
        code, labels = _component([c.sensitive_domain.label(k)[at] for k in range(len(c.sensitive_domain.labels or ()))])
        component = Component(name, code, c.sensitive_domain.ordered, Frequency(release.l))
        counted = None
        if persons is not None and c.cell_of_row is not None:
            value = code[c.sensitive[c.cell_of_row]]
            pairs = ((c.group_of_cell[c.cell_of_row].astype(np.int32), c.groups), (release.group, release.groups))
            first, second = (Counted.of(group, groups, persons, value, len(labels)) for group, groups in pairs)
            counted = first, second
        found.append(Part(name, labels, component.of(before), component.of(after), counted))
    return found


def _component(values: list[Any]) -> tuple[NDArray[np.int32], list[Any]]:
    place: dict[Any, int] = {}
    labels: list[Any] = []
    code = np.zeros(max(len(values), 1), dtype=np.int32)
    for k, value in enumerate(values):
        key = (type(value), repr(value))
        if key not in place:
            place[key] = len(labels)
            labels.append(value)
        code[k] = place[key]
    return code, labels
