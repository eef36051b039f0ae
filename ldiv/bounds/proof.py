"""The checker of certificates: trusts neither the solver nor the file, and shares no code with the solver.

Everything a certificate says is compared with the table before anything is built from it, and no sum can wrap: 64 bits are used only where the
largest number, times everything it is multiplied by, certainly fits; else Python's integers. docs/near-optimal.md has the proof that is checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb, prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.arguments import WEIGHT, L, Whole, shown
from ldiv.bounds.certificate import Certificate, load_certificate
from ldiv.bounds.counting import star_bound
from ldiv.bounds.prices import Prices
from ldiv.errors import InputError
from ldiv.privacy.eligibility import require_eligible, validate_l
from ldiv.table.arrays import dot
from ldiv.table.contingency import Contingency
from ldiv.table.microdata import Microdata

__all__ = ["Verdict", "certify", "judge", "prove", "subject", "verify_certificate"]

UNIT = 1 << 20  # prices are in units of 1 / UNIT star
FITS = 1 << 62


@dataclass(frozen=True)
class Verdict:
    """What a certificate is worth; true where its bound is proven again from the table, and nothing contradicts it.

    Attributes
    ----------
    l : int
    qi : tuple
        The quasi-identifiers that the certificate is about.
    sensitive : object
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
        about = f"no {self.l}-diverse release on {', '.join(map(str, self.qi))} (sensitive: {self.sensitive}) has fewer than"
        if self.weights:  # chosen by whoever made the certificate: said with every number
            counted = ", ".join(f"{weight:,} in {name}" for name, weight in self.weights.items())
            about = f"with stars counted {counted}, {about}"
        if self.contradiction:
            return (
                f"CONTRADICTION: {about} {self.proven:,} stars, and the certificate claims a release of {self.stars:,} and a bound of {self.bound:,}"
            )
        if self:
            return f"proven: {about} {self.proven:,} stars"
        if not self.checkable:
            return (
                f"NOT RE-CHECKABLE: the bound of {self.bound:,} stars is by exhaustive search; what is proven again is that {about} {self.proven:,}"
            )
        return f"NOT PROVEN: the certificate claims {self.bound:,}; what is proven is that {about} {self.proven:,} stars"


def certify(frame: Any, certificate: str | Path) -> Verdict:
    """Prove a certificate's bound again from the microdata.

    Parameters
    ----------
    frame : any table that :func:`ldiv.anonymize` takes
        The microdata the certificate is about.
    certificate : path-like
        A file that :func:`ldiv.save_certificate` wrote with ``qi=``, ``sensitive=`` and ``l=`` beside it.

    Returns
    -------
    Verdict

    Raises
    ------
    InputError
        Not a certificate, or not of this table.
    """
    claim, about = load_certificate(certificate)
    qi, sensitive, *_ = subject(about, certificate)
    data = Microdata.from_frame(frame, qi, sensitive, missing={"qi": "value", "sensitive": "value"}, keep=False)
    return judge(data, claim, about, certificate)


def judge(data: Microdata, claim: Certificate, about: dict[str, Any], where: str | Path) -> Verdict:
    """What a certificate, and what stands beside it, is worth for a table that was read with its columns."""
    qi, sensitive, l, weights, rows = subject(about, where)
    if rows is not None and rows != data.n:
        raise InputError(f"{where}: the certificate is of a table with {rows:,} rows, this one has {data.n:,}")
    data = data.weighted(weights) if weights else data
    return Verdict(l, tuple(qi), sensitive, weights, claim.stars, claim.bound, claim.proof, verify_certificate(data, claim, l), data.n)


def subject(about: dict[str, Any], where: str | Path) -> tuple[list[Any], Any, int, dict[Any, int], int | None]:
    """What a certificate says it is about: quasi-identifiers, sensitive column, l, weights and rows, each looked at."""
    qi, sensitive, weights = about.get("qi"), about.get("sensitive"), about.get("weights") or {}
    if isinstance(sensitive, list) and len(sensitive) == 1:
        sensitive = sensitive[0]
    if not isinstance(qi, list) or not qi or not all(isinstance(x, (str, int)) for x in qi) or not isinstance(sensitive, (str, int)):
        raise InputError(f"{where}: the certificate does not say which columns it is about (qi {shown(qi)}, sensitive {shown(sensitive)})")
    if not isinstance(weights, dict):
        raise InputError(f"{where}: weights must be a mapping, not {shown(weights)}")
    checked = {name: WEIGHT.check(weight, f"{where}: weight of {shown(name)}") for name, weight in weights.items()}
    rows = Whole("rows", optional=True).check(about.get("rows"), f"{where}: rows")
    return qi, sensitive, L.check(about.get("l"), f"{where}: l"), checked, rows


def verify_certificate(data: Microdata | Contingency, certificate: Certificate, l: int) -> int:
    """Recompute a certificate's bound from the table, trusting nothing of the solver; returns the bound it proves.

    Integers throughout. O(patterns * cells log cells) for prices, O(2^d * cells) for counting. The bound of an exhaustive search cannot be
    recomputed: what prices or counting prove is returned then.

    Raises
    ------
    InputError
        The prices do not fit the table or l, or are none.
    NotEligibleError
        The table has no l-diverse release at all.
    """
    l = validate_l(l)
    c = data.contingency if isinstance(data, Microdata) else data
    if not isinstance(c, Contingency) or not isinstance(certificate, Certificate):
        raise InputError(f"a table and a Certificate are needed, not {shown(data)} and {shown(certificate)}")
    require_eligible(c, l)
    if certificate.prices is None:
        return star_bound(c, l)
    bound = prove(c, certificate.prices, l)
    return max(bound, star_bound(c, l)) if certificate.proof == "exact" else bound


