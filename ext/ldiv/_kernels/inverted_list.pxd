cimport cython

from ldiv._kernels.types cimport code_t, count_t, index_t, row_t


@cython.final
cdef class InvertedList:
    """The inverted list: per group its cells ordered by height, and where its pillars begin."""
    cdef const row_t[::1] indptr        # group -> its cells
    cdef count_t[::1] count             # cell -> height, falling
    cdef index_t[::1] order             # the cells of each group by ascending height
    cdef index_t[::1] place             # cell -> its place in order
    cdef row_t[::1] front               # group -> the place of its first pillar
    cdef count_t[::1] size              # group -> rows left
    cdef count_t[::1] height            # group -> pillar height, the pillar pointer
    cdef signed char[::1] opened
    cdef row_t[::1] start               # scratch of the sort by counting

    cdef int open(self, index_t g) except -1 nogil
    cdef int sort(self, index_t g) except -1 nogil
    cdef bint below(self, index_t a, index_t b) except -1 nogil
    cdef row_t first(self, row_t low, row_t high, count_t h) except -1 nogil
    cdef int lower(self, index_t g, index_t c) except -1 nogil
    cdef int lower_by(self, index_t g, index_t c, count_t many) except -1 nogil


cdef inline row_t pillars_from(InvertedList h, index_t g) except -1 nogil:
    """The pillars of an opened, non-empty group are order[pillars_from(g) : indptr[g + 1]]."""
    return h.front[g]
