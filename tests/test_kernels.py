"""Contingency and ranking against numpy, on every path: direct table, hashing, keys over 64 bits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import tables

import ldiv
from ldiv._kernels.phase_one import phase_one
from ldiv.algorithms.cascade import keeps
from ldiv.table.ranking import argsort_keys, rank_rows


@pytest.mark.parametrize("sizes", [[3], [5, 4, 3], [60_000, 3], [2**20, 2**20, 2**10], [2**30] * 3, [4] * 90])
@pytest.mark.parametrize("n", [0, 1, 500])
def test_rank_rows_is_numpy_unique(sizes, n):
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, s, n).astype(np.int32) for s in sizes]
    pick = rng.integers(0, max(n // 3, 1), n)
    columns = [c[pick] for c in columns]
    rank, first, boundary = rank_rows(columns, sizes, split=True)
    rows = np.stack(columns, axis=1)
    expected, index, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    assert np.array_equal(rank, inverse.ravel()) and np.array_equal(first, index)
    heads = expected[:, :-1]
    changes = [0, *(k for k in range(1, len(heads)) if (heads[k] != heads[k - 1]).any()), len(heads)] if n else [0]
    if len(sizes) == 1:
        changes = [0, len(heads)] if n else [0]
    assert boundary.tolist() == changes


@given(tables())
def test_contingency_counts_cells(table):
    data, _ = table
    c = data.contingency
    assert c.n == data.n and (c.count > 0).all()
    rebuilt = sorted(
        (*c.codes[g].tolist(), int(c.sensitive[k])) for g, k in zip(c.group_of_cell, range(len(c.count)), strict=True) for _ in range(c.count[k])
    )
    assert rebuilt == sorted((*q, v) for q, v in zip(data.codes.tolist(), data.sensitive.tolist(), strict=True))
    assert np.array_equal(c.histogram, np.bincount(data.sensitive, minlength=data.m))
    assert (np.bincount(c.cell_of_row, minlength=len(c.count)) == c.count).all()


@given(tables(), st.data())
def test_projection_of_cells_is_projection_of_rows(table, draw):
    data, _ = table
    attributes = draw.draw(st.lists(st.integers(0, data.d - 1), min_size=1, max_size=data.d, unique=True))
    ours, cell_of_cell = data.contingency.project(attributes)
    direct = data.project(attributes).contingency
    for name in ("codes", "indptr", "sensitive", "count"):
        assert np.array_equal(getattr(ours, name), getattr(direct, name))
    assert np.array_equal(cell_of_cell[data.contingency.cell_of_row], direct.cell_of_row)


@given(tables(), st.data())
def test_restriction(table, draw):
    data, _ = table
    c = data.contingency
    count = np.array([draw.draw(st.integers(0, int(k))) for k in c.count], dtype=np.int64)
    part, cells = c.restrict(count)
    assert np.array_equal(part.count, count[cells]) and part.n == count.sum()
    assert np.array_equal(part.codes[part.group_of_cell], c.codes[c.group_of_cell[cells]])


def test_sums_do_not_depend_on_how_rows_are_given():
    data = ldiv.Microdata.from_codes([[1, 0], [0, 1], [1, 0]], [2, 0, 2])
    same = ldiv.Microdata.from_codes(np.asfortranarray([[1, 0], [0, 1], [1, 0]]), np.array([2, 0, 2], np.uint8))
    assert np.array_equal(data.contingency.count, same.contingency.count)


@pytest.mark.parametrize(
    "sizes", [[3, 4, 5], [2**11, 2**9, 7, 50], [2**20, 2**20, 2**14, 30], [2**21, 2**21, 2**20, 4], [2**30] * 3 + [2**20], [1, 1, 1]]
)
def test_cells_by_table_by_sort_and_by_rank_are_the_same(sizes):
    """Keys of every width: a table, 32 and 64 bits, exactly 64 bits, more; rows alike many times, projections too."""
    rng = np.random.default_rng(sum(sizes))
    distinct = np.stack([rng.integers(0, size, 40) for size in sizes], axis=1)
    distinct[0], distinct[1] = 0, np.array(sizes) - 1
    rows = distinct[rng.integers(0, 40, 500)]
    rows[:40] = distinct
    data = ldiv.Microdata.from_codes(rows[:, :-1], rows[:, -1], sizes)
    c = data.contingency
    cells, inverse, counts = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    assert np.array_equal(c.codes[c.group_of_cell], cells[:, :-1]) and np.array_equal(c.sensitive, cells[:, -1])
    assert np.array_equal(c.count, counts) and np.array_equal(c.cell_of_row, inverse.ravel())
    assert c.groups == len(np.unique(rows[:, :-1], axis=0)) and c.indptr[-1] == len(cells)
    for kept in ([0], [1], list(range(data.d))[::-1], []):
        part, item = c.project(kept)
        seen, back, sums = np.unique(rows[:, [*kept, data.d]], axis=0, return_inverse=True, return_counts=True)
        assert np.array_equal(part.codes[part.group_of_cell], seen[:, :-1]) and np.array_equal(part.count, sums)
        assert np.array_equal(item[c.cell_of_row], back.ravel())
        for l, k in ((1, 1), (2, 1), (2, 5)):
            size, _ = phase_one(part.indptr, part.count, l, np.empty_like(part.count), k)
            assert keeps(c, tuple(kept), l, k) == size.sum()


@pytest.mark.parametrize(("most", "kept"), [(2, "uint8"), (256, "uint8"), (257, "uint16"), (65_536, "uint16"), (65_537, "int32")])
def test_rows_keep_codes_as_narrow_as_domains_allow(most, kept):
    """The same cells, release and published table whatever the width; at the door codes are int32, in which sums and differences do not wrap."""
    rng = np.random.default_rng(most)
    column = np.concatenate([[0, most - 1], rng.choice([0, 1, most // 2, most - 1], 118)])
    codes, sensitive = np.column_stack([column, np.arange(120) % 3]), np.arange(120) % 4
    data = ldiv.Microdata.from_codes(codes, sensitive, [most, 3])
    assert data.narrow.dtype == kept and data.codes.dtype == np.int32 and not data.narrow.flags.writeable and not data.codes.flags.writeable
    assert np.array_equal(data.codes, codes) and np.array_equal(data.narrow, codes)
    assert data.project([1]).narrow.dtype == np.uint8 and data.head(3).codes.tolist() == codes[:3].tolist()
    again = ldiv.Microdata(codes=np.asfortranarray(codes), sensitive=sensitive, domains=data.domains, sensitive_domain=data.sensitive_domain)
    assert again.narrow.dtype == kept and np.array_equal(again.codes, codes)
    wide = ldiv.Microdata.from_codes(codes, sensitive, [1 << 20, 3])
    assert np.array_equal(ldiv.solve(data, 2, algorithm="tp").published, ldiv.solve(wide, 2, algorithm="tp").published)
    assert ldiv.solve(data, 2, algorithm="cascade").stars == ldiv.solve(wide, 2, algorithm="cascade").stars
    with pytest.raises(ldiv.InputError, match="outside its domain"):
        ldiv.Microdata.from_codes(codes, sensitive, [most - 1, 3])
    table = {"a": column, "b": codes[:, 1], "s": sensitive}
    for star in ("*", None):
        release = ldiv.anonymize(
            table, ["a", "b"], "s", 2, domains={"a": range(most)} if most > 2 else None, star=star, algorithm="tp", order="random"
        )
        assert release.contingency.data.narrow.dtype == kept
        assert ldiv.verify(table, release.frame, ["a", "b"], "s", 2, star=star)


@given(st.lists(st.integers(0, 40), max_size=60), st.sampled_from([41, 2**40, 2**62]))
def test_ascending_is_a_stable_argsort(keys, span):
    key = np.array(keys, dtype=np.int64) * (span // 41)
    assert argsort_keys(key, span).tolist() == np.argsort(key, kind="stable").tolist()
