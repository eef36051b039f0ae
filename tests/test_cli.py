"""The command: exit codes, one line an error, and what its other commands say."""

import json
import os
import subprocess
import sys

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command import ASK, ROWS, run, table_of_ages

import ldiv
from ldiv.cli import COMMANDS
from ldiv.cli.console import Progress, one_line, shown

# -- exit codes and lines --------------------------------------------------------------------------------------------


def test_anonymize_then_check(people, tmp_path):
    done = run("anonymize", people, *ASK, "-o", "out.csv", "--keep-order")
    assert done.code == 0, done.err
    assert (tmp_path / "out.csv").read_text() == 'Age,Sex,Ill\n30,F,flu\n30,F,cold\n*,M,flu\n*,M,"cough, dry"\n'
    assert "stars 2" in done.err and "has fewer than 2 (ratio 1.0000" in done.err and done.out == ""
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
        ((*base, *out, "--gap", "0.9"), 2, "--gap"),
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
        (("check", people, "-q", "Age"), 2, "name the sensitive column"),
        (("check", people, "-s", "Disease", "-l", "2"), 2, "Missing option"),
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


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in ("certify", "verify")] + ["--help"])
def test_whoever_reads_the_answer_may_go(people, command):
    """No word about it, and a code of its own; remarks that nobody reads stop no work."""
    few = {"max-l": ("-s", "Ill"), "audit": ASK[:-2], "datasets": (), "algorithms": (), "--help": ()}
    more = {"anonymize": ("-o", "-"), "report": ("-o", "-"), "compare": ("-a", "tp", "--no-memory")}.get(command, ())
    files = () if command in ("datasets", "algorithms", "--help") else (str(people),)
    program = [sys.executable, "-m", "ldiv.cli", command, *files, *few.get(command, ASK), *more]
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(program, stdout=writing, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 141 and "ipe" not in done.stderr and "Traceback" not in done.stderr, done
    if command == "anonymize":
        target = people.parent / "unheard.csv"
        done = subprocess.run([*program[:-1], str(target)], stderr=writing)
        assert done.returncode == 0 and target.exists()
    os.close(writing)


def test_lists_and_version():
    assert "acs2018" in run("datasets").out and "tp" in run("algorithms").out
    assert run("--version").out == f"ldiv {ldiv.__version__}\n"
    assert run("--help").code == 0 and "Usage" in run().out


# -- what people and programs read -----------------------------------------------------------------------------------


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
    assert "dive 2 of 3" in line and "stars 1,300" in line and "bound 1,234" in line and "gap 5.35 %" in line and " left" not in line
    progress.limit = None
    for left, words in ((12.2, "about 12 s left"), (0.2, "nearly done"), (-3, "nearly done")):
        progress.left = left
        assert str(progress.__rich__()).endswith(words)
    progress("neighbourhoods: 1,250 stars, bound 1,240")
    assert (progress.stars, progress.bound, progress.stage) == (1250, 1240, "neighbourhoods")
