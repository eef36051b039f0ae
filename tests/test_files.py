"""Files: what is read is what is there, what is written differs only where the table does, and what cannot be read is named by line."""

import bz2
import csv
import gzip
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldiv
from ldiv.errors import InputError
from ldiv.table.files import dialect, format_of_name, formula_columns, open_table, read_table, require_distinct_missing, write_table
from ldiv.table.files.numbers import decide

ROWS = 'Age,Sex,Ill\n30,F,flu\n30,F,cold\n40,M,flu\n50,M,"cough, dry"\n'
TEXT = st.text(st.sampled_from(list("ab0 ,;\t\"'\n\r=é")), max_size=5)


def opened(tmp_path_factory, body, **options):
    path = tmp_path_factory.mktemp("files") / "in.csv"
    path.write_bytes(body)
    return open_table([path], **options)


def written(folder, table, **options):
    write_table(table, folder / "out.csv", **options)
    return (folder / "out.csv").read_bytes()


@given(st.data())
def test_a_csv_file_comes_back_byte_for_byte(tmp_path_factory, data):
    width = data.draw(st.integers(1, 4))
    rows = data.draw(st.lists(st.lists(TEXT, min_size=width, max_size=width), max_size=6))
    delimiter, end = data.draw(st.sampled_from(",;\t|")), data.draw(st.sampled_from(["\n", "\r\n", "\r"]))
    bom, last = data.draw(st.booleans()), data.draw(st.booleans())
    quoted = data.draw(st.lists(st.booleans(), min_size=width, max_size=width))

    def field(text, column):
        # quotes follow a column and a value, as every writer's do
        must = any(letter in text for letter in '"\r\n' + delimiter) or (width == 1 and not text)
        return '"' + text.replace('"', '""') + '"' if must or quoted[column] != (text == "0") else text

    lines = [delimiter.join(field(text, k) for k, text in enumerate(row)) for row in [[f"c{k}" for k in range(width)], *rows]]
    body = (end.join(lines) + (end if last else "")).encode()
    body = b"\xef\xbb\xbf" + body if bom else body
    found = opened(tmp_path_factory, body, delimiter=delimiter, na="")
    assert [[text or "" for text in row.values()] for row in found.table.to_pylist()] == rows
    assert written(tmp_path_factory.getbasetemp(), found.table, dialect=found.dialect) == body


@given(st.lists(st.lists(TEXT, min_size=2, max_size=2), max_size=6), st.sampled_from([1, 3, 7, 1 << 24]))
def test_blocks_of_any_size_give_the_same(tmp_path_factory, rows, block):
    stream = io.StringIO(newline="")
    csv.writer(stream, quoting=csv.QUOTE_ALL).writerows([["a", "b"], *rows])
    body = stream.getvalue().encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dialect, "BLOCK", block)
        found = opened(tmp_path_factory, body)
        assert written(tmp_path_factory.getbasetemp(), found.table, dialect=found.dialect) == body
        data = np.frombuffer(body + b"x\r\n", dtype=np.uint8)
        assert "1 fields, but the header has 2" in dialect.wrong_width(data, ",", 2, "f")
        assert f"line {len((body + b'x').splitlines())}:" in dialect.wrong_width(data, ",", 2, "f") or b"\r" in body.replace(b"\r\n", b"")


@given(st.lists(st.sampled_from(['"', ",", "a", "\n", '""', '"a"']), max_size=12))
def test_quotes_are_in_order_or_refused(tmp_path_factory, parts):
    body = "h,i\n" + "".join(parts)
    try:
        expected = list(csv.reader(io.StringIO(body, newline=""), strict=True))
        strict = all('"' not in piece for piece in unquoted(body))
    except csv.Error:
        strict = False
    try:
        table = opened(tmp_path_factory, body.encode()).table
    except InputError as error:
        assert not strict or any(len(row) not in (0, 2) for row in expected), error
        return
    assert strict and [list(row.values()) for row in table.to_pylist()] == [row for row in expected[1:] if row]


def unquoted(body):
    """The text outside fields in quotes, by a state machine: a quote may open only where a field begins."""
    piece, inside, start = "", False, True
    k = 0
    while k < len(body):
        letter = body[k]
        if inside:
            if letter == '"':
                if body[k + 1 : k + 2] == '"':
                    k += 1
                else:
                    inside = False
        elif letter == '"' and start:
            inside = True
        else:
            piece += letter
        start = not inside and letter in ",\n"
        k += 1
    return [piece]


