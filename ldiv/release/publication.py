"""The table that leaves, and what it tells beside its cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.errors import InputError
from ldiv.privacy.disclosure import Guess, PassingColumn, guesses_by_column, guesses_by_copy, share_alone
from ldiv.privacy.persons import Persons
from ldiv.privacy.verify import Verdict
from ldiv.table.encoding import encode_objects
from ldiv.table.frames import open_frame
from ldiv.table.text import is_missing, text_of

__all__ = ["Publication"]


@dataclass(frozen=True, eq=False, repr=False)
class Publication:
    """The table that leaves, and what it tells beside its cells.

    Attributes
    ----------
    frame : table
        The released table.
    verdict : Verdict
        What :func:`ldiv.verify` said of it.
    rows : ndarray of int64, shape (n,), or None
        Which row of the source stands where; None for the source's order. Not for publication.
    neighbours : dict of QI column to Guess
        Starred cells that the rows above and below give away.
    untouched, dropped : list
        Columns published as they are, and left out.
    index : list
        Those of `dropped` that are left out because they are the index of a table whose rows are shuffled.
    persons : Persons, optional
        Who the rows of the source belong to, where ``unit=`` said so.
    """

    frame: Any
    verdict: Verdict
    rows: NDArray[np.int64] | None
    neighbours: Mapping[Any, Guess]
    untouched: list[Any]
    dropped: list[Any]
    codes: NDArray[np.int32] = field(repr=False)
    starred: NDArray[np.bool_] = field(repr=False)
    index: list[Any] = field(default_factory=list)
    texts: list[list[str]] = field(default_factory=list, repr=False)
    persons: Persons | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        order = "in the order of the source" if self.rows is None else "in random order"
        return f"<Publication {self.verdict.rows:,} rows {order}, {len(self.untouched)} columns as they are, {len(self.dropped)} left out>"

    @cached_property
    def passing(self) -> list[PassingColumn]:
        """The untouched columns and what each gives away; O(n log n) for each pair of an untouched and a starred column, when first asked."""
        source = open_frame(self.frame)
        found = []
        for name in self.untouched:
            try:
                column, labels, _ = source.encode(name)
            except InputError:  # lists and the like: published as they are, and not judged
                found.append(PassingColumn(name, 0.0, {}))
                continue
            found.append(self._judged(name, column, labels))
        for name, values in source.index_values().items():
            found.append(self._judged(name, *encode_objects(values, name)[:2]))
        return found

    def _judged(self, name: Any, column: NDArray[np.int32], labels: list[Any]) -> PassingColumn:
        words = ["" if is_missing(label) else text_of(label) for label in labels]
        guesses = {}
        for j, qi in enumerate(self.verdict.qi):
            learned = guesses_by_column(column, self.codes[:, j], self.starred[:, j])
            if learned is not None:
                copied = guesses_by_copy(words, column, self.texts[j], self.codes[:, j], self.starred[:, j])
                guesses[qi] = max(learned, copied, key=lambda guess: guess.right - guess.chance)
        return PassingColumn(name, share_alone(column), guesses)

    @property
    def order_warnings(self) -> list[str]:
        """What the order of the rows gives away, a line for each column."""
        return [f"the rows above and below its stars give back, in {name!r}, {guess}" for name, guess in self.neighbours.items() if guess.tells]

    @property
    def column_warnings(self) -> list[str]:
        """What columns that are published as they are give away, a line each; the first call measures every one of them."""
        found = [f"column {column.name!r} tells more: {flag}" for column in self.passing for flag in column.flags]
        if self.persons is not None and self.persons.name in self.untouched:
            found.append(f"column {self.persons.name!r} is published: it tells which rows are one person's, and who, if it is more than a number")
        return found

    def in_short(self) -> list[str]:
        """What is known at once: what the order of the rows gives away, and which columns are published as they are."""
        lines = self.order_warnings
        if self.index:
            lines.append("left out, since it would restore the order of the rows: the index " + ", ".join(map(repr, self.index)))
        if self.untouched:
            lines.append("published as they are: " + ", ".join(map(repr, self.untouched)))
        if self.persons is not None:
            lines.append(f"{self.persons.count:,} persons, {self.persons.with_several_rows:,} of them with several rows")
        return lines

    def notes(self) -> list[str]:
        """What its owner should know before it leaves, a line each; the first call measures every untouched column."""
        return [*self.in_short(), *self.column_warnings]
