"""Prices on the eligibility constraints: one sweep of the dual ascent, rounding, and the exact value of the bound."""

from ldiv._kernels.types cimport count_t, index_t, row_t

import numpy as np

cdef extern from *:
    """
    #include <stdint.h>
    /* One source, several instruction sets, chosen when the module is loaded. The numbers are the same on all of them: every lane does the same
       operations in the same order, and setup.py forbids fused multiply-adds. */
    #if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
    #define LDIV_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
    #else
    #define LDIV_CLONES
    #endif
    #define LDIV_BLOCK 512
    #ifdef _MSC_VER
    #include <math.h>
    #define __builtin_sqrtf sqrtf
    #endif

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

    LDIV_CLONES
    double ldiv_soft_minimum(const int32_t *item, const float *cost, const float *rows, float *share, float inverse,
                             int64_t patterns, int64_t cells, int64_t low, int64_t high) {
        float least[LDIV_BLOCK], total[LDIV_BLOCK];
        double bound = 0;
        for (int64_t at = low; at < high; at += LDIV_BLOCK) {
            int64_t width = high - at < LDIV_BLOCK ? high - at : LDIV_BLOCK;
            for (int64_t c = 0; c < width; c++) { least[c] = 1e30f; total[c] = 0; }
            for (int64_t p = 0; p < patterns; p++) {
                float *out = share + p * cells + at;
                const int32_t *where = item + p * cells + at;
                for (int64_t c = 0; c < width; c++) {
                    float x = cost[where[c]];
                    out[c] = x;
                    least[c] = x < least[c] ? x : least[c];
                }
            }
            for (int64_t p = 0; p < patterns; p++) {
                float *out = share + p * cells + at;
                for (int64_t c = 0; c < width; c++) {
                    float x = ldiv_exp((least[c] - out[c]) * inverse);
                    out[c] = x;
                    total[c] += x;
                }
            }
            for (int64_t c = 0; c < width; c++) {
                bound += (double) rows[at + c] * least[c];
                total[c] = rows[at + c] / total[c];
            }
            for (int64_t p = 0; p < patterns; p++) {
                float *out = share + p * cells + at;
                for (int64_t c = 0; c < width; c++) out[c] *= total[c];
            }
        }
        return bound;
    }

    LDIV_CLONES
    void ldiv_adam(float *price, float *first, float *second, const float *gradient, int64_t n, float step, float one, float two,
                   float correct_one, float correct_two) {
        for (int64_t i = 0; i < n; i++) {
            first[i] = one * first[i] + (1.0f - one) * gradient[i];
            second[i] = two * second[i] + (1.0f - two) * gradient[i] * gradient[i];
            float x = price[i] + step * (first[i] * correct_one) / (__builtin_sqrtf(second[i] * correct_two) + 1e-6f);
            price[i] = x < 0.0f ? 0.0f : x;
        }
    }
    """
    void ldiv_adam(float* price, float* first, float* second, const float* gradient, row_t n, float step, float one, float two,
                   float correct_one, float correct_two) noexcept nogil
    double ldiv_soft_minimum(const index_t* item, const float* cost, const float* rows, float* share, float inverse, row_t patterns,
                             row_t cells, row_t low, row_t high) noexcept nogil


def respond(const index_t[:, ::1] item not None, const float[::1] cost not None, const float[::1] rows not None,
            float temperature, row_t low, row_t high, float[:, ::1] share not None):
    """How the rows of cells low..high spread over the patterns at these costs: a soft minimum. Returns their part of the bound.

    `item[p, c]` is where cell c falls in pattern p, `cost` what a row pays there. O(patterns * cells), a pass over memory.
    """
    cdef double bound
    if high <= low:
        return 0.0
    with nogil:
        bound = ldiv_soft_minimum(&item[0, 0], &cost[0], &rows[0], &share[0, 0], 1.0 / temperature, item.shape[0], item.shape[1], low, high)
    return bound


def adjust(const index_t[::1] item not None, const float[::1] share not None, const row_t[::1] indptr not None,
           const double[::1] fixed not None, float[::1] price not None, float[::1] first not None, float[::1] second not None,
           float[::1] cost not None, double[::1] taken not None, const float[::1] load not None, float stars, float step, float decay_first,
           float decay_second, float correct_first, float correct_second) -> None:
    """Add up one pattern's rows, move its prices along the gradient load * X - X_group (Adam's step), and renew its costs.

    `load` has an entry an item, or one for all: how many rows of the group a row of the item stands for at the least.
    All arrays are this pattern's own part, so patterns can be adjusted at the same time. Prices stay at least 0.
    """
    cdef row_t c, g, i, items = price.shape[0], groups = indptr.shape[0] - 1
    cdef row_t stride = load.shape[0] > 1
    cdef double mass
    cdef float worth
    if items == 0:
        return
    with nogil:
        for i in range(items):
            taken[i] = fixed[i]
        for c in range(item.shape[0]):
            taken[item[c]] += share[c]
        for g in range(groups):
            mass = 0
            for i in range(indptr[g], indptr[g + 1]):
                mass += taken[i]
            for i in range(indptr[g], indptr[g + 1]):
                cost[i] = <float>(load[i * stride] * taken[i] - mass)      # the gradient, for a moment
        ldiv_adam(&price[0], &first[0], &second[0], &cost[0], items, step, decay_first, decay_second, correct_first, correct_second)
        for g in range(groups):
            worth = 0
            for i in range(indptr[g], indptr[g + 1]):
                worth += price[i]
            worth = stars - worth
            for i in range(indptr[g], indptr[g + 1]):
                cost[i] = load[i * stride] * price[i] + worth


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


def cheapest(const index_t[:, ::1] item not None, const count_t[::1] cost not None, count_t cap):
    """The least cost of each cell over the patterns, in units of 2**-20 star, capped. int64."""
    out_ = np.full(item.shape[1], cap, dtype=np.int64)
    cdef count_t[::1] out = out_
    cdef row_t c
    cdef Py_ssize_t p
    with nogil:
        for p in range(item.shape[0]):
            for c in range(item.shape[1]):
                if cost[item[p, c]] < out[c]:
                    out[c] = cost[item[p, c]]
    return out_
