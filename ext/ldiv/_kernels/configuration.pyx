"""The configuration dual: with a price a cell, every group's best whole l-eligible set, exactly."""

from ldiv._kernels.publishable cimport rows_for
from ldiv._kernels.types cimport code_t, count_t, index_t, row_t

import numpy as np

cdef double NEVER = -1e300
cdef double ROUNDING = 1e-6     # stars by which sums in another order may differ
cdef count_t ANY = <count_t>1 << 62


cdef struct Group:
    const index_t* cell     # its cells by falling price, from the dearest on
    row_t cells             # so many are listed,
    bint whole              # which are all or not
    bint short              # set where a set would have taken cells that are not listed
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
    they pay or are needed (where l is 1, k: every set is 1-eligible, and `h` passes any); a row of the group's `forced` cell before all others, if there
    is one. Adds its rows to `usage` and `share` where these are given. NEVER where there are not so many rows."""
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
    if taken >= need:
        return value
    if not group.whole:
        group.short = True
    return NEVER


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


cdef row_t paying_first(const index_t[::1] order, const double[::1] price, double least) except -1 nogil:
    """How many cells, by falling price, have more than the least."""
    cdef row_t low = 0, high = order.shape[0], at
    while low < high:
        at = (low + high) // 2
        if price[order[at]] > least:
            low = at + 1
        else:
            high = at
    return low


cdef int promising(const index_t[::1] item, const index_t[::1] group_of_item, const index_t[::1] order, row_t first, const double[::1] price,
                   const double[::1] stars, double reach, count_t l, signed char[::1] met, count_t[::1] values, double[::1] most,
                   signed char[::1] wanted) except -1 nogil:
    """Leaves wanted the groups in which a set may pay. A set of height h has at least l h rows, at most h a value: it brings at most h times what the
    dearest rows of l SA values do (`most`), or more than that only where all of these pay. Cells not among the `first` bring less than -`reach`."""
    cdef row_t at, each = stars.shape[0] > 1
    cdef index_t g, i
    for at in range(first):
        i = item[order[at]]
        if met[i]:
            continue
        met[i] = 1
        g = group_of_item[i]
        if values[g] < l:
            most[g] += price[order[at]] - stars[g * each]
            values[g] += 1
    for g in range(most.shape[0] - 1):
        most[g] -= (l - values[g]) * reach
        wanted[g] = most[g] > -ROUNDING
    wanted[most.shape[0] - 1] = 0
    return 0


cdef int by_group(const index_t[::1] item, const index_t[::1] group_of_item, const index_t[::1] order, row_t first, const signed char[::1] wanted,
                  row_t[::1] ends, index_t[::1] listed) except -1 nogil:
    """The first cells of `order` by group, those of wanted groups only: a stable distribution. Those of group g end at ends[g]."""
    cdef row_t at, total = 0, here
    cdef index_t g
    for g in range(ends.shape[0]):
        ends[g] = 0
    for at in range(first):
        g = group_of_item[item[order[at]]]
        if wanted[g]:
            ends[g] += 1
    for g in range(ends.shape[0]):
        here = ends[g]
        ends[g] = total
        total += here
    for at in range(first):
        g = group_of_item[item[order[at]]]
        if wanted[g]:
            listed[ends[g]] = order[at]
            ends[g] += 1
    return 0


def respond(const index_t[::1] item not None, const index_t[::1] group_of_item not None, const row_t[::1] starts not None,
            const index_t[::1] order not None, const double[::1] stars not None, const code_t[::1] sensitive not None, code_t m,
            const count_t[::1] count not None, const double[::1] price not None, count_t l, count_t k, count_t[::1] height not None, count_t[::1] usage not None,
            double[::1] gain not None, double reach, float[::1] share=None):
    """Every group of a pattern takes its best whole l-eligible set of at least k rows at these prices, if that pays.

    Cell c falls in the group ``group_of_item[item[c]]`` of the pattern, group g has ``starts[g + 1] - starts[g]`` cells; the last group can hold no row.
    A row of cell c brings ``price[c] - stars[g]`` (`stars` has one number for all groups, or one for each); `order` lists the cells by falling price.
    `height` holds a guess of each group's best height and keeps what is found; the rows taken are added to `usage` (and `share`, where it is given), what
    each group gains is written to `gain`. Returns their sum, and how many cells were listed twice.

    Only cells that a row does not lose more than `reach` in are looked at first, and only groups that they promise something to; a group whose best set
    could take others too is looked at again, with all of its cells. So `reach` decides on the time, not on what comes out: a pass over those cells, the
    heights that are tried for each promising group, and a pass over all cells where one is looked at again.
    """
    cdef row_t groups = gain.shape[0] - 1, first, begin, again = 0, twice = 0, each = stars.shape[0] > 1
    cdef count_t h
    cdef double least
    cdef index_t g
    cdef int turn
    cdef double total = 0, best
    cdef row_t[::1] ends = np.empty(groups + 1, dtype=np.int64)
    cdef index_t[::1] listed
    cdef signed char[::1] wanted, met
    cdef count_t[::1] values
    cdef double[::1] most
    cdef count_t[::1] room = np.empty(m, dtype=np.int64), seen = np.zeros(m, dtype=np.int64)
    cdef float* into = NULL
    cdef Group group
    cdef Table table
    gain[:] = 0
    if item.shape[0] == 0:
        return 0.0, 0
    with nogil:
        least = stars[0]
        for g in range(stars.shape[0]):
            if stars[g] < least:
                least = stars[g]
        first = paying_first(order, price, least - reach)
    if first == 0 or not pays(price[order[0]], least):
        return 0.0, 0
    listed = np.empty(first, dtype=np.int32)
    if share is not None:
        into = &share[0]
    table.sensitive, table.count, table.price, table.l, table.k = &sensitive[0], &count[0], &price[0], l, k
    group.room, group.seen, group.now, group.forced = &room[0], &seen[0], 0, -1
    wanted, met = np.empty(groups + 1, dtype=np.int8), np.zeros(group_of_item.shape[0], dtype=np.int8)
    values, most = np.zeros(groups + 1, dtype=np.int64), np.zeros(groups + 1)
    with nogil:
        promising(item, group_of_item, order, first, price, stars, reach, l, met, values, most, wanted)
    for turn in range(2):
        with nogil:
            by_group(item, group_of_item, order, first, wanted, ends, listed)
            again = 0
            for g in range(groups):
                if not wanted[g]:
                    continue
                wanted[g] = 0
                begin = ends[g - 1] if g else 0
                group.cells = ends[g] - begin
                if group.cells == 0:
                    continue
                group.cell, group.stars = &listed[begin], stars[g * each]
                if not pays(price[group.cell[0]], group.stars):
                    continue
                group.whole, group.short = group.cells == starts[g + 1] - starts[g], False
                h = best_height(&group, &table, height[g] if height[g] > 0 else 1)
                best = value_at(&group, &table, h, NULL, NULL)
                if group.short:
                    wanted[g] = 1
                    again += starts[g + 1] - starts[g]
                    continue
                height[g] = h
                if best < 0:
                    continue
                gain[g] = best
                value_at(&group, &table, height[g], &usage[0], into)
        if again == 0:
            break
        first, listed, twice = order.shape[0], np.empty(again, dtype=np.int32), again
    with nogil:
        for g in range(groups):
            total += gain[g]
    return total, twice


def forced(const index_t[::1] item not None, const index_t[::1] group_of_item not None, const row_t[::1] starts not None,
           const index_t[::1] order not None, const double[::1] stars not None, const code_t[::1] sensitive not None, code_t m,
           const count_t[::1] count not None, const double[::1] price not None, count_t l, count_t k, const count_t[::1] height not None, const double[::1] gain not None,
           double[::1] loss not None):
    """What the bound gains if a row of a cell has to be published in this pattern: what its group gains less its best set with such a row.

    Arguments as in :func:`respond`, after it; `loss` is written for each cell, infinity where its group can hold no row. For each cell a look at the
    dearest of its group for each height that is tried.
    """
    cdef row_t groups = gain.shape[0] - 1, i, each = stars.shape[0] > 1
    cdef index_t g, c
    cdef double best
    cdef index_t[::1] listed = np.empty(item.shape[0], dtype=np.int32)
    cdef row_t[::1] ends = np.empty(groups + 1, dtype=np.int64)
    cdef signed char[::1] wanted = np.ones(groups + 1, dtype=np.int8)
    cdef count_t[::1] room = np.empty(m, dtype=np.int64), seen = np.zeros(m, dtype=np.int64)
    cdef Group group
    cdef Table table
    if item.shape[0] == 0:
        return
    table.sensitive, table.count, table.price, table.l, table.k = &sensitive[0], &count[0], &price[0], l, k
    group.room, group.seen, group.now = &room[0], &seen[0], 0
    group.whole = True
    with nogil:
        by_group(item, group_of_item, order, order.shape[0], wanted, ends, listed)
        for g in range(groups + 1):
            group.cells = starts[g + 1] - starts[g]
            if group.cells == 0:
                continue
            group.cell, group.stars = &listed[starts[g]], stars[g * each]
            for i in range(group.cells):
                c = group.cell[i]
                loss[c] = -NEVER
                if g < groups:
                    group.forced = c
                    best = value_at(&group, &table, best_height(&group, &table, height[g] if height[g] > 0 else 1), NULL, NULL)
                    if best > NEVER:
                        loss[c] = gain[g] - best
