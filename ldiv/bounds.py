"""Lower bounds that every release obeys, and certificates that anyone can check again."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from ldiv import _contingency
from ldiv._tp import phase_one
from ldiv.contingency import Contingency
from ldiv.errors import InputError
from ldiv.files import atomic
from ldiv.microdata import Microdata
from ldiv.prices import Market, Prices
from ldiv.privacy import validate_l

__all__ = ["Certificate", "load_certificate", "save_certificate", "star_bound", "tuple_bound", "verify_certificate"]


SUBSETS = 1000              # more choices of k attributes than this are too many to look at


@dataclass(frozen=True)
class Certificate:
    """How near to optimal a release is, and how that was proved.

    Attributes
    ----------
    stars : int
        Stars of the release, each times its attribute's weight.
    bound : int
        No l-diverse release by suppression has fewer.
    proof : {"counting", "prices"}
        Which bound: the instant one, or the dual one.
    prices : Prices or None
        The dual bound's proof; with the table it proves the bound to whoever recomputes it.
    """

    stars: int
    bound: int
    proof: str
    prices: Prices | None = None

    @property
    def ratio(self) -> float:
        """stars / bound: at most this far from optimal; 1 where both are 0, infinity where only the bound is."""
        return self.stars / self.bound if self.bound else (1.0 if not self.stars else math.inf)

    def __str__(self) -> str:
        return f"{self.stars:,} stars, no release has fewer than {self.bound:,} (ratio {self.ratio:.4f}, proof: {self.proof})"


def tuple_bound(data: Microdata | Contingency, l: int) -> int:
    """A lower bound on suppressed rows: ``max(|R1|, l * h(R1))``, R1 what phase one removes.

    Parameters
    ----------
    data : Microdata or Contingency
        An l-eligible table.
    l : int

    Returns
    -------
    int

    Notes
    -----
    O(cells). The paper, section 5.1: R contains R1 whatever the release, and is l-eligible.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.Microdata.from_codes([[0], [0], [0], [1]], [0, 0, 1, 1])
    >>> ldiv.tuple_bound(data, 2)       # one row must go, and it needs a partner
    2
    """
    l = validate_l(l)
    c = data.contingency if isinstance(data, Microdata) else data
    kept = np.empty_like(c.count)
    phase_one(c.indptr, c.count, l, kept)
    residue = _contingency.tally(c.sensitive, c.m, c.count - kept)
    return int(max(residue.sum(), l * residue.max(initial=0)))


def star_bound(data: Microdata | Contingency, l: int) -> int:
    """The instant lower bound on stars, by counting.

    A row has at most k stars only if some choice of d - k kept attributes puts it in a group whose phase one keeps rows of its value.
    Let U_k,v be the most rows of value v for which that can hold, and U_k their sum, capped by n. The rows with more than k stars are
    themselves l-eligible, so there are at least max(n - U_k, l * max_v (n_v - U_k,v)) of them; the bound sums over k.

    Parameters
    ----------
    data : Microdata or Contingency
        An l-eligible table.
    l : int

    Returns
    -------
    int

    Notes
    -----
    O(2^d * cells). The dual bound of ``lagrangian`` is far better; this one takes a moment.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.Microdata.from_codes([[0, 0], [0, 0], [1, 1], [1, 1]], [0, 0, 1, 1])
    >>> ldiv.star_bound(data, 2), ldiv.solve(data, 2).stars
    (8, 8)
    """
    l = validate_l(l)
    c = data.contingency if isinstance(data, Microdata) else data
    total = c.histogram
    weights = np.sort(c.weights)        # a row with k stars pays at least the k least weights
    bound = 0
    for k in range(c.d):
        if math.comb(c.d, k) > SUBSETS:
            continue        # leaving a term out only lowers the bound
        reach = np.zeros(len(c.count), dtype=bool)      # cells of which some projection can keep a row
        kept_rows = np.zeros(c.m, dtype=np.int64)
        for subset in combinations(range(c.d), c.d - k):
            part, item = c.project(subset)
            kept = np.empty_like(part.count)
            phase_one(part.indptr, part.count, l, kept)
            reach |= kept[item] > 0
            kept_rows += _contingency.tally(part.sensitive, c.m, kept)
        able = np.minimum(np.minimum(kept_rows, total), _contingency.tally(c.sensitive, c.m, c.count * reach))
        more = total - able
        bound += int(weights[k] * max(more.sum(), l * more.max(initial=0)))
    return bound


def verify_certificate(data: Microdata | Contingency, certificate: Certificate, l: int) -> int:
    """Recompute a certificate's bound from the table, trusting nothing of the solver; returns the bound it proves.

    Integer arithmetic throughout. O(patterns * cells) for prices, O(2^d * cells) for counting.

    Raises
    ------
    InputError
        The prices do not fit the table or l.
    """
    c = data.contingency if isinstance(data, Microdata) else data
    if certificate.prices is None:
        return star_bound(c, l)
    if certificate.prices.l != l:
        raise InputError(f"the certificate is for l = {certificate.prices.l}, not {l}")
    try:
        return Market(c, l, certificate.prices.most).bound(certificate.prices)
    except (ValueError, IndexError) as error:
        raise InputError(f"the certificate does not fit this table: {error}") from error


def save_certificate(certificate: Certificate, path: str | Path, **about: Any) -> None:
    """Write a certificate (.npz): stars, bound, proof, prices, and what else should stand beside it (columns, l ...)."""
    prices = certificate.prices
    head = {
        "stars": certificate.stars, "bound": certificate.bound, "proof": certificate.proof,
        "l": prices.l if prices else None, "most": prices.most if prices else None, **about,
    }
    values = prices.values if prices else []
    with atomic(Path(path)) as stream:
        np.savez_compressed(
            stream, head=np.frombuffer(json.dumps(head, sort_keys=True).encode(), dtype=np.uint8),
            **{f"p{k}": value for k, value in enumerate(values)},     # type: ignore[arg-type]
        )


def load_certificate(path: str | Path) -> tuple[Certificate, dict[str, Any]]:
    """Read a certificate and what stands beside it.

    Raises
    ------
    InputError
        Not a certificate.
    """
    import zipfile

    if not Path(path).is_file():
        raise InputError(f"no certificate file {str(path)!r}")
    try:
        with np.load(Path(path), allow_pickle=False) as packed:
            head = json.loads(packed["head"].tobytes())
            values: Sequence[Any] = [packed[f"p{k}"] for k in range(len(packed.files) - 1)]
        prices = Prices(head["l"], head["most"], list(values)) if values else None
        return Certificate(head["stars"], head["bound"], head["proof"], prices), head
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise InputError(f"{path}: not a certificate: {error}") from error


