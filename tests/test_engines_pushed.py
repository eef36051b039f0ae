"""More combinations than the process holds: phase one in the engine, and the same release as in memory."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_room import SmallRoom
from test_engines import ENGINES, people, published, written

import ldiv
from ldiv._kernels.phase_one import phase_one
from ldiv.algorithms import pushed as of_part
from ldiv.engines import duckdb, pushed, spark
from ldiv.engines.pushed_verdict import judge_pushed

ALGORITHMS = ["tp", "tp+", "cascade"]
engines = pytest.mark.parametrize("engine", ENGINES[1:])


@pytest.fixture(autouse=True)
def session_of_spark(request):
    if getattr(request.node, "callspec", None) is not None and request.node.callspec.params.get("engine") == "spark":
        request.getfixturevalue("spark")


@pytest.fixture
def small(monkeypatch):
    """A process that holds no table's combinations, but all that phase one takes out."""

    for module in (duckdb, spark):
        monkeypatch.setattr(module, "Room", SmallRoom)
    monkeypatch.setattr(pushed, "FIRST", 1)
    return SmallRoom


def held(tmp_path, table, engine, qi, sensitive, l, suffix=".parquet", **asked):
    """The release with phase one in the engine, against that in memory."""
    source, target = written(table, tmp_path / "source"), tmp_path / f"out{suffix}"
    alone = ldiv.anonymize(table, qi, sensitive, l, order="random", **asked)
    done = ldiv.anonymize_files(source, target, qi, sensitive, l, engine=engine, **asked)
    assert done.release.info["elsewhere"] == table.num_rows - done.release.n
    assert (done.release.stars, done.release.phase) == (alone.stars, alone.phase)
    assert done.release.stars_by_attribute == alone.stars_by_attribute
    seen = done.verdict
    assert (seen.rows, seen.groups) == (table.num_rows, alone.publication.verdict.groups)
    assert (seen.max_l, seen.smallest) == (alone.publication.verdict.max_l, alone.publication.verdict.smallest)
    assert done.release.certificate.bound <= alone.certificate.bound
    if suffix == ".parquet":
        out = pq.read_table(target)
        assert published(out, qi, sensitive) == published(alone.frame, qi, sensitive)
        assert engine == "spark" or out.schema.types == pa.table(alone.frame).schema.types
    return alone, done


@engines
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_same_release_as_in_memory(tmp_path, engine, algorithm, small):
    alone, done = held(tmp_path, people(500), engine, ["age", "town"], "ill", 3, algorithm=algorithm)
    assert 0 < done.release.n < 500
    assert ldiv.verify(people(500), pq.read_table(tmp_path / "out.parquet"), ["age", "town"], "ill", 3)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("seed", range(8))
def test_the_same_release_whatever_phase_it_ends_in(tmp_path, algorithm, seed, small):
    """Small tables end in phase two, in which groups that are elsewhere at first are fetched by and by."""
    table = people(60 + 50 * seed, seed)
    qi = [["age", "town", "born"], ["age", "town"], ["town"], ["born", "age"]][seed % 4]
    l = 2 + seed // 4 % 2
    alone, done = held(tmp_path, table, "duckdb", qi, "ill", l, algorithm=algorithm)
    assert alone.phase <= 2


