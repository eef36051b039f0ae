"""NP-hardness as running code: three-dimensional matching to star minimisation and back (the paper's section 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from ldiv.errors import InputError
from ldiv.release.release import Release
from ldiv.table.microdata import Microdata

__all__ = ["Gadget", "gadget", "matching_of", "no_instance", "yes_instance"]

Point = tuple[int, int, int]


@dataclass(frozen=True)
class Gadget:
    """A 3DM instance as a table.

    Attributes
    ----------
    points : tuple of (int, int, int)
        The instance: points of D1 x D2 x D3, each D of `size` values.
    size : int
    data : Microdata
        3 * size rows, one for each value of D1, D2, D3; one QI attribute for each point; `m` sensitive values.
    threshold : int
        3 * size * (len(points) - 1): a 3-diverse release with so many stars exists iff the instance has a perfect matching, and none has fewer.
    """

    points: tuple[Point, ...]
    size: int
    data: Microdata
    threshold: int


def gadget(points: Sequence[Point], size: int, m: int = 3) -> Gadget:
    """The table of a 3DM instance.

    Row (j, a), value a of D_j, has in the attribute of point p the code 0 if p uses a in D_j, and otherwise a code that depends on its sensitive
    value, so that rows agree (and keep a value) only where they are of one point. The first three sensitive values stand for D1, D2, D3; with
    m > 3 the values of D_j share several, as far as 3-eligibility of the whole allows.

    Parameters
    ----------
    points : sequence of (int, int, int)
        Distinct, each coordinate in ``0 .. size - 1``.
    size : int
    m : int, default 3
        Sensitive values, 3 to 8.

    Returns
    -------
    Gadget

    Raises
    ------
    InputError
        Points outside the domains or repeated, m out of range.

    Notes
    -----
    l = 3. A row keeps the value 0 in an attribute only within the group of that point's rows, of which there are three; as l = 3 a group has three
    rows or more, so a row keeps at most one attribute, and keeps one exactly in the group of a point's three rows: the threshold is reached iff these
    groups partition the rows. Where two rows differ in the sensitive value their other codes differ; for rows of one dimension that share a sensitive
    value, 3-eligibility forbids a group of them alone, and a group with a row of another dimension has no other code in common.

    References
    ----------
    Xiao, Yi, Tao, EDBT 2010, section 3, arXiv:0912.5426.

    Examples
    --------
    >>> from ldiv.hardness import gadget
    >>> g = gadget([(0, 0, 0), (1, 1, 1), (0, 1, 1)], 2)
    >>> g.data.n, g.data.d, g.threshold
    (6, 3, 12)
    """
    if not 3 <= m <= 8:
        raise InputError(f"m must be 3 to 8, not {m}")
    points = tuple(tuple(int(x) for x in p) for p in points)  # type: ignore[misc]
    if len(set(points)) < len(points):
        raise InputError("a point stands twice")
    if not points or any(not 0 <= x < size for p in points for x in p) or any(len(p) != 3 for p in points):
        raise InputError(f"points must be triples of numbers from 0 to {size - 1}")
    codes = np.empty((3 * size, len(points)), dtype=np.int32)
    sensitive = np.empty(3 * size, dtype=np.int32)
    for j in range(3):
        mine = [v for v in range(m) if v % 3 == j]  # the sensitive values of this dimension
        for a in range(size):
            row = j * size + a
            sensitive[row] = mine[a % len(mine)]
            for k, point in enumerate(points):
                codes[row, k] = 0 if point[j] == a else 1 + sensitive[row]
    data = Microdata.from_codes(codes, sensitive, [1 + m] * len(points) + [m])
    return Gadget(points, size, data, 3 * size * (len(points) - 1))


def matching_of(instance: Gadget, release: Release) -> list[Point] | None:
    """The perfect matching that a release at the threshold encodes; None for a release with more stars.

    Each of its groups of three rows keeps the attribute of one point: these points are the matching.
    """
    if release.stars > instance.threshold:
        return None
    chosen = []
    for published in release.published:
        kept = np.flatnonzero(published == 0)
        chosen += [instance.points[k] for k in kept[:1]]
    return sorted(chosen)


def yes_instance(size: int, extra: int, seed: int) -> list[Point]:
    """Points that hold a perfect matching: one at random, and `extra` other points."""
    rng = np.random.default_rng(seed)
    second, third = rng.permutation(size), rng.permutation(size)
    points = {(a, int(second[a]), int(third[a])) for a in range(size)}
    return _fill(points, size, extra, rng)


def no_instance(size: int, extra: int, seed: int) -> list[Point]:
    """Points that hold no perfect matching, though from size 3 on they cover every value.

    The values 0 and 1 of D1 occur only with value 0 of D2, so that a matching cannot hold both.
    """
    if size < 2:
        raise InputError("with size 1 any point is a matching: size must be at least 2")
    rng = np.random.default_rng(seed)
    points = {(0, 0, 0), (1, 0, 1)}
    points |= {(2 if size > 2 else 0, b, int(rng.integers(size))) for b in range(1, size)} if size > 2 else set()
    points |= {(a, int(rng.integers(size)), b) for a in range(2, size) for b in range(size)}
    return _fill(points, size, extra, rng, forbidden=True)


def has_matching(points: Sequence[Point], size: int) -> bool:
    """Whether a 3DM instance has a perfect matching, by trying: size! / symmetry, for small sizes."""
    there = set(points)
    by_first = [[(b, c) for a, b, c in there if a == first] for first in range(size)]
    return any(
        all((second[a], c) in by_first[a] for a, c in enumerate(third))
        for second in permutations(range(size))
        if all(any(b == second[a] for b, _ in by_first[a]) for a in range(size))
        for third in permutations(range(size))
    )


def _fill(points: set[Point], size: int, extra: int, rng: np.random.Generator, forbidden: bool = False) -> list[Point]:
    every = [(a, b, c) for a in range(size) for b in range(size) for c in range(size) if not (forbidden and a < 2 and b > 0)]
    free = sorted(set(every) - points)
    for k in rng.permutation(len(free))[:extra]:
        points.add(free[k])
    return sorted(points)
