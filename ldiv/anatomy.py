"""Anatomy: quasi-identifiers published as they are, sensitive values in a table of their own, joined by a group number only."""

from __future__ import annotations

import heapq
import secrets
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ldiv._kernels.cells as _cells
from ldiv.arguments import SEED
from ldiv.errors import InputError, LdivError, UnsafeReleaseError
from ldiv.privacy.requirement import require_eligible, validate_l
from ldiv.table.contingency import Contingency
from ldiv.table.frames import open_frame
from ldiv.table.html import table_html
from ldiv.table.microdata import Microdata
from ldiv.utility.shown import Shown, shown_by

__all__ = ["Anatomy", "anatomize"]

GROUP, COUNT = "Group-ID", "Count"


@dataclass(frozen=True, eq=False, repr=False)
class Anatomy:
    """Two tables: QIT has every row's QI values and its group, ST how often each group has each SA value.

    Attributes
    ----------
    contingency : Contingency
    group : ndarray of int32, shape (n,)
        The group of each row of the microdata; numbers are drawn at random.
    l : int
    names : tuple
        The quasi-identifiers, and the sensitive attribute last, as the tables call them.
    frame : table or None
        The table it was made from, whose kind the two tables have; a dict of arrays where it was made from codes.

    Notes
    -----
    For utility, not against linking: whoever is in the table is found in QIT, with all quasi-identifiers exact, and presence is told. Only the step to the sensitive value is bounded, by 1/l.
    """

    contingency: Contingency
    group: NDArray[np.int32]
    l: int
    names: tuple[Any, ...]
    frame: Any = field(default=None)

    @property
    def n(self) -> int:
        """Rows."""
        return len(self.group)

    @property
    def groups(self) -> int:
        return int(self.group.max(initial=-1)) + 1

    def __repr__(self) -> str:
        return f"<Anatomy l={self.l}: {self.n:,} rows, {self.groups:,} groups>"

    def _repr_html_(self) -> str:
        return table_html(f"{self.l}-diverse anatomy", [], [("rows", self.n), ("groups", self.groups)])

    def __post_init__(self) -> None:
        c = self.contingency
        cell_of_row = c.cell_of_row
        assert cell_of_row is not None
        key, number = np.unique(self.group.astype(np.int64) * max(len(c.count), 1) + cell_of_row, return_inverse=True)
        group, cell = np.divmod(key, max(len(c.count), 1))
        self.__dict__["indptr"] = np.searchsorted(group, np.arange(self.groups + 1)).astype(np.int64)
        self.__dict__["cell"] = cell.astype(np.int32)
        self.__dict__["count"] = _cells.tally(number.ravel().astype(np.int32), len(key))

    @property
    def _histogram(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Group, SA value and rows of every line of ST, in order."""
        data = self.contingency.data
        assert data is not None
        key, count = np.unique(self.group.astype(np.int64) * self.contingency.m + data.sensitive, return_counts=True)
        group, value = np.divmod(key, self.contingency.m)
        return group, value, count

    @property
    def qit(self) -> Any:
        """The table of quasi-identifiers: their values as they are, and ``Group-ID``; rows by group and values, which says nothing more."""
        data = self.contingency.data
        assert data is not None
        order = np.lexsort((*data.narrow.T[::-1], self.group))
        columns = {
            name: [domain.label(code) for code in data.narrow[order, j].tolist()]
            for j, (name, domain) in enumerate(zip(self.names[:-1], data.domains, strict=True))
        }
        return self._table(columns | {GROUP: self.group[order].tolist()})

    @property
    def st(self) -> Any:
        """The table of sensitive values: ``Group-ID``, the value, and ``Count``."""
        group, value, count = self._histogram
        domain = self.contingency.sensitive_domain
        return self._table({GROUP: group.tolist(), self.names[-1]: [domain.label(v) for v in value.tolist()], COUNT: count.tolist()})

    def _table(self, columns: dict[Any, list[Any]]) -> Any:
        if self.frame is None or isinstance(self.frame, dict):
            return {name: np.array(values) for name, values in columns.items()}
        import narwhals.stable.v2 as nw  # the door for tables of all libraries

        backend = nw.get_native_namespace(nw.from_native(self.frame))
        return nw.from_dict(columns, backend=backend).to_native()

    def shown(self) -> Shown:
        """What it lets one expect: of each QI tuple the SA values of its groups, each as likely as there."""
        c = self.contingency
        group, value, count = self._histogram
        indptr = np.searchsorted(group, np.arange(self.groups + 1))
        size = np.bincount(self.group, minlength=self.groups)
        bucket = np.repeat(np.arange(self.groups), np.diff(self.__dict__["indptr"]))
        pair, number = np.unique(bucket * c.groups + c.group_of_cell[self.__dict__["cell"]], return_inverse=True)
        rows = _cells.tally(number.ravel().astype(np.int32), len(pair), self.__dict__["count"])
        of, point = np.divmod(pair, c.groups)
        width = np.diff(indptr)[of]
        at = np.arange(width.sum()) + np.repeat(indptr[of] - np.cumsum(width) + width, width)
        expected = np.repeat(rows / size[of], width) * count[at]
        key, number = np.unique(np.repeat(point, width) * c.m + value[at], return_inverse=True)
        whole = shown_by(c)
        starts = np.searchsorted(key, np.arange(c.groups + 1) * c.m).astype(np.int64)
        return Shown(
            c, whole.kind, whole.codes, starts, (key % c.m).astype(np.int32), np.bincount(number.ravel(), expected, len(key)).astype(np.float64)
        )

    def verify(self) -> Anatomy:
        """Check the two tables as they are published: all rows there, groups l-diverse in ST, both tables of the same groups; returns self.

        Raises
        ------
        UnsafeReleaseError
            They must not be published.
        """
        qit, st = self.qit, self.st
        data = self.contingency.data
        assert data is not None
        *qi, sensitive = self.names
        rows = list(zip(*(_listed(qit, name) for name in [*qi, GROUP]), strict=True))
        true = Counter(zip(*([d.label(c) for c in data.narrow[:, j].tolist()] for j, d in enumerate(data.domains)), strict=True))
        if Counter(row[:-1] for row in rows) != true:
            raise UnsafeReleaseError("anatomy: the quasi-identifiers published are not those of the table")
        size = Counter(row[-1] for row in rows)
        sums, tops, values = Counter[Any](), Counter[Any](), Counter[Any]()
        for group, value, count in zip(_listed(st, GROUP), _listed(st, sensitive), _listed(st, COUNT), strict=True):
            sums[group] += count
            tops[group] = max(tops[group], count)
            values[value] += count
        if sums != size:
            raise UnsafeReleaseError("anatomy: the two tables have groups of different sizes")
        if any(size[group] < self.l * tops[group] for group in size):
            raise UnsafeReleaseError(f"anatomy: a group is not {self.l}-diverse")
        domain = self.contingency.sensitive_domain
        if values != Counter(domain.label(v) for v in data.sensitive.tolist()):
            raise UnsafeReleaseError("anatomy: the sensitive values published are not those of the table")
        held = Counter(zip(self.group.tolist(), data.sensitive.tolist(), strict=True))
        if held != Counter({(g, v): n for g, v, n in zip(*(x.tolist() for x in self._histogram), strict=True)}):
            raise UnsafeReleaseError("anatomy: a group's sensitive values are not those of its rows")
        return self


def anatomize(table: Any, qi: Sequence[Any] | None = None, sensitive: Any = None, l: int | None = None, *, seed: int | None = None) -> Anatomy:
    """Anatomy: publish quasi-identifiers as they are and sensitive values by group, every group with l different ones.

    Parameters
    ----------
    table : table of any library that :func:`ldiv.anonymize` takes, or Microdata
    qi : sequence of str
        Quasi-identifiers; left out with Microdata, as is `sensitive`.
    sensitive : str
    l : int
    seed : int, optional
        Repeats the draw of rows and the numbers of groups; a secret. Default: fresh randomness.

    Returns
    -------
    Anatomy
        ``.qit`` and ``.st`` are the two tables to publish, verified before the call returns.

    Raises
    ------
    NotEligibleError
        No l-diverse release exists.
    InputError
        Unusable columns or l.

    Notes
    -----
    While l values have rows left, a group takes one drawn row of each of the l values with most (ties by code); each row that is left joins a drawn group without its value. So no group
    holds a value twice. O(n log m). Other columns are left out.

    References
    ----------
    X. Xiao, Y. Tao: Anatomy: simple and effective privacy preservation. VLDB 2006, figure 3.

    Examples
    --------
    >>> import ldiv
    >>> table = {"Age": [30, 31, 40, 50], "Disease": ["flu", "cold", "flu", "cough"]}
    >>> release = ldiv.anatomize(table, ["Age"], "Disease", 2, seed=1)
    >>> release.groups, sorted(release.qit["Age"].tolist()), release.st["Count"].tolist()
    (2, [30, 31, 40, 50], [1, 1, 1, 1])
    """
    frame = None
    if isinstance(table, Microdata):
        if qi is not None or sensitive is not None:
            raise InputError("qi and sensitive are those of the Microdata: leave them out")
        data = table
    else:
        if qi is None or sensitive is None:
            raise InputError("name the quasi-identifiers and the sensitive column: anatomize(table, qi, sensitive, l)")
        frame, data = table, Microdata.from_frame(open_frame(table), qi, sensitive, keep=False)
    l = validate_l(l)
    require_eligible(data.contingency, l)
    for name in (*data.names, data.sensitive_domain.name):
        if name in (GROUP, COUNT):
            raise InputError(f"column {name!r} is called like a column of the two tables: rename it")
    random = np.random.default_rng(secrets.randbits(128) if SEED.check(seed) is None else seed)
    made = Anatomy(data.contingency, _grouped(np.asarray(data.sensitive), data.m, l, random), l, (*data.names, data.sensitive_domain.name), frame)
    return made.verify()


def _grouped(sensitive: NDArray[np.int32], m: int, l: int, random: np.random.Generator) -> NDArray[np.int32]:
    """The group of each row."""
    order = random.permutation(len(sensitive))
    by_value = order[np.argsort(sensitive[order], kind="stable")]
    bounds = np.searchsorted(sensitive[by_value], np.arange(m + 1))
    rows = [by_value[a:b].tolist() for a, b in zip(bounds[:-1], bounds[1:], strict=True)]
    heap = [(-len(x), v) for v, x in enumerate(rows) if x]
    heapq.heapify(heap)
    group = np.full(len(sensitive), -1, dtype=np.int32)
    held: list[set[int]] = []
    while len(heap) >= l:
        taken = [heapq.heappop(heap) for _ in range(l)]
        for _, v in taken:
            group[rows[v].pop()] = len(held)
        held.append({v for _, v in taken})
        for count, v in taken:
            if count + 1:
                heapq.heappush(heap, (count + 1, v))
    for v in sorted(v for _, v in heap):
        for row in rows[v]:
            free = [g for g in range(len(held)) if v not in held[g]]
            if not free:
                raise LdivError("anatomy: a row is left that no group can take")  # cannot be: the paper's property 1
            chosen = free[int(random.integers(len(free)))]
            group[row] = chosen
            held[chosen].add(v)
    return random.permutation(len(held)).astype(np.int32)[group] if len(held) else group


def _listed(table: Any, name: Any) -> Iterable[Any]:
    """A column of a published table, as Python's values."""
    if isinstance(table, dict):
        return list(table[name].tolist())
    import narwhals.stable.v2 as nw  # as above

    found = nw.from_native(table, eager_only=True)[name].to_list()
    return [x.item() if isinstance(x, np.generic) else x for x in found]
