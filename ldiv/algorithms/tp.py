"""TP, the paper's three-phase algorithm (section 5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ldiv._kernels.cells import tally
from ldiv._kernels.inverted_list import InvertedList
from ldiv._kernels.phase_one import phase_one
from ldiv._kernels.release import kept_and_left
from ldiv._kernels.tp import Phases
from ldiv.algorithms import register
from ldiv.algorithms.sizes import settle_sizes
from ldiv.release.nodes import along, lattice_for
from ldiv.release.release import Release
from ldiv.table.arrays import seal
from ldiv.table.contingency import Contingency

__all__ = ["Split", "forced_pillars", "later_phases", "split", "suppress", "tp"]


@dataclass(frozen=True, eq=False)
class Split:
    """TP's outcome on cells: what stays in the groups of identical rows, and the residue R.

    Attributes
    ----------
    kept : ndarray of int64, shape (C,)
        Rows of each cell that stay; the others are R.
    phase : int
        Where TP ended: 1, 2 or 3.
    residue_sizes, residue_heights : tuple of int, length 3
        |R| and h(R) after each phase; phases that did not run repeat the last one's.
    rounds : int
        Rounds of phase three.
    """

    kept: NDArray[np.int64]
    phase: int
    residue_sizes: tuple[int, int, int]
    residue_heights: tuple[int, int, int]
    rounds: int

    @property
    def info(self) -> dict[str, object]:
        """What the release reports."""
        return {
            "phase": self.phase,
            "residue_sizes": self.residue_sizes,
            "residue_heights": self.residue_heights,
            "rounds": self.rounds,
        }


def forced_pillars(contingency: Contingency, l: int) -> NDArray[np.int8] | None:
    """The SA values that are pillars of every group of every l-diverse release, those with n // l rows, as flags; None where there is none.

    A group Q is l-eligible, so |Q| - l * Q(v) is at least 0; over all groups it adds up to n - l * n(v), which is below l for such a value. So it is below l in
    each: Q(v) = |Q| // l, which no height exceeds. Residues of TP have such values, since phases two and three stop at the first row that makes R eligible.
    """
    rows = contingency.histogram
    forced = rows == rows.sum() // l
    return forced.astype(np.int8) if forced.any() else None


def split(
    contingency: Contingency, l: int, seed: int | None = None, few: int | None = None, k: int = 1, forced: NDArray[np.int8] | None = None
) -> Split:
    """Run the three phases on the cells of an l-eligible table.

    Parameters
    ----------
    contingency : Contingency
    l : int
    seed : int, optional
        Shuffles the order in which groups and values are met; default: by code.
    few : int, optional
        Moves up to which rows go one by one; the outcome does not depend on it.
    k : int
        The least size of a group, and of R: phase one keeps a group or nothing, and what the other phases leave smaller goes to R.
    forced : ndarray of int8, shape (m,), optional
        Of :func:`forced_pillars`, so that phase one keeps no more than a release can. The paper's TP does without.
    """
    c = contingency
    kept = np.empty(len(c.count), dtype=np.int64)
    size, height = phase_one(c.indptr, c.count, l, kept, k, c.sensitive, forced)
    return later_phases(c, l, kept, size, height, c.histogram - tally(c.sensitive, c.m, kept), seed, few, k)


def later_phases(
    contingency: Contingency,
    l: int,
    kept: NDArray[np.int64],
    size: NDArray[np.int64],
    height: NDArray[np.int64],
    residue: NDArray[np.int64],
    seed: int | None = None,
    few: int | None = None,
    k: int = 1,
    stop: Callable[[Phases], None] | None = None,
) -> Split:
    """Phases two and three, and least sizes, from what phase one left; `kept`, `size`, `height` and `residue` are changed.

    Parameters
    ----------
    kept : ndarray of int64, shape (C,)
        Rows of each cell that phase one keeps.
    size, height : ndarray of int64, shape (groups,)
        Of what it keeps of each group.
    residue : ndarray of int64, shape (m,)
        Rows of each SA value that it removes, also from groups that are not in `contingency`.
    stop : callable, optional
        Looks at what phase two left, before anything else happens.
    """
    c = contingency
    sizes, tops = [int(residue.sum())], [int(residue.max(initial=0))]
    if sizes[0] // l >= tops[0]:
        settle_sizes(c.indptr, c.sensitive, kept, residue, l, k)
        return Split(kept, 1, (sizes[0],) * 3, (tops[0],) * 3, 0)
    groups = np.arange(c.groups, dtype=np.int32)
    values = np.arange(c.m, dtype=np.int32)
    if seed is not None:
        rng = np.random.default_rng(seed)
        rng.shuffle(groups)
        rng.shuffle(values)
    live = np.flatnonzero(kept).astype(np.int32)  # what phase one emptied stays empty
    group_of_cell, value = c.group_of_cell, c.sensitive[live]
    if seed is None:  # cells come by group: a stable sort by value alone, by radix where values fit 16 bits
        column = live[np.argsort(value.astype(np.uint16) if c.m <= 1 << 16 else value, kind="stable")]
    else:
        column = live[np.lexsort((np.argsort(groups)[group_of_cell[live]], value))]
    column_indptr = np.searchsorted(c.sensitive[column], np.arange(c.m + 1)).astype(np.int64)
    run = Phases(
        InvertedList(c.indptr, kept, size, height),
        c.sensitive,
        group_of_cell,
        residue,
        l,
        column,
        column_indptr,
        groups,
        np.argsort(values).astype(np.int32),
        values,
        **({} if few is None else {"few": few}),
    )
    phase = 2
    run.phase_two()
    if stop is not None:
        stop(run)
    sizes.append(run.residue_size)
    tops.append(run.height)
    if not run.eligible:
        phase = 3
        run.phase_three()
    sizes.append(run.residue_size)
    tops.append(run.height)
    settle_sizes(c.indptr, c.sensitive, kept, residue, l, k)
    return Split(kept, phase, (sizes[0], sizes[1], sizes[2]), (tops[0], tops[1], tops[2]), run.rounds)


@register(
    "tp",
    guarantee="l on suppressed tuples, l * d on stars, for k up to l",
    cost="O(n) for phases one and two, O(s * n) in all",
    source="Xiao, Yi, Tao, EDBT 2010, section 5, arXiv:0912.5426",
)
def tp(
    contingency: Contingency,
    l: int,
    *,
    k: int = 1,
    seed: int | None = None,
    nodes: bool = False,
    loss: str | Mapping[str, Mapping[str, float]] | None = None,
) -> Release:
    """Three-phase l-approximation of tuple minimisation: groups of identical rows and one suppressed residue.

    Parameters
    ----------
    contingency : Contingency
        Cells of an l-eligible table.
    l : int
    k : int
        The least size of a group.
    seed : int, optional
        Random ties instead of smallest code first.
    nodes : bool, default False
        Groups as without; each publishes the lowest nodes of taxonomies above what it holds.
    loss : {"ncp", "level"} or mapping, default "ncp"
        What of nodes is counted; see the algorithm ``lagrangian``.

    Returns
    -------
    Release
        ``info`` holds ``phase``, ``residue_sizes``, ``residue_heights`` and ``rounds``.

    Notes
    -----
    Guarantee: at most l times the fewest suppressed tuples (Theorem 3), so at most l * d times the fewest stars; optimal
    tuples when it ends in phase one, at most OPT + l - 1 in phase two. Time O(n) for phases one and two and O(s * n)
    in all, s groups of equal rows; space O(n).

    With k above l, phase one is still forced and unique: R contains what it removes whatever the release, so its rows, l times its height and, where there are
    some, k bound OPT; Lemma 4 and what leads to Theorem 3's bound on h(R) hold as they stand, since phases two and three do not look at sizes. What is lost is
    the end: groups that these left with fewer than k rows follow into R, at most k - 1 rows for each that left before, so at most k * l times the fewest
    suppressed tuples. It stays optimal where it ends in phase one with at least k rows in R. An R of fewer than k rows is filled up besides, about to k rows
    where a group can spare them; where none can, with the smallest group.

    References
    ----------
    X. Xiao, K. Yi, Y. Tao: The Hardness and Approximation Algorithms for L-Diversity. EDBT 2010, section 5,
    arXiv:0912.5426.

    Examples
    --------
    >>> import ldiv
    >>> data = ldiv.Microdata.from_codes([[0], [0], [1], [1], [2], [2]], [0, 1, 0, 0, 1, 1])
    >>> release = ldiv.solve(data, l=2, algorithm="tp")
    >>> release.stars, release.phase
    (4, 1)
    """
    lattice = lattice_for(contingency, nodes, loss)
    return along(suppress(contingency, l, split(contingency, l, seed, k=k)), lattice)


def suppress(contingency: Contingency, l: int, result: Split) -> Release:
    """TP's release from its outcome: the residue is one group."""
    c = contingency
    group, cell, count = kept_and_left(result.kept, c.count, c.group_of_cell, c.groups)
    seal(cell, count)
    info = result.info
    del result  # a sixth of the peak of memory where nearly every row is a cell
    return Release.from_entries(c, group, cell, count, l=l, algorithm="tp", info=info)
