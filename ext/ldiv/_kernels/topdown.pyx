"""Kernels of the top-down algorithms: TDS (specialisation along taxonomies) and Mondrian (median splits).

Both keep the groups of equal rows in one array in which every QI-group is a run, and refine runs in place.
"""

from ldiv._kernels.types cimport code_t, count_t, index_t, row_t

import numpy as np


def split_runs(index_t[::1] order not None, const row_t[:, ::1] runs not None, const index_t[::1] child_of not None,
               index_t children):
    """Split each run of `order` by child_of[group], stably; returns the new runs (low, high, child) that are not empty."""
    cdef row_t r, i, at, low, high
    cdef index_t k
    out_ = np.empty((runs.shape[0] * children, 3), dtype=np.int64)
    cdef row_t[:, ::1] out = out_
    cdef row_t[::1] start = np.zeros(children + 1, dtype=np.int64)
    cdef index_t[::1] copy = np.empty(order.shape[0], dtype=np.int32)
    cdef row_t made = 0
    with nogil:
        for r in range(runs.shape[0]):
            low, high = runs[r, 0], runs[r, 1]
            for k in range(children + 1):
                start[k] = 0
            for i in range(low, high):
                copy[i] = order[i]
                start[child_of[order[i]] + 1] += 1
            for k in range(children):
                start[k + 1] += start[k]
                if start[k + 1] > start[k]:
                    out[made, 0], out[made, 1], out[made, 2] = low + start[k], low + start[k + 1], k
                    made += 1
            for i in range(low, high):
                k = child_of[copy[i]]
                order[low + start[k]] = copy[i]
                start[k] += 1
    return out_[:made]


def least_ratios(const index_t[::1] order not None, const row_t[:, ::1] runs not None, const index_t[:, ::1] child_of not None,
                 const index_t[::1] children not None, const row_t[::1] indptr not None,
                 const code_t[::1] sensitive not None, const count_t[::1] count not None, code_t m, count_t l, count_t k_rows=1):
    """What splitting each run by each attribute's next children would leave: the least |Q| / h(Q) (where only `k_rows` is asked, |Q|), and whether all are l-eligible
    with at least `k_rows` rows.

    child_of[j, group] is the child, below the group's present node of attribute j, that holds it. Returns two arrays of shape (runs, d).
    """
    cdef row_t r, i, c
    cdef Py_ssize_t d = child_of.shape[0], j
    cdef index_t widest = max(children) if children.shape[0] else 1, k, g
    cdef count_t size, height
    ratio_ = np.full((runs.shape[0], d), np.inf)
    valid_ = np.ones((runs.shape[0], d), dtype=np.int8)
    cdef double[:, ::1] ratio = ratio_
    cdef signed char[:, ::1] valid = valid_
    cdef count_t[:, ::1] part = np.zeros((widest, m), dtype=np.int64)
    cdef count_t[::1] rows = np.zeros(widest, dtype=np.int64)
    cdef count_t[::1] top = np.zeros(widest, dtype=np.int64)
    with nogil:
        for r in range(runs.shape[0]):
            for j in range(d):
                if children[j] == 0:
                    continue
                for i in range(runs[r, 0], runs[r, 1]):
                    g = order[i]
                    k = child_of[j, g]
                    for c in range(indptr[g], indptr[g + 1]):
                        part[k, sensitive[c]] += count[c]
                        rows[k] += count[c]
                        if part[k, sensitive[c]] > top[k]:
                            top[k] = part[k, sensitive[c]]
                for i in range(runs[r, 0], runs[r, 1]):
                    g = order[i]
                    k = child_of[j, g]
                    for c in range(indptr[g], indptr[g + 1]):
                        part[k, sensitive[c]] = 0
                for k in range(children[j]):
                    if rows[k]:
                        if k_rows > l == 1:
                            top[k] = 1
                        if <double>rows[k] / top[k] < ratio[r, j]:
                            ratio[r, j] = <double>rows[k] / top[k]
                        if rows[k] // l < top[k] or rows[k] < k_rows:
                            valid[r, j] = 0
                    rows[k] = 0
                    top[k] = 0
    return ratio_, valid_


