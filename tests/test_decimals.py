"""Numbers in files: decimal commas are read as Python's readers would and come back as they were, and floats of few bits keep their digits everywhere."""

import io
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command import run
from hypothesis import given
from hypothesis import strategies as st

import ldiv
from ldiv.privacy.verify.cells import holds
from ldiv.table.files import read_table
from ldiv.table.files.numbers import decide
from ldiv.table.text import alike, text_of

NUMBER = st.one_of(
    st.integers(-50, 50).map(str),
    st.decimals(-100, 100, places=2).map(lambda x: str(x).replace(".", ",")),
    st.sampled_from(["007", "1,50", "+3", ",5", "5,", "1.5", "1.234,5", "1,2,3", "", "x"]),
)


@given(st.lists(NUMBER, min_size=1, max_size=8))
def test_decimal_commas_are_those_that_pandas_finds(texts):
    texts = list(dict.fromkeys(texts))
    column = pa.array([text or None for text in texts])
    kind = decide(column, "a", ",")
    series = pd.read_csv(io.StringIO("a;b\n" + "".join(f"{text};\n" for text in texts)), sep=";", decimal=",")["a"]
    read = pd.api.types.is_numeric_dtype(series) and series.notna().any() and not series.dropna().duplicated().any()
    assert (kind.domain is not None) == read, (texts, kind)
    if read:
        data = ldiv.Microdata.from_frame(pa.table({"a": column, "s": texts}), ["a"], "s", domains={"a": kind.domain})
        again = ldiv.Microdata.from_frame(pd.DataFrame({"a": series, "s": texts}), ["a"], "s")
        assert data.codes.ravel().tolist() == again.codes.ravel().tolist()


@given(
    st.lists(st.decimals(-50, 50, places=1), min_size=1, max_size=9, unique=True),
    st.sampled_from([{"width": 2.5}, {"quantiles": 3}, {"edges": [-1.5, 0.5, 7]}]),
)
def test_intervals_with_commas_are_those_with_points(values, how):
    """Letter by letter, and each holds its value for whoever verifies; no interval of another value does that the one with points does not."""
    rows = np.ones(len(values), dtype=np.int64)
    points = ldiv.Bins(**how).texts([str(x) for x in values], rows, "a")
    commas = ldiv.Bins(**how, decimal=",").texts([str(x).replace(".", ",") for x in values], rows, "a")
    assert commas == [text.replace(", ", "; ").replace(".", ",") for text in points]
    for text, pointed in zip(commas, points, strict=True):
        for value in values:
            assert holds(text, str(value).replace(".", ","), {}, None) == holds(pointed, str(value), {}, None)
        members = ", ".join(dict.fromkeys([text, *commas]))
        assert holds("{" + members + "}", str(values[0]).replace(".", ","), {}, None)
    assert all(holds(text, str(value).replace(".", ","), {}, None) for text, value in zip(commas, values, strict=True))


def test_a_decimal_comma_is_one_more_way_to_write_a_number():
    assert alike("12,50") == alike("12,5") == alike("12.5") == alike(12.5) != alike("125")
    assert alike("1,2,3") == ("text", "1,2,3") and alike("1.234,5")[0] == "text"
    with pytest.raises(ldiv.InputError, match="decimal comma: --decimal , on the command line"):
        ldiv.coarsen({"w": ["12,5"]}, {"w": ldiv.Bins(width=1)})
    with pytest.raises(ldiv.InputError, match="'12.5' is not a number"):
        ldiv.coarsen({"w": ["12.5"]}, {"w": ldiv.Bins(width=1, decimal=",")})
    with pytest.raises(ldiv.InputError, match="decimal of bins"):
        ldiv.Bins(width=1, decimal=";")


def clinic(rows=300, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "Alter": rng.integers(20, 24, rows),
            "Gewicht": rng.integers(95, 105, rows) / 10,
            "Fall": [f"{k}" for k in range(rows)],
            "Dosis": rng.integers(95, 105, rows) / 10,
        }
    )


ASK = ("-q", "Alter", "-q", "Gewicht", "-s", "Dosis")
GERMAN = ("--delimiter", ";", "--decimal", ",")


