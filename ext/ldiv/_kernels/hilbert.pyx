"""The Hilbert curve in any number of dimensions, and the grouping of rows along it."""

from ldiv._kernels.heap cimport pop, push, sift
from ldiv._kernels.inverted_list cimport InvertedList, pillars_from
from ldiv._kernels.types cimport code_t, count_t, index_t, row_t, uint32_t, uint64_t

import numpy as np


cdef enum:
    BLOCK = 512         # points whose axes stay in the first-level cache


def curve_keys(const code_t[:, ::1] codes not None, int bits):
    """The position of each point on the Hilbert curve of the grid of side 2**bits, as big-endian words.

    Skilling's transform (AIP Conf. Proc. 707, 2004): O(d * bits) a point, any d. Returns uint64 of shape (points, words); the order
    of the rows of words is the order on the curve. Block by block and without branches, so that compilers vectorise over points:
    four times faster than point by point.
    """
    cdef Py_ssize_t d = codes.shape[1], j
    cdef row_t points = codes.shape[0], low = 0, i, width
    cdef Py_ssize_t words = (d * bits + 63) // 64
    keys_ = np.zeros((points, words), dtype=np.uint64)
    axes_ = np.empty((d, BLOCK), dtype=np.uint32)
    cdef uint64_t[:, ::1] keys = keys_
    cdef uint32_t[:, ::1] axes = axes_
    cdef uint32_t t[BLOCK]
    cdef uint64_t word[BLOCK]
    cdef uint32_t* x
    cdef uint32_t* first
    cdef uint32_t p, swap, is_set
    cdef Py_ssize_t at
    cdef int b
    with nogil:
        while low < points:
            width = BLOCK if points - low > BLOCK else points - low
            for j in range(d):
                for i in range(width):
                    axes[j, i] = <uint32_t>codes[low + i, j]
            first = &axes[0, 0]
            for b in range(bits - 1, 0, -1):    # undo the rotations, coarse to fine
                p = (<uint32_t>1 << b) - 1
                for j in range(d):
                    x = &axes[j, 0]
                    for i in range(width):
                        is_set = 0 - ((x[i] >> b) & 1)          # all ones: invert; zeros: exchange
                        swap = (first[i] ^ x[i]) & p & ~is_set
                        x[i] ^= swap
                        first[i] ^= swap | (p & is_set)
            for j in range(1, d):               # Gray code
                x = &axes[j, 0]
                first = &axes[j - 1, 0]
                for i in range(width):
                    x[i] ^= first[i]
            x = &axes[d - 1, 0]
            for i in range(width):
                t[i] = 0
            for b in range(bits - 1, 0, -1):
                for i in range(width):
                    t[i] ^= ((<uint32_t>1 << b) - 1) & (0 - ((x[i] >> b) & 1))
            for j in range(d):
                x = &axes[j, 0]
                for i in range(width):
                    x[i] ^= t[i]
            at = words * 64 - d * bits          # right-aligned, so that the leading word is the short one
            for i in range(width):
                word[i] = 0
            for b in range(bits - 1, -1, -1):
                for j in range(d):
                    x = &axes[j, 0]
                    for i in range(width):
                        word[i] = word[i] << 1 | ((x[i] >> b) & 1)
                    at += 1
                    if at & 63 == 0:
                        for i in range(width):
                            keys[low + i, (at >> 6) - 1] = word[i]
                            word[i] = 0
            low += BLOCK
    return keys_


