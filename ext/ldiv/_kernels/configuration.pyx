"""The configuration dual: with a price a cell, every group's best whole l-eligible set, exactly."""

from ldiv._kernels.publishable cimport rows_for
from ldiv._kernels.types cimport code_t, count_t, index_t, row_t

import numpy as np

cdef double NEVER = -1e300
cdef count_t ANY = <count_t>1 << 62


cdef struct Group:
    const index_t* cell     # its cells by falling price
    row_t cells
    double stars            # of a row
    count_t* room           # scratch, by SA value: valid where `seen` is `now`
    count_t* seen
    count_t now
    index_t forced          # -1 for none


cdef struct Table:
    const code_t* sensitive
    const count_t* count
    const double* price
    count_t l
    count_t k


cdef inline bint pays(double price, double stars) noexcept nogil:
    """Whether a row brings something, or costs nothing where rows have no stars."""
    return price > stars or (stars == 0 and price == 0)


cdef double value_at(Group* group, const Table* table, count_t h, count_t* usage, float* share) noexcept nogil:
    """The profit of the best set of height at most h with at least so many rows as that height takes: rows by falling profit, at most h a value, while
    they pay or are needed (where l is 1, k: every set is 1-eligible, and `h` passes any); a row of the group's `forced` cell before all others, if there is one. Adds its rows to `usage` and `share` where these are
    given. NEVER where there are not so many rows."""
    cdef row_t i = 0
    cdef count_t taken = 0, take, there, need = table.k if table.l == 1 else rows_for(table.l, table.k, h)
    cdef double value = 0
    cdef index_t c
    cdef code_t v
    cdef bint paying
    group.now += 1
    if group.forced >= 0:
        if h < 1:
            return NEVER
        v = table.sensitive[group.forced]
        group.seen[v], group.room[v] = group.now, h - 1
        taken, value = 1, table.price[group.forced] - group.stars
    for i in range(group.cells):
        c = group.cell[i]
        paying = pays(table.price[c], group.stars)
        if not paying and taken >= need:
            break
        v = table.sensitive[c]
        if group.seen[v] != group.now:
            group.seen[v], group.room[v] = group.now, h
        there = table.count[c] - (c == group.forced)
        take = there if there < group.room[v] else group.room[v]
        if not paying and take > need - taken:
            take = need - taken
        if take > 0:
            group.room[v] -= take
            taken += take
            value += take * (table.price[c] - group.stars)
            if usage != NULL:
                usage[c] += take
            if share != NULL:
                share[c] += <float>take
    return value if taken >= need else NEVER


cdef bint rises(Group* group, const Table* table, count_t h) noexcept nogil:
    """Whether the best set of height h + 1 is worth no less than that of height h."""
    cdef double here = value_at(group, table, h, NULL, NULL), above = value_at(group, table, h + 1, NULL, NULL)
    if here == NEVER and above == NEVER:
        return table.l * h < table.k                # too low for k rows; else too high for what there is
    return above >= here


cdef count_t best_height(Group* group, const Table* table, count_t guess) noexcept nogil:
    """The highest of the best heights: of equal sets those with more rows, so that rows without stars are not thought to be left over. The value is
    concave in the height (a flow whose bounds are linear in it, whole where it is whole): gallop from the guess until it stops rising (or, downwards,
    until it rises), then halve."""
    cdef count_t stride = 1, lower, upper, h
    if table.l == 1:                                # no height is too much
        return ANY
    if rises(group, table, guess):
        lower = guess
        while rises(group, table, lower + stride):
            lower += stride
            stride *= 2
        upper = lower + stride
    else:
        upper = guess
        lower = upper - stride
        while lower > 0 and not rises(group, table, lower):
            upper = lower
            stride *= 2
            lower = upper - stride
        if lower < 0:
            lower = 0
    while upper - lower > 1:                        # it rises at `lower` (or that is 0) and not at `upper`
        h = (lower + upper) // 2
        if rises(group, table, h):
            lower = h
        else:
            upper = h
    return upper


cdef index_t[::1] by_group(const index_t[::1] item, const index_t[::1] group_of_item, const row_t[::1] starts, const index_t[::1] order):
    """The cells of each group by falling price, group after group: a stable distribution of `order`."""
    listed_, end_ = np.empty(item.shape[0], dtype=np.int32), np.array(starts)
    cdef index_t[::1] listed = listed_
    cdef row_t[::1] end = end_
    cdef row_t at
    cdef index_t g
    with nogil:
        for at in range(order.shape[0]):
            g = group_of_item[item[order[at]]]
            listed[end[g]] = order[at]
            end[g] += 1
    return listed


