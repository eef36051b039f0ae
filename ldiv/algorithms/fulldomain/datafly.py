"""Datafly: the column with most distinct values is generalised, until few enough rows are in the way."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ldiv.algorithms import register
from ldiv.algorithms.fulldomain.nodes import Node, Nodes, recode
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency

__all__ = ["datafly"]


def search(space: Nodes) -> Node:
    """Up along the attribute with most distinct values."""
    c, lattice = space.c, space.lattice
    node = space.bottom
    while not space.valid(node):
        shown = []
        for j, level in enumerate(node):
            of = lattice.node_of(j, level) if level < space.top[j] else None
            codes = c.codes[:, j] if of is None else of[c.codes[:, j]]
            shown.append(0 if level == space.top[j] else len(np.unique(codes)))
        j = int(np.argmax(shown))
        node = (*node[:j], node[j] + 1, *node[j + 1 :])
    return node


@register(
    "datafly",
    guarantee="none",
    cost="O(levels * cells * d)",
    source="Sweeney, IJUFKS 10(5), 2002; with l-diversity as what is asked of a class",
    suppression=False,
)
def datafly(
    contingency: Contingency,
    l: int,
    *,
    k: int = 1,
    seed: int | None = None,
    suppression: float = 0.05,
    nodes: bool = False,
    loss: str | Mapping[str, Mapping[str, float]] | None = None,
) -> Release:
    """Datafly: generalise the column that shows most distinct values, level by level, until the rows of bad classes may be starred.

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
    One path through the lattice, so any number of attributes will do. In the paper k rows at most are suppressed.

    References
    ----------
    L. Sweeney: Achieving k-anonymity privacy protection using generalization and suppression. International Journal of Uncertainty, Fuzziness and
    Knowledge-Based Systems 10(5), 2002.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.Microdata.from_codes([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 0, 1])
    >>> ldiv.solve(data, l=2, algorithm="datafly").codes.tolist()
    [[-1, -1], [-1, -1], [-1, -1], [-1, -1]]
    """
    return recode(contingency, l, k, search, algorithm="datafly", suppression=suppression, nodes=nodes, loss=loss, large=True)
