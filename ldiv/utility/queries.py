"""COUNT queries: how far the answers that a release gives are from the table's, by the protocols of Anatomy and of ARX."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ldiv._kernels.queries as _queries
from ldiv.arguments import SEED, Number, Whole
from ldiv.errors import InputError
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency
from ldiv.table.microdata import Microdata
from ldiv.utility.shown import MOST_DOMAIN, Shown, shown_by

__all__ = ["Errors", "Workload"]

DIMS, COUNT = Whole("dims", least=0), Whole("count", least=1, most=10_000_000)
SELECTIVITY, SANITY = Number("selectivity", most=1, open_below=True), Number("sanity", most=1)
CHUNK = 1 << 22  # shares that are held at once
Table = Microdata | Contingency


@dataclass(frozen=True)
class Errors:
    """Relative errors of a workload's answers.

    Attributes
    ----------
    actual, estimate : ndarray of float64, shape (queries,)
    sanity : float
        The least that an error is divided by, as a share of the table's rows; with 0, queries whose true answer is 0 have no relative error and are left out.
    """

    actual: NDArray[np.float64]
    estimate: NDArray[np.float64]
    sanity: float = 0.0
    rows: int = 0

    @cached_property
    def relative(self) -> NDArray[np.float64]:
        """\\|actual - estimate\\| / actual of each query that has one."""
        least = np.maximum(self.actual, self.sanity * self.rows)
        return np.asarray(np.abs(self.actual - self.estimate)[least > 0] / least[least > 0])

    @property
    def mean(self) -> float:
        return float(self.relative.mean()) if len(self.relative) else 0.0

    @property
    def median(self) -> float:
        return float(np.median(self.relative)) if len(self.relative) else 0.0

    @property
    def left_out(self) -> int:
        """Queries whose true answer is 0, which have no relative error."""
        return len(self.actual) - len(self.relative)

    def __repr__(self) -> str:
        return f"<Errors of {len(self.actual):,} queries: mean {self.mean:.4g}, median {self.median:.4g}; {self.left_out:,} left out>"


@dataclass(frozen=True)
class Workload:
    """COUNT queries: of each attribute a set of values, counted are the rows whose values all lie in them.

    Attributes
    ----------
    masks : tuple of ndarray of bool, shape (queries, size)
        Of each QI attribute the values that each query takes.
    chosen : ndarray of bool, shape (queries, m)
        The SA values.
    used : ndarray of bool, shape (queries, d + 1)
        Which attributes a query says anything of, the SA last; the others it takes whole.

    Examples
    --------
    >>> import ldiv
    >>> from ldiv.utility import Workload
    >>> data = ldiv.datasets.load("acs2018", qi=["Age", "Gender", "Education"], sensitive="Income")
    >>> queries = Workload.anatomy(data, dims=2, selectivity=0.05, count=1000, seed=1)
    >>> errors = [queries.errors(ldiv.solve(data, l=6, algorithm=name)).mean for name in ("hilbert", "cascade")]
    >>> errors[0] > errors[1]
    True
    """

    masks: tuple[NDArray[np.bool_], ...]
    chosen: NDArray[np.bool_]
    used: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.chosen)

    def __repr__(self) -> str:
        return f"<Workload of {len(self):,} queries on {len(self.masks)} quasi-identifiers and the sensitive attribute>"

    @classmethod
    def anatomy(cls, data: Table, *, dims: int | None = None, selectivity: float = 0.05, count: int = 10_000, seed: int | None = None) -> Workload:
        """The protocol of Anatomy: predicates on `dims` random QI attributes and the SA, each on so many random values that about a share `selectivity` of
        the space is covered.

        Parameters
        ----------
        data : Microdata or Contingency
        dims : int, optional
            QI attributes in a query; default all.
        selectivity : float, default 0.05
            A predicate on A holds ``ceil(|A| * selectivity ** (1 / (dims + 1)))`` values.
        count : int, default 10,000
        seed : int, optional

        References
        ----------
        X. Xiao, Y. Tao: Anatomy: simple and effective privacy preservation. VLDB 2006, section 6.
        """
        c = _cells(data)
        dims = c.d if dims is None else DIMS.check(dims)
        if dims > c.d:
            raise InputError(f"dims must be at most the {c.d} quasi-identifiers, not {dims}")
        selectivity, count = SELECTIVITY.check(selectivity), COUNT.check(count)
        random = np.random.default_rng(SEED.check(seed))
        part = selectivity ** (1 / (dims + 1))
        used = np.ones((count, c.d + 1), dtype=bool)
        if dims < c.d:
            used[:, :-1] = np.argsort(random.random((count, c.d)), axis=1) < dims

        def values(size: int) -> NDArray[np.bool_]:
            return np.asarray(np.argsort(random.random((count, size)), axis=1) < min(size, ceil(size * part)))

        return cls._made(c, used, [values(size) for size in [*c.sizes, c.m]])

    @classmethod
    def points(cls, data: Table, *, each: int = 1000, seed: int | None = None) -> Workload:
        """ARX's point queries: for every non-empty subset of the columns, the SA among them, `each` queries for one random value of each column.

        References
        ----------
        F. Prasser, K. Kuhn et al.: cell-suppression-benchmark, BenchmarkCube (arx-deidentifier, 2018).
        """
        return cls._of_subsets(data, each, seed, lambda random, count, size: np.eye(size, dtype=bool)[random.integers(0, size, count)])

    @classmethod
    def ranges(cls, data: Table, *, each: int = 1000, seed: int | None = None) -> Workload:
        """ARX's range queries: as :meth:`points`, each predicate the values from one random code to another, in order of codes.

        An end is ``round(u * (size - 1))`` for uniform u, so the first and the last value are half as likely as others.
        """

        def stretch(random: np.random.Generator, count: int, size: int) -> NDArray[np.bool_]:
            ends = np.sort(np.floor(random.random((count, 2)) * (size - 1) + 0.5), axis=1)
            codes = np.arange(size)
            return np.asarray((ends[:, :1] <= codes) & (codes <= ends[:, 1:]))

        return cls._of_subsets(data, each, seed, stretch)

    @classmethod
    def _of_subsets(cls, data: Table, each: int, seed: int | None, values: Callable[[np.random.Generator, int, int], NDArray[np.bool_]]) -> Workload:
        c = _cells(data)
        each, random = COUNT.check(each, "each"), np.random.default_rng(SEED.check(seed))
        if c.d > 12:
            raise InputError(f"queries on every subset of {c.d + 1} columns are too many: project the table on at most 12 quasi-identifiers")
        subsets = [[j in subset for j in range(c.d + 1)] for size in range(1, c.d + 2) for subset in combinations(range(c.d + 1), size)]
        used = np.repeat(np.array(subsets), each, axis=0)
        return cls._made(c, used, [values(random, len(used), size) for size in [*c.sizes, c.m]])

    @classmethod
    def _made(cls, c: Contingency, used: NDArray[np.bool_], values: list[NDArray[np.bool_]]) -> Workload:
        masks = [mask | ~used[:, j : j + 1] for j, mask in enumerate(values)]
        return cls(tuple(masks[:-1]), masks[-1], used)

    def answers(self, what: Release | Table | Shown) -> NDArray[np.float64]:
        """The answers of a table, or those that a release gives in expectation: every sub-domain spread evenly over itself, a star over its declared domain.

        Returns
        -------
        ndarray of float64, shape (queries,)

        Notes
        -----
        O(queries * (groups + entries of groups that a query meets)): 10,000 queries on 40,000 groups take a few seconds.
        """
        seen = shown_by(what)
        if [mask.shape[1] for mask in self.masks] != seen.contingency.sizes or self.chosen.shape[1] != seen.contingency.m:
            raise InputError("the workload was made for a table with other domains")
        offset = seen.offset
        out = np.empty(len(self))
        step = max(1, CHUNK // max(int(offset[-1]), 1))
        for low in range(0, len(self), step):
            part = slice(low, low + step)
            share = [seen.shares(j, mask[part]) for j, mask in enumerate(self.masks)]
            out[part] = _queries.expected(
                seen.kind,
                seen.indptr,
                seen.sensitive,
                seen.rows,
                offset,
                np.ascontiguousarray(np.concatenate(share, axis=1)),
                np.ascontiguousarray(self.used[part, :-1]).astype(np.int8),
                self.chosen[part].astype(np.float64),
            )
        return out

    def errors(self, release: Any, *, sanity: float = 0.0) -> Errors:
        """How far a release's answers are from its table's.

        Parameters
        ----------
        release : Release, or what :func:`ldiv.anatomize` returns
        sanity : float, default 0
            Divide by at least this share of the rows (0.001 to 0.01 in the literature), which keeps tiny answers from ruling the mean.
        """
        seen = shown_by(release)
        sanity = SANITY.check(sanity)
        return Errors(self.answers(seen.contingency), self.answers(seen), sanity, seen.contingency.n)


def _cells(data: Table) -> Contingency:
    c = shown_by(data).contingency
    if c.m > MOST_DOMAIN:
        raise InputError(f"{c.sensitive_domain.name!r} has {c.m:,} values, more than {MOST_DOMAIN:,}: coarsen it")
    return c
