"""Files and the command: strict reading, atomic writing, exit codes, and what people read."""

import gzip
import subprocess
import sys

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ldiv.errors import InputError
from ldiv.files import read_table, write_table

ROWS = "Age,Sex,Ill\n30,F,flu\n30,F,cold\n40,M,flu\n50,M,\"cough, dry\"\n"


def ldiv(*arguments, cwd=None):
    return subprocess.run(
        [sys.executable, "-m", "ldiv.cli", *map(str, arguments)], capture_output=True, text=True, cwd=cwd, timeout=60
    )


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(ROWS)
    return path


ASK = ("-q", "Age", "-q", "Sex", "-s", "Ill", "-l", "2")


def test_anonymize_then_check(people, tmp_path):
    out = tmp_path / "out.csv"
    done = ldiv("anonymize", people, *ASK, "-o", out)
    assert done.returncode == 0, done.stderr
    assert out.read_text() == 'Age,Sex,Ill\n30,F,flu\n30,F,cold\n*,M,flu\n*,M,"cough, dry"\n'
    assert "stars 2" in done.stderr and done.stdout == ""
    yes = ldiv("check", out, *ASK)
    assert (yes.returncode, yes.stdout) == (0, "yes: 4 rows in 2 QI-groups, l-diverse up to l = 2\n")
    no = ldiv("check", people, *ASK)
    assert no.returncode == 1
    assert "Age=40, Sex=M: 1 of 1 rows have Ill=flu, 1 more than the 0 allowed" in no.stdout


@pytest.mark.parametrize("ending", [".csv.gz", ".parquet", ".csv"])
def test_formats_and_stable_bytes(people, tmp_path, ending):
    outs = [tmp_path / f"{k}{ending}" for k in "ab"]
    for out in outs:
        assert ldiv("anonymize", people, *ASK, "-o", out).returncode == 0
    assert outs[0].read_bytes() == outs[1].read_bytes()
    assert read_table(outs[0]).to_pydict() == {
        "Age": ["30", "30", "*", "*"], "Sex": ["F", "F", "M", "M"], "Ill": ["flu", "cold", "flu", "cough, dry"]
    }
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([people.name, *(o.name for o in outs)])


def test_exit_codes_and_messages(people, tmp_path):
    headless = tmp_path / "headless.csv"
    headless.write_text("30,F,flu\n30,F,cold\n")
    for arguments, code, message in [
        (("anonymize", people, "-q", "Agee", "-s", "Ill", "-l", 2, "-o", "x.csv"), 2, "no column 'Agee' in the table; "
         "there are: 'Age', 'Sex', 'Ill'"),
        (("anonymize", people, *ASK[:-1], 3, "-o", "x.csv"), 1, "the largest feasible l is 2"),
        (("anonymize", people, *ASK, "-o", people), 2, "would overwrite its own source"),
        (("anonymize", people, *ASK, "-o", tmp_path / "no" / "x.csv"), 2, "no folder"),
        (("anonymize", people, *ASK, "-o", "x.csv", "-a", "magic"), 2, "no algorithm 'magic'"),
        (("anonymize", people, *ASK, "-o", "x.csv", "--also", "k=many"), 2, "'many' is not a whole number"),
        (("anonymize", people, *ASK, "-o", "x.csv", "--also", "m=3"), 2, "write one of k=VALUE, distinct=VALUE, entropy=VALUE, t=VALUE"),
        (("anonymize", people, *ASK, "-o", "x.csv", "--also", "k=9"), 2, "the whole table as one group does not satisfy it (it has 4)"),
        (("check", tmp_path / "none.csv", *ASK), 2, "no file"),
        (("check", people, "-q", "Age"), 2, "Missing option"),
        (("certify", people, tmp_path / "none.npz"), 2, "no certificate file"),
        (("check", headless, *ASK), 2, "name the columns with --names if the file has no header"),
        (("datasets", "acs1900", "-o", "x.csv"), 2, "no data set 'acs1900'"),
    ]:
        done = ldiv(*arguments, cwd=tmp_path)
        assert done.returncode == code and message in done.stderr.replace("\n", " "), done.stderr
        assert not (tmp_path / "x.csv").exists()
    assert people.read_text() == ROWS


@pytest.mark.parametrize("body, message", [
    ("a,b\n1,2\n\"x\ny\",3\n1\n", "line 5: 1 fields, but the header has 2"),
    ("a,b\n1,2\n1,2,3\n", "line 3: 3 fields, but the header has 2"),
    ("a,b\n1,2\n\"1,3\n", "line 3: unexpected end of data"),
    (b"a,b\n1,2\n\xff,3\n", "line 3: not UTF-8"),
    ("a,a\n1,2\n", "'a' stands twice"),
    ("", "empty, not even a header line"),
])
def test_malformed_csv_is_named_by_line(tmp_path, body, message):
    path = tmp_path / "bad.csv"
    path.write_bytes(body if isinstance(body, bytes) else body.encode())
    with pytest.raises(InputError, match=message):
        read_table(path)
    packed = tmp_path / "bad.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(InputError, match=message):
        read_table(packed)


