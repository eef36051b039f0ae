"""How many combinations of values the process that solves can hold, and what is said where there are more."""

from __future__ import annotations

from collections.abc import Sequence

from ldiv.algorithms.pushed import BY_RESIDUE
from ldiv.errors import InputError

__all__ = ["Room", "TooManyError", "least_memory", "of_engine"]

EACH = 400  # bytes that a combination takes from counting to verifying, as measured on seven quasi-identifiers
ITSELF = 150_000_000  # what Python and its libraries take
SHARE = 0.5  # of the memory that may be used is the engine's
LEAST = 96 << 20  # what an engine takes
FEW = 20_000  # combinations that any memory holds that is allowed at all


def least_memory() -> int:
    """Bytes that the process and an engine take with next to nothing in them."""
    return ITSELF + LEAST + FEW * EACH


def of_engine(memory: int) -> int:
    """How many of the bytes that may be used are the engine's: half of them, unless the process needs more.

    Examples
    --------
    >>> of_engine(10**9), of_engine(least_memory()) == LEAST
    (500000000, True)
    """
    return max(min(int(memory * SHARE), memory - ITSELF - FEW * EACH), LEAST)


class TooManyError(InputError):
    """More combinations than fit; they are counted, and lie in the engine."""


class Room:
    """What `memory` bytes hold, some of which are the engine's.

    Examples
    --------
    >>> Room(10**9).most
    875000
    """

    def __init__(self, memory: int) -> None:
        self.memory, self.engine = memory, of_engine(memory)
        self.own = memory - self.engine

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
