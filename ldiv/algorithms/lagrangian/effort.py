"""How hard the near-optimal algorithm tries, and what a table affords."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

from ldiv.arguments import Argument, Number, Plan, Whole
from ldiv.table.lattice import Lattice

__all__ = ["COUNTABLE", "EFFORTS", "EVERYTHING", "Effort", "affordable", "sweeps_for", "unit_for"]


@dataclass(frozen=True)
class Effort(Plan):
    """How hard to try.

    Attributes
    ----------
    patterns : int
        So many patterns have prices whatever the size of the table; time is then proportional to the number of cells.
    budget : int
        More patterns while they times the cells stay within it: small tables get them all.
    sweeps : int
        Of the linear ascent, for l up to 6; see :func:`sweeps_for`.
    tolerance : float or None
        Afterwards more stages of half so many sweeps, each at half the temperature and step of the one before, while one raises the bound by
        more than this part; None for no such stage.
    dives : int
        Rounds of fixing, each after `dive_sweeps` more sweeps on the rows not yet fixed; 0 rounds once.
    rounds : int
        Of rebuilding groups, a few at a time.
    prices : int
        Sweeps of the configuration ascent; 0 leaves the linear bound.
    looks : int
        Neighbourhoods that are solved.
    """

    patterns: int
    budget: int
    sweeps: int
    tolerance: float | None
    dives: int
    dive_sweeps: int
    rounds: int
    prices: int = 0
    looks: int = 0

    @property
    def patient(self) -> bool:
        """Whether it goes on after what the default does, until nothing more is found."""
        return self.looks > EFFORTS["default"].looks

    def __post_init__(self) -> None:
        for name, declared in PARTS.items():
            declared.check(getattr(self, name), f"effort: {name}")


PARTS: dict[str, Argument] = {
    "patterns": Whole("patterns", least=1),
    "budget": Whole("budget", least=0),
    "sweeps": Whole("sweeps", least=1, most=1 << 30),
    "tolerance": Number("tolerance", optional=True),
    "dives": Whole("dives", most=1 << 20),
    "dive_sweeps": Whole("dive_sweeps", most=1 << 30),
    "rounds": Whole("rounds", most=1 << 20),
    "prices": Whole("prices", most=1 << 20),
    "looks": Whole("looks", most=1 << 30),
}

EFFORTS = {
    "fast": Effort(29, 4_000_000, 60, None, 0, 0, 1),
    "default": Effort(128, 8_000_000, 100, None, 10, 10, 4, 60, 60),
    "best": Effort(128, 60_000_000, 100, None, 10, 10, 4, 400, 1 << 20),
}
MANY = 512  # patterns beyond which the sweeps cost more than they bring
EVERYTHING = 120_000_000  # patterns times cells that fit memory: about 3 GB


def sweeps_for(effort: Effort, l: int) -> int:
    """How many sweeps the ascent takes. Prices have farther to go where l is large: measured, l = 10 needs twice the sweeps of l = 6, while up to 6
    more bring nothing; a line through both."""
    return effort.sweeps * max(4, l - 2) // 4


COMBINATIONS = 512  # of levels that have multipliers at first; on all tables tried at most 400 are in use at the end
CHEAP_PAIRS = 4_000_000  # combinations times cells up to which all have
LOOKED_AT = 1_000_000_000  # combinations times cells that are looked at one by one


def affordable(lattice: Lattice, effort: Effort) -> int:
    """Up to how many stars patterns have prices; of nodes, how many combinations of levels."""
    d, cells = lattice.contingency.d, max(len(lattice.contingency.count), 1)
    if lattice.nodes:
        return max(1, min(lattice.enough, EVERYTHING // cells, max(COMBINATIONS, CHEAP_PAIRS // cells)))
    most = d
    while most > 1:
        patterns = sum(comb(d, k) for k in range(most + 1))
        if (patterns <= MANY and patterns * cells <= effort.budget) or (patterns <= effort.patterns and patterns * cells <= EVERYTHING):
            break
        most -= 1
    return most


COUNTABLE = 1 << 30  # rows up to which they are assigned one by one; the ledger counts those of a cell in 32 bits


def unit_for(rows: int) -> int:
    """How many rows are assigned together: 1, or a power of two where there are very many."""
    return 1 << max(0, (rows // COUNTABLE).bit_length())
