"""The trust boundary: nothing public corrupts memory, reads what nobody wrote, or wraps; what is broken harms only who asks for it."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ldiv
import ldiv._kernels.keys as _keys
from ldiv.algorithms.cascade import keeps
from ldiv.table.arrays import dot, frozen, total
from ldiv.table.contingency import Contingency

HERE = Path(__file__).parent


def test_nasty_input_is_refused_in_a_process_that_lives_on():
    """Thousands of wrong objects, arrays and plug-ins, where a crash would not take the tests along."""
    done = subprocess.run([sys.executable, "-W", "error", HERE / "nasty.py"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and "tried" in done.stdout, (done.returncode, done.stdout[-3000:], done.stderr[-2000:])


def test_what_was_looked_at_does_not_change():
    codes, sensitive = np.array([[0], [1]], dtype=np.int32, order="F"), np.array([0, 1], dtype=np.int32)
    data = ldiv.Microdata(codes, sensitive, (ldiv.Domain("a", 2),), ldiv.Domain("s", 2))
    codes[:] = 10**8
    assert data.contingency.codes.tolist() == [[0], [1]]
    count = np.array([1, 1])
    cells = ldiv.Contingency([[0]], [0, 2], [0, 1], count, data.domains, data.sensitive_domain)
    count[:] = 10**18
    assert cells.n == 2
    for array in (data.codes, data.sensitive, cells.count, cells.codes, cells.group_of_cell, data.contingency.cell_of_row, ldiv.solve(data, 2).cell):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    below = np.arange(4)
    view = below.view()
    view.setflags(write=False)
    assert frozen(view) is not view  # its base can be written to
    assert frozen(frozen(view)).base is None


def test_a_release_is_looked_at_again_only_where_it_changed():
    from dataclasses import replace

    release = ldiv.solve(ldiv.Microdata.from_codes([[0], [1]], [0, 1]), 2)
    assert replace(release, star="?").cell is release.cell
    with pytest.raises(ldiv.InputError, match=r"cell\[0\] must be a whole number, at least 0 and at most 1, not 100,?000,?000"):
        replace(release, cell=np.array([10**8, 1], dtype=np.int32))


def test_keys_of_the_whole_width():
    """One value in every attribute and 65,536 sensitive ones, with cells of 40,000 rows: 16 + 16 bits; and cells of 2**31 rows in 32."""
    domains, sensitive = (ldiv.Domain("a", 1), ldiv.Domain("b", 1)), ldiv.Domain("s", 65_536)
    cells = Contingency([[0, 0]], [0, 200], np.arange(200) * 300, np.full(200, 40_000), domains, sensitive)
    for kept in ((), (0,), (0, 1)):
        assert cells.sorted_keys(kept) is not None and keeps(cells, kept, 2) == 200 * 40_000 and keeps(cells, kept, 201) == 0
    one = Contingency([[0]], [0, 1], [0], [2**31], (ldiv.Domain("a", 1),), ldiv.Domain("s", 1))
    assert keeps(one, (0,), 1) == 2**31 and one.project([0])[0].count.tolist() == [2**31]


def test_hashed_keys():
    keys = np.random.default_rng(0).integers(0, 2**63, 5000).astype(np.uint64)
    rank, distinct = _keys.rank_hashed(keys)
    assert np.array_equal(distinct[rank], keys)


@pytest.mark.parametrize("a, b", [([2**62, 2**62], [3, 4]), ([1] * 5, [2**62] * 5), ([0], [0]), ([], []), ([2**40, 1], [-(2**40), 7])])
def test_sums_do_not_wrap(a, b):
    assert dot(np.array(a, dtype=np.int64), np.array(b, dtype=np.int64)) == sum(x * y for x, y in zip(a, b, strict=True))
    assert total(np.array(a, dtype=np.int64)) == sum(a)


def announce(folder, monkeypatch, **points):
    """An installed package with these entry points."""
    meta = folder / "others-1.0.dist-info"
    meta.mkdir()
    (meta / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 1.0\n")
    (meta / "entry_points.txt").write_text("[ldiv.algorithms]\n" + "".join(f"{name} = {value}\n" for name, value in points.items()))
    monkeypatch.syspath_prepend(str(folder))


def test_a_broken_entry_point_harms_only_who_asks_for_it(tmp_path, monkeypatch):
    from ldiv.algorithms import _load, _registry

    (tmp_path / "others.py").write_text(
        "import ldiv\nnone = 5\nfine = ldiv.Algorithm('fine', lambda contingency, l: ldiv.solve(contingency, l, algorithm='tp'))\n"
    )
    announce(tmp_path, monkeypatch, gone="no_such_module:algorithm", lost="others:nothing", number="others:none", fine="others:fine")
    data = ldiv.Microdata.from_codes([[0], [1]], [0, 1])
    before = dict(_registry)
    _load.cache_clear()
    try:
        assert ldiv.solve(data, 2, algorithm="tp").stars == 2  # without a warning: others are not even loaded
        assert ldiv.solve(data, 2, algorithm="fine").stars == 2
        for name, reason in (("gone", "ModuleNotFoundError"), ("lost", "AttributeError"), ("number", "not an Algorithm")):
            with pytest.raises(ldiv.InputError, match=f"algorithm '{name}' is announced by .* but cannot be loaded: .*{reason}"):
                ldiv.solve(data, 2, algorithm=name)
        _load.cache_clear()
        with pytest.warns(UserWarning, match="is left out"):
            assert "fine" in ldiv.algorithms() and "gone" not in ldiv.algorithms()
    finally:
        _registry.clear()
        _registry.update(before)
        _load.cache_clear()


def test_an_error_in_a_kernel_is_never_swallowed():
    """A function that is noexcept can raise nothing: so it must read no memory that is checked. Indices from the end are errors in every build."""
    root = HERE.parent
    if not (root / "ext").exists():
        pytest.skip("needs a checkout")
    signature = re.compile(r"cdef [^\n(]*\([^()]*\)[^\n]*noexcept")  # its arguments may take several lines
    found = [text for path in (root / "ext").rglob("*.p[yx][xd]") for text in signature.findall(path.read_text())]
    assert found and not [text for text in found if "self" in text or "[" in text]
    assert '"wraparound": False' in (root / "setup.py").read_text()


def test_repeated_threads_and_results():
    data = ldiv.datasets.load("acs2018", qi=["Gender", "Race", "MaritalStatus"])
    one, many = (ldiv.solve(data, 6, threads=k) for k in (1, 7))
    assert one.info["bound"] == many.info["bound"] and one.stars == many.stars
