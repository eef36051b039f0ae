"""The inverted list of section 5.2 over numpy buffers: the cells of a group in order of their height, those of one height side by side."""

cimport cython

from ldiv._kernels.types cimport code_t, count_t, index_t, row_t

import numpy as np

cdef enum:
    FEW = 24        # cells up to which insertion sorts fastest
    LOW = 4         # times the cells: heights that are sorted by counting


@cython.final
cdef class InvertedList:
    """InvertedList(indptr, count, size, height): a group's list is built when it is first touched, O(k log k) for k cells.

    The paper keeps an array by height, which grows with the rows; here the first cell of a height is found by bisection among the k cells of the
    group, O(log k) a move, and the pillars' is kept. Most groups are never touched after phase one, so opening lazily keeps phase two
    proportional to what it moves.
    """

    def __init__(self, const row_t[::1] indptr not None, count_t[::1] count not None,
                 const count_t[::1] size not None, const count_t[::1] height not None):
        self.indptr = indptr
        self.count = count
        self.size = np.array(size)
        self.height = np.array(height)
        groups = indptr.shape[0] - 1
        # np.empty takes no memory until touched: only opened groups cost any.
        self.order = np.empty(count.shape[0], dtype=np.int32)
        self.place = np.empty(count.shape[0], dtype=np.int32)
        self.front = np.empty(groups, dtype=np.int64)
        self.opened = np.zeros(groups, dtype=np.int8)
        self.start = np.empty(LOW * int(np.max(np.diff(indptr), initial=0)) + 2, dtype=np.int64)

    cdef int open(self, index_t g) except -1 nogil:
        """Make a group's list, once."""
        if not self.opened[g]:
            self.sort(g)
            self.opened[g] = 1
        return 0

    cdef int sort(self, index_t g) except -1 nogil:
        """Order the cells of a group by (height, cell), and find its height and pillars."""
        cdef row_t low = self.indptr[g], high = self.indptr[g + 1], i, j, k = high - low, at, child
        cdef index_t c
        for i in range(low, high):
            self.order[i] = <index_t>i
        cdef count_t top = 0, h
        for i in range(low, high):
            top = self.count[i] if self.count[i] > top else top
        if top <= LOW * k:                  # by counting
            for h in range(top + 2):
                self.start[h] = 0
            for i in range(low, high):
                self.start[self.count[i] + 1] += 1
            for h in range(top + 1):
                self.start[h + 1] += self.start[h]
            for i in range(low, high):
                h = self.count[i]
                self.order[low + self.start[h]] = <index_t>i
                self.start[h] += 1
        elif k <= FEW:
            for i in range(low + 1, high):
                c = self.order[i]
                j = i
                while j > low and self.count[self.order[j - 1]] > self.count[c]:
                    self.order[j] = self.order[j - 1]
                    j -= 1
                self.order[j] = c
        else:                               # heapsort
            i = k // 2
            while k > 1:
                if i > 0:
                    i -= 1
                    c = self.order[low + i]
                else:
                    k -= 1
                    c = self.order[low + k]
                    self.order[low + k] = self.order[low]
                at = i
                while True:
                    child = 2 * at + 1
                    if child >= k:
                        break
                    if child + 1 < k and self.below(self.order[low + child], self.order[low + child + 1]):
                        child += 1
                    if not self.below(c, self.order[low + child]):
                        break
                    self.order[low + at] = self.order[low + child]
                    at = child
                self.order[low + at] = c
        for i in range(low, high):
            self.place[self.order[i]] = <index_t>i
        if high > low:
            self.height[g] = self.count[self.order[high - 1]]
            self.front[g] = self.first(low, high, self.height[g])
        return 0

    cdef inline bint below(self, index_t a, index_t b) except -1 nogil:
        return self.count[a] < self.count[b] or (self.count[a] == self.count[b] and a < b)

    cdef row_t first(self, row_t low, row_t high, count_t h) except -1 nogil:
        """The first place from low to high of a cell of at least height h."""
        cdef row_t middle
        while low < high:
            middle = (low + high) // 2
            if self.count[self.order[middle]] < h:
                low = middle + 1
            else:
                high = middle
        return low

    cdef int lower(self, index_t g, index_t c) except -1 nogil:
        """Take one row from cell c of opened group g: it changes places with the first cell of its height."""
        cdef row_t low = self.indptr[g], high = self.indptr[g + 1], front
        cdef count_t h = self.count[c]
        cdef index_t other, at = self.place[c]
        cdef bint pillar = h == self.height[g]
        front = self.front[g] if pillar else self.first(low, at, h)
        other = self.order[front]
        self.order[front] = c
        self.order[at] = other
        self.place[c] = <index_t>front
        self.place[other] = at
        self.count[c] = h - 1
        self.size[g] -= 1
        if pillar:
            if front + 1 < high:
                self.front[g] = front + 1
            else:                           # it was the only one: those one lower are the pillars now
                self.height[g] = h - 1
                self.front[g] = self.first(low, high, h - 1)
        return 0

    cdef int lower_by(self, index_t g, index_t c, count_t many) except -1 nogil:
        """Take several rows at once: O(k), or O(log k) for each of few."""
        cdef row_t low = self.indptr[g], high = self.indptr[g + 1], at
        cdef index_t other
        if many < (high - low) // 8:
            while many > 0:
                self.lower(g, c)
                many -= 1
            return 0
        self.count[c] -= many
        self.size[g] -= many
        at = self.place[c]
        while at > low and self.count[self.order[at - 1]] > self.count[c]:
            other = self.order[at - 1]
            self.order[at] = other
            self.place[other] = <index_t>at
            at -= 1
        self.order[at] = c
        self.place[c] = <index_t>at
        self.height[g] = self.count[self.order[high - 1]]
        self.front[g] = self.first(low, high, self.height[g])
        return 0
