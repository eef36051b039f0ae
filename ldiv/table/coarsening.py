"""Coarsening before anonymising (the paper's section 5.6): hierarchies in the format of ARX, and bins of numbers."""

from __future__ import annotations

import csv
import datetime as dt
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv._kernels.cells import tally
from ldiv.arguments import hint
from ldiv.errors import InputError
from ldiv.table.frames import Change, open_frame
from ldiv.table.taxonomy import Taxonomy
from ldiv.table.text import NUMBER, alike, is_missing, text_of

__all__ = ["Bins", "Hierarchy", "coarsen"]


@dataclass(frozen=True)
class Hierarchy:
    """The values of an attribute and what each becomes level by level, up to one text for all.

    Build one with :meth:`read` (a file), :meth:`of` (rows or nested dicts). Values are compared as text, so that a column of numbers finds its
    file.

    Attributes
    ----------
    levels : dict of str to tuple of str
        For each value its text at level 0 (itself), 1, 2 ...
    name : str
        For messages: the file or the column.

    Examples
    --------
    >>> from ldiv import Hierarchy
    >>> tree = Hierarchy.of({"married": ["Married", "Separated"], "single": ["Never"]})
    >>> tree.levels["Never"], tree.height
    (('Never', 'single', '*'), 2)
    """

    levels: Mapping[str, tuple[str, ...]]
    name: str = "hierarchy"

    def __post_init__(self) -> None:
        heights = {len(row) for row in self.levels.values()}
        if len(heights) != 1:
            least = min(self.levels, key=lambda value: len(self.levels[value]), default=None)
            raise InputError(
                f"{self.name}: every value needs the same number of levels; {least!r} has fewer" if heights else f"{self.name}: no value in it"
            )
        for level in range(self.height):
            above: dict[str, str] = {}
            for row in self.levels.values():
                if above.setdefault(row[level], row[level + 1]) != row[level + 1]:
                    raise InputError(f"{self.name}: {row[level]!r} at level {level} has two parents, {above[row[level]]!r} and {row[level + 1]!r}")

    @property
    def height(self) -> int:
        """The highest level."""
        return len(next(iter(self.levels.values()))) - 1

    @classmethod
    def of(cls, source: Any, name: str = "hierarchy") -> Hierarchy:
        """From a Hierarchy, a path, rows of texts (leaf first), or nested dicts with lists of values at the bottom.

        Raises
        ------
        InputError
            A value that stands twice, has two parents, or lacks a level.
        """
        if isinstance(source, Hierarchy):
            return source
        if isinstance(source, (str, Path)):
            return cls.read(source)
        if isinstance(source, Mapping):
            return cls.of(list(_rows_of(source, ())), name)
        levels: dict[str, tuple[str, ...]] = {}
        for row in source:
            texts = tuple(str(text) for text in row)
            if levels.setdefault(texts[0], texts) != texts:
                raise InputError(f"{name}: value {texts[0]!r} stands twice, with different parents")
        if len({row[-1] for row in levels.values()}) > 1:
            levels = {value: (*row, "*") for value, row in levels.items()}
        return cls(levels, name)

    @classmethod
    def read(cls, path: str | Path, delimiter: str = ";") -> Hierarchy:
        """From an ARX hierarchy file: a line for each value, leaf first, fields separated by ``;``.

        Raises
        ------
        InputError
            Naming the file and the line.
        """
        path = Path(path)
        if not path.is_file():
            raise InputError(f"{path}: no such hierarchy file")
        rows: dict[str, int] = {}
        found = []
        with path.open(newline="", encoding="utf-8-sig") as stream:
            for number, row in enumerate(csv.reader(stream, delimiter=delimiter), 1):
                if not row:
                    continue
                if len(row) < 2:
                    raise InputError(f"{path}, line {number}: one field only; levels are separated by {delimiter!r}")
                if row[0] in rows:
                    raise InputError(f"{path}, line {number}: value {row[0]!r} stands in line {rows[row[0]]} already")
                rows[row[0]] = number
                found.append(row)
        return cls.of(found, str(path))

    def at(self, labels: Sequence[Any], level: int, column: str) -> list[str]:
        """The texts of an attribute's values at a level.

        Raises
        ------
        InputError
            A value that the hierarchy does not know, or a level that it does not have.
        """
        if isinstance(level, bool) or not isinstance(level, int) or not 0 <= level <= self.height:
            raise InputError(f"column {column!r}: level {level!r} is not one of 0 to {self.height} of its hierarchy")
        return [self._row(label, column)[level] for label in labels]

    def taxonomy(self, labels: Sequence[Any], column: str = "attribute") -> Taxonomy:
        """The tree over an attribute's values, steps with a single child left out."""
        rows = [self._row(label, column) for label in labels]
        parent, text = [-1], [rows[0][-1] if rows else "*"]
        leaf = np.zeros(len(labels), dtype=np.int32)

        def grow(codes: list[int], level: int, above: int) -> None:
            for key in sorted({rows[c][level] for c in codes}) if level else []:
                part = [c for c in codes if rows[c][level] == key]
                if len(part) == len(codes):
                    grow(part, level - 1, above)
                    return
                parent.append(above)
                text.append(key)
                grow(part, level - 1, len(parent) - 1)
            if not level:
                for c in codes:
                    if len(codes) == 1 and above:
                        leaf[c], text[above] = above, "missing" if is_missing(labels[c]) else text_of(labels[c])
                        return
                    parent.append(above)
                    text.append("missing" if is_missing(labels[c]) else text_of(labels[c]))
                    leaf[c] = len(parent) - 1

        grow(list(range(len(labels))), self.height - 1 if self.height else 0, 0)
        return Taxonomy(np.array(parent, dtype=np.int32), leaf, tuple(text))

    def _row(self, label: Any, column: str) -> tuple[str, ...]:
        if is_missing(label):  # a missing value has no line: it hangs under the root by itself
            return (*["missing"] * self.height, next(iter(self.levels.values()))[-1])
        text = text_of(label)
        if text not in self.levels:
            whole = isinstance(label, float) and label == int(label) and str(int(label)) in self.levels if text[-2:] == ".0" else False
            advice = f" (the column holds decimals: {text_of(label)}; make whole numbers of them)" if whole else ""
            if not whole and (same := next((known for known in self.levels if alike(known) == alike(label)), None)) is not None:
                advice = f"; it has {same!r}, which is written otherwise"
            raise InputError(
                f"column {column!r}: value {label!r} is not in its hierarchy ({self.name}); add a line for it{advice or hint(text, self.levels)}"
            )
        return self.levels[text]


