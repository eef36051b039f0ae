"""Contingency: the distinct (QI, SA) cells of a table, in CSR over the groups of equal QI values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ldiv._kernels.cells as _cells
import ldiv._kernels.keys as _keys
import ldiv._kernels.release as _release
from ldiv.arguments import MOST_ROWS, MOST_VALUES, shown
from ldiv.errors import InputError
from ldiv.table.arrays import seal, total, whole
from ldiv.table.domain import Domain
from ldiv.table.html import short
from ldiv.table.ranking import DIRECT_SPAN, Codes, Counts, Index, rank_rows
from ldiv.table.rows import Rows

__all__ = ["Contingency"]


@dataclass(frozen=True, eq=False, repr=False)
class Contingency:
    """Cells in CSR: group g has the cells ``indptr[g] : indptr[g + 1]``, sorted by SA code.

    Everything is checked when one is built, and its arrays cannot be written to. All rows together may be as many as 2**62; no algorithm takes more
    time or space for more rows in the same cells.

    Attributes
    ----------
    codes : ndarray of int32, shape (s, d)
        QI codes of each group of equal rows, in ascending lexicographic order.
    indptr : ndarray of int64, shape (s + 1,)
    sensitive : ndarray of int32, shape (C,)
        SA code of each cell.
    count : ndarray of int64, shape (C,)
        Rows of each cell, at least 1.
    domains, sensitive_domain
        As in Microdata.

    Raises
    ------
    InputError
        Naming the array, the entry and what it may be; more than 2**62 rows.

    Examples
    --------
    >>> import ldiv
    >>> domains, disease = (ldiv.Domain("Age", 3),), ldiv.Domain("Disease", 2)
    >>> cells = ldiv.Contingency([[0], [1], [2]], [0, 2, 3, 4], [0, 1, 0, 1], [2**60, 2**60, 2, 2], domains, disease)
    >>> ldiv.solve(cells, 2).stars
    4
    """

    codes: Codes
    indptr: Counts
    sensitive: Codes
    count: Counts
    domains: tuple[Domain, ...]
    sensitive_domain: Domain
    data: Rows | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        domains, sensitive = tuple(self.domains) if isinstance(self.domains, Sequence) else None, self.sensitive_domain
        if not domains or not all(isinstance(x, Domain) for x in domains) or not isinstance(sensitive, Domain):
            raise InputError(f"domains must be a sequence of Domain and sensitive_domain a Domain, not {shown(self.domains)} and {shown(sensitive)}")
        sensitive.as_sensitive()
        codes = whole(self.codes, "codes", low=0, high=MOST_VALUES - 1, dtype=np.int32, shape=(None, len(domains)))
        target = whole(self.sensitive, "sensitive", low=0, high=sensitive.size - 1, dtype=np.int32)
        count = whole(self.count, "count", low=1, high=MOST_ROWS, shape=(len(target),))
        indptr = whole(self.indptr, "indptr", low=0, high=len(target), shape=(len(codes) + 1,))
        for j, domain in enumerate(domains):
            whole(codes[:, j], f"codes of {domain.name!r}", low=0, high=domain.size - 1, dtype=np.int32)
        if len(target) > MOST_VALUES:
            raise InputError(f"a table may have at most {MOST_VALUES:,} cells, not {len(target):,}")
        if indptr[0] != 0 or indptr[-1] != len(target) or (np.diff(indptr) < 1).any():
            raise InputError(f"indptr must ascend from 0 to the number of cells, {len(target):,}, and no group may be empty")
        if not _release.strictly_ascending(codes):
            raise InputError("codes must ascend, row by row: every group of equal rows stands once")
        inner = np.ones(len(target), dtype=bool)
        inner[indptr[:-1]] = False
        if (np.diff(target, prepend=0)[inner] < 1).any():
            raise InputError("sensitive must ascend in every group: every cell stands once")
        if (rows := total(count)) > MOST_ROWS:
            raise InputError(f"a table may have at most 2**62 = {MOST_ROWS:,} rows, not {rows:,}: sums of counts must fit 64 bits; divide all counts")
        self.__dict__.update(codes=codes, indptr=indptr, sensitive=target, count=count, domains=domains)
        if self.data is not None:
            same = self.data.contingency if isinstance(self.data, Rows) else None
            if same is None or any(not np.array_equal(getattr(same, x), getattr(self, x)) for x in ("codes", "indptr", "sensitive", "count")):
                raise InputError("data must be the Microdata whose cells these are, or None")

    @classmethod
    def _made(
        cls,
        codes: Codes,
        indptr: Counts,
        sensitive: Codes,
        count: Counts,
        domains: tuple[Domain, ...],
        sensitive_domain: Domain,
        data: Rows | None = None,
    ) -> Contingency:
        """One of arrays that this package has just made: nothing is looked at again."""
        seal(codes, indptr, sensitive, count)
        made = object.__new__(cls)
        made.__dict__.update(
            codes=codes, indptr=indptr, sensitive=sensitive, count=count, domains=domains, sensitive_domain=sensitive_domain, data=data
        )
        return made

    def __repr__(self) -> str:
        return f"<Contingency {self.n:,} rows in {len(self.count):,} cells, {self.groups:,} groups; QI {self.d}, sensitive {short(self.sensitive_domain.name)}>"

    @property
    def n(self) -> int:
        """Rows."""
        return int(self.count.sum())

    @property
    def d(self) -> int:
        return int(self.codes.shape[1])

    @property
    def m(self) -> int:
        """Size of the sensitive domain."""
        return self.sensitive_domain.size

    @property
    def groups(self) -> int:
        """Number of groups of equal QI values, the paper's s."""
        return len(self.indptr) - 1

    @cached_property
    def group_of_cell(self) -> Index:
        """The group of each cell."""
        group = np.repeat(np.arange(self.groups, dtype=np.int32), np.diff(self.indptr))
        seal(group)
        return group

    @property
    def sizes(self) -> list[int]:
        """Declared domain sizes of the QI attributes."""
        return [domain.size for domain in self.domains]

    @property
    def weights(self) -> NDArray[np.int64]:
        """What a star costs in each QI attribute, shape (d,)."""
        return np.array([domain.weight for domain in self.domains], dtype=np.int64)

    @cached_property
    def histogram(self) -> Counts:
        """Rows of each SA value, shape (m,)."""
        rows = _cells.tally(self.sensitive, self.m, self.count)
        seal(rows)
        return rows

    @classmethod
    def from_microdata(cls, data: Rows) -> Contingency:
        """The cells of a table: one pass and a table where the product of the domains is small, else a sort of one key a row."""
        digits, direct, whole = _digits([*(x.size for x in data.domains), data.m], data.n)
        if whole > 1 << 64:
            return cls._from_many_columns(data)
        key: NDArray[Any] = np.empty(data.n, dtype=np.uint32 if whole <= 1 << 32 else np.uint64)
        _keys.pack(data.narrow, data.sensitive, digits, key)
        if direct and data.n < 1 << 32:
            distinct, count = _keys.count_direct(key, whole)
        else:
            key.sort()
            count = _keys.count_sorted(key)
            distinct = key[: len(count)].copy()
        del key
        codes, indptr, sensitive = _keys.unpack(distinct, digits)
        return cls._made(codes, indptr, sensitive, count, data.domains, data.sensitive_domain, data)

    @classmethod
    def _from_many_columns(cls, data: Rows) -> Contingency:
        """The cells where a row's key does not fit 64 bits."""
        cell_of_row, first, boundary = _rank_cells(data)
        return cls._made(
            np.ascontiguousarray(data.narrow[first[boundary[:-1]]], dtype=np.int32),
            boundary,
            data.sensitive[first],
            _cells.tally(cell_of_row, len(first)),
            data.domains,
            data.sensitive_domain,
            data,
        )

    @cached_property
    def cell_of_row(self) -> Index | None:
        """Which cell each row is in, int32, shape (n,), found when first asked for; None for a projection, whose rows are cells of another
        contingency."""
        if self.data is None:
            return None
        cell = _rank_cells(self.data)[0]
        seal(cell)
        return cell

    def project(self, attributes: Sequence[int]) -> tuple[Contingency, Index]:
        """The contingency on some attributes only, and which of its cells each cell here falls in. O(C), or a sort where keys are large."""
        picked = self._picked(attributes)
        digits, direct, whole = _digits([*(self.domains[j].size for j in picked), self.m], len(self.count))
        if whole > 1 << 64:
            return self._project_many(picked)
        if direct:
            cell_of_cell, distinct = _keys.rank_direct(self._packed(picked, digits, whole), whole)
        else:
            bits = len(self.count).bit_length()
            if whole << bits <= 1 << 64:
                key = self._packed(picked, digits, whole, bits)
                key.sort()
                cell_of_cell, distinct = _keys.rank_sorted(key, bits)
            else:
                cell_of_cell, distinct = _keys.rank_hashed(self._packed(picked, digits, whole))
        codes, indptr, sensitive = _keys.unpack(distinct, digits)
        count = _cells.tally(cell_of_cell, len(distinct), self.count)
        made = Contingency._made(codes, indptr, sensitive, count, tuple(self.domains[j] for j in picked), self.sensitive_domain)
        return made, cell_of_cell

    def _picked(self, attributes: Sequence[int]) -> list[int]:
        """Attributes by position, each at most once."""
        picked = list(attributes)
        if any(isinstance(j, bool) or not isinstance(j, (int, np.integer)) or not 0 <= j < self.d for j in picked) or len(set(picked)) < len(picked):
            raise InputError(f"attributes must be different positions, at least 0 and at most {self.d - 1}, not {shown(picked)}")
        return [int(j) for j in picked]

    def sorted_keys(self, attributes: Sequence[int]) -> tuple[NDArray[Any], int, int] | None:
        """A projection as ascending keys, cheaper than all of it: the group, the SA code and the rows of each cell, and the bits of the last two.

        A cell of the projection may be several keys. None where 64 bits are too few.
        """
        attributes = self._picked(attributes)
        if self._carrying is None:
            return None
        key, widths, bits = self._carrying
        mask, at = (1 << widths[-1] + bits) - 1, widths[-1] + bits
        for j in reversed(range(self.d)):
            if j in attributes:
                mask |= ((1 << widths[j]) - 1) << at
            at += widths[j]
        chosen = key & key.dtype.type(mask)
        chosen.sort()
        return chosen, widths[-1], bits

    @cached_property
    def _carrying(self) -> tuple[NDArray[Any], list[int], int] | None:
        """A key of every cell with its rows in the last bits, the width of each of its digits, and of the rows; None where 64 bits are too few."""
        widths = [(size - 1).bit_length() for size in [*self.sizes, self.m]]
        bits = int(self.count.max(initial=0)).bit_length()
        if sum(widths) + bits > 64:
            return None
        radix = np.array([1 << width for width in widths], dtype=np.uint64)
        return self._packed(list(range(self.d)), radix, 1 << sum(widths), bits, self.count), widths, bits

    def _packed(self, picked: list[int], digits: NDArray[np.uint64], whole: int, bits: int = 0, low: Counts | None = None) -> NDArray[Any]:
        key: NDArray[Any] = np.empty(len(self.count), dtype=np.uint32 if whole << bits < 1 << 32 else np.uint64)
        _keys.pack_cells(self.codes, np.array(picked, dtype=np.int32), self.indptr, self.sensitive, digits, key, bits, low)
        return key

    def _project_many(self, picked: list[int]) -> tuple[Contingency, Index]:
        """A projection where a cell's key does not fit 64 bits."""
        parts = self.codes[:, picked]
        group_of_cell = self.group_of_cell
        columns = [*(np.ascontiguousarray(parts[:, j])[group_of_cell] for j in range(len(picked))), self.sensitive]
        domains = tuple(self.domains[j] for j in picked)
        cell_of_cell, first, boundary = rank_rows(columns, [*(x.size for x in domains), self.m], split=True)
        leaders = group_of_cell[first[boundary[:-1]]]
        projected = Contingency._made(
            np.ascontiguousarray(parts[leaders]),
            boundary,
            self.sensitive[first],
            _cells.tally(cell_of_cell, len(first), self.count),
            domains,
            self.sensitive_domain,
        )
        return projected, cell_of_cell

    def restrict(self, count: Counts) -> tuple[Contingency, Index]:
        """The sub-table with `count` rows of each cell, empty cells and groups left out, and the cells it keeps."""
        known = type(count) is np.ndarray and count.dtype == np.int64 and count.shape == self.count.shape
        if not known or (count < 0).any() or (count > self.count).any():
            raise InputError("count must be an array of int64, shape (C,), with at least 0 and at most all rows of each cell")
        cells, groups, starts = _cells.filled(self.indptr, count)
        part = Contingency._made(
            self.codes.take(groups, axis=0),
            starts,
            self.sensitive.take(cells),
            count.take(cells),
            self.domains,
            self.sensitive_domain,
        )
        return part, cells


def _digits(sizes: list[int], n: int) -> tuple[NDArray[np.uint64], bool, int]:
    """The radices of keys, whether keys index a table, and the number of possible keys.

    As few keys as can be where they index a table; whole bits where they do not, because taking them apart needs no division then.
    """
    span = prod(sizes)
    direct = span <= max(min(DIRECT_SPAN, 8 * n), 2 * n)  # a short list is hashed sooner than a long table is cleared
    radix = sizes if direct else [1 << (size - 1).bit_length() for size in sizes]
    whole = prod(radix)
    return np.array(radix if whole <= 1 << 64 else [], dtype=np.uint64), direct, whole


def _rank_cells(data: Rows) -> tuple[Index, Index, Counts]:
    columns = [*(data.narrow[:, j] for j in range(data.d)), data.sensitive]
    return rank_rows(columns, [*(x.size for x in data.domains), data.m], split=True)
