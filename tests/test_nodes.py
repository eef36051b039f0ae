"""Recoding along hierarchies: what is shown is true and lowest, what it loses is what is said, the bound is below every release, stars are the case of height one."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import tables, with_trees

import ldiv
from ldiv.bounds.certificate import Prices
from ldiv.bounds.levels import Levels
from ldiv.bounds.proof import certify, prove, verify_certificate
from ldiv.errors import InputError
from ldiv.release.nodes import loss_of, recoded
from ldiv.table.lattice import UNIT, Lattice, levels_of


def loss_of_group(data, rows, loss):
    """What a group of rows loses a row, from the trees alone: the lowest node above its values, attribute by attribute."""
    lost = 0
    for j, domain in enumerate(data.domains):
        codes = sorted({int(data.codes[i, j]) for i in rows})
        if len(codes) == 1:
            continue
        below, height, level = [*range(domain.size)], 1, 1
        if domain.taxonomy is not None:
            tree = domain.taxonomy
            below = list(tree.codes(tree.covering(codes)))
            cuts = levels_of(domain)
            height, level = len(cuts), next((k for k, cut in enumerate(cuts) if len(set(cut[codes].tolist())) == 1), len(cuts))
        if len(below) == domain.size:
            lost += UNIT
        else:
            lost += int((len(below) / domain.size if loss == "ncp" else level / height) * UNIT + 1e-9)
    return lost


def partitions(rows):
    """All partitions of a list."""
    if not rows:
        yield []
        return
    first, *rest = rows
    for smaller in partitions(rest):
        for k in range(len(smaller)):
            yield [*smaller[:k], [first, *smaller[k]], *smaller[k + 1 :]]
        yield [[first], *smaller]


def least_loss(data, l, k, loss):
    """The least that a publishable partition loses, by trying them all."""
    best = None
    for partition in partitions(list(range(data.n))):
        if all(len(g) >= max(k, l * max(np.bincount(data.sensitive[g]))) for g in partition):
            lost = sum(len(g) * loss_of_group(data, g, loss) for g in partition)
            best = lost if best is None else min(best, lost)
    return best


@st.composite
def trees(draw, **options):
    data, l = draw(tables(**options))
    return with_trees(draw, data), l


@settings(deadline=None, max_examples=60)
@given(trees(max_rows=7, max_d=3, max_size=5, max_m=4), st.sampled_from(["ncp", "level"]), st.integers(1, 3))
def test_against_all_partitions(table, loss, k):
    data, l = table
    k = min(k, data.n)
    optimum = least_loss(data, l, k, loss)
    release = ldiv.solve(data, l, k=k, algorithm="lagrangian", nodes=True, loss=loss)
    lattice = Lattice.of_nodes(data.contingency, loss)
    if not lattice.nodes:
        assert release.is_suppression and release.stars * UNIT >= optimum
        return
    assert release.info["bound"] <= optimum <= release.info["loss"] == loss_of(release, lattice)
    if release.info.get("optimal"):
        assert release.info["loss"] == optimum
    if (prices := release.info.get("prices")) is not None:
        assert prove(data.contingency, prices, l) <= optimum
        random = np.random.default_rng(0)
        for chosen in (None, np.flatnonzero(random.random(lattice.vectors) < 0.5)):  # whatever the prices, whatever is left out
            value = (random.random(len(prices.value)) * data.d * UNIT * (1 << 20)).astype(np.int64)
            most = lattice.vectors if chosen is None else len(chosen)
            if most:
                assert prove(data.contingency, Prices(l, value, most, max(k, 1), loss=loss, combinations=chosen), l) <= optimum


@settings(deadline=None, max_examples=60)
@given(trees(max_rows=40, max_d=3, max_size=6))
def test_what_is_shown_is_the_lowest_node_above_what_is_held(table):
    data, l = table
    lattice = Lattice.of_nodes(data.contingency)
    release = recoded(ldiv.solve(data, l, algorithm="tp+"), lattice)
    ldiv.Release.verify(release)
    lost = 0
    for g in range(release.groups):
        rows = np.flatnonzero(release.group == g)
        lost += len(rows) * loss_of_group(data, rows.tolist(), "ncp")
        for j, shown in enumerate(release.published[g].tolist()):
            held = set(data.codes[rows, j].tolist())
            covered = {shown} if shown >= 0 else set(range(data.domains[j].size)) if shown == -1 else set(release.subdomains[j][-2 - shown].codes)
            assert held <= covered
    if lattice.nodes:
        assert loss_of(release, lattice) == lost  # groups that show the same are one: none loses more than its own lowest nodes
    assert len({tuple(row) for row in release.published.tolist()}) == release.groups


@settings(deadline=None, max_examples=25)
@given(tables(max_rows=40, max_d=3), st.integers(0, 100))
def test_hierarchies_of_height_one_are_stars(table, seed):
    data, l = table
    flat = replace(data, domains=tuple(replace(x, taxonomy=ldiv.Taxonomy.flat(range(x.size))) for x in data.domains))
    plain = ldiv.solve(data, l, algorithm="lagrangian", seed=seed)
    nodes = ldiv.solve(flat, l, algorithm="lagrangian", nodes=True, seed=seed)
    assert np.array_equal(plain.published, nodes.published) and np.array_equal(plain.count, nodes.count)
    assert plain.stars == nodes.stars and plain.info.get("bound") == nodes.info.get("bound")
    assert plain.certificate.bound == nodes.certificate.bound == verify_certificate(data, nodes.certificate, l)


def test_hierarchies_of_height_one_prove_what_stars_prove():
    """Where bound and stars differ: a bound in parts of stars would pass for one in stars."""
    random = np.random.default_rng(7)
    data = ldiv.Microdata.from_codes(random.integers(0, 5, (400, 4)), random.integers(0, 7, 400), [5, 5, 5, 5, 7])
    flat = replace(data, domains=tuple(replace(x, taxonomy=ldiv.Taxonomy.flat(range(x.size))) for x in data.domains))
    plain, nodes = (ldiv.solve(x, 5, algorithm="lagrangian", **options) for x, options in ((data, {}), (flat, {"nodes": True})))
    assert plain.stars > plain.info["bound"] == nodes.info["bound"] == prove(data.contingency, nodes.info["prices"], 5)
    assert plain.stars == nodes.stars and not nodes.info.get("optimal")


def test_the_same_through_nodes_where_a_level_joins_nothing_but_two_values():
    """The machinery of nodes on (almost) stars: a level that joins two values which no row has leaves the optimum where it is."""
    random = np.random.default_rng(3)
    codes, sensitive = random.integers(0, 4, (60, 3)), random.integers(0, 5, 60)
    data = ldiv.Microdata.from_codes(codes, sensitive, [6, 4, 4, 5])
    trees = {data.domains[0].name: {"used": {str(k): [k] for k in range(4)}, "unused": {"both": [4, 5]}}}
    plain = ldiv.solve(data, 2, algorithm="exact")
    nodes = ldiv.solve(data.with_hierarchies(trees), 2, algorithm="lagrangian", nodes=True, loss={data.domains[0].name: {"used": 1.0, "both": 1.0}})
    assert nodes.info["bound"] <= plain.stars * UNIT <= nodes.info["loss"] <= plain.stars * UNIT * 1.1


def test_levels_of_unbalanced_trees():
    tree = ldiv.Taxonomy.from_tree({"a": {"aa": [0, 1], "ab": [2]}, "b": [3], "c": [4, 5]}, range(6))
    levels = levels_of(ldiv.Domain("x", 6, taxonomy=tree))
    joined = [sorted(np.flatnonzero(level == node).tolist() for node in set(level.tolist())) for level in levels]
    assert joined == [[[0], [1], [2], [3], [4], [5]], [[0, 1], [2], [3], [4], [5]], [[0, 1, 2], [3], [4, 5]]]
    assert len(levels_of(ldiv.Domain("x", 3))) == 1


def frame():
    random = np.random.default_rng(1)
    return {
        "Age": random.integers(20, 60, 400).tolist(),
        "Town": [("Ulm", "Bonn", "Lyon", "Nice")[k] for k in random.integers(0, 4, 400)],
        "Ill": random.integers(0, 6, 400).tolist(),
    }


TREES = {
    "Age": {f"{a}-{a + 19}": {f"{b}-{b + 4}": list(range(b, b + 5)) for b in range(a, a + 20, 5)} for a in (20, 40)},
    "Town": {"Germany": ["Bonn", "Ulm"], "France": ["Lyon", "Nice"]},
}


def test_anonymize_recodes_along_hierarchies_and_is_verified_from_outside():
    table = frame()
    release = ldiv.anonymize(table, ["Age", "Town"], "Ill", 3, hierarchies=TREES)
    plain = ldiv.anonymize(table, ["Age", "Town"], "Ill", 3)
    shown = set(map(str, release.frame["Age"])) | set(map(str, release.frame["Town"]))
    assert shown & {"20-39", "40-59", "Germany", "France", "20-24"}
    assert ldiv.verify(table, release.frame, ["Age", "Town"], "Ill", 3, hierarchies=TREES)
    assert not ldiv.verify(table, release.frame, ["Age", "Town"], "Ill", 3)  # who does not know the hierarchy cannot tell
    assert release.info["loss"] < plain.stars * UNIT
    assert release.info["loss"] < 1.2 * release.info["bound"]
    again = ldiv.anonymize({name: column[::-1] for name, column in table.items()}, ["Town", "Age"], "Ill", 3, hierarchies=TREES)
    assert again.info["loss"] == release.info["loss"] and again.info["bound"] == release.info["bound"]


@settings(deadline=None, max_examples=40)
@given(
    trees(max_rows=7, max_d=3, max_size=4, max_m=4),
    st.sampled_from(["ncp", "level"]),
    st.sampled_from(["auto", "lagrangian", "cascade", "tp", "tp+"]),
    st.data(),
)
def test_constraints_along_hierarchies_against_all_partitions(table, loss, algorithm, draw):
    """Protected columns and further principles, for every algorithm that goes along hierarchies: what is shown, what holds, and the bound."""
    data, l = table
    d, size = data.d, draw.draw(st.integers(1, 3))
    protect = [data.names[0]] if d > 1 and draw.draw(st.booleans()) else []
    options = {"nodes": True, "loss": loss, "protect": protect, "also": [ldiv.KAnonymity(size)]}
    best = None
    for partition in partitions(list(range(data.n))):
        if all(
            len(g) >= max(size, l * max(np.bincount(data.sensitive[g]))) and not (protect and len(set(data.codes[g, 0].tolist())) > 1)
            for g in partition
        ):
            lost = sum(len(g) * loss_of_group(data, g, loss) for g in partition)
            best = lost if best is None else min(best, lost)
    if best is None:
        with pytest.raises(InputError):
            ldiv.solve(data, l, algorithm=algorithm, **options)
        return
    release = ldiv.Release.verify(ldiv.solve(data, l, algorithm=algorithm, **options))
    assert release.group_sizes.min() >= size
    if protect:
        assert (release.published[:, 0] >= 0).all()
    lattice = Lattice.of_nodes(data.contingency, loss)
    assert round(release.loss * UNIT) == (loss_of(release, lattice) if lattice.nodes else release.stars * UNIT) >= best
    if release.proof is not None:
        certificate = release.certificate
        assert certificate.bound * (UNIT // certificate.unit) <= best
        assert verify_certificate(data, certificate, l) == certificate.bound


def test_several_sensitive_columns_along_hierarchies():
    table = frame()
    table["Cost"] = np.random.default_rng(5).integers(0, 5, 400).tolist()
    release = ldiv.anonymize(table, ["Age", "Town"], ["Ill", "Cost"], 3, hierarchies=TREES)
    assert ldiv.verify(table, release.frame, ["Age", "Town"], ["Ill", "Cost"], 3, hierarchies=TREES)
    assert {"Germany", "France", "20-24"} & {str(x) for name in ("Age", "Town") for x in release.frame[name]}
    assert release.certificate.bound <= release.certificate.stars and release.info["loss"] == loss_of(release, Lattice.of_nodes(release.contingency))


def test_what_makes_no_sense_along_hierarchies_is_refused():
    table = {**frame(), "pid": list(range(400))}
    for asked, message in (
        ({"unit": "pid"}, "not along hierarchies"),
        ({"algorithm": "hilbert"}, "algorithm 'hilbert' publishes values and stars only"),
        ({"algorithm": "exact"}, "'exact' publishes values and stars only"),
        ({"algorithm": "mondrian", "also": [ldiv.KAnonymity(5)]}, "or go along hierarchies, not with 'mondrian'"),
    ):
        with pytest.raises(InputError, match=message):
            ldiv.anonymize(table, ["Age", "Town"], "Ill", 3, hierarchies=TREES, **asked)
    for algorithm in ("auto", "lagrangian", "cascade", "tp", "tp+"):
        with pytest.raises(InputError, match="give hierarchies= too"):
            ldiv.anonymize(table, ["Age", "Town"], "Ill", 3, loss="level", algorithm=algorithm)


def test_algorithms_along_hierarchies_and_the_order_of_their_losses():
    """TP keeps its groups, TP+ and the cascade lose less, the default least; all lose less than with stars."""
    data = ldiv.Microdata.from_frame(frame(), ["Age", "Town"], "Ill").with_hierarchies(TREES)
    lost = {name: ldiv.solve(data, 3, algorithm=name, nodes=True).loss for name in ("tp", "tp+", "cascade", "auto")}
    stars = {name: ldiv.solve(data, 3, algorithm=name).stars for name in lost}
    assert all(lost[name] <= stars[name] for name in lost)
    assert lost["tp"] >= lost["tp+"] >= lost["cascade"] >= lost["auto"]
    assert ldiv.solve(data, 3, algorithm="tp", nodes=True).suppressed_rows <= ldiv.solve(data, 3, algorithm="tp").suppressed_rows


def test_certificates_of_nodes_are_written_and_proven_again(tmp_path):
    table, path = frame(), tmp_path / "x.private.npz"
    for options in ({}, {"loss": "level"}, {"loss": {"Town": {"Germany": 0.9, "France": 0.8}}}, {"k": 5}):
        release = ldiv.anonymize(table, ["Age", "Town"], "Ill", 3, hierarchies=TREES, **options)
        claim = release.certificate
        assert (claim.stars, claim.bound, claim.unit) == (release.info["loss"], release.info["bound"], UNIT)
        assert claim.loss == (options.get("loss", "ncp") if isinstance(options.get("loss", ""), str) else "own")
        assert f"loss {claim.loss}" in str(claim) and claim.loss in claim._repr_html_()
        ldiv.save_certificate(claim, path, qi=["Age", "Town"], sensitive="Ill", l=3, k=release.k)
        again, _ = ldiv.load_certificate(path)
        assert str(again) == str(claim) and np.array_equal(again.prices.value, claim.prices.value)
        assert replace(again.prices, value=None) == replace(claim.prices, value=None)
        verdict = certify(table, path, hierarchies=TREES)
        assert verdict and verdict.proven == claim.bound and "along its hierarchies" in str(verdict)
        with pytest.raises(InputError, match="give them by hierarchies="):
            certify(table, path)
        with pytest.raises(InputError, match="the hierarchy of 'Town' is not the one"):
            certify(table, path, hierarchies={**TREES, "Town": {"north": ["Bonn", "Lyon"], "south": ["Ulm", "Nice"]}})
        with pytest.raises(InputError, match="the hierarchy of 'Town' is not the one"):
            certify(table, path, hierarchies={"Age": TREES["Age"]})


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        ("stars", "loss must be one of 'ncp', 'level'"),
        ({"Place": {}}, "'Place' is not a quasi-identifier"),
        ({"Town": {"Spain": 0.5}}, "no node 'Spain'"),
        ({"Town": {"Germany": 2}}, "a number from 0 to 1, not 2"),
        ({"Town": 0.5}, "a mapping of nodes' texts"),
        ({"Age": {"20-39": 0.01}}, "loses less than one below it"),
    ],
)
def test_losses_that_cannot_be(loss, message):
    with pytest.raises(InputError, match=message):
        ldiv.anonymize(frame(), ["Age", "Town"], "Ill", 3, hierarchies=TREES, loss=loss)


def test_a_table_of_losses_is_what_is_minimised():
    dear = {"Town": {"Germany": 1.0, "France": 1.0}}
    release = ldiv.anonymize(frame(), ["Age", "Town"], "Ill", 3, hierarchies=TREES, loss=dear)
    usual = ldiv.anonymize(frame(), ["Age", "Town"], "Ill", 3, hierarchies=TREES)
    assert release.info["prices"].loss == "own"
    countries = [sum(str(x) in ("Germany", "France") for x in r.frame["Town"]) for r in (release, usual)]
    assert countries[0] <= countries[1]


def test_prices_that_do_not_fit_are_refused():
    data = ldiv.Microdata.from_frame(frame(), ["Age", "Town"], "Ill").with_hierarchies(TREES)
    prices = ldiv.solve(data, 3, algorithm="lagrangian", nodes=True).info["prices"]
    for wrong in (
        Prices(3, prices.value, prices.most, loss="other"),
        Prices(3, prices.value, 10**6, loss="ncp"),
        Prices(3, prices.value, prices.most, protected=(2,), loss="ncp"),
        Prices(3, prices.value, prices.most, loss="own"),
        Prices(3, prices.value, prices.most, loss="ncp", losses={"Town": {"Germany": 0.5}}),
        Prices(3, prices.value, prices.most, loss="ncp", trees={"Town": "another"}),
        Prices(3, prices.value, prices.most - 1, loss="ncp"),
        Prices(3, prices.value, 2, loss="ncp", combinations=np.array([0, 0])),
        Prices(3, prices.value, 2, loss="ncp", combinations=np.array([1, 0])),
        Prices(3, prices.value, 2, loss="ncp", combinations=np.array([-1, 0])),
        Prices(3, prices.value, 2, loss="ncp", combinations=np.array([0, 10**9])),
        Prices(3, prices.value, 2, loss="ncp", combinations=np.array([0.0, 1.0])),
        Prices(3, prices.value, 3, loss="ncp", combinations=np.array([0, 1])),
    ):
        with pytest.raises(InputError):
            prove(data.contingency, wrong, 3)


@pytest.mark.parametrize("effort", ["fast", "default"])
def test_a_bound_on_losses_is_never_one_on_stars(effort):
    """Hierarchies none of whose nodes help: values and stars are published, but what was minimised and proven is counted otherwise."""
    table = {"A": [0, 0, 2, 2, 4, 4], "B": [0, 1, 2, 3, 4, 5], "S": [0, 1, 2, 3, 4, 5]}
    release = ldiv.anonymize(table, ["A", "B"], "S", 2, hierarchies={"A": {"x": [0, 2], "y": [4]}}, effort=effort)
    assert release.is_suppression and "loss" in release.info
    assert release.certified == (effort == "default")
    if effort == "fast":
        return
    assert release.certificate.unit == UNIT
    assert not release.certificate.contradiction and release.certificate.bound <= release.stars * release.certificate.unit


@pytest.mark.parametrize("effort", ["fast", "default"])
def test_the_default_algorithm_at_every_effort(effort):
    release = ldiv.anonymize(frame(), ["Age", "Town"], "Ill", 3, hierarchies=TREES, effort=effort)
    lattice = Lattice.of_nodes(release.contingency)
    assert release.info["loss"] == loss_of(release, lattice) > 0
    assert all(x == 0 for x in lattice.loss[0].tolist())


@settings(deadline=None, max_examples=80)
@given(st.lists(st.one_of(st.integers(-50, 50), st.none()), min_size=1, max_size=60), st.integers(1, 3))
def test_hierarchies_made_from_values_are_trees_with_values_in_their_intervals(ages, count):
    """Every text of a cascade of bins, and of "auto", holds the values below it, says so by itself, and levels are nested."""
    frame_ = {"Age": ages, "Ill": list(range(len(ages)))}
    for source in (
        "auto",
        [ldiv.Bins(width=5 * 2**k) for k in range(count)],
        ldiv.Bins(width=7),
        [ldiv.Bins(edges=[0, 10, 20]), ldiv.Bins(edges=[10])],
    ):
        data = ldiv.Microdata.from_frame(frame_, ["Age"], "Ill", missing="value").with_hierarchies({"Age": source})
        tree = data.domains[0].taxonomy
        for node in range(1, tree.nodes):
            text = tree.text[node]
            for code in tree.codes(node):
                value = data.domains[0].label(code)
                if value is not None:  # which is no node, but itself
                    assert ldiv.verify({"Age": [value], "Ill": [1]}, {"Age": [text], "Ill": [1]}, ["Age"], "Ill", 1), (value, text)
        if source == "auto" and all(a is not None for a in ages):
            sizes = [len(tree.codes(child)) for child in tree.children[0]]
            assert max(sizes, default=0) - min(sizes, default=0) <= 1


def test_hierarchies_made_from_values_in_a_release():
    table = frame()
    for age in ("auto", [ldiv.Bins(5), ldiv.Bins(10), ldiv.Bins(20)]):
        release = ldiv.anonymize(table, ["Age", "Town"], "Ill", 3, hierarchies={"Age": age, "Town": TREES["Town"]})
        assert ldiv.verify(table, release.frame, ["Age", "Town"], "Ill", 3, hierarchies={"Town": TREES["Town"]})
        assert any(str(x).startswith("[") for x in release.frame["Age"]) and release.nodes_by_attribute["Age"] > 0
        assert "nodes and stars lose as much as" in release.summary() and "nodes in Age" in release._repr_html_()
    assert ldiv.coarsen(table, {"Age": 2}, {"Age": [ldiv.Bins(5), ldiv.Bins(10)]})["Age"][0].endswith("0)")


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({"Town": "auto"}, "hierarchy of 'Town': 'auto' is for columns whose values have an order"),
        ({"Age": [ldiv.Bins(5), ldiv.Bins(7)]}, "hierarchy of 'Age': intervals of .* do not hold whole intervals"),
        ({"Town": [ldiv.Bins(5)]}, "column 'Town' cannot be binned"),
        ({"Age": []}, "hierarchy of 'Age'"),
        ({"Age": [5, 10]}, "hierarchy of 'Age': a hierarchy is rows of texts .* not a list with 5"),
        ({"Age": [ldiv.Bins(10), ldiv.Bins(5)]}, "hierarchy of 'Age': intervals of .* name the finest first"),
    ],
)
def test_hierarchies_that_cannot_be_made_from_values(tree, message):
    with pytest.raises(InputError, match=message):
        ldiv.anonymize(frame(), ["Age", "Town"], "Ill", 3, hierarchies=tree)


def test_what_a_released_table_loses_is_counted_from_its_texts():
    """By the checker's own code, from nothing but the texts: the same as the solver's sum."""
    release = ldiv.anonymize(frame(), ["Age", "Town"], "Ill", 3, hierarchies=TREES, weights={"Town": 3})
    c, prices = release.contingency, release.certificate.prices
    levels = Levels(c, prices, {})
    counts = [dict(zip(*np.unique([str(x) for x in release.frame[name]], return_counts=True), strict=True)) for name in ("Age", "Town")]
    lost = [levels.lost(j, {str(text): int(n) for text, n in counts[j].items()}, "*") for j in range(2)]
    assert sum(lost) == release.info["loss"]
    with pytest.raises(InputError, match="'Oslo' is neither a value, nor a node"):
        levels.lost(1, {"Oslo": 1}, "*")


def test_the_lowest_text_is_published_where_levels_hold_the_same():
    table = {"q": [1, 2, 3, 11, 12, 13, 21, 22], "s": list("xyxyxyxy")}
    release = ldiv.anonymize(table, ["q"], "s", 2, hierarchies={"q": [ldiv.Bins(5), ldiv.Bins(10), ldiv.Bins(20)]})
    assert {"[20, 25)"} <= set(release.frame["q"].tolist()) and "[0, 10)" not in release.frame["q"].tolist()
    rows = [["a", "Italy", "Europe", "*"], ["b", "Italy", "Europe", "*"], ["c", "Kenya", "Africa", "*"], ["d", "Kenya", "Africa", "*"]]
    assert set(ldiv.anonymize({"q": list("abcd"), "s": list("xyxy")}, ["q"], "s", 2, hierarchies={"q": rows}).frame["q"].tolist()) == {
        "Italy",
        "Kenya",
    }


def test_levels_are_those_of_the_file():
    """Levels of a file stay levels, also where a node has one child: level 1 of A, c, D is a recoding of the whole column."""
    rows = [["a", "A", "AA", "*"], ["b", "A", "AA", "*"], ["c", "c", "B", "*"], ["d", "D", "B", "*"], ["e", "D", "B", "*"]]
    table = {"q": list("aabbccddee"), "s": list("xxyyxyxxyy")}
    data = ldiv.Microdata.from_frame(table, ["q"], "s").with_hierarchies({"q": rows})
    assert [len(set(level.tolist())) for level in levels_of(data.domains[0])] == [5, 3, 2]
    for algorithm in ("full-domain", "ola", "flash", "incognito"):
        assert ldiv.anonymize(table, ["q"], "s", 2, algorithm=algorithm, hierarchies={"q": rows}).loss == pytest.approx(3.2)
    release = ldiv.anonymize(table, ["q"], "s", 2, hierarchies={"q": rows}, loss="level")
    assert verify_certificate(data, release.certificate, 2) == release.certificate.bound


@pytest.mark.parametrize("algorithm, options", [("tp", {}), ("tp+", {}), ("cascade", {}), ("auto", {"effort": "fast"})])
def test_nothing_is_claimed_of_stars_where_nodes_could_be_shown(algorithm, options):
    """A release along hierarchies that shows stars only is no best one because suppression knows none with fewer."""
    table = {"q": list("aabbcd"), "s": list("xxyyxy")}
    release = ldiv.anonymize(table, ["q"], "s", 2, algorithm=algorithm, hierarchies={"q": {"N": ["a", "b"], "M": ["c", "d"]}}, **options)
    assert not release.certified
    with pytest.raises(ldiv.LdivError, match="nothing was proven"):
        release.certificate  # noqa: B018


def test_nodes_that_read_like_stars_or_values_are_refused():
    rows = [["10", "25", "*"], ["15", "25", "*"], ["25", "z", "*"], ["20", "z", "*"]]
    with pytest.raises(InputError, match="'q': a node of its hierarchy is called '25', as a value is"):
        ldiv.anonymize({"q": ["10", "15", "25", "25"], "s": list("xyxy")}, ["q"], "s", 2, hierarchies={"q": rows})
    table = {"q": ["10", "15", "25", "20"] * 6, "w": list("aabbccdd") * 3, "s": list("xyxyzz") * 4}
    for name, algorithm in ldiv.list_algorithms().items():  # whether they would publish it or not
        if algorithm.generalises or not algorithm.suppression:
            with pytest.raises(InputError, match="'q': a node of its hierarchy is called '25', as a value is"):
                ldiv.anonymize(table, ["q", "w"], "s", 2, hierarchies={"q": rows}, algorithm=name)
    tree = {"q": {"N": ["a", "b"], "M": ["c"], "O": ["e"]}}
    with pytest.raises(InputError, match="is called 'N', as stars are"):
        ldiv.anonymize({"q": list("abce"), "s": list("xyxy")}, ["q"], "s", 2, hierarchies=tree, star="N")


def test_what_a_table_loses_by_levels_is_counted_from_its_texts():
    table = frame()
    trees = {"Age": [ldiv.Bins(5), ldiv.Bins(10), ldiv.Bins(20)], "Town": TREES["Town"]}
    release = ldiv.anonymize(table, ["Age", "Town"], "Ill", 3, hierarchies=trees, loss="level")
    levels = Levels(release.contingency, release.certificate.prices, {})
    lost = [
        levels.lost(j, {text: int(n) for text, n in zip(*np.unique([str(x) for x in release.frame[name]], return_counts=True), strict=True)}, "*")
        for j, name in enumerate(("Age", "Town"))
    ]
    assert sum(lost) == release.info["loss"]


def test_a_protected_column_has_no_levels():
    """Its hierarchy says nothing then: the bound is that without it, in parts of a star where nothing else has one."""
    table = frame()
    with_it = ldiv.anonymize(table, ["Age", "Town"], "Ill", 3, protect=["Town"], hierarchies=TREES)
    without = ldiv.anonymize(table, ["Age", "Town"], "Ill", 3, protect=["Town"], hierarchies={"Age": TREES["Age"]})
    assert with_it.certificate.bound == without.certificate.bound > 0 and with_it.loss == without.loss
    alone = ldiv.anonymize(table, ["Age", "Town"], "Ill", 3, protect=["Town"], hierarchies={"Town": TREES["Town"]})
    plain = ldiv.anonymize(table, ["Age", "Town"], "Ill", 3, protect=["Town"])
    assert alone.loss == plain.stars and 0.95 * plain.certificate.bound * UNIT <= alone.certificate.bound <= plain.certificate.bound * UNIT
