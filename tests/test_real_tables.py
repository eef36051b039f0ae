"""Real tables: the one that ships, and others where they are at hand (skipped with a message where not)."""

import gzip
import io

import numpy as np
import oracle
import pandas as pd
import polars as pl
import pytest
from conftest import shared

import ldiv
from ldiv.datasets.external import ADULT_NAMES

FOUR = ["Age", "Gender", "Race", "MaritalStatus"]


def test_shipped_table_is_what_it_says():
    for sensitive, l in (("Income", 16), ("Occupation", 12)):
        data = ldiv.datasets.load("acs2018", sensitive=sensitive)
        assert (data.n, data.d, data.m) == (248_381, 7, 50)
        assert [x.size for x in data.domains] == [79, 2, 9, 6, 56, 17, 9]
        assert ldiv.max_l(data) == l
    assert data.contingency.groups == 147_394


@pytest.mark.parametrize("l, stars, phase", [(2, 4_968, 1), (6, 79_272, 2), (10, 193_520, 2)])
def test_tp_on_the_shipped_table(l, stars, phase):
    data = ldiv.datasets.load("acs2018", sensitive="Income", qi=FOUR)
    release = ldiv.solve(data, l, algorithm="tp")
    assert (release.stars, release.phase) == (stars, phase)
    texts = release.codes
    groups = pd.DataFrame(texts).groupby(list(range(4)))
    assert all(oracle.eligible(data.sensitive[rows], l) for rows in groups.indices.values())


def test_labels_and_codes_agree():
    frame = ldiv.datasets.load_frame("acs2018")
    by_label = ldiv.anonymize(pd.DataFrame(frame), FOUR, "Income", 6, algorithm="tp")
    assert by_label.stars == 79_272
    assert ldiv.check(by_label.frame, FOUR, "Income", 6)


def adult_file() -> pd.DataFrame:
    body = gzip.decompress(shared("adult/adult.data.gz").read_bytes())
    return pd.read_csv(io.BytesIO(body), names=list(ADULT_NAMES), na_filter=False)


@pytest.mark.slow
def test_adult_with_question_marks_and_spaces():
    frame = adult_file()
    qi = ["age", "workclass", "education", "marital-status", "race", "sex", "native-country"]
    assert ldiv.max_l(frame, "occupation") == 7 and ldiv.max_l(frame, "income") == 1
    release = ldiv.anonymize(frame, qi, "occupation", 4, effort="fast")
    out = release.frame
    assert ldiv.check(out, qi, "occupation", 4) and " ?" in set(out["native-country"])
    untouched = [c for c in frame.columns if c not in qi]
    pd.testing.assert_frame_equal(out[untouched], frame[untouched])
    with pytest.raises(ldiv.NotEligibleError, match="' <=50K' stands in 24,720 of 32,561 rows"):
        ldiv.anonymize(frame, qi, "income", 2)


@pytest.mark.slow
def test_labelled_census_rows():
    frame = pl.read_csv(shared("acs2018_labels_50k.csv.gz"))
    qi = ["Age", "Gender", "Race", "Marital Status", "Education", "Work Class"]
    release = ldiv.anonymize(frame, qi, "Occupation", 6, effort="fast")
    out = release.frame
    assert out.columns == frame.columns and out.height == frame.height
    assert ldiv.check(out, qi, "Occupation", 6)
    for name in qi:
        kept = out[name].cast(pl.String) != "*"
        assert (out[name].cast(pl.String).filter(kept) == frame[name].cast(pl.String).filter(kept)).all()


@pytest.mark.slow
def test_nist_with_24_columns():
    frame = pd.read_csv(shared("nist_national2019.csv"), dtype=str, na_filter=False)
    qi = [c for c in frame.columns if c not in ("PINCP", "PINCP_DECILE")]
    release = ldiv.anonymize(frame, qi, "PINCP_DECILE", 6, effort="fast")
    assert release.n == 27_253 and release.d == 22
    assert ldiv.check(release.frame, qi, "PINCP_DECILE", 6)
    few = ldiv.anonymize(frame, ["SEX", "MSP", "RAC1P", "DREM"], "PINCP_DECILE", 5, effort="fast")
    assert ldiv.check(few.frame, ["SEX", "MSP", "RAC1P", "DREM"], "PINCP_DECILE", 5)
    assert 0 < few.stars < release.stars


@pytest.mark.slow
def test_600k_rows():
    table = pl.read_csv(shared("table6_like_2024_600k.csv.gz"))
    qi = FOUR
    data = ldiv.Microdata.from_codes(table.select(qi).to_numpy(), table["Income"].to_numpy(), [79, 2, 9, 6, 50])
    release = ldiv.solve(data, 6, algorithm="tp+")
    assert release.n == 600_000 and release.max_l >= 6
    shuffled = np.random.default_rng(0).permutation(data.n)
    again = ldiv.solve(ldiv.Microdata.from_codes(data.codes[shuffled], data.sensitive[shuffled], [79, 2, 9, 6, 50]), 6, algorithm="tp+")
    assert np.array_equal(again.published, release.published) and again.stars == release.stars
