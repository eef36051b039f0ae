"""Sums, heights and agreement over groups of cells."""

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


def agreement(const row_t[::1] indptr not None, const index_t[::1] member not None,
              const code_t[:, ::1] codes not None):
    """What a suppression release publishes: per group and attribute the code its members share, or -1 (a star)."""
    cdef row_t groups = indptr.shape[0] - 1, g, i
    cdef Py_ssize_t d = codes.shape[1], j
    out_ = np.empty((groups, d), dtype=np.int32)
    cdef code_t[:, ::1] out = out_
    cdef index_t last
    with nogil:
        for g in range(groups):
            last = member[indptr[g]]
            for j in range(d):
                out[g, j] = codes[last, j]
            for i in range(indptr[g] + 1, indptr[g + 1]):
                if member[i] == last:      # the cells of one QI value lie side by side
                    continue
                last = member[i]
                for j in range(d):
                    if out[g, j] != codes[last, j]:
                        out[g, j] = -1
    return out_


def assign_rows(const index_t[::1] cell_of_row not None, const row_t[::1] indptr not None,
                const index_t[::1] group not None, const count_t[::1] count not None):
    """The group of each row, given for each cell the groups its rows go to and how many go there.

    Rows of a cell are alike in QI and SA; they are handed out in row order.
    """
    cdef row_t n = cell_of_row.shape[0], i
    cdef index_t c
    out_ = np.empty(n, dtype=np.int32)
    at_ = np.array(indptr, dtype=np.int64)[:len(indptr) - 1]
    left_ = np.array(count, dtype=np.int64)
    cdef index_t[::1] out = out_
    cdef row_t[::1] at = at_
    cdef count_t[::1] left = left_
    with nogil:
        for i in range(n):
            c = cell_of_row[i]
            while left[at[c]] == 0:
                at[c] += 1
            left[at[c]] -= 1
            out[i] = group[at[c]]
    return out_


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


def first_untruthful(const row_t[::1] indptr not None, const index_t[::1] cell not None, const index_t[::1] group_of_cell not None,
                     const code_t[:, ::1] codes not None, const code_t[:, ::1] published not None) -> int:
    """The first QI-group that publishes a value which a row of it does not have; -1 where there is none. Codes below 0 are not looked at."""
    cdef row_t g, i
    cdef Py_ssize_t d = codes.shape[1], j
    cdef index_t member, last
    with nogil:
        for g in range(indptr.shape[0] - 1):
            last = -1
            for i in range(indptr[g], indptr[g + 1]):
                member = group_of_cell[cell[i]]
                if member == last:
                    continue
                last = member
                for j in range(d):
                    if published[g, j] >= 0 and published[g, j] != codes[member, j]:
                        with gil:
                            return g
    return -1


def strictly_ascending(const code_t[:, ::1] rows not None) -> bool:
    """Whether each row comes after the one before, lexicographically; codes below 0 come after the others, -1 first."""
    cdef row_t i
    cdef Py_ssize_t d = rows.shape[1], j
    cdef bint after = True
    cdef code_t this, before
    with nogil:
        for i in range(1, rows.shape[0]):
            j = 0
            while j < d and rows[i, j] == rows[i - 1, j]:
                j += 1
            if j < d:
                this, before = rows[i, j], rows[i - 1, j]
                after = this > before if this >= 0 and before >= 0 else this < before
            if j == d or not after:
                after = False
                break
    return after
