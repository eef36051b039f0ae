"""The checker of certificates: trusts neither the solver nor the file, and shares no code with the solver.

Everything a certificate says is compared with the table before anything is built from it, and no sum can wrap: 64 bits are used only where the
largest number, times everything it is multiplied by, certainly fits; else Python's integers. docs/near-optimal.md has the theorem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.arguments import Whole, shown
from ldiv.bounds.about import alike, subject
from ldiv.bounds.certificate import Certificate, Prices, load_certificate
from ldiv.bounds.counting import star_bound
from ldiv.bounds.levels import Levels
from ldiv.bounds.verdict import Verdict
from ldiv.errors import InputError
from ldiv.privacy.persons import Persons, persons_of
from ldiv.privacy.requirement import require_eligible, validate_k, validate_l
from ldiv.table.contingency import Contingency
from ldiv.table.microdata import Microdata

__all__ = ["Verdict", "certify", "judge", "prove", "verify_certificate"]

UNIT = 1 << 20  # prices are in units of 1 / UNIT star
K = Whole("k", least=1, most=1 << 62)
LEVEL = Whole("the certificate's level of a protected column", least=0, most=1 << 20)
FITS = 1 << 62


def certify(frame: Any, certificate: str | Path, hierarchies: Mapping[Any, Any] | None = None) -> Verdict:
    """Prove a certificate's bound again from the microdata.

    Parameters
    ----------
    frame : any table that :func:`ldiv.anonymize` takes
        The microdata the certificate is about.
    certificate : path-like
        A file that :func:`ldiv.save_certificate` wrote with ``qi=``, ``sensitive=`` (a list, where there were several) and ``l=`` beside it.
    hierarchies : mapping of column to hierarchy, optional
        Of a release along hierarchies: what :func:`ldiv.anonymize` was given.

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
    kinds = {"qi": "value", "sensitive": "value"}
    tables = [Microdata.from_frame(frame, qi, name, missing=kinds, keep=False).with_hierarchies(hierarchies or {}) for name in sensitive or [None]]
    return judge(tables, claim, about, certificate, None if claim.persons is None else persons_of(frame, claim.persons))


def judge(tables: Sequence[Microdata], claim: Certificate, about: dict[str, Any], where: str | Path, persons: Persons | None = None) -> Verdict:
    """What a certificate, and what stands beside it, is worth for a table that was read with its columns, once for each sensitive column: prices are those of
    the first, and what counting proves of one holds for releases that are l-diverse in all. `persons` are those whose rows these releases publish alike."""
    qi, sensitive, l, weights, rows = subject(about, where)
    data = tables[0]
    k = K.check(about.get("k", 1), f"{where}: k")
    if rows is not None and rows != data.n:
        raise InputError(f"{where}: the certificate is of a table with {rows:,} rows, this one has {data.n:,}")
    judged = [table.weighted(weights) if weights else table for table in (tables if claim.prices is None else tables[:1])]
    proven = max(verify_certificate(table, claim, l, k) for table in judged)
    proven = proven if persons is None else max(proven, alike(judged[0], persons))
    protected = tuple(qi[j] for j in claim.prices.protected) if claim.prices is not None else ()
    levels = claim.prices.highest if claim.prices is not None else ()
    highest = {name: level for name, level in zip(protected, levels, strict=False) if level}
    target = sensitive[0] if len(sensitive) == 1 else tuple(sensitive) or None
    about_it = (l, tuple(qi), target, weights, claim.stars, claim.bound, claim.proof, proven, data.n, protected, k, claim.loss, claim.unit)
    return Verdict(*about_it, claim.persons, highest)


def verify_certificate(data: Microdata | Contingency, certificate: Certificate, l: int, k: int | None = None) -> int:
    """Recompute a certificate's bound from the table, trusting nothing of the solver; returns the bound it proves.

    Integers throughout. O(patterns * cells log rows) for prices, O(2^d * cells) for counting. The bound of an exhaustive search cannot be
    recomputed: what prices or counting prove is returned then. It is about releases with at least `k` rows a group; by default what the prices say.

    Raises
    ------
    InputError
        The prices do not fit the table, l or k, or are none.
    NotEligibleError
        The table has no l-diverse release at all.
    """
    l = validate_l(l)
    c = data.contingency if isinstance(data, Microdata) else data
    if not isinstance(c, Contingency) or not isinstance(certificate, Certificate):
        raise InputError(f"a table and a Certificate are needed, not {shown(data)} and {shown(certificate)}")
    prices, k = certificate.prices, None if k is None else validate_k(k)
    require_eligible(c, l, k or 1)
    if prices is None:
        return star_bound(c, l, k or 1)
    bound = prove(c, prices, l)
    if k is not None and prices.k > max(k, l):  # it says nothing of smaller groups
        raise InputError(f"the certificate is for groups of at least {prices.k:,} rows, not {k:,}")
    return max(bound, star_bound(c, l, k or prices.k)) if certificate.proof == "exact" else bound


