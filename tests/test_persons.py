"""Rows of one person: counted by hand in every group, whoever counts and whatever is asked besides."""

import json
from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from command import run
from hypothesis import given, settings
from hypothesis import strategies as st

import ldiv
from ldiv.bounds import certify


def visits(seed, persons=40, most=4, values=6, moves=0.2):
    """Rows of persons: mostly the same age and town in all of them, any illnesses."""
    rng = np.random.default_rng(seed)
    rows = []
    for p in range(persons):
        age, town = int(rng.integers(3)), "abc"[rng.integers(3)]
        for _ in range(rng.integers(1, most + 1)):
            here = "abc"[rng.integers(3)] if rng.random() < moves else town
            rows.append((f"p{p}", age, here, f"v{rng.integers(values)}", int(rng.integers(12))))
    frame = pd.DataFrame(rows, columns=["pid", "age", "town", "ill", "pay"])
    return frame.sample(frac=1, random_state=seed).reset_index(drop=True)


def by_hand(frame, qi, sensitive):
    """Of each group: rows, rows with the commonest value, persons, persons that have the value most persons have."""
    groups = defaultdict(list)
    for row in frame.to_dict("records"):
        groups[tuple(str(row[name]) for name in qi)].append((row["pid"], row[sensitive]))
    out = []
    for rows in groups.values():
        persons = Counter(value for _, value in set(rows))
        out.append((len(rows), max(Counter(v for _, v in rows).values()), len({p for p, _ in rows}), max(persons.values())))
    return out


def strength(groups):
    return min(min(rows // height, persons // most) for rows, height, persons, most in groups)


QI = ["age", "town"]


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), most=st.integers(1, 4), moves=st.sampled_from([0.0, 0.3]), l=st.integers(1, 4))
@pytest.mark.parametrize("algorithm", ["tp", "cascade", "auto"])
def test_every_group_keeps_the_rule_in_rows_and_in_persons(algorithm, seed, most, moves, l):
    frame = visits(seed, most=most, moves=moves)
    options = {"effort": "fast"} if algorithm == "auto" else {}
    whole = strength(by_hand(frame, [], "ill"))
    assert ldiv.max_l(frame, "ill", unit="pid") == whole
    if l > whole:
        with pytest.raises(ldiv.NotEligibleError, match="largest feasible l is"):
            ldiv.anonymize(frame, QI, "ill", l, unit="pid", algorithm=algorithm, **options)
        return
    release = ldiv.anonymize(frame, QI, "ill", l, unit="pid", algorithm=algorithm, seed=seed, **options)
    found = by_hand(release.frame, QI, "ill")
    assert strength(found) >= l
    assert (release.frame.groupby("pid")[QI].nunique() <= 1).all(axis=None), "the rows of a person are published alike"
    report = ldiv.check(release.frame, QI, "ill", l, unit="pid")
    assert report and report.max_l == strength(found) and report.persons == frame["pid"].nunique() and report.groups == len(found)
    verdict = ldiv.verify(frame, release.frame, QI, "ill", l, unit="pid")
    assert verdict and verdict.max_l == report.max_l and verdict.smallest == min(persons for _, _, persons, _ in found)
    audited = ldiv.audit(release.frame, QI, "ill", unit="pid")
    assert audited["l"] == report.max_l and audited["k"] == verdict.smallest
    assert release.certificate.bound <= release.stars
    again = ldiv.anonymize(frame, QI, "ill", l, unit="pid", algorithm=algorithm, seed=seed, **options)
    assert again.frame.equals(release.frame)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), l=st.integers(1, 3))
