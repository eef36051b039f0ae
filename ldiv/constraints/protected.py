"""Columns that are never starred, or go up their hierarchies to a level at the most: the table is released separately for each combination of what they show
there."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.algorithms import Algorithm
from ldiv.bounds.certificate import Prices
from ldiv.bounds.proof import prove
from ldiv.limited import Limited
from ldiv.release.builder import Entries
from ldiv.release.nodes import lattice_for, weighed
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency
from ldiv.table.lattice import levels_of
from ldiv.table.ranking import rank_rows

__all__ = ["label_of_part", "parts_of", "solve_protected"]


def parts_of(contingency: Contingency, kept: Mapping[int, int]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The part of each group of equal rows when the table falls apart by what the attributes `kept` show on their levels, and a group of each part."""
    c = contingency
    if not kept:
        return np.zeros(c.groups, dtype=np.int32), np.zeros(min(c.groups, 1), dtype=np.int32)
    columns = [np.ascontiguousarray(levels_of(c.domains[j])[level][c.codes[:, j]] if level else c.codes[:, j]) for j, level in kept.items()]
    part, first, _ = rank_rows(columns, [c.sizes[j] for j in kept])
    return part, first


def label_of_part(contingency: Contingency, kept: Mapping[int, int], group: int) -> str:
    """What a part shows of its protected columns, for people."""
    return ", ".join(f"{contingency.domains[j].name}={_label(contingency, j, level, group)}" for j, level in kept.items())


def _label(contingency: Contingency, attribute: int, level: int, group: int) -> object:
    domain, code = contingency.domains[attribute], int(contingency.codes[group, attribute])
    if not level or domain.taxonomy is None:
        return domain.label(code)
    node = levels_of(domain)[level]
    return domain.taxonomy.text[domain.taxonomy.covering(np.flatnonzero(node == node[code]).tolist())]


def solve_protected(
    contingency: Contingency,
    l: int,
    algorithm: Algorithm,
    kept: Mapping[int, int],
    asked: Mapping[Any, int] | None = None,
    *,
    k: int = 1,
    seed: int | None = None,
    **options: Any,
) -> Release:
    """Solve each part of the table with equal protected values by itself, on the other attributes; those that are protected up to a level have only what
    is below it there, and the node that the whole part shows in place of the star.

    A group that keeps the protected columns lies within one part, so nothing is lost: the best releases of the parts together are the best
    release that stars no protected column, and so are their bounds, where the algorithm proves one: its prices, side by side, prove it of the whole
    table's releases that star no protected column (:class:`ldiv.bounds.certificate.Prices`). Every part must be l-eligible and have at least k rows: :func:`ldiv.constraints.enforce.possible` says so before.
    """
    c = contingency
    free = [j for j in range(c.d) if kept.get(j) != 0]
    highest = {c.domains[j].name: level for j, level in kept.items() if level}
    given = {c.domains[j].name: level for j, level in kept.items()} if asked is None else asked  # as the hierarchies count
    about: dict[str, Any] = {"protected": tuple(name for name, level in given.items() if not level)}
    if any(given.values()):
        about["highest"] = {name: level for name, level in given.items() if level}
    lattice = lattice_for(c, bool(options.get("nodes")), options.get("loss"))
    if not free:  # nothing may be starred, and nothing need be: parts are groups of equal rows
        entries, every = Entries(), np.arange(len(c.count), dtype=np.int32)
        entries.add(c.group_of_cell, every, c.count, c.groups)
        return weighed(entries.release(c, lattice, l=l, k=k, algorithm=algorithm.name, info=about), lattice)
    part_of_group, first = parts_of(c, kept)
    part_of_cell = part_of_group[c.group_of_cell]
    order = np.argsort(part_of_cell, kind="stable")
    ends = np.searchsorted(part_of_cell[order], np.arange(len(first) + 1))
    entries = Entries()
    if isinstance(options.get("loss"), Mapping):  # of what parts still have
        options["loss"] = {name: table for name, table in options["loss"].items() if name in [c.domains[j].name for j in free]} or None
    if highest:
        options["loss"] = Limited(options.get("loss"), highest)
    price = np.zeros(len(c.count), dtype=np.int64)
    most, proven = 1, False
    for p in range(len(first)):
        mine = np.zeros_like(c.count)
        chosen = order[ends[p] : ends[p + 1]]
        mine[chosen] = c.count[chosen]
        whole, cells = c.restrict(mine)
        part = Contingency(
            np.ascontiguousarray(whole.codes[:, free]),
            whole.indptr,
            whole.sensitive,
            whole.count,
            tuple(c.domains[j] for j in free),
            c.sensitive_domain,
        )
        release = Release.verify(algorithm.solve(part, l, k=k, seed=seed, **options))
        group = np.repeat(np.arange(release.groups), np.diff(release.indptr))
        entries.add(group, cells[release.cell], release.count, release.groups)
        proven = proven or "bound" in release.info
        proof = release.proof
        if proof is not None and proof.prices is not None:  # of the others prices of 0 prove nothing, which is true
            most = max(most, proof.prices.most)
            price[cells] = proof.prices.value * (lattice.unit if proof.prices.loss is None else 1)  # only protected columns have hierarchies
    info: dict[str, Any] = about
    if proven:
        if lattice.nodes:  # parts may have left out different combinations of levels: none is left out of what is proven
            most = prod(kept.get(j, lattice.height[j]) + 1 for j in free)
        prices = Prices(
            l,
            price,
            most,
            k if k > l else 1,
            tuple(kept),
            highest=tuple(given[c.domains[j].name] for j in kept) if any(given.values()) else (),
            **lattice.priced,
        )
        info.update(bound=prove(c, prices, l), prices=prices)  # what parts prove by themselves is rounded up once for each
    return weighed(entries.release(c, lattice, l=l, k=k, algorithm=algorithm.name, info=info), lattice)
