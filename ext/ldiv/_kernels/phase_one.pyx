"""Phase one of TP (section 5.1): every group cut to its largest l-eligible height."""

from ldiv._kernels.types cimport code_t, count_t, packed_t, row_t

import numpy as np

cdef count_t HIGHEST = <count_t>1 << 62


cdef count_t cut_of(const count_t* count, const code_t* sensitive, row_t cells, count_t l, count_t k, const signed char* forced, count_t wanted,
                    count_t* rows) except -1 nogil:
    """The height H to which phase one cuts a group, and the rows it leaves there; see :func:`phase_one`."""
    cdef count_t cut = 0, below = 0, above, found = 0, cap = HIGHEST
    cdef row_t c
    rows[0] = 0
    if cells < l:       # fewer than l values: no height is eligible
        return 0
    if wanted > 0:
        for c in range(cells):
            if forced[sensitive[c]]:
                found += 1
                cap = count[c] if count[c] < cap else cap
        if found < wanted:
            return 0
    for c in range(cells):
        below += count[c]
        if count[c] > cut:
            cut = count[c]
    if below // l < cut:
        while True:
            below = 0
            above = 0
            for c in range(cells):
                if count[c] >= cut:
                    above += 1
                else:
                    below += count[c]
            if above >= l or below // (l - above) >= cut:
                below += above * cut
                break
            cut = below // (l - above)
    if cap < cut:
        cut = cap
        below = 0
        for c in range(cells):
            below += count[c] if count[c] < cut else cut
    if below < k:
        return 0
    rows[0] = below
    return cut


def phase_one(const row_t[::1] indptr not None, const count_t[::1] count not None, count_t l,
              count_t[::1] kept not None, count_t k=1, const code_t[::1] sensitive=None, const signed char[::1] forced=None):
    """Cut every group to its largest l-eligible height; fills `kept`, returns (size, height) of what stays.

    The result is unique (Lemma 2's ground): a group keeps min(count, H) rows of every value, H the largest height with
    f(H) = sum_v min(count_v, H) - l * H >= 0. f is concave, so Newton's steps from the pillar height fall to
    the root from above, a step or two in practice. O(cells) a step. Compares quotients, not products, which could pass 64 bits.

    A group that keeps fewer than k rows then keeps none: every l-eligible part of it lies below the cut, so no part of it can be published.

    Where `forced` marks SA values that have to be pillars of every group (:func:`ldiv.algorithms.tp.forced_pillars`), the cut is no higher than the
    least of theirs, and a group that lacks one keeps nothing: f is concave and f(0) = 0, so every height below the root is eligible.
    """
    cdef row_t groups = indptr.shape[0] - 1, g, c
    cdef count_t wanted = int(np.sum(forced)) if forced is not None and sensitive is not None else 0
    size_ = np.zeros(groups, dtype=np.int64)
    height_ = np.zeros(groups, dtype=np.int64)
    cdef count_t[::1] size = size_, height = height_
    cdef count_t cut
    cdef const code_t* value = NULL
    cdef const signed char* flag = NULL
    if count.shape[0] == 0:
        return size_, height_
    if wanted > 0:
        value, flag = &sensitive[0], &forced[0]
    with nogil:
        for g in range(groups):
            cut = cut_of(&count[0] + indptr[g], value + indptr[g] if wanted > 0 else NULL, indptr[g + 1] - indptr[g], l, k, flag, wanted, &size[g])
            height[g] = cut
            for c in range(indptr[g], indptr[g + 1]):
                kept[c] = count[c] if count[c] < cut else cut
    return size_, height_


def kept_of_sorted(const packed_t[::1] key not None, int last, int bits, count_t l, count_t k=1, const signed char[::1] forced=None) -> int:
    """How many rows phase one keeps of cells given as ascending keys: the group, `last` bits of the SA code, `bits` bits of rows.

    A group's cells are put together as they pass by, so that nothing is stored but one group.
    """
    cdef row_t n = key.shape[0], i, cells = 0
    cdef count_t wanted = int(np.sum(forced)) if forced is not None else 0, rows = 0, kept = 0
    cdef packed_t low = (<packed_t>1 << bits) - 1, codes = (<packed_t>1 << last) - 1, group = 0, this
    cdef bint alone = bits + last >= 8 * <int>sizeof(packed_t)      # nothing stands above: one group, and no shift by the whole width
    cdef code_t v
    if n == 0:
        return 0
    size = min(n, 1 << min(last, 40))
    cdef count_t[::1] count = np.empty(size, dtype=np.int64)
    cdef code_t[::1] value = np.empty(size, dtype=np.int32)
    cdef const signed char* flag = NULL
    if wanted > 0:
        flag = &forced[0]
    with nogil:
        for i in range(n):
            this = 0 if alone else key[i] >> (bits + last)
            if i > 0 and this != group:
                cut_of(&count[0], &value[0], cells, l, k, flag, wanted, &rows)
                kept += rows
                cells = 0
            group = this
            v = <code_t>(key[i] >> bits & codes)
            if cells == 0 or value[cells - 1] != v:
                count[cells] = 0
                value[cells] = v
                cells += 1
            count[cells - 1] += <count_t>(key[i] & low)
        cut_of(&count[0], &value[0], cells, l, k, flag, wanted, &rows)
    return kept + rows