def prove(contingency: Contingency, prices: Prices, l: int) -> int:
    """The stars that every release has at least, by these prices.

    For any prices w >= 0 every release has at least the sum over cells of rows * min over patterns of (stars + l w - W): the theorem is in
    docs/near-optimal.md. A pattern without prices has more than `most` stars, so at least those of its most + 1 lightest attributes.

    Raises
    ------
    InputError
        Prices that are no whole numbers of at least 0, too large to be added up, of another l, or not of this table.
    """
    c, d = contingency, contingency.d
    if not isinstance(prices, Prices):
        raise InputError(f"prices must be Prices, not {shown(prices)}")
    if prices.l != l or isinstance(prices.l, bool):
        raise InputError(f"the certificate is for l = {shown(prices.l)}, not {l}")
    most = Whole("most", least=1, most=d).check(prices.most, "the certificate does not fit this table: most")
    weights = [int(w) for w in c.weights]
    expected = sum(comb(d, k) for k in range(most + 1)) + (most < d)
    if not isinstance(prices.values, (list, tuple)) or len(prices.values) != expected:
        given = len(prices.values) if isinstance(prices.values, (list, tuple)) else shown(prices.values)
        raise InputError(f"the certificate does not fit this table: {expected:,} patterns have prices, not {given}")
    for k, value in enumerate(prices.values):
        _look(value, k, max(l, c.m), sum(weights))
    kept = [subset for size in range(d, -1, -1) if size >= d - most or size == 0 for subset in combinations(range(d), size)]
    kept.sort(key=lambda subset: sum(weights) - sum(weights[j] for j in subset))  # stable: else as they come
    cap = sum(sorted(weights)[: most + 1]) * UNIT if most < d - 1 else FITS
    least = np.full(len(c.count), cap, dtype=np.int64)
    columns = c.codes[c.group_of_cell]
    for k, (subset, value) in enumerate(zip(kept, prices.values, strict=True)):
        stars = sum(weights) - sum(weights[j] for j in subset)
        cost, item = _costs(c, columns, subset, value, l, stars, k)
        np.minimum(least, np.where(item >= 0, cost[item], FITS), out=least)
    total = dot(c.count, least)
    return max(0, -(-total // UNIT))


def _look(value: Any, pattern: int, many: int, weight: int) -> None:
    """That an array holds prices of which so many (a group has at most m, and one is taken l times) can be added up in 64 bits."""
    where = f"the certificate's prices of pattern {pattern}"
    if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype != np.int64 or not len(value):
        kind = f"{value.dtype} of shape {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__
        raise InputError(f"{where} must be a list of int64, not {kind}")
    if value.min() < 0:
        raise InputError(f"{where} must be at least 0, not {int(value.min())}")
    if int(value.max()) * many + weight * UNIT >= FITS:
        raise InputError(f"{where} are too large to be added up: up to {int(value.max()):,}")


def _costs(
    c: Contingency, columns: NDArray[np.int32], subset: tuple[int, ...], value: NDArray[np.int64], l: int, stars: int, pattern: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What a row pays in each item of a pattern, and the item of each cell; -1 where no release can have the cell's rows in this pattern.

    A group with fewer than l SA values holds no row, whatever the release: in an l-eligible part every value has at most 1/l.
    """
    head = _numbered([columns[:, j] for j in subset], [c.sizes[j] for j in subset], len(columns))
    groups = int(head.max(initial=-1)) + 1
    pair, at = np.unique(head * np.int64(c.m) + c.sensitive, return_inverse=True)  # groups and m are below 2**31
    of_pair = pair // c.m
    alive = (np.bincount(of_pair, minlength=groups) >= l)[of_pair]
    items = int(np.count_nonzero(alive))
    if len(value) != items + 1:
        raise InputError(f"the certificate does not fit this table: pattern {pattern} needs {items + 1:,} prices, not {len(value):,}")
    number = np.where(alive, np.cumsum(alive) - 1, -1)
    if not items:
        return np.zeros(1, dtype=np.int64), number[at.ravel()]
    group = of_pair[alive]
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    worth = np.repeat(np.add.reduceat(value[:items], starts), np.diff(np.append(starts, items)))
    return stars * UNIT + l * value[:items] - worth, number[at.ravel()]


def _numbered(columns: list[NDArray[np.int32]], sizes: list[int], n: int) -> NDArray[np.int64]:
    """The distinct tuples of some columns numbered in lexicographic order."""
    number, span = np.zeros(n, dtype=np.int64), 1
    for column, size in zip(columns, sizes, strict=True):
        if span * size >= FITS:
            number = np.unique(number, return_inverse=True)[1].ravel().astype(np.int64)
            span = int(number.max(initial=0)) + 1
        number = number * size + column
        span *= size
    return np.unique(number, return_inverse=True)[1].ravel().astype(np.int64) if prod(sizes) > 1 else number
