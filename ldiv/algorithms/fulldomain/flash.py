"""Flash: greedy paths to the top, halved, height by height."""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heappop, heappush

from ldiv.algorithms import register
from ldiv.algorithms.fulldomain.nodes import Node, Nodes, Tags, recode
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency

__all__ = ["flash"]


def search(space: Nodes) -> Node:
    """Paths from untagged nodes, in the order of Flash: by height, then by what their levels lose."""
    tags = Tags(space)

    def rank(node: Node) -> tuple[int, int, Node]:
        return sum(node), sum(of[level] for of, level in zip(space.base, node, strict=True)), node

    for start in sorted(space.all(), key=rank):
        waiting = [(rank(start), start)]
        while waiting:
            _, node = heappop(waiting)
            if tags.known(node):
                continue
            path = [node]
            while ahead := [x for x in space.above(path[-1]) if not tags.known(x)]:
                path.append(min(ahead, key=rank))
            low, high = 0, len(path) - 1
            while low <= high:
                middle = (low + high) // 2
                if tags.ask(path[middle]):
                    high = middle - 1
                else:
                    low = middle + 1
                    for x in space.above(path[middle]):
                        heappush(waiting, (rank(x), x))
    return space.least(tags.minimal())


@register(
    "flash",
    guarantee="the least loss of all full-domain recodings with suppression = 0",
    cost="O(nodes * cells * d) at worst; tags leave few nodes to look at",
    source="Kohlmayer, Prasser et al., PASSAT 2012; with l-diversity as what is asked of a class",
    suppression=False,
)
def flash(
    contingency: Contingency,
    l: int,
    *,
    k: int = 1,
    seed: int | None = None,
    suppression: float = 0.05,
    nodes: bool = False,
    loss: str | Mapping[str, Mapping[str, float]] | None = None,
) -> Release:
    """Flash: from every node not yet tagged, lowest first, a path to the top through untagged nodes that lose least, searched by halving.

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
    Every answer tags the nodes above or below. Of the minimal valid nodes the one that loses least is published. Where validity is not monotone
    (`suppression` above 0 and l above 1) a tag may be wrong: nodes may be passed over, and what is published was looked at.

    References
    ----------
    F. Kohlmayer, F. Prasser, C. Eckert, A. Kemper, K. Kuhn: Flash: efficient, stable and optimal k-anonymity. PASSAT 2012.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.Microdata.from_codes([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 0, 1])
    >>> ldiv.solve(data, l=2, algorithm="flash").codes.tolist()
    [[0, -1], [0, -1], [1, -1], [1, -1]]
    """
    return recode(contingency, l, k, search, algorithm="flash", suppression=suppression, nodes=nodes, loss=loss)
