"""What is measured of a cell. Each function takes the cell's table and returns numbers that JSON can hold."""

from __future__ import annotations

import csv
import gc
import re
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from experiments.cells import Cell, Table
from experiments.families import gadget_table, phase_three_table, small_table
from experiments.hierarchies import ARX_FILES, of_acs, of_adult
from ldiv.algorithms import get
from ldiv.algorithms.lagrangian import EFFORTS
from ldiv.algorithms.multidim import transform
from ldiv.api import solve
from ldiv.datasets.acs import load as load_acs
from ldiv.datasets.census import occ, sal
from ldiv.datasets.external import adult, adult_frame
from ldiv.release.measures import kl_divergence, widths
from ldiv.release.release import Release
from ldiv.table.contingency import Contingency
from ldiv.table.domain import Domain
from ldiv.table.lattice import Lattice
from ldiv.table.microdata import Microdata
from ldiv.tradeoff import lift
from ldiv.utility import as_released, k_marginal

SHARED, NIST = Path(__file__).parents[2] / "shared" / "data", "nist_national2019.csv"  # real tables that do not travel with the project
ADULT = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country", "occupation", "income")

__all__ = ["MEASURES", "SOURCES", "DataSet", "lost", "measure", "microdata"]


@dataclass(frozen=True)
class DataSet:
    """A data set of the experiments.

    Attributes
    ----------
    load : callable
        From (n, sensitive) to the Microdata of the first n rows, all QI attributes.
    files : callable
        The files it reads beside those that are shipped; stored results depend on their bytes.
    hierarchies : callable, optional
        From names of attributes to the hierarchies of those that have one, as :func:`ldiv.anonymize` takes them.
    """

    load: Callable[[int, str], Microdata]
    files: Callable[[], list[Path]] = list
    hierarchies: Callable[[tuple[str, ...]], dict[str, Any]] | None = None


def adult_rows(n: int, sensitive: str) -> Microdata:
    """UCI Adult, its rows without a missing value; without a sensitive attribute, also what else it is a quasi-identifier."""
    if sensitive:
        return adult(adult_file(), complete=True).head(n)
    frame = adult_frame(adult_file(), complete=True)
    return Microdata.from_frame(frame, ADULT, keep=False).head(n)


def acs_rows(n: int, sensitive: str) -> Microdata:
    """ACS 2018; without a sensitive attribute its quasi-identifiers alone."""
    data = load_acs(sensitive or None).head(n)
    return data if sensitive else Microdata.from_codes(data.codes, domains=data.domains)


def nist_rows(n: int, sensitive: str) -> Microdata:
    """The national excerpt of NIST's data for the evaluation of deidentification, all features as text; with a sensitive attribute ages are numbers."""
    with (SHARED / NIST).open(newline="") as stream:
        records = list(csv.DictReader(stream))
    frame = {name: np.array([row[name] for row in records]) for name in records[0]}
    if not sensitive:
        return Microdata.from_frame(frame, list(frame), keep=False).head(n)
    frame["AGEP"] = frame["AGEP"].astype(int)
    return Microdata.from_frame(frame, [name for name in frame if name != sensitive], sensitive, keep=False).head(n)


SOURCES = {
    "acs2018": DataSet(lambda n, sensitive: acs_rows(n, sensitive), hierarchies=of_acs),
    "sal": DataSet(lambda n, sensitive: sal(n, sensitive=sensitive), hierarchies=of_acs),
    "occ": DataSet(lambda n, sensitive: occ(n, sensitive=sensitive), hierarchies=of_acs),
    "phase three": DataSet(lambda k, l: phase_three_table(k, int(l))),
    "small": DataSet(lambda seed, _: small_table(seed)),
    "gadget": DataSet(lambda seed, _: gadget_table(seed)),
    "adult": DataSet(adult_rows, lambda: [path for path in [adult_file()] if path is not None] + sorted(ARX_FILES.glob("*.csv")), of_adult),
    "nist": DataSet(nist_rows, lambda: [path for path in [SHARED / NIST] if path.is_file()]),
}


@lru_cache(maxsize=4)
def whole(dataset: str, n: int, sensitive: str) -> Microdata:
    """All QI attributes of the first n rows of a data set."""
    return SOURCES[dataset].load(n, sensitive)


def adult_file() -> Path | None:
    """Where the checkout's neighbour has UCI Adult; else the loader looks in its usual places."""
    beside = SHARED / "adult" / "adult.data.gz"
    return beside if beside.is_file() else None


