"""The checker of what engines write believes nothing: neither claims about combinations, nor what stands in the file."""

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ldiv
from ldiv.asking import Asked
from ldiv.engines.cells import judged, planned_cells
from ldiv.engines.plan import Counts
from ldiv.engines.verdict import judge


@dataclass
class Case:
    """Three combinations of the source, what was written of them, and what is claimed."""

    before: Counts
    after: Counts
    said: tuple
    cell_of: np.ndarray
    texts: dict
    replaced: dict
    l: int = 2
    k: int = 1

    def verdict(self):
        qi, targets = ["age"], ["ill"]
        return judge(self.before, self.after, qi, targets, self.l, self.k, "*", {}, {}, self.said, self.cell_of, self.texts, self.replaced)


def counts(rows, marks=None):
    ages, ills, number = zip(*rows, strict=True)
    table = pa.table({"age": pa.array(list(ages)), "ill": pa.array(list(ills), pa.string())})
    given = np.array(number, dtype=np.int64)
    return Counts(table, given, np.array(marks if marks is not None else given * 10, dtype=np.uint64))


def good():
    """Two of the thirties keep their age; the third, and the forties, are starred."""
    return Case(
        counts([(30, "flu", 2), (30, "cold", 2), (40, "flu", 1), (50, "cold", 1)]),
        counts([("30", "flu", 2), ("30", "cold", 2), ("*", "flu", 1), ("*", "cold", 1)]),
        (np.array([0, 1, 2, 3]), np.array([0, 0, 1, 1]), np.array([2, 2, 1, 1])),
        np.arange(4, dtype=np.int32),
        {"age": None, "ill": None},
        {"age": {1: "*"}},
    )


def test_a_good_one():
    verdict = good().verdict()
    assert verdict, verdict
    assert (verdict.rows, verdict.groups, verdict.stars, verdict.max_l, verdict.smallest) == (6, 2, 2, 2, 2)


def rewritten(case, rows, marks=None):
    return replace(case, after=counts(rows, marks))