cdef class Grouping:
    """Rows in curve order, one bucket a value; sets of l rows of l distinct values from the heads of the buckets, and as many of them in a row as make
    k rows a group.

    Grouping(column, column_indptr, position, count, histogram, l, k): the cells by SA value in curve order, their positions, their rows. Sets of the
    same cells in a row are one entry a cell, so that neither time nor space grows with the rows of a cell.
    """
    cdef const index_t[::1] column
    cdef const row_t[::1] column_indptr
    cdef const index_t[::1] position
    cdef count_t[::1] left                 # cell -> rows not yet grouped
    cdef row_t[::1] head                   # value -> its first cell with rows left
    cdef InvertedList values                  # values by rows left, one "group"
    cdef count_t l
    cdef count_t k
    cdef readonly object group             # the outcome: entries (group, cell, rows)
    cdef readonly object cell
    cdef readonly object rows

    def __init__(self, const index_t[::1] column not None, const row_t[::1] column_indptr not None,
                 const index_t[::1] position not None, const count_t[::1] count not None,
                 const count_t[::1] histogram not None, count_t l, count_t k=1):
        m = histogram.shape[0]
        n = int(np.sum(histogram))
        if n // l < int(np.max(histogram, initial=0)):
            raise RuntimeError("the table is not l-eligible")
        self.column, self.column_indptr, self.position = column, column_indptr, position
        self.left = np.array(count)
        self.head = np.array(column_indptr, dtype=np.int64)[:m]
        self.values = InvertedList(
            np.array([0, m], dtype=np.int64), np.array(histogram), np.array([n]), np.array([int(np.max(histogram, initial=0))])
        )
        self.l, self.k = l, k

    cdef inline index_t take(self, code_t v, count_t many) except -1 nogil:
        """Rows of value v, the next on the curve, of one cell; returns the cell."""
        cdef index_t c = self.column[self.head[v]]
        self.left[c] -= many
        if self.left[c] == 0:
            self.head[v] += 1
        if many == 1:
            self.values.lower(0, v)
        else:
            self.values.lower_by(0, v, many)
        return c

    cdef inline count_t key(self, code_t v, code_t m) except -1 nogil:
        return <count_t>self.position[self.column[self.head[v]]] * m + v

    cdef count_t alike(self, const code_t[::1] taken, row_t length, const index_t[::1] last, index_t turn, count_t rows) except -1 nogil:
        """How many groups from here on take the next row of the same l cells: while none runs out, two groups' rows are left, and no value that is
        left out becomes one that must be taken.

        With N rows left and j groups gone, v must be in the next if c_v = floor(N / l) - j, at the latest; those taken fall along.
        """
        cdef count_t many = rows // self.l - 1, others = 0
        cdef row_t i = self.values.indptr[1] - 1, k
        cdef index_t c
        cdef bint must = self.values.height[0] > many
        for k in range(length):
            c = self.column[self.head[taken[k]]]
            if self.left[c] < many:
                many = self.left[c]
        while i >= 0 and last[self.values.order[i]] == turn:
            i -= 1
        if i >= 0:
            others = self.values.count[self.values.order[i]]
        if must:
            others = self.values.height[0] - others
        else:
            others = rows // self.l - others
        return many if many < others else others

    def run(self):
        """Form all groups; with fewer than k rows in all, one. O((cells + m) l log m), at most O(n log m).

        A value v must be in the next group if l * c_v > N - l (c_v of the N rows left): the rest would not be l-eligible without.
        As l * c_v <= N always, such a v has c_v = floor(N / l): it is a pillar. There can be more than l of them; then all are taken,
        which keeps the rest eligible too. The other places go to the heads nearest on the curve.
        """
        cdef code_t m = <code_t>self.head.shape[0], v
        cdef count_t rows = self.values.size[0], needed, many
        cdef row_t written = 0, start, i, j, length = 0, aside, size
        cdef index_t number = 0, turn = 0, c
        cdef count_t open_rows = 0          # of the group that does not have k rows yet
        room = int(min(rows, 2 * self.left.shape[0] + 4 * self.l))
        self.group, self.cell, self.rows = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int64)
        cdef index_t[::1] group = self.group, cell = self.cell
        cdef count_t[::1] count = self.rows
        cdef count_t[::1] heap = np.empty(m, dtype=np.int64)
        cdef code_t[::1] waiting = np.empty(m, dtype=np.int32), taken = np.empty(m, dtype=np.int32)
        cdef index_t[::1] last = np.full(m, -1, dtype=np.int32)
        with nogil:
            self.values.open(0)
            for v in range(m):
                if self.values.count[v] > 0:
                    length = push(heap, length, self.key(v, m))
            while rows > 0:
                turn += 1
                start = written
                aside = 0
                needed = self.l
                size = 0                    # of the group, without repetition
                many = 1
                if cell.shape[0] - written < (m + 2 * self.l if rows >= 2 * self.l else 2 * self.l) and cell.shape[0] < rows + written:
                    with gil:
                        room = int(min(2 * cell.shape[0] + m + 2 * self.l, written + rows))
                        self.group, self.cell, self.rows = np.resize(self.group, room), np.resize(self.cell, room), np.resize(self.rows, room)
                        group, cell, count = self.group, self.cell, self.rows
                if rows < 2 * self.l:
                    needed = 0
                    for v in range(m):
                        while self.values.count[v] > 0:
                            cell[written] = self.take(v, 1)
                            count[written] = 1
                            written += 1
                elif self.values.height[0] > (rows - self.l) // self.l:
                    for i in range(pillars_from(self.values, 0), m):
                        v = self.values.order[i]
                        taken[size] = v
                        size += 1
                        last[v] = turn
                        needed -= 1
                while needed > 0:
                    v = <code_t>(heap[0] % m)
                    if last[v] != turn and heap[0] == self.key(v, m):
                        taken[size] = v
                        size += 1
                        last[v] = turn
                        needed -= 1
                    elif last[v] != turn:       # its key is behind
                        heap[0] = self.key(v, m)
                        sift(heap, length, 0)
                        continue
                    length = pop(heap, length)
                    waiting[aside] = v
                    aside += 1
                if size == self.l:
                    many = self.alike(taken, size, last, turn, rows)
                    if open_rows > 0 and many > 1 + (self.k - open_rows - 1) // size:   # no more than the group needs: they may stand alone
                        many = 1 + (self.k - open_rows - 1) // size
                for i in range(size):
                    cell[written] = self.take(taken[i], many)
                    count[written] = many
                    written += 1
                while aside > 0:
                    aside -= 1
                    v = waiting[aside]
                    if self.values.count[v] > 0:
                        length = push(heap, length, self.key(v, m))
                while length > 0 and self.values.count[heap[0] % m] == 0:
                    length = pop(heap, length)
                for i in range(start, written):  # a release wants the cells of a group ascending
                    group[i] = number
                    c = cell[i]
                    j = i
                    while j > start and cell[j - 1] > c:
                        cell[j] = cell[j - 1]
                        j -= 1
                    cell[j] = c
                rows -= many * (written - start)
                open_rows += many * (written - start)
                if open_rows >= self.k:
                    number += 1
                    open_rows = 0
            if open_rows > 0 and number > 0:    # too few for a group: the one before takes them
                for i in range(written - 1, -1, -1):
                    if group[i] < number:
                        break
                    group[i] = number - 1
        self.group, self.cell, self.rows = self.group[:written], self.cell[:written], self.rows[:written]
