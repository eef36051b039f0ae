"""Outputs: nothing replaces an input or another output, all appear or none, links, pipes and modes are kept, nothing is left behind."""

import itertools
import os
import signal
import stat
import subprocess
import sys
import threading
import time

import pytest
from command import run

from ldiv.errors import InputError
from ldiv.table.files import Outputs, atomic
from ldiv.table.files import outputs as module

ROWS = 'Age,Sex,Ill\n30,F,flu\n30,F,cold\n40,M,flu\n50,M,"cough, dry"\n'
RELEASE = ROWS.replace("40", "*").replace("50", "*")
ASK = ("-q", "Age", "-q", "Sex", "-s", "Ill", "-l", "2")
TREE = "30;young;*\n40;old;*\n50;old;*\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(ROWS)
    (tmp_path / "tree.csv").write_text(TREE)
    return tmp_path


def listing(folder):
    return sorted(path.name for path in folder.rglob("*"))


def aliases(folder, name):
    """Other names of a file: with a detour, a link, a link to a link, a second name."""
    os.symlink(name, folder / "soft.csv")
    os.symlink("soft.csv", folder / "softer.csv")
    os.link(folder / name, folder / "hard.csv")
    return [name, f"./{name}", f"../{folder.name}/{name}", str(folder / name), "soft.csv", "softer.csv", "hard.csv"]


COMMANDS = {  # every output of every command; {} is the output tried
    "release": ("anonymize", "people.csv", *ASK, "-o", "{}"),
    "page": ("anonymize", "people.csv", *ASK, "-o", "out.csv", "--report", "{}"),
    "proof": ("anonymize", "people.csv", *ASK, "-o", "out.csv", "--certificate", "{}"),
    "report": ("report", "people.csv", *ASK, "-o", "{}"),
    "comparison": ("compare", "people.csv", *ASK, "-o", "{}"),
}


@pytest.mark.parametrize("what", COMMANDS)
def test_no_output_replaces_an_input(folder, what):
    for name, content in (("people.csv", ROWS), ("tree.csv", TREE)):
        for path in aliases(folder, name):
            asked = [word.format(path) for word in COMMANDS[what]]
            if name == "tree.csv":
                asked += ["--hierarchy", "Age=tree.csv", "--coarsen", "Age=1"]
                if what == "proof":
                    asked = [*asked[:-2], "-a", "auto"]
            before = listing(folder)
            done = run(*asked)
            assert done.code == 2 and "overwrite" in done.err and done.err.count("\n") == 1, done
            assert (folder / name).read_text() == content and listing(folder) == before
        for alias in ("soft.csv", "softer.csv", "hard.csv"):
            (folder / alias).unlink()


@pytest.mark.parametrize("one, other", list(itertools.combinations(["-o", "--report", "--certificate"], 2)))
def test_no_output_replaces_another(folder, one, other):
    os.symlink("same.csv", folder / "link.csv")
    for names in (("same.csv", "same.csv"), ("same.csv", "./same.csv"), ("same.csv", "link.csv"), ("-", "-")):
        paths = {"-o": "out.csv", one: names[0], other: names[1]}
        before = listing(folder)
        done = run("anonymize", "people.csv", *ASK, *itertools.chain(*paths.items()))
        assert done.code == 2 and "would overwrite" in done.err and listing(folder) == before and done.out == ""


@pytest.mark.parametrize("option", ["-o", "--report", "--certificate"])
@pytest.mark.parametrize(
    "bad, message",
    [("no/x.csv", "no folder"), ("deep.csv", "is a folder"), ("people.csv/x.csv", "folder"), ("n" * 300 + ".csv", "too long"), ("x\0.csv", "null")],
)
def test_folders_are_checked_before_the_work(folder, option, bad, message, monkeypatch):
    (folder / "deep.csv").mkdir()
    monkeypatch.setattr("ldiv.cli.job.Asked.anonymize", lambda *_, **__: pytest.fail("work was started"))
    before = listing(folder)
    paths = {"-o": "out.csv", option: bad}
    done = run("anonymize", "people.csv", *ASK, *itertools.chain(*paths.items()))
    assert done.code == 2 and message in done.err.lower() and listing(folder) == before


