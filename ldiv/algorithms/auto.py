"""The default: the cascade, then the near-optimal search, as far as the effort goes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from ldiv.algorithms import register
from ldiv.algorithms.cascade import cascade
from ldiv.algorithms.lagrangian.clock import Clock
from ldiv.algorithms.lagrangian.effort import EFFORTS
from ldiv.algorithms.lagrangian.search import Search
from ldiv.errors import InputError
from ldiv.release.nodes import lattice_for
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency

__all__ = ["auto"]


@register(
    "auto",
    guarantee="l on suppressed tuples with effort fast, l * d on stars, for k up to l; never more stars than the cascade",
    cost="the cascade's with effort fast, else the Lagrangian's",
    source="this project; docs/near-optimal.md",
    any_order=True,
)
def auto(
    contingency: Contingency,
    l: int,
    *,
    k: int = 1,
    seed: int | None = None,
    effort: str = "default",
    time_limit: float | None = None,
    gap: float | None = None,
    threads: int | None = None,
    progress: Callable[[str], None] | None = None,
    nodes: bool = False,
    loss: str | Mapping[str, Mapping[str, float]] | None = None,
) -> Release:
    """What :func:`ldiv.anonymize` does unless told otherwise.

    Parameters
    ----------
    contingency : Contingency
        Cells of an l-eligible table.
    l : int
    k : int
        The least size of a group.
    seed : int, optional
        Random ties in TP and the cascade.
    effort : {"fast", "default", "best"}
        ``"fast"``: the cascade alone. ``"default"``: then multipliers, prices and some neighbourhoods, in a time proportional to the number of cells
        (about half a minute for 250,000 rows with 7 attributes on two cores). ``"best"``: prices until they have converged, and neighbourhoods until many
        in a row save nothing; Ctrl-C keeps the best so far.
    time_limit : float, optional
        Seconds; the release then depends on the machine's speed.
    gap : float, optional
        End as soon as stars are at most this many times the bound, for instance 1.02.
    threads : int, optional
        The result does not depend on it.
    progress : callable, optional
        Called with a line of text now and then.
    nodes : bool, default False
        Publish nodes of taxonomies where attributes have one; the default of :func:`ldiv.anonymize` where it is given hierarchies.
    loss : {"ncp", "level"} or mapping, optional
        What a row loses by a node; see the algorithm ``lagrangian``.

    Notes
    -----
    Small tables are solved exactly where that takes seconds; ``release.info["optimal"]`` is True where the release is proven optimal.

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
        for name, given in (("time_limit", time_limit), ("gap", gap), ("threads", threads)):
            if given is not None:
                raise InputError(f"{name}= does not apply with effort='fast', which is the cascade: leave it out, or take another effort")
        return replace(cascade(contingency, l, k=k, seed=seed, nodes=nodes, loss=loss), algorithm="auto")
    search = Search(contingency, l, seed, threads, Clock(time_limit), gap, progress, k, lattice_for(contingency, nodes, loss))
    search.run(EFFORTS[effort])
    return replace(search.release(), algorithm="auto")
