"""Columns that may go up their hierarchies to a level at the most: the table falls apart by what they show there."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import tables, with_trees
from test_nodes import loss_of_group, partitions

import ldiv
from ldiv.bounds.certificate import Prices
from ldiv.bounds.proof import certify, prove
from ldiv.errors import InputError
from ldiv.table.lattice import UNIT, Lattice, given_levels, level_of, levels_of

AGES = {"Age": [ldiv.Bins(5), ldiv.Bins(10), ldiv.Bins(20)]}


def frame(rows=1500, seed=3):
    random = np.random.default_rng(seed)
    return {"Age": random.integers(20, 80, rows), "Town": random.choice(list("abc"), rows), "Ill": random.choice(list("stuvwxyz"), rows)}


@st.composite
def limited(draw):
    data, l = draw(tables(max_rows=7, max_d=2, max_size=5, max_m=4))
    data = with_trees(draw, data)
    levels = {x.name: draw(st.integers(0, given_levels(x) - 1)) for x in data.domains if draw(st.booleans())}
    return data, l, {x.name: levels[x.name] for x in data.domains if x.name in levels and level_of(x, levels[x.name]) < len(levels_of(x))}


@settings(deadline=None, max_examples=80)
@given(limited(), st.sampled_from(["ncp", "level"]), st.integers(1, 3), st.sampled_from(["lagrangian", "auto", "cascade", "tp+"]))
def test_against_all_partitions_that_keep_to_the_levels(table, loss, k, algorithm):
    data, l, levels = table
    k = min(k, data.n)
    cuts = {j: (x.taxonomy.levels[levels[x.name]] if levels[x.name] else np.arange(x.size)) for j, x in enumerate(data.domains) if x.name in levels}
    best = None
    for partition in partitions(list(range(data.n))):
        if all(
            len(g) >= max(k, l * max(np.bincount(data.sensitive[g]))) and all(len(set(cut[data.codes[g, j]])) == 1 for j, cut in cuts.items())
            for g in partition
        ):
            lost = sum(len(g) * loss_of_group(data, g, loss) for g in partition)
            best = lost if best is None else min(best, lost)
    lattice = Lattice.of_nodes(data.contingency, loss)
    if not lattice.nodes:
        return
    ask = {"k": k, "algorithm": algorithm, "nodes": True, "loss": loss, "protect": levels}
    if best is None:
        with pytest.raises(InputError):
            ldiv.solve(data, l, **ask)
        return
    release = ldiv.solve(data, l, **ask)
    for g in range(release.groups):
        rows = np.flatnonzero(release.group == g)
        assert all(len(set(cut[data.codes[rows, j]])) == 1 for j, cut in cuts.items())
    assert release.info["loss"] >= best
    if (prices := release.info.get("prices")) is not None:
        assert release.info["bound"] == prove(data.contingency, prices, l) <= best
        assert best <= UNIT * data.n * data.d


def test_what_is_shown_stays_below_the_level_and_loses_little_more():
    table = frame()
    free = ldiv.anonymize(table, ["Age", "Town"], "Ill", 3, hierarchies=AGES)
    kept = ldiv.anonymize(table, ["Age", "Town"], "Ill", 3, hierarchies=AGES, protect={"Age": 2})
    ages = set(map(str, kept.frame["Age"]))
    assert "*" not in ages and not any(re.fullmatch(r"\[?(20|40|60).*(40|60|80).*", x) and "20" in x and "40" in x for x in ages)
    widths = {len(x.codes) for x in kept.subdomains[0]}
    assert widths and max(widths) <= 10
    assert free.info["loss"] <= kept.info["loss"] and kept.info["highest"] == {"Age": 2} and kept.protected == ()
    assert kept.certificate.bound <= kept.info["loss"]
    never = ldiv.anonymize(table, ["Age", "Town"], "Ill", 3, hierarchies=AGES, protect={"Town": 0, "Age": 1})
    assert "*" not in set(map(str, never.frame["Town"])) and never.protected == ("Town",)
    assert max(len(x.codes) for x in never.subdomains[0]) <= 5


def test_principles_merge_within_the_levels_only():
    table = frame()
    release = ldiv.anonymize(table, ["Age", "Town"], "Ill", 2, hierarchies=AGES, protect={"Age": 2}, also=[ldiv.KAnonymity(12)])
    cut = np.array(table["Age"]) // 10
    sizes = [len(set(cut[release.group == g].tolist())) for g in range(release.groups)]
    assert set(sizes) == {1} and min(np.bincount(release.group)) >= 12


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"protect": {"Age": 9}, "hierarchies": AGES}, "levels 0 (its values) to 3 below the star, not 9"),
        ({"protect": {"Age": 1}}, "'Age' up to level 1 needs hierarchies="),
        ({"protect": {"Ago": 1}, "hierarchies": AGES}, "'Ago' is not a quasi-identifier"),
        ({"protect": {"Age": -1}, "hierarchies": AGES}, "protect: level of 'Age'"),
        ({"protect": {"Age": "1"}, "hierarchies": AGES}, "protect: level of 'Age'"),
        ({"protect": {"Age": 1}, "hierarchies": AGES, "algorithm": "mondrian"}, "protect= works with algorithms that publish values and stars"),
    ],
)
def test_what_cannot_be_meant_is_refused(options, said):
    with pytest.raises(InputError, match=re.escape(said)):
        ldiv.anonymize(frame(), ["Age", "Town"], "Ill", 3, **options)


def test_a_part_that_cannot_be_is_named_by_what_it_shows():
    table = frame()
    old = np.asarray(table["Age"]) >= 70
    table["Ill"] = np.where(old, "s", table["Ill"])
    with pytest.raises(
        InputError, match=r"protect=\{'Age': 2\} is impossible with l = 3: of the \d+ rows with Age=\S*70.*\d+ have the sensitive value 's'"
    ):
        ldiv.anonymize(table, ["Age", "Town"], "Ill", 3, hierarchies=AGES, protect={"Age": 2})


def test_prices_whose_levels_do_not_fit_are_refused():
    data = ldiv.Microdata.from_frame(frame(), ["Age", "Town"], "Ill").with_hierarchies(AGES)
    prices = ldiv.solve(data, 3, nodes=True, protect={"Age": 1}).info["prices"]
    assert prices.highest == (1,)
    for wrong in ({"highest": (9,)}, {"highest": (1, 1)}, {"highest": (-1,)}, {"highest": ("1",)}, {"highest": (0,)}):
        with pytest.raises(InputError):
            prove(data.contingency, Prices(3, prices.value, prices.most, protected=prices.protected, loss="ncp", **wrong), 3)


def test_on_the_command_line_and_proven_again(tmp_path):
    table = frame()
    rows = "\n".join(",".join(map(str, row)) for row in zip(*table.values(), strict=True))
    (tmp_path / "a.csv").write_text("Age,Town,Ill\n" + rows + "\n")
    run = [sys.executable, "-m", "ldiv.cli"]
    ask = ["-q", "Age", "-q", "Town", "-s", "Ill", "-l", "3", "--hierarchy", "Age=width:5,10,20"]
    done = subprocess.run(
        [*run, "anonymize", "a.csv", *ask, "--protect", "Age=2", "-o", "b.csv", "--certificate", "c.private.npz", "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["stars"] >= 0
    verdict = certify(table, tmp_path / "c.private.npz", AGES)
    assert verdict and verdict.highest == {"Age": 2}
    again = subprocess.run(
        [*run, "certify", "a.csv", "c.private.npz", "--hierarchy", "Age=width:5,10,20", "--release", "b.csv"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert again.returncode == 0, again.stdout + again.stderr
    assert "at most on level 2" in again.stdout
    higher = subprocess.run(
        [*run, "anonymize", "a.csv", *ask, "--protect", "Age=3", "-o", "e.csv", "--seed", "1"], cwd=tmp_path, capture_output=True, text=True
    )
    above = (tmp_path / "b.csv").read_text().splitlines()
    assert higher.returncode == 0
    for shown, said in (("[20, 40)", "above the level that the certificate is about"), ("*", "has stars")):
        rows = [",".join([f'"{shown}"', *line.rsplit(",", 2)[1:]]) for line in above[1:]]
        (tmp_path / "f.csv").write_text("\n".join([above[0], *rows]) + "\n")
        other = subprocess.run(
            [*run, "certify", "a.csv", "c.private.npz", "--hierarchy", "Age=width:5,10,20", "--release", "f.csv"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert other.returncode == 1 and said in other.stdout, other.stdout + other.stderr
    refused = subprocess.run([*run, "anonymize", "a.csv", *ask, "--protect", "Age=x", "-o", "d.csv"], cwd=tmp_path, capture_output=True, text=True)
    assert refused.returncode == 2 and "--protect Age=x" in refused.stderr


def test_the_node_that_a_part_shows_loses_what_it_loses():
    """Few rows a part, many of which show its node: were that counted as a star, releases and bounds would be far apart."""
    random = np.random.default_rng(0)
    table = {"Age": random.integers(20, 80, 240), "Town": random.integers(0, 12, 240), "Ill": random.permutation(240) % 12}
    release = ldiv.anonymize(table, ["Age", "Town"], "Ill", 4, hierarchies=AGES, protect={"Age": 2})
    assert sum(len(x.codes) > 5 for x in release.subdomains[0]) and release.certificate.ratio < 1.1


def test_levels_are_those_that_the_hierarchy_gives_whatever_they_join_here():
    table = {"Age": [21, 26, 31, 36] * 2, "Ill": list("pqpqqpqp")}
    release = ldiv.anonymize(table, ["Age"], "Ill", 2, hierarchies=AGES, protect={"Age": 1})  # each age alone in its five years
    assert {len(x.codes) for x in release.subdomains[0]} <= {1} and release.info["highest"] == {"Age": 1}
    few = {name: column[:4] for name, column in table.items()}
    with pytest.raises(InputError, match=r"protect=\{'Age': 1\} is impossible with l = 2"):
        ldiv.anonymize(few, ["Age"], "Ill", 2, hierarchies=AGES, protect={"Age": 1})
    tens = ldiv.anonymize(few, ["Age"], "Ill", 2, hierarchies=AGES, protect={"Age": 2})
    assert {len(x.codes) for x in tens.subdomains[0]} == {2} and tens.info["highest"] == {"Age": 2}
    assert prove(tens.contingency, tens.info["prices"], 2) == tens.info["bound"]
    with pytest.raises(InputError, match="on level 3 all values of 'Age' are one node"):
        ldiv.anonymize(few, ["Age"], "Ill", 2, hierarchies=AGES, protect={"Age": 3})


def test_a_table_of_losses_may_name_protected_columns():
    table = frame()
    release = ldiv.anonymize(table, ["Age", "Town"], "Ill", 2, hierarchies=AGES, loss={"Age": {"[20, 25)": 0.1}}, protect=["Age"])
    assert release.protected == ("Age",)


def test_what_a_weighted_release_loses_is_counted_by_its_weights(tmp_path):
    (tmp_path / "a.csv").write_text("A,B,S\n1,p,x\n2,q,y\n3,r,x\n4,t,y\n")
    (tmp_path / "b.txt").write_text("p;u;*\nq;u;*\nr;v;*\nt;v;*\n")
    run, tree = [sys.executable, "-m", "ldiv.cli"], ["--hierarchy", "B=b.txt"]
    for name in "AB":
        ask = [
            "-q",
            "A",
            "-q",
            "B",
            "-s",
            "S",
            "-l",
            "2",
            *tree,
            "--weight",
            f"{name}=2",
            "-o",
            f"{name}.csv",
            "--certificate",
            f"{name}.private.npz",
        ]
        made = subprocess.run([*run, "anonymize", "a.csv", *ask], cwd=tmp_path, capture_output=True, text=True)
        assert made.returncode == 0, made.stderr
        told = subprocess.run(
            [*run, "certify", "a.csv", f"{name}.private.npz", *tree, "--release", f"{name}.csv"], cwd=tmp_path, capture_output=True, text=True
        )
        assert told.returncode == 0, told.stdout + told.stderr


def test_a_table_of_losses_may_name_nodes_that_these_rows_do_not_tell_apart():
    rows = [("a", "u", "U", "*"), ("b", "u", "U", "*"), ("c", "v", "V", "*"), ("d", "w", "V", "*"), ("e", "w", "V", "*")]
    table = {"T": list("aabbccdd"), "Ill": list("pqrspqrs")}  # u and U are one here, nobody has e
    losses = {"T": {"U": 0.5, "u": 0.5, "e": 0.0, "V": 0.6}}
    release = ldiv.anonymize(table, ["T"], "Ill", 3, hierarchies={"T": rows}, loss=losses)
    assert release.info["loss"] == int(4 * 0.5 * UNIT + 4 * 0.6 * UNIT)
    with pytest.raises(InputError, match="no node 'X' in its hierarchy"):
        ldiv.anonymize(table, ["T"], "Ill", 3, hierarchies={"T": rows}, loss={"T": {"X": 0.5}})
