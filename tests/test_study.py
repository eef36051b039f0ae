"""The study runner: a file, an algorithm of one's own in ten lines, a tidy table, a page that holds it; and the protocols of the replays."""

import csv
import json
import re
import sys

import numpy as np
import pytest

import ldiv
from experiments.cells import Cell, Table
from experiments.study import config, leaderboard, measures, replays, verdicts
from experiments.study.__main__ import main
from experiments.study.measures import COLUMNS
from experiments.study.table import ORIGIN, over_seeds
from ldiv.algorithms import _registry
from ldiv.utility import Workload

STUDY = """
title = "A </script> study"
algorithms = ["tp", "mondrian", "anatomy", "one-group"]
l = [2, 40]
seeds = [0, 1]
load = ["own_groups"]
jobs = 1

[[tables]]
name = "400 rows"
dataset = "acs2018"
rows = 400
qi = ["Age", "Gender", "Race"]
sensitive = "Income"
"""
OWN = """
import numpy as np
import ldiv

@ldiv.register("one-group", guarantee="none", cost="O(n)", source="a test")
def one_group(contingency, l, *, k=1, seed=None):
    cells = np.arange(len(contingency.count), dtype=np.int32)
    return ldiv.Release.from_entries(contingency, cells * 0, cells, contingency.count, l=l, k=k, algorithm="one-group")
"""
HEARD = OWN.replace(
    "    cells =",
    """    with open("calls", "a") as stream:
        print(l, k, contingency.domains[0].taxonomy is not None, file=stream)
    cells =""",
)


@pytest.fixture
def study(tmp_path, monkeypatch):
    ldiv.algorithms()
    before = dict(_registry)
    _registry.pop("one-group", None)  # of docs/study.md, where it ran in this process
    (tmp_path / "own_groups.py").write_text(OWN)
    (tmp_path / "study.toml").write_text(STUDY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "own_groups", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    _registry.clear()
    _registry.update(before)


def test_a_study_from_file_to_page(study, capsys):
    pytest.importorskip("matplotlib", reason="needs matplotlib")
    words = ["study.toml", "--results", "results", "--out", "out"]
    assert len(OWN.strip().splitlines()) <= 10
    assert main(words) == 0
    assert "4 releases, and 4 that do not exist, " in capsys.readouterr().err
    with (study / "out" / "study.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 16 and all(row[key] for row in rows for key in ORIGIN)
    found = {(row["algorithm"], row["l"], row["seed"]): row for row in rows}
    whole = found["one-group", "2", "0"]
    assert float(whole["stars"]) == float(whole["ncp"]) == 1 and whole["groups"] == "1" and float(whole["precision"]) == 0
    assert found["anatomy", "2", "0"]["stars"] == "" and float(found["anatomy", "2", "0"]["marginals"]) == pytest.approx(0, abs=1e-9)
    assert found["tp", "40", "0"]["note"].startswith("the largest l is ") and found["tp", "40", "0"]["stars"] == ""
    assert found["tp", "2", "0"]["query_mean"] != found["tp", "2", "1"]["query_mean"]
    assert found["tp", "2", "0"]["stars"] == found["tp", "2", "1"]["stars"]
    page = (study / "out" / "leaderboard.html").read_text()
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL).group(1))
    assert (
        "A &lt;/script&gt; study" in page
        and data["seeds"] == 2
        and len(data["rows"]) == 8
        and "http" not in page.replace("http://www.w3.org/2000/svg", "")
    )
    shown = next(row for row in data["rows"] if row["algorithm"] == "tp" and row["l"] == 2)
    both = [float(found["tp", "2", seed]["query_mean"]) for seed in "01"]
    assert shown["query_mean"] == pytest.approx(np.mean(both), rel=1e-3)
    assert shown["spread"]["query_mean"] == pytest.approx(sorted(both), rel=1e-4) and set(shown["spread"]) == {"query_mean", "query_median"}
    assert main(words) == 0 and "cells to solve" not in capsys.readouterr().err  # resumable: all of it is there


def test_what_does_not_exist_is_noted_and_no_failure(study, capsys):
    """A k beyond the table's rows, and Anatomy in groups of at least k: rows with a note, no numbers, and a run that ends well."""
    pytest.importorskip("matplotlib", reason="needs matplotlib")
    (study / "study.toml").write_text(STUDY.replace("l = [2, 40]", "l = [2]\nk = [1, 3, 401]").replace('"mondrian", ', ""))
    words = ["study.toml", "--results", "results", "--out", "out"]
    for _ in range(2):
        assert main(words) == 0
        said = capsys.readouterr().err
        assert "5 releases, and 4 that do not exist, " in said and "failed" not in said
    found = rows_in(study / "out")
    assert len(found) == 18
    for (_, algorithm, _, k, _), row in found.items():
        none = k == "401" or (k == "3" and algorithm == "anatomy")
        assert bool(row["note"]) == none == (not any(row[name] for name in COLUMNS))
        if k == "401":
            assert row["note"] == "the table has 400 rows"


def rows_in(folder):
    with (folder / "study.csv").open() as stream:
        return {tuple(row[key] for key in ("table", "algorithm", "l", "k", "seed")): row for row in csv.DictReader(stream)}


