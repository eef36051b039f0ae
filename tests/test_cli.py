"""The command: exit codes, one line an error, every option, and what people read."""

import gzip
import io
import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command import run

import ldiv
from ldiv.cli.console import Progress, one_line, shown
from ldiv.table.files import open_table, read_table

ROWS = 'Age,Sex,Ill\n30,F,flu\n30,F,cold\n40,M,flu\n50,M,"cough, dry"\n'
ASK = ("-q", "Age", "-q", "Sex", "-s", "Ill", "-l", "2")


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "people.csv"
    path.write_text(ROWS)
    return path


def table_of_ages(rows=400, seed=3):
    """Ages, towns and incomes whose numbers sort otherwise as text."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(5, 120, rows),
            "weight": np.round(rng.uniform(8, 110, rows), 1),
            "town": rng.choice(["Rome", "Bari", "Ulm"], rows),
            "income": rng.integers(1, 30, rows) * 500,
        }
    )


# -- exit codes and lines --------------------------------------------------------------------------------------------


def test_anonymize_then_check(people, tmp_path):
    done = run("anonymize", people, *ASK, "-o", "out.csv", "--keep-order")
    assert done.code == 0, done.err
    assert (tmp_path / "out.csv").read_text() == 'Age,Sex,Ill\n30,F,flu\n30,F,cold\n*,M,flu\n*,M,"cough, dry"\n'
    assert "stars 2" in done.err and "no release has fewer than 2 (ratio 1.0000" in done.err and done.out == ""
    yes = run("check", "out.csv", *ASK)
    assert (yes.code, yes.out) == (0, "yes: 4 rows in 2 QI-groups, l-diverse up to l = 2\n")
    no = run("check", people, *ASK)
    assert no.code == 1 and "Age=40, Sex=M: 1 of 1 rows have Ill=flu, 1 more than the 0 allowed" in no.out


def test_exit_codes_and_messages(people, tmp_path):
    (tmp_path / "headless.csv").write_text("30,F,flu\n30,F,cold\n")
    (tmp_path / "semicolon.csv").write_text("Age;Sex;Ill\n30;F;flu\n")
    (tmp_path / "latin.csv").write_bytes("Ort;alle\nSüd;alle\n".encode("latin-1"))
    (tmp_path / "junk.npz").write_bytes(b"junk")
    (tmp_path / "empty.npz").write_bytes(b"")
    (tmp_path / "tree.csv").write_text("30;*\n40;*\n50;*\n")
    pq.write_table(pa.table({"Age": [1, 1], "Sex": ["F", "F"], "Ill": ["a", "b"]}), tmp_path / "p.parquet")
    base, out = ("anonymize", people, *ASK), ("-o", "x.csv")
    for arguments, code, message in [
        (("anonymize", people, "-q", "Agee", "-s", "Ill", "-l", 2, *out), 2, "no column 'Agee' in the table; there are: 'Age', 'Sex', 'Ill'"),
        (("anonymize", people, *ASK[:-1], 3, *out), 1, "the largest feasible l is 2"),
        (("anonymize", people, *ASK[:-1], 0, *out), 2, "l must be at least 1"),
        (("anonymize", people, *ASK[:-1], "two", *out), 2, "Invalid value for '-l'"),
        (("anonymize", "peple.csv", *ASK, *out), 2, "no file 'peple.csv'"),
        ((*base, *out, "-a", "magic"), 2, "no algorithm 'magic'"),
        ((*base, *out, "--also", "k=many"), 2, "'many' is not a whole number"),
        ((*base, *out, "--also", "m=3"), 2, "write one of k=VALUE, distinct=VALUE, entropy=VALUE, t=VALUE"),
        ((*base, *out, "--also", "k=9"), 2, "the whole table as one group does not satisfy it (it has 4)"),
        ((*base, "-o", "x.json"), 2, "endings are .csv, .tsv"),
        ((*base, *out, "--delimiter", "||"), 2, "must be one ASCII character"),
        ((*base, *out, "--unpack-limit", "lots"), 2, "--unpack-limit"),
        ((*base, *out, "--seed", "-1"), 2, "--seed -1"),
        ((*base, *out, "--time-limit", "0"), 2, "--time-limit"),
        ((*base, *out, "--threads", "0"), 2, "--threads"),
        ((*base, *out, "--effort", "heroic"), 2, "--effort 'heroic'"),
        ((*base, *out, "--missing-qi", "drop"), 2, 'use "value" or "error"'),
        ((*base, *out, "--hierarchy", "Sex=latin.csv", "--coarsen", "Sex=1"), 2, "--hierarchy Sex=latin.csv: not UTF-8"),
        ((*base, *out, "--coarsen", "Age=wide"), 2, "'wide' is not a whole number"),
        ((*base, *out, "--coarsen", "Age=edges:1,x"), 2, "could not convert"),
        ((*base, *out, "--coarsen", "Sex=1"), 2, "has no hierarchy"),
        ((*base, *out, "--weight", "Age"), 2, "write NAME=VALUE"),
        (("check", "none.csv", *ASK), 2, "no file"),
        (("check", "-", "-", *ASK), 2, "read once only"),
        (("check", people, "-q", "Age"), 2, "Missing option"),
        (("check", people, *ASK, "--lots"), 2, "No such option"),
        (("chek", people), 2, "No such command"),
        (("check", "headless.csv", *ASK), 2, "name the columns with --names if the file has no header"),
        (("check", "semicolon.csv", *ASK), 2, "separated by ';': --delimiter"),
        (("check", people, "p.parquet", *ASK), 2, "only if all are Parquet"),
        (("check", "p.parquet", *ASK, "--names", "a,b,c"), 2, "Parquet has names"),
        (("certify", people, "none.npz"), 2, "no certificate file"),
        (("certify", people, "junk.npz"), 2, "not a certificate"),
        (("certify", people, "empty.npz"), 2, "empty.npz"),
        (("datasets", "acs1900", *out), 2, "no data set 'acs1900'"),
        (("datasets", "acs2018"), 2, "-o FILE"),
        (("compare", people, *ASK, "-a", "tp", "-a", "magic"), 2, "no algorithm 'magic'"),
        (("compare", people, *ASK, "-o", "x.txt"), 2, ".csv or .json"),
    ]:
        done = run(*arguments)
        assert done.code == code and message in done.err, done.err
        assert done.err.splitlines()[-1].startswith("error: ") and sum(line.startswith("error: ") for line in done.err.splitlines()) == 1
        assert not (tmp_path / "x.csv").exists() and done.out == ""
    assert people.read_text() == ROWS


@pytest.mark.parametrize(
    "error",
    [
        KeyError("k"),
        TypeError("not\nthis"),
        MemoryError(),
        OSError(5, "Input/output error", "disk"),
        RecursionError("deep"),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
        ZeroDivisionError(),
        ldiv.UnsafeReleaseError("withheld"),
    ],
)
def test_every_error_is_one_line_and_two(people, monkeypatch, error):
    def broken(*_, **__):
        raise error

    monkeypatch.setattr("ldiv.cli.check.check", broken)
    done = run("check", people, *ASK)
    assert done.code == 2 and done.err.count("\n") == 1 and done.err.startswith("error: "), done
    monkeypatch.setenv("LDIV_TRACEBACK", "1")
    assert "Traceback" in run("check", people, *ASK).err


def test_interrupt(people, monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("ldiv.cli.check.check", stopped)
    assert run("check", people, *ASK).code == 130


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_any_terminal(people, encoding):
    people.write_text("Ort,Ill\nΖωή,flu\nΖωή,flu\n\x1b[31mX,flu\n[b]m[/b],a\n")
    done = run("check", people, "-q", "Ort", "-s", "Ill", "-l", 2, encoding=encoding)
    assert done.code == 1 and "[b]m[/b]" in done.out and "\x1b" not in done.out and done.out.count("\n") == 4
    assert run("compare", people, "-q", "Ort", "-s", "Ill", "-l", 1, "-a", "tp", encoding=encoding).code == 0
    assert run("algorithms", encoding=encoding).code == 0


def test_lines_are_clean_and_short():
    message = one_line("value '" + "x" * 10_000 + "'\nand \x1b[2J more " + "y " * 5000 + "end")
    assert "\n" not in message and "\x1b" not in message and len(message) < 1300 and message.endswith("end")
    assert shown("a\nb\u202ec" + "z" * 500).startswith("a\\nb\\u202ec") and len(shown("z" * 500)) == 120 and shown(None) == "(missing)"


def test_a_closed_or_full_output(people):
    program = [sys.executable, "-m", "ldiv.cli", "check", str(people), *ASK]
    if os.path.exists("/dev/full"):
        with open("/dev/full", "w") as full:
            done = subprocess.run(program, stdout=full, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 2 and done.stderr.count("\n") == 1
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(program, stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert done.returncode == 2 and "roken pipe" in done.stderr


def test_lists_and_version():
    assert "acs2018" in run("datasets").out and "tp" in run("algorithms").out
    assert run("--version").out == f"ldiv {ldiv.__version__}\n"
    assert run("--help").code == 0 and "Usage" in run().out


# -- options given twice, and options that do not apply ---------------------------------------------------------------


@pytest.mark.parametrize(
    "twice",
    [
        ("-o", "y.csv"),
        ("-l", "3"),
        ("--star", "x"),
        ("-a", "tp"),
        ("--delimiter", ","),
        ("--na", "NA"),
        ("--seed", "1"),
        ("--effort", "fast"),
        ("--report", "r.html"),
        ("--missing-qi", "value"),
        ("--quiet",),
        ("--json",),
    ],
)
def test_single_options_given_twice_are_refused(people, tmp_path, twice):
    done = run("anonymize", people, *ASK, "-o", "x.csv", *twice, *(twice if twice[0] not in ("-o", "-l") else ()))
    assert done.code == 2 and "2 times" in done.err and not (tmp_path / "x.csv").exists()


def test_several_sensitive_columns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(0, 9, 300), "b": rng.integers(0, 5, 300), "s": rng.integers(0, 8, 300), "t": rng.integers(0, 6, 300)})
    frame.to_csv("in.csv", index=False)
    ask = ("-q", "a", "-q", "b", "-s", "s", "-s", "t", "-l", 3)
    assert run("anonymize", "in.csv", *ask, "-o", "out.csv").code == 0
    out = pd.read_csv("out.csv")
    assert all(ldiv.check(out, ["a", "b"], name, 3) for name in "st")
    assert run("check", "out.csv", *ask).code == 0
    out.loc[out.index[:1], "a"] = "alone"
    out.to_csv("bad.csv", index=False)
    done = run("check", "bad.csv", *ask)
    assert done.code == 1 and done.out.count("no: ") == 2
    frame["t"] = np.where(np.arange(300) < 200, 0, frame["t"])
    frame.to_csv("in.csv", index=False)
    assert run("anonymize", "in.csv", *ask, "-o", "none.csv").code == 1 and not os.path.exists("none.csv")
    assert run("max-l", "in.csv", "-s", "s", "-s", "t").out == "1\n"
    for more, message in ((("-s", "s"), "named twice"), (("--certificate", "c.npz"), "one sensitive column")):
        done = run("anonymize", "in.csv", *ask, "-o", "none.csv", *more)
        assert done.code == 2 and message in done.err


@pytest.mark.parametrize(
    "more, message",
    [
        (("-a", "tp", "--effort", "fast"), "--effort does not apply to algorithm 'tp'"),
        (("-a", "tp", "--time-limit", "5"), "--time-limit does not apply"),
        (("-a", "mondrian", "--threads", "2"), "--threads does not apply"),
        (("-a", "tp+", "--weight", "Age=5"), "--weight does not apply"),
        (("--weight", "Ill=5"), "'Ill' is not a quasi-identifier"),
        (("--weight", "Age=5", "--weight", "Age=6"), "named twice"),
        (("--protect", "Nobody"), "'Nobody' is not a quasi-identifier"),
        (("--hierarchy", "Agee=tree.csv"), "no column 'Agee'"),
        (("--hierarchy", "Ill=tree.csv"), "'Ill' is not a quasi-identifier"),
        (("--hierarchy", "Age=tree.csv"), "publishes values and stars only"),
        (("--hierarchy", "Age=tree.csv", "--coarsen", "Age=width:10"), "need no hierarchy"),
        (("--coarsen", "Agee=width:10"), "no column 'Agee'"),
        (("--numeric", "Sex"), "row 1: 'F' is no number"),
        (("--numeric", "Nobody"), "no column 'Nobody'"),
        (("--text", "Age", "--numeric", "Age"), "by --numeric and by --text"),
        (("-a", "mondrian", "--certificate", "c.npz"), "publishes sub-domains"),
        (("--coarsen", "Age=width:10", "--certificate", "c.npz"), "coarsen it into a file first"),
    ],
)
def test_options_that_do_not_apply_are_refused(people, tmp_path, more, message):
    (tmp_path / "tree.csv").write_text("30;*\n40;*\n50;*\n")
    done = run("anonymize", people, *ASK, "-o", "x.csv", *more)
    assert done.code == 2 and message in done.err and not (tmp_path / "x.csv").exists()


def test_options_about_text_files(people, tmp_path):
    pq.write_table(pa.table({"a": [1, 1], "s": ["x", "y"], "other": ["", ""]}), "in.parquet")
    base = ("anonymize", "in.parquet", "-q", "a", "-s", "s", "-l", 2)
    for more in (("--na", "NA"), ("--delimiter", ";"), ("--numeric", "a"), ("--text", "a")):
        assert run(*base, "-o", "out.parquet", *more).code == 2
    for command, more in (
        ("check", ("--na", "NA")),
        ("check", ("--delimiter", ";")),
        ("compare", ("--na", "NA")),
        ("report", ("--na", "NA", "-o", "r.html")),
    ):
        assert run(command, *base[1:], *more).code == 2
    for command, more in (("check", ("--text", "Age")), ("check", ("--numeric", "Age")), ("max-l", ("--missing-qi", "error"))):
        done = run(command, people, *(ASK if command == "check" else ("-s", "Ill")), *more)
        assert done.code == 2 and "does not apply" in done.err
    assert run(*base, "-o", "out.csv", "--delimiter", ";", "--keep-order").code == 0
    assert (tmp_path / "out.csv").read_text() == "a;s;other\n1;x;\n1;y;\n"
    done = run("anonymize", people, *ASK, "-o", "x.csv", "--numeric", "Ill")
    assert done.code == 2 and "'flu' is no number" in done.err


# -- formats ----------------------------------------------------------------------------------------------------------


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


# -- missing values and numbers ---------------------------------------------------------------------------------------


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


# -- the other options and commands ----------------------------------------------------------------------------------


def test_coarsen_protect_and_weigh(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text("Age,City,D\n" + "".join(f"{20 + k},{'Rome' if k % 2 else 'Bari'},{'abcd'[k % 4]}\n" for k in range(40)))
    (tmp_path / "city.csv").write_text("Rome;Italy;*\nBari;Italy;*\n")
    base = ("anonymize", "in.csv", "-q", "Age", "-q", "City", "-s", "D", "-l", 2, "--keep-order")
    done = run(*base, "-o", "out.csv", "--coarsen", "Age=width:10", "--coarsen", "City=1", "--hierarchy", "City=city.csv")
    assert done.code == 0 and (tmp_path / "out.csv").read_text().splitlines()[1] == '"[20, 30)",Italy,a'
    done = run(*base, "-o", "two.csv", "--protect", "City", "--weight", "Age=3")
    assert done.code == 0 and "Rome" in (tmp_path / "two.csv").read_text() and ",*," not in (tmp_path / "two.csv").read_text()
    with subprocess.Popen(["cat", "city.csv"], stdout=subprocess.PIPE) as cat:  # a hierarchy from a pipe
        done = run(*base, "-o", "three.csv", "--coarsen", "City=1", "--hierarchy", f"City=/dev/fd/{cat.stdout.fileno()}")
    assert done.code == 0 and "Italy" in (tmp_path / "three.csv").read_text()


def test_names_with_equal_signs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.csv").write_text("x=y,D\n31,a\n38,b\n")
    (tmp_path / "a=b.csv").write_text("31;thirty\n38;thirty\n")
    base = ("anonymize", "in.csv", "-q", "x=y", "-s", "D", "-l", 2, "-o", "out.csv")
    assert run(*base, "--coarsen", "x=y=width:10").code == 0 and "[30, 40)" in (tmp_path / "out.csv").read_text()
    assert run(*base, "--coarsen", "x=y=1", "--hierarchy", "x=y=a=b.csv").code == 0 and "thirty" in (tmp_path / "out.csv").read_text()


def test_json_and_quiet(people):
    done = run("anonymize", people, *ASK, "-o", "out.csv", "--quiet", "--json")
    facts = json.loads(done.out)
    assert done.err == "" and (facts["stars"], facts["bound"], facts["ratio"], facts["stars_by_attribute"]) == (2, 2, 1.0, {"Age": 2, "Sex": 0})
    done = run("check", people, *ASK, "--json")
    facts = json.loads(done.out)
    assert done.code == 1 and facts["sensitive"]["Ill"]["violations"][0]["group"] == {"Age": "40", "Sex": "M"} and not facts["l_diverse"]
    assert json.loads(run("max-l", people, "-s", "Ill", "--json").out)["max_l"] == 2
    assert json.loads(run("report", people, *ASK, "-o", "r.html", "--json", "--quiet").out)["stars"] == 2
    assert run("anonymize", people, *ASK, "-o", "-", "--json").code == 2


def test_audit_is_that_of_the_library(people):
    found = json.loads(run("audit", people, *ASK[:-2], "--json").out)["Ill"]
    assert found == pytest.approx(ldiv.audit(pd.read_csv(people), ["Age", "Sex"], "Ill"))
    assert f"k = {found['k']}\n" in run("audit", people, *ASK[:-2]).out


def test_compare(people, tmp_path):
    ask = ("compare", people, *ASK[:-2], "-l", 2, "-l", 9, "-a", "tp", "-a", "mondrian", "-a", "auto")
    done = run(*ask, "--json")
    rows = json.loads(done.out)
    assert done.code == 0 and [(row["l"], row["algorithm"]) for row in rows] == [(l, a) for l in (2, 9) for a in ("tp", "mondrian", "auto")]
    assert rows[0]["stars"] == 2 and rows[0]["ratio"] == 1.0 and rows[1]["ratio"] is None and rows[2]["megabytes"] > 0
    assert all("infeasible: the largest l is 2" in row["note"] and row["stars"] is None for row in rows[3:])
    for name, read in (("c.csv", lambda path: pd.read_csv(path).to_dict("records")), ("c.json", lambda path: json.loads(path.read_text()))):
        assert run(*ask, "-o", name, "--no-memory").code == 0
        found = read(tmp_path / name)
        assert [row["algorithm"] for row in found] == [row["algorithm"] for row in rows] and found[0]["stars"] == 2
        assert found[0]["megabytes"] is None or found[0]["megabytes"] != found[0]["megabytes"]
    frame = table_of_ages()
    frame.to_csv("in.csv", index=False)
    ask = (
        "compare",
        "in.csv",
        "-q",
        "age",
        "-q",
        "town",
        "-s",
        "income",
        "-l",
        3,
        "-a",
        "cascade",
        "-a",
        "auto",
        "--json",
        "--coarsen",
        "age=width:20",
        "--protect",
        "town",
        "--weight",
        "age=2",
        "--also",
        "k=5",
        "--effort",
        "fast",
        "--no-memory",
    )
    rows = json.loads(run(*ask).out)
    release = ldiv.anonymize(
        frame,
        ["age", "town"],
        "income",
        3,
        algorithm="cascade",
        coarsen={"age": ldiv.Bins(width=20)},
        protect=["town"],
        weights={"age": 2},
        also=[ldiv.KAnonymity(5)],
    )
    assert rows[0]["stars"] == release.stars and rows[0]["cost"] == release.cost and rows[0]["bound"] <= rows[0]["cost"]


def test_certificates_of_numbers_hold(tmp_path, monkeypatch):
    """The proof goes by the order of values, which is that of the numbers."""
    monkeypatch.chdir(tmp_path)
    frame = table_of_ages(300)
    frame.loc[::40, "age"] = pd.NA
    frame.astype({"age": "Int64"}).to_csv("in.csv", index=False)
    for more in ((), ("--text", "age")):
        done = run("anonymize", "in.csv", "-q", "age", "-q", "town", "-s", "income", "-l", 3, "-o", "out.csv", "--certificate", "c.npz", *more)
        assert done.code == 0, done.err
        done = run("certify", "in.csv", "c.npz", "--release", "out.csv")
        assert done.code == 0 and "proven: no 3-diverse" in done.out and "age, town; sensitive income" in done.out, done
    assert run("certify", "out.csv", "c.npz").code in (1, 2)


def test_formulas_are_named(people, tmp_path):
    people.write_text("Age,Note,Ill\n30,=1+1,flu\n30,-5,cold\n")
    done = run("anonymize", people, "-q", "Age", "-s", "Ill", "-l", 2, "-o", "out.csv")
    assert done.code == 0 and "warning: 1 cells of column 'Note'" in done.err and "=1+1" in (tmp_path / "out.csv").read_text()


def test_the_written_release_is_judged_before_it_appears(people, tmp_path, monkeypatch):
    from ldiv.table.files import write_table as honest

    def broken(table, path, **options):
        return honest(table.slice(0, 1) if tampered == "rows" else table.set_column(0, "Age", pa.array(list("abcd"))), path, **options)

    monkeypatch.setattr("ldiv.cli.anonymize.write_table", broken)
    for tampered in ("rows", "cells"):  # noqa: B007
        done = run("anonymize", people, *ASK, "-o", "out.csv", "--report", "r.html")
        assert done.code == 2 and "withheld" in done.err and os.listdir(tmp_path) == ["people.csv"]


def test_progress():
    progress = Progress("anonymizing", limit=60)
    progress("sweep 10 of 100: dual value 1,234")
    assert progress.bound == 1234 and progress.left is not None
    progress({"stage": "dive 2 of 3", "stars": 1300})
    line = str(progress.__rich__())
    assert "dive 2 of 3" in line and "stars 1,300" in line and "bound 1,234" in line and "gap 5.35 %" in line and "s left" in line
