"""Tuples of codes as keys: packing, counting and ranking them, and taking them apart."""

from ldiv._kernels.types cimport code_t, count_t, index_t, narrow_t, packed_t, row_t, uint32_t, uint64_t

import numpy as np

cdef enum:
    BLOCK = 2048        # rows whose keys fit the first-level cache


def pack(const narrow_t[::1, :] codes not None, const code_t[::1] sensitive not None, const uint64_t[::1] radix not None,
         packed_t[::1] key not None) -> None:
    """The mixed-radix key of every row, the sensitive code last; the caller vouches that the product of radices fits the key.

    Block by block, so that a block's keys stay in the first-level cache while its columns pass by.
    """
    cdef row_t n = key.shape[0], low = 0, high, i
    cdef Py_ssize_t d = codes.shape[1], j
    cdef packed_t size
    with nogil:
        while low < n:
            high = low + BLOCK if low + BLOCK < n else n
            for i in range(low, high):
                key[i] = <packed_t>codes[i, 0]
            for j in range(1, d):
                size = <packed_t>radix[j]
                for i in range(low, high):
                    key[i] = key[i] * size + <packed_t>codes[i, j]
            size = <packed_t>radix[d]
            for i in range(low, high):
                key[i] = key[i] * size + <packed_t>sensitive[i]
            low = high


def pack_cells(const code_t[:, ::1] codes not None, const index_t[::1] picked not None, const row_t[::1] indptr not None,
               const code_t[::1] sensitive not None, const uint64_t[::1] radix not None, packed_t[::1] key not None,
               int bits=0, const count_t[::1] low=None) -> None:
    """As :func:`pack`, for cells in CSR over groups, on the picked attributes: a group's digits are put together once.

    Below the key come `bits` bits of `low`, or of the cell's own number, which a sort of the keys then carries along.
    """
    cdef row_t g, i
    cdef Py_ssize_t d = picked.shape[0], j
    cdef packed_t head, size = <packed_t>radix[d]
    cdef bint numbered = low is None and bits > 0
    with nogil:
        for g in range(indptr.shape[0] - 1):
            head = 0
            for j in range(d):
                head = head * <packed_t>radix[j] + <packed_t>codes[g, picked[j]]
            head = head * size
            for i in range(indptr[g], indptr[g + 1]):
                key[i] = (head + <packed_t>sensitive[i]) << bits
                if numbered:
                    key[i] |= <packed_t>i
                elif bits:
                    key[i] |= <packed_t>low[i]


def count_direct(const packed_t[::1] key not None, uint64_t span):
    """Distinct keys below `span`, ascending, and how often each occurs, with one table of `span` counts."""
    cdef uint32_t[::1] table = np.zeros(span, dtype=np.uint32)
    cdef row_t i, found = 0
    cdef uint64_t k
    with nogil:
        for i in range(key.shape[0]):
            table[key[i]] += 1
        for k in range(span):
            found += table[k] > 0
    distinct_, count_ = np.empty(found, dtype=np.uint64), np.empty(found, dtype=np.int64)
    cdef uint64_t[::1] distinct = distinct_
    cdef count_t[::1] count = count_
    with nogil:
        found = 0
        for k in range(span):
            if table[k] > 0:
                distinct[found] = k
                count[found] = table[k]
                found += 1
    return distinct_, count_


def count_sorted(packed_t[::1] key not None):
    """How often each distinct key of an ascending list occurs; the distinct keys take the first places of the list."""
    cdef row_t n = key.shape[0], i, found = 0
    cdef packed_t last = 0
    with nogil:
        for i in range(n):
            found += i == 0 or key[i] != key[i - 1]
    count_ = np.empty(found, dtype=np.int64)
    cdef count_t[::1] count = count_
    with nogil:
        found = -1
        for i in range(n):
            if i == 0 or key[i] != last:
                last = key[i]
                found += 1
                key[found] = last
                count[found] = 0
            count[found] += 1
    return count_


cdef inline uint64_t digit(uint64_t* rest, uint64_t radix) noexcept nogil:
    """The last digit, taken off; a power of two without dividing."""
    cdef uint64_t value
    if radix & (radix - 1) == 0:
        value = rest[0] & (radix - 1)
        rest[0] = rest[0] >> popcount(radix - 1)
    else:
        value = rest[0] % radix
        rest[0] = rest[0] // radix
    return value


cdef extern from *:
    """
    #include <stdint.h>
    static inline int ldiv_popcount(uint64_t x) { int n = 0; for (; x; x &= x - 1) n++; return n; }
    #if defined(__GNUC__)
    #define popcount(x) __builtin_popcountll(x)
    #else
    #define popcount(x) ldiv_popcount(x)
    #endif
    """
    int popcount(uint64_t x) noexcept nogil


