"""TP, the three-phase algorithm of section 5, on the cells of a contingency."""

cimport cython

from ldiv._kernels.inverted_list cimport InvertedList, pillars_from
from ldiv._kernels.moves cimport State, Word, least
from ldiv._kernels.types cimport code_t, count_t, index_t, row_t

import numpy as np


cdef enum:
    FEW = 1 << 20       # moves up to which one at a time is fastest
    SHORT = 16          # decisions that a word may have at first
    LONG = 1 << 20      # and at the most


@cython.final
cdef class Phases(State):
    """Phases two and three: the groups left by phase one, the residue R, and the moves between them.

    Values and groups are met in the order of their rank, which is their code unless a seed shuffles it. Rows move one at a time, or, where
    more than `few` may have to move, whole runs of moves at once as long as they would be the same (:class:`Word`).
    """
    cdef const index_t[::1] column         # the cells by SA value, then by the rank of their group
    cdef const row_t[::1] column_indptr
    cdef const index_t[::1] group_order    # rank -> group
    cdef const code_t[::1] value_rank
    cdef const code_t[::1] value_order     # rank -> value
    cdef count_t[::1] filed                # SA value -> the height in R by which the candidate list knows it
    cdef count_t few                       # moves up to which one at a time is fastest
    cdef bint recording                    # decisions are written into `inner`
    cdef bint nested                       # and into `outer`
    cdef Word inner
    cdef Word outer
    cdef signed char[::1] listed           # SA value -> whether it is on the candidate list
    cdef row_t decisions, window           # since the word began, and how many it may have
    cdef readonly count_t steps            # decisions made one by one

    def __init__(self, InvertedList groups not None, const code_t[::1] sensitive not None,
                 const index_t[::1] group_of not None, count_t[::1] residue not None, count_t l,
                 const index_t[::1] column not None, const row_t[::1] column_indptr not None,
                 const index_t[::1] group_order not None, const code_t[::1] value_rank not None,
                 const code_t[::1] value_order not None, count_t few=FEW):
        self.groups, self.indptr, self.sensitive, self.group_of = groups, groups.indptr, sensitive, group_of
        self.column, self.column_indptr, self.group_order = column, column_indptr, group_order
        self.value_rank, self.value_order = value_rank, value_order
        self.residue, self.l, self.few = residue, l, few
        self.residue_size = int(np.sum(residue))
        self.residue_height = int(np.max(residue, initial=0))
        self.rounds = self.steps = 0
        self.recording = self.nested = False

    @property
    def height(self):
        """h(R)"""
        return self.residue_height

    @property
    def eligible(self):
        """Whether R is l-eligible."""
        return self.residue_size // self.l >= self.residue_height

    cdef inline bint done(self) except -1 nogil:
        cdef count_t deficit = self.l * self.residue_height - self.residue_size     # the table is l-eligible: l h(R) is at most its rows
        if self.recording and deficit > 0:
            self.inner.deficit = least(self.inner.deficit, deficit)
            if self.nested:
                self.outer.deficit = least(self.outer.deficit, deficit)
        return deficit <= 0

    cdef inline bint fat(self, index_t g) except -1 nogil:
        cdef count_t slack = self.groups.size[g] - self.l * self.groups.height[g]
        if self.recording:
            self.inner.meet(self, g)
            self.inner.slack[g] = least(self.inner.slack[g], slack)
            if self.nested:
                self.outer.meet(self, g)
                self.outer.slack[g] = least(self.outer.slack[g], slack)
        return slack > 0

    cdef inline bint conflicting(self, index_t g) except -1 nogil:
        cdef row_t i
        for i in range(pillars_from(self.groups, g), self.indptr[g + 1]):
            if self.residue[self.sensitive[self.groups.order[i]]] == self.residue_height:
                return True
        return False

    cdef inline bint alive(self, index_t g) except -1 nogil:
        if self.groups.size[g] == 0:
            return False
        self.groups.open(g)
        return self.fat(g) or not self.conflicting(g)

    cdef int move(self, index_t g, index_t c) except -1 nogil:
        """One row of cell c from group g to R."""
        cdef code_t v = self.sensitive[c]
        if self.recording:
            self.inner.move(self, g, c, 1)
            if self.nested:
                self.outer.move(self, g, c, 1)
        self.groups.lower(g, c)
        self.residue[v] += 1
        self.residue_size += 1
        if self.residue[v] > self.residue_height:
            self.residue_height = self.residue[v]
        return 0

    cdef int move_pillars(self, index_t g) except -1 nogil:
        """One row of every pillar of g: a thin group stays l-eligible only if all go together."""
        cdef row_t at = pillars_from(self.groups, g), i
        for i in range(at, self.indptr[g + 1]):     # lower() exchanges the first pillar left with itself
            self.move(g, self.groups.order[i])
        return 0

    cdef int begin(self) except -1 nogil:
        """A new word starts here."""
        self.inner.start(self)
        self.decisions, self.window = 0, SHORT
        return 0

    cdef int go_on(self, bint everyone) except -1 nogil:
        """After a decision: repeat the word as often as it would be repeated, or let it grow, or begin another."""
        cdef count_t many
        self.decisions += 1
        if self.inner.alike(self):
            many = self.inner.repeats(self, self.listed, everyone)
            if many > 0:
                self.inner.repeat(self, many)
                if self.nested:
                    self.outer.absorb(self, self.inner, many)
                return self.begin()
        if self.decisions >= self.window:
            many = least(2 * self.window, LONG)
            self.begin()
            self.window = many
        return 0

    cdef inline bint earlier(self, code_t v, code_t u) except -1 nogil:
        """Whether the candidate list has v before u: less height in R, then smaller rank."""
        return self.filed[v] < self.filed[u] or (self.filed[v] == self.filed[u] and self.value_rank[v] < self.value_rank[u])

    cdef int settle(self, code_t[::1] heap, row_t length, row_t at) except -1 nogil:
        """Restore the order of the candidate list below `at`."""
        cdef row_t child
        cdef code_t v
        if length == 0:
            return 0
        v = heap[at]
        while True:
            child = 2 * at + 1
            if child >= length:
                break
            if child + 1 < length and self.earlier(heap[child + 1], heap[child]):
                child += 1
            if not self.earlier(heap[child], v):
                break
            heap[at] = heap[child]
            at = child
        heap[at] = v
        return 0

    def phase_two(self):
        """Fill R from alive groups, least frequent value first, until it is l-eligible or every group is dead.

        The candidate list is a heap of SA values keyed by (height in R, rank). Heights in R only grow, so a stale key is a lower
        bound and is mended when it comes up. Each value walks its groups once: R's pillars only gain members while h(R) stands
        still (Lemma 4), so a group found dead stays dead. O(cells + moves * log(m k)).
        """
        cdef code_t m = <code_t>self.residue.shape[0], v
        cdef row_t length = 0, i
        cdef index_t c = 0, g
        cdef bint found
        cdef row_t[::1] at = np.array(self.column_indptr[:m], dtype=np.int64)
        cdef code_t[::1] heap = np.empty(m, dtype=np.int32)
        cdef signed char[::1] listed = np.zeros(m, dtype=np.int8)
        self.filed = np.array(self.residue, dtype=np.int64)
        self.listed = listed
        self.record(False)
        for v in range(m):
            if self.column_indptr[v] < self.column_indptr[v + 1]:
                heap[length] = v
                listed[v] = 1
                length += 1
        with nogil:
            for i in range(length // 2 - 1, -1, -1):
                self.settle(heap, length, i)
            while not self.done() and length > 0:
                v = heap[0]
                if self.filed[v] != self.residue[v]:
                    self.filed[v] = self.residue[v]
                    self.settle(heap, length, 0)
                    continue
                found = False
                while at[v] < self.column_indptr[v + 1]:
                    c = self.column[at[v]]
                    if self.groups.count[c] > 0 and self.alive(self.group_of[c]):
                        found = True
                        break
                    at[v] += 1
                    if self.recording:      # it is not asked again
                        self.begin()
                if not found:
                    length -= 1
                    listed[v] = 0
                    heap[0] = heap[length]
                    self.settle(heap, length, 0)
                    if self.recording:
                        self.begin()
                    continue
                g = self.group_of[c]
                self.steps += 1
                if self.recording:
                    self.inner.choose(c)
                if self.fat(g):
                    self.move(g, c)
                else:
                    self.move_pillars(g)
                if self.recording:
                    self.go_on(True)
        self.recording = False

    def record(self, bint nested):
        """Write decisions down if many may have to follow."""
        if self.l * self.residue_height - self.residue_size <= self.few and (not nested or self.l * self.residue_height <= self.few):
            return
        cells, groups, m = self.group_of.shape[0], self.indptr.shape[0] - 1, self.residue.shape[0]
        self.inner = Word(cells, groups, m)
        if nested:
            self.outer = Word(cells, groups, m)
            self.outer.start(self)
        self.recording, self.nested = True, nested
        self.begin()

    def phase_three(self):
        """Rounds of the set-cover step and the draining step, until R is l-eligible."""
        cdef count_t many, rounds = 0, window = 1
        self.listed = np.zeros(self.residue.shape[0], dtype=np.int8)
        self.record(True)
        while not self.done():
            self.rounds += 1
            if not self.cover():
                raise RuntimeError("phase three found no group to cover R's pillars: is the table l-eligible?")
            if not self.done():
                self.drain()
            if self.recording:
                rounds += 1
                many = 0 if self.done() else self.outer.repeats(self, self.listed, False)
                if many > 0:
                    self.outer.repeat(self, many)
                    self.rounds += many * (self.rounds - self.outer.rounds)
                if many > 0 or rounds >= window:
                    window = 1 if many > 0 else 2 * window
                    rounds = 0
                    self.outer.start(self)
        self.recording = self.nested = False

    cdef bint cover(self) except -1:
        """Step one: pick groups until no pillar of R is a conflicting pillar of all of them, then move their pillars.

        Greedy set cover: each pick leaves as few pillars of R as it can. False if no group reduces what is left.
        """
        cdef code_t m = <code_t>self.residue.shape[0], v
        cdef signed char[::1] wanted = np.zeros(m, dtype=np.int8)
        cdef index_t[::1] order = np.array(self.group_order)
        cdef count_t left = 0, shared, fewest
        cdef index_t g, best
        cdef row_t r, i
        picked = []
        for v in range(m):
            if self.residue[v] == self.residue_height:
                wanted[v] = 1
                left += 1
        while left > 0:
            fewest, best = left, -1
            with nogil:
                for r in range(order.shape[0]):
                    g = order[r]
                    if self.groups.size[g] == 0:
                        continue
                    self.groups.open(g)
                    shared = 0
                    for i in range(pillars_from(self.groups, g), self.indptr[g + 1]):
                        shared += wanted[self.sensitive[self.groups.order[i]]]
                    if shared < fewest:
                        fewest, best = shared, g
                        if fewest == 0:
                            break
            if best < 0:
                return False
            picked.append(best)
            kept = set()
            for i in range(pillars_from(self.groups, best), self.indptr[best + 1]):
                kept.add(self.sensitive[self.groups.order[i]])
            for v in range(m):
                wanted[v] = wanted[v] and v in kept
            left = fewest
        for g in picked:
            self.steps += 1
            self.move_pillars(g)
            if self.done():
                break
        return True

    cdef int drain(self) except -1:
        """Step two: every alive group gives rows until it is dead. h(R) does not change, so one pass is enough."""
        cdef row_t r
        cdef index_t g, c
        with nogil:
            for r in range(self.group_order.shape[0]):
                g = self.group_order[r]
                if self.recording:
                    self.begin()
                while not self.done() and self.alive(g):
                    self.steps += 1
                    if self.fat(g):
                        c = self.lowest_in_residue(g)
                        if c < 0:
                            break
                        if self.recording:
                            self.inner.choose(c)
                            self.outer.choose(c)
                        self.move(g, c)
                    else:
                        self.move_pillars(g)
                    if self.recording:
                        self.go_on(False)
        return 0

    cdef index_t lowest_in_residue(self, index_t g) except? -1 nogil:
        """The cell of g whose value is rarest in R among those that are no pillar of R; -1 if there is none.

        There always is one while R is not l-eligible: a fat group has more than l values, R fewer than l pillars.
        """
        cdef index_t c, best = -1
        cdef code_t v, u
        for c in range(<index_t>self.indptr[g], <index_t>self.indptr[g + 1]):
            v = self.sensitive[c]
            if self.groups.count[c] == 0 or self.residue[v] == self.residue_height:
                continue
            if best >= 0:
                u = self.sensitive[best]
                if self.residue[v] > self.residue[u]:
                    continue
                if self.residue[v] == self.residue[u] and self.value_rank[v] > self.value_rank[u]:
                    continue
            best = c
        return best
