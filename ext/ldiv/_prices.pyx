"""Prices on the eligibility constraints: one sweep of the dual ascent, rounding, and the exact value of the bound."""

from ldiv._types cimport count_t, index_t, row_t

import numpy as np

cdef extern from *:
    """
    #include <stdint.h>
    /* exp for x <= 0 in float, about 2e-7 relative: 2^k times a polynomial. Branch-free, so that compilers vectorise the loop over cells;
       the library's expf does not vectorise without -ffast-math. */
    static inline float ldiv_exp(float x) {
        union { float f; int32_t i; } scale;
        float y, k, r;
        x = x < -87.0f ? -87.0f : x;
        y = x * 1.44269504f + 12582912.0f;
        k = y - 12582912.0f;
        r = x - k * 0.693145752f;
        r = r - k * 1.42860677e-6f;
        scale.i = ((int32_t) k + 127) << 23;
        return scale.f * (1.0f + r * (1.0f + r * (0.5f + r * (0.166666667f + r * (0.0416666667f + r * 0.00833333333f)))));
    }
    """
    float ldiv_exp(float x) noexcept nogil

cdef enum:
    BLOCK = 256


def respond(const index_t[:, ::1] item not None, const float[::1] cost not None, const float[::1] rows not None,
            float temperature, row_t low, row_t high, float[:, ::1] share not None):
    """How the rows of cells low..high spread over the patterns at these costs: a soft minimum. Returns their part of the bound.

    `item[p, c]` is where cell c falls in pattern p, `cost` what a row pays there. O(patterns * cells), a pass over memory.
    """
    cdef Py_ssize_t patterns = item.shape[0], p
    cdef row_t at, c, width
    cdef double bound = 0
    cdef float inverse = 1.0 / temperature
    cdef float[BLOCK] least
    cdef float[BLOCK] total
    cdef float* out
    cdef const index_t* where
    with nogil:
        at = low
        while at < high:
            width = BLOCK if high - at > BLOCK else high - at
            for c in range(width):
                least[c] = 1e30
                total[c] = 0
            for p in range(patterns):
                out = &share[p, at]
                where = &item[p, at]
                for c in range(width):
                    out[c] = cost[where[c]]
                for c in range(width):
                    least[c] = out[c] if out[c] < least[c] else least[c]
            for p in range(patterns):
                out = &share[p, at]
                for c in range(width):
                    out[c] = ldiv_exp((least[c] - out[c]) * inverse)
                    total[c] += out[c]
            for c in range(width):
                bound += <double>rows[at + c] * least[c]
                total[c] = rows[at + c] / total[c]
            for p in range(patterns):
                out = &share[p, at]
                for c in range(width):
                    out[c] *= total[c]
            at += width
    return bound


def adjust(const index_t[::1] item not None, const float[::1] share not None, const row_t[::1] indptr not None,
           const double[::1] fixed not None, float[::1] price not None, float[::1] first not None, float[::1] second not None,
           float[::1] cost not None, double[::1] taken not None, float l, float stars, float step, float decay_first,
           float decay_second, float correct_first, float correct_second) -> None:
    """Add up one pattern's rows, move its prices along the gradient l * X - X_group (Adam's step), and renew its costs.

    All arrays are this pattern's own part, so patterns can be adjusted at the same time. Prices stay at least 0.
    """
    cdef row_t c, g, i, items = price.shape[0], groups = indptr.shape[0] - 1
    cdef double mass, worth
    cdef float gradient
    with nogil:
        for i in range(items):
            taken[i] = fixed[i]
        for c in range(item.shape[0]):
            taken[item[c]] += share[c]
        for g in range(groups):
            mass = 0
            for i in range(indptr[g], indptr[g + 1]):
                mass += taken[i]
            worth = 0
            for i in range(indptr[g], indptr[g + 1]):
                gradient = <float>(l * taken[i] - mass)
                first[i] = decay_first * first[i] + (1 - decay_first) * gradient
                second[i] = decay_second * second[i] + (1 - decay_second) * gradient * gradient
                price[i] += step * (first[i] * correct_first) / (root(second[i] * correct_second) + 1e-6)
                if price[i] < 0:
                    price[i] = 0
                worth += price[i]
            for i in range(indptr[g], indptr[g + 1]):
                cost[i] = <float>(stars + l * price[i] - worth)


cdef extern from "math.h":
    float root "sqrtf"(float x) noexcept nogil


def propose(const index_t[::1] item not None, const float[::1] share not None, count_t[::1] rows not None,
            row_t items):
    """Whole rows for one pattern: systematically within each item, so that an item's sum is kept to within one row.

    Never more than a cell has left (`rows`, not changed). Returns rows per cell, int64.
    """
    out_ = np.zeros(item.shape[0], dtype=np.int64)
    cdef count_t[::1] out = out_
    cdef double[::1] wanted = np.zeros(items)
    cdef count_t[::1] given = np.zeros(items, dtype=np.int64)
    cdef row_t c
    cdef count_t take
    with nogil:
        for c in range(item.shape[0]):
            wanted[item[c]] += share[c]
            take = <count_t>(wanted[item[c]] + 0.5) - given[item[c]]
            if take > rows[c]:
                take = rows[c]
            if take > 0:
                given[item[c]] += take
                out[c] = take
    return out_


def exact_bound(const index_t[:, ::1] item not None, const count_t[::1] cost not None, const count_t[::1] rows not None,
                count_t cap):
    """Sum over cells of rows * min over patterns of cost, costs in units of 2**-20 star, capped: integers, so a proof."""
    cdef row_t c
    cdef Py_ssize_t p
    cdef count_t least, total = 0
    with nogil:
        for c in range(item.shape[1]):
            least = cap
            for p in range(item.shape[0]):
                if cost[item[p, c]] < least:
                    least = cost[item[p, c]]
            total += rows[c] * least
    return total
