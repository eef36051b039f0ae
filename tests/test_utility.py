"""Measures of utility against sums row by row and hand-computed numbers; whole rows drawn from what is published alone."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import asked, tables, with_trees

import ldiv
from ldiv.table.lattice import levels_of
from ldiv.utility import Workload, as_released, associations, cramers_v, k_marginal, on_originals, propensity, total_variation
from ldiv.utility.learning import _column
from ldiv.utility.queries import Errors

NAMES = ["tp", "cascade", "mondrian", "full-domain", "k-member", "multidim"]


@st.composite
def released(draw):
    """A release, along hierarchies where its algorithm knows them."""
    data, l, k = draw(asked())
    data = with_trees(draw, data)
    name = draw(st.sampled_from(NAMES))
    nodes = {"nodes": True} if ldiv.algorithms()[name].generalises and draw(st.booleans()) else {}
    return ldiv.solve(data, l, k=k, algorithm=name, **nodes)


def untouched(data):
    """The release of a table that shows everything."""
    return ldiv.algorithms()["tp"].solve(data.contingency, 1)


def stands_for(release, row, j):
    """The codes that a row's cell stands for."""
    value = int(release.codes[row, j])
    if value >= 0:
        return [value]
    return list(range(release.contingency.sizes[j])) if value == -1 else list(release.subdomains[j][-2 - value].codes)


# -- one number ---------------------------------------------------------------------------------------------------------------


@settings(max_examples=30)
@given(released())
def test_resolution_row_by_row(release):
    data, n, d = release.contingency.data, release.n, release.d
    level, product, lost, most = 0.0, 0, 0.0, 0.0
    for i in range(n):
        product += math.prod(len(stands_for(release, i, j)) for j in range(d))
        for j, domain in enumerate(data.domains):
            codes = stands_for(release, i, j)
            cuts = levels_of(domain) if domain.taxonomy is not None else [np.arange(domain.size)]
            if release.codes[i, j] == -1:
                level += 1
            elif len(codes) > 1:
                level += next((k for k, cut in enumerate(cuts) if len({int(cut[c]) for c in codes}) == 1), len(cuts)) / len(cuts)
            column = data.codes[:, j].tolist()
            own = column.count(column[i])
            lost += -math.log2(own / sum(column.count(c) for c in codes)) if release.codes[i, j] < 0 else 0
            most += -math.log2(own / n)
    assert ldiv.precision(release) == pytest.approx(1 - level / (n * d))
    assert ldiv.ambiguity(release) == pytest.approx(product / n)
    assert ldiv.non_uniform_entropy(release) == pytest.approx(lost / most if most else 0, abs=1e-12)
    assert ldiv.c_avg(release) == pytest.approx(n / release.groups / max(release.l, release.k))
    gone = [all(x == -1 for x in row) for row in release.published.tolist()]
    sizes = release.group_sizes.tolist()
    assert ldiv.discernibility(release, penalty=True) == sum(s * (n if g else s) for s, g in zip(sizes, gone, strict=True))


def test_resolution_by_hand():
    """Four rows, one column of four values in two halves; two rows show a half, two a star."""
    data = ldiv.Microdata.from_codes([[0], [1], [2], [3]], [0, 1, 0, 1], [4, 2]).with_hierarchies({"A1": {"low": [0, 1], "high": [2, 3]}})
    c = data.contingency
    half = ldiv.Subdomain((0, 1), "low")
    release = ldiv.Release.from_entries(
        c, np.array([0, 0, 1, 1]), np.arange(4, dtype=np.int32), c.count, l=2, algorithm="by hand", published=[[-2], [-1]], subdomains=[[half]]
    )
    assert ldiv.precision(release) == 1 - (0.5 + 0.5 + 1 + 1) / 4
    assert ldiv.ambiguity(release) == (2 + 2 + 4 + 4) / 4
    assert ldiv.non_uniform_entropy(release) == (1 + 1 + 2 + 2) / 8  # bits: a half hides one of two values, a star one of four
    assert ldiv.discernibility(release) == 8 and ldiv.discernibility(release, penalty=True) == 2 * 2 + 2 * 4
    assert ldiv.c_avg(release) == 1


