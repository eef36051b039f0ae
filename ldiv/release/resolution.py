"""How finely a release still shows values: precision, ambiguity, entropy. Others are in :mod:`ldiv.release.measures`."""

from __future__ import annotations

import numpy as np

import ldiv._kernels.cells as _cells
from ldiv.release.measures import subdomain_codes, widths
from ldiv.release.release import Release
from ldiv.table.lattice import levels_of

__all__ = ["ambiguity", "non_uniform_entropy", "precision"]


def precision(release: Release) -> float:
    """Sweeney's precision: 1 less the mean over all QI cells of the level published over the height of its hierarchy.

    A value is on level 0, a star on the highest; an attribute without a taxonomy has these two only. A sub-domain that is no node counts as the lowest node
    above it.

    Returns
    -------
    float
        1 where every value is published, 0 where every cell is a star.

    Notes
    -----
    O(G * d), and a look at each sub-domain.

    References
    ----------
    L. Sweeney: Achieving k-anonymity privacy protection using generalization and suppression. IJUFKS 10(5), 2002.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.Microdata.from_codes([[0, 0], [1, 0]], [0, 1])
    >>> ldiv.precision(ldiv.solve(data, l=2))
    0.5
    """
    if not release.n:
        return 1.0
    lost = np.zeros(release.groups)
    for j, domain in enumerate(release.contingency.domains):
        column = release.published[:, j]
        lost[column == -1] += 1
        if not len(release.subdomains[j]):
            continue
        levels = levels_of(domain) if domain.taxonomy is not None else None
        for k, kind in enumerate(release.subdomains[j]):
            height = 1 if levels is None else len(levels)
            level = height if levels is None else next((i for i, of in enumerate(levels) if len(np.unique(of[list(kind.codes)])) == 1), height)
            lost[column == -2 - k] += level / height
    return 1 - float(release.group_sizes @ lost / (release.n * release.d))


def ambiguity(release: Release) -> float:
    """The mean over rows of how many combinations of values the published row stands for.

    Returns
    -------
    float
        1 where every value is published; the product of the domain sizes where every cell is a star.

    References
    ----------
    J. Goldberger, T. Tassa: Efficient anonymizations with enhanced utility. Transactions on Data Privacy 3(2), 2010. ARX has the sum over rows.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.Microdata.from_codes([[0, 0], [1, 0]], [0, 1], [2, 3, 2])
    >>> ldiv.ambiguity(ldiv.solve(data, l=2))
    2.0
    """
    return float(release.group_sizes @ widths(release).prod(axis=1) / release.n) if release.n else 1.0


def non_uniform_entropy(release: Release) -> float:
    """Bits by which the published cells leave the values open, over the bits that stars in every cell would leave.

    A value v published as a set g leaves ``-log2(f(v) / f(g))`` bits, f being the rows of the table that have one of these values.

    Returns
    -------
    float
        0 where every value is published, 1 where every cell is a star.

    Notes
    -----
    O(entries * d). ARX divides by the rows that publish g, which is the same where a column is recoded as a whole.

    References
    ----------
    A. Gionis, T. Tassa: k-Anonymization with minimal loss of information. IEEE TKDE 21(2), 2009.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.Microdata.from_codes([[0, 0], [0, 1], [1, 2], [1, 3]], [0, 1, 0, 1])
    >>> round(ldiv.non_uniform_entropy(ldiv.solve(data, l=2)), 6)     # 4 * 2 bits of 4 * (1 + 2)
    0.666667
    """
    c = release.contingency
    group = np.repeat(np.arange(release.groups), np.diff(release.indptr))
    point = c.group_of_cell[release.cell]
    lost, most = 0.0, 0.0
    for j, size in enumerate(c.sizes):
        seen, number = np.unique(c.codes[:, j], return_inverse=True)
        rows = _cells.tally(number.ravel()[c.group_of_cell].astype(np.int32), len(seen), c.count)
        own = np.log2(rows)[number.ravel()[point]]
        shown = release.published[group, j]
        for value in np.unique(shown[shown < 0]).tolist():
            inside = rows if value == -1 else rows[np.isin(seen, subdomain_codes(release, j, value, size))]
            mine = shown == value
            lost += float(release.count[mine] @ (np.log2(float(inside.sum())) - own[mine]))
        most += float(rows @ (np.log2(float(c.n)) - np.log2(rows))) if c.n else 0.0
    return lost / most if most else 0.0
