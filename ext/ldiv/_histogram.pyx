"""The inverted list of section 5.2 over numpy buffers: an array by height, each entry the cells of that height."""

from ldiv._types cimport code_t, count_t, index_t, row_t

import numpy as np


cdef class Histogram:
    """Histogram(indptr, count): lists are built for a group when it is first touched, O(k + h) each.

    Most groups are never touched after phase one, so opening lazily keeps phase two proportional to what it moves.
    """

    def __init__(self, const row_t[::1] indptr not None, count_t[::1] count not None,
                 const count_t[::1] size not None, const count_t[::1] height not None):
        self.indptr = indptr
        self.count = count
        self.size = np.array(size)
        self.height = np.array(height)
        groups = indptr.shape[0] - 1
        offset = np.zeros(groups + 1, dtype=np.int64)
        np.cumsum(np.asarray(height) + 1, out=offset[1:])
        self.offset = offset
        # np.empty takes no memory until touched: only opened groups cost any.
        self.start = np.empty(offset[groups], dtype=np.int64)
        self.order = np.empty(count.shape[0], dtype=np.int32)
        self.place = np.empty(count.shape[0], dtype=np.int32)
        self.opened = np.zeros(groups, dtype=np.int8)

    cdef int open(self, index_t g) except -1 nogil:
        """Counting sort of the group's cells by height; `start` is the sort's own table."""
        if self.opened[g]:
            return 0
        cdef row_t lo = self.indptr[g], hi = self.indptr[g + 1], base = self.offset[g], c
        cdef count_t top = self.height[g], h
        for h in range(top + 1):
            self.start[base + h] = 0
        for c in range(lo, hi):
            self.start[base + self.count[c]] += 1
        self.start[base] += lo
        for h in range(1, top + 1):
            self.start[base + h] += self.start[base + h - 1]
        for c in range(hi - 1, lo - 1, -1):
            h = self.count[c]
            self.start[base + h] -= 1
            self.order[self.start[base + h]] = <index_t>c
            self.place[c] = <index_t>self.start[base + h]
        self.opened[g] = 1
        return 0

    cdef int lower(self, index_t g, index_t c) except -1 nogil:
        """Take one row from cell c of opened group g: O(1), the pillar pointer's travel amortised."""
        cdef row_t base = self.offset[g], front
        cdef count_t h = self.count[c]
        cdef index_t other, at = self.place[c]
        front = self.start[base + h]
        other = self.order[front]
        self.order[front] = c
        self.order[at] = other
        self.place[c] = <index_t>front
        self.place[other] = at
        self.start[base + h] = front + 1
        self.count[c] = h - 1
        self.size[g] -= 1
        while self.height[g] > 0 and self.start[base + self.height[g]] == self.indptr[g + 1]:
            self.height[g] -= 1
        return 0