# -- queries ------------------------------------------------------------------------------------------------------------------


@settings(max_examples=30)
@given(released(), st.integers(0, 9))
def test_answers_row_by_row(release, seed):
    data = release.contingency.data
    workload = Workload.anatomy(data, dims=min(2, data.d), selectivity=0.3, count=8, seed=seed)
    true, expected = workload.answers(data), workload.answers(release)
    for q in range(len(workload)):
        by_row, in_expectation = 0, 0.0
        for i in range(data.n):
            wanted = bool(workload.chosen[q, data.sensitive[i]])
            by_row += wanted and all(mask[q, data.codes[i, j]] for j, mask in enumerate(workload.masks))
            in_expectation += wanted * math.prod(
                sum(bool(mask[q, c]) for c in stands_for(release, i, j)) / len(stands_for(release, i, j)) for j, mask in enumerate(workload.masks)
            )
        assert true[q] == by_row and expected[q] == pytest.approx(in_expectation)
    assert workload.answers(untouched(data)).tolist() == true.tolist()


def test_errors_by_hand():
    errors = Errors(np.array([0.0, 4.0, 10.0]), np.array([1.0, 2.0, 10.0]))
    assert errors.relative.tolist() == [0.5, 0.0] and (errors.mean, errors.median, errors.left_out) == (0.25, 0.25, 1)
    bounded = Errors(np.array([0.0, 4.0, 10.0]), np.array([1.0, 2.0, 10.0]), 0.05, 100)
    assert bounded.relative.tolist() == [0.2, 0.4, 0.0] and bounded.left_out == 0


def test_anatomys_workload_has_its_widths():
    """b = ceil(|A| s^(1 / (qd + 1))): s = 0.05, two predicates and the SA: 0.3684 of each domain."""
    data = ldiv.datasets.load("acs2018", qi=["Age", "Gender", "Education"], sensitive="Income")
    workload = Workload.anatomy(data, dims=2, selectivity=0.05, count=500, seed=0)
    part = 0.05 ** (1 / 3)
    for j, size in enumerate([79, 2, 17]):
        mine = workload.used[:, j]
        assert set(workload.masks[j][mine].sum(axis=1)) == {math.ceil(size * part)} and workload.masks[j][~mine].all()
    assert set(workload.chosen.sum(axis=1)) == {math.ceil(50 * part)} and workload.used[:, :-1].sum(axis=1).tolist() == [2] * 500
    assert (workload.used[:, :-1].mean(axis=0) > 0.55).all()  # each attribute in two thirds of the queries
    again = Workload.anatomy(data, dims=2, selectivity=0.05, count=500, seed=0)
    assert (again.chosen == workload.chosen).all()
    with pytest.raises(ldiv.InputError, match="dims must be at most the 3 quasi-identifiers, not 4"):
        Workload.anatomy(data, dims=4)
    with pytest.raises(ldiv.InputError, match="made for a table with other domains"):
        workload.answers(data.project(["Age"]))


def test_arxs_workloads():
    data = ldiv.Microdata.from_codes([[0, 0], [4, 2]], [0, 1], [5, 3, 2])
    points, ranges = Workload.points(data, each=200, seed=1), Workload.ranges(data, each=200, seed=1)
    assert len(points) == len(ranges) == 7 * 200
    assert {tuple(row) for row in points.used.tolist()} == {tuple(j in s for j in range(3)) for k in (1, 2, 3) for s in combinations(range(3), k)}
    for workload, width in ((points, {1}), (ranges, {1, 2, 3, 4, 5})):
        mask = workload.masks[0][workload.used[:, 0]]
        assert set(mask.sum(axis=1)) == width and workload.masks[0][~workload.used[:, 0]].all()
        assert all("10" not in "".join(map(str, row.astype(int))).lstrip("0").rstrip("0") for row in mask)  # one stretch
    ends = ranges.masks[0][ranges.used[:, 0]]
    # the first value is an end with probability 1/8 for each of two: 1 - (7/8)^2 = 0.234, not 1 - (4/5)^2 = 0.36
    assert abs(ends[:, 0].mean() - 0.234) < 0.06