def test_seeds_share_a_release_and_one_more_is_only_measured_again(study):
    """Every release is made once, however many seeds there are; what is stored stays where a seed is added. Only what is drawn differs between seeds."""
    pytest.importorskip("matplotlib", reason="needs matplotlib")
    second = STUDY.partition("[[tables]]")[2].replace("400 rows", "along") + "hierarchies = true\n"
    (study / "own_groups.py").write_text(HEARD)
    file = STUDY.replace("l = [2, 40]", "l = [2, 3]\nk = [1, 5]").replace('"mondrian", ', "").replace('"tp", ', "") + "[[tables]]" + second
    words = ["study.toml", "--results", "results", "--out", "out"]
    (study / "study.toml").write_text(file)
    assert main(words) == 0
    asked = sorted(f"{l} {k} {along}" for l in (2, 3) for k in (1, 5) for along in (False, True))
    assert sorted((study / "calls").read_text().split("\n")[:-1]) == asked
    before = rows_in(study / "out")
    (study / "study.toml").write_text(file.replace("seeds = [0, 1]", "seeds = [0, 1, 2]"))
    assert main(words) == 0
    after = rows_in(study / "out")
    assert {key: after[key] for key in before} == before and len(after) == len(before) // 2 * 3
    for key, row in after.items():
        if key[1] != "anatomy":
            first = after[*key[:-1], "0"]
            differ = {name for name in COLUMNS if row[name] != first[name]}
            assert differ <= {"query_mean", "query_median", "seconds"} and (key[-1] == "0" or "query_mean" in differ)


def test_along_hierarchies_a_table_gives_nodes_where_the_algorithm_publishes_them():
    plain, along = (Table("acs2018", 400, ("Age", "Gender", "MaritalStatus"), "Income", hierarchies) for hierarchies in (False, True))
    for algorithm in ("auto", "tp+", "mondrian", "full-domain", "hilbert", "anatomy"):
        (stars, without), (release, found) = (measures.released(Cell(table, 4, algorithm), 0) for table in (plain, along))
        if measures.recodes(algorithm):
            assert sum(release.nodes_by_attribute.values()) > 0, algorithm
            assert found["ncp"] == pytest.approx(ldiv.ncp(release))
            assert found["ncp"] < without["ncp"] or algorithm == "mondrian"  # without hierarchies it publishes ranges, which are tighter than nodes
        else:
            assert algorithm in ("hilbert", "anatomy") and {**found, "seconds": 0} == {**without, "seconds": 0}
    (_, without), (_, found) = (measures.released(Cell(table, 4, "auto"), 0) for table in (plain, along))
    assert found["bound"] <= found["lost"] and without["bound"] <= without["lost"] == without["ncp"] == without["stars"]


def test_means_over_seeds_by_hand():
    row = {"table": "a", "hierarchies": "", "l": 2, "k": 1, "algorithm": "tp", "note": "", **dict.fromkeys(COLUMNS), "stars": 0.1}
    rows = [{**row, "query_mean": value} for value in (0.5, 0.2, 0.2)]
    (found,) = over_seeds(rows)
    assert found["query_mean"] == pytest.approx(0.3) and found["spread"] == {"query_mean": (0.2, 0.5)}
    assert found["stars"] == 0.1 and "ncp" not in found


@pytest.mark.parametrize(
    "old, new, message",
    [
        ('"Race"]', '"race"]', "study.toml: 400 rows: qi: no column 'race'; there are: .*did you mean 'Race'"),
        ('"Income"', '"income"', "study.toml: 400 rows: sensitive: no column 'income' in the table; there are: .*did you mean 'Income'"),
    ],
)
def test_columns_that_a_table_does_not_have(study, capsys, old, new, message):
    (study / "study.toml").write_text(STUDY.replace(old, new))
    with pytest.raises(SystemExit):
        main(["study.toml", "--results", "results", "--out", "out"])
    assert re.search(message, capsys.readouterr().err)


@pytest.mark.parametrize(
    "old, new, message",
    [
        ('"tp"', '"tq"', "study.toml: algorithms: no algorithm 'tq'"),
        ('"tp"', '"mondrian"', "algorithms must be a list of different texts"),
        ("l = [2, 40]", "l = [0]", "study.toml: l: "),
        ('title = "A </script> study"', "title = 3", "study.toml: title must be a text, not 3"),
        ("jobs = 1", "jobs = 0", "jobs must be a whole number of at least 1, not 0"),
        ("rows = 400", "rows = 4.5", r"tables\[0\]: rows must be a whole number of at least 1, not 4.5"),
        ("rows = 400", 'rows = 400\nhierarchies = "arx"', r"tables\[0\]: hierarchies must be true or false, not 'arx'"),
        ("rows = 400", "rows = 400\nhierarchy = true", r"tables\[0\] has no 'hierarchy'; .*did you mean 'hierarchies'"),
        (
            'dataset = "acs2018"',
            'dataset = "nist"\nhierarchies = true',
            r"tables\[0\]: hierarchies must be false, since the data set 'nist' has none; .*of: acs2018",
        ),
        ("[[tables]]", "[tables]", "name at least one table"),
        ("seeds = [0, 1]", "seeds = [77]", "seeds must be from 0 to 19"),
        ("l = [2, 40]", 'l = ["2"]', "l must be a list of different whole numbers"),
        ("jobs = 1", "job = 1", "no 'job'; it takes .*did you mean 'jobs'"),
        ('dataset = "acs2018"', 'dataset = "acs"', "no data set 'acs'"),
        ("rows = 400", "", r"tables\[0\] lacks rows"),
        ("jobs = 1", 'columns = ["star"]', "no measure 'star'.*did you mean 'stars'"),
    ],
)
def test_what_a_file_must_not_say(study, old, new, message):
    (study / "study.toml").write_text(STUDY.replace(old, new))
    with pytest.raises(ldiv.InputError, match=message):
        config.read(study / "study.toml")


