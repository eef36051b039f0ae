"""Everything that a study measures of one release; what a seed draws is measured on the release that all seeds share."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from experiments.cells import Cell
from experiments.measure import MEASURES, lost, microdata
from ldiv.algorithms import get
from ldiv.anatomy import anatomize
from ldiv.api import solve
from ldiv.attacks import definetti, downcoding, negated, reidentification
from ldiv.errors import NotEligibleError
from ldiv.release.measures import average_group_size, c_avg, discernibility, kl_divergence, ncp
from ldiv.release.release import Release
from ldiv.release.resolution import ambiguity, non_uniform_entropy, precision
from ldiv.utility import Workload, k_marginal, total_variation

__all__ = ["ANATOMY", "COLUMNS", "SEEDS", "named", "recodes", "study"]

ANATOMY = "anatomy"  # a release kind of its own, beside the algorithms of the registry
SEEDS = 20
QUERIES = 2_000
SMALL = 1 << 16  # points times groups beyond which KL-divergence of sub-domains is left out
# Each measure: what it is, and whether less is better.
COLUMNS = {
    "stars": ("share of cells starred", True),
    "ncp": ("NCP: share of its domain that a cell leaves open", True),
    "kl": ("KL-divergence, nats", True),
    "query_median": ("relative error of COUNT queries (Anatomy's, 3 predicates and the SA, 5 %), median", True),
    "query_mean": ("the same, mean", True),
    "pairs": ("total variation of pairs of a quasi-identifier and the SA, mean", True),
    "k_marginal": ("K-marginal of all pairs, 1000 at best", False),
    "seconds": ("seconds of the processor", True),
    "guessed": ("deFinetti attack: sensitive values guessed right", True),
    "gain": ("what it guesses beyond the commonest value of the group", True),
    "recovered": ("hidden cells guessed right (downcoding)", True),
    "ruled_out": ("share of rows above 1/l for who can rule one value out", True),
    "prosecutor": ("prosecutor risk, mean", True),
    "marginals": ("total variation of single quasi-identifiers, mean", True),
    "precision": ("Sweeney's precision", False),
    "entropy": ("non-uniform entropy, share of its most", True),
    "ambiguity": ("combinations of values that a row may be, mean", True),
    "discernibility": ("discernibility, over rows squared", True),
    "c_avg": ("rows a group over the least asked", True),
    "group_size": ("rows a group", True),
    "starred_rows": ("share of rows with a star", True),
    "groups": ("groups", False),
    "lost": ("share of its domain that a cell shows, a single value none (NCP without the -1), which is minimised", True),
    "bound": ("proven least of it", False),
}


def study(cell: Cell, seed: int) -> dict[str, Any]:
    """All measures of one release, with a seed's queries; of one that does not exist, why, or the largest l there is."""
    release, found = released(replace(cell, measure=""), seed if cell.algorithm == ANATOMY else 0)
    if release is None:
        return found
    data = microdata(cell.table)
    errors = Workload.anatomy(data, dims=min(3, data.d), selectivity=0.05, count=QUERIES, seed=seed).errors(release)
    return found | {"query_mean": errors.mean, "query_median": errors.median, "query_left_out": errors.left_out}


@lru_cache(maxsize=1)  # the cells of one release stand together in a run
def released(cell: Cell, draw: int) -> tuple[Any, dict[str, Any]]:
    """A release and what is measured of it without a draw; None and why, or the largest l of a table that admits none. Only Anatomy draws."""
    data = microdata(cell.table)
    if (why := _none(cell, data.n)) is not None:
        return None, {"note": why, "n": data.n}
    data.contingency  # noqa: B018  counted once for all algorithms, so that the first does not pay for those after it
    started = time.process_time()  # of the processor: what else runs does not count
    try:
        release = anatomize(data, l=cell.l, seed=draw) if cell.algorithm == ANATOMY else _solved(cell)
    except NotEligibleError as error:
        return None, {"infeasible": error.max_l, "n": data.n}
    found: dict[str, Any] = {"seconds": time.process_time() - started, "n": data.n, "d": data.d}
    names = [*data.names, data.sensitive_domain.name]
    one, two = total_variation(release), total_variation(release, 2)
    guessed = definetti(release)
    found |= {
        "marginals": float(np.mean([one[(name,)] for name in names[:-1]])),
        "pairs": float(np.mean([two[name, names[-1]] for name in names[:-1]])),
        "k_marginal": k_marginal(release),
        "guessed": guessed.accuracy,
        "gain": guessed.accuracy - guessed.commonest,
        "ruled_out": negated(release, 1).above,
        "groups": release.groups,
    }
    return release, found | (_of_release(release) if isinstance(release, Release) else {})


def _none(cell: Cell, n: int) -> str | None:
    """Why there can be no such release, whatever the sensitive values."""
    if cell.k > n:
        return f"the table has {n:,} rows"
    if cell.k > 1 and cell.algorithm == ANATOMY:
        return "Anatomy publishes quasi-identifiers as they are, so a combination is published as often as it occurs"
    return None


def _solved(cell: Cell) -> Release:
    nodes = {"nodes": True} if cell.table.hierarchies and get(cell.algorithm).generalises else {}
    return solve(microdata(cell.table), cell.l, k=cell.k, algorithm=cell.algorithm, **nodes)


def recodes(algorithm: str) -> bool:
    """Whether it publishes along hierarchies where a table has some; else values and stars only, or quasi-identifiers as they are."""
    return algorithm != ANATOMY and (get(algorithm).generalises or not get(algorithm).suppression)


def _of_release(release: Release) -> dict[str, Any]:
    hidden, cells = downcoding(release), release.n * release.d
    found = {
        "stars": release.stars / cells,
        "starred_rows": release.suppressed_rows / release.n,
        "ncp": ncp(release),
        "lost": lost(release),
        "precision": precision(release),
        "entropy": non_uniform_entropy(release),
        "ambiguity": ambiguity(release),
        "discernibility": discernibility(release) / release.n**2,
        "c_avg": c_avg(release),
        "group_size": average_group_size(release),
        "recovered": hidden["all"].share if hidden["all"].cells else None,
        "recovered_by_column": hidden["all"].column if hidden["all"].cells else None,
        "prosecutor": reidentification(release)["prosecutor"].average,
        "max_l": release.max_l,
    }
    if release.is_suppression or release.contingency.groups * release.groups < SMALL * SMALL // 8:
        found["kl"] = kl_divergence(release)
    if release.proof is not None:
        found["bound"] = release.certificate.bound / release.certificate.unit / cells
    return found


def named(seed: int) -> str:
    """The measure of a seed, as cells name it."""
    return f"study-{seed}"


def _of_seed(seed: int) -> Callable[[Cell], dict[str, Any]]:
    def measure(cell: Cell) -> dict[str, Any]:
        return study(cell, seed)

    return measure


MEASURES |= {named(seed): _of_seed(seed) for seed in range(SEEDS)}
