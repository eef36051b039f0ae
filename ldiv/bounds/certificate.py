"""Certificates, and their file: private, because prices tell about the microdata.

The file is a zip archive of

* ``PRIVATE.txt``: that it must not be published, for whoever looks inside;
* ``head.npy``: JSON as bytes: ``stars``, ``bound``, ``proof``, ``l``, ``k``, ``most``, ``price_k``, ``protected``, ``highest``, ``persons``, of releases along hierarchies ``loss``, ``losses`` and
  ``trees``, and what else was to stand beside them;
* ``price.npy``: one int64 a cell of the table, in units of 2**-20 star;
* ``combinations.npy``, of some releases along hierarchies: which combinations of levels were looked at.

A cell is a combination of quasi-identifiers and SA value that the table has; cells stand in lexicographic order.
"""

from __future__ import annotations

import json
import math
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.arguments import LOSS, MOST_VALUES, Choice, L, Number, Whole, shown
from ldiv.errors import InputError
from ldiv.table.files import atomic
from ldiv.table.html import table_html

__all__ = ["WHOLE_STAR", "Certificate", "Prices", "load_certificate", "save_certificate"]

WHOLE_STAR = 10_000  # what nodes lose is in units of 1 / WHOLE_STAR of a star of weight 1

MODE = 0o600  # nobody else may read it
MOST_HEAD = 16 << 20
PRIVATE = """This certificate is PRIVATE: do not publish it.

It proves how near to optimal a release is to whoever has the microdata. Its prices depend on every value of the microdata, so that with the
release it tells starred values. What may be published are two numbers: the stars of the release, and the bound.
"""
STARS, BOUND, K = Whole("stars"), Whole("bound"), Whole("k", least=1, most=1 << 62)
MOST_ATTRIBUTES = 1 << 20
PROOF = Choice("proof", of=("counting", "prices", "exact"))


@dataclass(frozen=True)
class Prices:
    """Prices that prove a bound, one a cell: no release has fewer stars than all rows are worth, less what the QI-groups gain at most.

    Attributes
    ----------
    l : int
    value : ndarray of int64, shape (C,)
        What a row of each cell is worth, in units of 2**-20 star.
    most : int
        Groups with more stars a row are left out (the all-star group is always there): worth more than these cost a row can not be, which the bound
        allows for.
    k : int
        The least size of a group.
    protected : tuple of int
        Quasi-identifiers, by position, that no release stars: what is proven is proven of these releases.
    highest : tuple of int
        The highest level of its hierarchy that each of these shows, its values by default.
    loss : str or None
        Of releases along hierarchies: what a node loses (``"ncp"``, ``"level"``, or ``"own"`` for a table of losses), in parts of a star; `most` is then the
        number of combinations of levels that are not left out. None for suppression.
    losses : mapping of column to mapping of node's text to number, optional
        With ``"own"``: the table of losses.
    trees : mapping of column to str
        The fingerprint of each column's hierarchy (:attr:`ldiv.Domain.fingerprint`), where it has one.
    combinations : ndarray of int64 or None
        Of releases along hierarchies: the combinations of levels that are not left out, ascending, as numbers whose digits are the levels (the first
        attribute's by name counts most; the star is the last level); in the others no row is worth more than it loses. None where none is left out.
    """

    l: int
    value: NDArray[np.int64]
    most: int
    k: int = 1
    protected: tuple[int, ...] = ()
    loss: str | None = None
    losses: Mapping[Any, Mapping[str, float]] | None = None
    trees: Mapping[Any, str] = field(default_factory=dict)
    combinations: NDArray[np.int64] | None = None
    highest: tuple[int, ...] = ()


