"""Clusters: k-member and MDAV row by row against naive versions, what every cluster and the rest keep, OKA's adjusting, and Mondrian's other cuts."""

from collections import Counter
from itertools import product

import numpy as np
import oracle
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import asked, tables, with_trees

import ldiv
from ldiv.algorithms.clustering.loss import Growing
from ldiv.algorithms.clustering.oka import _Centres
from ldiv.algorithms.clustering.rows import UNIT, Rows
from ldiv.algorithms.mondrian_infogain import _best_cut


def distinct(data):
    """The same table with every row told apart by one more attribute: no two are interchangeable."""
    codes = np.column_stack([data.codes, np.arange(data.n)])
    domains = (*(ldiv.Domain(x.name, x.size, ordered=True) for x in data.domains), ldiv.Domain("row", max(data.n, 2), ordered=True))
    return ldiv.Microdata.from_codes(codes, data.sensitive, domains=domains, sensitive_domain=data.sensitive_domain)


def clusters_of(release):
    return sorted(sorted(np.flatnonzero(release.group == g).tolist()) for g in range(release.groups))


def width(data, members):
    """What each row of a cluster of ordered codes loses."""
    codes = data.codes[members].astype(int)
    return sum(int(x) * UNIT // max(d.size - 1, 1) for x, d in zip(codes.max(axis=0) - codes.min(axis=0), data.domains, strict=True))


def naive_k_member(data, k):
    """Byun et al.: the farthest row from the last, then the row that makes the cluster lose least, ties to the first; what is left one by one."""
    left = sorted(range(data.n), key=lambda i: data.codes[i].tolist())
    last, out = left[0], []
    while len(left) >= k:
        cluster = [max(left, key=lambda i: (width(data, [last, i]), -left.index(i)))]
        left.remove(cluster[0])
        while len(cluster) < k:
            best = min(left, key=lambda i: (width(data, [*cluster, i]), left.index(i)))
            cluster.append(best)
            left.remove(best)
        last = cluster[-1]
        out.append(cluster)
    while left:
        last = left[0]
        best = min(out, key=lambda g: (len(g) + 1) * width(data, [*g, last]) - len(g) * width(data, g))
        best.append(left.pop(0))
    return sorted(map(sorted, out))


@settings(max_examples=60)
@given(tables(max_rows=14), st.integers(2, 5))
def test_k_member_is_the_papers_where_only_k_is_asked(table, k):
    data = distinct(table[0])
    data = ldiv.Microdata.from_codes(data.codes, domains=data.domains)
    k = min(k, data.n)
    if k > 1:
        assert clusters_of(ldiv.solve(data, k=k, algorithm="k-member")) == naive_k_member(data, k)


def naive_mdav(data, k):
    """MDAV-generic, ties to the first."""
    left = sorted(range(data.n), key=lambda i: data.codes[i].tolist())
    span = np.array([max(d.size - 1, 1) for d in data.domains])

    def apart(i, point):
        return int(np.rint(UNIT * ((data.codes[i] - point) / span) ** 2).sum())

    def take(first):
        point = data.codes[first]
        left.remove(first)
        near = sorted(left, key=lambda i: (apart(i, point), left.index(i)))[: k - 1]
        for i in near:
            left.remove(i)
        out.append([first, *near])

    def far(point):
        return max(left, key=lambda i: (apart(i, point), -left.index(i)))

    out = []
    while len(left) >= 2 * k:
        two = len(left) >= 3 * k
        first = far(data.codes[left].mean(axis=0))
        take(first)
        if two:
            take(far(data.codes[first]))
    if left:
        out.append(left)
    return sorted(map(sorted, out))


@settings(max_examples=60)
@given(tables(max_rows=14), st.integers(2, 5))
def test_mdav_is_the_papers_where_only_k_is_asked(table, k):
    data = distinct(table[0])
    data = ldiv.Microdata.from_codes(data.codes, domains=data.domains)
    k = min(k, data.n)
    if k > 1:
        assert clusters_of(ldiv.solve(data, k=k, algorithm="mdav")) == naive_mdav(data, k)


@settings(max_examples=80)
@given(tables(max_rows=40), st.integers(1, 9))
def test_every_cluster_and_the_rest_are_eligible(table, k):
    data, l = table
    k = min(k, data.n)
    rows = Rows(data.contingency, l, k)
    growing = Growing(rows, False)
    while rows.rows >= rows.least:
        before = rows.rows
        growing.start()
        rows.cluster(rows.farthest(growing.table), growing.add)
        taken, times = rows.clusters[-1], rows.times[-1]
        values = [v for cell, count in taken.items() for v in [int(data.contingency.sensitive[cell])] * count]
        assert oracle.eligible(values, l) and len(values) >= k and before - rows.rows == times * len(values)
        assert rows.rows >= l * rows.of_value.max(initial=0) and (rows.left >= 0).all()
        assert np.bincount(data.contingency.sensitive, rows.left, data.m).tolist() == rows.of_value.tolist()
    assert sum(t * sum(x.values()) for x, t in zip(rows.clusters, rows.times, strict=True)) + rows.rows == data.n


@settings(max_examples=60)
@given(st.data())
def test_what_a_cluster_would_lose_by_a_value(draw):
    """The tables of growth against the loss of the grown cluster, for ranges, sets and nodes."""
    data, _ = draw.draw(tables(max_rows=12, max_size=6))
    ordered = draw.draw(st.booleans())
    domains = tuple(ldiv.Domain(x.name, x.size, ordered=ordered) for x in data.domains)
    data = with_trees(draw.draw, ldiv.Microdata.from_codes(data.codes, data.sensitive, domains=domains, sensitive_domain=data.sensitive_domain))
    rows = Rows(data.contingency, 1, 1)
    for nodes, cell in product((False, True), range(len(data.contingency.count))):
        growing = Growing(rows, nodes)
        growing.add(rows.numbers_of(0))
        growing.add(rows.numbers_of(cell // 2))
        before = growing.loss
        numbers = rows.numbers_of(cell)
        promised = sum(int(growing.table[rows.offset[j] + x]) for j, x in enumerate(numbers.tolist()))
        growing.add(numbers)
        assert abs(growing.loss - before - promised) <= data.d  # each attribute rounds down once


def test_clusters_alike_are_taken_while_the_rest_stays_eligible():
    """Pairs of the values 1 and 2 at the first point could be had ten times, but 20 of 45 rows have value 0: after two pairs they are 20 of 41, after three
    more than half."""
    values = [1] * 10 + [2] * 10 + [0] * 20 + [1] * 5
    data = ldiv.Microdata.from_codes([[0]] * 20 + [[1]] * 25, values)
    rows = Rows(data.contingency, 2, 1)
    growing = Growing(rows, False)
    rows.cluster(0, growing.add)
    assert rows.clusters == [{0: 1, 1: 1}] and rows.times == [2] and rows.rows == 41
    assert rows.due().tolist() == [True, False, False]
    for name in ("k-member", "mdav", "oka"):
        assert ldiv.solve(data, 2, algorithm=name).max_l >= 2


def test_clusters_of_very_many_rows_take_no_longer():
    one = ldiv.Microdata.from_codes([[0], [1], [2], [3]] * 3, [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2]).contingency
    many = ldiv.Contingency(one.codes, one.indptr, one.sensitive, one.count << 58, one.domains, one.sensitive_domain)
    for name in ("k-member", "mdav", "oka"):
        small, large = (ldiv.solve(c, 3, algorithm=name) for c in (one, many))
        assert large.n == small.n << 58 and large.max_l >= 3 and ldiv.ncp(large) <= 2 * ldiv.ncp(small) + 0.5
    rows = Rows(many, 2, 1)
    steps = 0
    growing = Growing(rows, False)
    while rows.rows:
        growing.start()
        rows.cluster(rows.farthest(growing.table), growing.add)
        steps += 1
    assert steps < 60


def test_centres_by_hand():
    """Two centres: points 0 and 4 of an ordered attribute; 1 moves the first to 1/2 (rows weigh), then 2 is nearer to it (3/2) than to 4 (2)."""
    c = ldiv.Microdata.from_codes([[0], [1], [2], [4]], domains=[ldiv.Domain("a", 5, ordered=True)]).contingency
    centres = _Centres(c, 2, None)
    centres.first = np.array([0, 3])
    centres.place = [np.array([0, 4 << 10])]
    assert centres.one_pass().tolist() == [0, 0, 0, 1] and centres.place[0].tolist() == [1 << 10, 4 << 10] and centres.count == [3, 1]


@settings(max_examples=60)
@given(asked(), st.sampled_from([None, 3]))
def test_oka_keeps_and_gives_rows(table, seed):
    data, l, k = table
    release = ldiv.solve(data, l, k=k, algorithm="oka", seed=seed)
    assert release.group_sizes.min() >= k and release.n == data.n


@settings(max_examples=60)
@given(asked(), st.booleans())
def test_mondrians(table, ordered):
    """Relaxed cuts refine strict ones; with k alone no relaxed group that could be halved is left; no cut by gain that both sides allow is left."""
    data, l, k = table
    domains = tuple(ldiv.Domain(x.name, x.size, ordered=ordered) for x in data.domains)
    data = ldiv.Microdata.from_codes(data.codes, data.sensitive, domains=domains, sensitive_domain=data.sensitive_domain)
    strict = ldiv.solve(data, l, k=k, algorithm="mondrian")
    relaxed = ldiv.solve(data, l, k=k, algorithm="mondrian-relaxed")
    assert ldiv.ncp(relaxed) <= ldiv.ncp(strict) + 1e-12
    if l == 1 < k:
        for g in range(relaxed.groups):
            members = np.flatnonzero(relaxed.group == g)
            alike = (data.codes[members] == data.codes[members[0]]).all()
            whole = relaxed.group_sizes[g] < 2 * k or alike
            assert whole or (relaxed.published[g] != -1).all()  # groups that show the same have become one
    gain = ldiv.solve(data, l, k=k, algorithm="mondrian-infogain")
    for g in range(gain.groups):
        members = np.flatnonzero(gain.group == g)
        for j in range(data.d):
            for cut in np.unique(data.codes[members, j])[:-1]:
                left = members[data.codes[members, j] <= cut]
                right = np.setdiff1d(members, left)
                both = all(oracle.publishable(data.sensitive[side].tolist(), l, k) for side in (left, right))
                assert not both or (gain.published[g] < 0).any()  # again, where groups that show the same have become one


def test_the_cut_of_most_gain_by_hand():
    """Attribute 1 parts the SA values {0, 1} from {2, 3}; attribute 0 parts nothing. Both cuts are allowed for l = 2."""
    codes = [[a, b] for a in (0, 1) for b in (0, 1) for _ in (0, 1)]
    values = [0, 1, 2, 3, 1, 0, 3, 2]
    data = ldiv.Microdata.from_codes(codes, values)
    c = data.contingency
    assert _best_cut(c, np.arange(4), 2, 1).tolist() == [True, False, True, False]
    assert _best_cut(c, np.arange(4), 2, 5) is None and _best_cut(c, np.array([0]), 2, 1) is None
    none = ldiv.Microdata.from_codes([[0], [1], [2], [2]]).contingency  # no SA: the most even cut
    assert _best_cut(none, np.arange(3), 1, 1).tolist() == [True, True, False]


def test_a_cut_through_the_median_by_hand():
    """Ages 0, 1 x 6, 2: strict Mondrian's median cut leaves {0} or {2}, too few; through 1 both halves have four rows of two values, and again two."""
    data = ldiv.Microdata.from_codes([[0], *[[1]] * 6, [2]], [0, 1, 0, 1, 0, 1, 0, 1], domains=[ldiv.Domain("a", 3, ordered=True)])
    assert ldiv.solve(data, 2, algorithm="mondrian").groups == 1
    release = ldiv.solve(data, 2, algorithm="mondrian-relaxed")
    assert release.group_sizes.tolist() == [4, 2, 2] and [x.text for x in release.subdomains[0]] == ["[0 - 1]", "[1 - 2]"]
    assert Counter(data.sensitive[release.group == 0].tolist()) == {0: 2, 1: 2}