@pytest.fixture
def clinics(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    clinic().to_csv("points.csv", index=False)
    clinic().to_csv("commas.csv", index=False, sep=";", decimal=",")


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("more", [(), ("-a", "mondrian"), ("--coarsen", "Gewicht=width:2.5"), ("--hierarchy", "Gewicht=width:0.5,1")])
def test_the_release_is_that_of_points(clinics, more, engine):
    ask = (*ASK, "-l", 3, "--seed", 1, "--engine", engine, *more)
    assert run("anonymize", "points.csv", *ask, "-o", "p.csv").code == 0
    done = run("anonymize", "commas.csv", *ask, *GERMAN, "-o", "c.csv")
    assert done.code == 0, done.err
    assert "columns read with decimal commas as Alter: integer" in done.err and "Dosis: number" in done.err
    plain, commas = read_table("p.csv"), read_table("c.csv", delimiter=";")
    named = [name for name in plain.column_names if engine == "memory" or name != "Fall"]  # an engine draws by the text of the row
    shown = {
        "p": sorted(
            zip(*([str(x).replace(", ", "; ").replace(".", ",") for x in column.to_pylist()] for column in plain.select(named).columns), strict=True)
        ),
        "c": sorted(zip(*(column.to_pylist() for column in commas.select(named).columns), strict=True)),
    }
    assert shown["p"] == shown["c"]
    trees = more if more and more[0] == "--hierarchy" else ()
    verified = run("verify", "commas.csv", "c.csv", *ASK, "-l", 3, *GERMAN, *trees, "--engine", engine)
    assert verified.code == 0, verified.out
    assert run("check", "c.csv", *ASK, "-l", 3, *GERMAN).code == 0


def test_every_command_takes_it(clinics):
    for command, more in {
        "check": ("-l", 1),
        "audit": (),
        "compare": ("-l", 2, "-a", "tp", "--no-memory"),
        "report": ("-l", 2, "-o", "r.html"),
    }.items():
        both = [run(command, name, *ASK, *more, *how) for name, how in (("points.csv", ()), ("commas.csv", GERMAN))]
        assert [done.code for done in both] == [0, 0], both
        if command == "audit":  # t-closeness goes by the order of numbers
            assert both[0].out == both[1].out and "t = " in both[0].out
            assert run(command, "commas.csv", *ASK, *GERMAN[:2]).out != both[0].out
    assert run("max-l", "commas.csv", "-s", "Dosis", *GERMAN).out == run("max-l", "points.csv", "-s", "Dosis").out
    assert run("anonymize", "commas.csv", *ASK, "-l", 2, *GERMAN, "-o", "c.csv", "--certificate", "c.npz").code == 0
    assert run("certify", "commas.csv", "c.npz", "--delimiter", ";", "--release", "c.csv").code == 0  # the certificate knows
    pq.write_table(pa.table({"Alter": [1, 1], "Gewicht": [1, 1], "Dosis": [0.5, 1.5]}), "in.parquet")
    for command in ("anonymize", "check", "audit", "compare", "report"):
        more = (
            ()
            if command == "audit"
            else ("-l", 2, *(() if command in ("check", "compare") else ("-o", "o.csv" if command == "anonymize" else "o.html")))
        )
        assert "--decimal is for text files" in run(command, "in.parquet", *ASK, *more, "--decimal", ",").err
    assert "must be '.' or ','" in run("check", "commas.csv", *ASK, "-l", 2, "--delimiter", ";", "--decimal", ";").err
    done = run("audit", "commas.csv", *ASK, "--delimiter", ";")
    assert "--decimal , makes it one" in done.err
    assert "--decimal , makes it one" in run("audit", "commas.csv", *ASK, "--delimiter", ";", "--numeric", "Gewicht").err
    done = ldiv.anonymize_files(
        "commas.csv", "f.csv", ["Gewicht"], "Dosis", 2, delimiter=";", decimal=",", coarsen={"Gewicht": ldiv.Bins(width=1, decimal=",")}
    )
    assert done
    with pytest.raises(ldiv.InputError, match="decimal"):
        ldiv.anonymize_files("commas.csv", "g.csv", ["Gewicht"], "Dosis", 2, delimiter=";", decimal="x")


FLOATS = [0.1, 0.1, 36.6, 36.6, 7.7, 1e-7, 3.3e8, 36.6, None, None]


def floats(kind):
    values = np.array([np.nan if x is None else x for x in FLOATS], dtype=kind)
    return pa.array([None if x is None else value for x, value in zip(FLOATS, values, strict=True)], pa.from_numpy_dtype(values.dtype))


@pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "parquet"])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_floats_have_their_digits_in_every_file(tmp_path, monkeypatch, kind, ending):
    """As a quasi-identifier that is starred, as the sensitive column and beside them; what was written is found true."""
    monkeypatch.chdir(tmp_path)
    table = pa.table({"q": floats(kind), "s": pa.array(np.arange(10) / 10, pa.from_numpy_dtype(kind)), "o": floats(kind), "d": pa.array(["x"] * 10)})
    pq.write_table(table, "in.parquet")
    ask = ("-q", "q", "-s", "s", "-l", 2)
    done = run("anonymize", "in.parquet", *ask, "-o", f"out.{ending}")
    assert done.code == 0, done.err
    out = read_table(f"out.{ending}", na="" if ending in ("csv", "tsv") else None)
    texts = {"0.1", "36.6", "7.7", "1e-07", "330000000.0", "*"}
    assert set(out["q"].drop_null().to_pylist()) <= texts and "36.6" in out["q"].to_pylist()
    for name, known in (("o", texts), ("s", {f"{k / 10}" for k in range(10)})):
        values = out[name].drop_null().to_pylist()
        if ending == "parquet":
            assert out[name].type == table[name].type
            values = [kind(x) for x in values]
        assert {text_of(x) for x in values} <= known
    assert run("verify", "in.parquet", f"out.{ending}", *ask).code == 0