def _rows_of(tree: Any, above: tuple[str, ...]) -> Any:
    if isinstance(tree, Mapping):
        for name, below in tree.items():
            yield from _rows_of(below, (str(name), *above))
    else:
        for value in tree:
            yield (value, *above)


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

    Examples
    --------
    >>> import ldiv
    >>> ldiv.coarsen({"Age": [17, 23, 38]}, {"Age": ldiv.Bins(width=10)})["Age"].tolist()
    ['[10, 20)', '[20, 30)', '[30, 40)']
    """

    width: float | None = None
    quantiles: int | None = None
    edges: Sequence[float] | None = None

    def __post_init__(self) -> None:
        if sum(x is not None for x in (self.width, self.quantiles, self.edges)) != 1:
            raise InputError("Bins needs exactly one of width=, quantiles=, edges=")
        if self.width is not None and not self._number(self.width, "width") > 0:
            raise InputError(f"the width of bins must be above 0, not {self.width!r}")
        if self.quantiles is not None and (isinstance(self.quantiles, bool) or not isinstance(self.quantiles, int) or self.quantiles < 1):
            raise InputError(f"quantiles must be a whole number of at least 1, not {self.quantiles!r}")
        if self.edges is not None:
            numbers = [self._number(edge, "edges") for edge in self.edges]
            if len(numbers) < 1 or any(a >= b for a, b in zip(numbers, numbers[1:], strict=False)):
                raise InputError("the edges of bins must be ascending numbers, at least one")

    def texts(self, labels: Sequence[Any], rows: NDArray[np.int64], column: str) -> list[str]:
        """The interval of each value; `rows` are how many rows have it."""
        values = [self._number(label, column) for label in labels]
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
        texts = [_shortest(edge) for edge in edges]
        names = [f"< {texts[0]}"] if texts else ["*"]
        names += [f"[{a}, {b})" for a, b in zip(texts, texts[1:], strict=False)]
        names += [f">= {texts[-1]}"] if texts else []
        return [names[bisect_right(edges, value)] for value in values]

    @staticmethod
    def _number(label: Any, column: str) -> Fraction:
        """The exact amount of a number or of its text."""
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
            raise InputError(f"column {column!r} cannot be binned: {label!r} is not a finite number") from None
        except (TypeError, ValueError):
            finite = "a finite number" if isinstance(label, float) else "a number"
            advice = ""
            if isinstance(label, str) and NUMBER.fullmatch(label.strip().replace(",", ".", 1)):
                advice = "; it has a decimal comma: write points, or read the file with decimal=','"
            elif isinstance(label, (dt.date, np.datetime64)):
                advice = "; make years or months of dates first"
            raise InputError(f"column {column!r} cannot be binned: {label!r} is not {finite}{advice}") from None
        # A reader's number is what stands in the text, so 0.3 is 3/10 and not the float beside it.
        return Fraction(repr(label)) if isinstance(label, float) else found

    def _of_width(self, value: Fraction, column: str) -> str:
        """The interval [k w, (k + 1) w) that holds a value, exactly and as whoever reads its text into floats."""
        width = self._number(self.width, "width")
        k = value // width
        low, high = _shortest(k * width), _shortest((k + 1) * width)
        if not (float(low) <= float(value) < float(high) or abs(value) > 2**53 and Fraction(low) <= value < Fraction(high)):
            raise InputError(f"column {column!r}: bins of width {self.width!r} are finer than the number {float(value)!r} can be told apart")
        return f"[{low}, {high})"


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


def coarsen(
    frame: Any, columns: Mapping[str, int | Bins], hierarchies: Mapping[str, Any] | None = None, *, counts: NDArray[np.int64] | None = None
) -> Any:
    """A copy of a table with some columns on a higher level of their hierarchy, or numbers as intervals.

    Parameters
    ----------
    frame : any table that :func:`ldiv.anonymize` takes
    columns : mapping of column to int or Bins
        The level (0 leaves the values as they are, as text), or how to bin.
    hierarchies : mapping of column to anything that :meth:`Hierarchy.of` takes, optional
        Needed for levels.
    counts : ndarray of int64, optional
        How many rows stand behind each row of the table, where it holds each combination of values once; quantiles count them.

    Returns
    -------
    The same kind of table. Missing values stay missing.

    Raises
    ------
    InputError
        Naming the column, and the value or level that does not fit.

    Notes
    -----
    O(n) for each column. Coarsening first and starring less is the paper's section 5.6.

    Examples
    --------
    >>> import ldiv
    >>> table = {"City": ["Rome", "Bari", "Lyon"], "Age": [31, 35, 52]}
    >>> ldiv.coarsen(table, {"City": 1}, {"City": {"Italy": ["Rome", "Bari"], "France": ["Lyon"]}})["City"].tolist()
    ['Italy', 'Italy', 'France']
    """
    source = open_frame(frame)
    changes = {}
    for name, how in columns.items():
        if name not in source.columns:
            raise source.lacks(name)
        codes, labels, _ = source.encode(name)
        known = labels[:-1] if labels and labels[-1] is None else labels
        if isinstance(how, Bins):
            texts = how.texts(known, tally(codes, len(labels), counts), name)
        elif hierarchies is not None and name in hierarchies:
            texts = Hierarchy.of(hierarchies[name], f"hierarchy of {name!r}").at(known, how, name)
        else:
            raise InputError(f"coarsen: column {name!r} has no hierarchy: pass hierarchies={{{name!r}: ...}} or Bins")
        distinct = sorted(set(texts))
        place = np.array([*(distinct.index(text) for text in texts), -1], dtype=np.int32)
        changes[name] = Change(codes, place[np.minimum(codes, len(known))], list(distinct))
    return source.publish(changes)
