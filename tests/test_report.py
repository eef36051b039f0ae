"""The HTML page about a release, and the commands that write it."""

import html
import re
import shlex
import subprocess
import sys

import numpy as np
import pandas as pd

import ldiv
from ldiv.report import render


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
    assert "bound on stars does not apply" in page(algorithm="mondrian")
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