def test_damaged_files(tmp_path):
    whole = gzip.compress(ROWS.encode() * 50)
    (tmp_path / "cut.csv.gz").write_bytes(whole[:-20])
    (tmp_path / "not.parquet").write_bytes(b"hello")
    with pytest.raises(InputError, match="cannot be read to its end|Compressed"):
        read_table(tmp_path / "cut.csv.gz")
    with pytest.raises(InputError, match="not a readable Parquet file"):
        read_table(tmp_path / "not.parquet")


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old")

    class Broken:
        column_names = ["a"]

        def to_batches(self, **_):
            raise RuntimeError("disk on fire")

    with pytest.raises(RuntimeError):
        write_table(Broken(), path)
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


def test_csv_text_survives(tmp_path):
    path = tmp_path / "in.csv"
    body = 'zip,name,s\n007,"a ""b""\nc",1.50\n007, sp ace ,NA\n,ünï,1e5\n'
    path.write_bytes(b"\xef\xbb\xbf" + body.encode())
    table = read_table(path)
    assert table.column("zip").to_pylist() == ["007", "007", ""]
    out = tmp_path / "out.csv"
    write_table(table, out)
    assert out.read_text() == body


def test_names_and_delimiter(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text("30;flu\n30;cold\n")
    out = tmp_path / "out.csv"
    done = ldiv("anonymize", path, "--names", "Age,Ill", "--delimiter", ";", "-q", "Age", "-s", "Ill", "-l", 2, "-o", out)
    assert done.returncode == 0 and out.read_text() == "30;flu\n30;cold\n"


def test_parquet_keeps_types_and_a_pandas_index(tmp_path):
    frame = pd.DataFrame({"Age": [1, 2, 2], "Ill": ["a", "b", "c"], "x": [0.5, 1.5, 2.5]}, index=list("pqr"))
    frame.to_parquet(tmp_path / "in.parquet")
    done = ldiv("anonymize", tmp_path / "in.parquet", "-q", "Age", "-s", "Ill", "-l", 2, "-o", tmp_path / "out.parquet")
    assert done.returncode == 0, done.stderr
    out = pd.read_parquet(tmp_path / "out.parquet")
    assert out.index.tolist() == ["p", "q", "r"] and out["x"].tolist() == [0.5, 1.5, 2.5]
    assert out["Age"].tolist() == ["*", "*", "*"]


def test_parquet_nulls(tmp_path):
    pq.write_table(pa.table({"a": [1, 1, 1], "s": ["x", None, "y"]}), tmp_path / "in.parquet")
    ask = ("anonymize", tmp_path / "in.parquet", "-q", "a", "-s", "s", "-l", 2, "-o", tmp_path / "out.parquet")
    refused = ldiv(*ask)
    assert refused.returncode == 2 and "missing values in the sensitive column 's'" in refused.stderr
    assert ldiv(*ask, "--missing-sensitive", "value").returncode == 0


def test_lists():
    assert "acs2018" in ldiv("datasets").stdout
    assert "tp" in ldiv("algorithms").stdout
    assert ldiv("--help").returncode == 0


def test_coarsen_protect_and_weigh_on_the_command_line(tmp_path):
    source, tree = tmp_path / "in.csv", tmp_path / "city.csv"
    source.write_text("Age,City,D\n" + "".join(f"{20 + k},{'Rome' if k % 2 else 'Bari'},{'abcd'[k % 4]}\n" for k in range(40)))
    tree.write_text("Rome;Italy;*\nBari;Italy;*\n")
    base = [sys.executable, "-m", "ldiv.cli", "anonymize", str(source), "-q", "Age", "-q", "City", "-s", "D", "-l", "2"]

    def run(*more, output="out.csv"):
        return subprocess.run([*base, "-o", str(tmp_path / output), *more], capture_output=True, text=True)

    done = run("--coarsen", "Age=width:10", "--coarsen", "City=1", "--hierarchy", f"City={tree}")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out.csv").read_text().splitlines()[1] == '"[20, 30)",Italy,a'
    done = run("--protect", "City", "--weight", "Age=3", output="two.csv")
    assert done.returncode == 0 and "Rome" in (tmp_path / "two.csv").read_text() and ",*," not in (tmp_path / "two.csv").read_text()
    for words, message in ((["--coarsen", "Age=wide"], "'wide' is not a whole number"), (["--weight", "Age"], "write NAME=VALUE"),
                           (["--coarsen", "Age=edges:1,x"], "could not convert"), (["--coarsen", "City=1"], "has no hierarchy")):
        done = run(*words, output="three.csv")
        assert done.returncode == 2 and message in done.stderr and not (tmp_path / "three.csv").exists()
