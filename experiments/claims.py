"""The paper's claims, each judged by the numbers in the store. A claim that fails is shown as failing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from experiments.figures import DIMENSIONS, write_csv
from experiments.grid import FIXED_D, FIXED_L, LEVELS
from experiments.results import NotRunError, Results

__all__ = ["CLAIMS", "Claim", "Judgement", "judge", "markdown"]


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper (in our words), where it stands, and a check of it."""

    name: str
    place: str
    sentence: str
    check: Callable[[Results], tuple[bool, str]]


@dataclass(frozen=True)
class Judgement:
    """A claim with its verdict: holds, fails, or not run."""

    claim: Claim
    verdict: str
    numbers: str


def per_panel(check: Callable[..., tuple[bool, str]]) -> Callable[[Results], tuple[bool, str]]:
    """A check of both panels."""

    def both(results: Results) -> tuple[bool, str]:
        outcomes = [(panel.label, *check(results, panel)) for panel in results.scale.panels]
        return all(ok for _, ok, _ in outcomes), "; ".join(f"{label}: {numbers}" for label, _, numbers in outcomes)

    return both


def rises(values: list[float]) -> bool:
    return all(a < b for a, b in zip(values, values[1:], strict=False))


@per_panel
def stars_grow_with_l(results, panel):
    stars = results.series(panel, "stars", "tp", [(l, FIXED_D) for l in LEVELS])
    return rises(stars), f"TP {stars[0]:,.0f} at l = 2 to {stars[-1]:,.0f} at l = 10"


@per_panel
def stars_grow_with_d(results, panel):
    stars = results.series(panel, "stars", "tp", [(FIXED_L, d) for d in DIMENSIONS])
    return rises(stars), f"TP {stars[0]:,.0f} at d = 1 to {stars[-1]:,.0f} at d = 7"


@per_panel
def no_phase_three(results, panel):
    phases = [p for l in LEVELS for d in DIMENSIONS for p in results.values(panel, "phase", "tp", l, d)]
    return phases.count(3) == 0, f"{phases.count(3)} of {len(phases):,} runs reach phase three"


@per_panel
def near_optimal_tuples(results, panel):
    worst = 1.0
    for l in LEVELS:
        for d in DIMENSIONS:
            sizes = results.values(panel, "residue_sizes", "tp", l, d)
            tops = results.values(panel, "residue_heights", "tp", l, d)
            for size, top in zip(sizes, tops, strict=True):
                bound = max(size[0], l * top[0])
                worst = max(worst, size[2] / bound if bound else 1.0)
    return worst <= 1 + 1e-3, f"suppressed tuples at most {worst:.6f} times the lower bound max(|R1|, l h(R1))"


CLAIMS = [
    Claim("stars-l", "section 6, stars against l", "The number of stars grows with l.", stars_grow_with_l),
    Claim("stars-d", "section 6, stars against d", "The number of stars grows with d.", stars_grow_with_d),
    Claim("phase-3", "section 6, phases of TP", "TP never reaches phase three on the census tables.", no_phase_three),
    Claim("tuples", "section 5.3, after phase two", "Without phase three TP suppresses at most l - 1 tuples more than optimal.",
          near_optimal_tuples),
]


def judge(results: Results) -> list[Judgement]:
    """Judge every claim by what is in the store."""
    out = []
    for claim in CLAIMS:
        try:
            ok, numbers = claim.check(results)
            out.append(Judgement(claim, "holds" if ok else "fails", numbers))
        except NotRunError:
            out.append(Judgement(claim, "not run", ""))
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
        [{"name": j.claim.name, "place": j.claim.place, "claim": j.claim.sentence, "verdict": j.verdict, "numbers": j.numbers}
         for j in judgements], folder / "claims.csv",
    )
    (folder / "claims.md").write_text(markdown(judgements))
