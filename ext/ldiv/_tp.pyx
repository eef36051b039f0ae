"""TP, the three-phase algorithm of section 5, on the cells of a contingency."""

from ldiv._heap cimport sift
from ldiv._histogram cimport Histogram, pillars_from
from ldiv._types cimport code_t, count_t, index_t, row_t

import numpy as np


def phase_one(const row_t[::1] indptr not None, const count_t[::1] count not None, count_t l,
              count_t[::1] kept not None):
    """Cut every group to its largest l-eligible height; fills `kept`, returns (size, height) of what stays.

    The result is unique (Lemma 2's ground): a group keeps min(count, H) rows of every value, H the largest height with
    f(H) = sum_v min(count_v, H) - l * H >= 0. f is concave, so Newton's steps from the pillar height fall to
    the root from above, a step or two in practice. O(cells) a step.
    """
    cdef row_t groups = indptr.shape[0] - 1, g, c
    size_ = np.zeros(groups, dtype=np.int64)
    height_ = np.zeros(groups, dtype=np.int64)
    cdef count_t[::1] size = size_, height = height_
    cdef count_t cut, below, above
    with nogil:
        for g in range(groups):
            cut = 0
            below = 0
            if indptr[g + 1] - indptr[g] < l:       # fewer than l values: no height is eligible
                for c in range(indptr[g], indptr[g + 1]):
                    kept[c] = 0
                continue
            for c in range(indptr[g], indptr[g + 1]):
                below += count[c]
                if count[c] > cut:
                    cut = count[c]
            if below < l * cut:
                while True:
                    below = 0
                    above = 0
                    for c in range(indptr[g], indptr[g + 1]):
                        if count[c] >= cut:
                            above += 1
                        else:
                            below += count[c]
                    if below + above * cut >= l * cut:
                        below += above * cut
                        break
                    cut = below // (l - above)
            for c in range(indptr[g], indptr[g + 1]):
                kept[c] = count[c] if count[c] < cut else cut
            size[g] = below
            height[g] = cut
    return size_, height_


