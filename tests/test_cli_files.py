"""The command on files: their formats, missing values and numbers."""

import gzip
import io
import json
import os

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command import ASK, run, table_of_ages

import ldiv
from ldiv.table.files import open_table, read_table

# -- formats ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".tsv", ".csv.zst", ".csv.bz2", ".parquet", ".xlsx"])
def test_formats_and_stable_bytes(people, tmp_path, ending):
    if ending == ".xlsx":
        pytest.importorskip("openpyxl")
    outs = [tmp_path / f"{k}{ending}" for k in "ab"]
    for out in outs:
        assert run("anonymize", people, *ASK, "-o", out, "--keep-order").code == 0
    if ending != ".xlsx":  # which holds the time
        assert outs[0].read_bytes() == outs[1].read_bytes()
    assert read_table(outs[0]).to_pydict() == {
        "Age": ["30", "30", "*", "*"],
        "Sex": ["F", "F", "M", "M"],
        "Ill": ["flu", "cold", "flu", "cough, dry"],
    }
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([people.name, *(o.name for o in outs)])
    assert run("check", outs[0], *ASK).code == 0


@pytest.mark.parametrize(
    "body",
    [
        b'\xef\xbb\xbfAge,Note,Ill\r\n30,"x",flu\r\n30,"y",cold\r\n40,"",flu\r\n50,"z",gout\r\n',
        b'"Age";"Note";"Ill"\r"30";"a;b";"flu"\r"30";"y";"cold"\r"40";NA;"flu"\r"50";"z";"gout"',
        b"Age\tNote\tIll\n30\t\tflu\n30\ty\tcold\n40\tNA\tflu\n50\t\tgout\n",
    ],
)
def test_only_starred_cells_differ(tmp_path, monkeypatch, body):
    monkeypatch.chdir(tmp_path)
    delimiter = next(letter for letter in ";\t," if letter.encode() in body)
    (tmp_path / "in.csv").write_bytes(body)
    (tmp_path / "in.csv.gz").write_bytes(gzip.compress(body))
    for source in ("in.csv", "in.csv.gz"):
        ask = ("-q", "Age", "-s", "Ill", "-l", 2, "--delimiter", delimiter.replace("\t", "\\t"))
        assert run("anonymize", source, *ask, "-o", "out.csv", "--keep-order").code == 0
        assert (tmp_path / "out.csv").read_bytes() == body.replace(b"40", b"*").replace(b"50", b"*")
        assert run("check", "out.csv", *ask).code == 0


def test_names_and_delimiter(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text("30;flu\n30;cold\n")
    ask = ("--names", "Age,Ill", "--delimiter", ";", "-q", "Age", "-s", "Ill", "-l", 2)
    for name, text in (("out.csv", "30;flu\n30;cold\n"), ("out.tsv", "30\tflu\n30\tcold\n")):
        assert run("anonymize", "in.csv", *ask, "--keep-order", "-o", name).code == 0 and (tmp_path / name).read_text() == text


def test_parquet_keeps_types_and_a_pandas_index(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"Age": [1, 2, 2], "Ill": ["a", "b", "c"], "x": [0.5, 1.5, 2.5]}, index=list("pqr"))
    frame.to_parquet("in.parquet")
    done = run("anonymize", "in.parquet", "-q", "Age", "-s", "Ill", "-l", 2, "-o", "out.parquet", "--keep-order")
    assert done.code == 0, done.err
    out = pd.read_parquet("out.parquet")
    assert out.index.tolist() == ["p", "q", "r"] and out["x"].tolist() == [0.5, 1.5, 2.5]
    assert out["Age"].tolist() == ["*", "*", "*"]


def test_parts_of_parquet(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "parts").mkdir()
    for k in range(3):
        pq.write_table(pa.table({"a": [k % 2, k % 2], "s": ["x", "y"]}), f"parts/{k}.parquet")
    ask = ("-q", "a", "-s", "s", "-l", 2)
    for files in (("parts",), ("parts/*.parquet",), ("parts/0.parquet", "parts/1.parquet", "parts/2.parquet")):
        assert run("anonymize", *files, *ask, "-o", "out.parquet").code == 0 and pq.read_table("out.parquet").num_rows == 6
        done = run("anonymize", *files, *ask, "-o", "parts/1.parquet")
        assert done.code == 2 and pq.read_table("parts/1.parquet").num_rows == 2


# -- missing values and numbers --------------------------------------------------------------------------------------


def test_parquet_nulls(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"a": [1, 1, 1], "s": ["x", None, "y"]}), "in.parquet")
    ask = ("anonymize", "in.parquet", "-q", "a", "-s", "s", "-l", 2, "-o", "out.parquet")
    refused = run(*ask)
    assert refused.code == 2 and "missing values in the sensitive column 's'" in refused.err and "--missing-sensitive value" in refused.err
    assert run(*ask, "--missing-sensitive", "value").code == 0


