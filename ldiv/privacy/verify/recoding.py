"""What a column publishes for which values of its source, judged once for each pair of values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.privacy.verify.cells import ancestors, holds, missing, same_cell, shown_as, sorted_texts, text_of_cell
from ldiv.privacy.verify.published import PublishedColumn


class Recoding:
    """What a column publishes for which values of the source, pair by pair of distinct values."""

    def __init__(self, source: PublishedColumn, published: PublishedColumn, star: Any, tree: Any, name: Any) -> None:
        self.source, self.published, self.name, self.star = source, published, name, star
        self.above = None if tree is None else ancestors(tree, name)
        self.order: dict[str, int] | None = None
        self.known: dict[tuple[int, int], bool] = {}
        self.is_star = np.array(
            [star is not False and (missing(x) if star is None else isinstance(x, str) and x == star) for x in published.values] or [False]
        )

    def admits(self, a: int, b: int) -> bool:
        """Whether source value a may be published as b."""
        if (a, b) not in self.known:
            value, text = self.source.values[a], self.published.values[b]
            good = bool(self.is_star[b]) or same_cell(value, text)
            if not good and self.star is not False:
                if self.order is None:
                    self.order = sorted_texts(self.source.values if self.source.order is None else self.source.order, self.source.order is None)
                good = holds(text, value, self.order, self.above)
            self.known[a, b] = good
        return self.known[a, b]

    def stars(self, place: NDArray[Any] | None) -> int:
        """Cells that show a star and are none in the source."""
        shown = int(self.is_star[self.published.codes].sum()) if len(self.published.codes) else 0
        own = [k for k, x in enumerate(self.source.values) if (missing(x) if self.star is None else text_of_cell(x) == self.star)]
        return max(shown - int(np.isin(self.source.codes, own).sum()), 0) if own else shown

    def faults(self, place: NDArray[Any] | None) -> list[str]:
        """The first row of each pair that must not be, worst columns in a line each."""
        codes = self.source.codes if place is None else self.source.codes[place]
        width = max(len(self.published.values), 1)
        key = codes.astype(np.int64)
        key *= width
        key += self.published.codes
        dense = len(self.source.values) * width <= 4 * len(key) + 1000
        pairs = np.flatnonzero(np.bincount(key, minlength=1)) if dense else np.unique(key)
        bad = [pair for pair in pairs.tolist() if not self.admits(*divmod(pair, width))]
        if not bad:
            return []
        wrong = np.isin(key, bad)
        row = int(np.flatnonzero(wrong)[0])
        more = f" ({int(wrong.sum()):,} such cells)" if wrong.sum() > 1 else ""
        return [
            f"row {row}, column {self.name!r}: {shown_as(self.published.value_at(row))} is published where the source has "
            f"{shown_as(self.source.values[codes[row]])}{more}"
        ]
