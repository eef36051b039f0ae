"""Who is published in which group: moves of single rows between l-eligible groups of all patterns."""

from ldiv._kernels.publishable cimport rows_for
from ldiv._kernels.types cimport count_t, index_t, row_t

import numpy as np

cdef enum:
    LOOK = 1024         # places of each finer pattern in which partners are sought before a row looks elsewhere
    MANY = 128          # patterns beyond which LOOK is less
    MOST_STEPS = 512    # levels of offers between nothing and a star in every attribute
    GLANCE = 32         # the same while rebuilding
    SPAN = 8192         # cells of the largest group that is rebuilt
    LAYER = 64          # rows that one rebuilding takes out at the most, or two smallest groups where these are larger
    LARGEST = 512       # and never more
    COMPANY = 4096      # partners that a row finds at the most, where that is not what l needs
    BLINK = 20          # one offer in so many is overlooked while rebuilding
    MORE = 3            # a rebuilding takes layers out of at most so many groups


cdef class LocalSearch:
    """Whole rows of cells given to the groups of patterns. Every group is l-eligible and has at least k rows, or none, between calls.

    LocalSearch(item, offset, group_of_item, indptr, floor, price, finer, cells, bounds, given, rows, left, l, k)

    `item[p, c]` is where cell c falls in pattern p, within the pattern; items and groups are numbered over all patterns from offset[p].
    `cells[p]` lists the cells by item, `bounds[group]` says where a group's stand. `finer[p, q]` says that q keeps all that p keeps.
    """
    cdef const index_t[:, ::1] item
    cdef const row_t[::1] offset            # pattern -> its first item
    cdef const index_t[::1] group_of_item
    cdef const row_t[::1] indptr            # group -> its items
    cdef const index_t[::1] floor           # the least that a row pays in a group of this pattern or one after it
    cdef const index_t[::1] price           # group -> what a row pays: stars, weighted, or the loss of the nodes it shows
    cdef const signed char[:, ::1] finer
    cdef const index_t[:, ::1] cells
    cdef const row_t[:, ::1] bounds         # group -> its places in cells[p], from and to
    cdef count_t[::1] given                 # rows of an item
    cdef index_t[:, ::1] rows               # rows of a cell in a pattern
    cdef count_t[::1] left                  # rows of a cell not in any group
    cdef count_t[::1] size
    cdef count_t[::1] height
    cdef count_t l
    cdef count_t k
    cdef count_t company                    # partners that a row may need
    cdef row_t looked                       # places looked at, a deterministic measure of time
    cdef row_t[:, ::1] loan                 # scratch: the partners found, as (pattern, cell)
    cdef row_t[::1] cursor                  # group -> where the next search for partners starts
    cdef count_t cost                       # stars of all rows in groups
    cdef row_t[:, ::1] journal              # moves that may be undone, as (pattern, cell, +1 or -1)
    cdef row_t written
    cdef bint writing
    cdef row_t look                         # LOOK, where there are not many patterns
    cdef count_t step                       # from one level of offers to the next: 1, more where attributes have large weights
    cdef row_t[::1] layer                   # scratch: the rows taken out, by cell
    cdef row_t waiting                      # how many they are
    cdef unsigned long long state           # of the random numbers

    def __init__(self, const index_t[:, ::1] item not None, const row_t[::1] offset not None,
                 const index_t[::1] group_of_item not None, const row_t[::1] indptr not None,
                 const index_t[::1] floor not None, const index_t[::1] price not None, const signed char[:, ::1] finer not None,
                 const index_t[:, ::1] cells not None, const row_t[:, ::1] bounds not None, count_t[::1] given not None,
                 index_t[:, ::1] rows not None, count_t[::1] left not None, count_t l, count_t k=1):
        self.item, self.offset, self.group_of_item, self.indptr = item, offset, group_of_item, indptr
        self.floor, self.price, self.finer, self.cells, self.bounds = floor, price, finer, cells, bounds
        self.given, self.rows, self.left, self.l, self.k = given, rows, left, l, k
        self.company = max(l, min(k, COMPANY))
        self.size = np.add.reduceat(np.asarray(given), np.asarray(indptr)[:len(indptr) - 1])
        self.height = np.maximum.reduceat(np.asarray(given), np.asarray(indptr)[:len(indptr) - 1])
        self.loan = np.empty((self.company + 1, 2), dtype=np.int64)
        self.cursor = np.zeros(len(indptr) - 1, dtype=np.int64)
        self.cost = int(np.asarray(price)[np.asarray(group_of_item)] @ np.asarray(given))
        # Of one rebuilding: each row of the layer is taken out and put back once, with fewer than `company` partners that leave and enter, and one attempt
        # that fails enters all of these and takes them back.
        layer = max(LAYER, min(2 * k, LARGEST)) if k > l else LAYER
        self.journal = np.empty((2 * (layer + 4) * (self.company + 1), 3), dtype=np.int64)
        self.writing, self.written = False, 0
        self.step = max(1, int(np.asarray(floor).max()) // min(4 * len(floor), MOST_STEPS))
        self.look = max(GLANCE, LOOK * MANY // max(len(floor), MANY))
        self.layer = np.empty(layer, dtype=np.int64)

    cdef inline row_t at(self, Py_ssize_t p, row_t c) except -1 nogil:
        """The item of a cell in a pattern."""
        return self.offset[p] + self.item[p, c]

    cdef inline count_t pays(self, Py_ssize_t p, row_t c) except -1 nogil:
        """What a row of the cell pays in a pattern."""
        return self.price[self.group_of_item[self.at(p, c)]]

    cdef inline int note(self, Py_ssize_t p, row_t c, row_t sign) except -1 nogil:
        self.cost += sign * self.pays(p, c)
        if self.writing:
            self.journal[self.written, 0], self.journal[self.written, 1], self.journal[self.written, 2] = p, c, sign
            self.written += 1
        return 0

    cdef inline int enter(self, Py_ssize_t p, row_t c) except -1 nogil:
        cdef row_t i = self.at(p, c)
        cdef index_t g = self.group_of_item[i]
        self.note(p, c, 1)
        self.given[i] += 1
        self.rows[p, c] += 1
        self.size[g] += 1
        if self.given[i] > self.height[g]:
            self.height[g] = self.given[i]
        return 0

    cdef inline int leave(self, Py_ssize_t p, row_t c) except -1 nogil:
        cdef row_t i = self.at(p, c), k
        cdef index_t g = self.group_of_item[i]
        cdef count_t top = 0
        self.note(p, c, -1)
        self.given[i] -= 1
        self.rows[p, c] -= 1
        self.size[g] -= 1
        if self.given[i] + 1 == self.height[g]:
            for k in range(self.indptr[g], self.indptr[g + 1]):
                if self.given[k] > top:
                    top = self.given[k]
            self.height[g] = top
        return 0

    cdef int enter_many(self, Py_ssize_t p, row_t c, count_t many) except -1 nogil:
        """As :meth:`enter` so many times, outside a rebuilding."""
        cdef row_t i = self.at(p, c)
        cdef index_t g = self.group_of_item[i]
        self.cost += many * self.price[g]
        self.given[i] += many
        self.rows[p, c] += <index_t>many
        self.size[g] += many
        if self.given[i] > self.height[g]:
            self.height[g] = self.given[i]
        return 0

    cdef int leave_many(self, Py_ssize_t p, row_t c, count_t many) except -1 nogil:
        """As :meth:`leave` so many times, outside a rebuilding."""
        cdef row_t i = self.at(p, c), k
        cdef index_t g = self.group_of_item[i]
        self.cost -= many * self.price[g]
        self.given[i] -= many
        self.rows[p, c] -= <index_t>many
        self.size[g] -= many
        if self.given[i] + many == self.height[g]:
            self.height[g] = 0
            for k in range(self.indptr[g], self.indptr[g + 1]):
                if self.given[k] > self.height[g]:
                    self.height[g] = self.given[k]
        return 0

    cdef count_t room(self, Py_ssize_t p, row_t c) except -1 nogil:
        """How many rows of the cell can enter one after another without partners.

        After j of them the group has size + j rows and, from the height on, given + j of the value: so at most (size - l given) / (l - 1).
        """
        cdef row_t i = self.at(p, c)
        cdef index_t g = self.group_of_item[i]
        cdef count_t below = self.height[g] - self.given[i], above
        if self.missing(p, c) > 0:
            return 0
        if self.l == 1:
            return <count_t>1 << 62
        above = (self.size[g] - self.l * self.given[i]) // (self.l - 1)
        return below if below > above else above

    cdef count_t spare(self, Py_ssize_t p, row_t c) except -1 nogil:
        """How many rows of the value can leave one after another: down to l times the height of the others, which is the group's unless the value
        is its only pillar."""
        cdef row_t i = self.at(p, c), k
        cdef index_t g = self.group_of_item[i]
        cdef count_t others = self.height[g]
        if self.given[i] == self.height[g]:
            others = 0
            for k in range(self.indptr[g], self.indptr[g + 1]):
                if k != i and self.given[k] > others:
                    others = self.given[k]
        return self.size[g] - (self.k if others == 0 and self.k > 1 else rows_for(self.l, self.k, others))

    cdef inline bint may_leave(self, Py_ssize_t p, row_t c) except -1 nogil:
        """Whether the group stays l-eligible, with k rows, without one row of the cell."""
        cdef row_t i = self.at(p, c), k
        cdef index_t g = self.group_of_item[i]
        if self.size[g] <= self.k and self.size[g] > 1:
            return False
        if self.size[g] - 1 >= self.l * self.height[g]:
            return True
        if self.given[i] < self.height[g] or self.size[g] - 1 < self.l * (self.height[g] - 1):
            return False
        for k in range(self.indptr[g], self.indptr[g + 1]):     # the only pillar may go
            if k != i and self.given[k] == self.height[g]:
                return False
        return True

    cdef inline count_t missing(self, Py_ssize_t p, row_t c) except -1 nogil:
        """How many partners a row of the cell needs to enter the pattern's group."""
        cdef row_t i = self.at(p, c)
        cdef index_t g = self.group_of_item[i]
        cdef count_t need = rows_for(self.l, self.k, self.top_with(p, c)) - self.size[g] - 1
        if i == self.offset[p + 1] - 1 or need >= self.company:      # of groups that can hold no row; or too many to look for
            return <count_t>1 << 40
        return need if need > 0 else 0

    cdef inline count_t top_with(self, Py_ssize_t p, row_t c) except -1 nogil:
        """The height of the pattern's group once a row of the cell has entered: what its partners may reach. Where l is 1 nothing limits them but k."""
        cdef row_t i = self.at(p, c)
        if self.l == 1:
            return self.k
        cdef count_t height = self.height[self.group_of_item[i]]
        return height if height > self.given[i] else self.given[i] + 1

    cdef bint borrow(self, Py_ssize_t p, index_t g, count_t need, count_t top) except -1 nogil:
        """Bring `need` partners into a group from groups of finer patterns that stay l-eligible, no value above `top`; False if there are not
        so many."""
        cdef row_t j, k, mark = self.written, low = self.bounds[g, 0], span = self.bounds[g, 1] - low, most, start = self.cursor[g]
        cdef Py_ssize_t q
        cdef count_t found = 0
        most = GLANCE if self.writing else self.look
        if most > span:
            most = span
        for q in range(p - 1, -1, -1):          # partners that have most stars already cost least
            if found == need:
                break
            if not self.finer[p, q]:
                continue
            for k in range(most):
                self.looked += 1
                if found == need:
                    break
                j = self.cells[p, low + (start + k) % span]
                while found < need and self.rows[q, j] > 0 and self.given[self.at(p, j)] < top and self.may_leave(q, j):
                    self.leave(q, j)
                    self.enter(p, j)
                    self.loan[found, 0], self.loan[found, 1] = q, j
                    found += 1
        self.cursor[g] = (start + most) % span      # the next who asks looks at other places
        if found == need:
            return True
        while found > 0:                        # give all back
            found -= 1
            self.leave(p, self.loan[found, 1])
            self.enter(self.loan[found, 0], self.loan[found, 1])
        self.written = mark
        return False

    cdef bint enter_with_partners(self, Py_ssize_t p, row_t c, count_t need) except -1 nogil:
        """Put one row of cell c in pattern p with `need` borrowed partners; False if there are not so many."""
        cdef count_t top = self.top_with(p, c)
        cdef row_t mark = self.written
        self.enter(p, c)
        if self.borrow(p, self.group_of_item[self.at(p, c)], need, top):
            return True
        self.leave(p, c)
        self.written = mark
        return False

    cdef row_t join(self, const row_t[::1] waiting, count_t most) except -1 nogil:
        """Rows that need no partner join groups with at most `most` stars, fewest first. Returns how many."""
        cdef Py_ssize_t p
        cdef row_t w, c, joined = 0
        cdef count_t many
        for w in range(waiting.shape[0]):
            c = waiting[w]
            for p in range(self.item.shape[0]):
                if self.left[c] == 0 or self.floor[p] > most:
                    break
                if self.pays(p, c) > most:
                    continue
                many = self.room(p, c)
                if many > self.left[c]:
                    many = self.left[c]
                if many > 0:
                    self.enter_many(p, c, many)
                    self.left[c] -= many
                    joined += many
        return joined

    def place(self, count_t limit, count_t most, row_t effort):
        """Give what is left to groups, cheapest first: a row and its partners pay price * (1 + partners) at the most, up to `limit`.

        Only groups in which a row pays at most `most`. Returns how many rows found a place. A group founded with partners takes other rows in for
        nothing, so after each level those are let in first. Stops at the level that begins after `effort` looks at places, and anywhere after four times
        as many; what is left then is the caller's.
        """
        cdef Py_ssize_t patterns = self.item.shape[0], p
        cdef row_t placed = 0, c, w, founded
        cdef count_t level = 0, need, price
        cdef row_t[::1] waiting = np.flatnonzero(np.asarray(self.left))
        self.looked = 0
        with nogil:
            placed += self.join(waiting, most)
            while level < limit and self.looked + placed <= effort:
                level += self.step
                founded = 0
                for w in range(waiting.shape[0]):
                    c = waiting[w]
                    if self.left[c] == 0:
                        continue
                    self.looked += patterns
                    for p in range(patterns):
                        if self.left[c] == 0 or self.floor[p] > level or self.floor[p] > most or self.looked + placed + founded > 4 * effort:
                            break
                        price = self.pays(p, c)
                        if price == 0 or price > level or price > most:
                            continue
                        need = self.missing(p, c)
                        while self.left[c] > 0 and price * (1 + need) <= level and self.enter_with_partners(p, c, need):
                            self.left[c] -= 1
                            founded += 1
                            if self.looked + placed + founded > 4 * effort:
                                break
                            need = self.missing(p, c)
                if founded:
                    placed += founded + self.join(waiting, most)
        return placed

    def improve(self, row_t passes):
        """Move single rows to groups with fewer stars while both groups stay l-eligible. Returns the stars saved."""
        cdef Py_ssize_t patterns = self.item.shape[0], p, q
        cdef row_t c, turn
        cdef count_t saved = 0, before, many, paid
        with nogil:
            for turn in range(passes):
                before = saved
                for p in range(patterns - 1, -1, -1):
                    for c in range(self.item.shape[1]):
                        if self.rows[p, c] == 0:
                            continue
                        paid = self.pays(p, c)
                        for q in range(patterns):
                            if self.floor[q] >= paid or self.rows[p, c] == 0:
                                break
                            if self.pays(q, c) >= paid:
                                continue
                            many = self.room(q, c)
                            if many > self.rows[p, c]:
                                many = self.rows[p, c]
                            if many > 0 and many > self.spare(p, c):
                                many = self.spare(p, c)
                            if many > 0:
                                self.leave_many(p, c, many)
                                self.enter_many(q, c, many)
                                saved += many * (paid - self.pays(q, c))
                if saved == before:
                    break
        return saved

    cdef int undo(self) except -1 nogil:
        """Take back all moves in the journal."""
        cdef row_t k
        self.writing = False
        for k in range(self.written - 1, -1, -1):
            if self.journal[k, 2] > 0:
                self.leave(self.journal[k, 0], self.journal[k, 1])
            else:
                self.enter(self.journal[k, 0], self.journal[k, 1])
        return 0

    cdef inline row_t random(self, row_t below) except -1 nogil:
        """A number from 0 to below - 1: Marsaglia's xorshift, the same on every machine."""
        self.state ^= self.state << 13
        self.state ^= self.state >> 7
        self.state ^= self.state << 17
        return <row_t>(self.state % <unsigned long long>below)

    cdef int take_layer(self, Py_ssize_t p, row_t g) except -1 nogil:
        """Take out of a group one row of every pillar and as many others as may go with them, from a random place on; a group of height one
        is emptied. The rows are added to `layer`."""
        cdef row_t i, k, c, low = self.bounds[g, 0], span = self.bounds[g, 1] - low, turn = self.random(span)
        cdef count_t top = self.height[g], most = self.size[g] - rows_for(self.l, self.k, top - 1), pillars = 0
        self.looked += span
        if self.k > self.l * (top - 1) > 0:     # down to k rows, or all of them: a group of few more than k would never be emptied else
            for k in range(self.indptr[g], self.indptr[g + 1]):
                pillars += self.given[k] == top
            if most < pillars or self.random(2) == 0:
                most = self.size[g]
        if self.waiting + most > self.layer.shape[0] or span > SPAN:
            return 0
        for k in range(span):
            c = self.cells[p, low + (k + turn) % span]
            if self.rows[p, c] > 0 and self.given[self.at(p, c)] == top:
                self.take(p, c)
                most -= 1
        for k in range(span):
            c = self.cells[p, low + (k + turn) % span]
            while most > 0 and self.rows[p, c] > 0:
                self.take(p, c)
                most -= 1
        return 0

    cdef inline int take(self, Py_ssize_t p, row_t c) except -1 nogil:
        self.leave(p, c)
        self.layer[self.waiting] = c
        self.waiting += 1
        return 0

    cdef bint found_together(self, Py_ssize_t p, row_t w, count_t level) except -1 nogil:
        """Put the w-th row of the layer in pattern p, with other rows of the layer as partners first and then with borrowed ones; False if
        there are not so many, or if a row of the layer would pay more than `level`, partners included."""
        cdef row_t c = self.layer[w], k, mark = self.written
        cdef index_t g = self.group_of_item[self.at(p, c)]
        cdef count_t top = self.top_with(p, c), need = self.missing(p, c), price = self.price[g] * (1 + need), own = 1
        for k in range(self.waiting):
            own += k != w and self.group_of_item[self.at(p, self.layer[k])] == g
        if price > level * own:
            return False
        self.enter(p, c)
        self.layer[w] = ~c                      # entered
        own = 1
        for k in range(self.waiting):
            c = self.layer[k]
            if own <= need and c >= 0 and self.group_of_item[self.at(p, c)] == g and self.given[self.at(p, c)] < top:
                self.enter(p, c)
                self.layer[k] = ~c
                own += 1
        if price <= level * own and (own > need or self.borrow(p, g, need + 1 - own, top)):
            for k in range(self.waiting - 1, -1, -1):
                if self.layer[k] < 0:
                    self.waiting -= 1
                    self.layer[k] = self.layer[self.waiting]
            return True
        for k in range(self.waiting):
            if self.layer[k] < 0:
                self.layer[k] = ~self.layer[k]
                self.leave(p, self.layer[k])
        self.written = mark
        return False

    cdef bint put_back(self, count_t enough) except -1 nogil:
        """Give the rows of the layer to groups, cheapest offers first; False when that costs `enough` or more.

        One offer in BLINK is overlooked, so that the same rows are not always put back in the same way.
        """
        cdef Py_ssize_t patterns = self.item.shape[0], p
        cdef count_t level = 0
        cdef row_t w, before
        cdef bint placed
        while self.waiting > 0:
            if self.cost + level >= enough:
                return False
            before = self.waiting
            w = 0
            while w < self.waiting:
                placed, p = False, 0
                while p < patterns and self.floor[p] <= level and not placed:
                    self.looked += 1
                    placed = self.pays(p, self.layer[w]) <= level and self.random(BLINK) != 0 and self.found_together(p, w, level)
                    p += 1
                if not placed:
                    w += 1
            # A group just founded may take others in for less.
            level = 0 if self.waiting < before else level + self.step
        return self.cost < enough

    def rebuild(self, row_t rounds, row_t effort):
        """Take layers out of a few groups that share cells, and put their rows back in other ways; what costs no more is kept.

        A round starts once from every cell that has stars. Ends after `rounds`, or after `effort` looks at places. Returns the stars saved.
        """
        cdef Py_ssize_t patterns = self.item.shape[0], p, q
        cdef row_t g, c, k, turn, more, tries
        cdef count_t start = self.cost, enough
        cdef row_t[::1] pattern, cell, order
        self.looked, self.state = 0, 88172645463325252
        for turn in range(rounds):
            pattern, cell = (x.astype(np.int64) for x in np.nonzero(np.asarray(self.rows)))
            order = np.random.Generator(np.random.PCG64(turn)).permutation(len(pattern))
            with nogil:
                for k in range(order.shape[0]):
                    p, c = pattern[order[k]], cell[order[k]]
                    if self.looked >= effort:
                        break
                    if self.rows[p, c] == 0 or self.pays(p, c) == 0:
                        continue
                    enough = self.cost + 1
                    self.waiting, self.written, self.writing = 0, 0, True
                    self.take_layer(p, self.group_of_item[self.at(p, c)])
                    more = self.random(MORE)
                    for tries in range(4 * more):
                        if more == 0 or self.waiting == 0:
                            break
                        c = self.layer[self.random(self.waiting)]
                        q = self.random(patterns)
                        g = self.group_of_item[self.at(q, c)]
                        if self.size[g] > 0:
                            self.take_layer(q, g)
                            more -= 1
                    if self.put_back(enough):
                        self.writing = False
                    else:
                        self.undo()
            if self.looked >= effort:
                break
        return start - self.cost
