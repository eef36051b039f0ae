"""How much a release keeps of its table, in one number each. Stars are on Release itself, answers to queries in :mod:`ldiv.utility`."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

import ldiv._kernels.cells as _cells
import ldiv._kernels.divergence as _divergence
import ldiv._kernels.keys as _keys
from ldiv.arguments import USUAL_THREADS
from ldiv.release.release import Release
from ldiv.table.ranking import argsort_keys, rank_rows

__all__ = ["average_group_size", "c_avg", "discernibility", "kl_divergence", "ncp", "subdomain_codes", "widths"]

MANY = 1 << 20  # look-ups that are worth a second thread


def kl_divergence(release: Release) -> float:
    """KL(f, f*) in nats: how far the published distribution is from the table's.

    f is the fraction of rows at each point of the (d+1)-dimensional space of QI and SA; f* the same for the release, a star spread
    uniformly over its attribute's declared domain, a sub-domain uniformly over itself. The sum runs over the points of the table.

    Parameters
    ----------
    release : Release
        Of any kind.

    Returns
    -------
    float
        In nats, at least 0; exactly 0 where nothing was suppressed.

    Notes
    -----
    Groups of values and stars are taken together by which attributes are starred: with s groups of equal rows and P such patterns the time is
    O(P * s) hash probes. Groups with sub-domains are found for each point by intersecting d bit sets over the G of them,
    O(s * d * G / 64) plus what is found. Space O(C + domain values * G / 8 bytes).

    References
    ----------
    D. Kifer, J. Gehrke: Injecting utility into anonymized datasets. SIGMOD 2006; the paper's section 6.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.Microdata.from_codes([[0], [1]], [0, 1], [2, 2])
    >>> round(ldiv.kl_divergence(ldiv.solve(data, l=2)), 6)     # both rows spread over two values: log 2
    0.693147
    """
    c = release.contingency
    if not c.n:
        return 0.0
    mass = np.zeros(len(c.count))
    plain = (release.published >= -1).all(axis=1)
    if plain.any():
        _add_patterns(release, np.flatnonzero(plain), mass)
    if not plain.all():
        _add_boxes(release, np.flatnonzero(~plain), mass)
    # mass counts rows, like count: both are n times a fraction, so the ratio needs no division by n.
    return float((c.count * np.log(c.count / mass)).sum() / c.n)


def _add_patterns(release: Release, groups: NDArray[np.integer], mass: NDArray[np.float64]) -> None:
    from concurrent.futures import ThreadPoolExecutor  # takes a while to import

    c = release.contingency
    kinds, kind = _kinds(release.published[groups] == -1)
    order = argsort_keys(kind, len(kinds)).astype(np.int32)
    bounds = np.searchsorted(kind[order], np.arange(len(kinds) + 1))
    held = _held(release, groups)
    bits = [max(1, (size - 1).bit_length()) for size in c.sizes]
    packed = sum(bits) <= 64
    known = np.maximum(release.published[groups], 0)
    if packed:
        point_key, group_key = _pack(c.codes, bits), _pack(known, bits)
    threads = USUAL_THREADS if len(kinds) * c.groups > MANY else 1
    parts = [slice(c.groups * t // threads, c.groups * (t + 1) // threads) for t in range(threads)]  # each thread its own points
    with nullcontext() if threads == 1 else ThreadPoolExecutor(threads) as pool:
        spread = map if pool is None else pool.map
        for k, stars in enumerate(kinds):
            volume = float(np.prod([float(size) for size, star in zip(c.sizes, stars, strict=True) if star]))
            chosen, mask = order[bounds[k] : bounds[k + 1]], _mask(stars, bits)
            if not packed:  # no room for all bits: rank the tuples of the kept attributes
                kept = np.flatnonzero(~stars)
                columns = [np.concatenate([c.codes[:, j], known[chosen, j]]) for j in kept]
                rank = rank_rows(columns, [c.sizes[j] for j in kept])[0] if len(kept) else np.zeros(c.groups + len(chosen), dtype=np.int32)
                point_key, group_key, mask = rank[: c.groups].astype(np.uint64), np.zeros(len(groups), dtype=np.uint64), 2**64 - 1
                group_key[chosen] = rank[c.groups :]
            own = [point_key[part] for part in parts], [c.indptr[part.start : part.stop + 1] for part in parts]
            all_of = c.sensitive, mask, chosen, group_key, *held, c.m, 1.0 / volume, mass
            list(spread(_divergence.spread_pattern, *own, *map(repeat, all_of)))


def _held(release: Release, groups: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """What groups hold, in CSR over them: SA values, ascending, and rows of each."""
    c = release.contingency
    entry, member = release.entries_of(groups)
    rank, first, bounds = rank_rows([member, c.sensitive[release.cell[entry]]], [len(groups), c.m], split=True)
    return bounds, c.sensitive[release.cell[entry[first]]], _cells.tally(rank, len(first), release.count[entry])


def _kinds(starred: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """The distinct rows of a table of stars, and which of them each row is."""
    if starred.shape[1] > 62:
        kinds, kind = np.unique(starred, axis=0, return_inverse=True)
        return kinds, kind.ravel()
    _, first, kind = np.unique(starred @ (1 << np.arange(starred.shape[1])[::-1]), return_index=True, return_inverse=True)
    return starred[first], kind.ravel()


def _pack(codes: NDArray[np.int32], bits: list[int]) -> NDArray[np.uint64]:
    """Codes side by side in one word, an attribute a bit field: a pattern is then a mask."""
    key = np.zeros(len(codes), dtype=np.uint64)
    for j, width in enumerate(bits):
        _keys.append_column(key, np.ascontiguousarray(codes[:, j]), 1 << width, 0)
    return key


def _mask(stars: NDArray[np.bool_], bits: list[int]) -> int:
    mask = 0
    for width, star in zip(bits, stars, strict=True):
        mask = mask << width | (0 if star else (1 << width) - 1)
    return mask


def _add_boxes(release: Release, groups: NDArray[np.integer], mass: NDArray[np.float64]) -> None:
    c = release.contingency
    published = release.published[groups]
    seen, numbers = zip(*(np.unique(column, return_inverse=True) for column in c.codes.T), strict=True)  # nothing grows with a domain
    offset = np.cumsum([0, *map(len, seen)]).astype(np.int64)
    inside = np.zeros((offset[-1], (len(groups) + 63) // 64), dtype=np.uint64)
    volume = np.ones(len(groups))
    for j, size in enumerate(c.sizes):
        for value in np.unique(published[:, j]):
            boxes = np.flatnonzero(published[:, j] == value)
            volume[boxes] *= width_of(release, j, int(value), size)
            codes = np.arange(len(seen[j])) if value == -1 else np.flatnonzero(np.isin(seen[j], subdomain_codes(release, j, int(value), size)))
            bits = np.zeros(inside.shape[1] * 64, dtype=bool)
            bits[boxes] = True
            inside[offset[j] + codes] |= np.packbits(bits, bitorder="little").view("<u8")
    held_indptr, held_sensitive, held = _held(release, groups)  # a box holds many cells of few SA values
    member = np.repeat(np.arange(len(groups)), np.diff(held_indptr))
    _divergence.spread_boxes(
        np.stack(numbers, axis=1).astype(np.int32),
        c.indptr,
        c.sensitive,
        inside,
        offset,
        held_indptr,
        held_sensitive,
        held / volume[member],
        c.m,
        mass,
    )


def subdomain_codes(release: Release, attribute: int, value: int, size: int) -> NDArray[np.int64]:
    """The codes that a published number of an attribute stands for."""
    if value >= 0:
        return np.array([value])
    return np.arange(size) if value == -1 else np.array(release.subdomains[attribute][-2 - value].codes)


def width_of(release: Release, attribute: int, value: int, size: int) -> int:
    """How many codes a published number of an attribute stands for."""
    return 1 if value >= 0 else size if value == -1 else len(release.subdomains[attribute][-2 - value].codes)


def widths(release: Release) -> NDArray[np.float64]:
    """How many values each group publishes for each attribute, shape (G, d)."""
    widths = np.ones(release.published.shape)
    for j, size in enumerate(release.contingency.sizes):
        column = release.published[:, j]
        for value in np.unique(column[column < 0]):
            widths[column == value, j] = width_of(release, j, int(value), size)
    return widths


def ncp(release: Release) -> float:
    """Normalised certainty penalty (as a mean also called GCP): the mean over all QI cells of (values published - 1) / (domain size - 1).

    Returns
    -------
    float
        0 where every value is published, 1 where every cell is a star; an attribute with one value costs nothing.

    Notes
    -----
    O(G * d).

    References
    ----------
    J. Xu et al.: Utility-based anonymization using local recoding. KDD 2006.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.Microdata.from_codes([[0, 0], [1, 0]], [0, 1], [2, 3, 2])
    >>> ldiv.ncp(ldiv.solve(data, l=2))
    0.5
    """
    if not release.n:
        return 0.0
    spread = np.array([max(size - 1, 1) for size in release.contingency.sizes])
    penalty = ((widths(release) - 1) / spread).sum(axis=1)
    return float(release.group_sizes @ penalty / (release.n * release.d))


def discernibility(release: Release, penalty: bool = False) -> int:
    """The sum over groups of their squared size: in how many pairs a row cannot be told from another.

    Parameters
    ----------
    release : Release
    penalty : bool, default False
        Count a row that is starred throughout as alike to all rows of the table, as the paper and ARX do with suppressed rows.

    Notes
    -----
    O(G), in Python's integers: squares of counts pass 64 bits. R. Bayardo, R. Agrawal: Data privacy through optimal k-anonymization. ICDE 2005.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.Microdata.from_codes([[0], [0], [1], [1]], [0, 1, 0, 1])
    >>> ldiv.discernibility(ldiv.solve(data, l=2))
    8
    """
    sizes = release.group_sizes.tolist()
    gone = (release.published == -1).all(axis=1).tolist() if penalty else [False] * len(sizes)
    return sum(size * (release.n if all_ else size) for size, all_ in zip(sizes, gone, strict=True))


def c_avg(release: Release) -> float:
    """Rows per QI-group over the least size that was asked for, which is k, or l where that is more; 1 is the best there is.

    References
    ----------
    K. LeFevre, D. DeWitt, R. Ramakrishnan: Mondrian multidimensional k-anonymity. ICDE 2006. ARX leaves the division out: :func:`ldiv.average_group_size`.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.Microdata.from_codes([[0], [0], [1], [1]], [0, 1, 0, 1])
    >>> ldiv.c_avg(ldiv.solve(data, l=2))
    1.0
    """
    return average_group_size(release) / max(release.k, release.l)


def average_group_size(release: Release) -> float:
    """Rows per QI-group; 0 for a table without rows.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.Microdata.from_codes([[0], [0], [1], [1]], [0, 1, 0, 1])
    >>> ldiv.average_group_size(ldiv.solve(data, l=2))
    2.0
    """
    return release.n / release.groups if release.groups else 0.0
