"""Files that DuckDB cannot read: the file, the line, what to do, and never what stands there."""

import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_engines import nothing_left

import ldiv

pytest.importorskip("duckdb")
BAD = {  # the words that memory has for them
    "more fields": (b"a,s\n1,x\n1,y,SECRET\n", "line 3: 3 fields, but the header has 2"),
    "fewer fields": (b"a,s\n1,x\nSECRET\n", "line 3: 1 fields, but the header has 2"),
    "not utf-8": (b"a,s\n1,x\n\xe9SECRET,y\n", "line 3: not UTF-8 text"),
    "text after a quote": (b'a,s\n1,x\n"SECRET"2,y\n', "line 3: text after a closing quote"),
    "an open quote": (b'a,s\n1,x\n"SECRET,y\n', "line 3: unexpected end of data within quotes"),
}
ODD = {  # what memory reads
    "line ends": b"a,s\n1,x\r\n1,SECRET\n2,x\n",
    "other line ends": b"a,s\r\n1,x\n1,SECRET\r\n2,x\r\n",
    "a line too long": b"a,s\n1,x\n1," + b"SECRET" * 3_000_000 + b"\n",
}


def said(path, target, **asked):
    with pytest.raises(ldiv.InputError) as caught:
        ldiv.anonymize_files(path, target, ["a"], "s", 1, engine="duckdb", algorithm="tp", **asked)
    text = str(caught.value)
    assert str(path) in text and "SECRET" not in text and "strict_mode" not in text and "ignore_errors" not in text, text
    return text


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", BAD)
def test_a_malformed_line_is_named_as_memory_names_it(tmp_path, kind, packed):
    data, words = BAD[kind]
    path = tmp_path / ("part.csv.gz" if packed else "part.csv")
    path.write_bytes(gzip.compress(data) if packed else data)
    text = said(path, tmp_path / "out.csv")
    assert words.partition(":")[0] + ":" in text
    if not packed:
        assert words in text
        with pytest.raises(ldiv.InputError, match=words):
            ldiv.anonymize_files(path, tmp_path / "out.csv", ["a"], "s", 1, engine="memory", algorithm="tp")
    assert nothing_left(tmp_path, path.name)


@pytest.mark.parametrize("kind", ODD)
def test_what_memory_reads_and_duckdb_does_not(tmp_path, kind):
    (tmp_path / "part.csv").write_bytes(ODD[kind])
    assert "use engine='memory'" in said(tmp_path / "part.csv", tmp_path / "out.csv")
    assert ldiv.anonymize_files(tmp_path / "part.csv", tmp_path / "out.csv", ["a"], "s", 1, engine="memory", algorithm="tp")


def test_a_line_end_in_quotes_unlike_those_of_the_file(tmp_path):
    (tmp_path / "part.csv").write_bytes(b'"1\n2",x\r\n1,y\r\n2,x\r\n')
    assert "use engine='memory'" in said(tmp_path / "part.csv", tmp_path / "out.csv", names=["a", "s"])


def test_the_damaged_one_of_several_parquet_files_is_named(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    for k in range(3):
        pq.write_table(
            pa.table({"a": [f"w{x % 50}" for x in range(5000)], "s": [f"x{x % 7}" for x in range(5000)]}), folder / f"{k}.parquet", compression="none"
        )
    data = bytearray((folder / "1.parquet").read_bytes())
    data[600:900] = b"\xff" * 300
    (folder / "1.parquet").write_bytes(data)
    with pytest.raises(ldiv.InputError, match=r"parts/1\.parquet: not a readable Parquet file: .*nothing was written"):
        ldiv.anonymize_files(folder, tmp_path / "out.parquet", ["a"], "s", 2, engine="duckdb", algorithm="tp")


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_column_without_a_name_is_refused_in_words(tmp_path, suffix):
    path = tmp_path / f"part{suffix}"
    if suffix == ".csv":
        path.write_text(",a,s\n0,1,x\n1,1,y\n")
    else:
        pq.write_table(pa.table({"": [0, 1], "a": [1, 1], "s": ["x", "y"]}), path)
    with pytest.raises(ldiv.InputError, match="a column has no name, such as pandas writes above its index: .*engine='memory'"):
        ldiv.anonymize_files(path, tmp_path / "out.parquet", ["a"], "s", 2, engine="duckdb", algorithm="tp")
    assert ldiv.anonymize_files(path, tmp_path / "out.parquet", ["a"], "s", 2, engine="memory", algorithm="tp")
