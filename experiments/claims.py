"""The paper's claims, each judged by the numbers in the store. A claim that fails is shown as failing, with the reason found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.figures import write_csv
from experiments.grid import LEVELS, Panel
from experiments.paper import ALONG_D, ALONG_L, CENSUS, DIMENSIONS, along_n
from experiments.results import NotRunError, Point, Results

__all__ = ["CLAIMS", "Claim", "Judgement", "judge", "markdown", "save"]

Check = Callable[[Results, Panel], tuple[bool, str]]


@dataclass(frozen=True)
class Claim:
    """A claim of the paper (in our words), where it stands, and a check of it on one data set.

    `reason` is what we found where it fails.
    """

    name: str
    place: str
    sentence: str
    check: Check
    reason: str = ""


@dataclass(frozen=True)
class Judgement:
    """A claim with its verdict: holds, fails, or not run."""

    claim: Claim
    verdict: str
    numbers: str


def rises(values: Sequence[float]) -> bool:
    return all(a < b for a, b in zip(values, values[1:], strict=False))


def stars(results: Results, panel: Panel, algorithm: str, points: list[Point]) -> list[float]:
    return results.series(panel, "stars", algorithm, points)


def seconds(results: Results, panel: Panel, algorithm: str, points: list[Point]) -> list[float]:
    return results.series(panel, "seconds", algorithm, points, measure="seconds")


def kl(results: Results, panel: Panel, algorithm: str, points: list[Point]) -> list[float]:
    return results.series(panel, "kl", algorithm, points, measure="divergence")


def span(values: Sequence[float], digits: int = 0) -> str:
    return f"{values[0]:,.{digits}f} to {values[-1]:,.{digits}f}"


def below_hilbert(results: Results, panel: Panel) -> tuple[bool, str]:
    rival = stars(results, panel, "hilbert", ALONG_L)
    worst = {name: max(np.array(stars(results, panel, name, ALONG_L)) / rival) for name in ("tp", "tp+")}
    return max(worst.values()) < 1, ", ".join(f"{name} at most {ratio:.2f} of Hilbert's stars" for name, ratio in worst.items())


def plus_below_tp(results: Results, panel: Panel) -> tuple[bool, str]:
    more = checked = 0
    ratios = []
    for l, d, n in dict.fromkeys([*ALONG_L, *ALONG_D]):
        plain, plus = (results.values(panel, "stars", name, l, d, n=n) for name in ("tp", "tp+"))
        more += int((plus > plain).sum())
        checked += len(plain)
        ratios.append(plus.sum() / max(plain.sum(), 1))
    return more == 0, f"more stars on {more} of {checked} tables; {min(ratios):.2f} to {max(ratios):.2f} of TP's on average"


def crossing(last: int) -> Check:
    def check(results: Results, panel: Panel) -> tuple[bool, str]:
        ratio = np.array(stars(results, panel, "tp", ALONG_D)) / stars(results, panel, "hilbert", ALONG_D)
        ok = all(r < 1 for r in ratio[:last]) and all(r > 1 for r in ratio[last:])
        return ok, "TP over Hilbert for d = 1..7: " + ", ".join(f"{r:.2f}" for r in ratio)

    return check


def crossing_by_panel(results: Results, panel: Panel) -> tuple[bool, str]:
    return crossing(4 if panel.sensitive == "Income" else 6)(results, panel)


def stars_grow(points: list[Point]) -> Check:
    def check(results: Results, panel: Panel) -> tuple[bool, str]:
        series = {name: stars(results, panel, name, points) for name in ("hilbert", "tp", "tp+")}
        return all(map(rises, series.values())), ", ".join(f"{name} {span(values)}" for name, values in series.items())

    return check


def no_phase_three(results: Results, panel: Panel) -> tuple[bool, str]:
    phases = [int(p) for l, d, n in CENSUS for p in results.values(panel, "phase", "tp", l, d)]
    return phases.count(3) == 0, f"{phases.count(3)} of {len(phases):,} runs reach phase three, {phases.count(1):,} end in phase one"


def near_optimal_tuples(results: Results, panel: Panel) -> tuple[bool, str]:
    most, worst = 0, 1.0
    for l in LEVELS:
        for d in DIMENSIONS:
            sizes = results.values(panel, "residue_sizes", "tp", l, d)
            tops = results.values(panel, "residue_heights", "tp", l, d)
            for size, top in zip(sizes, tops, strict=True):
                bound = max(size[0], l * top[0])
                most = max(most, int(size[2] - bound) - (l - 1))
                worst = max(worst, size[2] / bound if bound else 1.0)
    return most <= 0, f"at most {worst:.6f} times the lower bound max(|R1|, l * h(R1))"


def times_along_l(results: Results, panel: Panel) -> tuple[bool, str]:
    series = {name: seconds(results, panel, name, ALONG_L) for name in ("hilbert", "tp", "tp+")}
    ok = series["hilbert"][0] > series["hilbert"][-1] and all(series[name][0] < series[name][-1] for name in ("tp", "tp+"))
    return ok, ", ".join(f"{name} {span(values, 3)} s" for name, values in series.items())


def times_along_d(level: int) -> Check:
    def check(results: Results, panel: Panel) -> tuple[bool, str]:
        points: list[Point] = [(level, d, None) for d in DIMENSIONS]
        growth = {name: (values := seconds(results, panel, name, points))[-1] / values[0] for name in ("tp", "hilbert")}
        ok = growth["tp"] > 1 and growth["hilbert"] < 2  # "hardly": less than doubled
        return ok, ", ".join(f"{name} x {ratio:.1f} from d = 1 to 7" for name, ratio in growth.items())

    return check


def linear(results: Results, panel: Panel) -> tuple[bool, str]:
    points = along_n(results.scale)
    exponent, _ = np.polyfit(np.log([n for _, _, n in points]), np.log(seconds(results, panel, "tp", points)), 1)
    return exponent <= 1.1, f"seconds grow as n^{exponent:.2f} over {points[0][2]:,} to {points[-1][2]:,} rows"


def hilbert_faster(results: Results, panel: Panel) -> tuple[bool, str]:
    series = {name: np.array(seconds(results, panel, name, ALONG_L)) for name in ("hilbert", "tp", "tp+")}
    ok = all((series["hilbert"] < series[name]).all() for name in ("tp", "tp+"))
    return ok, "mean seconds at d = 4: " + ", ".join(f"{name} {values.mean():.3f}" for name, values in series.items())


def fast(results: Results, panel: Panel) -> tuple[bool, str]:
    points = dict.fromkeys([*ALONG_L, *ALONG_D, *along_n(results.scale)])
    worst = max(results.values(panel, "seconds", name, l, d, n=n, measure="seconds").max() for name in ("hilbert", "tp", "tp+") for l, d, n in points)
    return worst < 1.2, f"slowest run {worst:.2f} s at {results.scale.n:,} rows"


def kl_below_tds(points: list[Point]) -> Check:
    def check(results: Results, panel: Panel) -> tuple[bool, str]:
        ratio = np.array(kl(results, panel, "tp+", points)) / kl(results, panel, "tds", points)
        return bool((ratio < 1).all()), f"TP+ has {ratio.min():.2f} to {ratio.max():.2f} of TDS's KL"

    return check


def kl_grows(points: list[Point]) -> Check:
    def check(results: Results, panel: Panel) -> tuple[bool, str]:
        series = {name: kl(results, panel, name, points) for name in ("tp+", "tds")}
        return all(map(rises, series.values())), ", ".join(f"{name} {span(values, 3)}" for name, values in series.items())

    return check


ON_L, ON_D = "section 6, stars against l", "section 6, stars against d"
TIME = "section 6, computation time"
CLAIMS = [
    Claim("below-hilbert", ON_L, "TP and TP+ have fewer stars than Hilbert at d = 4, for all l.", below_hilbert),
    Claim("plus", ON_L, "TP+ has no more stars than TP, on every table.", plus_below_tp),
    Claim(
        "crossing",
        ON_D,
        "TP has fewer stars than Hilbert up to d = 4 (Income) and d = 6 (Occupation), more beyond.",
        crossing_by_panel,
        "where TP crosses Hilbert follows how sparse the table is, and these tables are not the paper's extract",
    ),
    Claim("stars-l", ON_L, "The number of stars grows with l.", stars_grow(ALONG_L)),
    Claim("stars-d", ON_D, "The number of stars grows with d.", stars_grow(ALONG_D)),
    Claim("phase-3", "section 6, phases of TP", "TP never reaches phase three on the census tables.", no_phase_three),
    Claim("tuples", "section 5.3, after phase two", "Without phase three TP suppresses at most l - 1 tuples more than optimal.", near_optimal_tuples),
    Claim(
        "time-l",
        TIME,
        "Hilbert's time falls with l, that of TP and TP+ grows.",
        times_along_l,
        "TP works on the counts of cells, so its time is mostly that of counting and of writing the release, which l hardly touches",
    ),
    Claim(
        "time-d-4",
        TIME,
        "TP's time grows with d, Hilbert's hardly (l = 4).",
        times_along_d(4),
        "both first count the cells, whose number grows with d, and here that is a large part of the time",
    ),
    Claim(
        "time-d-6",
        TIME,
        "TP's time grows with d, Hilbert's hardly (l = 6).",
        times_along_d(6),
        "both first count the cells, whose number grows with d, and here that is a large part of the time",
    ),
    Claim("linear", TIME, "TP's time is linear in n.", linear),
    Claim(
        "hilbert-faster",
        TIME,
        "Hilbert is faster than TP and TP+.",
        hilbert_faster,
        "here TP works on cells instead of tuples and touches few groups after phase one; Hilbert must order and group every row",
    ),
    Claim("fast", TIME, "All three take less than 1.2 seconds at 600,000 rows.", fast),
    Claim("kl-l", "section 6, KL against l", "TP+ has a lower KL-divergence than TDS for all l.", kl_below_tds(ALONG_L)),
    Claim("kl-d", "section 6, KL against d", "TP+ has a lower KL-divergence than TDS for all d.", kl_below_tds(ALONG_D)),
    Claim(
        "kl-grows-l",
        "section 6, KL against l",
        "The KL-divergence grows with l.",
        kl_grows(ALONG_L),
        "TP+'s grows throughout; TDS is greedy, and at a larger l its first forbidden step can lead it to a better cut",
    ),
    Claim("kl-grows-d", "section 6, KL against d", "The KL-divergence grows with d.", kl_grows(ALONG_D)),
]


def judge(results: Results) -> list[Judgement]:
    """Judge every claim, on both data sets, by what is in the store."""
    out = []
    for claim in CLAIMS:
        try:
            outcomes = [(panel.label, *claim.check(results, panel)) for panel in results.scale.panels]
        except NotRunError:
            out.append(Judgement(claim, "not run", ""))
            continue
        failing = [label for label, ok, _ in outcomes if not ok]
        verdict = "holds" if not failing else "fails" if len(failing) == len(outcomes) else f"fails on {failing[0]}"
        numbers = "; ".join(f"{label}: {text}" for label, _, text in outcomes)
        if failing and claim.reason:
            numbers += f". Reason found: {claim.reason}"
        out.append(Judgement(claim, verdict, numbers))
    return out


def markdown(judgements: list[Judgement]) -> str:
    """The claims as a Markdown table."""
    lines = ["| claim | place | verdict | numbers |", "|---|---|---|---|"]
    lines += [f"| {j.claim.sentence} | {j.claim.place} | **{j.verdict}** | {j.numbers} |" for j in judgements]
    return "\n".join(lines) + "\n"


def save(judgements: list[Judgement], folder: Path) -> None:
    """claims.csv and claims.md."""
    folder.mkdir(parents=True, exist_ok=True)
    write_csv(
        [{"name": j.claim.name, "place": j.claim.place, "claim": j.claim.sentence, "verdict": j.verdict, "numbers": j.numbers} for j in judgements],
        folder / "claims.csv",
    )
    (folder / "claims.md").write_text(markdown(judgements))
