"""The options of the command: each does what it says, and is refused where it is given twice or does not apply."""

import os
import subprocess

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command import ASK, run

import ldiv


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
    done = run("anonymize", "in.csv", *ask, "-o", "none.csv", "-s", "s")
    assert done.code == 2 and "named twice" in done.err


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
        (("-a", "exact", "--hierarchy", "Age=tree.csv"), "publishes values and stars only"),
        (("--loss", "level"), "--loss is about nodes of hierarchies"),
        (("--hierarchy", "Age=tree.csv", "--loss", "stars"), "--loss must be one of"),
        (("--hierarchy", "Sex=auto"), "'auto' is for columns whose values have an order"),
        (("--hierarchy", "Age=width:a"), "--hierarchy Age=width:a"),
        (("--hierarchy", "Age=width:20", "--effort", "fast", "--certificate", "c.npz"), "nothing was proven"),
        (("--hierarchy", "Age=tree.csv", "--coarsen", "Age=width:10"), "need no hierarchy"),
        (("--coarsen", "Agee=width:10"), "no column 'Agee'"),
        (("--numeric", "Sex"), "row 1: 'F' is no number"),
        (("--numeric", "Nobody"), "no column 'Nobody'"),
        (("--text", "Age", "--numeric", "Age"), "by --numeric and by --text"),
        (("-a", "mondrian", "--certificate", "c.npz"), "nothing is proven of the sub-domains"),
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
