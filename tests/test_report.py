"""The HTML page about a release, and the commands that write it."""

import datetime as dt
import hashlib
import html
import platform
import re
import shlex
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from command import ASK_PATIENTS as ASK
from command import FAST, patients, run

import ldiv
from ldiv.report import render
from ldiv.tradeoff import lift


def page(**options):
    data = ldiv.datasets.load("acs2018", qi=["Age", "Gender", "Race"])
    return render(ldiv.solve(data, 6, **options), {"command": "ldiv anonymize 'a b.csv'"})


def test_numbers_on_the_page_are_the_release_s():
    text = page(algorithm="cascade")
    data = ldiv.datasets.load("acs2018", qi=["Age", "Gender", "Race"])
    release = ldiv.solve(data, 6, algorithm="cascade")
    for number in (release.stars, release.suppressed_rows, release.groups, *release.stars_by_attribute.values()):
        assert f"{number:,}" in text
    assert f"{ldiv.kl_divergence(release):.4f}" in text and "&#39;a b.csv&#39;" in text
    unique = int((np.unique(data.codes, axis=0, return_counts=True)[1] == 1).sum())
    assert re.search(rf"rows alone with their QI values</td><td class=\"n\">{unique:,}</td><td class=\"n\">0<", text)


def test_no_network_no_script_same_bytes():
    text = page(algorithm="tp")
    assert text == page(algorithm="tp")
    assert "<script" not in text and "http" not in text and "src=" not in text


def test_sub_domains_and_empty_tables():
    assert "of which nothing was proven" in page(algorithm="mondrian")
    empty = ldiv.Microdata.from_codes(np.zeros((0, 2), int), np.zeros(0, int))
    assert "0 rows" in render(ldiv.solve(empty, 2))


