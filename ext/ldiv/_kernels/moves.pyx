"""Rows that move to the residue R in phases two and three: the state they change, and runs of moves that come again and again."""

cimport cython

from ldiv._kernels.inverted_list cimport InvertedList
from ldiv._kernels.types cimport code_t, count_t, index_t, row_t

import numpy as np

cdef count_t LOTS = <count_t>1 << 62


cdef class State:
    """The groups left by phase one and the residue R."""


@cython.final
cdef class Word:
    """A run of moves, and what was decided on the way: enough to say how often the same moves would follow once more.

    Every decision of phases two and three is the sign of a difference: of heights in R, of a group's rows and l times its height, of a cell and
    its group's pillars. Repeating the same moves changes each difference by the same amount, so the run repeats until the first of them
    changes its sign. Tables whose cells hold very many rows are thus decided in time that does not grow with the rows, with the outcome
    of single moves.
    """

    def __init__(self, Py_ssize_t cells, Py_ssize_t groups, Py_ssize_t m):
        self.moved, self.raised = np.zeros(cells, dtype=np.int64), np.zeros(m, dtype=np.int64)
        self.size, self.height = np.zeros(groups, dtype=np.int64), np.zeros(groups, dtype=np.int64)
        self.slack = np.zeros(groups, dtype=np.int64)
        self.cells, self.groups, self.values = np.empty(cells, np.int32), np.empty(groups, np.int32), np.empty(m, np.int32)
        self.known, self.chosen = np.zeros(groups, dtype=np.int8), np.zeros(cells, dtype=np.int8)
        self.chosen_cell = np.empty(cells, dtype=np.int32)
        self.cells_length = self.groups_length = self.values_length = self.chosen_length = 0

    cdef int start(self, State run) except -1 nogil:
        """Forget all, and begin here."""
        cdef row_t i
        for i in range(self.cells_length):
            self.moved[self.cells[i]] = 0
        for i in range(self.groups_length):
            self.known[self.groups[i]] = 0
        for i in range(self.values_length):
            self.raised[self.values[i]] = 0
        for i in range(self.chosen_length):
            self.chosen[self.chosen_cell[i]] = 0
        self.cells_length = self.groups_length = self.values_length = self.chosen_length = 0
        self.residue_size, self.residue_height, self.rounds = run.residue_size, run.residue_height, run.rounds
        self.deficit = run.l * run.residue_height - run.residue_size
        return 0

    cdef int meet(self, State run, index_t g) except -1 nogil:
        """A group is about to be looked at or touched."""
        if not self.known[g]:
            self.known[g] = 1
            self.groups[self.groups_length] = g
            self.groups_length += 1
            self.size[g], self.height[g] = run.groups.size[g], run.groups.height[g]
            self.slack[g] = LOTS
        return 0

    cdef int move(self, State run, index_t g, index_t c, count_t many) except -1 nogil:
        """Rows of a cell are about to be moved."""
        cdef code_t v = run.sensitive[c]
        self.meet(run, g)
        if self.moved[c] == 0:
            self.cells[self.cells_length] = c
            self.cells_length += 1
        if self.raised[v] == 0:
            self.values[self.values_length] = v
            self.values_length += 1
        self.moved[c] += many
        self.raised[v] += many
        return 0

    cdef int choose(self, index_t c) except -1 nogil:
        """A cell's value was preferred to those it was compared with."""
        if not self.chosen[c]:
            self.chosen[c] = 1
            self.chosen_cell[self.chosen_length] = c
            self.chosen_length += 1
        return 0

    cdef bint alike(self, State run) except -1 nogil:
        """Whether all preferred values rose alike, which must be if the run is to be repeated for long: cheap to see."""
        cdef row_t i
        cdef count_t rise
        if self.chosen_length == 0:
            return True
        rise = self.raised[run.sensitive[self.chosen_cell[0]]]
        for i in range(1, self.chosen_length):
            if self.raised[run.sensitive[self.chosen_cell[i]]] != rise:
                return False
        return True

    cdef count_t repeats(self, State run, const signed char[::1] listed, bint everyone) except -1 nogil:
        """How often the run certainly comes again, from where it ended. `everyone`: values were preferred to all that are listed, else to those of
        their own group."""
        cdef count_t most = LOTS, lift = run.residue_height - self.residue_height, moves = run.residue_size - self.residue_size
        cdef count_t change, drop, room, top, rise
        cdef row_t i, j
        cdef index_t g, c
        cdef code_t v, u
        if moves == 0:
            return 0
        change = run.l * lift - moves                           # of the deficit
        if change < 0:
            most = least(most, (self.deficit - 1) // -change)
        for i in range(self.cells_length):                      # no cell runs out
            c = self.cells[i]
            if run.groups.count[c] < 1:
                return 0
            most = least(most, (run.groups.count[c] - 1) // self.moved[c])
        for i in range(self.groups_length):
            g = self.groups[i]
            drop = self.height[g] - run.groups.height[g]
            change = run.l * drop - (self.size[g] - run.groups.size[g])
            if change != 0 and self.slack[g] < LOTS:
                if self.slack[g] <= 0:                          # it was thin, and would not be
                    return 0
                if change < 0:
                    most = least(most, (self.slack[g] - 1) // -change)
            if self.size[g] == run.groups.size[g]:
                continue
            for j in range(run.indptr[g], run.indptr[g + 1]):   # cells that do not fall with the pillars are none, and do not become one
                if self.moved[j] == drop:
                    continue
                room = run.groups.height[g] - run.groups.count[j] - self.moved[j] - 1
                if room < 0:
                    return 0
                if self.moved[j] < drop:
                    most = least(most, room // (drop - self.moved[j]))
        for v in range(<code_t>run.residue.shape[0]):           # the same in R
            if self.raised[v] == lift:
                continue
            room = run.residue_height - run.residue[v] - lift - 1
            if room < 0:
                return 0
            if self.raised[v] > lift:
                most = least(most, room // (self.raised[v] - lift))
        if everyone:
            top, rise = 0, 0
            for i in range(self.chosen_length):
                v = run.sensitive[self.chosen_cell[i]]
                top = run.residue[v] if run.residue[v] > top else top
                rise = self.raised[v]
            if not self.alike(run):
                return 0
            for u in range(<code_t>run.residue.shape[0]):
                if not listed[u] or self.raised[u] >= rise:
                    continue
                room = run.residue[u] - self.raised[u] - top - 1
                if room < 0:
                    return 0
                most = least(most, room // (rise - self.raised[u]))
            return most
        for i in range(self.chosen_length):
            c = self.chosen_cell[i]
            v, g = run.sensitive[c], run.group_of[c]
            for j in range(run.indptr[g], run.indptr[g + 1]):
                u = run.sensitive[j]
                if run.groups.count[j] == 0 or self.raised[u] >= self.raised[v]:
                    continue
                room = run.residue[u] - self.raised[u] - run.residue[v] - 1
                if room < 0:
                    return 0
                most = least(most, room // (self.raised[v] - self.raised[u]))
        return most

    cdef int repeat(self, State run, count_t many) except -1 nogil:
        """All its moves, so many times more."""
        cdef count_t lift = run.residue_height - self.residue_height, moves = run.residue_size - self.residue_size
        cdef row_t i
        cdef index_t g, c
        for i in range(self.cells_length):
            c = self.cells[i]
            run.groups.count[c] -= many * self.moved[c]
            run.groups.size[run.group_of[c]] -= many * self.moved[c]
        for i in range(self.groups_length):
            g = self.groups[i]
            if run.groups.size[g] != self.size[g]:
                run.groups.sort(g)
        for i in range(self.values_length):
            run.residue[self.values[i]] += many * self.raised[self.values[i]]
        run.residue_height += many * lift
        run.residue_size += many * moves
        return 0

    cdef int absorb(self, State run, Word word, count_t many) except -1 nogil:
        """What a word inside this one did, so many times more."""
        cdef count_t change
        cdef row_t i
        cdef index_t g, c
        for i in range(word.cells_length):
            c = word.cells[i]
            self.move(run, run.group_of[c], c, many * word.moved[c])
        for i in range(word.groups_length):     # differences change by the same amount each time, so the last or the first was the least
            g = word.groups[i]
            if word.slack[g] < LOTS:
                change = (run.groups.size[g] - run.l * run.groups.height[g] - word.size[g] + run.l * word.height[g]) // (many + 1)
                self.slack[g] = least(self.slack[g], word.slack[g] + many * least(change, 0))
        change = (run.l * run.residue_height - run.residue_size - run.l * word.residue_height + word.residue_size) // (many + 1)
        self.deficit = least(self.deficit, word.deficit + many * least(change, 0))
        return 0
