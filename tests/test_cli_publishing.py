"""What leaves on the command line: the order of the rows, other columns, notes on files; and what does not verify does not leave."""

import json
import os
from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command import ASK_PATIENTS as ASK
from command import FAST, patients, run
from hypothesis import given, settings
from hypothesis import strategies as st

import ldiv
from ldiv.table.files import read_table


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    patients().to_csv("in.csv", index=False)
    return tmp_path


def lines(path):
    return path.read_text().splitlines()


# -- the order of the rows ---------------------------------------------------------------------------------------------


def test_rows_are_written_in_an_order_of_chance(folder):
    facts = []
    for name in ("a.csv", "b.csv", "kept.csv"):
        done = run("anonymize", "in.csv", *ASK, *FAST, "--json", "-o", name, *(("--keep-order",) if name == "kept.csv" else ()))
        assert done.code == 0 and ("in their order" in done.err) == (name == "kept.csv"), done.err
        facts.append(json.loads(done.out))
    a, b, kept = (lines(folder / name) for name in ("a.csv", "b.csv", "kept.csv"))
    source = lines(folder / "in.csv")
    assert a[0] == b[0] == kept[0] == source[0] and a != b
    ill = [[line.rsplit(",", 1)[1] for line in table] for table in (source, kept, a, b)]
    assert ill[0] == ill[1] and ill[2] != ill[0] != ill[3] and Counter(ill[2]) == Counter(ill[3]) == Counter(ill[0])
    assert facts[0] == facts[1] == facts[2]
    # Which of several alike rows is starred is drawn anew, but rows alike are alike: what is published is the same multiset.
    assert Counter(a) == Counter(b) == Counter(kept)


def test_where_a_row_stands_does_not_depend_on_where_it_stood(folder):
    patients().assign(row=range(600)).to_csv("in.csv", index=False)
    for seed in ("1", "2"):
        assert run("anonymize", "in.csv", *ASK, *FAST, "-o", "out.csv", "--seed", seed).code == 0
        row = pd.read_csv("out.csv")["row"]
        assert sorted(row) == list(range(600)) and abs(np.corrcoef(row, np.arange(600))[0, 1]) < 0.15  # standard deviation 0.04


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".tsv.gz"])
def test_a_seed_repeats_the_order(folder, ending):
    for name in "abc":
        assert run("anonymize", "in.csv", *ASK, *FAST, "--seed", "5" if name != "c" else "6", "-o", name + ending).code == 0
    a, b, c = ((folder / (name + ending)).read_bytes() for name in "abc")
    assert a == b != c