@pytest.mark.parametrize("victim", ["ldiv.cli.anonymize.save_report", "ldiv.cli.anonymize.keep_certificate", "ldiv.cli.anonymize.verify_written"])
def test_all_appear_or_none(folder, victim, monkeypatch):
    (folder / "out.csv").write_text("old")

    def broken(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(victim, broken)
    before = listing(folder)
    done = run("anonymize", "people.csv", *ASK, "-o", "out.csv", "--report", "r.html", "--certificate", "c.npz")
    assert done.code == 2 and "No space left" in done.err and listing(folder) == before and (folder / "out.csv").read_text() == "old"


@pytest.mark.parametrize("fails", range(3))
def test_a_failing_replacement_takes_the_others_back(tmp_path, monkeypatch, fails):
    (tmp_path / "a").write_text("old a")
    (tmp_path / "c").write_text("old c")
    replaced = os.replace

    def replace(source, target):
        if os.path.basename(target) == "abc"[fails] and ".old" not in str(source):
            raise OSError(16, "Device or resource busy")
        replaced(source, target)

    monkeypatch.setattr(module.os, "replace", replace)
    with pytest.raises(OSError), Outputs() as outputs:
        for name in "abc":
            outputs.add(tmp_path / name, name).staged.write_text(f"new {name}")
        outputs.commit()
    monkeypatch.undo()
    assert listing(tmp_path) == ["a", "c"] and (tmp_path / "a").read_text() == "old a" and (tmp_path / "c").read_text() == "old c"


def test_links_are_written_through(folder):
    (folder / "target.csv").write_text("old")
    os.symlink("target.csv", folder / "link.csv")
    os.symlink("later.csv", folder / "dangling.csv")
    for link, target in (("link.csv", "target.csv"), ("dangling.csv", "later.csv")):
        assert run("anonymize", "people.csv", *ASK, "-o", link, "--keep-order").code == 0
        assert (folder / link).is_symlink() and (folder / target).read_text() == RELEASE


@pytest.mark.parametrize("name", ["pipe", "pipe.csv"])
def test_pipes_are_written_through(folder, name):
    os.mkfifo(folder / name)
    got = []
    reader = threading.Thread(target=lambda: got.append((folder / name).read_text()))
    reader.start()
    assert run("anonymize", "people.csv", *ASK, "-o", name, "--keep-order").code == 0
    reader.join(10)
    assert got == [RELEASE] and stat.S_ISFIFO(os.stat(name).st_mode)
    writer = threading.Thread(target=lambda: (folder / name).write_text(RELEASE))
    writer.start()
    assert run("check", name, *ASK).code == 0
    writer.join(10)


def test_devices_are_written_through(folder):
    done = run("anonymize", "people.csv", *ASK, "-o", "/dev/null", "--report", "/dev/null")
    assert done.code == 0 and stat.S_ISCHR(os.stat("/dev/null").st_mode), done.err


def test_standard_streams(folder):
    program = [sys.executable, "-m", "ldiv.cli"]
    for source, target in (("-", "/dev/stdout"), ("/dev/stdin", "/dev/fd/1"), ("/dev/fd/0", "-")):
        asked = ["anonymize", source, *ASK, "-o", target, "--keep-order"]
        done = subprocess.run([*program, *asked], input=ROWS, capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout == RELEASE, done.stderr
    with open("people.csv", "a+") as stream:  # >> people.csv
        done = subprocess.run([*program, "anonymize", "people.csv", *ASK, "-o", "-"], stdout=stream, capture_output=False, stderr=subprocess.PIPE)
    assert done.returncode == 2 and (folder / "people.csv").read_text() == ROWS
    with open("people.csv") as stream:
        done = subprocess.run([*program, "anonymize", "-", *ASK, "-o", "people.csv"], stdin=stream, capture_output=True)
    assert done.returncode == 2 and (folder / "people.csv").read_text() == ROWS


def test_modes(folder):
    umask = os.umask(0o022)
    try:
        for mode in (0o600, 0o640, 0o666):
            (folder / "out.csv").write_text("old")
            os.chmod("out.csv", mode)
            assert run("anonymize", "people.csv", *ASK, "-o", "out.csv").code == 0
            assert stat.S_IMODE(os.stat("out.csv").st_mode) == mode
        (folder / "c.npz").write_text("old")
        os.chmod("c.npz", 0o644)
        assert run("anonymize", "people.csv", *ASK, "-o", "new.csv", "--certificate", "c.npz", "--report", "r.html").code == 0
        assert [stat.S_IMODE(os.stat(name).st_mode) for name in ("new.csv", "r.html", "c.npz")] == [0o644, 0o644, 0o600]
    finally:
        os.umask(umask)


def test_a_source_that_is_a_folder_gets_no_new_part(folder):
    (folder / "parts").mkdir()
    with pytest.raises(InputError, match="among the parts"), Outputs(["parts"]) as outputs:
        outputs.add("parts/new.parquet", "the release")


def test_atomic_keeps_the_old_file_and_leaves_nothing(tmp_path):
    path = tmp_path / "out"
    path.write_text("old")
    with pytest.raises(RuntimeError), atomic(path) as stream:
        stream.write(b"half")
        raise RuntimeError("disk on fire")
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("number, code", [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_leaves_nothing(folder, number, code):
    script = """
import sys, time
import ldiv.cli.anonymize as step
def slow(*_, **__):
    print("staged", flush=True)
    time.sleep(30)
step.verify_written = slow
from ldiv.cli import main
main()
"""
    done = subprocess.Popen(
        [sys.executable, "-c", script, "anonymize", "people.csv", *ASK, "-o", "out.csv"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert done.stdout.readline() == "staged\n"
    assert any(name.startswith(".ldiv-") for name in listing(folder))
    started = time.monotonic()
    done.send_signal(number)
    _, error = done.communicate(timeout=20)
    assert done.returncode == code and time.monotonic() - started < 15 and error.count("\n") <= 2
    assert listing(folder) == ["people.csv", "tree.csv"]


def test_a_signal_during_the_replacement_waits_for_it(tmp_path):
    replaced = os.replace
    with pytest.raises(KeyboardInterrupt), pytest.MonkeyPatch.context() as patch, Outputs() as outputs:
        patch.setattr(module.os, "replace", lambda a, b: (replaced(a, b), os.kill(os.getpid(), signal.SIGINT)))
        for name in "ab":
            outputs.add(tmp_path / name, name).staged.write_text("new")
        outputs.commit()
    assert listing(tmp_path) == ["a", "b"]
