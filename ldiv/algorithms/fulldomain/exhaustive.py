"""Full-domain recoding at its optimum: every node of the lattice that could lose least."""

from __future__ import annotations

from collections.abc import Mapping

from ldiv.algorithms import register
from ldiv.algorithms.fulldomain.nodes import Node, Nodes, recode
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency

__all__ = ["full_domain"]


def search(space: Nodes) -> Node:
    """Nodes by what they lose at the least, until the best found cannot be beaten."""
    best, least = space.top, space.judge(space.top).lost
    for base, node in space.by_base():
        if base >= least:
            break
        found = space.judge(node)
        if found.valid and found.lost < least:
            best, least = node, found.lost
    return best


@register(
    "full-domain",
    guarantee="the least loss of all full-domain recodings",
    cost="O(nodes * cells * d) at worst; nodes that cannot lose less are not looked at",
    source="exhaustive; ARX's full-domain optimum",
    suppression=False,
)
def full_domain(
    contingency: Contingency,
    l: int,
    *,
    k: int = 1,
    seed: int | None = None,
    suppression: float = 1.0,
    nodes: bool = False,
    loss: str | Mapping[str, Mapping[str, float]] | None = None,
) -> Release:
    """Full-domain recoding of least loss, found by looking at every node that may have it.

    Parameters
    ----------
    contingency : Contingency
        Cells of an l-eligible table.
    l : int
    k : int
        The least size of a class.
    seed : int, optional
        Ignored: there are no ties left to chance.
    suppression : float, default 1.0
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
    What a node loses is at least what its levels alone lose, so nodes are looked at in that order until no later one can lose less: exact for any
    `suppression`, also where validity is not monotone.

    References
    ----------
    R. Bayardo, R. Agrawal: Data privacy through optimal k-anonymization. ICDE 2005. F. Kohlmayer, F. Prasser et al.: Flash: efficient, stable and
    optimal k-anonymity. PASSAT 2012.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.Microdata.from_codes([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 0, 1])
    >>> ldiv.solve(data, l=2, algorithm="full-domain").codes.tolist()
    [[0, -1], [0, -1], [1, -1], [1, -1]]
    """
    return recode(contingency, l, k, search, algorithm="full-domain", suppression=suppression, nodes=nodes, loss=loss)
