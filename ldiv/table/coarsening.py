"""Coarsening before anonymising (the paper's section 5.6): hierarchies in the format of ARX, and bins of numbers."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv._kernels.cells import tally
from ldiv.arguments import hint, shown
from ldiv.errors import InputError
from ldiv.table.bins import Bins
from ldiv.table.frames import Change, open_frame
from ldiv.table.taxonomy import Taxonomy, range_text
from ldiv.table.text import alike, is_missing, text_of

__all__ = ["Bins", "Hierarchy", "coarsen", "hierarchy_over", "is_of_the_values"]

HALVINGS = 4  # of the domain of an ordered attribute: a hierarchy made by itself has 2, 4, 8 and 16 ranges below its star


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
            if isinstance(row, str) or not hasattr(row, "__iter__"):
                raise InputError(
                    f"{name}: a hierarchy is rows of texts (the value first), nested dicts, a file, Bins or 'auto', not a list with {shown(row)}"
                )
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
                if len(part) == len(codes):  # the same node, a level lower
                    text[above] = key if above else text[above]
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
        rungs = [np.arange(len(labels))] + [
            np.unique([row[level] for row in rows], return_inverse=True)[1].ravel() for level in range(1, self.height)
        ]
        known = frozenset(text for row in self.levels.values() for text in row)
        return Taxonomy(np.array(parent, dtype=np.int32), leaf, tuple(text), np.stack(rungs).astype(np.int32) if rows else None, known)

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


def is_of_the_values(source: Any) -> bool:
    """Whether a hierarchy is made from an attribute's values: ``"auto"``, Bins, or Bins in cascade."""
    return (
        (isinstance(source, str) and source == "auto")
        or isinstance(source, Bins)
        or (isinstance(source, (list, tuple)) and bool(source) and all(isinstance(x, Bins) for x in source))
    )


def hierarchy_over(source: Any, labels: Sequence[Any], rows: NDArray[np.int64], ordered: bool, column: str) -> Hierarchy:
    """A column's hierarchy from anything that may stand for one.

    Parameters
    ----------
    source : object
        What :meth:`Hierarchy.of` takes; Bins, or several of them in cascade, the finest first, for numbers; ``"auto"`` for an ordered attribute: its
        values in order, known missing ones apart, are halved up to four times, so that there are 16, 8, 4 and 2 ranges of as many values each (one
        more here or there) below the star.
    labels : sequence
        The attribute's values, in order where it has one.
    rows : ndarray of int64
        How many rows have each value, for quantiles.
    ordered : bool
    column : str
        For messages.

    Raises
    ------
    InputError
        Bins that are not nested, values that are no numbers, ``"auto"`` for an attribute without an order.
    """
    name = f"hierarchy of {column!r}"
    if not is_of_the_values(source):
        return Hierarchy.of(source, name)
    known = [code for code, label in enumerate(labels) if not is_missing(label)]
    values = [labels[code] for code in known]
    if not values:
        return Hierarchy({"missing": ("missing", "*")}, name)
    if isinstance(source, str):
        if not ordered:
            raise InputError(
                f"{name}: 'auto' is for columns whose values have an order (numbers, dates, ordered categories); give rows, nested dicts or a file"
            )
        columns = []
        for parts in (1 << k for k in range(HALVINGS, 0, -1)):
            cuts = [len(values) * k // parts for k in range(parts + 1)]
            columns.append([range_text(values[a:b]) for a, b in zip(cuts, cuts[1:], strict=False) for _ in range(a, b)])
    else:
        cascade = [source] if isinstance(source, Bins) else list(source)
        for fine, coarse in zip(cascade, cascade[1:], strict=False):
            if not coarse.holds_whole(fine):
                raise InputError(
                    f"{name}: intervals of {coarse} do not hold whole intervals of {fine}: name the finest first, each the next one's part"
                )
        columns = [bins.texts(values, rows[known], column) for bins in cascade]
    return Hierarchy.of([(text_of(value), *above, "*") for value, *above in zip(values, *columns, strict=True)], name)


def coarsen(
    frame: Any, columns: Mapping[str, int | Bins], hierarchies: Mapping[str, Any] | None = None, *, counts: NDArray[np.int64] | None = None
) -> Any:
    """A copy of a table with some columns on a higher level of their hierarchy, or numbers as intervals.

    Parameters
    ----------
    frame : any table that :func:`ldiv.anonymize` takes
    columns : mapping of column to int or Bins
        The level (0 leaves the values as they are, as text), or how to bin.
    hierarchies : mapping of column to hierarchy, optional
        Needed for levels; as :func:`ldiv.anonymize` takes them.
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
        codes, labels, ordered = source.encode(name)
        known = labels[:-1] if labels and labels[-1] is None else labels
        if isinstance(how, Bins):
            texts = how.texts(known, tally(codes, len(labels), counts), name)
        elif hierarchies is not None and name in hierarchies:
            tree = hierarchy_over(hierarchies[name], known, tally(codes, len(labels), counts), ordered, name)
            texts = tree.at(known, how, name)
        else:
            raise InputError(f"coarsen: column {name!r} has no hierarchy: pass hierarchies={{{name!r}: ...}} or Bins")
        distinct = sorted(set(texts))
        place = np.array([*(distinct.index(text) for text in texts), -1], dtype=np.int32)
        changes[name] = Change(codes, place[np.minimum(codes, len(known))], list(distinct))
    return source.publish(changes)
