"""What was asked beyond l, in the form in which it is used; what cannot be meant is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ldiv.algorithms import Algorithm
from ldiv.arguments import hint, shown
from ldiv.errors import InputError
from ldiv.privacy.principles import Principle
from ldiv.table.domain import Domain

__all__ = ["as_principles", "positions", "protected_names", "refuse_generalising"]


def protected_names(protect: Sequence[Any] | Any, names: Sequence[Any]) -> list[Any]:
    """The columns of protect=, each once."""
    if isinstance(protect, (str, bytes)) or (protect is not None and not isinstance(protect, list) and protect in names):
        return [protect]
    if protect is None or not hasattr(protect, "__iter__"):
        raise InputError(f"protect must be names of quasi-identifiers, not {shown(protect)}")
    return list(dict.fromkeys(protect))


def as_principles(also: Sequence[Principle] | Principle) -> list[Principle]:
    """The principles of also=."""
    if isinstance(also, Principle):
        return [also]
    if also is None or isinstance(also, (str, bytes)) or not hasattr(also, "__iter__") or not all(isinstance(x, Principle) for x in also):
        raise InputError(f"also must be principles, such as [ldiv.KAnonymity(10)], not {shown(also)}")
    return list(also)


def positions(domains: Sequence[Domain], protect: Sequence[Any]) -> list[int]:
    """Where the protected columns stand among the quasi-identifiers."""
    names = [domain.name for domain in domains]
    for name in protect:
        if name not in names:
            raise InputError(f"protect: {shown(name)} is not a quasi-identifier; there are: {', '.join(map(repr, names))}{hint(name, names)}")
    return [names.index(name) for name in protect]


def refuse_generalising(algorithm: Algorithm, what: str, given: Any) -> None:
    """Groups are merged by starring, or by going up a hierarchy: with other sub-domains that cannot be done."""
    if given and not algorithm.suppression:
        raise InputError(f"{what} works with algorithms that publish values and stars only, or go along hierarchies, not with {algorithm.name!r}")