def prove(contingency: Contingency, prices: Prices, l: int) -> int:
    """The stars that every release has at least, by these prices.

    For any prices y every release has at least sum over cells of rows * y less, for each QI-group that could be published, the most that an l-eligible
    set of its rows (of at least k) brings at y - stars a row, or nothing: docs/near-optimal.md has the theorem, which is one line. Groups that are left
    out have more than `most` stars, so at least those of its most + 1 lightest attributes: no row is thought to be worth more.

    Of releases along hierarchies stars are what nodes lose, and groups are those of all combinations of levels; where some are left out, no row is worth more
    than it loses in one of these.

    Raises
    ------
    InputError
        Prices that are no whole numbers, of another l, or not of this table.
    """
    c, d = contingency, contingency.d
    if not isinstance(prices, Prices):
        raise InputError(f"prices must be Prices, not {shown(prices)}")
    if prices.l != l or isinstance(prices.l, bool):
        raise InputError(f"the certificate is for l = {shown(prices.l)}, not {l}")
    k = K.check(prices.k, "the certificate's k")
    if not isinstance(prices.protected, (list, tuple)):
        raise InputError(f"the certificate's protected columns must be positions, not {shown(prices.protected)}")
    position = Whole("protected", most=d - 1)
    columns = [position.check(j, "the certificate does not fit this table: protected") for j in prices.protected]
    highest = [LEVEL.check(level) for level in prices.highest or [0] * len(columns)]
    if len(highest) != len(columns) or (prices.loss is None and any(highest)):
        raise InputError("the certificate's levels of protected columns do not belong to these columns, or not to hierarchies")
    protected = dict(zip(columns, highest, strict=True))
    hierarchies = None if prices.loss is None else Levels(c, prices, protected)
    largest_most = d if hierarchies is None else hierarchies.vectors
    most = Whole("most", least=1, most=largest_most).check(prices.most, "the certificate does not fit this table: most")
    value = prices.value
    if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype != np.int64:
        kind = f"{value.dtype} of shape {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__
        raise InputError(f"the certificate's prices must be a list of int64, not {kind}")
    if len(value) != len(c.count):
        raise InputError(f"the certificate does not fit this table: {len(c.count):,} cells need a price each, not {len(value):,}")
    patterns: Iterable[tuple[list[NDArray[Any]], list[int], Any]]
    cap: int | NDArray[np.int64] | None
    if hierarchies is None:
        weights = [int(w) for w in c.weights]
        free = [j for j in range(d) if j not in protected]
        cap = sum(sorted(weights[j] for j in free)[: most + 1]) if len(free) > most + 1 else None
        patterns, dearest = _starred(c, free, most), sum(weights)
    else:
        chosen, cap = hierarchies.chosen(prices)
        if most != (largest_most if prices.combinations is None else len(prices.combinations)):
            raise InputError(f"the certificate does not fit this table: its combinations of levels are not {most:,}")
        patterns, dearest = map(hierarchies.at, chosen), sum(hierarchies.star)
    if cap is not None:
        value = np.where(value // UNIT >= cap, cap * UNIT, value)  # the product fits where it is taken
    largest = max([abs(int(x)) for x in (value.min(initial=0), value.max(initial=0))]) + dearest * UNIT
    exact = np.dtype(np.int64) if largest * max(c.n, 1) * 4 < FITS else np.dtype(object)
    price, count = value.astype(exact), c.count.astype(exact)
    total = int((price * count).sum()) if len(price) else 0
    for columns, sizes, loss in patterns:
        profit = price - np.asarray(loss).astype(exact) * UNIT
        total -= _gains(_numbered(columns, sizes, len(price)), c.sensitive, count, profit, l, k)
    return max(0, -(-total // UNIT))


def _starred(c: Contingency, free: list[int], most: int) -> Iterator[tuple[list[NDArray[np.int32]], list[int], int]]:
    """Of each choice of starred attributes, at most so many or all: the columns that are kept, their sizes, and what a row pays."""
    columns = c.codes[c.group_of_cell]
    for size in range(len(free) + 1):
        if size > most and size < len(free):
            continue
        for starred in combinations(free, size):
            kept = [j for j in range(c.d) if j not in starred]
            yield [columns[:, j] for j in kept], [c.sizes[j] for j in kept], sum(int(c.weights[j]) for j in starred)


def _gains(group: NDArray[np.int64], sensitive: NDArray[np.int32], count: NDArray[Any], profit: NDArray[Any], l: int, k: int) -> int:
    """What all groups together gain by their best l-eligible sets of at least k rows.

    The best set of height h takes rows by falling profit, at most h of a value, while they bring something or fewer than max(l h, k) are taken. It is a flow
    whose bounds are linear in h, so its value is concave in h, and halving finds the best h; heights at which there are rows enough are an interval.
    """
    paying = np.zeros(int(group.max(initial=-1)) + 1, dtype=bool)
    paying[group[profit > 0]] = True
    chosen = np.flatnonzero(paying[group])  # a group without a row that brings something gains nothing
    if not len(chosen):
        return 0
    order = (
        chosen[np.lexsort((-profit[chosen], group[chosen]))]
        if profit.dtype != object
        else chosen[_by_group_and_profit(group[chosen], profit[chosen])]
    )
    count, profit = count[order], profit[order]
    of = np.unique(group[order], return_inverse=True)[1].ravel()
    starts = np.flatnonzero(np.diff(of, prepend=-1))
    # Rows of the same SA value in the same group that stand before: with h of them at the most, they are taken first.
    item = np.unique(np.stack([of, sensitive[order]], axis=1), axis=0, return_inverse=True)[1].ravel()
    by_item = np.argsort(item, kind="stable")
    firsts = np.flatnonzero(np.diff(item[by_item], prepend=-1))
    before = np.empty_like(count)
    before[by_item] = _exclusive(count[by_item], firsts)
    of_item, rows_of_item = of[by_item][firsts], np.add.reduceat(count[by_item], firsts)
    first_items = np.flatnonzero(np.diff(of_item, prepend=-1))

    def there(h: NDArray[Any]) -> NDArray[Any]:
        """How many rows a set of height h can have."""
        return np.add.reduceat(np.minimum(rows_of_item, h[of_item]), first_items)

    def worth(h: NDArray[Any]) -> NDArray[Any]:
        take = np.minimum(np.maximum(h[of] - before, 0), count)
        need = np.maximum(l * h, k)[of] - _exclusive(take, starts)
        take = np.where(profit > 0, take, np.minimum(take, np.maximum(need, 0)))
        return np.add.reduceat(take * profit, starts)

    top = np.maximum.reduceat(rows_of_item, first_items)
    zero = top * 0
    high = _last(lambda h: there(h) >= l * h, zero, top)
    low = _last(lambda h: there(h) < k, zero, top) + 1
    able = low <= high
    low = np.minimum(low, high)
    while (low < high).any():
        middle = (low + high) // 2
        rising = worth(middle + 1) > worth(middle)
        low, high = np.where(rising & (low < high), middle + 1, low), np.where(rising, high, middle)
    return int(np.maximum(worth(high), 0)[able].sum())


def _last(holds: Callable[[NDArray[Any]], NDArray[np.bool_]], low: NDArray[Any], high: NDArray[Any]) -> NDArray[Any]:
    """The last of low .. high at which something holds that holds at `low` and, once it does not, no more."""
    while (low < high).any():
        middle = low + (high - low + 1) // 2
        good = holds(middle)
        low, high = np.where(good, middle, low), np.where(good, high, np.maximum(middle - 1, low))
    return low


def _exclusive(x: NDArray[Any], starts: NDArray[np.int64]) -> NDArray[Any]:
    """The sum of what stands before, within each run that begins at `starts`."""
    running: NDArray[Any] = np.cumsum(x) - x
    running -= np.repeat(running[starts], np.diff(np.append(starts, len(x))))
    return running


def _by_group_and_profit(group: NDArray[np.int64], profit: NDArray[Any]) -> list[int]:
    """As lexsort((-profit, group)), for numbers beyond 64 bits."""
    return sorted(range(len(group)), key=lambda i: (int(group[i]), -int(profit[i])))


def _numbered(columns: list[NDArray[Any]], sizes: list[int], n: int) -> NDArray[np.int64]:
    """The distinct tuples of some columns numbered in lexicographic order."""
    number, span = np.zeros(n, dtype=np.int64), 1
    for column, size in zip(columns, sizes, strict=True):
        if span * size >= FITS:
            number = np.unique(number, return_inverse=True)[1].ravel().astype(np.int64)
            span = int(number.max(initial=0)) + 1
        number = number * size + column
        span *= size
    return np.unique(number, return_inverse=True)[1].ravel().astype(np.int64) if prod(sizes) > 1 else number