def respond(const index_t[::1] item not None, const index_t[::1] group_of_item not None, const row_t[::1] starts not None,
            const index_t[::1] order not None, double stars, const code_t[::1] sensitive not None, code_t m, const count_t[::1] count not None,
            const double[::1] price not None, count_t l, count_t k, count_t[::1] height not None, count_t[::1] usage not None,
            double[::1] gain not None, float[::1] share=None):
    """Every group of a pattern takes its best whole l-eligible set of at least k rows at these prices, if that pays.

    Cell c falls in the group ``group_of_item[item[c]]`` of the pattern, group g has ``starts[g + 1] - starts[g]`` cells; the last group can hold no row.
    A row of cell c brings ``price[c] - stars``; `order` lists the cells by falling price. `height` holds a guess of each group's best height and keeps
    what is found; the rows taken are added to `usage` (and `share`, where it is given), what each group gains is written to `gain`. Returns their sum.

    A pass over the cells, and in groups with a row that pays a look at the dearest for each height that is tried.
    """
    cdef row_t groups = gain.shape[0] - 1
    cdef index_t g
    cdef double total = 0, best
    cdef index_t[::1] listed = by_group(item, group_of_item, starts, order)
    cdef count_t[::1] room = np.empty(m, dtype=np.int64), seen = np.zeros(m, dtype=np.int64)
    cdef float* into = NULL
    cdef Group group
    cdef Table table
    if item.shape[0] == 0:
        return 0.0
    if share is not None:
        into = &share[0]
    table.sensitive, table.count, table.price, table.l, table.k = &sensitive[0], &count[0], &price[0], l, k
    group.room, group.seen, group.now, group.stars, group.forced = &room[0], &seen[0], 0, stars, -1
    with nogil:
        for g in range(groups):
            gain[g] = 0
            group.cells = starts[g + 1] - starts[g]
            if group.cells == 0:
                continue
            group.cell = &listed[starts[g]]
            if not pays(price[group.cell[0]], stars):
                continue
            height[g] = best_height(&group, &table, height[g] if height[g] > 0 else 1)
            best = value_at(&group, &table, height[g], NULL, NULL)
            if best < 0:
                continue
            gain[g] = best
            total += best
            value_at(&group, &table, height[g], &usage[0], into)
    return total


def forced(const index_t[::1] item not None, const index_t[::1] group_of_item not None, const row_t[::1] starts not None,
           const index_t[::1] order not None, double stars, const code_t[::1] sensitive not None, code_t m, const count_t[::1] count not None,
           const double[::1] price not None, count_t l, count_t k, const count_t[::1] height not None, const double[::1] gain not None,
           double[::1] loss not None):
    """What the bound gains if a row of a cell has to be published in this pattern: what its group gains less its best set with such a row.

    Arguments as in :func:`respond`, after it; `loss` is written for each cell, infinity where its group can hold no row. For each cell a look at the
    dearest of its group for each height that is tried.
    """
    cdef row_t groups = gain.shape[0] - 1, i
    cdef index_t g, c
    cdef double best
    cdef index_t[::1] listed = by_group(item, group_of_item, starts, order)
    cdef count_t[::1] room = np.empty(m, dtype=np.int64), seen = np.zeros(m, dtype=np.int64)
    cdef Group group
    cdef Table table
    if item.shape[0] == 0:
        return
    table.sensitive, table.count, table.price, table.l, table.k = &sensitive[0], &count[0], &price[0], l, k
    group.room, group.seen, group.now, group.stars = &room[0], &seen[0], 0, stars
    with nogil:
        for g in range(groups + 1):
            group.cells = starts[g + 1] - starts[g]
            if group.cells == 0:
                continue
            group.cell = &listed[starts[g]]
            for i in range(group.cells):
                c = group.cell[i]
                loss[c] = -NEVER
                if g < groups:
                    group.forced = c
                    best = value_at(&group, &table, best_height(&group, &table, height[g] if height[g] > 0 else 1), NULL, NULL)
                    if best > NEVER:
                        loss[c] = gain[g] - best
