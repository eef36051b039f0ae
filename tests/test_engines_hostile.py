"""Names, values and files that an engine could stumble over: the same release as in memory, or a refusal by name, and nothing left behind."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_room import SmallRoom
from test_engines import ENGINES, nothing_left, people, written

import ldiv
from ldiv.engines import duckdb, room, spark

engines = pytest.mark.parametrize("engine", ENGINES[1:])
pushed = pytest.mark.parametrize("where", ["here", "there"])  # whether combinations fit this process
OWN = [
    "rowid",
    "shown",
    "mask",
    "stars",
    "low",
    "high",
    "salt",
    "n",
    "s",
    "q0",
    "form",
    "cell",
    "own",
    "code",
    "t",
    "p",
    "kept",
    "bucket",
    "inside",
    "before",
]
ODD = ['a"b', "it's", "x`y", "{z}", "{0}", "a,b", " ", "%s", "select", "ldiv", "combinations", "count", "x\ny", "é"]


@pytest.fixture(autouse=True)
def session_of_spark(request):
    if getattr(request.node, "callspec", None) is not None and request.node.callspec.params.get("engine") == "spark":
        request.getfixturevalue("spark")


@pytest.fixture
def room_of(monkeypatch):
    """Where combinations are."""

    def place(where):
        for module in (duckdb, spark):
            monkeypatch.setattr(module, "Room", SmallRoom if where == "there" else room.Room)

    return place


def same(tmp_path, table, qi, sensitive, engine="duckdb", l=3, **asked):
    alone = ldiv.anonymize(table, qi, sensitive, l, algorithm="cascade", order="random", **asked)
    source = written(table, tmp_path / "source", 2)
    done = ldiv.anonymize_files(source, tmp_path / "out.parquet", qi, sensitive, l, engine=engine, algorithm="cascade", **asked)
    assert (done.release.stars, done.verdict.groups) == (alone.stars, alone.publication.verdict.groups)
    check = ldiv.verify(table, pq.read_table(tmp_path / "out.parquet"), qi, sensitive, l)
    assert check, check


@pushed
@pytest.mark.parametrize("kind", ["packed", "columns"])
@pytest.mark.parametrize("first", range(0, len(OWN + ODD), 6))
def test_columns_may_have_any_name(tmp_path, first, kind, where, room_of):
    """Those that queries use themselves, and those that need quotes."""
    room_of(where)
    rng = np.random.default_rng(first)
    a, b, sensitive, *rest = [*OWN, *ODD, *OWN][first : first + 6]
    values = {a: rng.integers(0, 4, 300), b: rng.integers(0, 3, 300), sensitive: rng.integers(0, 9, 300)}
    if kind == "columns":
        values[a] = np.array([0.5, 1.5, np.nan])[rng.integers(0, 3, 300)]
    for at, name in enumerate(rest):
        values[name] = rng.integers(0, 99, 300) if at % 2 else [f"w{x}" for x in rng.integers(0, 50, 300)]
    same(tmp_path, pa.table(values), [a, b], sensitive)


def test_columns_may_have_any_name_on_spark(tmp_path, spark, monkeypatch):
    from ldiv.engines import spark as of_spark

    monkeypatch.setattr(of_spark, "TASK", 1)
    rng = np.random.default_rng(1)
    table = pa.table(
        {name: rng.integers(0, 3 if name in ("x`y", "bucket") else 9, 300) for name in ["x`y", "bucket", "it's", "inside", "n", "{z}", "salt"]}
    )
    same(tmp_path, table, ["x`y", "bucket"], "it's", "spark")


@pushed
@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_missing_empty_and_no_number(tmp_path, where, suffix, room_of):
    """In quasi-identifiers and in the sensitive column."""
    room_of(where)
    rng = np.random.default_rng(5)
    table = pa.table(
        {
            "a": pa.array(np.array(["x", "", "NULL", "nan"], dtype=object)[rng.integers(0, 4, 300)], mask=rng.random(300) < 0.1),
            "b": pa.array(np.array([1.5, np.nan, np.inf])[rng.integers(0, 3, 300)], mask=rng.random(300) < 0.1),
            "s": pa.array(np.array(["", "u", "v", "w", "x", "y", "nan"], dtype=object)[rng.integers(0, 7, 300)], mask=rng.random(300) < 0.05),
        }
    )
    asked = {"missing": {"sensitive": "value"}}
    alone = ldiv.anonymize(table, ["a", "b"], "s", 2, algorithm="cascade", order="random", **asked)
    source, target = written(table, tmp_path / "source"), tmp_path / f"out{suffix}"
    given = {"engine": "duckdb", "algorithm": "cascade", **asked}
    if suffix == ".csv":
        with pytest.raises(ldiv.InputError, match="column 'a' holds missing values and the text ''"):
            ldiv.anonymize_files(source, target, ["a", "b"], "s", 2, **given)
        given["na"] = "-"
    done = ldiv.anonymize_files(source, target, ["a", "b"], "s", 2, **given)
    assert (done.release.stars, done.verdict.groups) == (alone.stars, alone.publication.verdict.groups)


@pushed
def test_a_million_groups(tmp_path, where, room_of):
    room_of(where)
    n = 1_000_000
    table = pa.table({"a": np.arange(n) // 2, "b": np.arange(n) // 2 % 7, "s": np.arange(n) % 4})
    source = written(table, tmp_path / "source", 1)
    done = ldiv.anonymize_files(source, tmp_path / "out.parquet", ["a", "b"], "s", 2, engine="duckdb", algorithm="tp", memory_limit="4GB")
    assert (done.verdict.groups, done.release.stars, done.verdict.rows) == (n // 2, 0, n)


def test_a_target_that_is_a_link(tmp_path):
    """To a file: that file is replaced; to a folder: that folder is filled; into nowhere: made there."""
    source = written(people(), tmp_path / "source")
    about = (["age"], "ill", 3)
    (tmp_path / "real").mkdir()
    (tmp_path / "real.parquet").write_bytes(b"old")
    os.symlink(tmp_path / "real", tmp_path / "link")
    os.symlink(tmp_path / "real.parquet", tmp_path / "link.parquet")
    for target in ("link.parquet", "link/"):
        ldiv.anonymize_files(source, f"{tmp_path}/{target}", *about, engine="duckdb", algorithm="tp")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "link.parquet").is_symlink()
    assert pq.read_table(tmp_path / "real").num_rows == pq.read_table(tmp_path / "real.parquet").num_rows == 300
    assert nothing_left(tmp_path, "source", "real", "link", "real.parquet", "link.parquet")


def test_sources_that_hold_nothing(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ldiv.InputError, match="empty"):
        ldiv.anonymize_files(tmp_path / "empty", tmp_path / "out.parquet", ["age"], "ill", 3, engine="duckdb")
    pq.write_table(people().slice(0, 0), tmp_path / "none.parquet")
    done = ldiv.anonymize_files(tmp_path / "none.parquet", tmp_path / "out.parquet", ["age"], "ill", 3, engine="duckdb", algorithm="tp")
    assert done.verdict.rows == 0 and pq.read_table(tmp_path / "out.parquet").num_rows == 0


@pushed
def test_a_source_that_changes_between_counting_and_writing(tmp_path, where, room_of, monkeypatch):
    room_of(where)
    source = written(people(500), tmp_path / "source", 1)
    real = duckdb.DuckDB.write

    def later(self, plan, *given):
        other = people(500, 1)
        keep = os.stat(source / "part-0.parquet")
        pq.write_table(other, source / "part-0.parquet")
        os.utime(source / "part-0.parquet", ns=(keep.st_atime_ns, keep.st_mtime_ns))
        real(self, plan, *given)

    monkeypatch.setattr(duckdb.DuckDB, "write", later)
    monkeypatch.setattr("ldiv.engines.sources.Sources.stamp", lambda self: ())  # else the stamp tells
    with pytest.raises((ldiv.UnsafeReleaseError, ldiv.InputError)):
        ldiv.anonymize_files(source, tmp_path / "out.parquet", ["age", "town"], "ill", 3, engine="duckdb", algorithm="tp")
    assert nothing_left(tmp_path, "source")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("room", ["here", "there"])
@pytest.mark.parametrize("kind", ["texts", "numbers", "folder"])
def test_a_file_lists_no_word_that_it_does_not_show(tmp_path, room_of, engine, room, kind):
    """Values that are starred everywhere must not stand in a dictionary, nor leave a gap there: their place tells what they are."""
    if room == "there":
        if engine == "memory":
            pytest.skip("memory has all combinations")
        room_of(room)
    rng = np.random.default_rng(3)
    town = np.concatenate([rng.integers(0, 6, 300), 10 + 3 * np.arange(40)])  # forty towns with one row each
    towns = pa.array(town) if kind == "numbers" else pa.array([f"town {x:03d}" for x in town])
    table = pa.table(
        {"town": towns, "age": pa.array(rng.integers(20, 25, len(town))), "ill": pa.array([f"ill {x}" for x in np.arange(len(town)) % 5])}
    )
    source, target = written(table, tmp_path / "source"), tmp_path / ("out" if kind == "folder" else "out.parquet")
    ldiv.anonymize_files(source, target, ["town", "age"], "ill", 3, algorithm="tp", engine=engine)
    files = sorted(target.glob("*.parquet")) if kind == "folder" else [target]
    for file in files:
        names = [x.name for x in pq.ParquetFile(file).schema_arrow if pa.types.is_string(x.type) or pa.types.is_large_string(x.type)]
        released = pq.ParquetFile(file, read_dictionary=names).read()
        assert "town" in names and "*" in released.column("town").to_pylist()
        for name in names:
            shown = set(released.column(name).to_pylist())
            for part in released.column(name).chunks:
                assert set(part.dictionary.to_pylist()) <= shown, name
