"""Nearest and farthest points of the clustering algorithms: distances are sums of an entry of a table for each attribute."""

from ldiv._kernels.types cimport code_t, count_t, index_t, row_t


def nearest(const code_t[:, ::1] numbers not None, const index_t[::1] points not None, const row_t[::1] indptr not None,
            const code_t[::1] sensitive not None, const count_t[::1] left not None, const signed char[::1] allowed not None,
            const row_t[::1] offset not None, const count_t[::1] table not None):
    """The first of the nearest cells that have a row left of an allowed SA value, -1 where none has.

    The distance of a point is the sum over attributes of ``table[offset[j] + numbers[point, j]]``, none of which is below 0. O(points * attributes).
    """
    cdef row_t i, c
    cdef Py_ssize_t j, d = numbers.shape[1]
    cdef index_t p
    cdef count_t total, best = 0
    cdef row_t found = -1, cell
    with nogil:
        for i in range(points.shape[0]):
            p = points[i]
            total = 0
            for j in range(d):
                total += table[offset[j] + numbers[p, j]]
                if found >= 0 and total >= best:
                    break
            else:
                cell = -1
                for c in range(indptr[p], indptr[p + 1]):
                    if left[c] and allowed[sensitive[c]]:
                        cell = c
                        break
                if cell >= 0:
                    best, found = total, cell
                    if total == 0:
                        break
    return found


def farthest(const code_t[:, ::1] numbers not None, const index_t[::1] points not None, const row_t[::1] indptr not None,
             const code_t[::1] sensitive not None, const count_t[::1] left not None, const signed char[::1] allowed not None,
             const row_t[::1] offset not None, const count_t[::1] table not None):
    """As :func:`nearest`, the first of the farthest cells."""
    cdef row_t i, c
    cdef Py_ssize_t j, d = numbers.shape[1]
    cdef index_t p
    cdef count_t total, best = -1
    cdef row_t found = -1
    with nogil:
        for i in range(points.shape[0]):
            p = points[i]
            total = 0
            for j in range(d):
                total += table[offset[j] + numbers[p, j]]
            if total > best:
                for c in range(indptr[p], indptr[p + 1]):
                    if left[c] and allowed[sensitive[c]]:
                        best, found = total, c
                        break
    return found
