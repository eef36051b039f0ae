"""The registry of algorithms: each is a callable from (Contingency, l, options) to a Release, under a name."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, wraps
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.arguments import Argument, check_options, hint, options_of, shown, takes
from ldiv.errors import InputError, UnsafeReleaseError
from ldiv.privacy.requirement import require_eligible, validate_k, validate_l
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency
from ldiv.table.domain import Domain
from ldiv.table.microdata import Microdata

__all__ = ["Algorithm", "get", "in_one_order", "list_algorithms", "one_order", "register"]

GROUP = "ldiv.algorithms"


class _Package(ModuleType):
    """``ldiv.algorithms`` is this package; called like a function it lists what is in it, as :func:`ldiv.list_algorithms` does."""

    def __call__(self) -> dict[str, Algorithm]:
        return list_algorithms()


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name in {module.name for module in iter_modules(__path__)}:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@dataclass(frozen=True)
class Algorithm:
    """An algorithm as users see it.

    Attributes
    ----------
    name : str
    solve : callable
        ``solve(contingency, l, *, k=1, seed=None, **options) -> Release``. It may assume that the table is l-eligible, has at least k rows, and that its
        options are those it names: whoever calls it is refused otherwise (:class:`ldiv.NotEligibleError`, :class:`ldiv.InputError`). It must return a
        release of the very table it was given, else :class:`ldiv.UnsafeReleaseError`; :func:`ldiv.solve` verifies the release besides. One that does not
        name ``k`` is not told of it; :func:`ldiv.solve` merges its groups afterwards.
    guarantee, cost, source : str
        What it promises, what it costs, where it comes from.
    suppression : bool
        Whether it publishes values and stars only, a star only where rows of a group differ.
    any_order : bool
        Whether its release is to be the same in whatever order the quasi-identifiers are named: it is given them in one order then.
    """

    name: str
    solve: Callable[..., Release]
    guarantee: str = "none"
    cost: str = "unknown"
    source: str = ""
    suppression: bool = True
    any_order: bool = False

    @property
    def options(self) -> dict[str, Argument | None]:
        """The options it takes beside ``k`` and ``seed``, each with what it allows (None where that is the algorithm's own)."""
        return options_of(self.solve)

    @property
    def sizes(self) -> bool:
        """Whether it keeps a least size of groups itself."""
        return takes(self.solve, "k")

    @property
    def generalises(self) -> bool:
        """Whether it publishes nodes of hierarchies where it is given some."""
        return "nodes" in self.options

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name or not callable(self.solve):
            raise InputError(f"an algorithm needs a name (str) and a function, not {shown(self.name)} and {shown(self.solve)}")
        object.__setattr__(self, "solve", _guarded(self.name, self.solve, self.any_order))


def _guarded(name: str, solve: Callable[..., Release], any_order: bool = False) -> Callable[..., Release]:
    """The function, called only with what it may assume, its outcome looked at."""
    if hasattr(solve, "_guards"):
        return solve

    @wraps(solve)
    def guarded(contingency: Contingency | Microdata, l: int, *, k: int = 1, **options: Any) -> Release:
        c = contingency.contingency if isinstance(contingency, Microdata) else contingency
        if not isinstance(c, Contingency):
            raise InputError(f"data must be Microdata or a Contingency, not {shown(c)} ({type(c).__name__})")
        l, k = validate_l(l), validate_k(k)
        require_eligible(c, l, k)
        if options.get("seed", 0) is None:  # as if not said: an algorithm without choices need not know the word
            del options["seed"]
        options = check_options(name, solve, options)
        if k > l:  # else every l-eligible group has k rows anyway, and nobody need know
            if not takes(solve, "k"):
                raise InputError(f"algorithm {name!r} knows no least size of groups k=; merge its groups afterwards: also=[ldiv.KAnonymity({k})]")
            options["k"] = k
        release = in_one_order(c, l, solve, options) if any_order else solve(c, l, **options)
        if type(release) is not Release:
            raise UnsafeReleaseError(f"{name}: returned {shown(release)} ({type(release).__name__}), not a Release")
        if release.contingency is not c:
            raise UnsafeReleaseError(f"{name}: returned the release of another table")
        return release if (release.l, release.k) == (l, k) else replace(release, l=l, k=k)

    guarded._guards = solve  # type: ignore[attr-defined]
    return guarded


def one_order(domains: Sequence[Domain]) -> list[int]:
    """The order of quasi-identifiers in which algorithms are given them whose release is not to depend on it."""
    return sorted(range(len(domains)), key=lambda j: (-domains[j].size, str(domains[j].name), str(type(domains[j].name))))


def in_one_order(
    c: Contingency, l: int, solve: Callable[..., Release], options: dict[str, Any], cells: Mapping[str, NDArray[np.int64]] | None = None
) -> Release:
    """The release of the table with its quasi-identifiers in one order, as one of the table as it is; `cells` are options with one number a cell.

    Largest domains first, then by name: ties among groups go by their codes, and groups that share the values of large domains are the fewest; on
    the shipped table the cascade has 18 % fewer stars (l = 6) than with the largest last.
    """
    order, cells = one_order(c.domains), cells or {}
    if order == list(range(c.d)):
        return solve(c, l, **options, **cells)
    sorted_table, place = c.project(order)
    moved = {name: np.empty_like(array) for name, array in cells.items()}
    for name, array in cells.items():
        moved[name][place] = array
    release = solve(sorted_table, l, **options, **moved)
    cell = np.empty(len(place), dtype=np.int32)
    cell[place] = np.arange(len(place), dtype=np.int32)  # cells correspond one to one
    group = np.repeat(np.arange(release.groups), np.diff(release.indptr))
    info = dict(release.info)
    if (prices := info.get("prices")) is not None:
        info["prices"] = replace(prices, value=prices.value[place], protected=tuple(order[j] for j in prices.protected))
    back = np.argsort(order)
    form: dict[str, Any] = {}
    if not release.is_suppression:
        form = {"published": release.published[:, back], "subdomains": [release.subdomains[j] for j in back]}
    return Release.from_entries(c, group, cell[release.cell], release.count, l=release.l, algorithm=release.algorithm, info=info, **form)


_registry: dict[str, Algorithm] = {}


def register(name: str, **about: Any) -> Callable[[Callable[..., Release]], Callable[..., Release]]:
    """Decorator that puts an algorithm under a name.

    Parameters
    ----------
    name : str
        How users call it; refused if taken.
    **about
        ``guarantee=``, ``cost=``, ``source=``, ``suppression=``, ``any_order=``; see :class:`Algorithm`.
    """

    def enter(solve: Callable[..., Release]) -> Callable[..., Release]:
        if name in _registry:
            raise InputError(f"an algorithm named {name!r} is registered already")
        _registry[name] = Algorithm(name, solve, **about)
        return solve

    return enter


def list_algorithms() -> dict[str, Algorithm]:
    """All algorithms by name, with their guarantee, cost and source; users' own included.

    Installed packages add theirs by the entry-point group ``ldiv.algorithms`` (the entry point's object is an
    :class:`Algorithm`), a session by :func:`register`.

    Examples
    --------
    >>> import ldiv
    >>> ldiv.list_algorithms()["tp"].guarantee
    'l on suppressed tuples, l * d on stars, for k up to l'
    """
    _load()
    return dict(_registry)


def get(name: str) -> Algorithm:
    """The algorithm of that name, or an InputError that lists the names there are.

    Others' packages are loaded only where the name is none of this package's, the one that announces the name first; an error in one of them
    concerns only those who ask for it.
    """
    _load_own()
    if isinstance(name, str) and name not in _registry:
        for point in _points():
            if point.name == name:
                try:
                    _enter(point)
                except Exception as error:
                    reason = f"{type(error).__name__}: {error}"
                    raise InputError(f"algorithm {name!r} is announced by {point.value!r} but cannot be loaded: {reason}") from error
        if name not in _registry:
            _load()
    if not isinstance(name, str) or name not in _registry:
        raise InputError(f"no algorithm {shown(name)}; there are: {', '.join(sorted(_registry))}{hint(name, _registry)}")
    return _registry[name]


@cache
def _load_own() -> None:
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")


@cache
def _load() -> None:
    """All there are; what cannot be loaded is left out, with a warning."""
    _load_own()
    for point in _points():
        try:
            _enter(point)
        except Exception as error:  # noqa: BLE001  whatever is wrong with it
            warnings.warn(f"the algorithm {point.name!r} of {point.value!r} is left out: {type(error).__name__}: {error}", stacklevel=3)


def _points() -> Any:
    from importlib.metadata import entry_points  # slow to import, as much as a third of numpy

    return entry_points(group=GROUP)


def _enter(point: Any) -> None:
    found = point.load()
    if not isinstance(found, Algorithm):
        raise InputError(f"it is {shown(found)}, not an Algorithm")
    _registry.setdefault(found.name, found)