@lru_cache(maxsize=1)
def microdata(table: Table) -> Microdata:
    """A table of the grid: a data set on some attributes, all where none are named."""
    data = whole(table.dataset, table.n, table.sensitive)
    data = data if not table.attributes or table.attributes == data.names else data.project(table.attributes)
    made = SOURCES[table.dataset].hierarchies
    return data if not table.hierarchies or made is None else data.with_hierarchies(made(data.names))


def quality(cell: Cell) -> dict[str, Any]:
    """Stars, suppressed rows, groups and, of TP, the phase it ended in and R after every phase."""
    release = solve(microdata(cell.table), cell.l, algorithm=cell.algorithm)
    return {
        "stars": release.stars,
        "suppressed_rows": release.suppressed_rows,
        "groups": release.groups,
        "n": release.n,
        "d": release.d,
        **{k: v for k, v in release.info.items() if k in ("phase", "residue_sizes", "residue_heights", "rounds", "optimal")},
    }


def divergence(cell: Cell) -> dict[str, Any]:
    """KL-divergence in nats; of a suppression release also that of its multi-dimensional transform."""
    release = solve(microdata(cell.table), cell.l, algorithm=cell.algorithm)
    result = {"kl": kl_divergence(release)}
    if release.is_suppression:
        result["multidim"] = kl_divergence(transform(release))
    return result


def seconds(cell: Cell) -> dict[str, Any]:
    """Wall seconds from codes in memory to the verified release, cells counted anew; the median of three runs."""
    data = microdata(cell.table)
    times = []
    for _ in range(3):
        gc.collect()
        started = time.perf_counter()
        solve(Contingency.from_microdata(data), cell.l, algorithm=cell.algorithm)
        times.append(time.perf_counter() - started)
    return {"seconds": statistics.median(times)}


def nearness(cell: Cell) -> dict[str, Any]:
    """Stars and the bound that the release proves, KL-divergence, and seconds (beside other work)."""
    started = time.perf_counter()
    release = solve(microdata(cell.table), cell.l, k=cell.k, algorithm=cell.algorithm)
    took = time.perf_counter() - started
    certificate = release.certificate
    return {"stars": release.stars, "bound": certificate.bound, "kl": kl_divergence(release), "seconds": took}


def recoding(cell: Cell) -> dict[str, Any]:
    """What is lost along the data set's hierarchies, in % of what all stars lose, and the bound on it."""
    started = time.perf_counter()
    data = microdata(replace(cell.table, hierarchies=True))
    nodes = {"nodes": True} if get(cell.algorithm).generalises else {}
    release = solve(data, cell.l, k=cell.k, algorithm=cell.algorithm, **nodes)
    took = time.perf_counter() - started
    whole, proof = max(release.n * release.d, 1), release.proof
    bound = release.certificate.bound / release.certificate.unit if proof is not None and proof.loss is not None else 0
    return {"lost": 100 * lost(release), "bound": 100 * bound / whole, "kl": kl_divergence(release), "stars": release.stars, "seconds": took}


def lost(release: Release) -> float:
    """What the search along hierarchies minimises, of any release: the share of its domain that a cell shows, a value that is kept 0, a star 1; the mean."""
    shown = widths(release)
    parts = np.where(shown > 1, shown / np.array(release.contingency.sizes), 0).sum(axis=1)
    return float(release.group_sizes @ parts) / max(release.n * release.d, 1)


def coarsened(cell: Cell) -> dict[str, Any]:
    """The trade-off of the paper's section 5.6: every attribute on one level for all rows, then stars; the levels climbed one by one while that loses less."""
    started = time.perf_counter()
    lattice = Lattice.of_nodes(microdata(replace(cell.table, hierarchies=True)).contingency)

    def lost(levels: tuple[int, ...], algorithm: str) -> float:
        columns = [lattice.column[j, level] for j, level in enumerate(levels)]
        table, _ = lattice.table.project(columns)
        release = solve(table, cell.l, k=cell.k, algorithm=algorithm)
        each = np.zeros(release.groups)
        for j, (column, shown) in enumerate(zip(columns, release.published.T, strict=True)):
            part = np.broadcast_to(lattice.loss[column], lattice.table.sizes[column])
            each += np.where(shown < 0, lattice.star[j], part[np.maximum(shown, 0)])
        return 100 * float(each @ release.group_sizes) / (lattice.most * table.n)

    at = (0,) * len(lattice.height)
    best = lost(at, "cascade")
    while True:
        above = [(*at[:j], level + 1, *at[j + 1 :]) for j, level in enumerate(at) if level + 1 < lattice.height[j]]
        tried = [(lost(levels, "cascade"), levels) for levels in above]
        if not tried or min(tried)[0] >= best:
            break
        best, at = min(tried)
    found = min(best, lost(at, cell.algorithm))
    return {"lost": found, "bound": 0, "kl": 0, "stars": 0, "seconds": time.perf_counter() - started}


