"""What a release shows of each attribute, numbered, and what share of a set of values each of it stands for: the form that all measures of answers read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ldiv.arguments import shown
from ldiv.errors import InputError
from ldiv.release.measures import subdomain_codes
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency
from ldiv.table.microdata import Microdata

__all__ = ["Shown", "shown_by"]

MOST_DOMAIN = 1 << 22  # values of a domain for which a share is kept


@dataclass(frozen=True)
class Shown:
    """Groups of rows that show the same, in the form of cells.

    Attributes
    ----------
    contingency : Contingency
        The table itself: domains, and true answers.
    kind : ndarray of int32, shape (G, d)
        What each group shows of each attribute, numbered by attribute.
    codes : tuple of lists of ndarray
        Of each attribute and number the codes it stands for.
    indptr, sensitive, rows : ndarray
        The SA values of each group, and how many rows have them; fractions where a release says so in expectation only.
    """

    contingency: Contingency
    kind: NDArray[np.int32]
    codes: tuple[list[NDArray[np.int64]], ...]
    indptr: NDArray[np.int64]
    sensitive: NDArray[np.int32]
    rows: NDArray[np.float64]

    @property
    def offset(self) -> NDArray[np.int64]:
        """Where each attribute's numbers begin when all stand in a row."""
        return np.cumsum([0, *map(len, self.codes)]).astype(np.int64)

    @property
    def sizes(self) -> NDArray[np.float64]:
        """Rows of each group."""
        return np.add.reduceat(self.rows, self.indptr[:-1]) if len(self.kind) else np.zeros(0)

    def shares(self, attribute: int, masks: NDArray[np.bool_]) -> NDArray[np.float64]:
        """What share of each thing shown lies in each set of codes, shape (sets, things); a star is spread evenly over the domain."""
        out = np.empty((len(masks), len(self.codes[attribute])))
        size = self.contingency.sizes[attribute]
        for k, codes in enumerate(self.codes[attribute]):
            out[:, k] = masks.mean(axis=1) if len(codes) == size else masks[:, codes[0]] if len(codes) == 1 else masks[:, codes].mean(axis=1)
        return out

    def spread(self, attribute: int) -> NDArray[np.float64]:
        """The share of each code in each thing shown, shape (things, size)."""
        out = np.zeros((len(self.codes[attribute]), self.contingency.sizes[attribute]))
        for k, codes in enumerate(self.codes[attribute]):
            out[k, codes] = 1 / len(codes)
        return out


def shown_by(what: Release | Microdata | Contingency | Shown) -> Shown:
    """What a release shows, or a table as it is.

    Raises
    ------
    InputError
        Something else, or a domain of millions of values.
    """
    if isinstance(what, Shown):
        return what
    if callable(tell := getattr(what, "shown", None)):  # a release of another kind says it itself: Anatomy
        return tell()  # type: ignore[no-any-return]
    if isinstance(what, Microdata):
        what = what.contingency
    if isinstance(what, Contingency):
        c, published, indptr, sensitive, count = what, what.codes, what.indptr, what.sensitive, what.count
    elif isinstance(what, Release):
        c, published, indptr, count = what.contingency, what.published, what.indptr, what.count
        sensitive = c.sensitive[what.cell]
    else:
        raise InputError(f"a release or a table is needed, not {shown(what)} ({type(what).__name__})")
    for domain in c.domains:
        if domain.size > MOST_DOMAIN:
            raise InputError(f"{domain.name!r} has {domain.size:,} values, more than {MOST_DOMAIN:,} over which a star could be spread: coarsen it")
    kinds, codes = [], []
    for j, size in enumerate(c.sizes):
        values, number = np.unique(published[:, j], return_inverse=True)
        kinds.append(number.ravel())
        codes.append([np.array([v]) if v >= 0 else subdomain_codes(what, j, int(v), size) for v in values.tolist()])  # type: ignore[arg-type]
    kind = np.stack(kinds, axis=1).astype(np.int32) if kinds else np.zeros((len(published), 0), dtype=np.int32)
    return Shown(c, np.ascontiguousarray(kind), tuple(codes), indptr, sensitive, count.astype(np.float64))
