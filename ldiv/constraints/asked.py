"""What was asked beyond l, in the form in which it is used; what cannot be meant is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ldiv.algorithms import Algorithm
from ldiv.arguments import Whole, hint, shown
from ldiv.errors import InputError
from ldiv.privacy.principles import Principle
from ldiv.table.domain import Domain
from ldiv.table.lattice import given_levels, level_of, levels_of

__all__ = ["as_principles", "positions", "protected_names", "refuse_generalising"]


LEVEL = Whole("level", least=0, most=1 << 20)


def protected_names(protect: Sequence[Any] | Mapping[Any, int] | Any, names: Sequence[Any]) -> dict[Any, int]:
    """The columns of protect=, and the highest level of its hierarchy that each may show: 0 is its values."""
    if isinstance(protect, Mapping):
        return {name: LEVEL.check(level, f"protect: level of {shown(name)}") for name, level in protect.items()}
    if isinstance(protect, (str, bytes)) or (protect is not None and not isinstance(protect, list) and protect in names):
        return {protect: 0}
    if protect is None or not hasattr(protect, "__iter__"):
        raise InputError(f"protect must be names of quasi-identifiers, or a mapping of them to levels, not {shown(protect)}")
    return dict.fromkeys(protect, 0)


def as_principles(also: Sequence[Principle] | Principle) -> list[Principle]:
    """The principles of also=."""
    if isinstance(also, Principle):
        return [also]
    if also is None or isinstance(also, (str, bytes)) or not hasattr(also, "__iter__") or not all(isinstance(x, Principle) for x in also):
        raise InputError(f"also must be principles, such as [ldiv.KAnonymity(10)], not {shown(also)}")
    return list(also)


def positions(domains: Sequence[Domain], protect: Mapping[Any, int], nodes: Any = False) -> dict[int, int]:
    """Where the protected columns stand among the quasi-identifiers, with the highest level of the lattice that each may show: those that a hierarchy gives
    are fewer there where some join nothing in this table. `nodes`: whether nodes are shown.

    Raises
    ------
    InputError
        A column or a level that is not there; a level where only values and stars are shown.
    """
    names = [domain.name for domain in domains]
    for name in protect:
        if name not in names:
            raise InputError(f"protect: {shown(name)} is not a quasi-identifier; there are: {', '.join(map(repr, names))}{hint(name, names)}")
        domain, level = domains[names.index(name)], protect[name]
        if level and not nodes:
            raise InputError(
                f"protect: {shown(name)} up to level {level} needs hierarchies=, and an algorithm that goes along them; or protect its values"
            )
        if level >= given_levels(domain):
            raise InputError(f"protect: {shown(name)} has the levels 0 (its values) to {given_levels(domain) - 1} below the star, not {level}")
        if level and level_of(domain, level) == len(levels_of(domain)):
            raise InputError(
                f"protect: on level {level} all values of {shown(name)} are one node, which says no more than a star: protect it up to a lower level"
            )
    return {names.index(name): level_of(domains[names.index(name)], level) for name, level in protect.items()}


def refuse_generalising(algorithm: Algorithm, what: str, given: Any) -> None:
    """Groups are merged by starring, or by going up a hierarchy: with other sub-domains that cannot be done."""
    if given and not algorithm.suppression:
        raise InputError(f"{what} works with algorithms that publish values and stars only, or go along hierarchies, not with {algorithm.name!r}")
