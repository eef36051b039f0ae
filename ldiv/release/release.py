"""Release: which rows are published together, and what each QI-group publishes. One form for every algorithm."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ldiv._kernels.cells as _cells
import ldiv._kernels.release as _release
from ldiv.arguments import MOST_ROWS, MOST_VALUES, K, L, shown
from ldiv.bounds.certificate import Certificate
from ldiv.bounds.counting import star_bound
from ldiv.errors import InputError, LdivError
from ldiv.privacy.requirement import promise
from ldiv.release.check import complete, eligible, truthful
from ldiv.release.completion import completed
from ldiv.release.decoding import changes_of
from ldiv.release.facts import Phases, Proof, phases_of, proof_of
from ldiv.release.form import STAR, Subdomain, checked_published, checked_subdomains, pointers, sorted_entries
from ldiv.release.plot import Plot
from ldiv.release.publication import Publication
from ldiv.release.words import facts_of, summary_of
from ldiv.table.arrays import seal, total, weighted_total, whole
from ldiv.table.contingency import Contingency
from ldiv.table.frames import Source
from ldiv.table.html import table_html
from ldiv.table.microdata import Microdata
from ldiv.table.ranking import argsort_keys, rank_rows

__all__ = ["Release"]

MASK64 = (1 << 64) - 1


@dataclass(frozen=True, eq=False)
class Release:
    """A published table, in the space of cells.

    Rows that are alike in QI and SA are interchangeable, so a release says for each cell how many of its rows go to which
    QI-group; rows get their group (:attr:`group`) only when asked. Groups that publish the same are one group.

    Attributes
    ----------
    contingency : Contingency
        What was published.
    published : ndarray of int32, shape (G, d)
        Per group and attribute: a code, -1 for a star, or ``-2 - k`` for ``subdomains[attribute][k]``.
        Groups are in ascending order, stars after values.
    indptr : ndarray of int64, shape (G + 1,)
        The entries of each group.
    cell : ndarray of int32
        The cell of each entry, ascending in a group.
    count : ndarray of int64
        How many rows of the cell.
    l : int
    algorithm : str
    subdomains : tuple of tuples of Subdomain
        Empty tuples for a suppression release.
    info : dict
        What the algorithm reports of its run; see its documentation.
    k : int
        The least size of a group, as it was asked for.
    draw : int
        Which of a cell's rows go to which group: fresh randomness, or what a seed gives. Whoever knows it can tell which of several
        candidates a starred row is, so it is a secret and printed nowhere.

    Notes
    -----
    A release holds its microdata (codes, and the table where it came from one): a pickled one is not for publication, its :attr:`frame` is.
    """

    contingency: Contingency
    published: NDArray[np.int32]
    indptr: NDArray[np.int64]
    cell: NDArray[np.int32]
    count: NDArray[np.int64]
    l: int
    algorithm: str
    subdomains: tuple[tuple[Subdomain, ...], ...] = ()
    info: Mapping[str, Any] = field(default_factory=dict, repr=False)
    star: str | None = "*"
    k: int = 1
    draw: int = field(default_factory=lambda: secrets.randbits(128), repr=False)
    publication: Publication | None = field(default=None, repr=False)
    _sealed: tuple[Any, ...] = field(default=(), repr=False)  # what was looked at, so that a copy with another star need not be

    def __post_init__(self) -> None:
        parts = self.contingency, self.published, self.indptr, self.cell, self.count, self.subdomains
        if len(self._sealed) != len(parts) or any(a is not b for a, b in zip(self._sealed, parts, strict=True)):
            self._look()
        object.__setattr__(self, "l", int(L.check(self.l)))
        object.__setattr__(self, "k", int(K.check(self.k)))
        if not isinstance(self.algorithm, str) or not isinstance(self.info, Mapping):
            raise InputError(f"algorithm must be a str and info a mapping, not {shown(self.algorithm)} and {shown(self.info)}")

    def _look(self) -> None:
        """Range, type and shape of everything that kernels will read; arrays that others can write to are copied."""
        c = self.contingency
        if not isinstance(c, Contingency):
            raise InputError(f"contingency must be a Contingency, not {shown(c)}")
        subdomains = checked_subdomains(c, self.subdomains)
        published = checked_published(c, self.published, subdomains)
        cell = whole(self.cell, "cell", low=0, high=len(c.count) - 1, dtype=np.int32)
        count = whole(self.count, "count", low=1, high=MOST_ROWS, shape=(len(cell),))
        if (rows := total(count)) > MOST_ROWS:
            raise InputError(f"a release may have at most 2**62 rows, not {rows:,}")
        indptr = whole(self.indptr, "indptr", low=0, high=len(cell), shape=(len(published) + 1,))
        if indptr[0] != 0 or indptr[-1] != len(cell) or (np.diff(indptr) < 1).any():
            raise InputError(f"indptr must ascend from 0 to the number of entries, {len(cell):,}, and no group may be empty")
        self.__dict__.update(published=published, indptr=indptr, cell=cell, count=count, subdomains=subdomains)
        object.__setattr__(self, "_sealed", (c, published, indptr, cell, count, subdomains))

    @classmethod
    def from_entries(
        cls,
        contingency: Contingency,
        group: NDArray[np.integer],
        cell: NDArray[np.int32],
        count: NDArray[np.int64],
        *,
        l: int,
        algorithm: str,
        k: int = 1,
        info: Mapping[str, Any] | None = None,
        published: NDArray[np.int32] | None = None,
        subdomains: Sequence[Sequence[Subdomain]] | None = None,
    ) -> Release:
        """Build the canonical release from any list of (group, cell, count) entries.

        Parameters
        ----------
        contingency : Contingency
        group : ndarray of int, shape (entries,)
            Any numbering from 0; numbers may be unused.
        cell, count : ndarray, shape (entries,)
            Entries with count 0 are dropped, equal (group, cell) pairs are added up.
        published : ndarray of int32, shape (groups, d), optional
            What each numbered group publishes. Default: suppression, a star where its rows differ.
        subdomains : sequence of sequences of Subdomain, optional

        Raises
        ------
        InputError
            Entries of another kind, shape or range. Whether they hold every row is looked at by :meth:`verify`.

        Notes
        -----
        O(entries log entries); a few passes when `group` is already ascending.
        """
        if not isinstance(contingency, Contingency):
            raise InputError(f"contingency must be a Contingency, not {shown(contingency)}")
        group = whole(group, "group", low=0, high=MOST_VALUES - 1, dtype=np.int32, own=False)
        cell = given = whole(cell, "cell", low=0, high=len(contingency.count) - 1, dtype=np.int32, shape=(len(group),), own=False)
        count = whole(count, "count", low=0, high=MOST_ROWS, shape=(len(group),), own=False)
        if (rows := total(count)) > MOST_ROWS:
            raise InputError(f"a release may have at most 2**62 rows, not {rows:,}")
        kinds = checked_subdomains(contingency, () if subdomains is None else subdomains)
        if published is not None:
            published = checked_published(contingency, published, kinds)
            if len(group) and int(group.max()) >= len(published):
                raise InputError(f"published has {len(published):,} rows, one a group, but there is a group {int(group.max()):,}")
        used = count > 0
        if not used.all():
            group, cell, count = group[used], cell[used], count[used]
        group, cell, count = sorted_entries(np.asarray(group, dtype=np.int32), cell, count)
        starts = pointers(group)
        if published is None:
            published = _release.agreement(starts, cell, contingency.group_of_cell, contingency.codes)
        else:
            published = published[group[starts[:-1]]]  # some may not be used
        if not _release.strictly_ascending(published):
            most = max(len(s) for s in kinds)
            columns = [
                np.where(column >= 0, column, size - 1 - column)  # stars after values
                for column, size in zip(published.T, contingency.sizes, strict=True)
            ]
            rank, first, _ = rank_rows(columns, [s + 1 + most for s in contingency.sizes])
            published = published[first]
            group, cell, count = sorted_entries(np.repeat(rank, np.diff(starts)), cell, count)
            starts = pointers(group)
        seal(published, starts)
        if cell is not given:  # made here
            seal(cell, count)
        return cls(contingency, published, starts, cell, count, l, algorithm, kinds, dict(info or {}), k=k)

    # -- shape ---------------------------------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """Rows."""
        return self.contingency.n

    @property
    def d(self) -> int:
        """QI attributes."""
        return self.contingency.d

    @property
    def groups(self) -> int:
        """QI-groups."""
        return len(self.indptr) - 1

    def entries_of(self, groups: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The entries of some groups, and which of these groups each belongs to."""
        lengths = np.diff(self.indptr)[groups]
        member = np.repeat(np.arange(len(groups)), lengths)
        entry = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths) + self.indptr[groups][member]
        return entry, member

    @cached_property
    def group_sizes(self) -> NDArray[np.int64]:
        """Rows of each QI-group, shape (G,)."""
        return self._heights[0]

    @cached_property
    def _heights(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
        c = self.contingency
        return _cells.heights(self.indptr, c.sensitive[self.cell], self.count, c.m)

    @property
    def promise(self) -> str:
        """What every group keeps, in words: ``"3-diverse"``, ``"3-diverse and 5-anonymous"``, ``"5-anonymous"``."""
        return promise(self.l, self.k)

    @property
    def max_l(self) -> int:
        """The largest l for which this release is l-diverse; 0 for a table without rows."""
        size, height, _ = self._heights
        return int((size // height).min()) if len(size) else 0

    @cached_property
    def group(self) -> NDArray[np.int32]:
        """The QI-group of each row, shape (n,). Which of several interchangeable rows goes where is drawn at random (:attr:`draw`)."""
        c = self.contingency
        if c.cell_of_row is None:
            raise LdivError("this release was made from counts, not rows: there is no group of a row")
        self._hold_every_row()
        order = argsort_keys(self.cell, len(c.sensitive))
        number = np.repeat(np.arange(self.groups, dtype=np.int32), np.diff(self.indptr))
        starts = np.searchsorted(self.cell[order], np.arange(len(c.sensitive) + 1)).astype(np.int64)
        group = _release.assign_rows(c.cell_of_row, starts, number[order], self.count[order])
        # In table order a starred row would always stand behind the visible rows like it, and so give itself away.
        split = np.flatnonzero((np.diff(starts) > 1)[c.cell_of_row])
        split = split[np.argsort(c.cell_of_row[split], kind="stable")]
        random = np.random.default_rng([self.draw & MASK64, self.draw >> 64]).random(len(split))
        group[split] = group[split[np.lexsort((random, c.cell_of_row[split]))]]
        return group

    @cached_property
    def codes(self) -> NDArray[np.int32]:
        """What each row publishes, shape (n, d): a code, -1 for a star, lower for a sub-domain."""
        return np.asarray(self.published[self.group])

    # -- quality -------------------------------------------------------------------------------------------------

    @property
    def is_suppression(self) -> bool:
        """Whether everything published is a value or a star."""
        return not any(self.subdomains)

    @property
    def stars(self) -> int:
        """Starred cells, the paper's measure. A sub-domain is not a star."""
        return sum(self.stars_by_attribute_array.tolist())

    @property
    def cost(self) -> int:
        """Stars, each times its attribute's weight: what algorithms minimise; the same as :attr:`stars` unless weights were given."""
        return sum(s * w for s, w in zip(self.stars_by_attribute_array.tolist(), self.contingency.weights.tolist(), strict=True))

    @property
    def loss(self) -> float:
        """What rows lose, in stars: :attr:`cost`, or of a release along hierarchies what its nodes and stars lose by the measure that was minimised.

        Raises
        ------
        LdivError
            A release with sub-domains by an algorithm that minimises no such measure; see :func:`ldiv.ncp`.
        """
        if "loss" in self.info:
            return float(self.info["loss"] / self.info["unit"])
        if not self.is_suppression:
            raise LdivError(f"{self.algorithm} minimises no loss of nodes; ldiv.ncp measures one")
        return float(self.cost)

    @property
    def stars_by_attribute_array(self) -> NDArray[np.int64]:
        """Starred cells of each attribute, shape (d,)."""
        return np.array(weighted_total(self.group_sizes, self.published == STAR), dtype=np.int64)

    @property
    def stars_by_attribute(self) -> dict[str, int]:
        """Starred cells of each attribute by name."""
        names = [domain.name for domain in self.contingency.domains]
        return dict(zip(names, self.stars_by_attribute_array.tolist(), strict=True))

    @property
    def nodes_by_attribute(self) -> dict[Any, int]:
        """Cells of each attribute that show a sub-domain: a node, range or set of values."""
        names = [domain.name for domain in self.contingency.domains]
        return dict(zip(names, weighted_total(self.group_sizes, self.published < STAR), strict=True))

    @property
    def suppressed_rows(self) -> int:
        """Rows with at least one star."""
        return int(self.group_sizes[(self.published == STAR).any(axis=1)].sum())

    @property
    def phase(self) -> int | None:
        """The phase in which TP ended (1, 2 or 3); None for algorithms without TP."""
        return self.phases.phase if self.phases is not None else None

    @property
    def phases(self) -> Phases | None:
        """How TP went; None for algorithms without TP."""
        return phases_of(self.info)

    @property
    def proof(self) -> Proof | None:
        """The bound that the algorithm proved itself; None where it proves none."""
        return proof_of(self.info)

    @property
    def protected(self) -> tuple[Any, ...]:
        """Quasi-identifiers that were not to be starred."""
        return tuple(self.info.get("protected", ()))

    @property
    def certified(self) -> bool:
        """Whether there is a certificate: of stars there is always one, along hierarchies where the algorithm proved something, even if no node is shown."""
        if self.info.get("unit", 1) != 1:  # what is counted is more than stars
            return self.proof is not None and self.proof.loss is not None
        return self.is_suppression

    @cached_property
    def certificate(self) -> Certificate:
        """Stars, a proven lower bound on the stars of every release, and the proof: exact search, prices or counting, whichever proves more.

        Of a release along hierarchies: what it loses, and the least that any along them does.

        Raises
        ------
        LdivError
            The release publishes sub-domains, and nothing was proven of them.
        """
        proof = self.proof
        if proof is not None and proof.loss is not None:
            return Certificate(proof.loss, proof.bound, "prices", proof.prices, self.k)
        if not self.certified:
            raise LdivError(
                "nothing was proven of this release along hierarchies: the algorithms 'auto' (but with effort='fast') and 'lagrangian' do"
            )
        persons = self.info.get("persons")
        counted = self.info.get("counted", 0)
        if "elsewhere" not in self.info:  # else what phase one removes from all groups, counted where they are
            counted = max(star_bound(self.contingency, self.l, self.k), counted)
        if proof is not None and (proof.bound > counted if proof.exact else proof.bound >= counted):
            return Certificate(self.cost, proof.bound, "exact" if proof.exact else "prices", proof.prices, self.k, persons)
        return Certificate(self.cost, counted, "counting", k=self.k, persons=persons)

    def drawn(self, seed: int | None) -> Release:
        """The release with the chance that a seed gives; without one it keeps its fresh randomness."""
        if seed is None:
            return self
        return replace(self, draw=int.from_bytes(np.random.SeedSequence(seed).generate_state(4).tobytes(), "little"))

    # -- safety and decoding ---------------------------------------------------------------------------------------

    def verify(self) -> Release:
        """Check that every row is published once, truthfully, in an l-eligible group of at least k rows; returns self.

        Raises
        ------
        UnsafeReleaseError
            The algorithm that made it is defective; nothing must be published.
        """
        c = self.contingency
        self._hold_every_row()
        eligible(c, *self._heights, self.l, self.algorithm, self.k)
        truthful(c, self.published, self.indptr, self.cell, self.subdomains, self.algorithm)
        return self

    def _hold_every_row(self) -> None:
        complete(self.contingency, self.cell, self.count, self.algorithm)

    @property
    def frame(self) -> Any:
        """The released table: same kind and columns; only QI cells differ, where starred.

        A column without any star keeps its dtype; one with stars becomes text (or keeps its dtype with nulls when ``star=None``). Rows, order and
        index are the table's, unless ``order="random"`` was asked for. :func:`ldiv.anonymize` builds it before it returns, so later changes of
        the source do not reach it; after :func:`ldiv.solve` it is made from the copy that :meth:`ldiv.Microdata.from_frame` kept.
        """
        return self.publication.frame if self.publication is not None else self._built_frame

    @cached_property
    def _built_frame(self) -> Any:
        data = self.contingency.data
        if data is None or data.source is None:
            raise LdivError("this release was made from codes, not from a table: use release.codes")
        return self.publish(data.source)

    def publish(self, source: Source, order: NDArray[np.int64] | None = None, drop: Sequence[Any] = (), star_is_null: bool = False) -> Any:
        """The released table, built now.

        Parameters
        ----------
        source : Source
            The table, opened by :func:`ldiv.table.frames.open_frame`.
        order : ndarray of int64, shape (n,), optional
            Which row stands where.
        drop : sequence of columns, optional
            Columns to leave out.
        star_is_null : bool
            With ``star=None`` let a star look like a missing value that stood in the column already.

        Raises
        ------
        InputError
            A star would be taken for a value of its column.
        """
        data = self.contingency.data
        assert data is not None
        changes = changes_of(self.contingency.domains, data.narrow, self.published, self.subdomains, self.group, self.star, star_is_null)
        return source.publish(changes, order, drop, [domain.name for domain in self.contingency.domains])

    def complete(self, how: str = "hotdeck", seed: int | None = None) -> Microdata:
        """Whole rows drawn from what is published alone, for measures and tools that know neither stars nor sub-domains.

        Parameters
        ----------
        how : {"hotdeck", "histogram", "uniform"}
            A value of what each cell stands for (of a star: the declared domain): that of a random row that is whole and equal in the SA and all values kept, in
            these alone where there is none (rows with fewest hidden cells first; rows once filled are whole); as often as its column publishes it by
            itself; or each as likely.
        seed : int, optional
            Repeats the draw. Measures of drawn rows should be means over several.

        Returns
        -------
        Microdata
            Rows in the order of the table. Its QI values are guesses, not data.

        Examples
        --------
        >>> import ldiv
        >>> data = ldiv.Microdata.from_codes([[0, 0], [0, 0], [1, 1], [1, 2]], [0, 1, 0, 1])
        >>> ldiv.solve(data, l=2).complete("uniform", seed=1).codes[:3].tolist()
        [[0, 0], [0, 0], [1, 1]]
        """
        data = self.contingency.data
        if data is None:
            raise LdivError("this release was made from counts, not rows: there are no rows to complete")
        return completed(data, self.codes, self.subdomains, how, seed)

    @property
    def plot(self) -> Plot:
        """Drawings in matplotlib: ``release.plot.stars()``, ``.groups()``, ``.shares()``."""
        return Plot(self)

    def summary(self) -> str:
        """A few lines for people."""
        return summary_of(self)

    def _repr_html_(self) -> str:
        """A small table for notebooks."""
        return table_html(f"{self.promise} release by {self.algorithm}", [], facts_of(self))

    def __repr__(self) -> str:
        return (
            f"<Release {self.algorithm} l={self.l}{f', k={self.k}' if self.k > 1 else ''}: {self.n:,} rows, {self.groups:,} groups, {self.stars:,} stars, "
            f"{self.suppressed_rows:,} rows with a star>"
        )
