"""How many combinations of values the process that solves can hold, and what is said where there are more."""

from __future__ import annotations

from collections.abc import Sequence

from ldiv.algorithms.pushed import BY_RESIDUE
from ldiv.errors import InputError

__all__ = ["Room", "TooManyError"]

EACH = 400  # bytes that a combination takes from counting to verifying, as measured on seven quasi-identifiers
ITSELF = 150_000_000  # what Python and its libraries take
SHARE = 0.5  # of the memory that may be used is the engine's


class TooManyError(InputError):
    """More combinations than fit; they are counted, and lie in the engine."""


class Room:
    """What `memory` bytes, `engine` of which are the engine's, hold.

    Examples
    --------
    >>> Room(10**9, 5 * 10**8).most
    875000
    """

    def __init__(self, memory: int, engine: int) -> None:
        self.memory, self.own = memory, memory - engine

    @property
    def most(self) -> int:
        return max((self.own - ITSELF) // EACH, 0)

    def require(self, found: int, what: str, else_do: str) -> None:
        """Refuse more than fit.

        Raises
        ------
        TooManyError
        """
        if found > self.most:
            whole = -(-int((found * EACH + ITSELF) / (1 - SHARE)) // 10**6)
            raise TooManyError(
                f"{found:,} {what} are too many for {self.memory // 10**6:,} MB of memory: give {whole:,} MB (--memory-limit, memory_limit=), {else_do}"
            )

    def require_combinations(self, found: int, keys: Sequence[str]) -> None:
        names = ", ".join(map(repr, BY_RESIDUE))
        self.require(
            found,
            f"combinations of {', '.join(map(repr, keys))}",
            "name fewer quasi-identifiers, coarsen those with many values, or choose an algorithm that needs only the rows that leave their groups in memory "
            f"({names})",
        )