def test_checks_agree_with_counting_by_hand(seed, l):
    frame = visits(seed, persons=12, values=3)
    found = by_hand(frame, QI, "ill")
    report = ldiv.check(frame, QI, "ill", l, unit="pid")
    assert report.max_l == strength(found) and bool(report) == (strength(found) >= l)
    bad = sum(height > rows // l for rows, height, _, _ in found), sum(most > persons // l for _, _, persons, most in found)
    assert tuple(sum(v.what == what for v in report.violations) for what in ("rows", "persons")) == bad
    assert [v.excess for v in report.violations] == sorted((v.excess for v in report.violations), reverse=True)
    assert bool(ldiv.verify(frame, frame, QI, "ill", l, unit="pid")) == bool(report)


def test_without_the_column_the_source_says_who_is_who():
    frame = visits(3)
    release = ldiv.anonymize(frame, QI, "ill", 2, unit="pid", drop=["pid"], order="random", seed=1)
    assert "pid" not in release.frame.columns
    rows = release.publication.rows
    assert ldiv.verify(frame, release.frame, QI, "ill", 2, unit="pid", rows=rows).persons == 40
    with pytest.raises(ldiv.InputError, match="'pid' is not in the release, whose rows are in another order"):
        ldiv.verify(frame, release.frame, QI, "ill", 2, unit="pid")


def test_more_is_asked_besides():
    frame = visits(5, persons=120, most=3, values=8, moves=0.0)
    release = ldiv.anonymize(
        frame, QI, ["ill", "pay"], 2, unit="pid", protect=["age"], also=[ldiv.KAnonymity(7), ldiv.Entropy(3)], weights={"town": 2}
    )
    for name in ("ill", "pay"):
        found = by_hand(release.frame, QI, name)
        assert strength(found) >= 2 and min(persons for _, _, persons, _ in found) >= 7
    assert release.stars_by_attribute["age"] == 0
    assert ldiv.audit(release.frame, QI, ["ill", "pay"])["entropy_l"] >= 3 * (1 - 1e-9)


def test_what_cannot_be():
    frame = visits(1, moves=0.5)
    for unit, message in (
        ("pdi", "unit: no column 'pdi' .* did you mean 'pid'"),
        ("age", "unit: column 'age' cannot be a quasi-identifier or sensitive"),
        (["pid", "pay"], "unit must be one column"),
    ):
        for call in (ldiv.check, ldiv.anonymize):
            with pytest.raises(ldiv.InputError, match=message):
                call(frame, QI, "ill", 2, unit=unit)
    with pytest.raises(ldiv.InputError, match="2 missing values in column 'pid', the first in row 0: remove those rows, or say whose they are"):
        ldiv.anonymize(frame.assign(pid=[None, None, *frame["pid"][2:]]), QI, "ill", 2, unit="pid")
    with pytest.raises(
        ldiv.InputError, match="unit= works with algorithms that publish values and stars only, or go along hierarchies, not with 'mondrian'"
    ):
        ldiv.anonymize(frame, QI, "ill", 2, unit="pid", algorithm="mondrian")
    with pytest.raises(ldiv.InputError, match="rows of [0-9]+ persons differ in 'town'"):
        ldiv.anonymize(frame, QI, "ill", 2, unit="pid", protect=["town"])
    with pytest.raises(ldiv.InputError, match="codes have none"):
        ldiv.check(ldiv.Microdata.from_frame(frame, QI, "ill"), l=2, unit="pid")
    one = pd.DataFrame({"pid": [1] * 3 + [2] * 3, "age": [30] * 3 + [40] * 3, "ill": ["flu", "gout", "acne", "flu", "cold", "ache"]})
    with pytest.raises(ldiv.NotEligibleError, match="'flu' is that of 2 of 2 persons, more than 1/3 of them; the largest feasible l is 1") as caught:
        ldiv.anonymize(one, ["age"], "ill", 3, unit="pid")
    assert caught.value.what == "persons"


def test_a_table_without_rows():
    release = ldiv.anonymize(visits(1).head(0), QI, "ill", 3, unit="pid")
    assert len(release.frame) == 0 and ldiv.check(release.frame, QI, "ill", 3, unit="pid")


def test_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    visits(7).to_csv("v.csv", index=False)
    asked = ["-q", "age", "-q", "town", "-s", "ill", "--unit", "pid"]
    done = run("anonymize", "v.csv", *asked, "-l", "2", "-o", "o.csv", "--report", "r.html")
    assert done.code == 0 and "40 persons" in done.err and "which rows are one person's" in done.err
    assert strength(by_hand(pd.read_csv("o.csv"), QI, "ill")) >= 2
    page = (tmp_path / "r.html").read_text()
    assert "40 persons" in page and "p17" not in page
    assert run("check", "o.csv", *asked, "-l", "2").out.startswith("yes: ")
    assert "of 40 persons" in run("check", "v.csv", *asked, "-l", "2").out
    assert run("verify", "v.csv", "o.csv", *asked, "-l", "2").code == 0
    assert json.loads(run("audit", "o.csv", *asked, "--json").out)["ill"]["l"] >= 2
    assert run("max-l", "v.csv", "-s", "ill", "--unit", "pid").out.strip() == str(ldiv.max_l(pd.read_csv("v.csv"), "ill", unit="pid"))
    assert run("compare", "v.csv", *asked, "-l", "2", "-a", "tp", "--no-memory").code == 0
    for wrong in ("pdi", "age"):
        done = run("check", "v.csv", *asked[:-1], wrong, "-l", "2")
        assert done.code == 2 and "--unit" in done.err


def test_their_bound_is_proven_again(tmp_path, monkeypatch):
    """By prices where everybody has one row; where rows of a person differ, by the stars which that forces. Every sensitive column is named."""
    monkeypatch.chdir(tmp_path)
    rows = pd.concat([visits(seed).assign(pid=lambda x, seed=seed: x["pid"].astype(str) + f"-{seed}") for seed in range(6)])
    for name, frame in {"several": rows, "one": rows.drop_duplicates("pid")}.items():
        frame.to_csv("v.csv", index=False)
        for targets in (["ill"], ["ill", "pay"]):
            release = ldiv.anonymize(pd.read_csv("v.csv"), QI, targets, 2, unit="pid")
            claim = release.certificate
            assert claim.persons == "pid" and "that publishes the rows of one pid alike" in str(claim) and claim.stars >= claim.bound
            ldiv.save_certificate(claim, "c.npz", qi=QI, sensitive=targets, l=2)
            verdict = certify(pd.read_csv("v.csv"), "c.npz")
            assert verdict and verdict.proven == claim.bound and verdict.sensitive == (targets[0] if len(targets) == 1 else tuple(targets))
            alike = frame.groupby("pid")[QI].nunique() > 1
            forced = int((alike.sum(axis=1) * frame.groupby("pid").size()).sum())
            assert claim.bound >= forced == (0 if name == "one" else forced) and (name == "one" or forced)
            asked = [*(f"-q{x}" for x in QI), *(f"-s{x}" for x in targets), "-l2", "--unit", "pid"]
            done = run("anonymize", "v.csv", *asked, "-o", "o.csv", "--certificate", "d.npz")
            assert done.code == 0, done.err
            done = run("certify", "v.csv", "d.npz", "--release", "o.csv")
            assert done.code == 0 and ", ".join(targets) in done.out and "persons" in done.out, done
            boast = replace(claim, bound=claim.stars + 1, stars=claim.stars + 1)
            ldiv.save_certificate(boast, "b.npz", qi=QI, sensitive=targets, l=2)
            assert not certify(pd.read_csv("v.csv"), "b.npz")


def test_prices_of_persons_with_one_row_each_are_those_of_rows():
    frame = pd.DataFrame(ldiv.datasets.load_frame("acs2018")).head(3000)[["Age", "Race", "Income"]]
    plain = ldiv.anonymize(frame, ["Age", "Race"], "Income", 4)
    several = pd.concat([frame.assign(pid=range(len(frame)))] * 2)
    for table in (frame.assign(pid=range(len(frame))), several):
        claim = ldiv.anonymize(table, ["Age", "Race"], "Income", 4, unit="pid").certificate
        assert claim.proof == "prices" and claim.ratio < 1.1
        assert claim.bound >= plain.certificate.bound * len(table) // len(frame) * 0.97
        assert ldiv.verify_certificate(ldiv.Microdata.from_frame(table, ["Age", "Race"], "Income"), claim, 4) == claim.bound
