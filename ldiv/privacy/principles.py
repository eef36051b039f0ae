"""Other privacy principles beside l-eligibility: checked on any table, and the monotone ones enforced on a release.

A principle is monotone when the union of two groups that satisfy it satisfies it too; then groups that do not can be merged until they do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ldiv._kernels.cells as _cells
from ldiv.arguments import ALPHA, DISTANCE, STRENGTH, Argument, C, K, L
from ldiv.privacy.eligibility import as_microdata, one_by_one
from ldiv.privacy.persons import Persons, persons_of
from ldiv.table.contingency import Contingency
from ldiv.table.domain import NO_SENSITIVE
from ldiv.table.ranking import rank_rows

__all__ = [
    "AlphaK",
    "Distinct",
    "Entropy",
    "Frequency",
    "Histograms",
    "KAnonymity",
    "Principle",
    "Recursive",
    "TCloseness",
    "audit",
    "histograms_of",
]

EPSILON = 1e-12  # sums of floats that should reach a bound exactly


@dataclass(frozen=True)
class Histograms:
    """The SA histograms of groups in CSR: group g has the values ``sensitive[indptr[g]:indptr[g + 1]]`` with their counts.

    `order` is the rank of each SA code where the attribute is ordered, else None; `total` the histogram of the whole table.
    """

    indptr: NDArray[np.int64]
    sensitive: NDArray[np.int32]
    count: NDArray[np.int64]
    total: NDArray[np.int64]
    ordered: bool

    @property
    def size(self) -> NDArray[np.int64]:
        return np.add.reduceat(self.count, self.indptr[:-1]) if len(self.count) else np.zeros(0, np.int64)

    @property
    def height(self) -> NDArray[np.int64]:
        return np.maximum.reduceat(self.count, self.indptr[:-1]) if len(self.count) else np.zeros(0, np.int64)


class Principle:
    """What must hold in every QI-group. `level` is the strength each group has, to compare with what is asked.

    A user's own needs ``level`` and ``holds``, both from the histograms of groups to an array with an entry a group, and must be monotone: a union of
    groups that satisfy it satisfies it. `joint` is whether it reads several attributes, or rows of persons, out of one.
    """

    joint = False

    def __post_init__(self) -> None:
        for name, declared in self.parameters().items():
            object.__setattr__(self, name, declared.check(getattr(self, name), f"{name} of {type(self).__name__}"))

    @classmethod
    def parameters(cls) -> Mapping[str, Argument]:
        """What each parameter may be."""
        return {}

    def level(self, groups: Histograms) -> NDArray[Any]:
        raise NotImplementedError

    def holds(self, groups: Histograms) -> NDArray[np.bool_]:
        raise NotImplementedError


@dataclass(frozen=True)
class KAnonymity(Principle):
    """At least k rows in every group (Samarati and Sweeney 1998)."""

    k: int

    @classmethod
    def parameters(cls) -> Mapping[str, Argument]:
        return {"k": K}

    def level(self, groups: Histograms) -> NDArray[Any]:
        return groups.size

    def holds(self, groups: Histograms) -> NDArray[np.bool_]:
        return np.asarray(groups.size >= self.k)


@dataclass(frozen=True)
class Frequency(Principle):
    """l-eligibility, this package's l-diversity: at most 1/l of a group shares an SA value."""

    l: int

    @classmethod
    def parameters(cls) -> Mapping[str, Argument]:
        return {"l": L}

    def level(self, groups: Histograms) -> NDArray[Any]:
        return groups.size // np.maximum(groups.height, 1)

    def holds(self, groups: Histograms) -> NDArray[np.bool_]:
        return np.asarray(groups.size // self.l >= groups.height)


@dataclass(frozen=True)
class AlphaK(Principle):
    """(alpha, k)-anonymity: at least k rows, and at most the part alpha of them with one SA value (Wong et al. 2006)."""

    alpha: float
    k: int

    @classmethod
    def parameters(cls) -> Mapping[str, Argument]:
        return {"alpha": ALPHA, "k": K}

    def level(self, groups: Histograms) -> NDArray[Any]:
        return groups.height / np.maximum(groups.size, 1)

    def holds(self, groups: Histograms) -> NDArray[np.bool_]:
        return np.asarray((groups.size >= self.k) & (groups.height <= self.alpha * groups.size + EPSILON))


@dataclass(frozen=True)
class Distinct(Principle):
    """At least l distinct SA values in every group (Machanavajjhala et al. 2006); weaker than frequency l-diversity."""

    l: int

    @classmethod
    def parameters(cls) -> Mapping[str, Argument]:
        return {"l": L}

    def level(self, groups: Histograms) -> NDArray[Any]:
        return np.diff(groups.indptr)

    def holds(self, groups: Histograms) -> NDArray[np.bool_]:
        return np.asarray(np.diff(groups.indptr) >= self.l)


@dataclass(frozen=True)
class Entropy(Principle):
    """The entropy of every group's SA values is at least log l (Machanavajjhala et al. 2006). The level is the exponential of the entropy."""

    l: float

    @classmethod
    def parameters(cls) -> Mapping[str, Argument]:
        return {"l": STRENGTH}

    def level(self, groups: Histograms) -> NDArray[Any]:
        size = np.maximum(groups.size, 1)
        mass = np.add.reduceat(groups.count * np.log(groups.count), groups.indptr[:-1]) if len(groups.count) else np.zeros(0)
        return np.exp(np.log(size) - mass / size)

    def holds(self, groups: Histograms) -> NDArray[np.bool_]:
        return np.asarray(self.level(groups) >= self.l * (1 - EPSILON))


@dataclass(frozen=True)
class Recursive(Principle):
    """Recursive (c, l)-diversity: the commonest value is less frequent than c times all but the l - 1 commonest together. The level is r1 over
    that sum; it must stay below c."""

    c: float
    l: int

    @classmethod
    def parameters(cls) -> Mapping[str, Argument]:
        return {"c": C, "l": L}

    def level(self, groups: Histograms) -> NDArray[Any]:
        number = np.repeat(np.arange(len(groups.indptr) - 1), np.diff(groups.indptr))
        order = np.lexsort((-groups.count, number))
        rank = np.arange(len(number)) - groups.indptr[:-1][number]
        rest = groups.count[order] * (rank >= self.l - 1)
        tail = np.add.reduceat(rest, groups.indptr[:-1]) if len(rest) else np.zeros(0, dtype=np.int64)
        with np.errstate(divide="ignore"):
            return np.where(tail > 0, groups.height / tail, np.inf)

    def holds(self, groups: Histograms) -> NDArray[np.bool_]:
        return np.asarray(self.level(groups) < self.c)


@dataclass(frozen=True)
class TCloseness(Principle):
    """The SA distribution of every group is within t of the table's, by the earth mover's distance: ordered where the attribute is, else all
    values equally far (Li et al. 2007). The level is the distance; it is convex, so that a union is no farther than its parts."""

    t: float

    @classmethod
    def parameters(cls) -> Mapping[str, Argument]:
        return {"t": DISTANCE}

    def level(self, groups: Histograms) -> NDArray[Any]:
        share = groups.total / max(groups.total.sum(), 1)
        size = groups.size
        out = np.zeros(len(size))
        for g in range(len(size)):
            part = slice(groups.indptr[g], groups.indptr[g + 1])
            difference = -share.copy()
            difference[groups.sensitive[part]] += groups.count[part] / size[g]
            if groups.ordered and len(share) > 1:
                out[g] = np.abs(np.cumsum(difference)).sum() / (len(share) - 1)
            else:
                out[g] = np.abs(difference).sum() / 2
        return out

    def holds(self, groups: Histograms) -> NDArray[np.bool_]:
        return np.asarray(self.level(groups) <= self.t + EPSILON)


def audit(
    frame: Any,
    qi: Sequence[str] | None = None,
    sensitive: str | None = None,
    *,
    c: float = 2.0,
    missing: str | Mapping[str, str] | None = None,
    unit: Any = None,
) -> dict[str, float]:
    """How strong a published table is by every principle: the parameter that its weakest group still satisfies.

    Parameters
    ----------
    frame : any table that :func:`ldiv.check` takes
    qi, sensitive : columns
        Of several sensitive columns the weakest value of each; of none only ``k`` and ``unique``.
    c : float, default 2
        For recursive (c, l)-diversity, whose largest l is reported.
    missing : optional
        As in :meth:`ldiv.Microdata.from_frame`.
    unit : column, optional
        Which person a row belongs to. ``k`` and ``unique`` then count persons, and of every other parameter the weaker reading is reported: in rows, and
        in persons, where one with several rows counts once for each of its values.

    Returns
    -------
    dict
        ``k``, ``l`` (frequency), ``distinct_l``, ``entropy_l``, ``alpha``, ``recursive_l``, ``t`` and ``unique`` (rows alone in their group);
        0 for a table without rows.

    Notes
    -----
    O(cells), for t-closeness times the number of SA values.

    Examples
    --------
    >>> import ldiv
    >>> table = {"Age": ["30", "30", "*", "*"], "Disease": ["flu", "cold", "flu", "cold"]}
    >>> found = ldiv.audit(table, ["Age"], "Disease")
    >>> found["k"], found["l"], found["distinct_l"], round(found["entropy_l"], 6), found["t"]
    (2, 2, 2, 2.0, 0.0)
    """
    c = C.check(c)
    persons = None if unit is None else persons_of(frame, unit)
    found = [one for part, name in one_by_one(frame, sensitive) for one in _audited(part, qi, name, c, missing, persons)]
    out = {name: (max if name in ("alpha", "t", "unique") else min)(one[name] for one in found) for name in found[0]}
    if persons is not None:
        out |= {name: found[-1][name] for name in ("k", "unique")}
    return out


def _audited(frame: Any, qi: Any, sensitive: Any, c: float, missing: Any, persons: Persons | None) -> Iterator[dict[str, float]]:
    contingency = frame if isinstance(frame, Contingency) else as_microdata(frame, qi, sensitive, missing).contingency
    names = (
        ("k", "unique")
        if contingency.sensitive_domain == NO_SENSITIVE
        else ("k", "l", "distinct_l", "entropy_l", "alpha", "recursive_l", "t", "unique")
    )
    if not contingency.n:
        yield dict.fromkeys(names, 0)
        return
    for found in _audits(contingency, c, persons):
        yield {name: found[name] for name in names}


def _audits(contingency: Contingency, c: float, persons: Persons | None) -> Iterator[dict[str, float]]:
    ordered, m = contingency.sensitive_domain.ordered, contingency.m
    yield _audit_one(Histograms(contingency.indptr, contingency.sensitive, contingency.count, contingency.histogram, ordered), m, c)
    if persons is not None:
        counted = persons.counted(contingency)
        whole = np.bincount(counted.sensitive, counted.count, m).astype(np.int64)
        read = _audit_one(Histograms(counted.indptr, counted.sensitive, counted.count, whole, ordered), m, c)
        height, _ = counted.heights(m)
        read |= {"k": int(counted.size.min()), "l": int((counted.size // height).min()), "unique": int((counted.size == 1).sum())}
        yield read | {"alpha": float((height / counted.size).max())}


def _audit_one(groups: Histograms, m: int, c: float) -> dict[str, float]:
    largest = 0
    while largest < m and Recursive(c, largest + 1).holds(groups).all():
        largest += 1
    return {
        "k": int(groups.size.min()),
        "l": int(Frequency(1).level(groups).min()),
        "distinct_l": int(Distinct(1).level(groups).min()),
        "entropy_l": float(Entropy(1).level(groups).min()),
        "alpha": float(AlphaK(1, 1).level(groups).max()),
        "recursive_l": largest,
        "t": float(TCloseness(1).level(groups).max()),
        "unique": int((groups.size == 1).sum()),
    }


def histograms_of(c: Contingency, group: NDArray[np.integer], sensitive: NDArray[np.int32], count: NDArray[np.int64], groups: int) -> Histograms:
    """The SA histograms of numbered groups of entries (group, SA code, rows)."""
    rank, first, bounds = rank_rows([group.astype(np.int32), sensitive], [max(groups, 1), c.m], split=True)
    return Histograms(bounds, sensitive[first], _cells.tally(rank, len(first), count), c.histogram, c.sensitive_domain.ordered)
