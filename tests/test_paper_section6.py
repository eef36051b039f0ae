"""Section 6: Hilbert and TP+, TDS, the multi-dimensional transform, and the KL-divergence that judges them."""

import itertools
import math

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import from_histograms, histogram_tables, tables

import ldiv
from ldiv._kernels.hilbert import curve_keys
from ldiv.algorithms.hilbert import curve_order
from ldiv.algorithms.multidim import transform
from ldiv.algorithms.tds import Specialisation
from ldiv.release.measures import subdomain_codes


@pytest.mark.parametrize("d, bits", [(1, 4), (2, 1), (2, 4), (3, 4), (4, 2), (5, 1)])
def test_hilbert_curve_visits_neighbours(d, bits):
    """The defining property: every point once, each step to a neighbour in one coordinate."""
    grid = np.array(list(itertools.product(range(2**bits), repeat=d)), dtype=np.int32)
    keys = curve_keys(grid, bits)
    assert keys.shape == (len(grid), 1)
    order = np.argsort(keys[:, 0])
    assert len(set(keys[:, 0].tolist())) == len(grid) and keys[order, 0].tolist() == list(range(len(grid)))
    steps = np.abs(np.diff(grid[order], axis=0))
    assert (steps.sum(axis=1) == 1).all()


def test_hilbert_keys_of_many_words_refine_those_of_few():
    """In 40 dimensions of 5 bits a key has four words; with all coordinates below 2 the order is that of the one-bit curve's end."""
    rng = np.random.default_rng(0)
    points = rng.integers(0, 32, (200, 40)).astype(np.int32)
    keys = curve_keys(points, 5)
    assert keys.shape == (200, 4) and len(np.unique(keys, axis=0)) == len(np.unique(points, axis=0))
    # The first d bits of the key depend on the leading bits alone.
    coarse = curve_keys(np.ascontiguousarray(points >> 4), 1)
    fine_head = [int.from_bytes(b"".join(int(w).to_bytes(8, "big") for w in k), "big") >> (5 * 40 - 40) for k in keys]
    assert fine_head == coarse[:, 0].tolist()


def test_hilbert_takes_any_domain_sizes():
    sizes = [1, 2, 1000, 3] * 16
    rng = np.random.default_rng(0)
    codes = np.stack([rng.integers(0, s, 30) for s in sizes], axis=1)
    data = ldiv.Microdata.from_codes(codes, np.arange(30) % 5, [*sizes, 5])
    assert sorted(curve_order(data.contingency)) == list(range(data.contingency.groups))
    assert ldiv.solve(data, 5, algorithm="hilbert").max_l >= 5


@given(histogram_tables(max_groups=5, max_count=4))
def test_hilbert_groups_hold_each_value_once_until_the_last(table):
    data, l = table
    if l == 1:
        return
    from ldiv.algorithms.hilbert import group_along_curve

    group, cell, rows = group_along_curve(data.contingency, l)  # equal groups in a row are one, with as many rows of each cell
    values = data.contingency.sensitive[cell]
    for g in range(group.max() + 1):
        members = values[group == g]
        assert len(members) >= l and len(set(members.tolist())) == len(members) and len(set(rows[group == g].tolist())) == 1


def test_hilbert_takes_all_musts_when_there_are_more_than_l():
    """l = 3, four values with two rows each: three of them would leave five rows of which two agree."""
    data = from_histograms((2, 0, 0, 0), (0, 2, 0, 0), (0, 0, 2, 0), (0, 0, 0, 2))
    release = ldiv.solve(data, 3, algorithm="hilbert")
    assert release.max_l >= 3


@given(tables(max_rows=40), st.sampled_from([None, 3]))
@settings(max_examples=200)
def test_tp_plus_never_has_more_stars_than_tp(table, seed):
    data, l = table
    assert ldiv.solve(data, l, algorithm="tp+", seed=seed).stars <= ldiv.solve(data, l, algorithm="tp", seed=seed).stars


def brute_force_kl(release) -> float:
    """The definition, point by point and row by row."""
    c = release.contingency
    data = c.data
    rows = oracle.rows_of(data.codes, data.sensitive)
    published = release.codes
    total = 0.0
    for point in set(rows):
        f = rows.count(point) / len(rows)
        star = 0.0
        for row in range(len(rows)):
            if rows[row][1] != point[1]:
                continue
            volume, inside = 1, True
            for j, size in enumerate(c.sizes):
                codes = subdomain_codes(release, j, int(published[row, j]), size)
                volume *= len(codes)
                inside &= point[0][j] in codes
            star += inside / volume
        total += f * math.log(f / (star / len(rows)))
    return total


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_each_take_their_own_points(monkeypatch, threads):
    monkeypatch.setattr("ldiv.release.measures.MANY", 0)
    monkeypatch.setattr("ldiv.release.measures.USUAL_THREADS", threads)
    rng = np.random.default_rng(5)
    for d in (1, 3):
        data = ldiv.Microdata.from_codes(rng.integers(0, 4, (80, d)), rng.permutation(np.arange(80) % 7))
        release = ldiv.solve(data, 3, algorithm="cascade")
        assert ldiv.kl_divergence(release) == pytest.approx(brute_force_kl(release), abs=1e-9)


def ordered_tables():
    """Tables some of whose attributes are ordered and some have a taxonomy, so that every kind of sub-domain occurs."""

    def dress(table, kinds):
        data, l = table
        domains = []
        for domain, kind in zip(data.domains, kinds, strict=False):
            labels = [f"v{k}" for k in range(domain.size)]
            tree = ldiv.Taxonomy.from_tree({"low": labels[:2], "high": labels[2:]}, labels) if kind == 2 and domain.size > 2 else None
            domains.append(ldiv.Domain(domain.name, domain.size, labels, kind == 1, tree))
        return ldiv.Microdata.from_codes(data.codes, data.sensitive, domains=domains, sensitive_domain=data.sensitive_domain), l

    return st.builds(dress, tables(max_rows=25), st.lists(st.integers(0, 2), min_size=4, max_size=4))


