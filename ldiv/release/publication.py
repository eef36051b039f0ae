"""The table that leaves, and what it tells beside its cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.errors import InputError
from ldiv.privacy.disclosure import Guess, PassingColumn, guesses_by_column, share_alone
from ldiv.privacy.verify import Verdict
from ldiv.table.frames import open_frame

__all__ = ["Publication"]


@dataclass(frozen=True, eq=False)
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

    @cached_property
    def passing(self) -> list[PassingColumn]:
        """The untouched columns and what each gives away; O(n log n) for each pair of an untouched and a starred column, when first asked."""
        source = open_frame(self.frame)
        found = []
        for name in self.untouched:
            try:
                column = source.encode(name)[0]
            except InputError:  # lists and the like: published as they are, and not judged
                found.append(PassingColumn(name, 0.0, {}))
                continue
            guesses = {qi: guesses_by_column(column, self.codes[:, j], self.starred[:, j]) for j, qi in enumerate(self.verdict.qi)}
            found.append(PassingColumn(name, share_alone(column), {qi: guess for qi, guess in guesses.items() if guess is not None}))
        return found

    @property
    def order_warnings(self) -> list[str]:
        """What the order of the rows gives away, a line for each column."""
        return [f"the rows above and below its stars give back, in {name!r}, {guess}" for name, guess in self.neighbours.items() if guess.tells]

    @property
    def column_warnings(self) -> list[str]:
        """What columns that are published as they are give away, a line each; the first call measures every one of them."""
        return [f"column {column.name!r} tells more: {flag}" for column in self.passing for flag in column.flags]

    def in_short(self) -> list[str]:
        """What is known at once: what the order of the rows gives away, and which columns are published as they are."""
        lines = self.order_warnings
        if self.index:
            lines.append("left out, since it would restore the order of the rows: the index " + ", ".join(map(repr, self.index)))
        if self.untouched:
            lines.append("published as they are: " + ", ".join(map(repr, self.untouched)))
        return lines

    def notes(self) -> list[str]:
        """What its owner should know before it leaves, a line each; the first call measures every untouched column."""
        return [*self.in_short(), *self.column_warnings]
