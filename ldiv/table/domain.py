"""Domain: what is known of an attribute, declared or seen."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldiv.arguments import MOST_SENSITIVE, SIZE, WEIGHT, Flag, shown
from ldiv.errors import InputError
from ldiv.table.taxonomy import Taxonomy
from ldiv.table.text import text_of

__all__ = ["NO_SENSITIVE", "Domain"]

SHOWN = 4  # labels in a repr
ORDERED = Flag("ordered")


@dataclass(frozen=True, repr=False)
class Domain:
    """The values an attribute can take; codes are 0 to size - 1.

    Parameters
    ----------
    name : str
        The attribute's name.
    size : int
        Number of values, from 1 to 2**31 - 1. KL-divergence spreads a star over all of them, so declare values that exist
        but happen not to occur.
    labels : sequence, optional
        The value behind each code. May be shorter than `size`: values known to exist, labels unknown.
    ordered : bool, default False
        Whether the order of codes means something (numbers, dates): ranges instead of sets, dynamic splits.
    taxonomy : Taxonomy, optional
        A tree over the values, for algorithms that generalise.
    weight : int, default 1
        What a star in this column costs, from 1 to 10,000: attributes that matter to the data's users are starred last.

    Raises
    ------
    InputError
        A size, weight, taxonomy or list of labels that cannot be.

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
        checked = {
            "size": SIZE.check(self.size, f"size of the domain of {shown(self.name)}"),
            "weight": WEIGHT.check(self.weight, f"weight of {shown(self.name)}", ": scale all weights by the same factor"),
            "ordered": ORDERED.check(self.ordered, f"ordered= of the domain of {shown(self.name)}"),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if self.labels is not None and (isinstance(self.labels, (str, bytes)) or not hasattr(self.labels, "__len__")):
            raise InputError(f"domain of {self.name!r}: labels must be a sequence of values, not {shown(self.labels)}")
        if self.taxonomy is not None and not isinstance(self.taxonomy, Taxonomy):
            raise InputError(f"domain of {self.name!r}: taxonomy must be a Taxonomy, not {shown(self.taxonomy)}")
        if self.labels is not None and len(self.labels) > self.size:
            raise InputError(f"domain of {self.name!r}: {len(self.labels)} labels for a size of {self.size}")
        if self.taxonomy is not None and len(self.taxonomy.leaf) != self.size:
            raise InputError(f"domain of {self.name!r}: the taxonomy has {len(self.taxonomy.leaf)} values, the domain {self.size}")

    def __repr__(self) -> str:
        """Short where there are many labels."""
        some = ", ".join(shown(value) for value in list(self.labels or ())[:SHOWN])
        labels = "" if self.labels is None else f", [{some}{', ...' if len(self.labels) > SHOWN else ''}]"
        rest = f"{', ordered' if self.ordered else ''}{', a taxonomy' if self.taxonomy is not None else ''}"
        return f"Domain({shown(self.name)}, {self.size}{labels}{rest}{f', weight={self.weight}' if self.weight != 1 else ''})"

    @property
    def fingerprint(self) -> str | None:
        """SHA-256 of the taxonomy: of every value with the texts of the nodes above it, in order of their codes; None where there is none."""
        tree = self.taxonomy
        if tree is None:
            return None
        digest = hashlib.sha256()
        for code in range(self.size):
            texts = [text_of(self.label(code)), *(tree.text[node] for node in tree.path[code])]
            rungs = "" if tree.rungs is None else ",".join(map(str, tree.rungs[:, code]))
            digest.update("".join(f"{len(text)}:{text}" for text in [*texts, rungs]).encode() + b";")
        return digest.hexdigest()

    def as_sensitive(self) -> Domain:
        """Itself, where it may be the sensitive attribute's: algorithms keep a count of each of its values."""
        if self.size > MOST_SENSITIVE:
            raise InputError(f"size of the domain of {self.name!r} must be at most {MOST_SENSITIVE:,} for a sensitive attribute, not {self.size:,}")
        return self

    def label(self, code: int) -> Any:
        """The value behind a code; the code itself where no label is known."""
        if self.labels is None or code >= len(self.labels):
            return int(code)
        value = self.labels[code]
        return value.item() if isinstance(value, np.generic) and not isinstance(value, np.datetime64) else value


NO_SENSITIVE = Domain("no sensitive attribute", 1)  # of a table that has none: all rows share one value, which tells nothing