@dataclass(frozen=True)
class Certificate:
    """How near to optimal a release is, and how that was proved.

    Attributes
    ----------
    stars : int
        Stars of the release, each times its attribute's weight; of a release along hierarchies what its nodes and stars lose, in units of 1 / `unit` star.
    bound : int
        No l-diverse release by suppression has fewer; none along the same hierarchies loses less, in the same units.
    proof : {"counting", "prices", "exact"}
        Which bound: the instant one; the dual one, by prices; or an exhaustive search, which nobody can check again without searching again.
    prices : Prices or None
        The dual bound's proof; with the table it proves the bound to whoever recomputes it. Of an exact search: the best that is proved without it.
    k : int
        The least size of a group in the releases that it is about.
    persons : text or int, optional
        The column that says whose a row is, where it is about releases that publish all rows of a person alike.

    Raises
    ------
    InputError
        Numbers that are none, or another proof.
    """

    stars: int
    bound: int
    proof: str
    prices: Prices | None = field(default=None, repr=False)
    k: int = 1
    persons: Any = None

    def __post_init__(self) -> None:
        checked = {"stars": STARS.check(self.stars), "bound": BOUND.check(self.bound), "proof": PROOF.check(self.proof), "k": K.check(self.k)}
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if not isinstance(self.persons, str | int | None) or isinstance(self.persons, bool):
            raise InputError(f"persons must be the name of a column, not {shown(self.persons)}")
        if not isinstance(self.prices, Prices | None) or (self.proof == "prices") > (self.prices is not None):
            raise InputError(f"prices must be Prices where they are the proof, not {shown(self.prices)}")

    @property
    def loss(self) -> str | None:
        """What a node loses, of a release along hierarchies; None of one by suppression."""
        return self.prices.loss if self.prices is not None else None

    @property
    def unit(self) -> int:
        """How many of what `stars` and `bound` count make a star: 1, or 10,000 along hierarchies."""
        return 1 if self.loss is None else WHOLE_STAR

    def count(self, number: int) -> str:
        """A number of stars, or of what nodes lose in stars, for people."""
        return f"{number:,}" if self.unit == 1 else f"{number / self.unit:,.1f}"

    @property
    def contradiction(self) -> bool:
        """Fewer stars than the bound, which no release has: one of the two is wrong."""
        return self.stars < self.bound

    @property
    def ratio(self) -> float:
        """stars / bound: at most this far from optimal; 1 where both are 0, infinity where only the bound is.

        Raises
        ------
        InputError
            Fewer stars than the bound.
        """
        if self.contradiction:
            raise InputError(
                f"a contradiction, not a ratio: {self.count(self.stars)} stars, fewer than the bound of {self.count(self.bound)} that no release is below"
            )
        return self.stars / self.bound if self.bound else (1.0 if not self.stars else math.inf)

    def _repr_html_(self) -> str:
        """Stars, bound, ratio and proof, for notebooks."""
        what, least = ("stars", "no release has fewer than") if self.loss is None else (f"stars lost ({self.loss})", "no release loses less than")
        shown: list[object] = [self.stars, self.bound] if self.unit == 1 else [self.count(self.stars), self.count(self.bound)]
        rows: list[tuple[str, object]] = [(what, shown[0]), (least, shown[1]), ("proof", self.proof)]
        if not self.contradiction:
            rows.insert(2, ("ratio", f"{self.ratio:.4f}"))
        return table_html("a contradiction" if self.contradiction else "certificate (private)", [], rows)

    def __str__(self) -> str:
        if self.contradiction:
            return f"{self.count(self.stars)} stars against a bound of {self.count(self.bound)}: a contradiction, one of the two is wrong"
        which = " that stars no protected column" if self.prices is not None and self.prices.protected else ""
        which += " and keeps to its levels" if self.prices is not None and any(self.prices.highest) else ""
        which += f" with groups of at least {self.k:,} rows" if self.k > 1 else ""
        which += f" that publishes the rows of one {self.persons} alike" if self.persons is not None else ""
        claim = f"(ratio {self.ratio:.4f}, proof: {self.proof})"
        if self.loss is not None:
            lost, least = self.count(self.stars), self.count(self.bound)
            return f"nodes and stars lose as much as {lost} stars (loss {self.loss}), no release along these hierarchies{which} loses less than {least} {claim}"
        by = " by suppression" if self.proof == "counting" else ""  # which any algorithm's release may be compared with
        return f"{self.stars:,} stars, no release{by}{which} has fewer than {self.bound:,} {claim}"


def save_certificate(certificate: Certificate, path: str | Path, **about: Any) -> None:
    """Write a certificate (.npz): stars, bound, proof, prices, and what else should stand beside it (columns, l ...).

    The file is for the owner of the microdata alone: with the release it tells starred values (docs/near-optimal.md). Only its owner can read it
    (mode 600), and it says so inside; a name ending in ``.private.npz`` says so outside.

    Parameters
    ----------
    certificate : Certificate
    path : path-like
    **about
        What JSON can hold. :func:`ldiv.bounds.proof.certify` needs ``qi``, ``sensitive`` (all of them, in the order in which they were given) and ``l``.

    Raises
    ------
    InputError
        Something that JSON cannot hold.
    """
    if not isinstance(certificate, Certificate):
        raise InputError(f"certificate must be a Certificate, not {shown(certificate)}")
    prices = certificate.prices
    head = {
        "stars": certificate.stars,
        "bound": certificate.bound,
        "proof": certificate.proof,
        "l": prices.l if prices else None,
        "k": certificate.k,
        **({"most": prices.most, "price_k": prices.k, "protected": list(prices.protected)} if prices else {}),
        **({"highest": list(prices.highest)} if prices and prices.highest else {}),
        **({} if certificate.persons is None else {"persons": certificate.persons}),
        **(_along(prices) if prices and prices.loss is not None else {}),
        **about,
        "private": PRIVATE.splitlines()[0],
    }
    try:
        text = json.dumps(head, sort_keys=True).encode()
    except (TypeError, ValueError) as error:
        raise InputError(f"what stands beside a certificate must be text, numbers and lists of them: {error}") from None
    arrays = {"head": np.frombuffer(text, dtype=np.uint8), **({"price": prices.value} if prices else {})}
    if prices is not None and prices.combinations is not None:
        arrays["combinations"] = prices.combinations
    with atomic(Path(path), mode=MODE) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(zipfile.ZipInfo("PRIVATE.txt"), PRIVATE)
        for name, array in arrays.items():
            with packed.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)