def median_splits(const code_t[:, ::1] codes not None, const code_t[::1] seen not None, const row_t[::1] offset not None,
                  const code_t[::1] sizes not None, const row_t[::1] indptr not None, const code_t[::1] sensitive not None,
                  const count_t[::1] count not None, code_t m, count_t l, count_t k=1):
    """Strict Mondrian: the final QI-group of each group of equal rows.

    `codes` numbers the values that are seen of each attribute, `seen[offset[j] + number]` is the value's own code: widths are those of the domain, but
    nothing grows with it. A run is cut at the median of the attribute of widest normalised range whose cut leaves both halves l-eligible
    with at least k rows.
    """
    cdef row_t s = codes.shape[0], i, c, low, high, middle, top = 0
    cdef Py_ssize_t d = codes.shape[1], j, tries
    cdef code_t least, most, cut, a, v
    cdef index_t g, number = 0, swap
    cdef count_t total, running, left, left_top, right_top
    cdef double width, best
    cdef Py_ssize_t chosen
    out_ = np.empty(s, dtype=np.int32)
    cdef index_t[::1] out = out_
    cdef index_t[::1] order = np.arange(s, dtype=np.int32)
    cdef row_t[:, ::1] stack = np.empty((s + 1, 2), dtype=np.int64)
    cdef double[::1] widths = np.empty(d)
    cdef code_t[::1] lows = np.empty(d, dtype=np.int32), highs = np.empty(d, dtype=np.int32)
    cdef count_t[::1] by_code = np.zeros(int(np.max(codes, initial=0)) + 1, dtype=np.int64)
    cdef count_t[:, ::1] half = np.zeros((2, m), dtype=np.int64)
    with nogil:
        if s:
            stack[0, 0], stack[0, 1] = 0, s
            top = 1
        while top > 0:
            top -= 1
            low, high = stack[top, 0], stack[top, 1]
            for j in range(d):
                least, most = codes[order[low], j], codes[order[low], j]
                for i in range(low + 1, high):
                    a = codes[order[i], j]
                    if a < least:
                        least = a
                    if a > most:
                        most = a
                lows[j], highs[j] = least, most
                widths[j] = <double>(seen[offset[j] + most] - seen[offset[j] + least]) / (sizes[j] - 1 if sizes[j] > 1 else 1)
            middle = low
            for tries in range(d):
                chosen, best = -1, 0.0
                for j in range(d):
                    if widths[j] > best:
                        chosen, best = j, widths[j]
                if chosen < 0:
                    break
                widths[chosen] = -1.0
                least, most = lows[chosen], highs[chosen]
                total = 0
                for i in range(low, high):
                    g = order[i]
                    for c in range(indptr[g], indptr[g + 1]):
                        by_code[codes[g, chosen]] += count[c]
                        total += count[c]
                cut, running = least, by_code[least]
                while running < total - running and cut < most - 1:
                    cut += 1
                    running += by_code[cut]
                for a in range(least, most + 1):
                    by_code[a] = 0
                left, left_top, right_top = 0, 0, 0
                for i in range(low, high):
                    g = order[i]
                    a = 0 if codes[g, chosen] <= cut else 1
                    for c in range(indptr[g], indptr[g + 1]):
                        v = sensitive[c]
                        half[a, v] += count[c]
                        if a == 0:
                            left += count[c]
                            if half[0, v] > left_top:
                                left_top = half[0, v]
                        elif half[1, v] > right_top:
                            right_top = half[1, v]
                for i in range(low, high):
                    g = order[i]
                    for c in range(indptr[g], indptr[g + 1]):
                        half[0, sensitive[c]] = 0
                        half[1, sensitive[c]] = 0
                if left // l >= left_top and (total - left) // l >= right_top and left >= k and total - left >= k:
                    middle = low
                    for i in range(low, high):
                        if codes[order[i], chosen] <= cut:
                            swap = order[middle]
                            order[middle] = order[i]
                            order[i] = swap
                            middle += 1
                    break
            if middle > low:
                stack[top, 0], stack[top, 1] = low, middle
                stack[top + 1, 0], stack[top + 1, 1] = middle, high
                top += 2
            else:
                for i in range(low, high):
                    out[order[i]] = number
                number += 1
    return out_
