"""Constraints beyond l compose: every pair and triple of them, against trying every way to group the rows."""

import math
from collections import Counter
from importlib import import_module
from itertools import combinations

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ldiv
from ldiv.privacy.principles import Frequency

NAMES = ("a", "b", "c")
ALGORITHMS = ("tp", "tp+", "hilbert", "cascade", "auto")

# What may be asked beyond l of one sensitive column.
KINDS = ("protect", "several", "size", "distinct", "entropy")


def holds(kind, strength, joint):
    """Whether the sensitive values of a group satisfy a principle, from its definition."""
    count = Counter(joint)
    if kind == "size":
        return len(joint) >= strength
    if kind == "distinct":
        return len(count) >= strength
    share = [c / len(joint) for c in count.values()]
    return math.exp(-sum(p * math.log(p) for p in share)) >= strength - 1e-9


PRINCIPLE = {"size": ldiv.KAnonymity, "distinct": ldiv.Distinct, "entropy": ldiv.Entropy}
STRENGTH = {"size": st.integers(1, 5), "distinct": st.integers(1, 3), "entropy": st.sampled_from([1.0, 1.5, 2.0])}


def valid_group(rows, l, protect, columns, principles):
    """rows: (QI, (s, t)); whether they may be one QI-group."""
    if any(len({q[j] for q, _ in rows}) > 1 for j in protect):
        return False
    if any(not oracle.eligible([s[column] for _, s in rows], l) for column in columns):
        return False
    return all(holds(kind, strength, [s[c] for _, s in rows]) for kind, strength in principles for c in columns)


@pytest.mark.parametrize("wanted", [x for size in (1, 2, 3) for x in combinations(KINDS, size)], ids="+".join)
@settings(max_examples=40)
@given(data=st.data())
def test_every_combination(wanted, data):
    n = data.draw(st.integers(2, 7))
    qi = data.draw(st.lists(st.tuples(*[st.integers(0, 1)] * 3), min_size=n, max_size=n))
    target = data.draw(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=n, max_size=n))
    l = data.draw(st.sampled_from([1, 2, 2, 3]))
    algorithm = data.draw(st.sampled_from(ALGORITHMS))
    protect = data.draw(st.sampled_from([[0], [1], [2], [0, 2]])) if "protect" in wanted else []
    columns = [0, 1] if "several" in wanted else [0]
    principles = [(kind, data.draw(STRENGTH[kind])) for kind in wanted if kind in STRENGTH]
    rows = list(zip(qi, target, strict=True))
    table = {name: [q[j] for q in qi] for j, name in enumerate(NAMES)} | {"s": [s for s, _ in target], "t": [t for _, t in target]}
    possible = any(
        all(valid_group([rows[i] for i in group], l, protect, columns, principles) for group in partition)
        for partition in oracle.partitions(list(range(n)))
    )
    try:
        release = ldiv.anonymize(
            table,
            NAMES,
            [("s", "t")[c] for c in columns],
            l,
            algorithm=algorithm,
            protect=[NAMES[j] for j in protect],
            also=[PRINCIPLE[kind](strength) for kind, strength in principles],
        )
    except (ldiv.InputError, ldiv.NotEligibleError) as error:
        assert not possible and any(word in str(error) for word in ("impossible", "as one group does not satisfy it", "no ")), error
        return
    assert possible
    check_release(release, rows, l, protect, columns, principles)


def check_release(release, rows, l, protect, columns, principles):
    published = release.codes
    for q, mine in zip([q for q, _ in rows], published, strict=True):
        labels = [d.label(int(x)) if x >= 0 else None for d, x in zip(release.contingency.domains, mine, strict=True)]
        assert all(x is None or x == y for x, y in zip(labels, q, strict=True))
        assert all(labels[j] is not None for j in protect)
    groups = {}
    for k, mine in enumerate(published):
        groups.setdefault(tuple(mine.tolist()), []).append(rows[k])
    for group in groups.values():
        assert valid_group(group, l, protect, columns, principles)
    assert all(release.stars_by_attribute[NAMES[j]] == 0 for j in protect)


def test_protected_columns_stay_whatever_else_is_asked():
    """60 rows, three parts of 20: groups of 25 cannot be had without starring A, and that is said."""
    rng = np.random.default_rng(0)
    data = ldiv.Microdata.from_codes(np.stack([np.repeat([0, 1, 2], 20), rng.integers(0, 6, 60)], axis=1), np.arange(60) % 4, names=["A", "B"])
    with pytest.raises(ldiv.InputError, match=r"KAnonymity\(k=25\) is impossible with protect=\['A'\]: the 20 rows with A=0 as one group .*have 20"):
        ldiv.solve(data, 2, protect=["A"], also=[ldiv.KAnonymity(25)])
    for k in (3, 10, 20):
        release = ldiv.solve(data, 2, protect=["A"], also=[ldiv.KAnonymity(k)])
        assert release.stars_by_attribute["A"] == 0 and release.group_sizes.min() >= k and release.info["protected"] == ("A",)
    table = {"A": data.codes[:, 0], "B": data.codes[:, 1], "s": data.sensitive, "t": np.arange(60) % 5}
    release = ldiv.anonymize(table, ["A", "B"], ["s", "t"], 3, protect=["A"], also=ldiv.KAnonymity(7))
    assert release.stars_by_attribute["A"] == 0 and release.group_sizes.min() >= 7
    for name in ("s", "t"):
        assert ldiv.check(release.frame, ["A", "B"], name, 3)