def unpack(const packed_t[::1] distinct not None, const uint64_t[::1] radix not None):
    """Ascending distinct keys back to cells: (codes of each group (s, d), indptr over groups, sensitive code of each cell)."""
    cdef row_t cells = distinct.shape[0], i, groups = 0
    cdef Py_ssize_t d = radix.shape[0] - 1, j
    cdef uint64_t last = 0, rest
    sensitive_ = np.empty(cells, dtype=np.int32)
    cdef code_t[::1] sensitive = sensitive_
    with nogil:
        for i in range(cells):
            rest = distinct[i]
            sensitive[i] = <code_t>digit(&rest, radix[d])
            groups += i == 0 or rest != last
            last = rest
    codes_, start_ = np.empty((groups, d), dtype=np.int32), np.empty(groups + 1, dtype=np.int64)
    cdef code_t[:, ::1] codes = codes_
    cdef row_t[::1] start = start_
    with nogil:
        groups = 0
        for i in range(cells):
            rest = distinct[i]
            digit(&rest, radix[d])
            if i == 0 or rest != last:
                start[groups] = i
                groups += 1
                last = rest
        start[groups] = cells
        for i in range(groups):
            rest = distinct[start[i]]
            digit(&rest, radix[d])
            for j in range(d - 1, -1, -1):
                codes[i, j] = <code_t>digit(&rest, radix[j])
    return codes_, start_, sensitive_


def append_column(packed_t[::1] key not None, const code_t[::1] column not None, uint64_t size, code_t shift) -> None:
    """key = key * size + column + shift, in place; the caller vouches that the product of sizes fits the key."""
    cdef row_t i
    with nogil:
        for i in range(key.shape[0]):
            key[i] = key[i] * <packed_t>size + <packed_t>(column[i] + shift)


def rank_direct(const packed_t[::1] key not None, uint64_t span):
    """Rank keys below `span` with one table of `span` entries.

    Returns (rank of each row, the distinct keys in ascending order).
    """
    table_ = np.zeros(span, dtype=np.int32)
    rank_ = np.empty(key.shape[0], dtype=np.int32)
    cdef index_t[::1] table = table_, rank = rank_
    cdef row_t i
    cdef uint64_t k
    cdef index_t found = 0
    with nogil:
        for i in range(key.shape[0]):
            table[key[i]] = 1
        for k in range(span):
            if table[k]:
                found += 1
    distinct_ = np.empty(found, dtype=np.uint64)
    cdef uint64_t[::1] distinct = distinct_
    found = 0
    with nogil:
        for k in range(span):
            if table[k]:
                distinct[found] = k
                table[k] = found
                found += 1
        for i in range(key.shape[0]):
            rank[i] = table[key[i]]
    return rank_, distinct_


cdef inline uint64_t mix(uint64_t k) noexcept nogil:
    # Fibonacci hashing after a fold: mixed-radix keys differ in few low bits, the product spreads them to the top.
    return (k ^ (k >> 32)) * <uint64_t>0x9E3779B97F4A7C15


def rank_hashed(const packed_t[::1] key not None):
    """Rank arbitrary keys: one hash pass, then a sort of the distinct keys alone. O(n + C log C).

    Returns (rank of each row, the distinct keys in ascending order).
    """
    cdef row_t n = key.shape[0], i
    cdef int bits = 10
    while (<row_t>1 << bits) < n + n // 2:
        bits += 1
    cdef uint64_t slots = <uint64_t>1 << bits, mask = slots - 1, at, k
    cdef int shift = 64 - bits
    slot_ = np.full(slots, -1, dtype=np.int32)
    rank_ = np.empty(n, dtype=np.int32)
    distinct_ = np.empty(n, dtype=np.uint64)
    cdef index_t[::1] slot = slot_, rank = rank_
    cdef uint64_t[::1] distinct = distinct_
    cdef index_t found = 0
    with nogil:
        for i in range(n):
            k = key[i]
            at = mix(k) >> shift
            while slot[at] >= 0 and distinct[slot[at]] != k:
                at = (at + 1) & mask
            if slot[at] < 0:
                slot[at] = found
                distinct[found] = k
                found += 1
            rank[i] = slot[at]
    distinct_ = distinct_[:found]
    order_ = np.argsort(distinct_)
    place_ = np.empty(found, dtype=np.int32)
    place_[order_] = np.arange(found, dtype=np.int32)
    cdef index_t[::1] place = place_
    with nogil:
        for i in range(n):
            rank[i] = place[rank[i]]
    return rank_, distinct_[order_]


def rank_sorted(const packed_t[::1] key not None, int bits):
    """Rank keys that were sorted with the number of their row in the last `bits` bits: (rank of each row, the distinct keys)."""
    cdef row_t n = key.shape[0], i
    cdef index_t found = 0
    cdef packed_t numbers = (<packed_t>1 << bits) - 1
    with nogil:
        for i in range(n):
            found += i == 0 or key[i] >> bits != key[i - 1] >> bits
    rank_, distinct_ = np.empty(n, dtype=np.int32), np.empty(found, dtype=np.uint64)
    cdef index_t[::1] rank = rank_
    cdef uint64_t[::1] distinct = distinct_
    with nogil:
        found = -1
        for i in range(n):
            if i == 0 or key[i] >> bits != key[i - 1] >> bits:
                found += 1
                distinct[found] = key[i] >> bits
            rank[key[i] & numbers] = found
    return rank_, distinct_
