"""Releases from any list of entries, and verification: every way in which a release can be wrong is refused."""

from collections import Counter

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import from_histograms, tables

import ldiv
from ldiv.release.release import Release, Subdomain


@settings(max_examples=150)
@given(tables(), st.data())
def test_any_list_of_entries_gives_the_canonical_release(table, draw):
    """Groups with gaps in their numbers, entries in any order, split and empty ones: what is published is what the rows of each group share."""
    data, _ = table
    c = data.contingency
    groups: dict[int, Counter] = {}
    entries = []
    for cell, rows in enumerate(c.count.tolist()):
        for _ in range(rows):
            group = draw.draw(st.integers(0, 4)) * 3
            groups.setdefault(group, Counter())[cell] += 1
            entries.append((group, cell, 1))
            if draw.draw(st.booleans()):
                entries.append((draw.draw(st.integers(0, 20)), cell, 0))
    entries = draw.draw(st.permutations(entries))
    release = Release.from_entries(c, *(np.array(x) for x in zip(*entries, strict=True)), l=1, algorithm="test")
    expected: dict[tuple, Counter] = {}
    for held in groups.values():
        rows = [c.codes[c.group_of_cell[cell]].tolist() for cell in held]
        shared = tuple(values[0] if len(set(values)) == 1 else -1 for values in zip(*rows, strict=True))
        expected.setdefault(shared, Counter()).update(held)
    assert [tuple(x) for x in release.published.tolist()] == sorted(expected, key=lambda x: [(v < 0, v) for v in x])
    for g, shared in enumerate(release.published.tolist()):
        mine = slice(release.indptr[g], release.indptr[g + 1])
        assert release.cell[mine].tolist() == sorted(expected[tuple(shared)])  # ascending, each cell once
        assert dict(zip(release.cell[mine].tolist(), release.count[mine].tolist(), strict=True)) == dict(expected[tuple(shared)])
    assert release.verify() is release


def test_what_is_published_follows_its_group_number():
    data = from_histograms((1, 1), (1, 1), (1, 1))
    c = data.contingency
    published = np.array([[0], [-1], [1], [2]], dtype=np.int32)  # number 1 is not used
    release = Release.from_entries(c, np.array([0, 2, 3])[c.group_of_cell], np.arange(6), c.count, l=2, algorithm="test", published=published)
    assert release.verify().published.ravel().tolist() == [0, 1, 2]


def entries_of(release):
    return np.repeat(np.arange(release.groups), np.diff(release.indptr)), release.cell, release.count.copy()


@pytest.mark.parametrize("at", [0, 1, 2])
def test_verification_refuses_each_wrong_release(at):
    """A fault in the first, the middle and the last group."""
    data = from_histograms((2, 2, 2), (2, 2, 2), (2, 2, 2))
    c = data.contingency
    good = ldiv.solve(data, 3, algorithm="tp")
    group, cell, count = entries_of(good)

    def release(**change):
        parts = {"group": group, "cell": cell, "count": count, "published": good.published, **change}
        return Release.from_entries(c, parts.pop("group"), parts.pop("cell"), parts.pop("count"), l=3, algorithm="test", **parts)

    assert release().verify()
    wrong = count.copy()
    wrong[3 * at] -= 1
    with pytest.raises(ldiv.UnsafeReleaseError, match="every row exactly once"):
        release(count=wrong).verify()
    wrong[3 * at] += 2
    with pytest.raises(ldiv.UnsafeReleaseError, match="every row exactly once"):
        release(count=wrong).verify()
    lie = good.published.copy()
    lie[at] = (at + 1) % 3
    with pytest.raises(ldiv.UnsafeReleaseError, match="a value its rows do not have"):
        release(published=lie).verify()
    hidden = good.published.copy()
    hidden[at] = -2
    for codes, truthful in ((range(3), True), ([x for x in range(3) if x != at], False)):
        kinds = [[Subdomain(tuple(codes), "some")]]
        if truthful:
            assert release(published=hidden, subdomains=kinds).verify().stars == 0  # a sub-domain is no star
        else:
            with pytest.raises(ldiv.UnsafeReleaseError, match="a value its rows do not have"):
                release(published=hidden, subdomains=kinds).verify()


@pytest.mark.parametrize("counts, l", [((2, 1), 2), ((1, 1, 1), 4), ((3, 2, 1, 2), 3), ((2, 1, 1, 1), 3), ((7, 6), 2)])
def test_verification_refuses_a_group_one_row_short(counts, l):
    """A group of l h - 1 rows, beside one that makes the table as a whole eligible."""
    m = 2 * l
    data = from_histograms((*counts, *[0] * (m - len(counts))), (9,) * m)
    assert sum(counts) == l * max(counts) - 1
    c = data.contingency
    release = Release.from_entries(c, c.group_of_cell, np.arange(len(c.count)), c.count, l=l, algorithm="test")
    with pytest.raises(ldiv.UnsafeReleaseError, match=f"not {l}-eligible"):
        release.verify()


@settings(max_examples=150)
@given(tables(), st.integers(1, 5))
def test_check_counts_what_is_too_many(table, l):
    data, _ = table
    report = ldiv.check(data, l=l)
    groups = oracle.groups_of(oracle.rows_of(data.codes, data.sensitive))
    bad = {q: oracle.height(v) - len(v) // l for q, v in groups.items() if not oracle.eligible(v, l)}
    assert {tuple(v.group.values()): v.excess for v in report.violations} == bad
    assert report.max_l == min(len(v) // oracle.height(v) for v in groups.values())
    assert [v.excess for v in report.violations] == sorted(bad.values(), reverse=True)


@pytest.mark.parametrize("indptr", [[0, 4, 2, 6], [0, 2, 2, 6], [1, 2, 4, 6], [0, 2, 4, 5], [0, 2, 4], [0, 2, 4, 7], [-1, 2, 4, 6]])
def test_group_boundaries_must_ascend_from_the_first_entry_to_the_last(indptr):
    data = from_histograms((1, 1), (1, 1), (1, 1))
    good = ldiv.solve(data, 2, algorithm="tp")
    assert good.indptr.tolist() == [0, 2, 4, 6]
    with pytest.raises(ldiv.InputError, match="indptr"):
        Release(data.contingency, good.published, np.array(indptr), good.cell, good.count, 2, "test")
