"""The errors a user meets. All are ValueErrors, so code that catches those keeps working."""

from __future__ import annotations

from collections.abc import Sequence


class LdivError(ValueError):
    """Base of every error this package raises on purpose."""


class InputError(LdivError):
    """The input is unusable as given; the message names the column, value or line and says what to do."""


class MissingColumnError(InputError):
    """A column was named that the table does not have.

    Attributes
    ----------
    name : str
    columns : tuple
        Those it has.
    """

    def __init__(self, name: object, columns: Sequence[object]) -> None:
        self.name, self.columns = name, tuple(columns)
        super().__init__(f"no column {name!r} in the table; there are: {', '.join(map(repr, columns))}")


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
    max_l : int
        The largest feasible l, ``floor(rows / count)``.
    """

    def __init__(self, value: object, count: int, rows: int, l: int) -> None:
        self.value, self.count, self.rows, self.l = value, count, rows, l
        self.max_l = rows // count
        super().__init__(
            f"no {l}-diverse release exists: sensitive value {value!r} stands in {count:,} of {rows:,} rows, "
            f"more than 1/{l} of them; the largest feasible l is {self.max_l}"
        )


class UnsafeReleaseError(LdivError):
    """A release failed its verification and was withheld. This is a defect of an algorithm, not of the input."""


class DisclosureWarning(UserWarning):
    """A release is l-diverse, but something beside its cells tells about what is starred."""
