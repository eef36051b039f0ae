"""The machinery of the experiments: store, resumption, failures, stable bytes. Runs on a small grid."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiments import claims, figures, measure, paper, report, sources
from experiments.__main__ import main
from experiments.cells import Cell, Table
from experiments.grid import QUICK, Panel, Scale
from experiments.results import NotRunError, Results
from experiments.run import run
from experiments.store import Store

ROOT = Path(__file__).parents[1]
SMALL = Scale("small", 3000, QUICK.panels, 2, "3,000 rows")
TABLE = Table("acs2018", 3000, ("Age", "Gender"), "Income")


def cells(levels=(2, 3)):
    return [Cell(TABLE, l, "tp") for l in levels]


def test_store_round_trip_and_keys(tmp_path):
    store = Store(tmp_path)
    assert store.get(cells()[0]) is None
    store.put(cells()[0], {"stars": 5})
    assert Store(tmp_path).get(cells()[0]) == {"stars": 5}
    assert store.path(cells()[0]) != store.path(cells()[1])
    assert all("tmp" not in p.name for p in tmp_path.rglob("*.json"))


def test_key_changes_with_the_sources(tmp_path, monkeypatch):
    store = Store(tmp_path)
    before = store.path(cells()[0])
    monkeypatch.setattr("experiments.store.fingerprint", lambda *modules: "other")
    assert store.path(cells()[0]) != before


def test_closure_follows_python_and_kernels():
    names = {p.relative_to(ROOT).as_posix() for p in sources.closure("ldiv.algorithms.tp")}
    assert {"ldiv/algorithms/tp.py", "ext/ldiv/_tp.pyx", "ext/ldiv/_histogram.pxd", "ext/ldiv/_types.pxd",
            "ldiv/release.py"} <= names
    assert "ldiv/cli.py" not in names


def test_run_solves_each_cell_once_and_failures_are_not_stored(tmp_path, monkeypatch, capfd):
    store = Store(tmp_path)
    assert run([*cells(), *cells()], store, jobs=1) == 0
    assert len(list(tmp_path.rglob("*.json"))) == 2
    stamps = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*.json")}
    # l = 99 is infeasible: reported, counted, not stored; the others are found again.
    assert run([*cells(), Cell(TABLE, 99, "tp")], Store(tmp_path), jobs=1) == 1
    assert "NotEligibleError" in capfd.readouterr().err
    assert {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*.json")} == stamps


def test_a_killed_run_loses_nothing_finished(tmp_path):
    """Kill the run in the middle; what was stored is whole and is not solved again."""
    process = subprocess.Popen(
        [sys.executable, "-m", "experiments", "run", "--quick", "--figure", "stars_vs_l", "--results", str(tmp_path)],
        cwd=ROOT, stderr=subprocess.DEVNULL, start_new_session=True,
    )
    deadline = time.monotonic() + 60
    while len(list(tmp_path.rglob("*.json"))) < 5 and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, 9)
    process.wait()
    finished = list(tmp_path.rglob("*.json"))
    assert len(finished) >= 5
    for path in finished:
        assert json.loads(path.read_text())["result"]["stars"] >= 0


def test_figures_have_stable_bytes_and_say_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setattr(paper, "CENSUS", [(l, d, None) for d in (1, 2) for l in (2, 3)])
    monkeypatch.setattr(paper, "DIMENSIONS", range(1, 3))
    monkeypatch.setattr(paper, "LEVELS", range(2, 4))
    names = ["phase_census"]
    store = Store(tmp_path / "results")
    with pytest.raises(NotRunError):
        figures.draw(Results(store, SMALL), names, tmp_path / "a")
    assert run(figures.cells_of(SMALL, names), store, jobs=1) == 0
    for folder in "ab":
        written = figures.draw(Results(store, SMALL), names, tmp_path / folder)
        assert [p.suffix for p in written] == [".csv", ".png", ".pdf"]
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_claims_can_fail_and_can_be_not_run(tmp_path):
    results = Results(Store(tmp_path), SMALL)
    assert {j.verdict for j in claims.judge(results)} == {"not run"}
    assert not claims.rises([1, 2, 2]) and claims.rises([1, 2, 3])

    class Falling(Results):
        def series(self, panel, field, algorithm, points, **more):
            return [float(100 - k) for k in range(len(points))]

    verdicts = {j.claim.name: j.verdict for j in claims.judge(Falling(Store(tmp_path), SMALL))}
    assert verdicts["stars-l"] == "fails"
    assert "| **fails** |" in claims.markdown(claims.judge(Falling(Store(tmp_path), SMALL)))


def test_gallery_and_report(tmp_path, monkeypatch):
    """A report from a small store; in headless Chromium, where there is one, it opens without an error."""
    monkeypatch.setattr(paper, "COPIES", (1, 2))
    store = Store(tmp_path / "results")
    results = Results(store, SMALL)
    assert run(figures.cells_of(SMALL, ["phase_three"]), store, jobs=1) == 0
    figures.draw(results, ["phase_three"], tmp_path)
    judged = claims.judge(results)
    text = report.gallery(judged, SMALL, tmp_path).read_text()
    assert "![A family of tables" in text and "stars_vs_l.png" not in text and text.count("not run") == len(claims.CLAIMS)
    path = report.page(judged, SMALL, {"phase_three": figures.FIGURES["phase_three"].rows(results)}, tmp_path)
    html = path.read_text()
    assert "data:image/png;base64," in html and "http://" not in html and "https://" not in html and "src=\"/" not in html
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        pytest.skip("the page was written; no Chromium to open it with")
    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0", "--dump-dom", path.as_uri()],
        capture_output=True, text=True, timeout=60,
    )
    assert "<details>" in done.stdout and ":CONSOLE" not in done.stderr


def test_command_line(tmp_path, capsys):
    assert main(["figures", "--results", str(tmp_path), "--out", str(tmp_path)]) == 1
    assert "run it first" in capsys.readouterr().err


def test_measure_is_of_the_table_asked_for():
    result = measure.measure(Cell(TABLE, 2, "tp"))
    assert (result["n"], result["d"]) == (3000, 2)
    assert Panel("x", "acs2018", "Income") in [Panel("x", p.dataset, p.sensitive) for p in QUICK.panels]