def test_refusals_name_the_rows_and_the_constraint():
    table = {"a": [1, 1, 1, 2, 2, 2], "b": [1, 2, 3, 4, 5, 6], "s": [1, 2, 3, 1, 2, 3], "t": [1, 1, 2, 2, 3, 3]}
    with pytest.raises(ldiv.InputError, match=r"3-diversity of 't' is impossible with protect=\['a'\]: the 3 rows with a=1 as one group"):
        ldiv.anonymize(table, ["a", "b"], ["s", "t"], 3, protect="a", algorithm="tp")
    with pytest.raises(ldiv.InputError, match=r"protect=\['a', 'b'\] is impossible with l = 2: of the 1 rows with a=1, b=1"):
        ldiv.anonymize(table, ["a", "b"], "s", 2, protect=["a", "b"])
    assert ldiv.anonymize({"a": [1, 1], "s": [1, 2]}, ["a"], "s", 2, protect=["a"]).stars == 0
    for asked in ({"protect": ["a"]}, {"also": [ldiv.KAnonymity(2)]}):
        for algorithm in ("mondrian", "tds", "multidim"):
            with pytest.raises(ldiv.InputError, match="values and stars only"):
                ldiv.anonymize(table, ["a", "b"], "s", 2, algorithm=algorithm, **asked)
    with pytest.raises(ldiv.InputError, match="need rows, not counts"):
        from ldiv.algorithms import get
        from ldiv.constraints import compose

        cells = ldiv.Microdata.from_codes([[0], [1]], [0, 1]).contingency
        compose([cells, cells], 2, get("tp"))


class Own(ldiv.Principle):
    """A user's own: the commonest value at most two more than the rarest is too easy, so at least three rows and two values."""

    def level(self, groups):
        return np.minimum(groups.size, np.diff(groups.indptr))

    def holds(self, groups):
        return (groups.size >= 3) & (np.diff(groups.indptr) >= 2)


class Careless(Own):
    def holds(self, groups):
        return groups.size


def test_a_principle_of_ones_own():
    data = ldiv.Microdata.from_codes([[k, k % 2] for k in range(8)], [k % 4 for k in range(8)])
    release = ldiv.solve(data, 2, also=[Own()], protect=["A2"])
    assert release.group_sizes.min() >= 3 and release.stars_by_attribute["A2"] == 0
    with pytest.raises(ldiv.InputError, match=r"holds\(\) must return a bool for each"):
        ldiv.solve(data, 2, also=[Careless()])
    assert ldiv.solve(data, 2, also=[Frequency(4)]).max_l >= 4


def test_row_order_does_not_matter_with_several_columns():
    rng = np.random.default_rng(1)
    table = {"a": rng.integers(0, 3, 50), "b": rng.integers(0, 4, 50), "s": rng.integers(0, 5, 50), "t": rng.integers(0, 4, 50)}
    order = rng.permutation(50)
    one = ldiv.anonymize(table, ["a", "b"], ["s", "t"], 2, also=[ldiv.KAnonymity(4)])
    two = ldiv.anonymize({name: x[order] for name, x in table.items()}, ["a", "b"], ["s", "t"], 2, also=[ldiv.KAnonymity(4)])
    assert one.published.tolist() == two.published.tolist() and one.count.tolist() == two.count.tolist()


def test_a_defect_in_merging_is_withheld(monkeypatch):
    """What merging promises is looked at once more: no protected column is starred, and everything asked for holds."""
    module = import_module("ldiv.constraints.enforce")  # the package has a function of that name
    data = ldiv.Microdata.from_codes([[0, 0]] * 2 + [[0, 1]] * 2 + [[1, 0]] * 2 + [[1, 1]] * 2, [0, 1] * 4)
    release = ldiv.solve(data, 2, algorithm="tp")
    assert module.enforce(release, [ldiv.KAnonymity(4)], ["A1"]).stars_by_attribute == {"A1": 0, "A2": 8}
    with monkeypatch.context() as patch:
        patch.setattr(module, "_projections", lambda c, fixed: [(1,)])
        with pytest.raises(ldiv.UnsafeReleaseError, match="starred a protected column"):
            module.enforce(release, [ldiv.KAnonymity(4)], ["A1"])
    with monkeypatch.context() as patch:
        patch.setattr(module, "_merge_on", lambda *parts: None)
        patch.setattr(module, "_merge_rest", lambda *parts: None)
        with pytest.raises(ldiv.UnsafeReleaseError, match="violates .* after merging"):
            module.enforce(release, [ldiv.KAnonymity(4)], ["A1"])