# -- marginals ----------------------------------------------------------------------------------------------------------------


def expected_pairs(release, a, b):
    """Expected counts of pairs of values, row by row; b may be the SA."""
    c = release.contingency
    out = np.zeros((c.sizes[a], c.m if b == c.d else c.sizes[b]))
    for i in range(release.n):
        left = stands_for(release, i, a)
        right = [int(c.data.sensitive[i])] if b == c.d else stands_for(release, i, b)
        for x in left:
            for y in right:
                out[x, y] += 1 / (len(left) * len(right))
    return out


@settings(max_examples=40)
@given(released())
def test_marginals_row_by_row(release):
    data = release.contingency.data
    names = [*data.names, data.sensitive_domain.name]
    true = untouched(data)
    one, two, links = total_variation(release), total_variation(release, 2), associations(release)
    apart = []
    has = data.sensitive_domain.name != "no sensitive attribute"
    assert len(one) == data.d + has and len(links) == len(two) == (data.d + has) * (data.d + has - 1) // 2
    for a, b in combinations(range(data.d + has), 2):
        p, q = expected_pairs(true, a, b) / data.n, expected_pairs(release, a, b) / data.n
        assert two[names[a], names[b]] == pytest.approx(np.abs(p - q).sum() / 2, abs=1e-9)
        assert one[(names[a],)] == pytest.approx(np.abs(p.sum(axis=1) - q.sum(axis=1)).sum() / 2, abs=1e-9)
        apart.append(np.abs(p - q).sum())
        assert links[names[a], names[b]] == pytest.approx((cramers_v(p), cramers_v(q)))
    assert not has or one[(names[-1],)] == pytest.approx(0, abs=1e-12)
    if apart:
        assert k_marginal(release) == pytest.approx(500 * (2 - np.mean(apart)))


def test_cramers_v_is_scipys():
    from scipy.stats.contingency import association

    rng = np.random.default_rng(0)
    for _ in range(20):
        table = rng.integers(1, 9, (int(rng.integers(2, 5)), int(rng.integers(2, 5))))
        assert cramers_v(table) == pytest.approx(association(table, method="cramer"))
    padded = np.zeros((4, 4))
    padded[:2, 1:3] = [[3, 1], [1, 3]]
    assert cramers_v(padded) == pytest.approx(0.5) and cramers_v(np.ones((1, 3))) == 0


def test_k_marginal_of_two_tables():
    rng = np.random.default_rng(1)
    a, b = (ldiv.Microdata.from_codes(rng.integers(0, 3, (50, 4)), domains=[ldiv.Domain(f"A{j}", 3) for j in range(4)]) for _ in range(2))
    apart = []
    for i, j in combinations(range(4), 2):
        counts = [{(x, y): int(((t.codes[:, i] == x) & (t.codes[:, j] == y)).sum()) for x in range(3) for y in range(3)} for t in (a, b)]
        apart.append(sum(abs(counts[0][key] - counts[1][key]) for key in counts[0]) / 50)
    assert k_marginal(a, b) == pytest.approx(500 * (2 - np.mean(apart))) and k_marginal(a, a) == 1000


# -- whole rows ---------------------------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(released(), st.sampled_from(["uniform", "histogram", "hotdeck"]), st.integers(0, 3))
def test_completed_rows_lie_in_what_is_published(release, how, seed):
    full = release.complete(how, seed)
    for i in range(release.n):
        for j in range(release.d):
            assert full.codes[i, j] in stands_for(release, i, j)
    assert (full.sensitive == release.contingency.data.sensitive).all()
    assert (full.codes == release.complete(how, seed).codes).all()


