"""What groups of cells publish, and which row goes to which group."""

from ldiv._kernels.types cimport code_t, count_t, index_t, row_t

import numpy as np


def agreement(const row_t[::1] indptr not None, const index_t[::1] cell not None, const index_t[::1] group_of_cell not None,
              const code_t[:, ::1] codes not None):
    """What a suppression release publishes: per group and attribute the code its cells share, or -1 (a star)."""
    cdef row_t groups = indptr.shape[0] - 1, g, i
    cdef Py_ssize_t d = codes.shape[1], j
    out_ = np.empty((groups, d), dtype=np.int32)
    cdef code_t[:, ::1] out = out_
    cdef index_t last, member
    with nogil:
        for g in range(groups):
            last = group_of_cell[cell[indptr[g]]]
            for j in range(d):
                out[g, j] = codes[last, j]
            for i in range(indptr[g] + 1, indptr[g + 1]):
                member = group_of_cell[cell[i]]
                if member == last:      # the cells of one QI value lie side by side
                    continue
                last = member
                for j in range(d):
                    if out[g, j] != codes[last, j]:
                        out[g, j] = -1
    return out_


def kept_and_left(const count_t[::1] kept not None, const count_t[::1] count not None, const index_t[::1] group_of_cell not None,
                  index_t rest):
    """Entries (group, cell, rows) of what stays in the groups of equal rows, then of what does not, which goes to the group `rest`."""
    cdef row_t cells = count.shape[0], c, stay = 0, leave = 0
    with nogil:
        for c in range(cells):
            stay += kept[c] > 0
            leave += kept[c] < count[c]
    group_, cell_ = np.empty(stay + leave, dtype=np.int32), np.empty(stay + leave, dtype=np.int32)
    rows_ = np.empty(stay + leave, dtype=np.int64)
    cdef index_t[::1] group = group_, cell = cell_
    cdef count_t[::1] rows = rows_
    with nogil:
        leave = stay
        stay = 0
        for c in range(cells):
            if kept[c] > 0:
                group[stay] = group_of_cell[c]
                cell[stay] = <index_t>c
                rows[stay] = kept[c]
                stay += 1
            if kept[c] < count[c]:
                group[leave] = rest
                cell[leave] = <index_t>c
                rows[leave] = count[c] - kept[c]
                leave += 1
    return group_, cell_, rows_


def pairs_ascend(const index_t[::1] group not None, const index_t[::1] cell not None) -> bool:
    """Whether pairs (group, cell) come in order, each once."""
    cdef row_t i
    cdef bint ascend = True
    with nogil:
        for i in range(1, group.shape[0]):
            if group[i] < group[i - 1] or (group[i] == group[i - 1] and cell[i] <= cell[i - 1]):
                ascend = False
                break
    return ascend


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
