"""ldiv anonymize --engine: the same answer as in memory, from files to files."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command import ASK_PATIENTS, patients, run
from small_room import SmallRoom

pytest.importorskip("duckdb")
DUCKDB = ("--engine", "duckdb")


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = pa.Table.from_pandas(patients(900).assign(name=[f"n{k}" for k in range(900)]), preserve_index=False)
    os.mkdir("big")
    for k in range(3):
        pq.write_table(table.slice(300 * k, 300), f"big/p{k}.parquet")
    return tmp_path


def left_behind(folder):
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("algorithm", ["tp", "cascade", "mondrian"])
def test_the_same_answer_as_in_memory(source, algorithm):
    answers = []
    for engine, out in (("memory", "m.parquet"), ("duckdb", "d.parquet"), ("duckdb", "out/")):
        done = run("anonymize", "big/*.parquet", *ASK_PATIENTS, "-a", algorithm, "-o", out, "--engine", engine, "--json")
        assert done.code == 0, done.err
        answers.append(json.loads(done.out))
        verified = run("verify", "big", out.rstrip("/"), *ASK_PATIENTS)
        assert verified.code == 0, verified.out
    assert answers[1].pop("engine") == "duckdb" and set(answers[1].pop("seconds")) == {"count", "solve", "write", "verify"}
    assert answers[0] == answers[1] == {key: value for key, value in answers[2].items() if key not in ("engine", "seconds")}
    assert os.listdir("out") == ["part-0.parquet"] and not left_behind(source)


@pytest.mark.parametrize("algorithm", ["tp", "tp+", "cascade"])
def test_the_same_answer_where_combinations_stay_in_the_engine(source, monkeypatch, algorithm):
    """What the command passes on of options that nobody gave does not keep phase one out of the engine."""
    here = run("anonymize", "big/*.parquet", *ASK_PATIENTS, "-a", algorithm, "-o", "h.parquet", *DUCKDB, "--json")
    monkeypatch.setattr("ldiv.engines.duckdb.Room", SmallRoom)
    there = run("anonymize", "big/*.parquet", *ASK_PATIENTS, "-a", algorithm, "-o", "t.parquet", *DUCKDB, "--json")
    assert there.code == 0, there.err
    one, other = (json.loads(done.out) for done in (here, there))
    assert (one["stars"], one["groups"], one["rows"]) == (other["stars"], other["groups"], other["rows"])
    assert run("verify", "big", "t.parquet", *ASK_PATIENTS).code == 0


@pytest.mark.parametrize("mode", [0o700, 0o750, 0o2755])
def test_an_empty_folder_keeps_who_may_read_it(source, mode):
    os.mkdir("out")
    os.chmod("out", mode)
    assert run("anonymize", "big/*.parquet", *ASK_PATIENTS, "-a", "tp", "-o", "out/", *DUCKDB).code == 0
    assert os.stat("out").st_mode & 0o7777 == mode and os.listdir("out")


def test_what_is_said(source):
    done = run("anonymize", "big", *ASK_PATIENTS, "-a", "tp", "-o", "out/")
    assert done.code == 0 and "verified as written: yes" in done.err and "duckdb: count" in done.err and "proof: counting" in done.err
    assert "published as they are, and what they tell of stars was not measured: 'name'" in done.err
    again = run("anonymize", "big", *ASK_PATIENTS, "-a", "tp", "-o", "out/")
    assert again.code == 2 and "holds something already" in again.err


def same_but(one, other, *names):
    return [{k: v for k, v in json.loads(x.out).items() if k not in names} for x in (one, other)]


def test_check_and_verify_by_an_engine(source):
    """The same answers as in memory, of releases and of what is none."""
    assert run("anonymize", "big", *ASK_PATIENTS, "-a", "cascade", "-o", "good.parquet").code == 0
    good = pq.read_table("good.parquet")
    at = good.schema.names.index("ill")
    shuffled = np.random.default_rng(0).permutation(good.column("ill").to_numpy())
    pq.write_table(good.set_column(at, "ill", pa.array(shuffled)), "swapped.parquet")
    pq.write_table(good.slice(1), "short.parquet")
    names = good.column("name").to_pylist()
    pq.write_table(good.set_column(good.schema.names.index("name"), "name", pa.array([*names[1:], "x"])), "other.parquet")
    ages = good.column("age").to_pylist()
    k = next(k for k, x in enumerate(ages) if x != "*")
    ages[k] = next(x for x in ages if x not in ("*", ages[k]))
    pq.write_table(good.set_column(good.schema.names.index("age"), "age", pa.array(ages)), "untrue.parquet")
    for released, code in (("good", 0), ("swapped", 1), ("short", 1), ("other", 1), ("untrue", 1)):
        answers = [run("verify", "big", f"{released}.parquet", *ASK_PATIENTS, "--json", "--engine", engine) for engine in ("memory", "duckdb")]
        assert [x.code for x in answers] == [code, code], (released, answers)
        one, other = same_but(*answers, "faults", "in_order")
        assert one == other
    for file in ("good.parquet", "swapped.parquet", "big"):
        answers = [run("check", file, *ASK_PATIENTS, "--json", "--engine", engine) for engine in ("memory", "duckdb")]
        assert answers[0] == answers[1]
    for words in (["check", "big"], ["verify", "big", "good.parquet"]):
        done = run(*words, *ASK_PATIENTS, "--unit", "name", *DUCKDB)
        assert done.code == 2 and "--unit" in done.err
    trees = run("verify", "big", "good.parquet", *ASK_PATIENTS, *DUCKDB, "--hierarchy", "ill=x.csv")
    assert trees.code == 2 and "'ill' is not a quasi-identifier" in trees.err


def test_a_certificate_of_cells_is_one_of_rows(source):
    done = run(
        "anonymize", "big", *ASK_PATIENTS, "-a", "lagrangian", "-o", "d.parquet", *DUCKDB, "--certificate", "p.private.npz", "--weight", "age=3"
    )
    assert done.code == 0, done.err
    assert os.stat("p.private.npz").st_mode & 0o777 == 0o600
    certified = run("certify", "big", "p.private.npz", "--release", "d.parquet")
    assert certified.code == 0, certified.err


def test_a_page_about_cells(source):
    pytest.importorskip("jinja2")
    for engine in ("memory", "duckdb"):
        done = run("anonymize", "big", *ASK_PATIENTS, "-a", "cascade", "-o", f"{engine}.parquet", "--engine", engine, "--report", f"{engine}.html")
        assert done.code == 0, done.err
    one, other = ((source / f"{engine}.html").read_text() for engine in ("memory", "duckdb"))
    assert "--engine duckdb" in other and "duckdb.parquet" in other
    numbers = [sorted(set(re.findall(r"[0-9][0-9,.]* %", page))) for page in (one, other)]
    assert numbers[1] and set(numbers[1]) <= set(numbers[0]), "the same shares, but for what was measured of single rows"


def test_text_files_and_their_numbers(source):
    patients(300).astype({"age": str}).to_csv("p.csv", index=False)
    facts = []
    for engine in ("memory", "duckdb"):
        done = run(
            "anonymize", "p.csv", *ASK_PATIENTS, "-a", "mondrian", "-o", f"{engine}.csv", "--engine", engine, "--json", "--coarsen", "ward=width:4"
        )
        assert done.code == 0 and "ill: integer" in done.err, done.err
        facts.append({k: v for k, v in json.loads(done.out).items() if k not in ("engine", "seconds")})
        assert run("verify", "p.csv", f"{engine}.csv", *ASK_PATIENTS).code == 0
    assert facts[0] == facts[1]


def test_refused_by_name(source):
    for options, why in (
        (["--keep-order"], "--keep-order"),
        (["--report", "r.html", "--coarsen", "age=width:5"], "--report of a coarsened table"),
        (["--unit", "name"], "unit="),
        (["--numeric", "age"], "--numeric is for text files"),
        (["--memory-limit", "much"], "memory_limit"),
        (["-l", "1000"], "given 2 times"),
    ):
        done = run("anonymize", "big", *ASK_PATIENTS, "-a", "tp", "-o", "d.parquet", *DUCKDB, *options)
        assert done.code == 2 and why in done.err, (options, done.err)
    assert run("anonymize", "big", *ASK_PATIENTS, "-o", "-", *DUCKDB).code == 2
    assert run("anonymize", "big", *ASK_PATIENTS[:-1], "600", "-o", "d.parquet", *DUCKDB).code == 1
    assert sorted(os.listdir(source)) == ["big"]


def start(*arguments, **how):
    code = "import sys; from ldiv.cli import main; main(sys.argv[1:])"
    return subprocess.Popen([sys.executable, "-c", code, *arguments], stderr=subprocess.PIPE, text=True, **how)


def many(rows=300_000):
    rng = np.random.default_rng(0)
    text = pa.array([f"{x:x}" for x in rng.integers(0, 2**62, rows)])
    pq.write_table(
        pa.table({"age": rng.integers(0, 80, rows), "ward": rng.integers(0, 9, rows), "ill": rng.integers(0, 9, rows), "text": text}), "many.parquet"
    )


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_killed_process_leaves_the_target_as_it_was(source, number):
    many()
    (source / "out.parquet").write_bytes(b"before")
    process = start("anonymize", "many.parquet", *ASK_PATIENTS, "-a", "tp", "-o", "out.parquet", *DUCKDB)
    until = time.monotonic() + 60
    while process.poll() is None and not left_behind(source) and time.monotonic() < until:
        time.sleep(0.01)
    time.sleep(0.2)
    process.send_signal(number)
    process.communicate()
    if process.returncode == 0:
        pytest.skip("it was done before it could be killed")
    assert (source / "out.parquet").read_bytes() == b"before"
    if number != signal.SIGKILL:  # in the middle of a query of DuckDB, too
        assert not left_behind(source) and process.returncode == 128 + number


def test_a_file_that_cannot_be_written_to_its_end(source):
    """Where the disk is full writes fail; a limit on the size of files makes them fail, too."""
    resource = pytest.importorskip("resource")
    many()
    limit = 1 << 20
    how = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))}
    process = start("anonymize", "many.parquet", *ASK_PATIENTS, "-a", "tp", "-o", "out.parquet", *DUCKDB, **how)
    _, err = process.communicate()
    assert process.returncode == 2 and "nothing was written" in err
    assert sorted(os.listdir(source)) == ["big", "many.parquet"]


def test_a_full_disk(source):
    many()
    os.mkdir("small")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", "small"], capture_output=True).returncode:
        pytest.skip("needs the right to mount a small file system")
    try:
        done = run("anonymize", "many.parquet", *ASK_PATIENTS, "-a", "tp", "-o", "small/out.parquet", "--spill", str(source), *DUCKDB)
        assert done.code == 2 and "disk is full" in done.err and os.listdir("small") == []
    finally:
        subprocess.run(["umount", "small"], check=True)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_named_pipe_is_refused_before_it_is_opened(tmp_path):
    """Opening it would wait for a writer, or take what only one reader gets: in a process that can be ended."""
    os.mkfifo(tmp_path / "pipe.csv")
    code = f"from ldiv.engines import Sources; Sources.of({str(tmp_path / 'pipe.csv')!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "a pipe can be read once" in done.stderr