@pytest.mark.parametrize(
    "body, message",
    [
        ('a,b\n1,2\n"x\ny",3\n1\n', "line 5: 1 fields, but the header has 2"),
        ("a,b\n1,2\n1,2,3\n", "line 3: 3 fields, but the header has 2"),
        ("a,b\n1,2\n1,2,3", "line 3: 3 fields, but the header has 2"),
        ("a,b\r1,2\r\r1,2,3\r", "line 4: 3 fields, but the header has 2"),
        ("a,b\r\n\r\n1,2\r\n1\r\n", "line 4: 1 fields, but the header has 2"),
        ('a,b\n1,2\n"1,3\n', "line 3: unexpected end of data"),
        ('a,b\n"tall" one,2\n', "line 2: text after a closing quote"),
        ('a,b\n1,"a \\"b\\" c"\n', "line 2: text after a closing quote"),
        ('a,b\n1,2\n6" pipe,2\n', "line 3: a quote within a field"),
        ('"a"x,b\n1,2\n', "line 1: text after a closing quote"),
        (b"a,b\n1,2\n\xff,3\n", "line 3: not UTF-8"),
        (b"a\xff,b\n1,2\n", "line 1: not UTF-8"),
        ("a,b\n1,2\n".encode("utf-16"), "line 1: not UTF-8"),
        ("a,a\n1,2\n", "'a' stands twice"),
        ("", "empty, not even a header line"),
        ("\na,b\n", "line 1: empty"),
    ],
)
def test_malformed_csv_is_named_by_line(tmp_path, body, message):
    body = body if isinstance(body, bytes) else body.encode()
    for name, pack in (("bad.csv", bytes), ("bad.csv.gz", gzip.compress), ("bad.csv.bz2", bz2.compress)):
        path = tmp_path / name
        path.write_bytes(pack(body))
        with pytest.raises(InputError, match=message):
            read_table(path)


def test_long_lines(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("h" * 200_000 + ",b\n" + "x" * 3_000_000 + ",1\n")
    assert [len(text) for text in read_table(path).to_pylist()[0].values()] == [3_000_000, 1]


def test_csv_text_survives(tmp_path):
    path = tmp_path / "in.csv"
    body = 'zip,name,s\n007,"a ""b""\nc",1.50\n007, sp ace ,NA\n,ünï,1e5\n'
    path.write_bytes(b"\xef\xbb\xbf" + body.encode())
    table = read_table(path)
    assert table.column("zip").to_pylist() == ["007", "007", ""]
    assert read_table(path, na="NA").column("s").to_pylist() == ["1.50", None, "1e5"]
    out = tmp_path / "out.csv"
    write_table(table, out)
    assert out.read_text() == body


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".CSV.GZ", ".csv.zst", ".tsv.bz2", ".gz", ".parquet", ".PQ", ".xlsx"])
def test_every_ending_reads_what_it_writes(tmp_path, ending):
    if ending == ".xlsx":
        pytest.importorskip("openpyxl")
    table = pa.table({"a": ["1", "=x", None], "b": ["tab\there", "y", "é\nz"]})
    path = tmp_path / f"file{ending}"
    write_table(table, path)
    assert read_table(path, na="").to_pydict() == table.to_pydict()
    with pytest.raises(InputError, match=r"holds|its name says|not a readable Parquet"):
        other = tmp_path / ("file.csv" if ending not in (".csv", ".tsv") else "file.parquet")
        other.write_bytes(path.read_bytes())
        read_table(other)


@pytest.mark.parametrize("name", ["x.json", "x", "x.csv.zip", "x.parquet.gz", "x.json.gz", "x.xls", "csv", ".csv"])
def test_other_endings_are_refused_with_the_list(tmp_path, name):
    (tmp_path / name).write_text(ROWS)
    with pytest.raises(InputError, match=r"endings are \.csv, \.tsv"):
        read_table(tmp_path / name)
    with pytest.raises(InputError, match=r"endings are \.csv, \.tsv"):
        write_table(pa.table({"a": ["1"]}), tmp_path / f"new{name}" if name != ".csv" else tmp_path / name)
    assert not (tmp_path / f"new{name}").exists()


def test_damaged_files(tmp_path):
    whole = gzip.compress(ROWS.encode() * 50)
    rng = np.random.default_rng(1)
    write_table(pa.table({"a": ["x"] * 50}), tmp_path / "good.parquet")
    for name, body in (("a.csv.gz", whole), ("a.csv.bz2", bz2.compress(ROWS.encode() * 50)), ("a.parquet", (tmp_path / "good.parquet").read_bytes())):
        for _ in range(40):
            broken = bytearray(body[: rng.integers(1, len(body))] if rng.random() < 0.5 else body)
            broken[rng.integers(len(broken))] ^= 1 << rng.integers(8)
            (tmp_path / name).write_bytes(broken)
            try:
                read_table(tmp_path / name)
            except InputError as error:
                assert name in str(error)


