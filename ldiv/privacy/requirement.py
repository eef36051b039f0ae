"""What is asked of every QI-group: l-eligibility and a least size. The one rule, and what no release of a table can keep."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.arguments import K, L
from ldiv.errors import InputError, NotEligibleError
from ldiv.table.contingency import Contingency

__all__ = ["asked", "promise", "publishable", "require_eligible", "validate_k", "validate_l"]


def validate_l(l: Any) -> int:
    """l as an int, or a clear refusal."""
    return int(L.check(l))


def asked(sensitive: bool, l: Any, k: Any) -> tuple[int, int]:
    """l and k as they are used: with a sensitive attribute l must be given, without one only k.

    Raises
    ------
    InputError
        One of them is missing, of no use, or no number that it may be.
    """
    k = validate_k(k)
    if sensitive and l is None:
        raise InputError(
            "l is missing: how many sensitive values a group must be diverse in; without a sensitive column leave that out, and ask for k only"
        )
    if sensitive:
        return int(L.check(l)), k
    if l is not None and validate_l(l) > 1:
        raise InputError(f"l must be left out where there is no sensitive attribute, not {l}: name one, sensitive=")
    if k == 1:
        raise InputError("name the sensitive column, sensitive=, or ask for groups of at least k rows, k=")
    return 1, k


def promise(l: int, k: int) -> str:
    """What every group of a release keeps, in words."""
    return " and ".join([*([f"{l}-diverse"] if l > 1 or k == 1 else []), *([f"{k}-anonymous"] if k > 1 else [])])


def validate_k(k: Any) -> int:
    """k as an int, or a clear refusal."""
    return int(K.check(k))


def publishable(size: NDArray[np.int64], height: NDArray[np.int64], l: int, k: int = 1) -> NDArray[np.bool_]:
    """Which sets of rows may be published as a QI-group: those that are l-eligible and have at least k rows; an empty one may stay empty.

    The rule of every solver; kernels have it in ``publishable.pxd``. A union of such sets is one, so a release exists if and only if the whole table is
    one, and with k <= l the size says nothing: an l-eligible set has l rows. Quotients are compared, since l times a height may pass 64 bits.
    """
    return np.asarray((size // l >= height) & ((size >= k) | (size == 0)))


def require_eligible(contingency: Contingency, l: int, k: int = 1) -> None:
    """Refuse a table of which no release exists.

    Raises
    ------
    NotEligibleError
        A sensitive value is too frequent.
    InputError
        Fewer than k rows.
    """
    if 0 < contingency.n < k:
        raise InputError(f"k must be at most the {contingency.n:,} rows of the table, not {k:,}: no group can have so many")
    histogram = contingency.histogram
    rows = int(histogram.sum())
    pillar = int(np.argmax(histogram)) if len(histogram) else 0
    if len(histogram) and rows < l * int(histogram[pillar]):
        seen = int(np.count_nonzero(histogram))
        raise NotEligibleError(contingency.sensitive_domain.label(pillar), int(histogram[pillar]), rows, l, values=seen)
