"""What must hold beyond l-diversity, in one composition: protected columns, several sensitive columns, minimum size and other principles.

The order is fixed: the table falls into parts of equal protected values, each part is released for the first sensitive column, and groups of one
part are merged until every group satisfies everything. A star never comes to a protected column, because no step sees more than a part.
All constraints are monotone (a union of groups that satisfy one satisfies it too), so a release exists if and only if every part as one group
satisfies everything; where one does not, the reason is said before anything is solved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.algorithms import Algorithm
from ldiv.arguments import shown
from ldiv.bounds.counting import star_bound
from ldiv.constraints.asked import as_principles, positions, protected_names, refuse_generalising
from ldiv.constraints.enforce import enforce, possible
from ldiv.constraints.persons import compose_persons
from ldiv.constraints.protected import solve_protected
from ldiv.constraints.several import Component, check_each, joined, spread
from ldiv.errors import InputError
from ldiv.privacy.principles import Frequency, KAnonymity, Principle
from ldiv.privacy.requirement import require_eligible, validate_k
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency
from ldiv.table.lattice import Lattice
from ldiv.table.microdata import Microdata

__all__ = ["compose", "compose_persons", "enforce"]


def compose(
    tables: Sequence[Microdata | Contingency],
    l: int,
    algorithm: Algorithm,
    *,
    k: int = 1,
    seed: int | None = None,
    protect: Sequence[str] | Mapping[str, int] | str = (),
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
    k : int
        The least size of a group: kept by the algorithm, or, where it knows no sizes, by merging.
    seed : int, optional
    protect : sequence of str, or mapping of str to int
        Quasi-identifiers that are never starred, or go up their hierarchies to a level at the most.
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
        publishes other sub-domains than nodes of hierarchies, each group by itself.
    """
    k = validate_k(k)
    cells = [x.contingency if isinstance(x, Microdata) else x for x in tables]
    for c in cells:
        if not isinstance(c, Contingency):
            raise InputError(f"data must be Microdata or a Contingency, not {shown(c)} ({type(c).__name__})")
        require_eligible(c, l, k)
    first = cells[0]
    protect, also = protected_names(protect, [domain.name for domain in first.domains]), as_principles(also)
    kept = positions(first.domains, protect, options.get("nodes"))
    smallest = [KAnonymity(k)] if k > l else []
    inside = {"k": k} if algorithm.sizes or not smallest else {}
    if smallest and not inside:
        refuse_generalising(algorithm, "k=", smallest)
    for what, given in (("protect=", protect), ("also=", also), ("several sensitive columns", tables[1:])):
        refuse_generalising(algorithm, what, given)
    if len(tables) == 1 and not first.n:
        return Release.verify(algorithm.solve(first, l, **inside, seed=seed, **options))
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
    if smallest and (kept or not inside):
        principles += smallest
    possible(whole, l, kept, principles, protect)
    options |= inside | {"seed": seed}
    release = solve_protected(first, l, algorithm, kept, protect, **options) if kept else algorithm.solve(first, l, **options)
    if len(tables) > 1:
        release = spread(release, whole, codes[0])
    lattice = Lattice.of_nodes(whole, options.get("loss")) if options.get("nodes") and principles else None
    release = enforce(release, principles, protect, lattice)
    release = Release.verify(release if release.k == k else replace(release, k=k))
    if len(tables) > 1:
        check_each(release, l, [x.sensitive_domain.name for x in tables], codes)
        counted = max(star_bound(c, l, k) for c in cells)  # what each column forces by itself
        release = replace(release, info={**release.info, "counted": counted})
    if also:
        release = replace(release, info={**release.info, "also": tuple(map(str, also))})
    return release
