"""Data sets: the generator of SAL and OCC, and the loaders of files that people have."""

import gzip

import numpy as np
import pytest
from conftest import shared

import ldiv
from ldiv.datasets import acs, census, external

PAPER_SIZES = {
    "Age": 79,
    "Gender": 2,
    "Race": 9,
    "MaritalStatus": 6,
    "BirthPlace": 56,
    "Education": 17,
    "WorkClass": 9,
    "Income": 50,
    "Occupation": 50,
}


FIRST_ROW = [54, 0, 0, 0, 21, 5, 0, 13, 21]
SUMS = [265021, 4824, 5288, 15182, 250236, 108968, 10662, 132153, 202016]


def test_declared_sizes_are_the_papers():
    assert {name: domain.size for name, domain in acs.domains().items()} == PAPER_SIZES
    assert all(len(domain.labels) == domain.size for domain in acs.domains().values())
    for data, sensitive in ((ldiv.datasets.sal(100), "Income"), (ldiv.datasets.occ(100), "Occupation")):
        assert [x.size for x in (*data.domains, data.sensitive_domain)] == [*list(PAPER_SIZES.values())[:7], 50]
        assert data.sensitive_domain.name == sensitive


def test_a_prefix_is_the_smaller_table():
    small, large = census.columns(1000), census.columns(5000)
    for name in small:
        assert np.array_equal(small[name], large[name][:1000])
    assert not np.array_equal(census.columns(1000, 1)["Age"], small["Age"])
    assert ldiv.datasets.sal(0).n == 0


def test_the_same_rows_on_every_platform():
    """First rows and column sums of seed 0; a change here breaks everyone's published numbers."""
    columns = census.columns(10_000)
    assert [int(columns[name][0]) for name in columns] == FIRST_ROW
    assert [int(columns[name].sum()) for name in columns] == SUMS


def test_marginals_are_close_to_the_real_tables():
    real, model = acs.columns(), census.columns(100_000)
    for name, size in PAPER_SIZES.items():
        a, b = (np.bincount(x[name], minlength=size) / len(x[name]) for x in (real, model))
        assert np.abs(a - b).sum() < 0.03, name


def test_pums_loader_rebuilds_the_shipped_table():
    path = shared("acs2018_census9.csv.gz")
    columns = external.pums_columns(path)
    for name, column in acs.columns().items():
        assert np.array_equal(columns[name], column), name
    data = ldiv.datasets.load("pums", path=path, sensitive="Occupation", qi=["Age", "Gender"])
    assert (data.n, data.d) == (248_381, 2)


PUMS = (
    "AGEP,SEX,RAC1P,MAR,POBP,SCHL,COW,PINCP,OCCP,X\n30,2,1,1,36,20,1,50000,120,a\n16,1,1,1,36,20,1,50000,120,a\n"
    "40,1,9,5,303,20,1,50000,120,a\n95,1,9,5,78,24,8,999999,9830,a\n50,1,1,1,6,21,,1,,a\n"
)


def test_pums_small(tmp_path, monkeypatch):
    path = tmp_path / "psam_pusa.csv"
    path.write_text(PUMS)
    (tmp_path / "psam_pusb.csv").write_text(PUMS)
    monkeypatch.setenv("LDIV_DATA", str(tmp_path))
    columns = external.pums_columns()
    assert {k: v.tolist() for k, v in columns.items()} == {
        "Age": [13, 78] * 2,
        "Gender": [1, 0] * 2,
        "Race": [0, 8] * 2,
        "MaritalStatus": [0, 4] * 2,
        "BirthPlace": [32, 55] * 2,
        "Education": [12, 16] * 2,
        "WorkClass": [0, 7] * 2,
        "Income": [12, 49] * 2,
        "Occupation": [0, 49] * 2,
    }
    assert external.pums_frame([path])["BirthPlace"].tolist() == ["New York/NY", "US Virgin Islands"]
    path.write_text("AGEP,SEX\n1,2\n")
    with pytest.raises(ldiv.InputError, match="RAC1P.*it needs AGEP"):
        external.pums_columns(path)


