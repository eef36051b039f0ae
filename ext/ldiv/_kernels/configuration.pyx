"""The configuration dual: with a price a cell, every group's best whole l-eligible set, exactly."""

from ldiv._kernels.types cimport code_t, count_t, index_t, row_t

import numpy as np

cdef extern from *:
    """
    #include <stdint.h>
    #include <stdlib.h>
    #include <string.h>
    typedef struct { double profit; int32_t cell; } ldiv_offer;

    static int ldiv_dearer(const ldiv_offer *a, const ldiv_offer *b) {
        if (a->profit != b->profit) return a->profit > b->profit;
        return a->cell < b->cell;
    }

    static void ldiv_sift_offers(ldiv_offer *x, int64_t n, int64_t i) {
        ldiv_offer v = x[i];
        for (;;) {
            int64_t child = 2 * i + 1;
            if (child >= n) break;
            if (child + 1 < n && ldiv_dearer(&x[child + 1], &x[child])) child++;
            if (!ldiv_dearer(&x[child], &v)) break;
            x[i] = x[child]; i = child;
        }
        x[i] = v;
    }

    /* The dearest offer first: a heap, from which the few that are needed are taken one by one. */
    static void ldiv_heap_offers(ldiv_offer *x, int64_t n) {
        for (int64_t i = n / 2 - 1; i >= 0; i--) ldiv_sift_offers(x, n, i);
    }

    static ldiv_offer ldiv_next_offer(ldiv_offer *x, int64_t *n) {
        ldiv_offer top = x[0];
        x[0] = x[--*n];
        if (*n > 1) ldiv_sift_offers(x, *n, 0);
        return top;
    }

    /* By falling profit, then by cell: insertion sort where there are few, else a heap sort, which needs no memory. */
    static void ldiv_sort_offers(ldiv_offer *x, int64_t n) {
        if (n > 64) {
            for (int64_t start = n / 2 - 1; start >= 0; start--) {
                int64_t i = start; ldiv_offer v = x[i];
                for (;;) {
                    int64_t child = 2 * i + 1;
                    if (child >= n) break;
                    if (child + 1 < n && ldiv_dearer(&x[child], &x[child + 1])) child++;
                    if (!ldiv_dearer(&v, &x[child])) break;
                    x[i] = x[child]; i = child;
                }
                x[i] = v;
            }
            for (int64_t end = n - 1; end > 0; end--) {
                ldiv_offer v = x[end]; x[end] = x[0];
                int64_t i = 0;
                for (;;) {
                    int64_t child = 2 * i + 1;
                    if (child >= end) break;
                    if (child + 1 < end && ldiv_dearer(&x[child], &x[child + 1])) child++;
                    if (!ldiv_dearer(&v, &x[child])) break;
                    x[i] = x[child]; i = child;
                }
                x[i] = v;
            }
            return;
        }
        for (int64_t i = 1; i < n; i++) {
            ldiv_offer v = x[i]; int64_t j = i;
            while (j > 0 && ldiv_dearer(&v, &x[j - 1])) { x[j] = x[j - 1]; j--; }
            x[j] = v;
        }
    }
    """
    ctypedef struct Offer "ldiv_offer":
        double profit
        index_t cell
    void sort_offers "ldiv_sort_offers"(Offer* x, row_t n) noexcept nogil
    void heap_offers "ldiv_heap_offers"(Offer* x, row_t n) noexcept nogil
    Offer next_offer "ldiv_next_offer"(Offer* x, row_t* n) noexcept nogil

from libc.stdlib cimport free, malloc

cdef double NEVER = -1e300


cdef struct Group:
    Offer* offer            # those that bring something by falling profit, then those taken from the heap so far
    row_t sorted
    row_t positive          # how many bring something
    Offer* heap             # the others
    row_t waiting
    count_t* room           # scratch, by SA value


cdef double value_at(Group* group, const count_t* count, const code_t* sensitive, count_t h, count_t need, count_t* usage) noexcept nogil:
    """The profit of the best set of height at most h with at least `need` rows: rows by falling profit, at most h a value, while the profit is above
    zero or rows are needed. Adds its rows to `usage` where that is given. NEVER where there are not so many rows."""
    cdef row_t i = 0
    cdef count_t taken = 0, take
    cdef double value = 0
    cdef index_t c
    for i in range(group.sorted):
        group.room[sensitive[group.offer[i].cell]] = h
    for i in range(group.waiting):
        group.room[sensitive[group.heap[i].cell]] = h
    i = 0
    while i < group.positive or taken < need:
        if i == group.sorted:
            if group.waiting == 0:
                break
            group.offer[i] = next_offer(group.heap, &group.waiting)
            group.sorted += 1
        c = group.offer[i].cell
        take = count[c] if count[c] < group.room[sensitive[c]] else group.room[sensitive[c]]
        if i >= group.positive and take > need - taken:
            take = need - taken
        if take > 0:
            group.room[sensitive[c]] -= take
            taken += take
            value += take * group.offer[i].profit
            if usage != NULL:
                usage[c] += take
        i += 1
    return value if taken >= need else NEVER


