"""Full-domain recoding: nodes against a naive reading of the table, search orders against all nodes, and the optimum that ARX has published of Adult."""

import csv
from collections import Counter
from itertools import product

import numpy as np
import pytest
from conftest import shared
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import asked, with_trees

import ldiv
from ldiv.algorithms.fulldomain.nodes import Nodes, Tags
from ldiv.algorithms.fulldomain.ola import between
from ldiv.release.nodes import lattice_for
from ldiv.table.lattice import UNIT, Lattice, levels_of

ORDERS = ("samarati", "incognito", "ola", "flash")
NINE = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "occupation", "salary-class")


@st.composite
def recoded(draw):
    """(data with hierarchies, l, k)"""
    data, l, k = draw(asked())
    return with_trees(draw, data), l, k


def shown(data, node):
    """What each row shows of each attribute on a node: texts of what it stands for, worked out from the trees."""
    columns = []
    for j, (domain, level) in enumerate(zip(data.domains, node, strict=True)):
        levels = levels_of(domain) if domain.taxonomy is not None else np.arange(domain.size)[None]
        columns.append(["*"] * data.n if level == len(levels) else levels[level][data.codes[:, j]].tolist())
    return list(zip(*columns, strict=True))


def naive(data, node, l, k, limit):
    """(valid, starred rows, loss) of a node, row by row; what joins the starred rows: whole classes, the smallest first."""
    rows = shown(data, node)
    classes = {}
    for row, value in zip(rows, data.sensitive.tolist(), strict=True):
        classes.setdefault(row, []).append(value)

    def good(values):
        return len(values) >= k and len(values) >= l * max(Counter(values).values())

    bad = [row for row, values in classes.items() if not good(values)]
    valid = sum(len(classes[row]) for row in bad) <= limit * data.n
    starred = [value for row in bad for value in classes[row]]
    alone = sorted((row for row in classes if row not in bad), key=lambda row: (len(classes[row]), row))
    while valid and starred and not good(starred):
        bad.append(alone.pop(0))
        starred += classes[bad[-1]]
    lost = 0
    for row in rows:
        for j, x in enumerate(row):
            size = data.domains[j].size
            if x == "*" or row in bad:
                lost += UNIT
            elif node[j]:
                below = sum(levels_of(data.domains[j])[node[j]] == x)
                lost += int(below / size * UNIT + 1e-9) if below > 1 else 0
    return valid, len(starred), lost / UNIT


def space(data, l, k, limit):
    c = data.contingency
    return Nodes(c, l, k, limit, lattice_for(c, True, None))


@settings(max_examples=60)
@given(recoded(), st.sampled_from([0.0, 0.2, 0.5, 1.0]))
def test_every_node_is_what_the_rows_say(table, limit):
    data, l, k = table
    nodes = space(data, l, k, limit)
    for node in nodes.all():
        judged = nodes.judge(node)
        valid, starred, lost = naive(data, node, l, k, limit)
        assert judged.valid == valid
        if valid:
            assert (judged.starred, judged.lost) == (starred, round(lost * nodes.lattice.star[0]))
        assert sum(of[level] for of, level in zip(nodes.base, node, strict=True)) <= judged.lost


@settings(max_examples=60)
@given(recoded(), st.sampled_from([0.0, 0.3, 1.0]))
def test_the_optimum_is_the_least_of_all_valid_nodes(table, limit):
    data, l, k = table
    nodes = space(data, l, k, limit)
    release = ldiv.solve(data, l, k=k, algorithm="full-domain", suppression=limit, nodes=True)
    least = min(nodes.judge(node).lost for node in nodes.all() if nodes.valid(node))
    assert release.info["loss"] == least
    for name in (*ORDERS, "datafly"):
        other = ldiv.solve(data, l, k=k, algorithm=name, suppression=limit, nodes=True)
        assert other.loss >= release.loss and nodes.valid(other.info["node"])


@settings(max_examples=60)
@given(recoded(), st.booleans())
def test_search_orders_find_the_minimal_nodes_where_validity_is_monotone(table, alone):
    """Without starred rows, or with k alone and any share of them."""
    data, l, k = table
    limit = 0.0
    if alone:
        data, l, k, limit = ldiv.Microdata.from_codes(data.codes, domains=data.domains), 1, max(k, 2), 0.2
    if k > data.n:
        return
    nodes = space(data, l, k, limit)
    valid = {node for node in nodes.all() if nodes.valid(node)}
    assert all(above in valid for node in valid for above in nodes.above(node))
    minimal = [node for node in valid if not any(below in valid for below in nodes.below(node))]
    best = min(nodes.judge(node).lost for node in minimal)
    for name in ("incognito", "ola", "flash"):
        release = ldiv.solve(data, l, k=k, algorithm=name, suppression=limit, nodes=True)
        if release.info["node"] != nodes.bottom:
            assert release.info["loss"] == best, name
    height = sum(ldiv.solve(data, l, k=k, algorithm="samarati", suppression=limit, nodes=True).info["node"])
    assert height == min(map(sum, valid))


