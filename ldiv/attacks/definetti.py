"""The deFinetti attack: what the groups together teach of how quasi-identifiers and the sensitive attribute go together, turned on each person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ldiv._kernels.cells as _cells
from ldiv.arguments import Whole
from ldiv.attacks.grouped import entries_of, histograms_of
from ldiv.errors import InputError

__all__ = ["Guessed", "definetti"]

ROUNDS = Whole("rounds", least=1, most=1000)
MOST_PAIRS = 1 << 26
BALANCING = 20  # passes over rows and columns of a group's table


@dataclass(frozen=True)
class Guessed:
    """How many sensitive values are guessed right.

    Attributes
    ----------
    accuracy : float
        The share of rows whose value is the one held likeliest.
    commonest : float
        The share if everybody is taken to have the commonest value of its group: what the release says by itself, 1 / l at most.
    table : float
        The share if everybody is taken to have the commonest value of the table.
    """

    accuracy: float
    commonest: float
    table: float


def definetti(release: Any, *, rounds: int = 10) -> Guessed:
    """Guess the sensitive value of every person whose quasi-identifiers are known, by naive Bayes learnt from the release itself.

    Parameters
    ----------
    release : Release, or what :func:`ldiv.anatomize` returns
    rounds : int, default 10
        Rounds of expectation maximisation.

    Returns
    -------
    Guessed

    Raises
    ------
    InputError
        Groups so large that the persons times values in them are more than 67 million.

    Notes
    -----
    The adversary knows who is in the table with which QI values, so which persons are in a group, and how often the group has each SA value. A person's value is drawn
    in proportion to P(v) * prod_j P(q_j | v), learnt from what persons are believed to have, and every group's table of persons and values is balanced to its margins
    (Sinkhorn); ties go to the value of smallest code. Nothing is used that is not published but the persons' QI values.

    References
    ----------
    D. Kifer: Attacks on privacy and deFinetti's theorem. SIGMOD 2009.

    Examples
    --------
    >>> import ldiv
    >>> from ldiv.attacks import definetti
    >>> data = ldiv.datasets.load("acs2018", qi=["Age", "Gender", "Education"], sensitive="Income").head(1000)
    >>> guessed = definetti(ldiv.solve(data, l=4))
    >>> guessed.commonest <= 1 / 4
    True
    """
    rounds = ROUNDS.check(rounds)
    c, group = entries_of(release)
    if not len(release.cell):
        return Guessed(0.0, 0.0, 0.0)
    groups = histograms_of(release)
    # persons: the points of each group, with their rows
    key, number = np.unique(group * c.groups + c.group_of_cell[release.cell], return_inverse=True)
    person = number.ravel().astype(np.int32)
    rows = _cells.tally(person, len(key), release.count).astype(np.float64)
    of_group, point = np.divmod(key, c.groups)
    width = np.diff(groups.indptr)[of_group]
    pairs = int(width.sum())
    if pairs > MOST_PAIRS:
        raise InputError(f"persons times values of their groups are {pairs:,}, more than {MOST_PAIRS:,}: take fewer rows")
    # the table of every group: a pair for each person and value
    left = np.repeat(np.arange(len(key)), width)
    right = np.arange(pairs) - np.repeat(np.cumsum(width) - width, width) + groups.indptr[of_group[left]]
    value, wanted = groups.value[right], groups.count.astype(np.float64)
    believed = rows[left] * wanted[right] / groups.size[of_group[left]]
    codes = c.codes[point]
    for _ in range(rounds):
        weight = _likelihood(c.sizes, c.m, codes, left, value, believed)
        believed = _balanced(weight, left, right, rows, wanted)
    best = _first_largest(believed, left, len(key))
    guess = value[best]
    right_ones = int(release.count[guess[person] == c.sensitive[release.cell]].sum())
    tops = np.maximum.reduceat(groups.count, groups.indptr[:-1])
    return Guessed(right_ones / c.n, float(tops.sum() / c.n), float(c.histogram.max() / c.n))


def _likelihood(
    sizes: list[int], m: int, codes: NDArray[np.int32], left: NDArray[np.int64], value: NDArray[np.int32], believed: NDArray[np.float64]
) -> NDArray[np.float64]:
    """P(q | v) of each pair, one row added to every count."""
    total = np.bincount(value, believed, m)
    log = np.zeros(len(value))
    for j, size in enumerate(sizes):
        seen, number = np.unique(codes[:, j], return_inverse=True)
        at = number.ravel()[left] * m + value
        log += np.log((np.bincount(at, believed, len(seen) * m)[at] + 1) / (total[value] + size))
    return np.asarray(np.exp(log - np.maximum.reduceat(log, np.flatnonzero(np.diff(left, prepend=-1)))[left]))


def _balanced(
    weight: NDArray[np.float64], left: NDArray[np.int64], right: NDArray[np.int64], rows: NDArray[np.float64], wanted: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Weights scaled until every person has its rows and every value of a group its count."""
    table = weight + 1e-300
    for _ in range(BALANCING):
        table *= (wanted / np.bincount(right, table, len(wanted)))[right]
        table *= (rows / np.bincount(left, table, len(rows)))[left]
    return table


def _first_largest(believed: NDArray[np.float64], left: NDArray[np.int64], persons: int) -> NDArray[np.int64]:
    """The pair of each person that is believed most, the first of equals."""
    heads = np.searchsorted(left, np.arange(persons))
    top = np.maximum.reduceat(believed, heads)[left]
    near = np.flatnonzero(believed >= top * (1 - 1e-9))
    return near[np.searchsorted(left[near], np.arange(persons))]