@pytest.mark.parametrize(
    "index",
    [
        pd.Index(np.arange(600) * 3 + 7),
        pd.Index(np.arange(600) + 5, name="pid"),
        pd.RangeIndex(600),
        pd.date_range("2020-01-01", periods=600, name="day"),
        pd.MultiIndex.from_arrays([np.arange(600) // 7, np.arange(600)], names=["house", None]),
    ],
    ids=["unnamed", "named", "range", "moments", "levels"],
)
def test_the_index_of_a_pandas_table_does_not_restore_the_order(folder, index):
    frame = patients().set_index(index).rename_axis(index.names)
    frame["note"] = np.arange(600) % 2
    frame.to_parquet("in.parquet")
    columns = [name for name in pq.read_schema("in.parquet").names if name not in frame.columns]
    for ending in (".parquet", ".csv"):
        done = run("anonymize", "in.parquet", *ASK, *FAST, "-o", "out" + ending)
        assert done.code == 0 and all(repr(name) in done.err for name in columns), done.err
        assert ("would restore the order" in done.err) == bool(columns)
        assert list(read_table("out" + ending).column_names) == ["age", "ward", "ill", "note"]
    out = pd.read_parquet("out.parquet")
    assert out.index.equals(pd.RangeIndex(600)) and out["ill"].tolist() != frame["ill"].tolist()
    assert run("anonymize", "in.parquet", *ASK, *FAST, "-o", "kept.parquet", "--keep-order").code == 0
    kept = pd.read_parquet("kept.parquet")
    assert kept["ill"].tolist() == frame["ill"].tolist()
    assert kept.index.tolist() == frame.index.tolist() and list(kept.columns) == list(frame.columns)
    assert list(kept.index.names) == list(frame.index.names)
    table = pq.read_table("in.parquet")
    assert ldiv.anonymize(table, ["age", "ward"], "ill", 3, effort="fast", order="random").frame.column_names == ["age", "ward", "ill", "note"]


def test_an_index_that_is_named_is_published(folder):
    patients().set_index("age").to_parquet("in.parquet")
    assert run("anonymize", "in.parquet", *ASK, *FAST, "-o", "out.parquet").code == 0
    assert set(pq.read_schema("out.parquet").names) == {"age", "ward", "ill"}
    assert run("verify", "in.parquet", "out.parquet", *ASK).code == 0
    assert run("anonymize", "in.parquet", *ASK, *FAST, "-o", "kept.parquet", "--keep-order").code == 0
    kept = pd.read_parquet("kept.parquet")
    assert kept.index.name == "age" and (kept.index == "*").any()


@pytest.mark.parametrize(
    "note", [b"", b"{", b"[]", b'{"index_columns": 3}', b"\xff", b'{"index_columns": ["gone", {"kind": "range"}], "columns": []}']
)
def test_notes_that_say_nothing_are_no_index(folder, note):
    table = pa.table(patients(60).to_dict("list"))
    pq.write_table(table.replace_schema_metadata({b"pandas": note}), "in.parquet")
    for more in ((), ("--keep-order",)):
        assert run("anonymize", "in.parquet", *ASK, *FAST, "-o", "out.parquet", *more).code == 0
        out = pq.read_table("out.parquet")
        assert out.schema.metadata is None and out.column_names == ["age", "ward", "ill"]


def test_a_kept_order_warns_where_it_tells(folder):
    frame = patients()
    frame.sort_values("age").to_csv("sorted.csv", index=False)
    done = run("anonymize", "sorted.csv", *ASK, *FAST, "-o", "kept.csv", "--keep-order")
    warned = [line for line in done.err.splitlines() if "above and below" in line]
    kept = pd.read_csv("kept.csv")
    star = (kept["age"] == "*").to_numpy()
    known = pd.to_numeric(kept["age"].where(~star))
    truth = frame.sort_values("age")["age"].to_numpy()
    right = int((star & (known.ffill() == known.bfill()).to_numpy() & (known.ffill().to_numpy() == truth)).sum())
    assert len(warned) == 1 and warned[0].startswith("warning: ") and f"in 'age', {right:,} of {star.sum():,} starred cells" in warned[0], done.err
    assert right > 20 and "--keep-order" in warned[0]
    for more in (("sorted.csv",), ("in.csv",), ("in.csv", "--keep-order")):
        done = run("anonymize", *more, *ASK, *FAST, "--seed", "1", "-o", "out.csv")
        assert done.code == 0 and "above and below" not in done.err and "order out" not in done.err
    assert run("anonymize", "sorted.csv", *ASK, *FAST, "--quiet", "--keep-order", "-o", "out.csv").err == ""


# -- other columns -----------------------------------------------------------------------------------------------------


def with_others(rows=600):
    frame = patients(rows)
    frame["decade"] = frame["age"] // 10
    frame["twin"] = frame["age"] + 1000
    frame["pid"] = [f"P{k:05d}" for k in range(rows)]
    frame["coin"] = np.random.default_rng(9).integers(0, 2, rows)
    return frame


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_untouched_columns_are_named_and_those_that_tell_flagged(folder, ending):
    frame = with_others()
    frame.to_csv("in.csv", index=False)
    frame.to_parquet("in.parquet")
    done = run("anonymize", "in" + ending, *ASK, *FAST, "-o", "out.csv")
    assert done.code == 0 and "published as they are: 'decade', 'twin', 'pid', 'coin'\n" in done.err
    warned = [line for line in done.err.splitlines() if line.startswith("warning: ")]
    assert [any(f"column '{name}' tells more" in line for line in warned) for name in ("twin", "pid", "coin")] == [True, True, False]
    out = pd.read_csv("out.csv")
    star = (out["age"] == "*").to_numpy()
    shown = out[~star].groupby("twin")["age"].first().astype(int)
    given_back = int(out[star]["twin"].isin(shown.index).sum())
    assert any(f"column 'twin' tells more: age: it gives back {given_back:,} of {star.sum():,} starred cells" in line for line in warned)
    assert any("column 'pid' tells more: 100 % of the rows are alone with their value" in line for line in warned)


@pytest.mark.parametrize(
    "more, left",
    [
        (("--drop", "pid", "--drop", "twin"), ["age", "ward", "ill", "decade", "coin"]),
        (("--only-named",), ["age", "ward", "ill"]),
        (("--only-named", "--drop", "pid"), ["age", "ward", "ill"]),
        (("--drop", "coin", "--keep-order"), ["age", "ward", "ill", "decade", "twin", "pid"]),
    ],
)
@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_columns_are_left_out(folder, more, left, ending):
    with_others().to_csv("in.csv", index=False)
    done = run("anonymize", "in.csv", *ASK, *FAST, "-o", "out" + ending, "--report", "r.html", *more)
    assert done.code == 0 and read_table("out" + ending).column_names == left, done.err
    assert all(f"'{name}'" not in done.err for name in ("pid", "coin", "twin", "decade") if name not in left)
    assert ("published as they are" in done.err) == (len(left) > 3)
    page = (folder / "r.html").read_text()
    assert f"<p>Left out: {', '.join(name for name in ('decade', 'twin', 'pid', 'coin') if name not in left)}.</p>" in page
    assert run("verify", "in.csv", "out" + ending, *ASK).code == 0


def test_columns_that_cannot_be_left_out(folder):
    for name, message in (("age", "'age' is a quasi-identifier"), ("ill", "'ill' is a quasi-identifier or sensitive"), ("x", "no column 'x'")):
        done = run("anonymize", "in.csv", *ASK, *FAST, "-o", "out.csv", "--drop", name)
        assert done.code == 2 and message in done.err and done.err.count("error: ") == 1 and os.listdir() == ["in.csv"]


def test_columns_are_left_out_of_a_file_without_a_header(folder):
    body = [",".join(map(str, row)) for row in with_others(90).itertuples(index=False)]
    (folder / "bare.csv").write_text("\n".join(body) + "\n")
    names = ("--names", "age,ward,ill,decade,twin,pid,coin")
    assert run("anonymize", "bare.csv", *names, *ASK, *FAST, "-o", "out.csv", "--drop", "decade", "--drop", "pid", "--keep-order").code == 0
    first = lines(folder / "out.csv")
    shown = [[line.split(",")[k] for k in (2, 4, 6)] for line in body]
    assert len(first) == 90 and [line.split(",")[2:] for line in first] == shown


# -- notes on a file ---------------------------------------------------------------------------------------------------

SECRET = "Smallplace"


def test_no_note_of_a_parquet_file_is_written_again(folder):
    frame = patients(200)
    frame.attrs = {"path": SECRET}
    frame.index = pd.Index([f"{SECRET} {k}" for k in range(200)], name="who")
    table = pa.Table.from_pandas(frame)
    fields = [field.with_metadata({"note": SECRET, "PARQUET:field_id": "9"}) for field in table.schema]
    notes = {
        **table.schema.metadata,
        b"comment": SECRET.encode(),
        b"org.apache.spark.sql.parquet.row.metadata": SECRET.encode(),
        b"huggingface": json.dumps({"info": {"features": SECRET}}).encode(),
    }
    pq.write_table(table.cast(pa.schema(fields, metadata=notes)), "in.parquet")
    assert SECRET.encode() in (folder / "in.parquet").read_bytes()
    for ending in (".parquet", ".csv", ".tsv.gz", ".xlsx"):
        if ending == ".xlsx":
            pytest.importorskip("openpyxl")
        assert run("anonymize", "in.parquet", *ASK, *FAST, "-o", "out" + ending, "--report", "r.html").code == 0
        written = read_table("out" + ending)
        assert "who" not in written.column_names and not any(SECRET in str(value) for column in written.columns for value in column.to_pylist())
        assert SECRET not in (folder / "r.html").read_text()
    assert SECRET.encode() not in (folder / "out.parquet").read_bytes()
    schema = pq.read_schema("out.parquet")
    assert schema.metadata is None and not any(set(field.metadata or {}) - {b"PARQUET:field_id"} for field in schema)
    assert pd.read_parquet("out.parquet").attrs == {}
    assert run("anonymize", "in.parquet", *ASK, *FAST, "-o", "kept.parquet", "--keep-order", "--drop", "who").code == 0
    assert SECRET.encode() not in (folder / "kept.parquet").read_bytes() and pq.read_schema("kept.parquet").metadata is None
    assert run("anonymize", "in.parquet", *ASK, *FAST, "-o", "kept.parquet", "--keep-order").code == 0
    note = json.loads(pq.read_schema("kept.parquet").metadata.pop(b"pandas"))
    assert list(pq.read_schema("kept.parquet").metadata) == [b"pandas"] and SECRET not in json.dumps(note)
    assert note["index_columns"] == ["who"] and [entry["name"] for entry in note["columns"]] == ["who"]


# -- what was written verifies, and what does not is withheld -----------------------------------------------------------

ENDINGS = [".csv", ".csv.gz", ".tsv", ".csv.zst", ".parquet", ".xlsx"]
VALUES = st.sampled_from(["a", "b", " b", "é", 'q"x', "x,y", "two\nlines", "1", "01", "1.0", "=1+1", "NULL"])


@given(data=st.data(), source=st.sampled_from(ENDINGS), target=st.sampled_from(ENDINGS))
@settings(max_examples=25)
def test_what_was_written_verifies(tmp_path_factory, data, source, target):
    if ".xlsx" in (source, target):
        pytest.importorskip("openpyxl")
    folder = tmp_path_factory.mktemp("verified")
    rows = data.draw(st.integers(4, 12))
    column = st.lists(VALUES, min_size=rows, max_size=rows)
    table = {name: data.draw(column) for name in ("q", "r", "other")} | {"s": [f"v{k % 4}" for k in range(rows)]}
    from ldiv.table.files import write_table

    write_table(pa.table(table), folder / f"in{source}")
    more = data.draw(st.sampled_from([(), ("--keep-order",), ("--drop", "other"), ("-a", "mondrian"), ("-a", "tp", "--only-named")]))
    ask = ("-q", "q", "-q", "r", "-s", "s", "-l", 2)
    done = run("anonymize", folder / f"in{source}", *ask, "-o", folder / f"out{target}", *more)
    assert done.code == 0 and "verified as written: yes" in done.err, done.err
    done = run("verify", folder / f"in{source}", folder / f"out{target}", *ask)
    assert done.code == 0 and done.out.startswith("yes (QI q, r; sensitive s): "), done
    assert Counter(table["s"]) == Counter(read_table(folder / f"out{target}")["s"].to_pylist())


def swapped(table, rows):
    order = np.arange(table.num_rows)
    order[list(rows)] = order[list(rows)[::-1]]
    return table.take(pa.array(order))


def changed(name, change):
    def tamper(table):
        values = table[name].to_pylist()
        change(values)
        return table.set_column(table.column_names.index(name), name, pa.array(values))

    return tamper


def another(values):
    at = next(k for k, value in enumerate(values) if value != "*")
    values[at] = "89" if values[at] != "89" else "88"


TAMPERED = {
    "one cell": (changed("age", another), "is published where the source has"),
    "one sensitive cell": (changed("ill", lambda values: values.__setitem__(0, "9")), "column 'ill'"),
    "one other cell": (changed("note", lambda values: values.__setitem__(3, "other")), "column 'note'"),
    "a row is missing": (lambda table: table.slice(1), "599 rows are published, the source has 600"),
    "a row is there twice": (lambda table: pa.concat_tables([table, table.slice(0, 1)]), "601 rows are published"),
    "the order is lost": (lambda table: table.take(pa.array(np.random.default_rng(0).permutation(600))), "is published where the source has"),
    "two rows change places": (lambda table: swapped(table, [0, 300]), "is published where the source has"),
    "a column is added": (lambda table: table.append_column("more", pa.array(["x"] * 600)), "column 'more' is not in the source"),
}


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("kind", TAMPERED)
def test_a_release_that_does_not_verify_leaves_nothing(folder, monkeypatch, kind, ending):
    from ldiv.table.files import write_table as honest

    tamper, message = TAMPERED[kind]
    frame = patients()
    frame["note"] = [f"n{k}" for k in range(600)]
    frame.astype(str).to_csv("in.csv", index=False)
    (folder / f"out{ending}").write_text("old")
    monkeypatch.setattr("ldiv.cli.anonymize.write_table", lambda table, path, **options: honest(tamper(table), path, **options))
    for more in ((), ("--keep-order",)):
        done = run("anonymize", "in.csv", *ASK, *FAST, "-o", f"out{ending}", "--report", "r.html", "--certificate", "c.npz", *more)
        assert done.code == 2 and "the written release is withheld, no (" in done.err and message in done.err, done.err
        assert sorted(os.listdir()) == ["in.csv", f"out{ending}"] and (folder / f"out{ending}").read_text() == "old"