def test_tags_and_heights():
    data = ldiv.Microdata.from_codes([[0, 0, 0], [1, 1, 1], [0, 1, 0], [1, 0, 1]], [0, 1, 1, 0])
    nodes = space(data, 2, 1, 0.0)
    tags = Tags(nodes)
    for node in nodes.all():
        assert tags.ask(node) == nodes.valid(node)
    assert set(tags.minimal()) == {node for node in nodes.all() if nodes.valid(node) and not any(map(nodes.valid, nodes.below(node)))}
    for low, high in (((0, 0, 0), (1, 1, 1)), ((0, 1, 0), (1, 1, 1)), ((0, 0), (3, 2))):
        for height in range(sum(high) + 1):
            box = product(*(range(a, b + 1) for a, b in zip(low, high, strict=True)))
            assert between(low, high, height) == [node for node in box if sum(node) == height]


def test_a_release_by_hand():
    """One column of four values in two parts, l = 2."""
    tree = {"Age": {"young": [1, 2], "old": [3, 4]}}
    table = {"Age": [1, 2, 3, 3, 4], "Disease": ["flu", "cold", "flu", "cold", "cough"]}
    release = ldiv.anonymize(table, ["Age"], "Disease", 2, algorithm="full-domain", hierarchies=tree)
    assert release.frame["Age"].tolist() == ["young"] * 2 + ["old"] * 3
    assert release.info["node"] == (1,) and release.loss == 0.5 * 5  # on level 0 three of five rows would be starred
    table = {"Age": [1, 3, 3, 4, 4, 4], "Disease": ["flu", "cold", "cough", "flu", "cold", "pox"]}
    release = ldiv.anonymize(table, ["Age"], "Disease", 2, algorithm="full-domain", hierarchies=tree)
    assert release.frame["Age"].tolist() == ["*", "*", "*", "4", "4", "4"]  # 1 is alone; 3, the smallest class, joins it
    assert release.info["node"] == (0,) and release.info["starred_rows"] == 3 and release.loss == 3
    for name in ("full-domain", *ORDERS, "datafly"):
        strict = ldiv.anonymize(table, ["Age"], "Disease", 2, algorithm=name, hierarchies=tree, suppression=0)
        assert strict.info["node"] == (2,) and set(strict.frame["Age"]) == {"*"}


def test_datafly_goes_up_along_the_most_distinct_values():
    rng = np.random.default_rng(0)
    data = ldiv.Microdata.from_codes(np.stack([rng.integers(0, 2, 200), rng.integers(0, 40, 200)], axis=1), rng.integers(0, 5, 200), [2, 40, 5])
    assert ldiv.solve(data, 3, algorithm="datafly").info["node"] == (0, 1)


def test_a_lattice_that_nobody_can_walk_is_refused():
    rng = np.random.default_rng(0)
    data = ldiv.Microdata.from_codes(rng.integers(0, 3, (40, 30)), [0, 1] * 20)
    for name in ("full-domain", *ORDERS):
        with pytest.raises(ldiv.InputError, match="more than 1,048,576; publish some columns on one level"):
            ldiv.solve(data, 2, algorithm=name)
    assert ldiv.solve(data, 2, algorithm="datafly").max_l >= 2


# -- what ARX has published -------------------------------------------------------------------------------------------------

OPTIMUM, STARRED, LOSS = (0, 3, 0, 0, 2, 1, 1, 1, 0), 2_584, 0.22128674455957098  # risk-benchmark, results/experiment1.csv


def adult():
    with shared("adult/arx/adult.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter=";"))
    levels = {}
    for name in NINE:
        lines = shared(f"adult/arx/adult_hierarchy_{name}.csv").read_text().splitlines()
        levels[name] = {line.split(";")[0]: line.split(";") for line in lines if line}
    return {name: np.array([row[name] for row in rows]) for name in NINE}, levels


def test_the_published_optimum_of_adult():
    """ARX counts parts of what a hierarchy lists, seen or not, and takes the geometric mean of 1 + loss over the columns. The hierarchy of countries of that
    year had England in a part of its own ("Europa"): with it the node's figures are the published ones to the last digit that they agree in."""
    frame, levels = adult()
    for england, starred, loss in (("Europa", STARRED, LOSS), ("Europe", 2_553, 0.2204119285497350)):
        levels["native-country"]["England"][1] = england
        trees = {name: [row for value, row in of.items() if value in set(frame[name])] for name, of in levels.items()}
        data = ldiv.Microdata.from_frame(frame, NINE, keep=False).with_hierarchies(trees)
        nodes = Nodes(data.contingency, 1, 5, 1.0, Lattice.of_nodes(data.contingency))
        assert nodes.judge(OPTIMUM).starred == starred
        of_cell, codes, size, good, _ = nodes.classes(OPTIMUM)
        assert size[~good].sum() == starred
        product_ = 1.0
        for name, level in zip(NINE, OPTIMUM, strict=True):
            whole = Counter(row[level] for row in levels[name].values())
            kept = good[of_cell][data.contingency.cell_of_row]
            parts = np.array([(whole[levels[name][v][level]] - 1) / (len(levels[name]) - 1) for v in frame[name]])
            product_ *= 1 + float(np.where(kept, parts, 1).mean())
        assert product_ ** (1 / 9) - 1 == pytest.approx(loss, abs=1e-9)