def test_phase_two_is_among_them():
    assert {ldiv.anonymize(people(60 + 50 * x, x), [["age", "town", "born"], ["age", "town"], ["town"], ["born", "age"]][x % 4], "ill", 2 + x // 4 % 2, algorithm="tp").phase for x in range(8)} == {1, 2}  # fmt: skip


@pytest.mark.parametrize(
    "asked",
    [
        {"k": 7},
        {"star": None, "star_is_null": True},
        {"star": "hidden"},
        {"weights": {"town": 7}, "algorithm": "cascade"},
        {"coarsen": {"age": ldiv.Bins(width=3)}},
        {"coarsen": {"age": ldiv.Bins(quantiles=3)}, "k": 9},
        {"coarsen": {"town": 1}, "hierarchies": {"town": {"big": ["Rome", "42"], "small": ["Ulm, Baden", 'the "Hague"', "", "O'Hara"]}}},
        {"missing": {"qi": "value", "sensitive": "value"}},
        {"domains": {"age": 80}, "algorithm": "tp+"},
        {"suffix": ".csv"},
        {"sensitive": None, "l": None, "k": 4},
    ],
    ids=lambda asked: ",".join(asked),
)
def test_whatever_is_asked(tmp_path, asked, small):
    table = people(400, 4)
    held(tmp_path, table, "duckdb", ["age", "town", "born"], **{"sensitive": "ill", "l": 2, "algorithm": "cascade", **asked})


def test_values_that_are_one(tmp_path, small):
    """Zeros of two signs, numbers that are none, sensitive values that anyone could take for one."""
    rng = np.random.default_rng(3)
    table = pa.table(
        {
            "weight": pa.array(np.array([0.0, -0.0, np.nan, 1.5])[rng.integers(0, 4, 300)], mask=rng.random(300) < 0.1),
            "word": pa.array(np.array(["1", "01", " 1"], dtype=object)[rng.integers(0, 3, 300)], pa.string()),
            "ill": pa.array(np.array(["1", "1.0", "flu", "flu ", "cold", "x", "y"], dtype=object)[rng.integers(0, 7, 300)], pa.string()),
        }
    )
    for algorithm in ALGORITHMS:
        alone = ldiv.anonymize(table, ["weight", "word"], "ill", 3, order="random", algorithm=algorithm)
        source, target = written(table, tmp_path / algorithm), tmp_path / f"{algorithm}.parquet"
        done = ldiv.anonymize_files(source, target, ["weight", "word"], "ill", 3, engine="duckdb", algorithm=algorithm)
        assert (alone.stars, alone.publication.verdict.groups) == (done.release.stars, done.verdict.groups)
        assert ldiv.verify(table, pq.read_table(target), ["weight", "word"], "ill", 3)


@settings(max_examples=60)
@given(st.lists(st.lists(st.integers(1, 30), min_size=1, max_size=7), min_size=1, max_size=6), st.integers(1, 5), st.integers(1, 40))
def test_the_query_cuts_groups_as_phase_one_does(groups, l, k):
    import duckdb as library

    connection = library.connect()
    rows = [(g, v, n) for g, counts in enumerate(groups) for v, n in enumerate(counts)]
    connection.execute("CREATE TABLE combinations AS SELECT * FROM (VALUES " + ", ".join(map(str, rows)) + ') t(g, v, "ldiv rows")')
    made = {}

    class Worker:
        dialect, combinations = duckdb.DUCKDB, "combinations"
        room = SimpleNamespace(require=lambda *given: None)

        def ask(self, query):
            return connection.sql(query).to_arrow_table()

        def take(self, name, table):
            connection.register(f"{name} given", table)
            connection.execute(f'CREATE OR REPLACE TABLE "{name}" AS SELECT * FROM "{name} given"')

        def make(self, name, query):
            made[name] = connection.sql(f"{query} ORDER BY q0, s").to_arrow_table()

    pushed.Pushed(Worker(), ldiv.asking.Asked(["g"], "v", l, k, "tp"), ["g"], ["v"])
    count = np.array([n for _, _, n in rows], dtype=np.int64)
    indptr = np.cumsum([0, *map(len, groups)]).astype(np.int64)
    kept = np.empty_like(count)
    size, height = phase_one(indptr, count, l, kept, k)
    assert made["ldiv cells"].column("kept").to_pylist() == kept.tolist()
    group = np.repeat(np.arange(len(groups)), np.diff(indptr))
    assert made["ldiv cells"].column("size").to_pylist() == size[group].tolist()
    assert made["ldiv cells"].column("height").to_pylist() == height[group].tolist()


@engines
def test_what_does_not_fit_is_refused(tmp_path, engine, small, monkeypatch):
    table = people()
    source = written(table, tmp_path / "source")

    def refused(match, **asked):
        with pytest.raises(ldiv.InputError, match=match):
            ldiv.anonymize_files(
                source, tmp_path / "out.parquet", **{"qi": ["age", "town"], "sensitive": "ill", "l": 3, "engine": engine, "algorithm": "tp", **asked}
            )
        assert not (tmp_path / "out.parquet").exists()

    refused("^too many combinations$", algorithm="mondrian")
    refused("^too many combinations$", protect="age")
    refused("^too many combinations$", sensitive=["ill", "born"], l=2)
    monkeypatch.setattr(small, "most", 9)
    refused("cells that phase one takes rows out of, or that phase two may, are too many as well", qi=["age", "town", "born"])


def test_phase_three_and_small_residues_are_refused(tmp_path, small, monkeypatch):
    """Phase three looks at all groups; which rows fill R up to k depends on all groups, too."""
    table = pa.table({"q": [3, 1, 0, 3, 3, 2, 0, 3, 2, 0, 0, 1, 2, 1], "s": [f"s{x}" for x in (4, 0, 2, 2, 0, 1, 3, 0, 0, 1, 2, 3, 1, 2)]})
    assert ldiv.anonymize(table, ["q"], "s", 3, algorithm="tp").phase == 3
    source = written(table, tmp_path / "source")
    with pytest.raises(ldiv.InputError, match="phase three is needed"):
        ldiv.anonymize_files(source, tmp_path / "out.parquet", ["q"], "s", 3, engine="duckdb", algorithm="tp")
    with pytest.raises(ldiv.InputError, match="a seed shuffles all groups"):
        ldiv.anonymize_files(source, tmp_path / "out.parquet", ["q"], "s", 3, engine="duckdb", algorithm="tp", seed=1)
    table = people(50 + 13, 35)
    few = {"qi": ["born", "age"], "l": 2, "k": 7, "sensitive": "ill"}
    ldiv.anonymize(table, **few, algorithm="tp")
    monkeypatch.setattr(pushed.Pushed, "histograms", (np.array([9, 9]), np.array([3, 3])))
    with pytest.raises(ldiv.InputError, match="phase one takes 6 rows out, fewer than k"):
        ldiv.anonymize_files(written(table, tmp_path / "more"), tmp_path / "out.parquet", engine="duckdb", algorithm="tp", **few)


def test_too_few_groups_of_phase_two_are_not_enough():
    """With one group of each value here the choices could differ: said, not guessed."""
    c = ldiv.Microdata.from_codes([[0]] * 2 + [[1]] * 4, [0, 0, 1, 2, 1, 2]).contingency
    about = {"kept": np.array([0, 2, 2]), "residue": np.array([2, 0, 0])}
    there = of_part.release_of_part(c, 2, "tp", **about, last=np.array([0, 0, 0]))
    assert there.phase == 2 and there.suppressed_rows == 4
    more = {**about, "residue": np.array([9, 0, 0])}
    for last, all_there in ((np.array([0, 0, 1]), False), (np.array([0, 0, 0]), True)):
        with pytest.raises(of_part.MoreGroupsError) as caught:
            of_part.release_of_part(c, 2, "tp", **more, last=last)
        assert caught.value.all_there is all_there


@pytest.mark.parametrize(
    "match, change",
    [
        (
            "kinds of rows are written more or less often",
            "UPDATE t SET age = '20' WHERE rowid = (SELECT min(rowid) FROM t WHERE age NOT IN ('*', '20'))",
        ),
        ("groups are not 3-diverse", "UPDATE t SET ill = 'ill 0' WHERE age = '20'"),
        ("rows are written", "DELETE FROM t WHERE rowid = 0"),
        ("columns that are neither", "UPDATE t SET word = 'other' WHERE rowid = 3"),
    ],
)
def test_the_checker_believes_nothing(tmp_path, small, monkeypatch, match, change):
    """A kept row as another, a group that is not diverse, a row too few, another word beside it."""
    source = written(people(500), tmp_path / "source")

    def spoiled(table, query, *given):
        path = next(tmp_path.glob(".*/*.parquet"))
        table.worker.run(f"CREATE TEMP TABLE t AS SELECT * FROM read_parquet('{path}')")
        table.worker.run(change)
        table.worker.run(f"COPY t TO '{path}' (FORMAT parquet)")
        return judge_pushed(table, query, *given)

    monkeypatch.setattr("ldiv.engines.files.judge_pushed", spoiled)
    with pytest.raises(ldiv.UnsafeReleaseError, match=match):
        ldiv.anonymize_files(source, f"{tmp_path}/out/", ["age", "town"], "ill", 3, engine="duckdb", algorithm="tp")
    assert not (tmp_path / "out").exists()
