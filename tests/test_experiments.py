"""The machinery of the experiments: store, resumption, failures, stable bytes. Runs on a small grid."""

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import ldiv
from experiments import claims, figures, measure, paper, report, sources
from experiments.__main__ import main
from experiments.cells import Cell, Table
from experiments.grid import QUICK, Scale
from experiments.results import NotRunError, Results
from experiments.run import run
from experiments.store import Store
from ldiv.utility import k_marginal

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
    assert {
        "ldiv/algorithms/tp.py",
        "ext/ldiv/_kernels/tp.pyx",
        "ext/ldiv/_kernels/phase_one.pyx",
        "ext/ldiv/_kernels/inverted_list.pxd",
        "ext/ldiv/_kernels/types.pxd",
        "ldiv/release/release.py",
    } <= names
    assert not any(name.startswith("ldiv/cli") for name in names)


def test_closure_follows_imports_inside_functions():
    names = {p.relative_to(ROOT).as_posix() for p in sources.closure("experiments.measure")}
    assert any("bounds" in name for name in names) and any("coarsening" in name for name in names)


def test_what_is_stale_is_not_served(tmp_path, monkeypatch):
    """A result depends on its algorithm's helper modules, on data files, and on the versions of the libraries that compute."""
    (tmp_path / "mine_core.py").write_text("BONUS = 0\n")
    (tmp_path / "mine_late.py").write_text("MORE = 0\n")
    (tmp_path / "mine.py").write_text(
        "import mine_core\nimport ldiv\nfrom ldiv.algorithms.tp import tp\n"
        "@ldiv.register('mine', guarantee='none')\ndef mine(contingency, l, *, seed=None):\n"
        "    import mine_late\n    return tp(contingency, l, seed=seed)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    data = tmp_path / "table.csv"
    data.write_text("a,b\n")

    def key():
        sources.closure.cache_clear(), sources.fingerprint.cache_clear(), sources.libraries.cache_clear()
        return sources.fingerprint("mine", data)

    first = key()
    assert key() == first
    seen = {first}
    for path, text in [("mine_core.py", "BONUS = 1\n"), ("mine_late.py", "MORE = 1\n"), ("table.csv", "a,c\n")]:
        (tmp_path / path).write_text(text)
        seen.add(key())
    monkeypatch.setattr(sources, "version", lambda name: "9.9")
    seen.add(key())
    assert len(seen) == 5
    sources.libraries.cache_clear()


def test_a_cell_asks_for_k_and_marginals_are_scored(monkeypatch):
    rng = np.random.default_rng(0)
    data = ldiv.Microdata.from_codes(rng.integers(0, 4, (200, 3)))
    monkeypatch.setitem(measure.SOURCES, "dice of four", measure.DataSet(lambda n, s: data))
    cell = Cell(Table("dice of four", 200, (), ""), 1, "cascade", "utility", 9)
    found, near = measure.measure(cell), measure.measure(replace(cell, measure="nearness"))
    assert found["stars"] == near["stars"] == ldiv.solve(data, k=9, algorithm="cascade").stars > 0 and near["bound"] <= near["stars"]
    release = ldiv.solve(data, k=9, algorithm="cascade")
    filled = release.complete("histogram", seed=0)
    assert (filled.codes == data.codes)[release.codes >= 0].all()
    assert k_marginal(data, data) == 1000 and 0 < found["k_marginal"] == k_marginal(data, filled) < 1000
    # by hand: of one pair of columns half of the rows have moved
    pairs = [ldiv.Microdata.from_codes(x, domains=[ldiv.Domain("a", 2), ldiv.Domain("b", 2)]) for x in ([[0, 0], [1, 1]], [[0, 0], [0, 1]])]
    assert k_marginal(*pairs) == 500


OWN = """
import numpy as np
import ldiv
from experiments.cells import Cell, Table
from experiments.figures import Figure, enter
from experiments.measure import MEASURES, SOURCES, DataSet
from experiments.plotting import Line, lines
rng = np.random.default_rng(0)
SOURCES["dice"] = DataSet(lambda n, s: ldiv.Microdata.from_codes(rng.integers(0, 6, (n, 2)), rng.integers(0, 6, n), names=["red", "blue"]))
def groups(cell):
    from experiments.measure import microdata
    return {"groups": ldiv.solve(microdata(cell.table), cell.l, algorithm=cell.algorithm).groups}
MEASURES["groups"] = groups
CELLS = [Cell(Table("dice", n, ("red", "blue"), "s"), 3, "tp", "groups") for n in (50, 100)]
enter(Figure("own_groups", "Groups of dice", "ours", lambda scale: CELLS, lambda r: [{"n": c.table.n, **r.of(c)} for c in CELLS],
             lambda data, path: lines([Line("dice", "tp", r["n"], r["groups"]) for r in data], "n", "groups", path)))
"""


def test_own_figure_measure_and_data_set_in_fifteen_lines(tmp_path):
    """As docs/own-experiments.md says, from a folder of one's own, with results exported as one tidy table."""
    assert len(OWN.strip().splitlines()) <= 17
    (tmp_path / "dice.py").write_text(OWN)
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"}
    options = ["--load", "dice", "--figure", "own_groups", "--results", "store"]

    def call(*words):
        return subprocess.run([sys.executable, "-m", "experiments", *words], cwd=tmp_path, env=environment, capture_output=True, text=True)

    hint = call("figures", *options, "--out", "drawn")
    assert hint.returncode == 1 and "run --quick --figure own_groups --load dice" in hint.stderr
    assert call("run", *options, "--jobs", "1").returncode == 0
    done = call("figures", *options, "--out", "drawn")
    assert done.returncode == 0 and sorted(p.name for p in (tmp_path / "drawn").iterdir()) == ["own_groups.csv", "own_groups.pdf", "own_groups.png"]
    listed = call("list", *options).stdout
    assert "own_groups" in listed and "dice" in listed and "groups" in listed
    assert call("export", *options, "--out", "all.csv").returncode == 0
    rows = (tmp_path / "all.csv").read_text().splitlines()
    assert len(rows) == 3 and {"dataset", "l", "algorithm", "groups", "from_commit", "from_numpy", "from_cpu", "from_seed"} <= set(rows[0].split(","))
    wrong = call("figures", "--figure", "stars_vs_i")
    assert wrong.returncode == 2 and "did you mean 'stars_vs_l'" in wrong.stderr and "Traceback" not in wrong.stderr
    for words in (["run", "--algorithm", "nosuch"], ["run", "--load", "nosuch"], ["run", "--jobs", "0"]):
        failed = call(*words)
        assert failed.returncode == 2 and "Traceback" not in failed.stderr


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
        cwd=ROOT,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
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


def test_the_gallery_gives_the_numbers_of_the_papers_figures():
    for folder in (ROOT / "paper_figures", ROOT / "paper_figures" / "full"):
        text = (folder / "README.md").read_text()
        for figure in figures.FIGURES.values():
            if (folder / f"{figure.name}.png").exists():
                assert f"{figure.place} · [CSV]({figure.name}.csv)" in text, f"{folder.name}: {figure.name}"


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
    assert "data:image/png;base64," in html and "http://" not in html and "https://" not in html and 'src="/' not in html
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        pytest.skip("the page was written; no Chromium to open it with")
    done = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0", "--dump-dom", path.as_uri()],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "<details>" in done.stdout and ":CONSOLE" not in done.stderr


def test_command_line(tmp_path, capsys):
    assert main(["figures", "--results", str(tmp_path), "--out", str(tmp_path)]) == 1
    assert "run it first" in capsys.readouterr().err


def test_measure_is_of_the_table_asked_for():
    result = measure.measure(Cell(TABLE, 2, "tp"))
    assert (result["n"], result["d"]) == (3000, 2)
    release = ldiv.solve(ldiv.datasets.load("acs2018", sensitive="Income").head(3000).project(["Age", "Gender"]), 2, algorithm="tp")
    assert (result["stars"], result["suppressed_rows"], result["phase"]) == (release.stars, release.suppressed_rows, release.phase)