cdef class Refinement:
    """Phases two and three: the groups left by phase one, the residue R, and the moves between them.

    Values and groups are met in the order of their rank, which is their code unless a seed shuffles it.
    """
    cdef Histogram groups
    cdef const row_t[::1] indptr
    cdef const code_t[::1] sensitive
    cdef const index_t[::1] group_of       # cell -> group
    cdef const index_t[::1] column         # the cells by SA value, then by the rank of their group
    cdef const row_t[::1] column_indptr
    cdef const index_t[::1] group_order    # rank -> group
    cdef const code_t[::1] value_rank
    cdef const code_t[::1] value_order     # rank -> value
    cdef count_t[::1] residue              # SA value -> rows in R
    cdef count_t residue_height
    cdef readonly count_t residue_size
    cdef readonly count_t rounds
    cdef count_t l

    def __init__(self, Histogram groups not None, const code_t[::1] sensitive not None,
                 const index_t[::1] group_of not None, count_t[::1] residue not None, count_t l,
                 const index_t[::1] column not None, const row_t[::1] column_indptr not None,
                 const index_t[::1] group_order not None, const code_t[::1] value_rank not None,
                 const code_t[::1] value_order not None):
        self.groups, self.indptr, self.sensitive, self.group_of = groups, groups.indptr, sensitive, group_of
        self.column, self.column_indptr, self.group_order = column, column_indptr, group_order
        self.value_rank, self.value_order = value_rank, value_order
        self.residue, self.l = residue, l
        self.residue_size = int(np.sum(residue))
        self.residue_height = int(np.max(residue, initial=0))
        self.rounds = 0

    @property
    def height(self):
        """h(R)"""
        return self.residue_height

    @property
    def eligible(self):
        """Whether R is l-eligible."""
        return self.residue_size >= self.l * self.residue_height

    cdef inline bint done(self) noexcept nogil:
        return self.residue_size >= self.l * self.residue_height

    cdef inline bint fat(self, index_t g) noexcept nogil:
        return self.groups.size[g] > self.l * self.groups.height[g]

    cdef inline bint conflicting(self, index_t g) noexcept nogil:
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
        self.groups.lower(g, c)
        self.residue[v] += 1
        self.residue_size += 1
        if self.residue[v] > self.residue_height:
            self.residue_height = self.residue[v]
        return 0

    cdef int move_pillars(self, index_t g) except -1 nogil:
        """One row of every pillar of g: a thin group stays l-eligible only if all go together."""
        cdef row_t at = self.groups.offset[g] + self.groups.height[g]
        cdef row_t left = self.indptr[g + 1] - self.groups.start[at]
        while left > 0:
            self.move(g, self.groups.order[self.groups.start[at]])   # lower() moves start[at] past it
            left -= 1
        return 0

    def phase_two(self):
        """Fill R from alive groups, least frequent value first, until it is l-eligible or every group is dead.

        The candidate list is a heap of SA values keyed by (height in R, rank). Heights in R only grow, so a stale key is a lower
        bound and is mended when it comes up. Each value walks its groups once: R's pillars only gain members while h(R) stands
        still (Lemma 4), so a group found dead stays dead. O(cells + moves * log m).
        """
        cdef code_t m = <code_t>self.residue.shape[0], v
        cdef row_t length = 0, i
        cdef count_t key, current
        cdef index_t c, g
        cdef bint found
        cdef row_t[::1] at = np.array(self.column_indptr[:m], dtype=np.int64)
        cdef count_t[::1] heap = np.empty(m, dtype=np.int64)
        for v in range(m):
            if self.column_indptr[v] < self.column_indptr[v + 1]:
                heap[length] = self.residue[v] * m + self.value_rank[v]
                length += 1
        with nogil:
            for i in range(length // 2 - 1, -1, -1):
                sift(heap, length, i)
            while not self.done() and length > 0:
                v = self.value_order[heap[0] % m]
                current = self.residue[v] * m + self.value_rank[v]
                if heap[0] != current:
                    heap[0] = current
                    sift(heap, length, 0)
                    continue
                found = False
                while at[v] < self.column_indptr[v + 1]:
                    c = self.column[at[v]]
                    if self.groups.count[c] > 0 and self.alive(self.group_of[c]):
                        found = True
                        break
                    at[v] += 1
                if not found:
                    length -= 1
                    heap[0] = heap[length]
                    sift(heap, length, 0)
                    continue
                g = self.group_of[c]
                if self.fat(g):
                    self.move(g, c)
                else:
                    self.move_pillars(g)

    def phase_three(self):
        """Rounds of the set-cover step and the draining step, until R is l-eligible."""
        while not self.done():
            self.rounds += 1
            if not self.cover():
                raise RuntimeError("phase three found no group to cover R's pillars: is the table l-eligible?")
            if not self.done():
                self.drain()

    cdef bint cover(self) except -1:
        """Step one: pick groups until no pillar of R is a conflicting pillar of all of them, then move their pillars.

        Greedy set cover: each pick leaves as few pillars of R as it can. False if no group reduces what is left.
        """
        cdef code_t m = <code_t>self.residue.shape[0], v
        cdef signed char[::1] wanted = np.zeros(m, dtype=np.int8)
        cdef index_t[::1] order = np.array(self.group_order)
        cdef count_t left = 0, shared, least
        cdef index_t g, best
        cdef row_t r, i
        picked = []
        for v in range(m):
            if self.residue[v] == self.residue_height:
                wanted[v] = 1
                left += 1
        while left > 0:
            least, best = left, -1
            with nogil:
                for r in range(order.shape[0]):
                    g = order[r]
                    if self.groups.size[g] == 0:
                        continue
                    self.groups.open(g)
                    shared = 0
                    for i in range(pillars_from(self.groups, g), self.indptr[g + 1]):
                        shared += wanted[self.sensitive[self.groups.order[i]]]
                    if shared < least:
                        least, best = shared, g
                        if least == 0:
                            break
            if best < 0:
                return False
            picked.append(best)
            kept = set()
            for i in range(pillars_from(self.groups, best), self.indptr[best + 1]):
                kept.add(self.sensitive[self.groups.order[i]])
            for v in range(m):
                wanted[v] = wanted[v] and v in kept
            left = least
        for g in picked:
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
                while not self.done() and self.alive(g):
                    if self.fat(g):
                        c = self.lowest_in_residue(g)
                        if c < 0:
                            break
                        self.move(g, c)
                    else:
                        self.move_pillars(g)
        return 0

    cdef index_t lowest_in_residue(self, index_t g) noexcept nogil:
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
