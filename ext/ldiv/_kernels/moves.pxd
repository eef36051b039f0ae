cimport cython

from ldiv._kernels.inverted_list cimport InvertedList
from ldiv._kernels.types cimport code_t, count_t, index_t, row_t


cdef class State:
    cdef InvertedList groups
    cdef const row_t[::1] indptr           # group -> its cells
    cdef const code_t[::1] sensitive       # cell -> its SA value
    cdef const index_t[::1] group_of       # cell -> group
    cdef count_t[::1] residue              # SA value -> rows in R
    cdef count_t residue_height
    cdef readonly count_t residue_size
    cdef readonly count_t rounds           # of phase three
    cdef count_t l


@cython.final
cdef class Word:
    cdef count_t[::1] moved             # cell -> rows moved
    cdef count_t[::1] raised            # SA value -> rows come to R
    cdef count_t[::1] size              # group -> its size and height at the start, once touched
    cdef count_t[::1] height
    cdef count_t[::1] slack             # group -> the least |Q| - l h(Q) that was looked at
    cdef index_t[::1] cells             # those that are touched
    cdef index_t[::1] groups
    cdef code_t[::1] values
    cdef row_t cells_length, groups_length, values_length
    cdef signed char[::1] known         # group -> whether it is among `groups`
    cdef index_t[::1] chosen_cell       # the cells whose value was preferred to others
    cdef signed char[::1] chosen        # cell -> whether it is among them
    cdef row_t chosen_length
    cdef count_t residue_size, residue_height, rounds       # at the start
    cdef count_t deficit                # the least l h(R) - |R| that was looked at, the one at the start included

    cdef int start(self, State run) except -1 nogil
    cdef int meet(self, State run, index_t g) except -1 nogil
    cdef int move(self, State run, index_t g, index_t c, count_t many) except -1 nogil
    cdef int choose(self, index_t c) except -1 nogil
    cdef bint alike(self, State run) except -1 nogil
    cdef count_t repeats(self, State run, const signed char[::1] listed, bint everyone) except -1 nogil
    cdef int repeat(self, State run, count_t many) except -1 nogil
    cdef int absorb(self, State run, Word word, count_t many) except -1 nogil


cdef inline count_t least(count_t a, count_t b) noexcept nogil:
    return a if a < b else b