@settings(max_examples=40)
@given(tables(max_rows=20), st.sampled_from(["uniform", "histogram", "hotdeck"]))
def test_completing_sees_nothing_but_what_is_published(table, how):
    """Two tables whose releases publish the same are completed alike."""
    data, l = table
    release = ldiv.solve(data, l, algorithm="cascade", seed=1)
    codes = release.codes.copy()
    hidden = codes < 0
    other = np.where(hidden, (data.codes + 1) % np.array([x.size for x in data.domains]), data.codes)
    twin = ldiv.Microdata.from_codes(other, data.sensitive, domains=data.domains, sensitive_domain=data.sensitive_domain)
    c = twin.contingency
    again = ldiv.Release.from_entries(
        c,
        release.group,
        c.cell_of_row,
        np.ones(data.n, dtype=np.int64),
        l=1,
        algorithm="twin",
        published=release.published,
        subdomains=release.subdomains,
    )
    assert (release.codes == codes).all()
    if (again.codes == codes).all():  # rows alike in the twin may be handed out in another order
        assert (again.complete(how, 5).codes == release.complete(how, 5).codes).all()


def test_donors_by_hand():
    """Kept (0, ?) with SA 1: the only whole row with 0 and SA 1 has 2; with SA 5, which no whole row has, one of those with 0; kept 3: the histogram."""
    codes = [[0, 2], [0, 1], [0, 1], [0, 0], [1, 1], [3, 0]]
    data = ldiv.Microdata.from_codes(codes, [1, 0, 0, 1, 0, 5], [4, 4, 6])
    c = data.contingency
    published = np.array([[0, 2], [0, 1], [0, -1], [1, 1], [3, -1]], dtype=np.int32)
    group = {(0, 2): 0, (0, 1): 1, (0, 0): 2, (1, 1): 3, (3, 0): 4}
    release = ldiv.Release.from_entries(
        c,
        np.array([group[tuple(c.codes[g])] for g in c.group_of_cell]),
        np.arange(len(c.count), dtype=np.int32),
        c.count,
        l=1,
        algorithm="by hand",
        published=published,
    )
    drawn = np.array([release.complete("hotdeck", seed).codes for seed in range(60)])
    assert set(drawn[:, 3, 1].tolist()) == {2}
    assert set(drawn[:, 5, 1].tolist()) == {1, 2}  # nobody else has 3: as often as the column shows it, three times 1 and once 2
    assert abs((drawn[:, 5, 1] == 2).mean() - 1 / 4) < 0.2
    assert set(np.array([release.complete("uniform", s).codes for s in range(60)])[:, 5, 1].tolist()) == {0, 1, 2, 3}
    with pytest.raises(ldiv.InputError, match="how must be one of 'uniform', 'histogram', 'hotdeck'"):
        release.complete("hotdesk")
    with pytest.raises(ldiv.errors.LdivError, match="made from counts, not rows"):
        ldiv.solve(ldiv.Contingency(c.codes, c.indptr, c.sensitive, c.count, c.domains, c.sensitive_domain), 1).complete()


def test_a_donors_value_outside_the_sub_domain_is_not_taken():
    """The only whole row with 0 has 3, and the row with a hidden value has 0 or 1; the column shows 1 twice and 0 never."""
    data = ldiv.Microdata.from_codes([[0, 3], [0, 0], [1, 1], [1, 1]], [0, 1, 0, 1], [2, 4, 2])
    c = data.contingency
    group = {(0, 3): 0, (0, 0): 1, (1, 1): 2}
    release = ldiv.Release.from_entries(
        c,
        np.array([group[tuple(c.codes[g])] for g in c.group_of_cell]),
        np.arange(len(c.count), dtype=np.int32),
        c.count,
        l=1,
        algorithm="by hand",
        published=[[0, 3], [0, -2], [1, 1]],
        subdomains=[[], [ldiv.Subdomain((0, 1), "low")]],
    )
    for how, values in (("hotdeck", {1}), ("histogram", {1}), ("uniform", {0, 1})):
        assert {int(release.complete(how, seed).codes[1, 1]) for seed in range(40)} == values


# -- learning -----------------------------------------------------------------------------------------------------------------


def people(n=600):
    rng = np.random.default_rng(0)
    age, sex, noise = rng.integers(0, 30, n), rng.integers(0, 2, n), rng.integers(0, 4, n)
    target = (age + 6 * sex > 17).astype(int)
    domains = [ldiv.Domain("age", 30, list(range(20, 50)), ordered=True), ldiv.Domain("sex", 2), ldiv.Domain("noise", 4)]
    return ldiv.Microdata.from_codes(np.column_stack([age, sex, noise]), rng.integers(0, 6, n), domains=domains), target


