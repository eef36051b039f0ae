"""Instant lower bounds, by counting what phase one keeps on projections."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

import ldiv._kernels.cells as _cells
from ldiv._kernels.phase_one import phase_one
from ldiv.arguments import shown
from ldiv.errors import InputError
from ldiv.privacy.requirement import require_eligible, validate_k, validate_l
from ldiv.table.contingency import Contingency
from ldiv.table.lattice import SUBSETS
from ldiv.table.microdata import Microdata

__all__ = ["star_bound", "tuple_bound"]


def tuple_bound(data: Microdata | Contingency, l: int, k: int = 1) -> int:
    """A lower bound on suppressed rows: ``max(|R1|, l * h(R1))``, R1 what phase one removes, and k where that is not nothing.

    Parameters
    ----------
    data : Microdata or Contingency
        An l-eligible table.
    l : int
    k : int
        The least size of a group.

    Returns
    -------
    int

    Notes
    -----
    O(cells). The paper, section 5.1: R contains R1 whatever the release, and is l-eligible.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.Microdata.from_codes([[0], [0], [0], [1]], [0, 0, 1, 1])
    >>> ldiv.tuple_bound(data, 2)       # one row must go, and it needs a partner
    2
    """
    c, l, k = _table(data, l, k)
    kept = np.empty_like(c.count)
    phase_one(c.indptr, c.count, l, kept, k)
    return _least(_cells.tally(c.sensitive, c.m, c.count - kept), l, k)


def _least(rows: NDArray[np.int64], l: int, k: int) -> int:
    """How many rows at the least a union of groups has that has these, by SA value."""
    some = int(rows.sum())
    return max(some, l * int(rows.max(initial=0)), k) if some else 0


def _table(data: Microdata | Contingency, l: int, k: int) -> tuple[Contingency, int, int]:
    l, k = validate_l(l), validate_k(k)
    c = data.contingency if isinstance(data, Microdata) else data
    if not isinstance(c, Contingency):
        raise InputError(f"data must be Microdata or a Contingency, not {shown(c)} ({type(c).__name__})")
    require_eligible(c, l, k)
    return c, l, k


def star_bound(data: Microdata | Contingency, l: int, k: int = 1) -> int:
    """The instant lower bound on stars, by counting.

    A row has at most i stars only if some choice of d - i kept attributes puts it in a group whose phase one keeps rows of its value.
    Let U_i,v be the most rows of value v for which that can hold, and U_i their sum, capped by n. The rows with more than i stars are
    themselves l-eligible, and at least k where there are some, so there are at least max(n - U_i, l * max_v (n_v - U_i,v)) of them; the bound sums over i.

    Parameters
    ----------
    data : Microdata or Contingency
        An l-eligible table.
    l : int
    k : int
        The least size of a group.

    Returns
    -------
    int

    Notes
    -----
    O(2^d * cells). The dual bound of ``lagrangian`` is far better; this one takes a moment.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.Microdata.from_codes([[0, 0], [0, 0], [1, 1], [1, 1]], [0, 0, 1, 1])
    >>> ldiv.star_bound(data, 2), ldiv.solve(data, 2).stars
    (8, 8)
    """
    c, l, k = _table(data, l, k)
    total = c.histogram
    weights = np.sort(c.weights)  # a row with i stars pays at least the i least weights
    bound = 0
    for i in range(c.d):
        if math.comb(c.d, i) > SUBSETS:
            continue  # leaving a term out only lowers the bound
        reach = np.zeros(len(c.count), dtype=bool)  # cells of which some projection can keep a row
        kept_rows = np.zeros(c.m, dtype=np.int64)
        for subset in combinations(range(c.d), c.d - i):
            part, item = c.project(subset)
            kept = np.empty_like(part.count)
            phase_one(part.indptr, part.count, l, kept, k)
            reach |= kept[item] > 0
            kept_rows += _cells.tally(part.sensitive, c.m, kept)
        able = np.minimum(np.minimum(kept_rows, total), _cells.tally(c.sensitive, c.m, c.count * reach))
        bound += int(weights[i]) * _least(total - able, l, k)
    return bound
