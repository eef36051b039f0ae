"""Lagrangian: prices by dual ascent, whole rows by rounding and diving, what is left by TP and the cascade."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ldiv.algorithms import register
from ldiv.algorithms.lagrangian.clock import Clock
from ldiv.algorithms.lagrangian.effort import EFFORTS, EVERYTHING, Effort
from ldiv.algorithms.lagrangian.search import Search
from ldiv.release.nodes import lattice_for
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency

__all__ = ["EFFORTS", "EVERYTHING", "Effort", "lagrangian"]


@register(
    "lagrangian",
    guarantee="l * d on stars for k up to l; a proven lower bound with every release; never more stars than the cascade",
    cost="O(sweeps * patterns * cells)",
    source="this project; docs/near-optimal.md",
    any_order=True,
)
def lagrangian(
    contingency: Contingency,
    l: int,
    *,
    k: int = 1,
    seed: int | None = None,
    effort: str | Effort = "default",
    time_limit: float | None = None,
    gap: float | None = None,
    threads: int | None = None,
    progress: Callable[[str], None] | None = None,
    nodes: bool = False,
    loss: str | Mapping[str, Mapping[str, float]] | None = None,
) -> Release:
    """Near-optimal stars with a certificate, by Lagrangian prices on the eligibility constraints.

    Parameters
    ----------
    contingency : Contingency
        Cells of an l-eligible table.
    l : int
    k : int
        The least size of a group.
    seed : int, optional
        For the parts that TP and the cascade do.
    effort : {"fast", "default", "best"} or Effort
    time_limit : float, optional
        Seconds, from the start; checked between sweeps and neighbourhoods. The release then depends on the machine's speed.
    gap : float, optional
        End as soon as stars are at most this many times the bound, for instance 1.02.
    threads : int, optional
        The result does not depend on it.
    progress : callable, optional
        Called with a line of text now and then.
    nodes : bool, default False
        Publish nodes of taxonomies, each group its own levels, where attributes have one; the default of :func:`ldiv.anonymize` where it is given
        hierarchies. What is minimised, and what the bound is about, is then `loss`.
    loss : {"ncp", "level"} or mapping, default "ncp"
        What a row loses by a node, as a part of its attribute's star: the share of the domain below it; its level over the height; or by column a
        mapping of nodes' texts to numbers from 0 to 1.

    Returns
    -------
    Release
        ``release.proof`` holds a proven lower bound on the stars of every release, and the prices that prove it.

    Notes
    -----
    Multipliers first (the linear bound), rounded to whole rows; then a price a cell (the configuration bound), which also says where the gap sits; there
    neighbourhoods of some hundred cells are solved exactly. With effort ``"best"`` the first Ctrl-C ends the search and keeps the best so far.

    Time O(sweeps * patterns * cells), space 16 bytes for each pattern and cell and 36 for each item. From 2**30 rows on rows are assigned in units of
    a power of two, and only what units leave over is assigned exactly.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.datasets.load("acs2018", qi=["Age", "Gender", "Race", "MaritalStatus"])
    >>> release = ldiv.solve(data, l=6, algorithm="lagrangian")
    >>> release.info["bound"] <= release.stars < 1.05 * release.info["bound"]
    True
    """
    chosen = EFFORTS[effort] if isinstance(effort, str) else effort
    search = Search(contingency, l, seed, threads, Clock(time_limit), gap, progress, k, lattice_for(contingency, nodes, loss))
    search.run(chosen)
    return search.release()
