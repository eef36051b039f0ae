"""What a certificate is worth once its bound has been proved again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Verdict"]


@dataclass(frozen=True)
class Verdict:
    """What a certificate is worth; true where its bound is proven again from the table, and nothing contradicts it.

    Attributes
    ----------
    l : int
    qi : tuple
        The quasi-identifiers that the certificate is about.
    sensitive : object
        A tuple where it is about releases that are l-diverse in several columns.
    weights : dict
        What a star costs, where that is not 1.
    stars, bound : int
        What the certificate claims.
    proof : str
        How the claim was proved: counting, prices, exact.
    proven : int
        The bound that was proved again, from the table alone.
    rows : int
        Of the table.
    protected : tuple
        Columns that the releases it is about do not star.
    highest : mapping
        Of these the ones that show nodes, with the highest level of these.
    k : int
        The least size of their groups.
    loss : str or None
        What a node loses, where they are releases along hierarchies: `stars`, `bound` and `proven` are what is lost then, in units of 1 / `unit` star.
    unit : int
    persons : object
        The column that says whose a row is, where they publish all rows of a person alike.
    """

    l: int
    qi: tuple[Any, ...]
    sensitive: Any
    weights: dict[Any, int]
    stars: int
    bound: int
    proof: str
    proven: int
    rows: int
    protected: tuple[Any, ...] = ()
    k: int = 1
    loss: str | None = None
    unit: int = 1
    persons: Any = None
    highest: Mapping[Any, int] = field(default_factory=dict)

    def count(self, number: int) -> str:
        """A number of stars, or of what is lost in stars, for people."""
        return f"{number:,}" if self.unit == 1 else f"{number / self.unit:,.1f}"

    @property
    def contradiction(self) -> bool:
        """The certificate claims fewer stars than no release can have."""
        return self.stars < max(self.bound, self.proven)

    @property
    def checkable(self) -> bool:
        """Whether the claim can be checked at all: what an exhaustive search has found, only another search could."""
        return self.proof != "exact" or self.proven >= self.bound

    def __bool__(self) -> bool:
        return self.proven >= self.bound and not self.contradiction

    def __str__(self) -> str:
        proven, bound = self.count(self.proven), self.count(self.bound)
        never = [str(name) for name in self.protected if name not in self.highest]
        which = f" that stars no value of {', '.join(never)}" if never else ""
        which += "".join(f" that shows {name} at most on level {level}" for name, level in self.highest.items())
        which += f" with groups of at least {self.k:,} rows" if self.k > 1 else ""
        which += f" that publishes the rows of one {self.persons} alike" if self.persons is not None else ""
        kind, target = (f"{self.l}-diverse release", f" (sensitive: {_names(self.sensitive)})") if self.sensitive is not None else ("release", "")
        loses = "has fewer than" if self.loss is None else f"along its hierarchies (loss {self.loss}) loses less than"
        about = f"no {kind} on {', '.join(map(str, self.qi))}{target}{which} {loses}"
        if self.weights:  # chosen by whoever made the certificate: said with every number
            counted = ", ".join(f"{weight:,} in {name}" for name, weight in self.weights.items())
            about = f"with stars counted {counted}, {about}"
        if self.contradiction:
            return f"CONTRADICTION: {about} {proven} stars, and the certificate claims a release of {self.count(self.stars)} and a bound of {bound}"
        if self:
            return f"proven: {about} {proven} stars"
        if not self.checkable:
            return f"NOT RE-CHECKABLE: the bound of {bound} stars is by exhaustive search; what is proven again is that {about} {proven}"
        return f"NOT PROVEN: the certificate claims {bound}; what is proven is that {about} {proven} stars"


def _names(sensitive: Any) -> str:
    return ", ".join(map(str, sensitive)) if isinstance(sensitive, tuple) else str(sensitive)