def test_the_shipped_study_is_fifteen_algorithms_on_five_tables():
    shipped = config.read(config.Path(config.__file__).with_name("shipped.toml"))
    assert len(shipped.algorithms) == 15 and len(shipped.tables) == 5 and shipped.l == (2, 4, 6, 10) and len(shipped.cells()) == 3 * 300
    assert [table.hierarchies for table in shipped.tables.values()] == [False] * 4 + [True]
    assert set(shipped.columns) <= set(COLUMNS)
    assert leaderboard.TEMPLATE.is_file()


def test_the_committed_page_is_the_template_of_today_and_marks_every_algorithm_in_its_own_way():
    template, page = leaderboard.TEMPLATE.read_text(), (replays.OUT / "leaderboard.html").read_text()
    title = re.search("<title>(.*?)</title>", page).group(1)
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL).group(1)
    assert page == template.replace("{{title}}", title).replace("{{data}}", data)
    colours, shapes = (len(re.findall('"[^"]+"', re.search(rf"const {name} = \[(.*)\];", template).group(1))) for name in ("COLOURS", "SHAPES"))
    assert np.lcm(colours, shapes) >= len(ldiv.list_algorithms()) + 1  # and Anatomy


def test_arxs_way_of_counting_by_hand():
    """Three rows show A = 0, one A = 1, two a star; the predicate A = 0 has share 3/6 in the output. One predicate: a star counts if 1/2 >= 1, no; two predicates: 1/2 >= 1/2, yes."""
    data = ldiv.Microdata.from_codes([[0], [0], [0], [1], [0], [1]], [0, 1, 0, 1, 0, 1])
    c = data.contingency
    cell = c.cell_of_row
    release = ldiv.Release.from_entries(
        c,
        np.array([0, 0, 0, 1, 2, 2]),
        cell,
        np.ones(6, dtype=np.int64),
        l=1,
        algorithm="by hand",
        published=np.array([[0], [1], [-1]], dtype=np.int32),
    )
    one = Workload((np.array([[True, False]]),), np.array([[True, True]]), np.array([[True, False]]))
    two = Workload((np.array([[True, False]]),), np.array([[True, False]]), np.array([[True, True]]))
    assert replays.counted_as_arx(release, one).tolist() == [3]
    assert replays.counted_as_arx(release, two).tolist() == [2 + 1]  # two rows of the three, one of the two stars
    assert replays.median_error(np.array([0.0, 4.0, 0.0]), np.array([0.0, 3.0, 1.0])) == 0.25


@pytest.mark.parametrize(
    "ours, more, verdict",
    [
        ([81, 83.5], True, "agrees"),
        ([83.1], True, "ours is better"),
        ([83.1], False, "ours is worse"),
        ([79], True, "ours is worse"),
        ([79], False, "ours is better"),
    ],
)
def test_one_rule_of_verdicts(ours, more, verdict):
    found = verdicts.compared("there", "a number", 82, ours, within=1, more=more, why="", form="{:.1f}")
    assert (found.verdict, found.within, found.published) == (verdict, "1", "82.0")
    assert found.ours == ("82.2 (81.0 to 83.5 in 2 draws)" if len(ours) == 2 else f"{ours[0]:.1f}")
    assert verdicts.beside("there", "a number", "82", "99", "").verdict == "not comparable"


def test_a_replay_draws_the_same_again(monkeypatch):
    """What is drawn in a replay has a seed: queries, donors, and which of several interchangeable rows is starred."""
    people = ldiv.datasets.load("acs2018", qi=["Age", "Gender", "Race"], sensitive="Income").head(2_000)
    data = ldiv.Microdata.from_codes(people.codes, domains=people.domains)
    monkeypatch.setattr(replays, "nist_rows", lambda n, sensitive: data)
    monkeypatch.setattr(replays, "FEATURES", data.names)
    assert list(replays.nist()) == list(replays.nist())


def test_committed_studies_were_made_by_a_commit():
    """And not by a working tree that nobody has."""
    for path in [replays.OUT / "study.csv", replays.OUT / "replays.csv"]:
        with path.open(newline="") as stream:
            commits = {row["commit"] for row in csv.DictReader(stream)}
        assert commits and not any("-dirty" in commit or commit in ("", "unknown") for commit in commits), path
