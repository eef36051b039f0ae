"""Samarati: binary search for the lowest height of the lattice with a valid node."""

from __future__ import annotations

from collections.abc import Mapping

from ldiv.algorithms import register
from ldiv.algorithms.fulldomain.nodes import Node, Nodes, recode
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency

__all__ = ["samarati"]


def search(space: Nodes) -> Node:
    """Halve the heights: a valid node at one, and lower ones are tried."""
    low, high = 0, sum(space.top)
    while low < high:
        middle = (low + high) // 2
        if any(space.valid(node) for node in space.of_height(middle)):
            high = middle
        else:
            low = middle + 1
    return space.least(space.of_height(high))


@register(
    "samarati",
    guarantee="a node of least height where validity is monotone (l = 1, or suppression = 0)",
    cost="O(nodes * cells * d) at worst, a few heights of them as a rule",
    source="Samarati, IEEE TKDE 13(6), 2001; with l-diversity as what is asked of a class",
    suppression=False,
)
def samarati(
    contingency: Contingency,
    l: int,
    *,
    k: int = 1,
    seed: int | None = None,
    suppression: float = 0.05,
    nodes: bool = False,
    loss: str | Mapping[str, Mapping[str, float]] | None = None,
) -> Release:
    """Samarati: the lowest height of the lattice that has a valid node, by binary search, and of its valid nodes the one that loses least.

    Parameters
    ----------
    contingency : Contingency
        Cells of an l-eligible table.
    l : int
    k : int
        The least size of a class.
    seed : int, optional
        Ignored: there are no ties left to chance.
    suppression : float, default 0.05
        The share of rows whose classes may not be published that may be starred throughout, in one group, which the smallest other classes join where it
        may not be published by itself.
    nodes : bool, default False
        Recode along the attributes' taxonomies; without, a column is published as it is or starred. The default of :func:`ldiv.anonymize` where it is given
        hierarchies.
    loss : {"ncp", "level"} or mapping, optional
        What a row loses by a node, ``"ncp"`` where not said; see :func:`~ldiv.algorithms.lagrangian.lagrangian`.

    Returns
    -------
    Release
        ``info``: ``"node"`` (the level of each attribute), ``"checked"`` (how many nodes were looked at), ``"starred_rows"``; ``release.loss`` is
        what was minimised, in stars.

    Notes
    -----
    The paper leaves open which of the minimal nodes is taken. Where validity is not monotone the search may miss a lower height.

    References
    ----------
    P. Samarati: Protecting respondents' identities in microdata release. IEEE Transactions on Knowledge and Data Engineering 13(6), 2001.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.Microdata.from_codes([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 0, 1])
    >>> ldiv.solve(data, l=2, algorithm="samarati").codes.tolist()
    [[0, -1], [0, -1], [1, -1], [1, -1]]
    """
    return recode(contingency, l, k, search, algorithm="samarati", suppression=suppression, nodes=nodes, loss=loss)