BAD = {
    "rows are lost": (lambda c: rewritten(c, [("30", "flu", 1), ("30", "cold", 2), ("*", "flu", 1), ("*", "cold", 1)]), "5 rows are written, 6"),
    "kinds differ": (lambda c: rewritten(c, [("30", "flu", 2), ("30", "cold", 1), ("*", "flu", 1), ("*", "cold", 2)]), "more or less often"),
    "a claim leaves rows out": (lambda c: replace(c, said=(c.said[0], c.said[1], np.array([2, 2, 1, 0]))), "not all released once"),
    "a claim tells of too many": (lambda c: replace(c, said=(c.said[0], c.said[1], np.array([2, 2, 2, 1]))), "not all released once"),
    "a value that is not its own": (
        lambda c: replace(rewritten(c, [("30", "flu", 2), ("30", "cold", 2), ("40", "flu", 1), ("40", "cold", 1)]), replaced={"age": {1: "40"}}),
        "'40' stands for 50",
    ),
    "a text that is not its value's": (
        lambda c: replace(
            rewritten(c, [("31", "flu", 2), ("31", "cold", 2), ("*", "flu", 1), ("*", "cold", 1)]),
            texts={"age": (["31", "40", "50"], np.array([0, 0, 1, 2])), "ill": None},
        ),
        "'31' stands for 30",
    ),
    "a value that is nowhere": (lambda c: replace(c, replaced={"age": {1: "hidden"}}), "nowhere in what was written"),
    "combinations told apart as one": (
        lambda c: replace(
            c, cell_of=np.array([0, 1, 0, 1], dtype=np.int32), said=(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1]), np.array([2, 1, 2, 1]))
        ),
        "told apart",
    ),
    "a sensitive value of another": (
        lambda c: rewritten(c, [("30", "flu", 3), ("30", "cold", 1), ("*", "flu", 0), ("*", "cold", 2)]),
        "more or less often",
    ),
    "other columns of rows that belong together": (
        lambda c: rewritten(c, [("30", "flu", 2), ("30", "cold", 2), ("*", "flu", 1), ("*", "cold", 1)], [21, 19, 10, 10]),
        "neither quasi-identifiers nor sensitive",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_ones(name):
    change, why = BAD[name]
    verdict = change(good()).verdict()
    assert not verdict and why in str(verdict), verdict


def test_groups_are_judged_as_they_stand():
    case = good()
    assert not replace(case, l=3).verdict() and "more than 1/3" in str(replace(case, l=3).verdict())
    assert replace(case, k=2).verdict() and "fewer than 3" in str(replace(case, k=3).verdict())
    skewed = Case(
        counts([(30, "flu", 2), (30, "cold", 1)]),
        counts([(30, "flu", 2), (30, "cold", 1)]),
        (np.array([0, 1]), np.array([0, 0]), np.array([2, 1])),
        np.arange(2, dtype=np.int32),
        {"age": None, "ill": None},
        {"age": {}},
    )
    assert "2 of 3 rows have ill='flu'" in str(skewed.verdict())


def test_sums_of_hashes_go_round():
    """They are taken modulo 2**62, and so is their sum here."""
    case = good()
    most = (1 << 62) - 1
    before = replace(case.before, mark=np.array([most, most, 5, 7], dtype=np.uint64))
    after = replace(case.after, mark=np.array([most, most, 5, 7], dtype=np.uint64))
    assert replace(case, before=before, after=after).verdict()


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from(["tp", "cascade", "hilbert"]), st.integers(1, 3))
def test_what_a_plan_says_passes_and_any_row_moved_does_not(seed, algorithm, l):
    """The table that a plan describes, and the same with one row counted elsewhere."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 12))
    table = pa.table({"a": rng.integers(0, 3, n), "b": [f"b{x}" for x in rng.integers(0, 3, n)], "s": [f"s{x}" for x in rng.integers(0, 6, n)]})
    distinct = table.group_by(["a", "b", "s"]).aggregate([([], "count_all")]).rename_columns(["a", "b", "s", "n"])
    given = Counts(distinct.select(["a", "b", "s"]), distinct.column("n").to_numpy(), np.ones(distinct.num_rows, dtype=np.uint64))
    asked = Asked(["a", "b"], "s", l, algorithm=algorithm, order="random")
    try:
        release, plan = planned_cells(asked, given, ["a", "b", "s"], ["s"], False)
    except ldiv.NotEligibleError:
        return
    combination, form, rows = plan.claims
    words = {name: given.table.column(name).to_pylist() for name in ("a", "b", "s")}
    shown = {}
    for c, f, r in zip(combination.tolist(), form.tolist(), rows.tolist(), strict=True):
        key = tuple(
            plan.replaced()[name].get(f, str(words[name][c]) if plan.changed[j] else words[name][c]) if name != "s" else words["s"][c]
            for j, name in enumerate(("a", "b", "s"))
        )
        shown[key] = shown.get(key, 0) + r
    marks = np.zeros(len(shown), dtype=np.uint64)
    a, b, s = zip(*shown, strict=True)
    after = Counts(pa.table({"a": pa.array(list(a)), "b": list(b), "s": list(s)}), np.array(list(shown.values())), marks)
    plain = replace(given, mark=np.zeros(distinct.num_rows, dtype=np.uint64))
    verdict = judged(after, asked, plain, release, plan, ["a", "b", "s"])
    assert verdict, verdict
    assert verdict.stars == release.stars and verdict.groups == release.groups
    if len(shown) > 1:
        moved = after.rows.copy()
        i, j = rng.permutation(len(shown))[:2]
        moved[i] -= 1
        moved[j] += 1
        left = moved > 0
        spoiled = Counts(after.table.filter(pa.array(left)), moved[left], marks[left])
        assert not judged(spoiled, asked, plain, release, plan, ["a", "b", "s"])


def test_a_release_of_another_table_is_not_planned(monkeypatch):
    from ldiv.engines import cells

    given = counts([(30, "flu", 2), (30, "cold", 2)])
    other = ldiv.Microdata.from_codes([[0], [0]], [0, 1])
    monkeypatch.setattr(cells.Asked, "solve", lambda self, tables, persons=None: ldiv.solve(other.contingency, 2, algorithm="tp"))
    with pytest.raises(ldiv.UnsafeReleaseError, match="not one of the table that was counted"):
        planned_cells(Asked(["age"], "ill", 2, algorithm="tp"), given, ["age", "ill"], ["ill"], False)