# Every kind of release: one residue, many groups, several patterns, sub-domains of each sort.
@pytest.mark.parametrize("name", ["tp", "tp+", "hilbert", "cascade", "tds", "mondrian", "multidim"])
@given(ordered_tables())
@settings(max_examples=350)
def test_kl_is_the_brute_force_sum(name, table):
    data, l = table
    release = ldiv.solve(data, l, algorithm=name)
    assert ldiv.kl_divergence(release) == pytest.approx(brute_force_kl(release), abs=1e-9)


def test_kl_over_64_bits_of_key():
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 3, (40, 36))
    codes[:20, :] = codes[0]
    data = ldiv.Microdata.from_codes(codes, np.arange(40) % 4)
    for name in ("tp", "tp+", "multidim"):
        release = ldiv.solve(data, 2, algorithm=name)
        assert ldiv.kl_divergence(release) == pytest.approx(brute_force_kl(release), abs=1e-9)


@given(ordered_tables())
def test_multidim_keeps_groups_and_never_raises_kl(table):
    data, l = table
    plain = ldiv.solve(data, l, algorithm="tp+")
    boxed = transform(plain)
    assert boxed.group_sizes.sum() == plain.group_sizes.sum() and boxed.groups >= plain.groups
    assert ldiv.kl_divergence(boxed) <= ldiv.kl_divergence(plain) + 1e-12
    assert boxed.stars <= plain.stars


@given(ordered_tables())
@settings(max_examples=150)
def test_tds_minima_are_those_recomputed(table):
    """The incremental minima against a fresh look at every group, after every step."""
    data, l = table
    c = data.contingency
    state = Specialisation(c, l)
    while (candidate := state.best()) is not None:
        state.specialise(*candidate)
        for j, tree in enumerate(state.trees):
            for node in np.flatnonzero(state.shown[j]):
                if not tree.children[node] or not (state.node[:, j] == node).any():
                    continue
                least = np.inf
                for run, nodes in zip(state.runs, state.node, strict=True):
                    if nodes[j] != node:
                        continue
                    members = state.order[run[0] : run[1]]
                    for child in tree.children[node]:
                        inside = [g for g in members if c.codes[g, j] in tree.codes(child)]
                        cells = [k for g in inside for k in range(c.indptr[g], c.indptr[g + 1])]
                        if cells:
                            rows = np.bincount(c.sensitive[cells], weights=c.count[cells])
                            least = min(least, rows.sum() / rows.max())
                if state.valid[j][node]:
                    assert state.ratio[j][node] == pytest.approx(least)
                else:
                    assert least < l
    assert state.anonymity >= l - 1e-9


def test_tds_is_single_dimensional_and_maximal():
    data = ldiv.datasets.load("acs2018", qi=["Age", "Race", "WorkClass"]).head(20_000)
    release = ldiv.solve(data, 4, algorithm="tds")
    for j in range(3):
        shown = {}
        for own, out in zip(data.codes[:, j].tolist(), release.codes[:, j].tolist(), strict=True):
            assert shown.setdefault(own, out) == out
    assert release.info["specialisations"] > 3
    assert {s.text for s in release.subdomains[1]} <= {"American Indian or Alaska Native", "Asian or Pacific", "Other or several"}


@given(tables(max_rows=25))
def test_measures_by_definition(table):
    data, l = table
    release = ldiv.solve(data, l, algorithm="tp+")
    sizes = np.bincount(release.group)
    assert ldiv.discernibility(release) == (sizes**2).sum()
    assert ldiv.average_group_size(release) == pytest.approx(data.n / len(sizes))
    loss = [(release.codes[:, j] == -1).mean() * (domain.size > 1) for j, domain in enumerate(data.domains)]
    assert ldiv.ncp(release) == pytest.approx(np.mean(loss))


def test_taxonomy_checks():
    labels = ["a", "b", "c"]
    for tree, message in [
        ({"x": ["a", "b"]}, "'c' is missing"),
        ({"x": ["a", "b"], "y": ["b", "c"]}, "'b' stands twice"),
        ({"x": ["a", "b", "c", "d"]}, "'d' is not a value"),
    ]:
        with pytest.raises(ldiv.InputError, match=message):
            ldiv.Taxonomy.from_tree(tree, labels)
    with pytest.raises(ldiv.InputError, match="taxonomy has 3 values, the domain 4"):
        ldiv.Domain("A", 4, taxonomy=ldiv.Taxonomy.flat(labels))


@settings(max_examples=150)
@given(st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=2, max_size=9))
def test_ordered_attributes_are_split_where_most_is_gained(counts):
    """Every node of the tree is cut where the information gain on the SA is largest, by the definition row by row."""
    tree = ldiv.Taxonomy.by_splits(np.array(counts, dtype=np.int64), list(range(len(counts))))

    def values(codes):
        return [v for code in codes for v, rows in enumerate(counts[code]) for _ in range(rows)]

    for node in range(tree.nodes):
        children = tree.children[node]
        if not len(children):
            continue
        low, high = sorted(tuple(tree.codes(int(child))) for child in children)
        whole = low + high
        assert whole == tuple(range(whole[0], whole[-1] + 1))
        gains = [oracle.information_gain(values(whole), [values(whole[:k]), values(whole[k:])]) for k in range(1, len(whole))]
        assert gains[len(low) - 1] >= max(gains) - 1e-6
