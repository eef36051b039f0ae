"""What a release tells beside its cells: the order of its rows, and columns that are published as they are."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Guess", "PassingColumn", "guesses_by_column", "guesses_by_copy", "guesses_by_neighbours", "share_alone"]

NEARLY_UNIQUE = 0.5  # of the rows alone with their value: the column singles people out


@dataclass(frozen=True)
class Guess:
    """How many starred cells of a column a rule fills in.

    Attributes
    ----------
    starred, filled, right : int
        Starred cells, those for which the rule names a value, and those for which it names the true one.
    chance : float
        How many it would get right if it knew nothing: expected number under a random order, or a random assignment.
    """

    starred: int
    filled: int
    right: int
    chance: float

    @property
    def tells(self) -> bool:
        """Whether that is more than chance gives, by more than three standard deviations and by more than a cell."""
        return self.right > self.chance + 3 * math.sqrt(self.chance) + 1

    def __str__(self) -> str:
        return f"{self.right:,} of {self.starred:,} starred cells (by chance {self.chance:,.0f})"


@dataclass(frozen=True)
class PassingColumn:
    """A column that is neither quasi-identifier nor sensitive and is published as it is.

    Attributes
    ----------
    name : object
    alone : float
        Share of the rows that are the only ones with their value.
    gives_back : dict of QI column to Guess
        Starred cells filled in by the visible rows with the same value, where these agree.
    """

    name: object
    alone: float
    gives_back: Mapping[object, Guess]

    @property
    def flags(self) -> list[str]:
        """Why it should perhaps be dropped, in words; empty if nothing speaks against it."""
        found = [f"{name}: it gives back {guess}" for name, guess in self.gives_back.items() if guess.tells]
        return found + ([f"{100 * self.alone:.0f} % of the rows are alone with their value"] if self.alone >= NEARLY_UNIQUE else [])


def guesses_by_neighbours(codes: NDArray[np.int32], starred: NDArray[np.bool_], names: Sequence[object]) -> dict[object, Guess]:
    """What the rows above and below a star give away: the rule fills in the value on which the nearest visible cells of the column agree.

    Parameters
    ----------
    codes : ndarray of int32, shape (n, d)
        The true values, in published order.
    starred : ndarray of bool, shape (n, d)
    names : sequence, length d

    Returns
    -------
    dict of name to Guess
        Columns that hold a star.

    Notes
    -----
    Under a random order both neighbours show v with probability p_v^2, p the shares of visible values, which gives the chance. O(n d).
    """
    found: dict[object, Guess] = {}
    n = len(codes)
    for j, name in enumerate(names):
        hidden = starred[:, j]
        if not hidden.any():
            continue
        visible = np.flatnonzero(~hidden)
        if not len(visible):
            found[name] = Guess(n, 0, 0, 0.0)
            continue
        column = codes[:, j]
        stars = np.flatnonzero(hidden)
        after = np.searchsorted(visible, stars)
        between = (after > 0) & (after < len(visible))
        stars, after = stars[between], after[between]
        above = column[visible[after - 1]]
        agree = above == column[visible[after]]
        right = int((above[agree] == column[stars[agree]]).sum())
        share = np.bincount(column[visible], minlength=int(column.max()) + 1) / len(visible)
        found[name] = Guess(int(hidden.sum()), int(agree.sum()), right, float((share[column[hidden]] ** 2).sum()))
    return found


def guesses_by_column(column: NDArray[np.int32], codes: NDArray[np.int32], starred: NDArray[np.bool_]) -> Guess | None:
    """What another column gives away of a starred one: the value on which all visible rows with the same other value agree.

    Notes
    -----
    If the two columns had nothing to do with each other, k visible rows would all show the true value v with probability p_v^k. O(n log n).
    """
    if not starred.any():
        return None
    visible = ~starred
    size, width = int(column.max()) + 1, int(codes.max()) + 1
    pairs = np.unique(column[visible].astype(np.int64) * width + codes[visible])
    values = np.bincount(pairs // width, minlength=size)
    only = np.zeros(size, dtype=np.int64)
    only[pairs // width] = pairs % width
    rows = np.bincount(column[visible], minlength=size)
    at = column[starred]
    filled = values[at] == 1
    right = filled & (only[at] == codes[starred])
    share = np.bincount(codes[visible], minlength=width) / max(int(visible.sum()), 1)
    known = rows[at] > 0
    chance = float((share[codes[starred][known]] ** rows[at[known]]).sum())
    return Guess(int(starred.sum()), int(filled.sum()), int(right.sum()), chance)


def guesses_by_copy(
    words: Sequence[str], column: NDArray[np.int32], texts: Sequence[str], codes: NDArray[np.int32], starred: NDArray[np.bool_]
) -> Guess:
    """What another column gives away by holding the very values of a starred one: the rule reads its text there.

    Parameters
    ----------
    words, texts : sequence of str
        The text of each code of the other column, and of the starred one.
    """
    place = {text: code for code, text in enumerate(texts)}
    read = np.array([place.get(word, -1) for word in words] or [-1], dtype=np.int64)
    shown = read[column[starred]]
    share = np.bincount(read[column][read[column] >= 0], minlength=len(texts) + 1) / max(len(column), 1)
    return Guess(int(starred.sum()), int((shown >= 0).sum()), int((shown == codes[starred]).sum()), float(share[codes[starred]].sum()))


def share_alone(column: NDArray[np.int32]) -> float:
    """Share of the rows that are the only ones with their value."""
    if not len(column):
        return 0.0
    return float((np.bincount(column) == 1).sum() / len(column))
