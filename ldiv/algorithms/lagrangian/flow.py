"""Rows flow, heights are whole: the exact program of a part of the table, by HiGHS.

The heights lemma: with the heights H of the QI-groups whole and given, rows are a flow from cells through items (at most H rows of an SA value) into groups (at
least l H rows, and k), and the vertices of a flow with whole bounds are whole. So only heights have to be branched on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.algorithms.lagrangian.clock import Clock

__all__ = ["Limit", "Program", "Solution", "solve"]

PERTURBATION = 0.4  # of the cost of all rows together, at the most: which of several best solutions is found is left to it, and nothing else
NEARLY = 1e-4  # from a whole number
LEAST = 0.05  # seconds


@dataclass(frozen=True)
class Program:
    """Cells whose rows are to be published anew, in groups that hold others' rows besides.

    Attributes
    ----------
    cell, item : ndarray of int64, shape (V,)
        Of each variable: rows of this cell in that item.
    cost : ndarray of float64, shape (V,)
    rows : ndarray of int64
        Of each cell.
    group : ndarray of int64
        The group of each item.
    given : ndarray of int64
        Rows of each item that stay.
    size, height : ndarray of int64
        Of each group's rows that stay.
    start : ndarray of int64, shape (V,)
        The rows as they are.
    """

    cell: NDArray[np.int64]
    item: NDArray[np.int64]
    cost: NDArray[np.float64]
    rows: NDArray[np.int64]
    group: NDArray[np.int64]
    given: NDArray[np.int64]
    size: NDArray[np.int64]
    height: NDArray[np.int64]
    start: NDArray[np.int64]


@dataclass(frozen=True)
class Limit:
    """How long a program's search goes on: counts, which are the same on every machine, and a clock only where somebody set or stopped it.

    Attributes
    ----------
    nodes : int
        Of the search.
    checks : int
        How often the solver asks whether to go on, which it does again and again within a node, too: those of some programs take a hundred times as long
        as those of others.
    clock : Clock
    """

    nodes: int
    checks: int
    clock: Clock = field(default_factory=Clock)


@dataclass(frozen=True)
class Solution:
    """Rows of each variable, None where nothing was found; whether nothing is better; and how hard it was, in iterations of the simplex method."""

    rows: NDArray[np.int64] | None
    best: bool
    work: int


def solve(program: Program, l: int, k: int, limit: Limit) -> Solution:
    """The best rows for a program, or the best met within a limit. O(V) to set up."""
    from scipy.sparse import coo_matrix  # here, not above: scipy doubles the start of the command

    many, groups, cells, items = len(program.cell), len(program.size), len(program.rows), len(program.group)
    variable, item, group = np.arange(many), np.arange(items), np.arange(groups)
    below, enough = cells, cells + items  # where the rows of the heights, and of the sizes, begin
    least = enough + groups if k > 1 else enough  # and those of the least size
    parts = [
        (np.ones(many), program.cell, variable),
        (np.ones(many), below + program.item, variable),
        (-np.ones(items), below + item, many + program.group),
        (np.ones(many), enough + program.group[program.item], variable),
        (-np.full(groups, float(l)), enough + group, many + group),
    ]
    low = [program.rows.astype(float), np.full(items, -np.inf), -program.size.astype(float)]
    high = [program.rows.astype(float), -program.given.astype(float), np.full(groups, np.inf)]
    if k > 1:  # a group in use has at least k rows, and no height needs to pass the rows there are
        parts += [(np.ones(many), least + program.group[program.item], variable), (-np.full(groups, float(k)), least + group, many + groups + group)]
        parts += [(np.ones(groups), least + groups + group, many + group)]
        reach = float(program.rows.sum()) + program.height
        parts += [(-reach, least + groups + group, many + groups + group)]
        low += [-program.size.astype(float), np.full(groups, -np.inf)]
        high += [np.full(groups, np.inf), np.zeros(groups)]
    value, row, column = (np.concatenate(part) for part in zip(*parts, strict=True))
    switches = groups if k > 1 else 0
    shape = (sum(map(len, low)), many + groups + switches)
    matrix = coo_matrix((value, (row, column)), shape=shape).tocsr()
    cost = np.concatenate([program.cost, np.zeros(groups + switches)])
    bounds = (
        np.concatenate([np.zeros(many), program.height.astype(float), np.zeros(switches)]),
        np.concatenate([program.rows[program.cell].astype(float), np.full(groups, float(program.rows.sum()) + program.height), np.ones(switches)]),
    )
    whole = np.concatenate([np.zeros(many), np.ones(groups + switches)])
    found, best, work = _highs(cost, matrix, np.concatenate(low), np.concatenate(high), bounds, whole, limit)
    if found is None:
        return Solution(None, best, work)
    rows = np.rint(found[:many])
    if np.abs(rows - found[:many]).max(initial=0) > NEARLY:  # a point between two vertices: the flow at its heights is whole
        low_height, high_height = bounds
        heights = np.rint(found[many:])
        fixed = np.concatenate([low_height[:many], heights]), np.concatenate([high_height[:many], heights])
        found, _, more = _highs(cost, matrix, np.concatenate(low), np.concatenate(high), fixed, whole * 0, limit)
        work += more
        if found is None or np.abs(np.rint(found[:many]) - found[:many]).max(initial=0) > NEARLY:
            return Solution(None, best, work)
        rows = np.rint(found[:many])
    return Solution(rows.astype(np.int64), best, work)


def _highs(
    cost: NDArray[np.float64],
    matrix: Any,
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    bounds: tuple[NDArray[np.float64], NDArray[np.float64]],
    whole: NDArray[np.float64],
    limit: Limit,
) -> tuple[NDArray[np.float64] | None, bool, int]:
    """A point, whether it is the best, and the iterations it took. Through highspy, which can be interrupted; else through scipy."""
    try:
        import highspy
    except ImportError:
        from scipy.optimize import Bounds, LinearConstraint, milp

        options = {"mip_rel_gap": 0.0, "node_limit": limit.nodes, "time_limit": max(limit.clock.left, LEAST)}
        found = milp(cost, constraints=LinearConstraint(matrix, low, high), integrality=whole, bounds=Bounds(*bounds), options=options)
        return found.x, found.status == 0, (1 + int(getattr(found, "mip_node_count", 0) or 0)) * 100
    solver: Any = highspy.Highs.__mro__[1]()  # the class itself greets on standard output as it is made, where a release may be written
    for name, value in (
        ("output_flag", False),
        ("threads", 1),
        ("mip_rel_gap", 0.0),
        ("mip_abs_gap", 1e-6),  # with larger ones it ends too early, with less than they allow
        ("mip_max_nodes", limit.nodes),
    ):
        solver.setOptionValue(name, value)
    raised: list[BaseException] = []
    checks = 0

    def look(kind: Any, message: str, now: Any, answer: Any, _: Any) -> None:
        nonlocal checks
        try:  # where Python's signals arrive, such as Ctrl-C, in the middle of what is not Python
            checks += 1
            if checks > limit.checks or limit.clock.over():
                answer.user_interrupt = True
        except BaseException as error:  # noqa: BLE001  it must not pass through the solver
            raised.append(error)
            answer.user_interrupt = True

    solver.setCallback(look, None)
    solver.startCallback(highspy.cb.HighsCallbackType.kCallbackMipInterrupt)
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = len(cost), len(low)
    model.col_cost_, model.col_lower_, model.col_upper_ = cost, *bounds
    model.row_lower_, model.row_upper_ = low, high
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_, model.a_matrix_.index_, model.a_matrix_.value_ = matrix.indptr, matrix.indices, matrix.data
    rows = getattr(highspy.HighsVarType, "kImplicitInteger", highspy.HighsVarType.kContinuous)  # whole as soon as heights are
    model.integrality_ = [highspy.HighsVarType.kInteger if w else rows for w in whole]
    solver.passModel(model)
    # Not told where to start from: with a point to start from HiGHS calls others the best that are not (1.16: one in five of these programs).
    solver.run()
    if raised:
        raise raised[0]
    info = solver.getInfo()
    if info.primal_solution_status != 2:  # feasible
        return None, False, int(info.simplex_iteration_count)
    best = solver.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return np.array(solver.getSolution().col_value), best, int(info.simplex_iteration_count)
