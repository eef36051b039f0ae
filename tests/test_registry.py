"""The registry: what is listed, and how a user's algorithm enters it."""

import re
from pathlib import Path

import pytest

import ldiv
from ldiv import algorithms as listing
from ldiv.algorithms import Algorithm, _registry

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture
def clean():
    ldiv.algorithms()
    before = dict(_registry)
    yield
    _registry.clear()
    _registry.update(before)


def test_every_algorithm_says_what_it_promises():
    names = set(ldiv.algorithms())
    assert {"tp", "tp+", "hilbert", "tds", "mondrian", "multidim"} <= names
    for entry in ldiv.algorithms().values():
        assert entry.guarantee and entry.cost and entry.source


def test_the_documented_example_runs(clean, capsys):
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "own-algorithm.md").read_text(), re.DOTALL)
    scope: dict = {}
    for block in blocks:
        exec(block, scope)
    assert "first-attribute l=6" in capsys.readouterr().out
    assert len(blocks[0].strip().splitlines()) - 3 <= 11


def test_it_passes_the_contract(clean):
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "own-algorithm.md").read_text(), re.DOTALL)
    exec(blocks[0], {})
    import test_contract as contract

    name = "first-attribute"
    for check in (  # not test_l_1_changes_nothing: it groups by one attribute, so it stars the others even for l = 1
        "test_release_is_l_diverse_with_k_rows_to_an_outsider",
        "test_release_is_truthful",
        "test_row_order_does_not_matter",
        "test_suppression_stars_are_minimal_for_its_groups",
        "test_empty_and_tiny_tables",
        "test_an_infeasible_l_is_refused",
        "test_many_attributes",
    ):
        getattr(contract, check)(name)


def test_an_installed_package_announces_its_algorithm(clean, tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(
        "import ldiv\n"
        "def solve(contingency, l, *, seed=None):\n    return ldiv.algorithms()['tp'].solve(contingency, l)\n"
        "algorithm = ldiv.Algorithm('mine', solve, guarantee='as TP')\n"
    )
    meta = tmp_path / "mine-1.0.dist-info"
    meta.mkdir()
    (meta / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (meta / "entry_points.txt").write_text("[ldiv.algorithms]\nmine = mine:algorithm\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    from ldiv.algorithms import _load

    _load.cache_clear()
    assert ldiv.algorithms()["mine"].guarantee == "as TP"
    data = ldiv.Microdata.from_codes([[0], [1]], [0, 1])
    assert ldiv.solve(data, 2, algorithm="mine").stars == 2
    _load.cache_clear()


def test_names_are_unique_and_unknown_names_are_listed(clean):
    with pytest.raises(ldiv.InputError, match="'tp' is registered already"):
        ldiv.register("tp")(lambda contingency, l: None)
    with pytest.raises(ldiv.InputError, match="no algorithm 'tq'; there are: .*tp"):
        ldiv.solve(ldiv.Microdata.from_codes([[0]], [0]), 1, algorithm="tq")
    assert isinstance(listing()["tp"], Algorithm)


def test_an_unsafe_algorithm_is_withheld(clean):
    """Verification stands between a defective algorithm and the user."""
    import numpy as np

    @ldiv.register("careless")
    def careless(contingency, l, *, seed=None):
        cells = np.arange(len(contingency.count), dtype=np.int32)
        return ldiv.Release.from_entries(contingency, contingency.group_of_cell, cells, contingency.count, l=l, algorithm="careless")

    @ldiv.register("loser")
    def loser(contingency, l, *, seed=None):
        cells = np.arange(len(contingency.count) - 1, dtype=np.int32)
        return ldiv.Release.from_entries(contingency, cells * 0, cells, contingency.count[:-1], l=l, algorithm="loser")

    @ldiv.register("liar")
    def liar(contingency, l, *, seed=None):
        cells = np.arange(len(contingency.count), dtype=np.int32)
        return ldiv.Release.from_entries(
            contingency, cells * 0, cells, contingency.count, l=l, algorithm="liar", published=np.array([[0]], dtype=np.int32)
        )

    data = ldiv.Microdata.from_codes([[0], [1], [2], [2]], [0, 1, 0, 1])
    for name, message in [("careless", "not 2-eligible"), ("loser", "every row exactly once"), ("liar", "do not have")]:
        with pytest.raises(ldiv.UnsafeReleaseError, match=message):
            ldiv.solve(data, 2, algorithm=name)