def test_commands(tmp_path):
    source = tmp_path / "in.csv"
    source.write_text("Age,D\n" + "30,flu\n30,cold\n40,flu\n50,cough\n" * 3)
    run = [sys.executable, "-m", "ldiv.cli"]
    asked = [str(source), "-q", "Age", "-s", "D", "-l", "2"]
    done = subprocess.run([*run, "anonymize", *asked, "-o", tmp_path / "out.csv", "--report", tmp_path / "out.html"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "out.html").read_text()
    assert "ldiv anonymize" in text and "-q Age -s D -l 2" in text
    done = subprocess.run([*run, "report", *asked, "-o", tmp_path / "page.html", "-a", "tp"], capture_output=True, text=True)
    assert done.returncode == 0 and (tmp_path / "page.html").exists()
    done = subprocess.run([*run, "compare", *asked, "-l", "1", "-a", "tp", "-a", "cascade"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.count("cascade") == 2, done.stderr


def test_the_command_on_the_page_repeats_the_release(tmp_path):
    (tmp_path / "in.csv").write_text("30;flu\n30;cold\n40;flu\n50;cough\n" * 3)
    asked = ["anonymize", "in.csv", "--delimiter", ";", "--names", "Age,D", "-q", "Age", "-s", "D", "-l", "2", "-o", "out.csv"]
    asked += ["--also", "k=6", "--coarsen", "Age=width:20", "--star", "x", "--keep-order", "--report", "out.html"]
    run = [sys.executable, "-m", "ldiv.cli"]
    done = subprocess.run([*run, *asked], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    first = (tmp_path / "out.csv").read_bytes()
    line = html.unescape(re.search("<pre>(.*?)</pre>", (tmp_path / "out.html").read_text(), re.S)[1])
    (tmp_path / "out.csv").unlink()
    done = subprocess.run([*run, *shlex.split(line)[1:]], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0 and (tmp_path / "out.csv").read_bytes() == first
    assert ldiv.audit(pd.read_csv(tmp_path / "out.csv", sep=";", names=["Age", "D"]), ["Age"], "D")["k"] >= 6


def test_in_a_notebook():
    release = ldiv.anonymize({"<b>": [1, 1, 2, 2], "s": [1, 2, 1, 2]}, ["<b>"], "s", 2)
    html = release._repr_html_()
    assert "stars in &lt;b&gt;" in html and "<b>" not in html


def use(text):
    """What the page says is left of the table's use: KL-divergence, NCP, share of cells as they are."""
    return [float(x.split()[0]) for x in re.findall(r"<td class=\"n\">(.*?)</td>", text[text.index("What is left of its use") :])]


COARSER = {"age": ldiv.Bins(width=10)}, {"ward": 1}, {"age": ldiv.Bins(quantiles=5), "ward": 1}, {"age": ldiv.Bins(edges=[30, 60])}


@pytest.mark.parametrize("algorithm", ["tp", "cascade", "mondrian", "tds", "multidim"])
@pytest.mark.parametrize("coarser", [*COARSER, None])
def test_use_is_measured_in_the_values_of_the_source(algorithm, coarser):
    rng = np.random.default_rng(0)
    source = pd.DataFrame({"age": rng.integers(18, 90, 500), "ward": rng.integers(0, 12, 500), "ill": rng.integers(0, 6, 500)})
    tree = [[str(k), "north, up" if k < 6 else "south", "all"] for k in range(12)]
    options = {"coarsen": coarser, "hierarchies": {"ward": tree} if "ward" in coarser else None} if coarser else {}
    release = ldiv.anonymize(source, ["age", "ward"], "ill", 3, algorithm=algorithm, order="random", seed=1, **options)
    original = ldiv.Microdata.from_frame(source, ["age", "ward"], "ill") if coarser else None
    kl, ncp, kept = use(render(release, original=original))
    shown, truth = release.frame.astype(str), source.iloc[release.publication.rows].astype(str).reset_index(drop=True)
    assert kept == pytest.approx(100 * float((shown == truth)[["age", "ward"]].to_numpy().mean()), abs=0.006)
    if coarser:
        assert kl >= use(render(release))[0] and ncp > 0  # what coarsening loses counts
        lifted = lift(release, original).verify()
        assert lifted.groups == release.groups and lifted.max_l == release.max_l
        kinds = {(j, kind.text) for j, some in enumerate(lifted.subdomains) for kind in some}
        assert {(j, kind.text) for j, some in enumerate(release.subdomains) for kind in some} <= kinds


def brute_kl(release, source):
    """KL-divergence over the rows of the source, each published cell spread over what it may be."""
    n, total = len(source), 0.0
    rows = list(source.itertuples(index=False, name=None))
    may = []
    for row, group in enumerate(release.group):
        may.append([])
        for j in range(release.d):
            code = release.published[group, j]
            kind = None if code >= -1 else release.subdomains[j][-2 - code]
            size = release.contingency.domains[j].size
            may[row].append({code} if code >= 0 else set(range(size)) if code == -1 else set(kind.codes))
    codes = release.contingency.data.codes
    for point in set(rows):
        at = rows.index(point)
        f = rows.count(point) / n
        star = (
            sum(np.prod([(codes[at, j] in may[k][j]) / len(may[k][j]) for j in range(release.d)]) for k in range(n) if rows[k][-1] == point[-1]) / n
        )
        total += f * np.log(f / star)
    return total


@pytest.mark.parametrize("algorithm", ["tp", "mondrian"])
def test_lifted_divergence_is_that_of_its_definition(algorithm):
    rng = np.random.default_rng(1)
    source = pd.DataFrame({"age": rng.integers(20, 60, 50), "ward": rng.integers(0, 3, 50), "ill": rng.integers(0, 4, 50)})
    release = ldiv.anonymize(source, ["age", "ward"], "ill", 2, algorithm=algorithm, coarsen={"age": ldiv.Bins(width=10)}, order="random")
    lifted = lift(release, ldiv.Microdata.from_frame(source, ["age", "ward"], "ill"))
    assert ldiv.kl_divergence(lifted) == pytest.approx(brute_kl(lifted, source))


def test_the_page_says_whether_a_release_was_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    patients().sort_values("age").assign(twin=lambda x: x["age"] + 1000).to_csv("in.csv", index=False)
    pages = []
    for command, *more in (
        ("anonymize", "-o", "out.csv", "--report", "a.html", "--keep-order"),
        ("report", "-o", "b.html"),
        ("report", "-o", "c.html", "--keep-order", "--only-named"),
    ):
        assert run(command, "in.csv", *ASK, *FAST, *more).code == 0
        pages.append((tmp_path / f"{'abc'[len(pages)]}.html").read_text())
    pages.append(page(algorithm="tp"))
    assert ["read back and verified" in text for text in pages] == [True, False, False, False]
    assert not any("before it was written" in text for text in pages)
    assert ["That order gives stars away" in text for text in pages] == [True, False, True, False]
    assert ["rows stand in random order" in text for text in pages] == [False, True, False, False]
    assert ["age: it gives back" in text for text in pages] == [True, True, False, False] and "Left out: twin." in pages[2]
    assert "--keep-order --only-named" in pages[2] and "--keep-order" not in pages[1]
    done = run("anonymize", "in.csv", *ASK, *FAST, "-o", "out.csv", "--coarsen", "age=width:10", "--report", "a.html")
    assert done.code == 0 and "before it was coarsened" in (tmp_path / "a.html").read_text() and use((tmp_path / "a.html").read_text())[2] <= 50


def test_names_that_are_not_text():
    frame = patients(300).assign(twin=lambda x: x["age"] + 1000, key=range(300), coin=1)
    frame.columns = [0, True, "<ill>", None, pd.Timestamp("2020-01-01"), 2.5]
    text = render(ldiv.anonymize(frame, [0, True], "<ill>", 3, effort="fast", order="random", drop=[2.5]))
    assert "<td>None</td><td>0: it gives back" in text and "2020-01-01 00:00:00</td><td>100 % of the rows" in text
    assert "Left out: 2.5." in text and "&lt;ill&gt;" in text and "<ill>" not in text


def test_a_page_says_what_was_asked_and_of_what(tmp_path):
    folder = tmp_path / "secret folder"
    folder.mkdir()
    source = folder / "in.csv"
    patients().to_csv(source, index=False)
    (folder / "tree.csv").write_text("".join(f"{ward};all\n" for ward in sorted(set(pd.read_csv(source)["ward"].astype(str)))))
    asked = [
        *ASK,
        *FAST,
        "--also",
        "k=5",
        "--protect",
        "ward",
        "--weight",
        "age=2",
        "--hierarchy",
        f"ward={folder / 'tree.csv'}",
        "--coarsen",
        "ward=1",
    ]
    done = run("anonymize", source, *asked, "-o", tmp_path / "out.csv", "--report", tmp_path / "page.html")
    assert done.code == 0, done.err
    text = (tmp_path / "page.html").read_text()
    assert "secret folder" not in text and str(tmp_path) not in text
    for file in (source, tmp_path / "out.csv"):
        assert hashlib.sha256(file.read_bytes()).hexdigest() in text
    for words in ("KAnonymity(k=5)", "never starred</td><td>ward", "age: 2", "ward=tree.csv", f"Python {platform.python_version()}", np.__version__):
        assert words in text, words
    assert dt.datetime.now(dt.UTC).strftime("%Y-") in text


def test_several_sensitive_columns_stand_one_by_one():
    rng = np.random.default_rng(0)
    table = {"age": rng.integers(0, 5, 400), "ill": rng.choice(list("abcde"), 400), "pay": rng.integers(0, 6, 400)}
    release = ldiv.anonymize(table, ["age"], ["ill", "pay"], 3, effort="fast")
    text = render(release)
    assert "The sensitive attribute ill" in text and "The sensitive attribute pay" in text and "(&#39;a&#39;" not in text
    most = ldiv.check(release.frame, ["age"], ["ill", "pay"], 3).max_l
    before = ldiv.check(table, ["age"], ["ill", "pay"], 3).max_l
    assert f'largest l that holds</td><td class="n">{before}</td><td class="n">{most}</td>' in text
    assert release.certificate.bound == max(ldiv.anonymize(table, ["age"], name, 3, algorithm="tp").certificate.bound for name in ("ill", "pay"))
