"""What one sees of an object: short whatever it holds, escaped in notebooks; and drawings, whose numbers are the release's."""

import builtins

import matplotlib as mpl
import numpy as np
import pytest

import ldiv

mpl.use("Agg")
LONG = "<b>" + "x" * 400


def objects():
    rng = np.random.default_rng(0)
    rows = 3000
    names = [f"{LONG}{k}" if k == 0 else f"a{k}" for k in range(30)]
    table = {name: rng.integers(0, 3, rows) for name in names} | {
        "id": np.arange(rows),
        "s": np.array([f"{LONG}{v}" for v in rng.integers(0, 9, rows)]),
    }
    qi = [*names, "id"]
    data = ldiv.Microdata.from_frame(table, qi, "s")
    release = ldiv.anonymize(table, qi[:3], "s", 3, algorithm="tp")
    yield from (data, data.contingency, release, release.certificate, release.publication, release.publication.verdict, release.plot)
    yield ldiv.check(table, qi, "s", 3)
    yield ldiv.check(table, qi, "s", 3).violations
    yield data.domains[-1]


@pytest.mark.parametrize("thing", list(objects()), ids=lambda x: type(x).__name__)
def test_short_and_escaped(thing):
    assert len(repr(thing)) < 1000 and "\n" not in repr(thing)
    if hasattr(thing, "_repr_html_"):
        page = thing._repr_html_()
        assert page.startswith("<table>") and "<b>" not in page and len(page) < 20_000


def test_a_check_in_a_notebook_shows_the_worst_groups_and_how_many_more():
    rows = 100_000
    report = ldiv.check({"id": np.arange(rows), "s": np.arange(rows) % 5}, ["id"], "s", 2)
    assert repr(report) == "<CheckReport not 2-diverse, 100,000 violations: 100,000 rows, 100,000 groups, l-diverse up to 1>"
    assert "and 99,990 more" in report._repr_html_() and report._repr_html_().count("<tr>") == 12
    assert len(report.violations[:3]) == 3 and report.violations[-1].group == {"id": rows - 1}
    with pytest.raises(IndexError):
        report.violations[rows]


@pytest.fixture(scope="module")
def releases():
    data = ldiv.datasets.load("acs2018", qi=["Age", "Race", "Gender"])
    return [ldiv.solve(data, l, algorithm=name) for l in (2, 6) for name in ("tp", "cascade")]


def test_numbers_of_drawings(releases):
    release = releases[-1]
    words = [text.get_text() for text in release.plot.stars().texts]
    assert [int(word.split(" ")[0].replace(",", "")) for word in words] == list(release.stars_by_attribute.values())
    axes = release.plot.groups()
    assert sum(bar.get_width() for bar in axes.patches) == release.n
    assert sum(int(text.get_text().split(" in ")[1].split(" ")[0].replace(",", "")) for text in axes.texts) == release.groups
    line = release.plot.shares().lines[0]
    assert line.get_ydata()[-1] == release.n and max(line.get_xdata()) <= 1 / release.l
    axes = ldiv.plot_compare(releases)
    drawn = {line.get_label(): list(line.get_ydata()) for line in axes.lines}
    assert drawn["tp"] == [releases[0].stars, releases[2].stars] and drawn["cascade"] == [releases[1].stars, releases[3].stars]
    assert drawn["no release has fewer"] == [max(r.certificate.bound for r in releases if r.l == l) for l in (2, 6)]
    axes = ldiv.plot_compare({"mine": releases[2], "theirs": releases[3]}, what="groups")
    assert [text.get_text() for text in axes.texts] == [f"{r.groups:,}" for r in releases[2:]]
    other = ldiv.solve(ldiv.datasets.load("acs2018", qi=["Age", "Race"]), 6, algorithm="tp")
    assert not ldiv.plot_compare({"mine": releases[2], "coarser": other}).lines, "the bound of one table is none of another"
    rows = [{"l": l, "algorithm": "tp", "seconds": l / 10, "stars": None} for l in (2, 3)]
    assert list(ldiv.plot_compare(rows, what="seconds").lines[0].get_ydata()) == [0.2, 0.3]
    mpl.pyplot.close("all")


def test_drawing_on_given_axes_and_what_cannot_be_drawn(releases, monkeypatch):
    _, axes = mpl.pyplot.subplots()
    assert releases[0].plot.stars(axes) is axes
    empty = ldiv.solve(ldiv.Microdata.from_codes(np.zeros((0, 2), int), np.zeros(0, int)), 2)
    for draw in (empty.plot.stars, empty.plot.groups, empty.plot.shares):
        draw()
    for call, message in (
        (lambda: releases[0].plot.stars("x"), "ax must be axes of matplotlib"),
        (lambda: ldiv.plot_compare([]), "nothing to compare"),
        (lambda: ldiv.plot_compare(releases, what="kl"), "no release has 'kl'"),
        (lambda: ldiv.plot_compare(5), "nothing to compare"),
        (lambda: ldiv.plot_compare([5]), "releases must be releases"),
    ):
        with pytest.raises(ldiv.InputError, match=message):
            call()
    mpl.pyplot.close("all")
    real = builtins.__import__
    monkeypatch.setattr(
        builtins, "__import__", lambda name, *rest: (_ for _ in ()).throw(ImportError(name)) if "matplotlib" in name else real(name, *rest)
    )
    with pytest.raises(ldiv.InputError, match=r"drawing needs matplotlib: pip install 'ldiv\[report\]'"):
        releases[0].plot.stars()


def test_a_certificate_in_a_notebook():
    page = ldiv.Certificate(1234, 1200, "counting")._repr_html_()
    assert "1,234" in page and "1,200" in page and "1.0283" in page and "counting" in page
    assert "a contradiction" in ldiv.Certificate(3, 5, "counting")._repr_html_()
