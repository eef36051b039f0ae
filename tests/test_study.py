"""The study runner: a file, an algorithm of one's own in ten lines, a tidy table, a page that holds it; and the protocols of the replays."""

import csv
import json
import re
import sys

import numpy as np
import pytest

import ldiv
from experiments.study import config, leaderboard, replays
from experiments.study.__main__ import main
from experiments.study.measures import COLUMNS
from experiments.study.table import ORIGIN
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


@pytest.fixture
def study(tmp_path, monkeypatch):
    ldiv.algorithms()
    before = dict(_registry)
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
    assert "16 releases" in capsys.readouterr().err
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
    assert main(words) == 0 and "cells to solve" not in capsys.readouterr().err  # resumable: all of it is there


@pytest.mark.parametrize(
    "old, new, message",
    [
        ('"tp"', '"tq"', "no algorithm 'tq'"),
        ("seeds = [0, 1]", "seeds = [77]", "seeds must be from 0 to 19"),
        ("l = [2, 40]", 'l = ["2"]', "l must be a list of whole numbers"),
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


def test_the_shipped_study_is_fifteen_algorithms_on_four_tables():
    shipped = config.read(config.Path(config.__file__).with_name("shipped.toml"))
    assert len(shipped.algorithms) == 15 and len(shipped.tables) == 4 and shipped.l == (2, 4, 6, 10) and len(shipped.cells()) == 240
    assert set(shipped.columns) <= set(COLUMNS)
    assert leaderboard.TEMPLATE.is_file()


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
