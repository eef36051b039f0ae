"""What must hold beyond l-diversity, in one composition: protected columns, several sensitive columns, minimum size and other principles.

The order is fixed: the table falls into parts of equal protected values, each part is released for the first sensitive column, and groups of one
part are merged until every group satisfies everything. A star never comes to a protected column, because no step sees more than a part.
All constraints are monotone (a union of groups that satisfy one satisfies it too), so a release exists if and only if every part as one group
satisfies everything; where one does not, the reason is said before anything is solved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.algorithms import Algorithm
from ldiv.arguments import hint, shown
from ldiv.constraints.enforce import enforce, possible
from ldiv.constraints.protected import solve_protected
from ldiv.constraints.several import Component, check_each, joined, spread
from ldiv.errors import InputError
from ldiv.privacy.eligibility import require_eligible
from ldiv.privacy.principles import Frequency, Principle
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency
from ldiv.table.microdata import Microdata

__all__ = ["compose", "enforce"]


def compose(
    tables: Sequence[Microdata | Contingency],
    l: int,
    algorithm: Algorithm,
    *,
    seed: int | None = None,
    protect: Sequence[str] | str = (),
    also: Sequence[Principle] | Principle = (),
    **options: Any,
) -> Release:
    """A verified release under every constraint at once.

    Parameters
    ----------
    tables : sequence of Microdata or Contingency
        One, or the same rows and quasi-identifiers once for each sensitive column (Microdata then); put the one that is hardest to diversify first.
    l : int
        Every sensitive column is l-diverse in every group.
    algorithm : Algorithm
    seed : int, optional
    protect : sequence of str
        Quasi-identifiers that are never starred.
    also : sequence of Principle
        What every group must satisfy besides; of several sensitive columns in each by itself.
    **options
        The algorithm's.

    Returns
    -------
    Release
        Of the joint sensitive attribute where there are several.

    Raises
    ------
    NotEligibleError
        One of the sensitive columns is not l-eligible in the whole table.
    InputError
        A combination that no release can satisfy, with the rows and the constraint that stand against it; unknown columns; an algorithm that
        publishes sub-domains.
    """
    cells = [x.contingency if isinstance(x, Microdata) else x for x in tables]
    for c in cells:
        if not isinstance(c, Contingency):
            raise InputError(f"data must be Microdata or a Contingency, not {shown(c)} ({type(c).__name__})")
        require_eligible(c, l)
    first = cells[0]
    protect, also = _protect(protect, [domain.name for domain in first.domains]), _also(also)
    kept = _positions(first, protect)
    for what, given in (("protect=", protect), ("also=", also), ("several sensitive columns", tables[1:])):
        if given and not algorithm.suppression:
            raise InputError(f"{what} works with algorithms that publish values and stars only, not with {algorithm.name!r}")
    if len(tables) == 1 and not first.n:
        return Release.verify(algorithm.solve(first, l, seed=seed, **options))
    principles = list(also)
    whole = first
    codes: list[NDArray[np.int32]] = []
    if len(tables) > 1:
        microdata = [x for x in tables if isinstance(x, Microdata)]
        if len(microdata) < len(tables):
            raise InputError("several sensitive columns need rows, not counts: give Microdata")
        joint, codes = joined(microdata)
        whole = joint.contingency
        principles = [
            Component(x.sensitive_domain.name, code, x.sensitive_domain.ordered, principle)
            for principle in [Frequency(l), *also]
            for x, code in zip(microdata, codes, strict=True)
        ]
    possible(whole, l, kept, principles)
    release = solve_protected(first, l, algorithm, kept, seed=seed, **options) if kept else algorithm.solve(first, l, seed=seed, **options)
    if len(tables) > 1:
        release = spread(release, whole, codes[0])
    release = Release.verify(enforce(release, principles, protect))
    if len(tables) > 1:
        check_each(release, l, [x.sensitive_domain.name for x in tables], codes)
    return release


def _protect(protect: Sequence[Any] | Any, names: Sequence[Any]) -> list[Any]:
    if isinstance(protect, (str, bytes)) or (protect is not None and not isinstance(protect, list) and protect in names):
        return [protect]
    if protect is None or not hasattr(protect, "__iter__"):
        raise InputError(f"protect must be names of quasi-identifiers, not {shown(protect)}")
    return list(dict.fromkeys(protect))


def _also(also: Sequence[Principle] | Principle) -> list[Principle]:
    if isinstance(also, Principle):
        return [also]
    if also is None or isinstance(also, (str, bytes)) or not hasattr(also, "__iter__") or not all(isinstance(x, Principle) for x in also):
        raise InputError(f"also must be principles, such as [ldiv.KAnonymity(10)], not {shown(also)}")
    return list(also)


def _positions(contingency: Contingency, protect: Sequence[str]) -> list[int]:
    names = [domain.name for domain in contingency.domains]
    for name in protect:
        if name not in names:
            raise InputError(f"protect: {shown(name)} is not a quasi-identifier; there are: {', '.join(map(repr, names))}{hint(name, names)}")
    if protect and len(protect) == len(names):
        raise InputError("protect names every quasi-identifier: nothing could be starred")
    return [names.index(name) for name in protect]
