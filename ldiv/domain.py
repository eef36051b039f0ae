"""Domain: what is known of an attribute, declared or seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldiv.errors import InputError
from ldiv.taxonomy import Taxonomy

__all__ = ["Domain"]

MOST_WEIGHT = 10_000


@dataclass(frozen=True)
class Domain:
    """The values an attribute can take; codes are ``0 .. size - 1``.

    Parameters
    ----------
    name : str
        The attribute's name.
    size : int
        Number of values, at least 1. KL-divergence spreads a star over all of them, so declare values that exist
        but happen not to occur.
    labels : sequence, optional
        The value behind each code. May be shorter than `size`: values known to exist, labels unknown.
    ordered : bool, default False
        Whether the order of codes means something (numbers, dates): ranges instead of sets, dynamic splits.
    taxonomy : Taxonomy, optional
        A tree over the values, for algorithms that generalise.
    weight : int, default 1
        What a star in this column costs, at least 1: attributes that matter to the data's users are starred last.

    Examples
    --------
    >>> from ldiv import Domain
    >>> Domain("Gender", 2, ["Female", "Male"]).label(1)
    'Male'
    """

    name: str
    size: int
    labels: Sequence[Any] | None = None
    ordered: bool = False
    taxonomy: Taxonomy | None = None
    weight: int = 1

    def __post_init__(self) -> None:
        if self.size < 1:
            raise InputError(f"domain of {self.name!r}: size must be at least 1, not {self.size}")
        if isinstance(self.weight, bool) or not isinstance(self.weight, (int, np.integer)) or not 1 <= self.weight <= MOST_WEIGHT:
            raise InputError(
                f"weight of {self.name!r} must be a whole number from 1 to {MOST_WEIGHT:,}, not {self.weight!r}: "
                "scale all weights by the same factor"
            )
        if self.labels is not None and len(self.labels) > self.size:
            raise InputError(f"domain of {self.name!r}: {len(self.labels)} labels for a size of {self.size}")
        if self.taxonomy is not None and len(self.taxonomy.leaf) != self.size:
            raise InputError(
                f"domain of {self.name!r}: the taxonomy has {len(self.taxonomy.leaf)} values, the domain {self.size}"
            )

    def label(self, code: int) -> Any:
        """The value behind a code; the code itself where no label is known."""
        if self.labels is None or code >= len(self.labels):
            return int(code)
        value = self.labels[code]
        return value.item() if isinstance(value, np.generic) and not isinstance(value, np.datetime64) else value
