"""Sums and heights over groups of cells."""

from ldiv._kernels.types cimport code_t, count_t, index_t, row_t

import numpy as np


def first_rows(const index_t[::1] rank not None, index_t distinct):
    """The first row of each rank, int32."""
    first_ = np.empty(distinct, dtype=np.int32)
    cdef index_t[::1] first = first_
    cdef row_t i
    with nogil:
        for i in range(rank.shape[0] - 1, -1, -1):
            first[rank[i]] = <index_t>i
    return first_


def tally(const index_t[::1] rank not None, index_t distinct, const count_t[::1] weight=None):
    """How many rows (or how much weight) each rank has, int64."""
    total_ = np.zeros(distinct, dtype=np.int64)
    cdef count_t[::1] total = total_
    cdef row_t i
    with nogil:
        if weight is None:
            for i in range(rank.shape[0]):
                total[rank[i]] += 1
        else:
            for i in range(rank.shape[0]):
                total[rank[i]] += weight[i]
    return total_


def heights(const row_t[::1] indptr not None, const code_t[::1] sensitive not None,
            const count_t[::1] count not None, code_t m):
    """Per group of a CSR: its size, its pillar height and its smallest pillar (-1 for an empty group).

    An SA value may stand in several entries of a group; O(entries), with one scratch array of m counts.
    """
    cdef row_t groups = indptr.shape[0] - 1, g, i
    size_ = np.zeros(groups, dtype=np.int64)
    height_ = np.zeros(groups, dtype=np.int64)
    pillar_ = np.full(groups, -1, dtype=np.int32)
    scratch_ = np.zeros(m, dtype=np.int64)
    cdef count_t[::1] size = size_, height = height_, scratch = scratch_
    cdef code_t[::1] pillar = pillar_
    cdef code_t v
    with nogil:
        for g in range(groups):
            for i in range(indptr[g], indptr[g + 1]):
                scratch[sensitive[i]] += count[i]
                size[g] += count[i]
            for i in range(indptr[g], indptr[g + 1]):
                v = sensitive[i]
                if scratch[v] > height[g] or (scratch[v] == height[g] and v < pillar[g]):
                    height[g] = scratch[v]
                    pillar[g] = v
            for i in range(indptr[g], indptr[g + 1]):
                scratch[sensitive[i]] = 0
    return size_, height_, pillar_


def filled(const row_t[::1] indptr not None, const count_t[::1] count not None):
    """Of cells in CSR those that have rows: (their numbers, the groups that have one, indptr over these)."""
    cdef row_t groups = indptr.shape[0] - 1, g, i, cells = 0, some = 0, before
    for_cells = np.count_nonzero(count)
    cell_, group_, starts_ = np.empty(for_cells, dtype=np.int32), np.empty(groups, dtype=np.int32), np.empty(groups + 1, dtype=np.int64)
    cdef index_t[::1] cell = cell_, group = group_
    cdef row_t[::1] starts = starts_
    with nogil:
        for g in range(groups):
            before = cells
            for i in range(indptr[g], indptr[g + 1]):
                if count[i] > 0:
                    cell[cells] = <index_t>i
                    cells += 1
            if cells > before:
                group[some] = <index_t>g
                starts[some] = before
                some += 1
        starts[some] = cells
    return cell_, group_[:some].copy(), starts_[:some + 1].copy()


def hand_out(const index_t[::1] item not None, const count_t[::1] wanted not None, const count_t[::1] rows not None):
    """Rows of each cell so that every item gets what it wants of the `rows` its cells have, cells in order. int64."""
    out_ = np.zeros(item.shape[0], dtype=np.int64)
    left_ = np.array(wanted, dtype=np.int64)
    cdef count_t[::1] out = out_, left = left_
    cdef row_t c
    cdef count_t take
    with nogil:
        for c in range(item.shape[0]):
            take = rows[c] if rows[c] < left[item[c]] else left[item[c]]
            left[item[c]] -= take
            out[c] = take
    return out_
