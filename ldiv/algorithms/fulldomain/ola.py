"""OLA: the lattice is halved, and every answer tags what is above or below."""

from __future__ import annotations

from collections.abc import Mapping

from ldiv.algorithms import register
from ldiv.algorithms.fulldomain.nodes import Node, Nodes, Tags, recode
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency

__all__ = ["ola"]


def search(space: Nodes) -> Node:
    """Halve sub-lattices until every node is tagged."""
    tags = Tags(space)
    waiting = [(space.bottom, space.top)]
    while waiting:
        low, high = waiting.pop()
        if tags.all_known(low, high):
            continue
        if sum(high) - sum(low) < 2:
            tags.ask(low)
            tags.ask(high)
            continue
        for node in between(low, high, (sum(low) + sum(high)) // 2):
            waiting.append((low, node) if tags.ask(node) else (node, high))
    return space.least(tags.minimal())


def between(low: Node, high: Node, height: int) -> list[Node]:
    """The nodes of a height in a sub-lattice, in order."""
    if not low:
        return [()] if height == 0 else []
    rest_low, rest_high = sum(low[1:]), sum(high[1:])
    first = range(max(low[0], height - rest_high), min(high[0], height - rest_low) + 1)
    return [(level, *node) for level in first for node in between(low[1:], high[1:], height - level)]


@register(
    "ola",
    guarantee="the least loss of all full-domain recodings with suppression = 0",
    cost="O(nodes * cells * d) at worst; tags leave few nodes to look at",
    source="El Emam et al., JAMIA 16(5), 2009; with l-diversity as what is asked of a class",
    suppression=False,
)
def ola(
    contingency: Contingency,
    l: int,
    *,
    k: int = 1,
    seed: int | None = None,
    suppression: float = 0.05,
    nodes: bool = False,
    loss: str | Mapping[str, Mapping[str, float]] | None = None,
) -> Release:
    """OLA (Optimal Lattice Anonymization): nodes of middle height first, sub-lattices after, with predictive tagging; of the minimal valid nodes the one that loses least.

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
    Where validity is not monotone (`suppression` above 0 and l above 1) a tag may be wrong: nodes may be passed over, and what is published was looked at.

    References
    ----------
    K. El Emam, F. Dankar, R. Issa, E. Jonker, D. Amyot et al.: A globally optimal k-anonymity method for the de-identification of health data. Journal of
    the American Medical Informatics Association 16(5), 2009.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.Microdata.from_codes([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 0, 1])
    >>> ldiv.solve(data, l=2, algorithm="ola").codes.tolist()
    [[0, -1], [0, -1], [1, -1], [1, -1]]
    """
    return recode(contingency, l, k, search, algorithm="ola", suppression=suppression, nodes=nodes, loss=loss)
