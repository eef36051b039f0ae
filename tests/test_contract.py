"""What every algorithm must do, whatever it is: one suite for all, users' own included."""

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import asked, from_histograms, tables

import ldiv

NAMES = sorted(ldiv.algorithms())
every = pytest.mark.parametrize("name", NAMES)
# The field's algorithms share what they are made of, and are tried on more tables in tests of their own.
FIELD = {"datafly", "flash", "full-domain", "incognito", "k-member", "mdav", "mondrian-infogain", "mondrian-relaxed", "oka", "ola", "samarati"}


def on_tables(*strategies):
    """A test of every algorithm on tables that are drawn."""

    def make(body):
        @every
        def test(name):
            @settings(max_examples=12 if name in FIELD else 40)
            @given(st.tuples(*strategies))
            def run(drawn):
                body(name, *drawn)

            run()

        test.__doc__ = body.__doc__
        return test

    return make


def outcome(release):
    """A release as bytes that do not depend on row order: what each group publishes, and its cells."""
    return (release.published.tobytes(), release.indptr.tobytes(), release.cell.tobytes(), release.count.tobytes())


@on_tables(asked())
def test_release_is_l_diverse_with_k_rows_to_an_outsider(name, table):
    data, l, k = table
    release = ldiv.solve(data, l, k=k, algorithm=name)
    texts = decoded(release)
    for values in oracle.published_groups(texts, data.sensitive).values():
        assert oracle.eligible(values, l) and len(values) >= k
    assert release.max_l >= l and (release.l, release.k) == (l, k)


def decoded(release):
    """Per row what an outsider reads."""
    out = []
    for row in release.codes:
        out.append([str(x) if x >= -1 else release.subdomains[j][-2 - x].text for j, x in enumerate(row)])
    return out


@on_tables(asked())
def test_release_is_truthful(name, table):
    data, l, k = table
    release = ldiv.solve(data, l, k=k, algorithm=name)
    for j in range(data.d):
        column = release.codes[:, j]
        kept = column >= 0
        assert (column[kept] == data.codes[kept, j]).all()
        for k in np.flatnonzero(column < -1):
            assert data.codes[k, j] in release.subdomains[j][-2 - column[k]].codes


@on_tables(asked())
def test_suppression_stars_are_minimal_for_its_groups(name, table):
    data, l, k = table
    release = ldiv.solve(data, l, k=k, algorithm=name)
    if not ldiv.algorithms()[name].suppression:
        return
    assert release.is_suppression
    rows = oracle.rows_of(data.codes, data.sensitive)
    members = [np.flatnonzero(release.group == g) for g in range(release.groups)]
    assert release.stars == sum(oracle.stars_of(rows, m) for m in members)
    assert release.stars == (release.codes == -1).sum() == sum(release.stars_by_attribute.values())
    assert release.suppressed_rows == (release.codes == -1).any(axis=1).sum()
    assert release.group_sizes.tolist() == [len(m) for m in members]


@on_tables(asked(), st.randoms(use_true_random=False))
def test_row_order_does_not_matter(name, table, random):
    data, l, k = table
    order = list(range(data.n))
    random.shuffle(order)
    shuffled = ldiv.Microdata.from_codes(data.codes[order], data.sensitive[order], domains=data.domains, sensitive_domain=data.sensitive_domain)
    assert outcome(ldiv.solve(data, l, k=k, algorithm=name)) == outcome(ldiv.solve(shuffled, l, k=k, algorithm=name))


@on_tables(asked())
def test_same_input_same_bytes_and_seed_is_reproducible(name, table):
    data, l, k = table
    for seed in (None, 7):
        first = ldiv.solve(data, l, k=k, algorithm=name, seed=seed)
        assert outcome(first) == outcome(ldiv.solve(data, l, k=k, algorithm=name, seed=seed))


@on_tables(tables())
def test_k_up_to_l_says_nothing(name, table):
    """An l-eligible group has l rows anyway: the same release to the last bit, and the same proof."""
    data, l = table
    plain, same = ldiv.solve(data, l, algorithm=name), ldiv.solve(data, l, k=l, algorithm=name)
    assert outcome(plain) == outcome(same) and same.k == l
    if plain.is_suppression:
        assert plain.certificate.bound == same.certificate.bound and plain.certificate.proof == same.certificate.proof


@on_tables(asked())
def test_input_is_not_changed(name, table):
    data, l, k = table
    before = data.codes.copy(), data.sensitive.copy()
    ldiv.solve(data, l, k=k, algorithm=name)
    assert (before[0] == data.codes).all() and (before[1] == data.sensitive).all()


@on_tables(tables(max_l=1))
def test_l_1_changes_nothing(name, table):
    data, _ = table
    assert ldiv.solve(data, 1, algorithm=name).stars == 0


@every
def test_an_infeasible_l_is_refused(name):
    data = from_histograms((3, 1), (0, 2))
    with pytest.raises(ldiv.NotEligibleError) as caught:
        ldiv.solve(data, 3, algorithm=name)
    assert (caught.value.count, caught.value.rows, caught.value.max_l) == (3, 6, 2)
    assert ldiv.solve(data, caught.value.max_l, algorithm=name).max_l >= 2


@every
def test_more_rows_than_there_are_is_refused(name):
    data = from_histograms((2, 2), (1, 1))
    with pytest.raises(ldiv.InputError, match="k must be at most the 6 rows of the table, not 7"):
        ldiv.solve(data, 2, k=7, algorithm=name)
    assert ldiv.solve(data, 2, k=6, algorithm=name).group_sizes.tolist() == [6]


@every
def test_where_every_group_has_k_rows_nothing_is_starred(name):
    """Without a sensitive attribute rows alike are one cell: what has k of them stands alone, however many they are."""
    data = ldiv.Microdata.from_codes(np.repeat([[0, 0], [1, 0], [1, 2]], [5, 7, 6], axis=0))
    release = ldiv.solve(data, k=5, algorithm=name)
    assert release.stars == 0 and release.groups == 3


@every
def test_a_table_that_is_already_diverse_stays(name):
    data = from_histograms((2, 2, 2), (1, 1, 1))
    release = ldiv.solve(data, 3, algorithm=name)
    assert release.stars == 0 and ldiv.ncp(release) == 0  # not a sub-domain either


@every
def test_empty_and_tiny_tables(name):
    empty = ldiv.Microdata.from_codes(np.zeros((0, 2), int), np.zeros(0, int), [3, 3, 3])
    release = ldiv.solve(empty, 4, algorithm=name)
    assert (release.n, release.stars, release.groups, release.codes.shape) == (0, 0, 0, (0, 2))
    one = ldiv.Microdata.from_codes([[0, 1]], [0])
    assert ldiv.solve(one, 1, algorithm=name).codes.tolist() == [[0, 1]]


@every
def test_many_attributes(name):
    """70 attributes need more than 64 bits of key."""
    rng = np.random.default_rng(0)
    codes = np.repeat(rng.integers(0, 3, (12, 70)), 2, axis=0)
    data = ldiv.Microdata.from_codes(codes, [0, 1] * 12)
    release = ldiv.solve(data, 2, algorithm=name)
    assert release.n == 24 and release.max_l >= 2
