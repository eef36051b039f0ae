"""ldiv verify: a release held against its source."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command import ASK_PATIENTS as ASK
from command import FAST, patients, run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    patients().to_csv("in.csv", index=False)
    return tmp_path


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    folder = tmp_path_factory.mktemp("released")
    frame = patients()
    frame["note"] = [f"n{k % 9}" for k in range(600)]
    frame.to_csv(folder / "in.csv", index=False)
    for name, more in (("out.csv", ()), ("kept.csv", ("--keep-order",)), ("ranges.csv", ("-a", "mondrian", "--keep-order"))):
        done = run("anonymize", folder / "in.csv", *ASK, *(FAST if "-a" not in more else ()), "-o", folder / name, *more)
        assert done.code == 0, done.err
    return folder


def test_good_releases_verify(released):
    for name, order in (("out.csv", "in another order"), ("kept.csv", "in their order"), ("ranges.csv", "in their order")):
        done = run("verify", released / "in.csv", released / name, *ASK)
        assert done.code == 0 and done.out.startswith(f"yes (QI age, ward; sensitive ill): 600 rows {order}"), done
        assert done.err == "" and done.out.count("\n") == 1
    text = pd.read_csv(released / "kept.csv", dtype=str)
    for seed in range(3):
        text.sample(frac=1, random_state=seed).to_csv(released / "again.csv", index=False)
        assert run("verify", released / "in.csv", released / "again.csv", *ASK).code == 0
    text[["ill", "ward", "age"]].to_csv(released / "again.csv", index=False)  # columns in another order, one left out
    done = run("verify", released / "in.csv", released / "again.csv", *ASK, "--json")
    assert done.code == 0 and json.loads(done.out)["dropped"] == ["note"]
    assert run("verify", released / "in.csv", released / "in.csv", *ASK).code == 1  # true, but not diverse


def replace_cell(frame, row, column, value):
    frame.loc[row, column] = value
    return frame


def visible(frame, column, *, at=0):
    return frame.index[frame[column] != "*"][at]


def swap_visible(frame):
    one = visible(frame, "age")
    other = next(k for k in frame.index if frame.loc[k, "age"] not in ("*", frame.loc[one, "age"]) and frame.loc[k, "ill"] != frame.loc[one, "ill"])
    frame.loc[[one, other], "age"] = frame.loc[[other, one], "age"].to_numpy()
    return frame


WRONG = {
    "rows deleted": lambda frame: frame.drop(index=[3, 7]),
    "a group deleted": lambda frame: frame[frame["age"] != frame.loc[visible(frame, "age"), "age"]],
    "a row twice": lambda frame: pd.concat([frame, frame.iloc[:1]]),
    "a row replaced by another": lambda frame: pd.concat([frame.drop(index=[0]), frame.iloc[1:2]]),
    "sensitive replaced": lambda frame: replace_cell(frame, 5, "ill", "7" if frame.loc[5, "ill"] != "7" else "6"),
    "sensitive starred": lambda frame: replace_cell(frame, 5, "ill", "*"),
    "qi swapped": swap_visible,
    "qi invented": lambda frame: replace_cell(frame, visible(frame, "age"), "age", "200"),
    "star of another kind": lambda frame: frame.replace({"age": {"*": "?"}}),
    "another column changed": lambda frame: replace_cell(frame, 0, "note", "n99"),
    "a column invented": lambda frame: frame.assign(more="x"),
    "a sub-domain that does not hold the value": lambda frame: replace_cell(frame, visible(frame, "age"), "age", "[200, 300)"),
    "a set that does not hold the value": lambda frame: replace_cell(frame, visible(frame, "age"), "age", "{200, 300}"),
}


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("kind", WRONG)
def test_wrong_releases_do_not(released, tmp_path, kind, shuffled):
    frame = WRONG[kind](pd.read_csv(released / "kept.csv", dtype=str))
    (frame.sample(frac=1, random_state=2) if shuffled else frame).to_csv(tmp_path / "bad.csv", index=False)
    done = run("verify", released / "in.csv", tmp_path / "bad.csv", *ASK)
    assert done.code == 1 and done.out.startswith("no (QI age, ward; sensitive ill): ") and done.out.count("\n") == 1, done
    done = run("verify", released / "in.csv", tmp_path / "bad.csv", *ASK, "--json")
    facts = json.loads(done.out)
    assert done.code == 1 and not facts["verified"] and facts["faults"]


def test_too_large_an_l_and_k(released):
    ask = ("verify", released / "in.csv", released / "out.csv")
    facts = json.loads(run(*ask, *ASK, "--json").out)
    assert facts["verified"] and facts["max_l"] >= 3 and facts["in_order"] is False and facts["rows"] == 600 and facts["unchanged"] == ["note"]
    out = pd.read_csv(released / "out.csv")
    assert facts["stars"] == int((out[["age", "ward"]] == "*").sum().sum()) and facts["smallest"] == out.groupby(["age", "ward"]).size().min()
    done = run(*ask, *ASK[:-1], facts["max_l"] + 1)
    assert done.code == 1 and f"groups are not {facts['max_l'] + 1}-diverse" in done.out
    assert run(*ask, *ASK, "-k", facts["smallest"]).code == 0
    done = run(*ask, *ASK, "-k", facts["smallest"] + 1)
    assert done.code == 1 and f"a group has {facts['smallest']:,} rows, fewer than {facts['smallest'] + 1}" in done.out


def test_several_sensitive_columns_are_each_judged(folder):
    frame = patients()
    frame["pay"] = np.random.default_rng(4).integers(0, 7, 600)
    frame.to_csv("in.csv", index=False)
    both = (*ASK[:4], "-s", "ill", "-s", "pay", "-l", "3")
    assert run("anonymize", "in.csv", *both, *FAST, "-o", "out.csv").code == 0
    assert run("verify", "in.csv", "out.csv", *both).code == 0
    assert run("anonymize", "in.csv", *ASK, *FAST, "-o", "one.csv").code == 0
    assert run("verify", "in.csv", "one.csv", *ASK).code == 0
    done = run("verify", "in.csv", "one.csv", *both)
    assert done.code == 1 and "have pay=" in done.out
    facts = json.loads(run("verify", "in.csv", "out.csv", *both, "--json").out)
    assert facts["sensitive"] == ["ill", "pay"] and facts["unchanged"] == []


def test_hierarchies_say_what_may_stand_for_a_value(folder):
    (folder / "ward.csv").write_text("".join(f"{k};{'north' if k < 6 else 'south'};*\n" for k in range(12)))
    tree = ("--hierarchy", "ward=ward.csv")
    asked = {
        "coarse.csv": ("--coarsen", "ward=1", *tree),
        "nodes.csv": ("-a", "tds", *tree),
        "bins.csv": ("--coarsen", "age=width:10"),
        "sets.csv": ("-a", "mondrian", "--coarsen", "age=width:10", "--coarsen", "ward=1", *tree),
    }
    for name, more in asked.items():
        done = run("anonymize", "in.csv", *ASK, "-o", name, *more)
        assert done.code == 0, done.err
        done = run("verify", "in.csv", name, *ASK, *tree)
        assert done.code == 0, done
    assert run("verify", "in.csv", "coarse.csv", *ASK).code == 1  # nothing says that north stands for a ward
    text = (folder / "coarse.csv").read_text()
    (folder / "lies.csv").write_text(text.replace("north", "south", 1))
    done = run("verify", "in.csv", "lies.csv", *ASK, *tree)
    assert done.code == 1, done.out
    for more, message in (("ward", "NAME=VALUE"), ("wart=ward.csv", "'wart'"), ("ill=ward.csv", "'ill' is not"), ("ward=none.csv", "none.csv")):
        done = run("verify", "in.csv", "coarse.csv", *ASK, "--hierarchy", more)
        assert done.code == 2 and message in done.err and done.out == "", done


def test_what_cannot_be_verified(folder):
    assert run("anonymize", "in.csv", *ASK, *FAST, "-o", "out.csv").code == 0
    pq.write_table(pa.table(patients().to_dict("list")), "in.parquet")
    assert run("anonymize", "in.parquet", *ASK, *FAST, "-o", "out.parquet").code == 0
    ask = ("verify", "in.csv", "out.csv")
    for arguments, message in [
        (("verify", "none.csv", "out.csv", *ASK), "no file 'none.csv'"),
        (("verify", "in.csv", "none.csv", *ASK), "no file 'none.csv'"),
        ((*ask, "-q", "agee", *ASK[2:]), "no column 'agee'"),
        ((*ask, *ASK[:-1], "0"), "l must be"),
        ((*ask, *ASK, "-k", "0"), "k must be"),
        ((*ask, *ASK, "--numeric", "age"), "--numeric"),
        ((*ask, *ASK, "--text", "age"), "--text"),
        ((*ask, *ASK, "--missing-qi", "error"), "--missing-qi"),
        ((*ask, *ASK, "--missing-sensitive", "value"), "--missing-sensitive"),
        ((*ask, *ASK, "-s", "ill"), "named twice"),
        ((*ask, *ASK, "-l", "4"), "2 times"),
        (("verify", "-", "-", *ASK), "read once only"),
        ((*ask, *ASK, "--delimiter", ";"), "separated by ','"),
        (("verify", "in.parquet", "out.parquet", *ASK, "--na", "NA"), "for text files"),
    ]:
        done = run(*arguments)
        assert done.code == 2 and message in done.err and done.err.splitlines()[-1].startswith("error: ") and done.out == "", done
    (folder / "less.csv").write_text("\n".join(line.split(",", 1)[1] for line in (folder / "out.csv").read_text().splitlines()))
    assert run("verify", "in.csv", "less.csv", *ASK).code == 2


@pytest.mark.parametrize(
    "source, target, more",
    [
        ("in.csv", "out.tsv", ("--delimiter", ";")),
        ("in.csv", "out.parquet", ("--delimiter", ";")),
        ("in.parquet", "out.csv", ("--delimiter", ";")),
        ("in.csv", "out.csv", ("--delimiter", ";", "--names", "age,ward,ill")),
        ("in.csv", "out.parquet", ("--delimiter", ";", "--names", "age,ward,ill")),
        ("in.parquet", "out.csv.gz", ("--na", "NA")),
        ("in.tsv", "out.csv", ("--na", "NA")),
        ("in.parquet", "out.xlsx", ()),
    ],
)
def test_files_of_other_kinds_are_read_as_they_are_written(folder, source, target, more):
    if target.endswith("xlsx"):
        pytest.importorskip("openpyxl")
    frame = patients(90)
    if source.endswith("csv"):
        frame.to_csv(source, index=False, sep=";", header="--names" not in more)
    elif source.endswith("tsv"):
        frame.to_csv(source, index=False, sep="\t")
    else:
        frame.to_parquet(source)
    assert run("anonymize", source, *ASK, *FAST, "-o", target, *more).code == 0
    done = run("verify", source, target, *ASK, *more)
    assert done.code == 0, done
