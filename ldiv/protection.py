"""Columns that are never starred: the table is released separately for each combination of their values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ldiv.algorithms import Algorithm
from ldiv.algorithms.cascade import Entries
from ldiv.contingency import Contingency, rank_rows
from ldiv.errors import InputError, NotEligibleError
from ldiv.privacy import require_eligible
from ldiv.release import Release

__all__ = ["solve_protected"]


def solve_protected(
    contingency: Contingency, l: int, algorithm: Algorithm, protect: Sequence[str], *, seed: int | None = None, **options: Any
) -> Release:
    """Solve each part of the table with equal protected values by itself, on the other attributes.

    A group that keeps the protected columns lies within one part, so nothing is lost: the best releases of the parts together are the best
    release that stars no protected column, and so are their bounds (``info["bound"]`` where the algorithm proves one).

    Raises
    ------
    InputError
        Unknown columns, no column left, a part that is not l-eligible, or an algorithm that publishes sub-domains.
    """
    c = contingency
    names = [domain.name for domain in c.domains]
    for name in protect:
        if name not in names:
            raise InputError(f"protect: {name!r} is not a quasi-identifier; there are: {', '.join(map(repr, names))}")
    if not algorithm.suppression:
        raise InputError(f"protect works with algorithms that publish values and stars only, not with {algorithm.name!r}")
    kept = [names.index(name) for name in dict.fromkeys(protect)]
    free = [j for j in range(c.d) if j not in kept]
    if not free:
        raise InputError("protect names every quasi-identifier: nothing could be starred")
    part_of_group, first, _ = rank_rows([np.ascontiguousarray(c.codes[:, j]) for j in kept], [c.sizes[j] for j in kept])
    part_of_cell = part_of_group[c.group_of_cell]
    order = np.argsort(part_of_cell, kind="stable")
    ends = np.searchsorted(part_of_cell[order], np.arange(len(first) + 1))
    entries = Entries()
    bound: int | None = 0
    for p in range(len(first)):
        mine = np.zeros_like(c.count)
        chosen = order[ends[p]: ends[p + 1]]
        mine[chosen] = c.count[chosen]
        whole, cells = c.restrict(mine)
        part = Contingency(
            np.ascontiguousarray(whole.codes[:, free]), whole.indptr, whole.sensitive, whole.count, tuple(c.domains[j] for j in free),
            c.sensitive_domain,
        )
        try:
            require_eligible(part, l)
        except NotEligibleError as error:
            where = ", ".join(f"{names[j]}={c.domains[j].label(int(c.codes[first[p], j]))}" for j in kept)
            raise InputError(
                f"protect={list(protect)!r} is impossible with l = {l}: of the {error.rows:,} rows with {where}, {error.count:,} have the sensitive "
                f"value {error.value!r}; protect fewer columns, coarsen them, or ask for at most l = {error.max_l}"
            ) from None
        release = algorithm.solve(part, l, seed=seed, **options)
        group = np.repeat(np.arange(release.groups), np.diff(release.indptr))
        entries.add(group, cells[release.cell], release.count, release.groups)
        bound = bound + release.info["bound"] if bound is not None and "bound" in release.info else None
    info = {} if bound is None else {"bound": bound}
    return entries.release(c, l=l, algorithm=algorithm.name, info={**info, "protected": tuple(protect)})
