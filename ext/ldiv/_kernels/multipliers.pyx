"""Prices on the eligibility constraints: one sweep of the dual ascent, rounding, and the exact value of the bound."""

from ldiv._kernels.types cimport count_t, index_t, row_t

import numpy as np

ctypedef unsigned short near_t  # a cell within its block
cdef enum:
    WIDTH = 512
BLOCK = WIDTH  # cells that answer prices together

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

    /* x[i] = exp((least[cell[i]] - x[i]) * inverse), after the gathers so that the loop over exp vectorises. */
    LDIV_CLONES
    void ldiv_weigh(float *x, const uint16_t *cell, const float *least, float inverse, int64_t n) {
        for (int64_t i = 0; i < n; i++) x[i] = (least[cell[i]] - x[i]) * inverse;
        for (int64_t i = 0; i < n; i++) x[i] = ldiv_exp(x[i]);
    }

    /* The least cost of each cell of a block over all patterns. */
    LDIV_CLONES
    void ldiv_least(const int32_t *item, const float *cost, const int64_t *offset, float *least, int64_t patterns, int64_t cells, int64_t low, int64_t high) {
        for (int64_t c = 0; c < high - low; c++) least[c] = 1e30f;
        for (int64_t p = 0; p < patterns; p++) {
            const int32_t *where = item + p * cells + low;
            const float *here = cost + offset[p];
            for (int64_t c = 0; c < high - low; c++) {
                float x = here[where[c]];
                least[c] = x < least[c] ? x : least[c];
            }
        }
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
    void ldiv_weigh(float* x, const near_t* cell, const float* least, float inverse, row_t n) noexcept nogil
    void ldiv_least(const index_t* item, const float* cost, const row_t* offset, float* least, row_t patterns, row_t cells, row_t low,
                    row_t high) noexcept nogil


def select(const index_t[:, ::1] item not None, const row_t[::1] offset not None, const float[::1] cost not None, float reach, row_t low, row_t high,
           near_t[::1] near not None, row_t[:, ::1] start not None) -> None:
    """Lists the (cell, pattern) pairs of blocks low..high whose cost is within `reach` of the cell's least.

    Item ``offset[p] + item[p, c]`` is where cell c falls in pattern p, ``cost`` what a row pays there. Block b has the BLOCK cells from b * BLOCK on; its
    pairs with pattern p are listed in ``near[start[b, p] : start[b, p + 1]]`` as cells within the block, from where the pairs of all cells before would
    end. O(patterns * cells), two passes over memory.
    """
    cdef row_t b, p, c, first, last, at, cells = item.shape[1], patterns = item.shape[0]
    cdef float least[WIDTH]
    cdef const index_t* where
    cdef const float* here
    if high <= low or patterns == 0:
        return
    with nogil:
        at = low * WIDTH * patterns
        for b in range(low, high):
            first, last = b * WIDTH, min((b + 1) * WIDTH, cells)
            ldiv_least(&item[0, 0], &cost[0], &offset[0], least, patterns, cells, first, last)
            for p in range(patterns):
                where, here = &item[p, first], &cost[offset[p]]
                start[b, p] = at
                for c in range(last - first):
                    near[at] = <near_t>c
                    at += here[where[c]] <= least[c] + reach
            start[b, patterns] = at


def respond(const index_t[:, ::1] item not None, const row_t[::1] offset not None, const float[::1] cost not None, const float[::1] rows not None,
            float temperature, row_t low, row_t high, const near_t[::1] near not None, const row_t[:, ::1] start not None,
            float[::1] share not None):
    """How the rows of the cells of blocks low..high spread over their listed patterns at these costs: a soft minimum. Returns the sum of the rows' least
    costs.

    Lists as in :func:`select`; ``share`` gets the rows of each pair. A pass over the pairs.
    """
    cdef double bound = 0
    cdef float least[WIDTH]
    cdef float total[WIDTH]
    cdef float x, inverse = 1 / temperature
    cdef row_t b, p, c, i, first, width, patterns = item.shape[0]
    cdef const index_t* where
    cdef const float* here
    if patterns == 0:
        return 0.0
    with nogil:
        for b in range(low, high):
            first = b * WIDTH
            width = min(WIDTH, item.shape[1] - first)
            for c in range(width):
                least[c], total[c] = 1e30, 0
            for p in range(patterns):
                where, here = &item[p, first], &cost[offset[p]]
                for i in range(start[b, p], start[b, p + 1]):
                    x = here[where[near[i]]]
                    share[i] = x
                    if x < least[near[i]]:
                        least[near[i]] = x
            i = start[b, 0]
            ldiv_weigh(&share[i], &near[i], least, inverse, start[b, patterns] - i)
            for i in range(start[b, 0], start[b, patterns]):
                total[near[i]] += share[i]
            for c in range(width):
                bound += <double>rows[first + c] * least[c]
                total[c] = rows[first + c] / total[c]
            for i in range(start[b, 0], start[b, patterns]):
                share[i] *= total[near[i]]
    return bound


def shares(const near_t[::1] near not None, const row_t[:, ::1] start not None, const float[::1] share not None, Py_ssize_t p, row_t cells):
    """The rows of each cell in pattern p, float32: 0 where the pair is not listed."""
    out_ = np.zeros(cells, dtype=np.float32)
    cdef float[::1] out = out_
    cdef row_t b, i
    with nogil:
        for b in range(start.shape[0]):
            for i in range(start[b, p], start[b, p + 1]):
                out[b * WIDTH + near[i]] = share[i]
    return out_


def adjust(const index_t[::1] item not None, const near_t[::1] near not None, const row_t[:, ::1] start not None, const float[::1] share not None,
           Py_ssize_t p, const row_t[::1] indptr not None, const float[::1] fixed not None, float[::1] price not None, float[::1] first not None,
           float[::1] second not None, float[::1] cost not None, const float[::1] load not None, const float[::1] pays not None, float step,
           float decay_first, float decay_second, float correct_first, float correct_second) -> None:
    """Add up the rows of pattern p, move its prices along the gradient load * X - X_group (Adam's step), and renew its costs.

    Lists as in :func:`select`; `fixed` are rows that each item has besides, or none; `load` has an entry an item, or one for all: how many rows of the
    group a row of the item stands for at the least; `pays` an entry a group, or one for all: what a row pays there without prices. All other arrays are
    this pattern's own part, so patterns can be adjusted at the same time. Prices stay at least 0.
    """
    cdef row_t b, g, i, base, items = price.shape[0], groups = indptr.shape[0] - 1, stride = load.shape[0] > 1
    cdef row_t each = pays.shape[0] > 1
    cdef double mass
    cdef float worth
    if items == 0:
        return
    cdef double[::1] taken = np.zeros(items)
    with nogil:
        for i in range(fixed.shape[0]):
            taken[i] = fixed[i]
        for b in range(start.shape[0]):
            base = b * WIDTH
            for i in range(start[b, p], start[b, p + 1]):
                taken[item[base + near[i]]] += share[i]
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
            worth = pays[g * each] - worth
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


def cheapest(const index_t[:, ::1] item not None, const row_t[::1] offset not None, const count_t[::1] cost not None, count_t cap):
    """The least cost of each cell over the patterns, in units of 2**-20 star, capped. int64."""
    out_ = np.full(item.shape[1], cap, dtype=np.int64)
    cdef count_t[::1] out = out_
    cdef row_t c
    cdef Py_ssize_t p
    with nogil:
        for p in range(item.shape[0]):
            for c in range(item.shape[1]):
                if cost[offset[p] + item[p, c]] < out[c]:
                    out[c] = cost[offset[p] + item[p, c]]
    return out_
