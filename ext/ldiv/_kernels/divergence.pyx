"""Kernels of KL-divergence: how much of the release lies at each point of the table."""

from ldiv._kernels.types cimport code_t, count_t, index_t, key_t, row_t, uint64_t

import numpy as np

cdef enum:
    SMALL = 1 << 14     # entries of a table that are always few enough


cdef inline uint64_t mix(uint64_t k) noexcept nogil:
    return (k ^ (k >> 32)) * <uint64_t>0x9E3779B97F4A7C15


def spread_pattern(const key_t[::1] point_key not None, const row_t[::1] indptr not None, const code_t[::1] sensitive not None,
                   key_t mask, const index_t[::1] groups not None, const key_t[::1] group_key not None,
                   const row_t[::1] held_indptr not None, const code_t[::1] held_sensitive not None,
                   const count_t[::1] held not None, code_t m, double share, double[::1] out not None) -> None:
    """Add `share` times what a published group holds of its SA value to every cell whose point agrees with the group under the mask.

    `groups` are all that publish one set of starred attributes, so no two have the same key; share is 1 over the volume of the starred domains. The SA
    values of a group ascend. One hash table of the groups, probed by every point, O(groups + points), and a look-up for each cell of a point that
    is found: in a table of groups by SA values where that has no more entries than there are cells, else a search. A bit for an eighth of a slot says
    first whether there can be anything: most points agree with nothing published in most patterns.
    """
    cdef row_t many = groups.shape[0], i, s, low, high, middle, end
    cdef bint dense = many * m <= out.shape[0] or many * m <= SMALL
    cdef double[::1] table = np.zeros(many * m if dense else 1, dtype=np.float64)
    cdef int bits = 4
    while (<row_t>1 << bits) < 2 * many:
        bits += 1
    cdef uint64_t slots = <uint64_t>1 << bits, last = slots - 1, at
    cdef int shift = 64 - bits
    cdef key_t[::1] key = np.empty(slots, dtype=np.uint64)
    cdef index_t[::1] number = np.full(slots, -1, dtype=np.int32)
    cdef uint64_t[::1] taken = np.zeros((slots + 7) >> 3, dtype=np.uint64)
    cdef uint64_t fine
    cdef key_t k
    cdef index_t g
    cdef code_t v
    with nogil:
        for i in range(many):
            k = group_key[groups[i]] & mask
            fine = mix(k) >> (shift - 3)
            taken[fine >> 6] |= <uint64_t>1 << (fine & 63)
            at = fine >> 3
            while number[at] >= 0:
                at = (at + 1) & last
            key[at] = k
            number[at] = <index_t>i if dense else groups[i]
            if dense:
                for s in range(held_indptr[groups[i]], held_indptr[groups[i] + 1]):
                    table[i * m + held_sensitive[s]] = share * held[s]
        for s in range(point_key.shape[0]):
            k = point_key[s] & mask
            fine = mix(k) >> (shift - 3)
            if not taken[fine >> 6] >> (fine & 63) & 1:
                continue
            at = fine >> 3
            while number[at] >= 0 and key[at] != k:
                at = (at + 1) & last
            g = number[at]
            if g < 0:
                continue
            if dense:
                low = <row_t>g * m
                for i in range(indptr[s], indptr[s + 1]):
                    out[i] += table[low + sensitive[i]]
                continue
            low = held_indptr[g]
            end = held_indptr[g + 1]
            for i in range(indptr[s], indptr[s + 1]):
                v = sensitive[i]
                high = end
                while low < high:
                    middle = (low + high) >> 1
                    if held_sensitive[middle] < v:
                        low = middle + 1
                    else:
                        high = middle
                if low == end:
                    break
                if held_sensitive[low] == v:
                    out[i] += share * held[low]


def spread_boxes(const code_t[:, ::1] codes not None, const row_t[::1] indptr not None, const code_t[::1] sensitive not None,
                 const uint64_t[:, ::1] contains not None, const row_t[::1] offset not None,
                 const row_t[::1] box_indptr not None, const code_t[::1] box_sensitive not None,
                 const double[::1] box_share not None, code_t m, double[::1] out not None) -> None:
    """Add to every cell the share of every box that holds its point.

    `contains[offset[j] + code]` is the set, as bits, of the boxes whose sub-domain of attribute j holds the code; the boxes over a point
    are the intersection of d such sets. A box gives box_share to each of its SA values. O(s * d * boxes / 64) plus what is found.
    """
    cdef row_t groups = indptr.shape[0] - 1, g, i
    cdef Py_ssize_t d = codes.shape[1], j, w, words = contains.shape[1]
    cdef double[::1] here = np.zeros(m, dtype=np.float64)
    cdef uint64_t found
    cdef row_t box
    cdef int bit
    with nogil:
        for g in range(groups):
            for w in range(words):
                found = contains[offset[0] + codes[g, 0], w]
                for j in range(1, d):
                    if not found:
                        break
                    found &= contains[offset[j] + codes[g, j], w]
                while found:
                    bit = lowest(found)
                    found &= found - 1
                    box = w * 64 + bit
                    for i in range(box_indptr[box], box_indptr[box + 1]):
                        here[box_sensitive[i]] += box_share[i]
            for i in range(indptr[g], indptr[g + 1]):
                out[i] += here[sensitive[i]]
            for i in range(m):
                here[i] = 0


cdef inline int lowest(uint64_t x) noexcept nogil:
    """The place of the lowest set bit: de Bruijn's product, portable C."""
    return PLACE[((x & (~x + 1)) * <uint64_t>0x03F79D71B4CB0A89) >> 58]


cdef signed char[64] PLACE
PLACE[:] = [0, 1, 48, 2, 57, 49, 28, 3, 61, 58, 50, 42, 38, 29, 17, 4, 62, 55, 59, 36, 53, 51, 43, 22, 45, 39, 33, 30, 24, 18, 12, 5,
            63, 47, 56, 27, 60, 41, 37, 16, 54, 35, 52, 21, 44, 32, 23, 11, 46, 26, 40, 15, 34, 20, 31, 10, 25, 14, 19, 9, 13, 8, 7, 6]
