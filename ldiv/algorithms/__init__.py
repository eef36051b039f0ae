"""The registry of algorithms: each is a callable from (Contingency, l, options) to a Release, under a name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from ldiv.errors import InputError
from ldiv.release import Release

__all__ = ["Algorithm", "algorithms", "get", "register"]

GROUP = "ldiv.algorithms"


@dataclass(frozen=True)
class Algorithm:
    """An algorithm as users see it.

    Attributes
    ----------
    name : str
    solve : callable
        ``solve(contingency, l, *, seed=None, **options) -> Release``. It may assume that the table is l-eligible;
        its release is verified by the caller.
    guarantee, cost, source : str
        What it promises, what it costs, where it comes from.
    suppression : bool
        Whether it publishes only values and stars.
    """

    name: str
    solve: Callable[..., Release]
    guarantee: str = "none"
    cost: str = "unknown"
    source: str = ""
    suppression: bool = True


_registry: dict[str, Algorithm] = {}


def register(name: str, **about: Any) -> Callable[[Callable[..., Release]], Callable[..., Release]]:
    """Decorator that puts an algorithm under a name.

    Parameters
    ----------
    name : str
        How users call it; refused if taken.
    **about
        ``guarantee=``, ``cost=``, ``source=``, ``suppression=``; see :class:`Algorithm`.
    """

    def enter(solve: Callable[..., Release]) -> Callable[..., Release]:
        if name in _registry:
            raise InputError(f"an algorithm named {name!r} is registered already")
        _registry[name] = Algorithm(name, solve, **about)
        return solve

    return enter


def algorithms() -> dict[str, Algorithm]:
    """All algorithms by name, with their guarantee, cost and source; users' own included.

    Installed packages add theirs by the entry-point group ``ldiv.algorithms`` (the entry point's object is an
    :class:`Algorithm`), a session by :func:`register`.

    Examples
    --------
    >>> import ldiv
    >>> ldiv.algorithms()["tp"].guarantee
    'l on suppressed tuples, l * d on stars'
    """
    _load()
    return dict(_registry)


def get(name: str) -> Algorithm:
    """The algorithm of that name, or an InputError that lists the names there are."""
    known = algorithms()
    if name not in known:
        raise InputError(f"no algorithm {name!r}; there are: {', '.join(sorted(known))}")
    return known[name]


@cache
def _load() -> None:
    from importlib.metadata import entry_points  # slow to import, as much as a third of numpy

    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    for point in entry_points(group=GROUP):
        found = point.load()
        _registry.setdefault(found.name, found)