cdef inline count_t rows_for(count_t l, count_t k, count_t h) noexcept nogil:
    return l * h if l * h > k else k


cdef bint rises(Group* group, const count_t* count, const code_t* sensitive, count_t l, count_t k, count_t h) noexcept nogil:
    """Whether the best set of height h + 1 is worth more than that of height h."""
    cdef double here = value_at(group, count, sensitive, h, rows_for(l, k, h), NULL)
    cdef double above = value_at(group, count, sensitive, h + 1, rows_for(l, k, h + 1), NULL)
    if here == NEVER and above == NEVER:
        return l * h < k                            # too low for k rows; else too high for what there is
    return above > here


def respond(const index_t[:, ::1] cells not None, const row_t[:, ::1] bounds not None, const index_t[::1] pattern not None,
            const index_t[::1] groups not None, const double[::1] stars not None, const code_t[::1] sensitive not None, code_t m,
            const count_t[::1] count not None, const double[::1] price not None, count_t l, count_t k, count_t[::1] height not None,
            count_t[::1] usage not None, double[::1] gain not None):
    """Every listed group takes its best whole l-eligible set of at least k rows at these prices, if that pays.

    Group g holds the cells ``cells[pattern[g], bounds[g, 0]:bounds[g, 1]]``; a row of cell c brings ``price[c] - stars[pattern[g]]``. `height` holds a
    guess of each group's best height and keeps what is found; the rows taken are added to `usage`, what each group gains is written to `gain`
    (by group). Returns the sum of the gains, groups in the order listed.

    The value of the best set of height h is concave in h, so the search from the guess ends at the best. A sort for each group that has a row worth
    more than its stars, a pass for each height that is tried.
    """
    cdef row_t n = groups.shape[0], at, i, low, high, most = 0
    cdef index_t g, p, c
    cdef double total = 0, best
    cdef count_t h, stride, lower, upper
    cdef Group group
    for at in range(n):
        g = groups[at]
        if bounds[g, 1] - bounds[g, 0] > most:
            most = bounds[g, 1] - bounds[g, 0]
    if most == 0:
        return 0.0
    group.offer = <Offer*>malloc(most * sizeof(Offer))
    group.heap = <Offer*>malloc(most * sizeof(Offer))
    group.room = <count_t*>malloc(m * sizeof(count_t))
    try:
        if group.offer == NULL or group.heap == NULL or group.room == NULL:
            raise MemoryError()
        with nogil:
            for at in range(n):
                g = groups[at]
                p = pattern[g]
                low, high = bounds[g, 0], bounds[g, 1]
                gain[g] = 0
                group.sorted, group.waiting = 0, 0
                for i in range(low, high):
                    c = cells[p, i]
                    if price[c] > stars[p]:
                        group.offer[group.sorted].profit, group.offer[group.sorted].cell = price[c] - stars[p], c
                        group.sorted += 1
                if group.sorted == 0:
                    continue
                for i in range(low, high):
                    c = cells[p, i]
                    if price[c] <= stars[p]:
                        group.heap[group.waiting].profit, group.heap[group.waiting].cell = price[c] - stars[p], c
                        group.waiting += 1
                group.positive = group.sorted
                sort_offers(group.offer, group.sorted)
                heap_offers(group.heap, group.waiting)
                # The value is concave in h: gallop from the guess until it stops rising (or, downwards, until it rises), then halve.
                h = height[g] if height[g] > 0 else 1
                stride = 1
                if rises(&group, &count[0], &sensitive[0], l, k, h):
                    lower = h
                    while rises(&group, &count[0], &sensitive[0], l, k, lower + stride):
                        lower += stride
                        stride *= 2
                    upper = lower + stride
                else:
                    upper = h
                    lower = upper - stride
                    while lower > 0 and not rises(&group, &count[0], &sensitive[0], l, k, lower):
                        upper = lower
                        stride *= 2
                        lower = upper - stride
                    if lower < 0:
                        lower = 0
                while upper - lower > 1:            # it rises at `lower` (or that is 0) and not at `upper`
                    h = (lower + upper) // 2
                    if rises(&group, &count[0], &sensitive[0], l, k, h):
                        lower = h
                    else:
                        upper = h
                h = upper
                best = value_at(&group, &count[0], &sensitive[0], h, rows_for(l, k, h), NULL)
                height[g] = h
                if best <= 0:
                    continue
                gain[g] = best
                total += best
                value_at(&group, &count[0], &sensitive[0], h, rows_for(l, k, h), &usage[0])
    finally:
        free(group.offer)
        free(group.heap)
        free(group.room)
    return total
