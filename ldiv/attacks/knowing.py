"""Attacks of somebody who knows more than one release: a second one of the same people, or the algorithm that made it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import factorial, prod

import numpy as np
from numpy.typing import NDArray

from ldiv.algorithms import get
from ldiv.arguments import shown
from ldiv.attacks.grouped import histograms_of
from ldiv.attacks.risk import Disclosure
from ldiv.errors import InputError
from ldiv.release.release import Release
from ldiv.table.microdata import Microdata

__all__ = ["Composed", "composition", "minimality"]

MOST_TABLES = 100_000


@dataclass(frozen=True)
class Composed:
    """What two releases tell together of the people who are in both.

    Attributes
    ----------
    people : int
    certain : float
        The share whose value is the only one that both releases allow.
    above : float
        The share of whom somebody may be surer than 1 / l, the smaller l of the two.
    average : float
        The mean of how sure somebody may be.
    """

    people: int
    certain: float
    above: float
    average: float


def composition(first: Release, second: Release, pairs: NDArray[np.integer] | None = None) -> Composed:
    """Intersect what two releases say of the people who are in both.

    Parameters
    ----------
    first, second : Release
        With equal sensitive domains, and made from rows.
    pairs : ndarray of int, shape (people, 2), optional
        The rows of each person in the first and the second table; default: the same rows in both.

    Returns
    -------
    Composed
        The adversary knows both groups of a person, and believes a value in proportion to the product of its shares there.

    References
    ----------
    S. R. Ganta, S. P. Kasiviswanathan, A. Smith: Composition attacks and auxiliary information in data privacy. KDD 2008, the intersection attack.

    Examples
    --------
    >>> import ldiv
    >>> from ldiv.attacks import composition
    >>> one, two = (ldiv.Microdata.from_codes(codes, [0, 1, 2, 3]) for codes in ([[0], [0], [1], [1]], [[0], [1], [0], [1]]))
    >>> composition(ldiv.solve(one, l=2), ldiv.solve(two, l=2)).certain     # the first person: 0 or 1, and 0 or 2
    1.0
    """
    for release in (first, second):
        if not isinstance(release, Release):
            raise InputError(f"two releases are needed, not {shown(release)}")
    if first.contingency.m != second.contingency.m:
        raise InputError("composition needs two releases of one sensitive attribute, of equal domains")
    if pairs is None:
        if first.n != second.n:
            raise InputError("the releases have different numbers of rows: say by pairs= which are the same person")
        pairs = np.repeat(np.arange(first.n)[:, None], 2, axis=1)
    pairs = np.asarray(pairs)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise InputError(f"pairs must be two row numbers a person, shape (people, 2), not an array of shape {pairs.shape}")
    groups = np.stack([first.group[pairs[:, 0]], second.group[pairs[:, 1]]], axis=1)
    both, people = np.unique(groups, axis=0, return_counts=True)
    shares = [_shares(release) for release in (first, second)]
    certain, above, total, least = 0, 0, 0.0, min(first.l, second.l)
    for (g, h), count in zip(both.tolist(), people.tolist(), strict=True):
        one, two = shares[0][g], shares[1][h]
        belief = {v: p * two[v] for v, p in one.items() if v in two}
        if not belief:
            raise InputError("a person has no value that both releases allow: pairs are of different people")
        sure = max(belief.values()) / sum(belief.values())
        certain += count * (len(belief) == 1)
        above += count * (sure > 1 / least + 1e-12)
        total += count * sure
    n = max(len(pairs), 1)
    return Composed(len(pairs), certain / n, above / n, total / n)


def _shares(release: Release) -> list[dict[int, float]]:
    groups = histograms_of(release)
    size = groups.size
    return [
        {int(v): int(n) / int(size[g]) for v, n in zip(groups.value[a:b], groups.count[a:b], strict=True)}
        for g, (a, b) in enumerate(zip(groups.indptr[:-1].tolist(), groups.indptr[1:].tolist(), strict=True))
    ]


def minimality(release: Release) -> Disclosure:
    """How sure somebody can be who knows the algorithm and who is in the table: every table that gives the same release, counted.

    Parameters
    ----------
    release : Release
        Of a small table, by an algorithm that decides without chance.

    Returns
    -------
    Disclosure
        Of each row the largest share, among these tables, of those in which it has one SA value.

    Raises
    ------
    InputError
        More than 100,000 tables, or a release made from counts.

    Notes
    -----
    The adversary knows every person's QI values and the release, gives every assignment of the published SA values to the persons to the algorithm, and keeps those with
    the same outcome. What is above 1 / l is the minimality attack. The release's own table is always among them.

    References
    ----------
    R. Wong, A. Fu, K. Wang, J. Pei: Minimality attack in privacy preserving data publishing. VLDB 2007.

    Examples
    --------
    >>> import ldiv
    >>> from ldiv.attacks import minimality
    >>> data = ldiv.Microdata.from_codes([[0], [0], [0], [1], [1]], [0, 0, 1, 1, 2])
    >>> minimality(ldiv.solve(data, l=2, algorithm="tp")).highest
    0.5
    """
    data = release.contingency.data
    if data is None:
        raise InputError("minimality needs a release made from rows")
    values = Counter(np.asarray(data.sensitive).tolist())
    tables = factorial(release.n) // prod(map(factorial, values.values()))
    if tables > MOST_TABLES:
        raise InputError(f"{tables:,} tables have these values, more than {MOST_TABLES:,}: minimality is for small tables")
    solve, outcome = get(release.algorithm).solve, _outcome(release)
    k = {"k": release.k} if release.k > release.l else {}
    tally: list[Counter[int]] = [Counter() for _ in range(release.n)]
    consistent = 0
    for arranged in _arrangements(values):
        table = Microdata.from_codes(data.narrow, arranged, domains=data.domains, sensitive_domain=data.sensitive_domain)
        if _outcome(solve(table.contingency, release.l, **k)) == outcome:
            consistent += 1
            for row, value in enumerate(arranged):
                tally[row][value] += 1
    if not consistent:
        raise InputError(f"{release.algorithm!r} does not make this release of its own table: it was changed, or made with options or a seed")
    sure = np.array([max(x.values()) / consistent for x in tally])
    return Disclosure(float(sure.max()), float(sure.mean()), float((sure > 1 / release.l + 1e-12).mean()))


def _outcome(release: Release) -> list[tuple[bytes, bytes]]:
    """What a release publishes, whoever the rows are: of each group what it shows and its SA values."""
    groups = histograms_of(release)
    kinds = [tuple(tuple(x.text for x in kind) for kind in release.subdomains)]
    return [
        (release.published[g].tobytes() + repr(kinds).encode(), groups.value[a:b].tobytes() + groups.count[a:b].tobytes())
        for g, (a, b) in enumerate(zip(groups.indptr[:-1].tolist(), groups.indptr[1:].tolist(), strict=True))
    ]


def _arrangements(values: Counter[int]) -> Iterator[list[int]]:
    """Every order of some values, each once."""
    if not sum(values.values()):
        yield []
        return
    for value in sorted(values):
        if values[value]:
            values[value] -= 1
            for rest in _arrangements(values):
                yield [value, *rest]
            values[value] += 1
