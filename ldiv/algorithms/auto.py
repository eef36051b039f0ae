"""The default: the cascade, then prices, as far as the effort goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ldiv.algorithms import register
from ldiv.algorithms.cascade import cascade
from ldiv.algorithms.lagrangian import lagrangian
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency

__all__ = ["auto"]


@register(
    "auto",
    guarantee="l on suppressed tuples with effort fast, l * d on stars; never more stars than TP+ or the cascade",
    cost="the cascade's with effort fast, else the Lagrangian's",
    source="this project; docs/near-optimal.md",
)
def auto(
    contingency: Contingency,
    l: int,
    *,
    seed: int | None = None,
    effort: str = "default",
    time_limit: float | None = None,
    threads: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> Release:
    """What :func:`ldiv.anonymize` does unless told otherwise.

    Parameters
    ----------
    contingency : Contingency
        Cells of an l-eligible table.
    l : int
    seed : int, optional
        Random ties in TP and the cascade.
    effort : {"fast", "default", "best"}
        ``"fast"``: the cascade alone. ``"default"``: then prices, in a time proportional to the number of cells (about a minute for 250,000
        rows with 7 attributes on two cores). ``"best"``: more patterns and dives, and sweeps until the bound has converged.
    time_limit : float, optional
        Seconds for the prices; the release then depends on the machine's speed.
    threads : int, optional
        The result does not depend on it.
    progress : callable, optional
        Called with a line of text now and then.

    Returns
    -------
    Release
        ``release.certificate`` says how near to optimal it is.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.datasets.load("acs2018", qi=["Gender", "Race"])
    >>> fast, default = (ldiv.solve(data, l=6, effort=effort) for effort in ("fast", "default"))
    >>> default.stars <= fast.stars
    True
    """
    if effort == "fast":
        return replace(cascade(contingency, l, seed=seed), algorithm="auto")
    release = lagrangian(contingency, l, seed=seed, effort=effort, time_limit=time_limit, threads=threads, progress=progress)
    return replace(release, algorithm="auto")