def utility(cell: Cell) -> dict[str, Any]:
    """Stars, NIST's K-marginal score with stars filled in, and, of Adult, how well classifiers learn who earns more."""
    data = microdata(cell.table)
    release = solve(data, cell.l, k=cell.k, algorithm=cell.algorithm, seed=0)  # which of several interchangeable rows is starred is drawn, too
    found = {"stars": release.stars, "k_marginal": k_marginal(data, release.complete("histogram", seed=0))}
    if cell.table.dataset == "adult":
        income = whole("adult", cell.table.n, "").project(["income"]).codes[:, 0]
        found |= {name: 100 * score.accuracy for name, score in as_released(release, income, ["age"], unknown=UNKNOWN_AGE).items()}
    return found


def effort(cell: Cell) -> dict[str, Any]:
    """Stars, bound and wall seconds at more and more sweeps."""
    contingency = microdata(cell.table).contingency
    rows = []
    for sweeps in SWEEPS:
        started = time.perf_counter()
        release = solve(contingency, cell.l, algorithm="lagrangian", effort=replace(EFFORTS["default"], sweeps=sweeps))
        rows.append(
            {
                "sweeps": sweeps,
                "seconds": time.perf_counter() - started,
                "stars": release.stars,
                "bound": release.certificate.bound,
            }
        )
    return {"rows": rows}


def stages(cell: Cell) -> dict[str, Any]:
    """The linear bound and what rounding makes of its multipliers, then the configuration bound and the release after neighbourhoods."""
    contingency = microdata(cell.table).contingency
    first, last = (
        solve(contingency, cell.l, algorithm=cell.algorithm, effort=effort) for effort in (replace(EFFORTS["default"], prices=0, looks=0), "default")
    )
    return {"linear": first.certificate.bound, "rounded": first.stars, "bound": last.certificate.bound, "stars": last.stars}


def course(cell: Cell) -> dict[str, Any]:
    """Stars and bound as the best effort goes on: whenever one of them has changed, wall seconds (a minute in all) beside them."""
    rows: list[dict[str, float]] = []
    started = time.perf_counter()

    def note(text: str) -> None:
        found = re.search(r"([\d,]+) stars, bound ([\d,]+)", text)
        if found:
            stars, bound = (int(x.replace(",", "")) for x in found.groups())
            if bound and (not rows or (stars, bound) != (rows[-1]["stars"], rows[-1]["bound"])):
                rows.append({"seconds": time.perf_counter() - started, "stars": stars, "bound": bound})

    release = solve(microdata(cell.table), cell.l, algorithm=cell.algorithm, effort="best", time_limit=COURSE, progress=note)
    rows.append({"seconds": time.perf_counter() - started, "stars": release.stars, "bound": release.certificate.bound})
    return {"rows": rows}


def coarsening(cell: Cell) -> dict[str, Any]:
    """Stars and KL-divergence when the first attribute is published in intervals of more and more values first (section 5.6)."""
    data = microdata(cell.table)
    rows = []
    for width in WIDTHS:
        codes = data.codes.copy(order="F")
        codes[:, 0] //= width
        size = -(-data.domains[0].size // width)
        coarse = Microdata(codes, data.sensitive, (Domain(data.names[0], size), *data.domains[1:]), data.sensitive_domain)
        release = solve(coarse, cell.l, algorithm=cell.algorithm)
        rows.append({"width": width, "stars": release.stars, "kl": kl_divergence(lift(release, data))})
    return {"rows": rows}


WIDTHS = (1, 2, 4, 8, 16, 32, 80)
COURSE = 60.0  # seconds
UNKNOWN_AGE = 50.5  # k-AnonML's
SWEEPS = (10, 25, 50, 100, 200, 400)
MEASURES = {
    "quality": quality,
    "divergence": divergence,
    "seconds": seconds,
    "nearness": nearness,
    "recoding": recoding,
    "coarsened": coarsened,
    "utility": utility,
    "effort": effort,
    "course": course,
    "stages": stages,
    "coarsening": coarsening,
}


def measure(cell: Cell) -> dict[str, Any]:
    """Solve and measure one cell."""
    return MEASURES[cell.measure](cell)