def test_null_and_empty_in_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"w": ["x", "x", "y", "y"], "ill": ["", None, "flu", "gout"]}), "in.parquet")
    ask = ("anonymize", "in.parquet", "-q", "w", "-s", "ill", "-l", 2, "--missing-sensitive", "value", "-o")
    refused = run(*ask, "out.csv")
    assert refused.code == 2 and "could not tell apart" in refused.err and not os.path.exists("out.csv")
    assert run(*ask, "out.csv", "--na", "NA").code == 0
    assert sorted(line.split(",")[1] for line in (tmp_path / "out.csv").read_text().splitlines()) == ["", "NA", "flu", "gout", "ill"]
    assert run("check", "out.csv", *ask[2:-1], "--na", "NA").code == 0


@pytest.mark.parametrize("na", [None, "NA", "-9"])
def test_missing_values_in_text(tmp_path, monkeypatch, na):
    monkeypatch.chdir(tmp_path)
    body = "Age,Ill\n31,flu\n38,cold\n?,flu\n?,cold\n".replace("?", na or "")
    (tmp_path / "in.csv").write_text(body)
    option = ("--na", na) if na else ()
    ask = ("-q", "Age", "-s", "Ill", "-l", 2, *option)
    assert run("anonymize", "in.csv", *ask, "-o", "out.csv", "--keep-order", "--coarsen", "Age=width:10").code == 0
    assert (tmp_path / "out.csv").read_text() == body.replace("31", '"[30, 40)"').replace("38", '"[30, 40)"')
    (tmp_path / "s.csv").write_text(f"Age,Ill\n31,{na or ''}\n31,flu\n")
    refused = run("check", "s.csv", *ask)
    assert refused.code == 2 and "missing values in the sensitive column 'Ill'" in refused.err
    assert run("check", "s.csv", *ask, "--missing-sensitive", "value").code == 0
    assert run("anonymize", "in.csv", *ask, "-o", "x.csv", "--missing-qi", "error").code == 2
    done = run("anonymize", "in.csv", *ask, "-o", "x.csv", "--star", na or "")
    assert done.code == 2 and "--star" in done.err


@pytest.mark.parametrize(
    "algorithm, more, options",
    [
        ("mondrian", (), {}),
        ("tds", (), {}),
        ("multidim", (), {}),
        ("tp", ("--also", "t=0.3"), {"also": [ldiv.TCloseness(0.3)]}),
        (
            "cascade",
            ("--coarsen", "age=quantiles:4", "--coarsen", "weight=width:20"),
            {"coarsen": {"age": ldiv.Bins(quantiles=4), "weight": ldiv.Bins(width=20)}},
        ),
    ],
)
def test_numbers_are_those_of_python(tmp_path, monkeypatch, algorithm, more, options):
    monkeypatch.chdir(tmp_path)
    frame = table_of_ages()
    frame.to_csv("in.csv", index=False)
    qi = ["age", "weight", "town"]
    ask = ("-q", "age", "-q", "weight", "-q", "town", "-s", "income", "-l", 3)
    done = run("anonymize", "in.csv", *ask, "-a", algorithm, "-o", "out.csv", "--json", *more)
    assert done.code == 0 and ("age: integer" in done.err) == ("coarsen" not in str(more)) and "income: integer" in done.err
    release = ldiv.anonymize(pd.read_csv("in.csv"), qi, "income", 3, algorithm=algorithm, **options)
    assert json.loads(done.out)["stars"] == release.stars and json.loads(done.out)["groups"] == release.groups
    text = io.StringIO()
    release.frame.to_csv(text, index=False)
    assert sorted((tmp_path / "out.csv").read_text().splitlines()) == sorted(text.getvalue().splitlines())
    table = open_table(["in.csv"]).table
    assert ldiv.audit(frame, qi, "income")["t"] == pytest.approx(json.loads(run("audit", "in.csv", *ask[:-2], "--json").out)["income"]["t"])
    if algorithm == "mondrian":
        assert ldiv.anonymize(table, qi, "income", 3, algorithm=algorithm).groups != release.groups  # as text it would be another
        done = run("anonymize", "in.csv", *ask, "-a", algorithm, "-o", "text.csv", "--json", "--text", "age", "--text", "weight", "--text", "income")
        assert json.loads(done.out)["groups"] != release.groups


def test_two_spellings_of_a_number_are_text(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text("a,s\n1.0,x\n1.00,y\n1.00,x\n1.0,y\n")
    ask = ("anonymize", "in.csv", "-q", "a", "-s", "s", "-l", 2, "-o", "out.csv", "--keep-order")
    done = run(*ask)
    assert done.code == 0 and "a: text ('1.0' and '1.00' are one number, written apart)" in done.err
    assert (tmp_path / "out.csv").read_text() == (tmp_path / "in.csv").read_text()
    assert run(*ask, "--numeric", "a").code == 2
