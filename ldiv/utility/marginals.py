"""One- and two-way marginals, and associations: of a table, and of what a release lets one expect."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.errors import InputError
from ldiv.table.domain import NO_SENSITIVE
from ldiv.table.microdata import Microdata
from ldiv.utility.shown import Shown, shown_by

__all__ = ["associations", "cramers_v", "k_marginal", "total_variation"]

MOST_PAIRS = 1 << 24


def total_variation(release: Any, ways: int = 1) -> dict[tuple[str, ...], float]:
    """Total variation distance between the marginals of the table and those that the release lets one expect.

    Parameters
    ----------
    release : Release, or what :func:`ldiv.anatomize` returns
    ways : {1, 2}
        Marginals of single attributes, or of all pairs, the SA among them.

    Returns
    -------
    dict from attribute names to float
        Half the sum of the differences of shares: 0 where the marginal is that of the table, 1 where they have nothing in common. The SA alone is always 0.

    Notes
    -----
    In expectation, nothing is drawn: a star spread evenly over its declared domain, a sub-domain over itself. O(groups * pairs), and the sizes of the marginals.

    Examples
    --------
    >>> import ldiv
    >>> from ldiv.utility import total_variation
    >>> data = ldiv.Microdata.from_codes([[0], [0], [1], [1]], [0, 1, 0, 0], [3, 2])
    >>> total_variation(ldiv.solve(data, l=1))
    {('A1',): 0.0, ('sensitive',): 0.0}
    """
    if ways not in (1, 2):
        raise InputError(f"ways must be 1 or 2, not {ways!r}")
    seen = shown_by(release)
    true = shown_by(seen.contingency)
    names = _names(seen)
    if ways == 1:
        found = ((names[j], _one(true, j), _one(seen, j)) for j in range(len(names)))
        return {(name,): _half(p, q) for name, p, q in found}
    return {(names[a], names[b]): _half(_two(true, a, b), _two(seen, a, b)) for a, b in combinations(range(len(names)), 2)}


def k_marginal(what: Any, other: Microdata | None = None) -> float:
    """NIST's K-marginal score on pairs of columns: ``500 * (2 - mean over pairs of the sum of differences of shares)``, 1000 where all pairs are the table's.

    Parameters
    ----------
    what : Release, or Microdata
        A release is held against its table, in expectation; columns are its QI attributes and the SA, if it has one.
    other : Microdata, optional
        With a table: the one to hold against it, of equal domains, for instance a completed release. Columns are then the QI attributes only, as given.

    References
    ----------
    C. Task et al.: SDNist, metric ``kmarginal`` (NIST, 2022-2025), for fewer than 30 features. D. McKenna, NIST differential privacy synthetic data challenge.

    Examples
    --------
    >>> import ldiv
    >>> from ldiv.utility import k_marginal
    >>> a = ldiv.Microdata.from_codes([[0, 0], [1, 1]], domains=[ldiv.Domain("a", 2), ldiv.Domain("b", 2)])
    >>> b = ldiv.Microdata.from_codes([[0, 0], [0, 0]], domains=a.domains)
    >>> k_marginal(a, b)     # shares 1/2, 1/2 against 1, 0: they differ by 1
    500.0
    """
    if other is not None:
        first, second = shown_by(what), shown_by(other)
        if first.contingency.sizes != second.contingency.sizes:
            raise InputError("k_marginal compares tables of equal domains")
        pairs: Iterator[tuple[int, int]] = combinations(range(first.contingency.d), 2)
    else:
        second = shown_by(what)
        first = shown_by(second.contingency)
        pairs = combinations(range(len(_names(second))), 2)
    apart = [2 * _half(_two(first, a, b), _two(second, a, b)) for a, b in pairs]
    if not apart:
        raise InputError("k_marginal needs two columns")
    return 500 * (2 - float(np.mean(apart)))


def cramers_v(table: NDArray[Any]) -> float:
    """Cramer's V of a table of counts or shares: 0 for independent attributes, 1 where one determines the other; 0 where one has a single value.

    References
    ----------
    H. Cramer: Mathematical Methods of Statistics, 1946, section 21.9.

    Examples
    --------
    >>> import numpy as np
    >>> from ldiv.utility import cramers_v
    >>> float(cramers_v(np.array([[2, 0], [0, 2]]))), float(cramers_v(np.array([[1, 1], [1, 1]])))
    (1.0, 0.0)
    """
    part = np.asarray(table, dtype=np.float64)
    part = part[part.sum(axis=1) > 0][:, part.sum(axis=0) > 0]
    least = min(part.shape) - 1
    if least < 1:
        return 0.0
    total = part.sum()
    expected = np.outer(part.sum(axis=1), part.sum(axis=0)) / total
    return float(np.sqrt(((part - expected) ** 2 / expected).sum() / (total * least)))


def associations(release: Any) -> dict[tuple[str, str], tuple[float, float]]:
    """Cramer's V of every pair of attributes, in the table and as the release lets one expect it; the SA among them.

    Examples
    --------
    >>> import ldiv
    >>> from ldiv.utility import associations
    >>> data = ldiv.Microdata.from_codes([[0], [0], [1], [1]], [0, 0, 1, 1])
    >>> associations(ldiv.solve(data, l=1)), associations(ldiv.solve(data, l=2))
    ({('A1', 'sensitive'): (1.0, 1.0)}, {('A1', 'sensitive'): (1.0, 0.0)})
    """
    seen = shown_by(release)
    true = shown_by(seen.contingency)
    names = _names(seen)
    return {(names[a], names[b]): (cramers_v(_two(true, a, b)), cramers_v(_two(seen, a, b))) for a, b in combinations(range(len(names)), 2)}


def _names(seen: Shown) -> list[str]:
    """Of the columns that there are: the quasi-identifiers, and the SA where the table has one, of however few values."""
    target = seen.contingency.sensitive_domain
    return [domain.name for domain in [*seen.contingency.domains, *([] if target == NO_SENSITIVE else [target])]]


def _half(p: NDArray[np.float64], q: NDArray[np.float64]) -> float:
    return float(np.abs(p - q).sum() / 2)


def _one(seen: Shown, j: int) -> NDArray[np.float64]:
    """The expected share of each value of an attribute; the SA is the last."""
    rows: NDArray[Any]
    if j == seen.contingency.d:
        rows = np.bincount(seen.sensitive, seen.rows, seen.contingency.m)
    else:
        rows = np.bincount(seen.kind[:, j], seen.sizes, len(seen.codes[j])) @ seen.spread(j)
    return np.asarray(rows / max(rows.sum(), 1e-300))


def _two(seen: Shown, a: int, b: int) -> NDArray[np.float64]:
    """The expected share of each pair of values."""
    d, m = seen.contingency.d, seen.contingency.m
    sizes = [*seen.contingency.sizes, m]
    found: NDArray[Any]
    if sizes[a] * sizes[b] > MOST_PAIRS:
        raise InputError(f"{sizes[a]:,} times {sizes[b]:,} pairs of values are more than {MOST_PAIRS:,}: coarsen one of the columns")
    if b == d:
        member = np.repeat(seen.kind[:, a], np.diff(seen.indptr)).astype(np.int64)
        pairs = np.bincount(member * m + seen.sensitive, seen.rows, len(seen.codes[a]) * m).reshape(-1, m)
        found = seen.spread(a).T @ pairs
    else:
        wide = len(seen.codes[b])
        key = seen.kind[:, a].astype(np.int64) * wide + seen.kind[:, b]
        if len(seen.codes[a]) * wide > MOST_PAIRS:
            distinct, number = np.unique(key, return_inverse=True)
            rows = np.bincount(number.ravel(), seen.sizes)
            found = np.zeros((sizes[a], sizes[b]))
            left, right = seen.spread(a), seen.spread(b)
            for pair, count in zip(distinct.tolist(), rows.tolist(), strict=True):
                found += count * np.outer(left[pair // wide], right[pair % wide])
        else:
            counted = np.bincount(key, seen.sizes, len(seen.codes[a]) * wide).reshape(-1, wide)
            found = seen.spread(a).T @ counted @ seen.spread(b)
    return np.asarray(found / max(found.sum(), 1e-300))
