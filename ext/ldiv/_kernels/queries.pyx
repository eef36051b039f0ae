"""Expected answers of COUNT queries on groups that publish values, sets of values, or nothing."""

from ldiv._kernels.types cimport code_t, row_t

import numpy as np


def expected(const code_t[:, ::1] kind not None, const row_t[::1] indptr not None, const code_t[::1] sensitive not None,
             const double[::1] rows not None, const row_t[::1] offset not None, const double[:, ::1] share not None,
             const signed char[:, ::1] used not None, const double[:, ::1] chosen not None):
    """For each query the rows that it counts, in expectation: over groups the product of the shares of what they publish, times their rows of chosen SA values.

    ``share[q, offset[j] + kind[g, j]]`` is the share of what group g publishes of attribute j that query q takes; looked at where ``used[q, j]``.
    ``chosen[q, v]`` is 1 where it takes SA value v. O(queries * (groups * attributes + entries)) at worst; a share of 0 ends a group.
    """
    cdef row_t queries = share.shape[0], q, g, i
    cdef Py_ssize_t d = kind.shape[1], j
    cdef double weight, total, inside
    out_ = np.zeros(queries)
    cdef double[::1] out = out_
    with nogil:
        for q in range(queries):
            total = 0.0
            for g in range(kind.shape[0]):
                weight = 1.0
                for j in range(d):
                    if used[q, j]:
                        weight *= share[q, offset[j] + kind[g, j]]
                        if weight == 0.0:
                            break
                if weight == 0.0:
                    continue
                inside = 0.0
                for i in range(indptr[g], indptr[g + 1]):
                    inside += chosen[q, sensitive[i]] * rows[i]
                total += weight * inside
            out[q] = total
    return out_