@pytest.mark.parametrize("name, words", [("pums", "psam_pusa.csv"), ("ipums", "IPUMS USA extract with AGE"), ("adult", "UCI")])
def test_a_missing_file_says_where_to_get_it(name, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LDIV_DATA", raising=False)
    with pytest.raises(ldiv.InputError, match=f"not found: .*{words}.*LDIV_DATA"):
        ldiv.datasets.load(name)
    with pytest.raises(ldiv.InputError, match="not found: nowhere.dat"):
        ldiv.datasets.load(name, path="nowhere.dat")


IPUMS_ROWS = [
    (35, 1, 1, 6, 36, 14, 22, 52000, 110),
    (99, 2, 9, 1, 110, 17, 29, 1, 9830),
    (16, 1, 1, 6, 36, 14, 22, 52000, 110),
    (35, 1, 1, 6, 400, 14, 22, 52000, 110),
    (35, 1, 1, 6, 36, 14, 22, 9999999, 110),
    (40, 1, 2, 3, 6, 10, 28, 8000, 5700),
]
WIDTHS = (3, 1, 1, 1, 3, 2, 2, 7, 4)


def ddi() -> str:
    variables, start = [], 1
    for name, width in zip(external.IPUMS_NEEDS, WIDTHS, strict=True):
        variables.append(
            f'<var ID="{name}" name="{name}" intrvl="discrete"><location StartPos="{start}" EndPos="{start + width - 1}" '
            f'width="{width}"/><labl>{name}</labl><txt>{name}</txt><concept>x</concept><varFormat type="numeric"/></var>'
        )
        start += width
    return (
        '<codeBook xmlns="ddi:codebook:2_5"><stdyDscr><citation><serStmt><serName abbr="usa">IPUMS USA</serName><serInfo>doi</serInfo>'
        "</serStmt></citation><dataAccs><useStmt><citReq>cite</citReq><conditions>be good</conditions></useStmt></dataAccs>"
        '</stdyDscr><fileDscr><fileTxt><fileName>ipums.dat</fileName><fileCont>x</fileCont><fileStrc type="rectangular"/>'
        "<fileType>ascii</fileType><format>fixed length fields</format><filePlac>here</filePlac></fileTxt></fileDscr><dataDscr>"
        + "".join(variables)
        + "</dataDscr></codeBook>"
    )


@pytest.mark.parametrize("form", ["dat", "dat.gz", "csv"])
def test_ipums(tmp_path, form):
    path = tmp_path / f"ipums.{form}"
    if form == "csv":
        path.write_text("\n".join([",".join(external.IPUMS_NEEDS), *(",".join(map(str, r)) for r in IPUMS_ROWS)]) + "\n")
    else:
        body = "\n".join("".join(f"{x:0{w}d}" for x, w in zip(r, WIDTHS, strict=True)) for r in IPUMS_ROWS).encode() + b"\n"
        path.write_bytes(gzip.compress(body) if form.endswith("gz") else body)
        (tmp_path / "ipums.xml").write_text(ddi())
    assert {k: v.tolist() for k, v in external.ipums_columns(path).items()} == {
        "Age": [18, 78, 23],
        "Gender": [0, 1, 0],
        "Race": [0, 8, 1],
        "MaritalStatus": [5, 0, 2],
        "BirthPlace": [32, 54, 4],
        "Education": [13, 16, 9],
        "WorkClass": [3, 8, 7],
        "Income": [13, 0, 2],
        "Occupation": [0, 49, 28],
    }
    assert ldiv.datasets.load("ipums", path=path).n == 3
    assert ldiv.datasets.load_frame("ipums", path=path)["Age"].tolist() == [18, 78, 23]


def test_adult(tmp_path):
    path = shared("adult/adult.data.gz")
    data = ldiv.datasets.load("adult", path=path)
    assert (data.n, data.d) == (32_561, 7) and ldiv.max_l(data) == 7
    whole = external.adult_frame(path, complete=True)
    assert len(whole["age"]) == 30_162 and whole["age"].dtype == np.int64 and "?" not in set(whole["workclass"])
    (tmp_path / "bad.data").write_text("1, 2\n")
    with pytest.raises(ldiv.InputError, match="line 1: 2 fields, not 15"):
        external.adult_frame(tmp_path / "bad.data")


def test_files_of_anatomys_authors(tmp_path):
    """Made files: nine whole numbers a line."""
    lines = ["1 30 0 12 1 3 4 51 17", "2 31 1 9 0 3 4 51 22", "", "3 28 1 9 0 1 4 83 17"]
    (tmp_path / "SAL.txt").write_text("\n".join(lines) + "\n")
    data = ldiv.datasets.load("vldb06", path=tmp_path / "SAL.txt")
    assert data.names == ("age", "gender", "education", "marital", "race", "workclass", "country") and data.sensitive_domain.name == "salary"
    assert data.n == 3 and data.domains[0].size == 4 and data.domains[0].label(int(data.codes[0, 0])) == 30 and data.m == 6
    assert ldiv.max_l(data) == 1
    occupations = ldiv.datasets.load("vldb06", sensitive="occupation", qi=["age", "race"], path=tmp_path / "SAL.txt")
    assert occupations.sensitive_domain.name == "occupation" and occupations.names == ("age", "race")
    assert ldiv.datasets.load_frame("vldb06", path=tmp_path / "SAL.txt")["tuple-id"].tolist() == [1, 2, 3]
    (tmp_path / "bad.txt").write_text("1 2 3\n")
    with pytest.raises(ldiv.InputError, match=r"bad.txt, line 1: nine whole numbers are needed"):
        ldiv.datasets.load("vldb06", path=tmp_path / "bad.txt")
    with pytest.raises(ldiv.InputError, match="SAL.zip or OCC.zip"):
        ldiv.datasets.load("vldb06", path=tmp_path / "none.txt")
