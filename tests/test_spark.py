"""DataFrames of Spark in and out, in a session that is there; an executor that dies; cells larger than a task."""

import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_engines import QI, SENSITIVE, people, published, same_release, written

import ldiv

pytestmark = pytest.mark.spark
BIG = {"big": ["Rome", "42"], "small": ["Ulm, Baden", 'the "Hague"', "", "O'Hara"]}


def test_a_dataframe_in_gives_a_dataframe_out(spark):
    table = people()
    frame = spark.createDataFrame(table)
    views = len(spark.catalog.listTables())
    for asked in ({"algorithm": "cascade", "k": 6}, {"effort": "fast", "hierarchies": {"town": BIG}}):
        alone = ldiv.anonymize(table, QI, SENSITIVE, 3, order="random", **asked)
        release = ldiv.anonymize(frame, QI, SENSITIVE, 3, **asked)
        assert same_release(alone, release)
        out = release.frame
        assert type(out) is type(frame) and out.sparkSession is spark and out.columns == frame.columns
        collected = out.toArrow()
        assert published(collected) == published(alone.frame)
        check = ldiv.verify(table, collected, QI, SENSITIVE, 3, hierarchies=asked.get("hierarchies"))
        assert check, check
        assert "not measured: 'id', 'word'" in release.summary() and release.publication.column_warnings == []
        with pytest.raises(ldiv.LdivError, match="counts, not rows"):
            release.group  # noqa: B018
        out.unpersist()
    assert len(spark.catalog.listTables()) == views


def test_what_a_dataframe_cannot_be_asked(spark):
    frame = spark.createDataFrame(people(60))
    for asked, why in (({"unit": "id"}, "unit="), ({"qi": ["nobody"]}, "no column 'nobody'"), ({"l": 60}, "no 60-diverse")):
        with pytest.raises(ldiv.LdivError, match=why):
            ldiv.anonymize(frame, **{"qi": QI, "sensitive": SENSITIVE, "l": 3, "algorithm": "tp", **asked})
    odd = frame.selectExpr("*", "map('a', 1) AS m", "array(1) AS many")
    with pytest.raises(ldiv.InputError, match="'m' of type map"):
        ldiv.anonymize(odd, QI, SENSITIVE, 3, algorithm="tp")
    with pytest.raises(ldiv.InputError, match="'many' of type array<int> cannot be"):
        ldiv.anonymize(odd, [*QI, "many"], SENSITIVE, 3, algorithm="tp", drop=["m"])


def test_a_cell_larger_than_a_task_is_numbered_in_buckets(spark, monkeypatch, tmp_path):
    """The same rows are starred as without, since buckets are the first letters of what rows are sorted by."""
    from ldiv.engines import spark as engine

    table = people(400).drop_columns(["town"])
    source = written(table, tmp_path / "source")
    outs = []
    for task in (10**9, 1):
        monkeypatch.setattr(engine, "TASK", task)
        done = ldiv.anonymize_files(source, tmp_path / f"{task}.parquet", ["age", "born"], "ill", 4, engine="spark", seed=1, algorithm="tp")
        assert done.release.count.max() > 1
        outs.append(pq.read_table(tmp_path / f"{task}.parquet"))
    assert outs[0].equals(outs[1])


KILLED = """
import os, signal, sys
from pyspark.sql import SparkSession
import ldiv
from ldiv.engines.spark import Spark

folder = sys.argv[1]
settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2", "spark.executor.memory": "512m", "spark.local.dir": folder}
builder = SparkSession.builder.master("local-cluster[2,1,512]")
for name, value in settings.items():
    builder = builder.config(name, value)
session = builder.getOrCreate()
session.sparkContext.setLogLevel("OFF")

def executors():
    # Processes of executors below this one.
    parent, command = {}, {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                command[int(pid)] = file.read().split(bytes(1))
            with open(f"/proc/{pid}/stat") as file:
                parent[int(pid)] = int(file.read().rsplit(")", 1)[1].split()[1])
        except OSError:
            continue
    found = []
    for pid, words in command.items():
        if words[0].endswith(b"java") and any(word.endswith(b"CoarseGrainedExecutorBackend") for word in words):
            above = parent.get(pid)
            while above and above != os.getpid():
                above = parent.get(above)
            found += [pid] if above else []
    return found

real = Spark.write
def write(self, *given):
    before = executors()
    assert before
    os.kill(before[0], signal.SIGKILL)
    print("killed one of", len(before), flush=True)
    return real(self, *given)
Spark.write = write
done = ldiv.anonymize_files(f"{folder}/source", f"{folder}/out/", ["age", "town", "born"], "ill", 3, engine="spark", session=session, algorithm="tp")
print(bool(done), done.release.stars, flush=True)
session.stop()
"""


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="finds executors in /proc")
@pytest.mark.skipif(os.environ.get("LDIV_SPARK") != "all", reason="a cluster of its own, half a minute: LDIV_SPARK=all")
def test_an_executor_that_dies_changes_nothing(tmp_path):
    pytest.importorskip("pyspark")
    table = people()
    written(table, tmp_path / "source")
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    stars = ldiv.anonymize(table, QI, SENSITIVE, 3, algorithm="tp", order="random").stars
    assert done.stdout.split("\n")[0].startswith("killed one of") and f"True {stars}" in done.stdout
    assert ldiv.verify(table, pq.read_table(tmp_path / "out"), QI, SENSITIVE, 3)


def test_a_session_is_made_and_stopped_where_there_is_none(tmp_path):
    """From the command: a local session."""
    pytest.importorskip("pyspark")
    if os.environ.get("LDIV_SPARK") != "all":
        pytest.skip("starts another Java: LDIV_SPARK=all")
    written(people(), tmp_path / "source")
    code = "import sys; from ldiv.cli import main; main(sys.argv[1:])"
    words = [
        "anonymize",
        "source",
        "-q",
        "age",
        "-q",
        "town",
        "-s",
        "ill",
        "-l",
        "3",
        "-a",
        "tp",
        "-o",
        "out/",
        "--engine",
        "spark",
        "--threads",
        "2",
    ]
    done = subprocess.run([sys.executable, "-c", code, *words], cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "verified as written: yes" in done.stderr, done.stderr
    assert sorted(os.listdir(tmp_path)) == ["out", "source"]
    assert pa.concat_tables([pq.read_table(tmp_path / "out" / name) for name in os.listdir(tmp_path / "out")]).num_rows == 300
