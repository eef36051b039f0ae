"""The errors a user meets. All are ValueErrors, so code that catches those keeps working."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

MOST_COLUMNS = 40  # that an error lists


class LdivError(ValueError):
    """Base of every error this package raises on purpose."""


class InputError(LdivError):
    """The input is unusable as given; the message names the column, value or line and says what to do."""


def nearest(name: object, known: Iterable[object]) -> str | None:
    """What was probably meant: the same but for capitals and blanks, or a near spelling."""
    names = [str(x) for x in known]
    word = str(name).strip().lower()
    near = [x for x in names if x.strip().lower() == word] or get_close_matches(str(name), names, 1)
    return near[0] if near else None


class MissingColumnError(InputError):
    """A column was named that the table does not have.

    Attributes
    ----------
    name : str
    columns : tuple
        Those it has.
    """

    def __init__(self, name: object, columns: Sequence[object], advice: str = "") -> None:
        self.name, self.columns = name, tuple(columns)
        near = nearest(name, columns)
        meant = f": did you mean {near!r}?" if near is not None else ""
        there = ", ".join(map(repr, columns[:MOST_COLUMNS])) + (f" and {len(columns) - MOST_COLUMNS:,} more" if len(columns) > MOST_COLUMNS else "")
        super().__init__(f"no column {name!r} in the table; there are: {there}{meant}{advice}")


class NotEligibleError(LdivError):
    """No release exists for the requested l: one sensitive value is too frequent.

    Attributes
    ----------
    value : object
        The most frequent sensitive value (its label where labels are known).
    count : int
        How many rows have it.
    rows : int
        Rows of the table.
    l : int
        The l asked for.
    what : {"rows", "persons"}
        What `count` and `rows` count.
    max_l : int
        The largest feasible l, ``floor(rows / count)``.
    """

    def __init__(self, value: object, count: int, rows: int, l: int, what: str = "rows", values: int | None = None) -> None:
        self.value, self.count, self.rows, self.l, self.what = value, count, rows, l, what
        self.max_l = rows // count
        stands = f"stands in {count:,} of {rows:,} rows" if what == "rows" else f"is that of {count:,} of {rows:,} persons"
        few = f" (there are {values:,} sensitive values only, and l can be no more than that)" if values is not None and values < l else ""
        super().__init__(
            f"no {l}-diverse release exists: sensitive value {value!r} {stands}, more than 1/{l} of them; the largest feasible l is {self.max_l}{few}"
        )


class UnsafeReleaseError(LdivError):
    """A release failed its verification and was withheld. This is a defect of an algorithm, not of the input."""


class DisclosureWarning(UserWarning):
    """A release is l-diverse, but something beside its cells tells about what is starred."""
