"""Numbers that the documentation quotes from a table in paper_figures are those of the table."""

import csv
import re
from functools import cache
from pathlib import Path
from statistics import mean

import pytest

ROOT = Path(__file__).parents[1]
NAMES = {  # tables of the study as docs/attacks.md calls them
    "the same along hierarchies": "Adult, occupation, along hierarchies",
    "NIST 2019, income decile": "NIST national 2019, income decile",
}


@cache
def rows(name):
    with (ROOT / "paper_figures" / f"{name}.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def cell(name, column, **where):
    """A number of a table; of rows that differ in their seed only, the mean."""
    found = [float(row[column]) for row in rows(name) if all(row[key] == str(value) for key, value in where.items())]
    assert found, (name, where)
    return mean(found) + 1e-9  # a half is rounded up, as by hand


def study(column, table, l, algorithm):
    return cell("study/study", column, table=table, l=l, algorithm=algorithm)


def near_k(column, panel, k, tool="lagrangian"):
    return cell("near_k", column, panel=panel, k=k, tool=tool)


def accuracy(k, tool):
    return cell("near_peers", "value", table="Adult, d = 8", measure="accuracy (%), random forest", k=k, tool=tool)


def marginal(tool):
    return cell("near_peers", "value", measure="K-marginal", tool=tool)


ADULT, BOTH, NINE, NIST = "Adult, d = 7", "Adult, d = 7, and l = 3", "Adult, d = 9", "NIST national 2019, d = 10"
ALONG, OCCUPATION, UCI = "Adult, occupation, along hierarchies", "ACS 2018, occupation", "Adult, occupation"
PEERS = [f"k-AnonML: {name}" for name in ("Mondrian", "k-NN clustering", "top-down greedy", "OLA")]
OTHERS = "{:.2f}, {:.2f}, {:.2f}, {:.2f} | {:.2f}"
QUOTED = [  # (document, what it says, numbers)
    ("peers", "23,554 (11.16 %; *distinct* 3-diversity, which is weaker) | {:,.0f} ({:.2f} %; no release has fewer than {:,.0f})",
     lambda: (near_k("stars", BOTH, 5), 100 * near_k("loss", BOTH, 5), near_k("bound", BOTH, 5))),
    ("peers", "{:,.0f} ({:.2f} %; bound {:,.0f})", lambda: (near_k("stars", ADULT, 5), 100 * near_k("loss", ADULT, 5), near_k("bound", ADULT, 5))),
    ("peers", "{:.4f} (full domain, optimal", lambda: (near_k("loss", NINE, 5, "ARX"),)),
    ("peers", "{:.4f} (stars; bound {:.4f})", lambda: (near_k("loss", NINE, 5), near_k("least", NINE, 5))),
    ("peers", "{:.0f} (18,720 of 27,253 rows", lambda: (marginal("sdcMicro, rows with NA left out"),)),
    ("peers", "{:.0f} (all rows, stars drawn from what a column shows; {:,.0f} stars, bound {:,.0f})",
     lambda: (marginal("lagrangian"), near_k("stars", NIST, 6), near_k("bound", NIST, 6))),
    ("peers", "Mondrian {:.2f}, k-NN clustering {:.2f}, top-down greedy {:.2f}, OLA {:.2f} | {:.2f}", lambda: [accuracy(5, tool) for tool in [*PEERS, "lagrangian"]]),
    ("peers", OTHERS, lambda: [accuracy(20, tool) for tool in [*PEERS, "lagrangian"]]),
    ("peers", OTHERS, lambda: [accuracy(100, tool) for tool in [*PEERS, "lagrangian"]]),
    ("peers", "the K-marginal score is {:.0f}", lambda: (marginal("cascade"),)),
    ("study", "near-optimal recoding leaves least open, NCP {:.3f}, {:.3f} and {:.3f}", lambda: [study("ncp", ALONG, l, "auto") for l in (2, 4, 6)]),
    ("study", "beside {:.3f}, {:.3f} and {:.3f} of the cascade, {:.3f}, {:.3f} and {:.3f} of `k-member`, and {:.2f}, {:.2f} and {:.2f} of full-domain recoding",
     lambda: [study("ncp", ALONG, l, name) for name in ("cascade", "k-member", "full-domain") for l in (2, 4, 6)]),
    ("study", "It loses {:.0f} %, {:.0f} % and {:.0f} % more than the proven least",
     lambda: [100 * (study("lost", ALONG, l, "auto") / study("bound", ALONG, l, "auto") - 1) for l in (2, 4, 6)]),
    ("study", "Without hierarchies it leaves {:.3f}, {:.3f} and {:.3f} open", lambda: [study("ncp", UCI, l, "auto") for l in (2, 4, 6)]),
    ("study", "at l = 2 ({:.3f}, not {:.3f})", lambda: [study("query_median", table, 2, "auto") for table in (ALONG, UCI)]),
    ("study", "`k-member` leaves {:.3f} open without them at l = 4", lambda: (study("ncp", UCI, 4, "k-member"),)),
    ("study", "on ACS's occupations ({:.4f}, near-optimal suppression {:.4f})", lambda: [study("query_median", OCCUPATION, 2, x) for x in ("mondrian-relaxed", "auto")]),
]  # fmt: skip


@pytest.mark.parametrize("document, says, numbers", QUOTED)
def test_what_is_quoted_is_what_the_table_says(document, says, numbers):
    text = " ".join((ROOT / "docs" / f"{document}.md").read_text().split())
    assert says.format(*numbers()) in text


def test_the_table_of_guesses_is_the_studys():
    lines = re.findall(
        r"^\| (.+) \| (\d+) \| (\d+) % \| (\d+) % \| (\d+) % \| (\d+) % \| (\d+) % \|$", (ROOT / "docs" / "attacks.md").read_text(), re.MULTILINE
    )
    assert len(lines) == 8
    for table, l, *numbers in lines:
        guessed = [study("guessed", NAMES.get(table, table), l, name) for name in ("auto", "k-member", "full-domain", "anatomy")]
        assert [int(x) for x in numbers] == [round(100 * x) for x in (1 / int(l), *guessed)], (table, l)


def test_more_than_one_in_l_are_guessed_as_said():
    """Of releases that answer queries well, on Adult and NIST from the least to the greatest times 1/l, and on ACS Anatomy's alone up to l = 4."""
    text = " ".join((ROOT / "docs" / "attacks.md").read_text().split())
    well, mine = ("anatomy", "k-member", "mdav", "auto"), (UCI, ALONG, "NIST national 2019, income decile")
    spans = [[f([l * study("guessed", table, l, name) for table in mine for name in well]) for f in (min, max)] for l in (2, 4, 6)]
    says = "give {:.1f} to {:.1f} times 1/l at l = 2, {:.1f} to {:.1f} times at l = 4 and {:.1f} to {:.1f} times at l = 6"
    assert says.format(*(x for span in spans for x in span)) in text
    for l in (2, 4):
        above = {
            row["algorithm"] for row in rows("study/study") if row["table"].startswith("ACS") and row["l"] == str(l) and float(row["guessed"]) > 1 / l
        }
        assert above == {"anatomy"}
