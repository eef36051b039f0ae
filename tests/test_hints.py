"""An error says what was probably meant."""

import pandas as pd
import pytest
from command import run

import ldiv

TABLE = pd.DataFrame({"Age": [30, 30, 40, 50], "Town": ["Rome", "Bari", "Rome", "Bari"], "Ill": ["flu", "cold", "flu", "cough"]})


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: ldiv.anonymize(TABLE, ["Agee"], "Ill", 2), "no column 'Agee' .*: did you mean 'Age'"),
        (lambda: ldiv.check(TABLE.set_index("Age"), ["Age"], "Ill", 2), r"it is in the index: frame.reset_index\(\) makes a column of it"),
        (lambda: ldiv.max_l(TABLE.set_index(["Age", "Ill"]), "Ill"), r"it is in the index: frame.reset_index\(\)"),
        (lambda: ldiv.audit(pd.DataFrame({"Age;Ill": ["1;2"]}), ["Age"], "Ill"), "perhaps the fields of its file are separated by ';'"),
        (lambda: ldiv.anonymize({f"c{k}": [1] for k in range(1000)}, ["x"], "y", 2), "'c39' and 960 more"),
        (lambda: ldiv.anonymize(TABLE, ["Age"], "Ill", 4), "the largest feasible l is 2 .there are 3 sensitive values only, and l can be no more than that"),
        (lambda: ldiv.anonymize({"a": [1, 2, 3], "s": ["y", "n", "n"]}, ["a"], "s", 2), "'n' stands in 2 of 3 rows, more than 1/2 of them; the largest feasible l is 1"),
        (lambda: ldiv.anonymize({"a": [1, 1, 2, 3], "s": list("ynyn")}, ["a"], "s", 3), "there are 2 sensitive values only"),
        (lambda: ldiv.coarsen(TABLE, {"Age": 1}, {"Age": [["30.0", "*"], ["40.0", "*"], ["50.0", "*"]]}), "it has '30.0', which is written otherwise"),
        (lambda: ldiv.coarsen(TABLE, {"Town": 1}, {"Town": [["Roma", "*"], ["Bari", "*"]]}), "'Rome' is not in its hierarchy .*: did you mean 'Roma'"),
        (lambda: ldiv.coarsen({"a": ["1,5", "2,5"]}, {"a": ldiv.Bins(width=1)}), "'1,5' is not a number; it has a decimal comma"),
        (lambda: ldiv.coarsen({"a": pd.to_datetime(["2020-01-01"])}, {"a": ldiv.Bins(width=1)}), "make years or months of dates first"),
        (lambda: ldiv.coarsen(TABLE.astype({"Age": float}), {"Age": 1}, {"Age": [["30", "*"], ["40", "*"], ["50", "*"]]}), "make whole numbers of them"),
    ],
)  # fmt: skip
def test_hints_in_python(call, message):
    with pytest.raises(ldiv.LdivError, match=message) as caught:
        call()
    assert len(str(caught.value)) < 900


def test_a_table_of_single_rows_says_what_can_be_done():
    release = ldiv.anonymize({"id": range(6), "s": [1, 2, 3] * 2}, ["id"], "s", 2, algorithm="tp")
    assert "every row was alone with its QI values: coarsen some" in release.summary()


def test_hints_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    TABLE.to_csv("comma.csv", index=False)
    TABLE.to_csv("semicolon.csv", index=False, sep=";")
    TABLE.to_csv("headless.csv", index=False, header=False)
    (tmp_path / "commas.csv").write_text("Age;Weight;Ill\n30;1,5;flu\n40;2,5;cold\n")
    for words, hint in (
        (["semicolon.csv", "-q", "Age", "-s", "Ill"], "separated by ';': --delimiter"),
        (["headless.csv", "-q", "Age", "-s", "Ill"], "name the columns with --names"),
        (["commas.csv", "-q", "Age", "-s", "Ill"], "perhaps the fields are separated by ';': --delimiter"),
        (["comma.csv", "-q", "age", "-s", "Ill"], "did you mean 'Age'?"),
    ):
        done = run("check", *words, "-l", "2")
        assert done.code == 2 and hint in done.err and done.err.count("error:") == 1 and done.err.count("\n") == 1, done.err


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["-q", "Age,Town", "-s", "Ill", "-l", "2"], "one by one: -q Age -q Town"),
        (["-q", "Age Town", "-s", "Ill", "-l", "2"], "one by one: -q Age -q Town"),
        (["Town", "-q", "Age", "-s", "Ill", "-l", "2"], "no file 'Town'; columns are named one by one"),
        (["-q", "AGE", "-s", "ill", "-l", "2"], "did you mean 'Age'?"),
        (["-q", "Age", "-s", "Ill", "-l", "1.5"], "it must be a whole number"),
        (["-q", "Age", "-s", "Ill", "-l", "2", "-o", "out"], "without an ending its name does not say"),
        (["-q", "Age", "-s", "Ill", "-l", "2", "-o", "o.csv", "--coarsen", "Town=1"], "needs a hierarchy: --hierarchy Town=FILE"),
        (["-q", "Age", "-s", "Ill", "-l", "2", "-o", "o.csv", "--coarsen", "Born=width:10"], "make years or months of dates first"),
        (["-q", "Age", "-s", "Ill", "-l", "2", "-o", "o.csv", "-a", "TP"], "did you mean 'tp'?"),
    ],
)
def test_what_a_new_user_types_gets_the_way_out(tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("Age,Town,Born,Ill\n30,Rome,1990-05-01,flu\n30,Rome,1990-06-01,cold\n")
    done = run("anonymize" if "-o" in arguments else "check", "people.csv", *arguments)
    assert done.code == 2 and words in done.err and done.err.count("error:") == 1 and "?." not in done.err, done.err
