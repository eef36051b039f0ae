"""TP+: TP, then Hilbert on its residue (section 6 of the paper)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ldiv.algorithms import register
from ldiv.algorithms.hilbert import group_along_curve
from ldiv.algorithms.tp import Split, split
from ldiv.release.nodes import along, lattice_for
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency

__all__ = ["refine", "tp_plus"]


@register(
    "tp+",
    guarantee="l on suppressed tuples, l * d on stars, for k up to l; never more stars than TP",
    cost="O(s * n + n log n)",
    source="Xiao, Yi, Tao, EDBT 2010, section 6, arXiv:0912.5426",
)
def tp_plus(
    contingency: Contingency,
    l: int,
    *,
    k: int = 1,
    seed: int | None = None,
    nodes: bool = False,
    loss: str | Mapping[str, Mapping[str, float]] | None = None,
) -> Release:
    """TP, then Hilbert on its residue R instead of one fully suppressed group.

    Parameters
    ----------
    contingency : Contingency
        Cells of an l-eligible table.
    l : int
    k : int
        The least size of a group.
    seed : int, optional
        As for TP.
    nodes : bool, default False
        Groups as without; each publishes the lowest nodes of taxonomies above what it holds.
    loss : {"ncp", "level"} or mapping, default "ncp"
        What of nodes is counted; see the algorithm ``lagrangian``.

    Returns
    -------
    Release
        ``info`` as TP's.

    Notes
    -----
    R is l-eligible, so Hilbert can split it; each part has at most the stars it had in R. O(s * n + n log n) time, O(n) space.

    References
    ----------
    X. Xiao, K. Yi, Y. Tao: The Hardness and Approximation Algorithms for L-Diversity. EDBT 2010, section 6, arXiv:0912.5426.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.Microdata.from_codes([[0, 0], [0, 1], [3, 3], [3, 2]], [0, 1, 0, 1])
    >>> [ldiv.solve(data, l=2, algorithm=name).stars for name in ("tp", "tp+")]
    [8, 4]
    """
    lattice = lattice_for(contingency, nodes, loss)
    return along(refine(contingency, l, split(contingency, l, seed, k=k), k), lattice)


def refine(contingency: Contingency, l: int, result: Split, k: int = 1) -> Release:
    """TP+ from TP's outcome: Hilbert on the residue."""
    c = contingency
    residue, cells = c.restrict(c.count - result.kept)
    group, cell, rows = group_along_curve(residue, l, k)
    kept = np.flatnonzero(result.kept).astype(np.int32)
    return Release.from_entries(
        c,
        np.concatenate([c.group_of_cell[kept], c.groups + group]),
        np.concatenate([kept, cells[cell]]),
        np.concatenate([result.kept[kept], rows]),
        l=l,
        algorithm="tp+",
        info=result.info,
    )
