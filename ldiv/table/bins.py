"""Numbers as intervals: bins of equal width, of about equally many rows, or between given edges."""

from __future__ import annotations

import datetime as dt
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.errors import InputError
from ldiv.table.text import COMMAS, NUMBER

__all__ = ["Bins"]


@dataclass(frozen=True)
class Bins:
    """Numbers as intervals: give one of the three.

    Parameters
    ----------
    width : float, optional
        Equal widths, from multiples of it.
    quantiles : int, optional
        As many intervals with about equally many rows.
    edges : sequence of float, optional
        Ascending; what is below the first or from the last on gets an open interval.
    decimal : {".", ","}
        What stands before the fractions of numbers that are text; with a comma the intervals have one, too: ``[12,5; 15)``.

    Examples
    --------
    >>> import ldiv
    >>> ldiv.coarsen({"Age": [17, 23, 38]}, {"Age": ldiv.Bins(width=10)})["Age"].tolist()
    ['[10, 20)', '[20, 30)', '[30, 40)']
    """

    width: float | None = None
    quantiles: int | None = None
    edges: Sequence[float] | None = None
    decimal: str = field(default=".", repr=False)

    def __post_init__(self) -> None:
        if sum(x is not None for x in (self.width, self.quantiles, self.edges)) != 1:
            raise InputError("Bins needs exactly one of width=, quantiles=, edges=")
        if self.decimal not in (".", ","):
            raise InputError(f"the decimal of bins must be '.' or ',', not {self.decimal!r}")
        if self.width is not None and not self._number(self.width, "width") > 0:
            raise InputError(f"the width of bins must be above 0, not {self.width!r}")
        if self.quantiles is not None and (isinstance(self.quantiles, bool) or not isinstance(self.quantiles, int) or self.quantiles < 1):
            raise InputError(f"quantiles must be a whole number of at least 1, not {self.quantiles!r}")
        if self.edges is not None:
            numbers = [self._number(edge, "edges") for edge in self.edges]
            if len(numbers) < 1 or any(a >= b for a, b in zip(numbers, numbers[1:], strict=False)):
                raise InputError("the edges of bins must be ascending numbers, at least one")

    def holds_whole(self, finer: Bins) -> bool:
        """Whether each interval of finer bins lies in one of these, as far as that can be told without values."""
        if self.width is not None and finer.width is not None:
            return self._number(self.width, "width") % self._number(finer.width, "width") == 0
        if self.edges is not None and finer.edges is not None:
            return {self._number(edge, "edges") for edge in self.edges} <= {self._number(edge, "edges") for edge in finer.edges}
        if self.edges is not None and finer.width is not None:
            return all(self._number(edge, "edges") % self._number(finer.width, "width") == 0 for edge in self.edges)
        return True

    def texts(self, labels: Sequence[Any], rows: NDArray[np.int64], column: str) -> list[str]:
        """The interval of each value; `rows` are how many rows have it."""
        values = [self._number(self._pointed(label), column, label) for label in labels]
        if self.width is not None:
            return [self._of_width(value, column) for value in values]
        if self.edges is not None:
            edges = sorted(self._number(edge, "edges") for edge in self.edges)
        else:
            assert self.quantiles is not None
            order = sorted(range(len(values)), key=values.__getitem__)
            share = np.cumsum(rows[order]) / max(rows.sum(), 1)
            cuts = [order[np.searchsorted(share, k / self.quantiles)] for k in range(1, self.quantiles)] if len(values) else []
            edges = sorted({values[cut] for cut in cuts})
        texts = [self._shown(edge) for edge in edges]
        names = [f"< {texts[0]}"] if texts else ["*"]
        names += [self._between(a, b) for a, b in zip(texts, texts[1:], strict=False)]
        names += [f">= {texts[-1]}"] if texts else []
        return [names[bisect_right(edges, value)] for value in values]

    def _pointed(self, label: Any) -> Any:
        """A number's text with a point; what has one where a comma should be is left to be refused."""
        return label.translate(COMMAS) if self.decimal == "," and isinstance(label, str) else label

    def _shown(self, value: Fraction) -> str:
        return _shortest(value).replace(".", self.decimal)

    def _between(self, low: str, high: str) -> str:
        return f"[{low}, {high})" if self.decimal == "." else f"[{low}; {high})"

    @staticmethod
    def _number(label: Any, column: str, given: Any = None) -> Fraction:
        """The exact amount of a number or of its text, in which a point stands; `given` is what it was before."""
        given = label if given is None else given
        try:
            if isinstance(label, (bool, np.bool_)):
                raise ValueError
            if isinstance(label, np.generic):
                label = float(str(label)) if isinstance(label, np.floating) else label.item()
            if isinstance(label, str) and not NUMBER.fullmatch(label.strip()):
                float(label)  # text for a number that is none, like inf, is named as such
                raise OverflowError
            found = Fraction(label.strip() if isinstance(label, str) else label)
        except OverflowError:
            raise InputError(f"column {column!r} cannot be binned: {given!r} is not a finite number") from None
        except (TypeError, ValueError):
            finite = "a finite number" if isinstance(label, float) else "a number"
            advice = ""
            if isinstance(given, str) and NUMBER.fullmatch(given.strip().translate(COMMAS)):
                advice = "; it has a decimal comma: --decimal , on the command line, Bins(..., decimal=',') in Python"
            elif isinstance(label, (dt.date, np.datetime64)):
                advice = "; make years or months of dates first"
            raise InputError(f"column {column!r} cannot be binned: {given!r} is not {finite}{advice}") from None
        # A reader's number is what stands in the text, so 0.3 is 3/10 and not the float beside it.
        return Fraction(repr(label)) if isinstance(label, float) else found

    def _of_width(self, value: Fraction, column: str) -> str:
        """The interval [k w, (k + 1) w) that holds a value, exactly and as whoever reads its text into floats."""
        width = self._number(self.width, "width")
        k = value // width
        low, high = _shortest(k * width), _shortest((k + 1) * width)
        if not (float(low) <= float(value) < float(high) or abs(value) > 2**53 and Fraction(low) <= value < Fraction(high)):
            raise InputError(f"column {column!r}: bins of width {self.width!r} are finer than the number {float(value)!r} can be told apart")
        return self._between(low.replace(".", self.decimal), high.replace(".", self.decimal))


def _shortest(value: Fraction) -> str:
    """A number with as many digits as it needs, and no exponent where it has a usual size."""
    if value.denominator == 1 and abs(value) < 10**18:
        return str(value.numerator)
    twos_and_fives = value.denominator
    for p in (2, 5):
        while twos_and_fives % p == 0:
            twos_and_fives //= p
    if twos_and_fives == 1:
        with localcontext() as context:
            context.prec = 400
            text = format((Decimal(value.numerator) / Decimal(value.denominator)).normalize(), "f")
        if len(text) <= 40:
            return text
    return repr(float(value))