def _along(prices: Prices) -> dict[str, Any]:
    """What stands in a head of the hierarchies: pairs, since JSON's names are text and those of columns need not be."""
    own = prices.losses
    losses = None if own is None else [[name, {str(node): float(x) for node, x in table.items()}] for name, table in own.items()]
    return {"loss": prices.loss, "losses": losses, "trees": [[name, tree] for name, tree in prices.trees.items()]}


def load_certificate(path: str | Path) -> tuple[Certificate, dict[str, Any]]:
    """Read a certificate and what stands beside it; nothing in it is believed but its form.

    Raises
    ------
    InputError
        Not a certificate: whatever else the file is, however damaged.
    """
    if not Path(path).is_file():
        raise InputError(f"no certificate file {str(path)!r}")
    try:
        return _load(Path(path))
    except InputError as error:
        raise InputError(f"{path}: not a certificate: {error}") from None
    except Exception as error:  # noqa: BLE001  bytes of strangers: zlib, zipfile, tokenize, json and numpy have an error each
        raise InputError(f"{path}: not a certificate: {type(error).__name__}: {shown(str(error))}") from error


def _load(path: Path) -> tuple[Certificate, dict[str, Any]]:
    with zipfile.ZipFile(path) as packed:
        names = {name for name in packed.namelist() if name != "PRIVATE.txt"}
        if names - {"price.npy", "combinations.npy"} != {"head.npy"} or len(packed.namelist()) > len(names) + 1:
            raise InputError(f"it holds {shown(packed.namelist())}")
        head = json.loads(_array(packed, "head.npy", np.uint8, MOST_HEAD).tobytes())
        if not isinstance(head, dict):
            raise InputError(f"its head is {shown(head)}")
        value, chosen = (_array(packed, name, np.int64, MOST_VALUES) if name in names else None for name in ("price.npy", "combinations.npy"))
    about = dict(head)
    l = head.get("l")
    if l is not None:
        l = L.check(l)
    prices = None
    if value is not None:
        protected = head.get("protected", [])
        levels = head.get("highest", [])
        for given in (protected, levels):
            if not isinstance(given, list) or len(given) > MOST_ATTRIBUTES:
                raise InputError(f"its protected columns are {shown(given)}")
        most = Whole("most", least=1, most=MOST_ATTRIBUTES).check(head.get("most"))
        position = Whole("protected", most=MOST_ATTRIBUTES)
        along = _read_along(head) if head.get("loss") is not None else {}
        kept, highest = (tuple(position.check(j) for j in given) for given in (protected, levels))
        prices = Prices(L.check(l), value, most, K.check(head.get("price_k", head.get("k", 1))), kept, **along, combinations=chosen, highest=highest)
    proof = PROOF.check(head.get("proof"))
    if proof == "counting" and prices is not None:
        raise InputError("a bound by counting has no prices")
    return Certificate(head.get("stars"), head.get("bound"), proof, prices, head.get("k", 1), head.get("persons")), about  # type: ignore[arg-type]


def _read_along(head: Mapping[str, Any]) -> dict[str, Any]:
    """What a head says of hierarchies, by its form."""
    loss, losses, trees = head.get("loss"), head.get("losses"), head.get("trees") or []
    if loss != "own":
        loss = LOSS.check(loss)
    if (loss == "own") != (losses is not None):
        raise InputError("a table of losses belongs to a loss of one's own, and that needs one")
    for pair in [*(losses or []), *trees]:
        if not isinstance(pair, list) or len(pair) != 2 or not isinstance(pair[0], (str, int)):
            raise InputError(f"its hierarchies are said by pairs of column and what it has, not {shown(pair)}")
    part = Number("loss", least=0, most=1)
    for name, table in losses or []:
        if not isinstance(table, dict):
            raise InputError(f"the losses of {shown(name)} are {shown(table)}")
        table.update({node: part.check(x, f"loss of {shown(name)}, {shown(node)}") for node, x in table.items()})
    if not all(isinstance(tree, str) for _, tree in trees):
        raise InputError(f"its fingerprints of hierarchies are {shown(trees)}")
    return {"loss": loss, "losses": None if losses is None else dict(map(tuple, losses)), "trees": dict(map(tuple, trees))}


def _array(packed: zipfile.ZipFile, name: str, dtype: Any, most: int) -> NDArray[Any]:
    """One array of one dimension, its size looked at before its data."""
    with packed.open(name) as member:
        version = np.lib.format.read_magic(member)
        if version != (1, 0):
            raise InputError(f"{name} is of version {version}")
        shape, _, kind = np.lib.format.read_array_header_1_0(member)
        if kind != np.dtype(dtype) or len(shape) != 1 or not 0 <= shape[0] <= most:
            raise InputError(f"{name} has shape {shown(shape)} of {kind}, not one dimension of {np.dtype(dtype)}")
        size = shape[0] * kind.itemsize
        if size > packed.getinfo(name).file_size:
            raise InputError(f"{name} is shorter than it says")
        data = member.read(size + 1)
    if len(data) != size:
        raise InputError(f"{name} is not as long as it says")
    return np.frombuffer(data, dtype=dtype)
