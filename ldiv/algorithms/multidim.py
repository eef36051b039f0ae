"""The multi-dimensional transform: every star of a suppression release becomes the sub-domain its group holds."""

from __future__ import annotations

from typing import Any

import numpy as np

from ldiv.algorithms import get, register
from ldiv.errors import InputError
from ldiv.release.recoding import boxes
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency

__all__ = ["multidim", "transform"]


def transform(release: Release, nodes: bool = False) -> Release:
    """Replace the stars of a suppression release by the sub-domains of the values that each group holds.

    Parameters
    ----------
    release : Release
    nodes : bool, default False
        Publish the lowest node above these values where an attribute has a taxonomy.

    Returns
    -------
    Release
        The same groups; ranges for ordered attributes, sets for others; a star only where the whole domain is held.

    Notes
    -----
    Groups stay as they are, so l-diversity and truth carry over, and KL-divergence cannot grow. O(entries * d).
    """
    c = release.contingency
    group = np.repeat(np.arange(release.groups), np.diff(release.indptr))
    published, subdomains = boxes(c, group, c.group_of_cell[release.cell], release.groups, nodes)
    return Release.from_entries(
        c,
        group,
        release.cell,
        release.count,
        l=release.l,
        algorithm=f"multidim of {release.algorithm}",
        published=published,
        subdomains=subdomains,
        info=release.info,
    )


@register(
    "multidim",
    guarantee="that of the release it transforms",
    cost="that of the other algorithm, plus O(n * d)",
    source="Xiao, Yi, Tao, EDBT 2010, section 6, arXiv:0912.5426",
    suppression=False,
)
def multidim(contingency: Contingency, l: int, *, seed: int | None = None, of: str = "tp+", nodes: bool = False, **options: Any) -> Release:
    """Another algorithm's release with each star replaced by what its group holds.

    Parameters
    ----------
    contingency : Contingency
    l : int
    seed : int, optional
        For the other algorithm.
    of : str, default "tp+"
        A suppression algorithm.
    nodes : bool, default False
        Publish nodes of taxonomies instead of ranges and sets; the default of :func:`ldiv.anonymize` where it is given hierarchies.
    **options
        For the other algorithm, ``k=`` (the least size of a group) included.

    Returns
    -------
    Release

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.Microdata.from_codes([[0], [1], [5]], [0, 1, 0], domains=[ldiv.Domain("Age", 9, ordered=True)])
    >>> release = ldiv.solve(ldiv.Microdata.from_codes([[0], [1]], [0, 1], domains=data.domains), 2, algorithm="multidim")
    >>> release.subdomains[0][0].text
    '[0 - 1]'
    """
    if not get(of).suppression:
        raise InputError(f"of= must be an algorithm that publishes values and stars only, not {of!r}")
    return transform(get(of).solve(contingency, l, seed=seed, **options), nodes)
