"""Incognito: valid nodes of few attributes first, since what is invalid on some is invalid on more."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, product

from ldiv.algorithms import register
from ldiv.algorithms.fulldomain.nodes import Node, Nodes, recode
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency

__all__ = ["incognito"]


def search(space: Nodes) -> Node:
    """Subset by subset the valid nodes; those of all attributes at last."""
    d, top = len(space.top), space.top
    valid: dict[tuple[int, ...], set[Node]] = {(): {top}}  # of each subset, the others starred
    minimal: list[Node] = []
    for size in range(1, d + 1):
        found: dict[tuple[int, ...], set[Node]] = {}
        for subset in combinations(range(d), size):
            smaller = [(valid[tuple(a for a in subset if a != j)], j) for j in subset]
            mine: set[Node] = set()
            minimal = []
            nodes = product(*(range(top[j] + 1) if j in subset else (top[j],) for j in range(d)))
            for node in sorted(nodes, key=sum):
                if any((*node[:j], top[j], *node[j + 1 :]) not in known for known, j in smaller):
                    continue
                if any(below in mine for below in space.below(node) if all(below[j] == top[j] for j in range(d) if j not in subset)):
                    mine.add(node)
                elif space.valid(node):
                    mine.add(node)
                    minimal.append(node)
            found[subset] = mine
        valid = found
    return space.least(minimal)


@register(
    "incognito",
    guarantee="the least loss of all full-domain recodings with suppression = 0",
    cost="O(nodes * cells * d) at worst, over all subsets of attributes",
    source="LeFevre, DeWitt, Ramakrishnan, SIGMOD 2005; with l-diversity as what is asked of a class",
    suppression=False,
)
def incognito(
    contingency: Contingency,
    l: int,
    *,
    k: int = 1,
    seed: int | None = None,
    suppression: float = 0.05,
    nodes: bool = False,
    loss: str | Mapping[str, Mapping[str, float]] | None = None,
) -> Release:
    """Incognito: subsets of attributes by size; a node is looked at only if it is valid on all smaller subsets and no node below it is valid.

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
    The other attributes of a subset count as starred. Of the minimal valid nodes of all attributes the one that loses least is published. Where validity is
    not monotone (`suppression` above 0 and l above 1) nodes may be passed over.

    References
    ----------
    K. LeFevre, D. DeWitt, R. Ramakrishnan: Incognito: efficient full-domain k-anonymity. SIGMOD 2005.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.Microdata.from_codes([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 0, 1])
    >>> ldiv.solve(data, l=2, algorithm="incognito").codes.tolist()
    [[0, -1], [0, -1], [1, -1], [1, -1]]
    """
    return recode(contingency, l, k, search, algorithm="incognito", suppression=suppression, nodes=nodes, loss=loss)