def test_classifiers():
    pytest.importorskip("sklearn", reason="needs scikit-learn")
    data, target = people()
    kept, starred = ldiv.solve(data, 1, algorithm="tp"), ldiv.solve(data, 5, algorithm="tp")
    for measure in (lambda r: as_released(r, target, ["age"]), lambda r: on_originals(r, target, seed=1)):
        clear, coarse = measure(kept), measure(starred)
        assert clear["random forest"].accuracy > 0.95 > coarse["random forest"].accuracy
        assert clear["linear SVM"].f1 > 0.9 and 0.4 <= clear["linear SVM"].zero_rule < 0.7
    assert as_released(kept, target, models=["random forest"]).keys() == {"random forest"}
    with pytest.raises(ldiv.InputError, match="a class for each of the 600 rows"):
        as_released(kept, target[:5])
    with pytest.raises(ldiv.InputError, match="one class only"):
        as_released(kept, np.zeros(600))


def test_numbers_that_are_hidden_are_learnt_as_middles():
    data = ldiv.Microdata.from_codes([[0], [1], [2], [3]], [0, 1, 0, 1], domains=[ldiv.Domain("age", 4, [20, 24, 30, 50], ordered=True)])
    c = data.contingency
    release = ldiv.Release.from_entries(
        c,
        np.array([0, 0, 1, 1]),
        np.arange(4, dtype=np.int32),
        c.count,
        l=2,
        algorithm="by hand",
        published=[[-2], [-1]],
        subdomains=[[ldiv.Subdomain((0, 1), "[20 - 24]")]],
    )
    assert _column(release, release.codes, 0, True, None).ravel().tolist() == [22, 22, 35, 35]
    assert _column(release, release.codes, 0, True, 50.5).ravel().tolist() == [22, 22, 50.5, 50.5]
    assert _column(release, release.codes, 0, False, None).tolist() == [[0.0], [0.0], [1.0], [1.0]]


def test_more_sub_domains_than_values():
    data = ldiv.Microdata.from_codes([[0], [1], [2]], [0, 1, 2], domains=[ldiv.Domain("age", 3, [20, 30, 50], ordered=True)])
    c = data.contingency
    kinds = [ldiv.Subdomain(codes, str(codes)) for codes in ((0, 1), (1, 2), (0, 2))]
    release = ldiv.Release.from_entries(
        c, np.arange(3), np.arange(3, dtype=np.int32), c.count, l=1, algorithm="by hand", published=[[-2], [-3], [-4]], subdomains=[kinds]
    )
    assert _column(release, release.codes, 0, True, None).ravel().tolist() == [25, 40, 35]


def test_propensity():
    pytest.importorskip("sklearn", reason="needs scikit-learn")
    data, _ = people(1000)
    rng = np.random.default_rng(3)
    other = ldiv.Microdata.from_codes(data.codes[rng.permutation(1000)], data.sensitive, domains=data.domains, sensitive_domain=data.sensitive_domain)
    error, ratio = propensity(data, other, seed=0)
    assert 0 <= error < 0.03 and ratio < 3
    wrong = ldiv.Microdata.from_codes(
        np.column_stack([data.codes[:, 0] // 15, *data.codes[:, 1:].T]), data.sensitive, domains=data.domains, sensitive_domain=data.sensitive_domain
    )
    assert propensity(data, wrong, seed=0)[0] > 0.15 and propensity(data, wrong, seed=0)[1] > 5


def test_propensity_needs_a_row_a_fold_of_each_table():
    pytest.importorskip("sklearn", reason="needs scikit-learn")
    small, large = (ldiv.Microdata.from_codes([[k % 2] for k in range(n)], sizes=[2]) for n in (4, 5))
    for pair in ((small, large), (large, small)):
        with pytest.raises(ldiv.InputError, match="5 folds and needs as many rows of each table, not 4"):
            propensity(*pair)
    assert propensity(large, large, seed=0)[0] >= 0