def test_packed_files_have_a_limit(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    assert openpyxl
    table = pa.table({"a": ["x" * 100] * 10_000})
    for ending in (".csv.gz", ".csv.bz2", ".csv.zst", ".xlsx", ".parquet"):
        path = tmp_path / f"bomb{ending}"
        write_table(table if ending != ".parquet" else pa.table({"a": [str(k) * 30 for k in range(10_000)]}), path)
        with pytest.raises(InputError, match="more than the 100,000"):
            read_table(path, unpack_limit=100_000)
        assert read_table(path).num_rows == 10_000
    pq.write_table(pa.table({"a": np.zeros(10_000_000, dtype=np.int8)}), tmp_path / "flat.parquet")  # a few bytes, run-length coded
    with pytest.raises(InputError, match="more than the 1,000,000"):
        read_table(tmp_path / "flat.parquet", unpack_limit=1_000_000)


def test_folders_and_patterns_of_parquet(tmp_path):
    parts = tmp_path / "parts"
    for year in (2020, 2021):
        (parts / f"year={year}").mkdir(parents=True)
        for k in range(2):
            pq.write_table(pa.table({"a": [year + k]}), parts / f"year={year}" / f"part-{k}.parquet")
    (parts / "_SUCCESS").write_text("")
    (parts / ".part-0.parquet.crc").write_text("crc")
    assert read_table(parts).to_pydict() == {"a": [2020, 2021, 2021, 2022], "year": ["2020", "2020", "2021", "2021"]}
    assert read_table(f"{parts}/*/part-1.parquet").column("a").to_pylist() == [2021, 2022]
    pq.write_table(pa.table({"a": ["x"]}), parts / "year=2021" / "part-9.parquet")
    with pytest.raises(InputError, match="column 'a' is string"):
        read_table(parts)
    (tmp_path / "none").mkdir()
    for name, message in (("none", "without Parquet"), ("no*.parquet", "no file matches"), ("nothing.csv", "no file")):
        with pytest.raises(InputError, match=message):
            read_table(tmp_path / name)


def test_workbooks(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    table = pa.table({"n": [1, 2, None], "x": [0.5, 1.5, 2.5], "t": ["=1+1", "007", ""], "d": pa.array([0, 1, 2], pa.date32())})
    write_table(table, tmp_path / "a.xlsx")
    back = read_table(tmp_path / "a.xlsx")
    assert back.column("n").to_pylist() == [1, 2, None] and back.column("x").to_pylist() == [0.5, 1.5, 2.5]
    assert back.column("t").to_pylist()[:2] == ["=1+1", "007"]
    assert all(cell.data_type == "s" for cell in openpyxl.load_workbook(tmp_path / "a.xlsx").active["C"][:3])
    book = openpyxl.Workbook()
    book.active.append(["a", "b"])
    book.active.append([1, "=A2+1"])
    book.create_sheet("more")
    book.save(tmp_path / "f.xlsx")
    with pytest.raises(InputError, match="cell B2 is a formula without a stored value"):
        read_table(tmp_path / "f.xlsx")
    with pytest.raises(InputError, match="cannot hold"):
        write_table(pa.table({"a": ["\x01"]}), tmp_path / "g.xlsx")
    assert not (tmp_path / "g.xlsx").exists()


def test_formulas_are_found():
    texts = ["=1", "+cmd", "-x", "@a", "\tq", "-5", "+5.5e3", "-", "x=1", "", None]
    assert formula_columns(pa.table({"a": texts, "b": ["1"] * len(texts), "n": range(len(texts))})) == {"a": 5}


def test_missing_and_its_text_are_not_mixed():
    table = pa.table({"a": ["", None], "b": ["x", None]})
    require_distinct_missing(table, ["b"], "")
    require_distinct_missing(table, ["a"], "NA")
    with pytest.raises(InputError, match="column 'a'"):
        require_distinct_missing(table, ["a", "b"], "")


FLOAT = st.floats(allow_nan=False, allow_infinity=False)
NUMBER = st.one_of(st.integers(-50, 50).map(str), FLOAT.map(str), st.sampled_from(["007", "1.50", "+3", "", "x"]))


@given(st.lists(NUMBER, min_size=1, max_size=8))
def test_numbers_are_those_that_pandas_finds(texts):
    """Where pandas reads numbers of one spelling each, the codes are those of its numbers; else the column stays text."""
    texts = list(dict.fromkeys(texts))
    column = pa.array([text or None for text in texts])
    kind = decide(column, "a")
    series = pd.read_csv(io.StringIO("a\n" + "\n".join(text or '""' for text in texts) + "\n"))["a"]
    read = pd.api.types.is_numeric_dtype(series) and series.notna().any() and not series.dropna().duplicated().any()
    assert (kind.domain is not None) == read, (texts, kind)
    if read:
        whole = pd.api.types.is_integer_dtype(series) or all(text.lstrip("+-").isdigit() for text in texts if text)
        assert kind.domain.ordered and kind.kind == ("integer" if whole else "number")
        data = ldiv.Microdata.from_frame(pa.table({"a": column, "s": texts}), ["a"], "s", domains={"a": kind.domain})
        again = ldiv.Microdata.from_frame(pd.DataFrame({"a": series, "s": texts}), ["a"], "s")
        assert data.codes.ravel().tolist() == again.codes.ravel().tolist() and data.domains[0].ordered == again.domains[0].ordered


def test_formats_by_name():
    assert str(format_of_name("a.tsv.zst")) == "TSV packed with zstd" and format_of_name("a.tsv").delimiter == "\t"