@pytest.mark.parametrize("library", ["numpy", "pandas", "Float32", "arrow", "polars", "pyarrow", "duckdb", "ibis"])
def test_floats_have_their_digits_in_every_library(library):
    values, secret = np.array([0.1, 0.1, 36.6, 36.6, 7.7, 1e-7], dtype=np.float32), list("ababcd")
    table = pa.table({"q": values, "s": secret})
    if library == "numpy":
        frame = {"q": values, "s": np.array(secret)}
    elif library in ("polars", "duckdb", "ibis"):
        module = pytest.importorskip(library)
        frame = {"polars": "from_arrow", "duckdb": "from_arrow", "ibis": "memtable"}[library]
        frame = getattr(module, frame)(table)
    else:
        dtype = {"pandas": "float32", "Float32": "Float32", "arrow": pd.ArrowDtype(pa.float32()), "pyarrow": None}[library]
        frame = table if library == "pyarrow" else pd.DataFrame({"q": pd.array(values, dtype=dtype), "s": secret})
    out = ldiv.anonymize(frame, ["q"], "s", 2).frame
    column = out["q"] if library != "duckdb" else out.to_arrow_table()["q"]
    column = out.to_pyarrow()["q"] if library == "ibis" else column
    shown = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
    assert sorted(shown) == ["*", "*", "0.1", "0.1", "36.6", "36.6"]


def test_a_workbook_holds_all_digits_or_texts(tmp_path, monkeypatch):
    """openpyxl would write 16 digits, and nothing of what is not finite; a spreadsheet's whole numbers end at 2**53."""
    monkeypatch.chdir(tmp_path)
    columns = {
        "sum": ([0.1 + 0.2, 1 / 3, 1e300, 5e-324], float),
        "long": ([2**60 + k for k in range(4)], str),
        "whole": ([2**53 - k for k in range(4)], int),
        "not finite": ([1.5, float("inf"), -float("inf"), 2.0], str),
        "money": ([Decimal("1.10"), Decimal("2.20"), Decimal("3.30"), Decimal("4.40")], str),
        "half": (np.array([0.1, 0.2, 0.3, 0.4], dtype=np.float16), float),
    }
    pq.write_table(pa.table({"q": [1] * 4, "s": list("abcd"), **{name: pa.array(values) for name, (values, _) in columns.items()}}), "in.parquet")
    done = run("anonymize", "in.parquet", "-q", "q", "-s", "s", "-l", 4, "-o", "out.xlsx", "--keep-order")
    assert done.code == 0, done.err
    out = read_table("out.xlsx")
    for name, (values, kind) in columns.items():
        found = out[name].to_pylist()
        assert {type(x) for x in found} == {kind}
        wanted = [str(x) for x in values] if kind is str else [float(str(x)) for x in values] if name == "half" else list(values)
        assert found == wanted and (kind is not float or [Fraction(a) == Fraction(b) for a, b in zip(found, wanted, strict=True)] == [True] * 4)
    assert run("verify", "in.parquet", "out.xlsx", "-q", "q", "-s", "s", "-l", 4).code == 0


def test_rows_in_another_order_are_found_whatever_their_types(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    moments = pa.array(np.array(["2020-01-01T10:00:00", "1999-12-31T23:59:59"] * 3, dtype="datetime64[ns]"))
    spans = pa.array(np.array([90, 3600] * 3, dtype="timedelta64[s]"))
    zero, half = pa.array([0.0, -0.0, 1.0] * 2), pa.array(np.array([0.1] * 6, dtype=np.float16))
    pq.write_table(
        pa.table({"q": [1, 2] * 3, "s": list("aabbcc"), "t": moments, "d": spans, "z": zero, "h": half, "b": [True, False] * 3}), "in.parquet"
    )
    ask = ("-q", "q", "-s", "s", "-l", 3)
    for ending in ("csv", "parquet"):
        assert run("anonymize", "in.parquet", *ask, "-o", f"out.{ending}", "--seed", 3).code == 0
        done = run("verify", "in.parquet", f"out.{ending}", *ask)
        assert done.code == 0 and "in another order" in done.out, done.out
