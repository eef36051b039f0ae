"""Naive versions of everything, tuple by tuple, for tests to compare with. Slow on purpose, no shared code with ldiv."""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Sequence

Row = tuple[tuple[int, ...], int]  # (QI codes, SA code)


def rows_of(codes, sensitive) -> list[Row]:
    return [(tuple(int(x) for x in q), int(v)) for q, v in zip(codes, sensitive, strict=True)]


def height(values: Sequence[int]) -> int:
    return max(Counter(values).values(), default=0)


def eligible(values: Sequence[int], l: int) -> bool:
    return len(values) >= l * height(values)


def publishable(values: Sequence[int], l: int, k: int) -> bool:
    """l-eligible with at least k rows, or empty."""
    return eligible(values, l) and (len(values) >= k or not values)


def smallest(published) -> int:
    """Rows of the smallest group of equal published values."""
    return min(Counter(published).values())


def groups_of(rows: Sequence[Row]) -> dict[tuple[int, ...], list[int]]:
    groups = defaultdict(list)
    for qi, value in rows:
        groups[qi].append(value)
    return dict(groups)


def phase_one(rows: Sequence[Row], l: int, pick=min) -> tuple[dict[tuple[int, ...], Counter], Counter]:
    """Remove pillar rows one at a time, `pick` choosing among the pillars; what stays, and the residue."""
    kept, residue = {}, Counter()
    for qi, values in groups_of(rows).items():
        count = Counter(values)
        while count and sum(count.values()) < l * max(count.values()):
            top = max(count.values())
            pillar = pick(sorted(v for v, c in count.items() if c == top))
            count[pillar] -= 1
            count += Counter()
            residue[pillar] += 1
        kept[qi] = count
    return kept, residue


def fewest_tuples(rows: Sequence[Row], l: int, k: int = 1) -> int | None:
    """OPT of tuple minimisation by trying every choice of what stays in every group; None if nothing is feasible."""
    choices = []
    for values in groups_of(rows).values():
        count = sorted(Counter(values).items())
        options = []
        for kept in itertools.product(*(range(c + 1) for _, c in count)):
            if sum(kept) >= l * max(kept, default=0) and (sum(kept) >= k or not sum(kept)):
                options.append(Counter({v: c - k for (v, c), k in zip(count, kept, strict=True)}))
        choices.append(options)
    best = None
    for combination in itertools.product(*choices):
        residue = sum(combination, Counter())
        size = sum(residue.values())
        if size >= l * max(residue.values(), default=0) and (size >= k or not size) and (best is None or size < best):
            best = size
    return best


def partitions(items: list[int]):
    """All set partitions."""
    if not items:
        yield []
        return
    head, *rest = items
    for size in range(len(rest) + 1):
        for others in itertools.combinations(rest, size):
            left = [x for x in rest if x not in others]
            for tail in partitions(left):
                yield [[head, *others], *tail]


def stars_of(rows: Sequence[Row], group: Sequence[int], weights: Sequence[int] | None = None) -> int:
    """Stars when these rows form one QI-group, each times its column's weight."""
    columns = list(zip(*(rows[i][0] for i in group), strict=True))
    return len(group) * sum(w * (len(set(column)) > 1) for w, column in zip(weights or [1] * len(columns), columns, strict=True))


def fewest_stars(rows: Sequence[Row], l: int, weights: Sequence[int] | None = None, k: int = 1) -> int | None:
    """OPT of star minimisation over all partitions of the rows."""
    best = None
    for partition in partitions(list(range(len(rows)))):
        if all(publishable([rows[i][1] for i in group], l, k) for group in partition):
            stars = sum(stars_of(rows, group, weights) for group in partition)
            if best is None or stars < best:
                best = stars
    return best


def published_groups(published, sensitive) -> dict[tuple, list[int]]:
    """The QI-groups of a release as an outsider sees them: rows with equal published values."""
    groups = defaultdict(list)
    for qi, value in zip(published, sensitive, strict=True):
        groups[tuple(str(x) for x in qi)].append(int(value))
    return dict(groups)


# -- TP with its tie rule: smallest code first -----------------------------------------------------------------------------


def tp(rows: Sequence[Row], l: int) -> tuple[Counter, int, int]:
    """The residue of TP, the phase in which it ends and its rounds, every rule of section 5 written out; ties go to the smallest code."""
    kept, residue = phase_one(rows, l)
    groups = [dict(kept[qi]) for qi in sorted(kept)]

    def done():
        return sum(residue.values()) >= l * max(residue.values(), default=0)

    def size(q):
        return sum(q.values())

    def tops(q):
        return sorted(v for v, c in q.items() if c == max(q.values()) and c)

    def pillars():
        return {v for v, c in residue.items() if c == max(residue.values()) and c}

    def fat(q):
        return size(q) > l * max(q.values())

    def conflicting(q):
        return set(tops(q)) & pillars()

    def alive(q):
        return size(q) > 0 and (fat(q) or not conflicting(q))

    def move(q, values):
        for v in values:
            q[v] -= 1
            residue[v] += 1
            if not q[v]:
                del q[v]

    if done():
        return residue, 1, 0
    while not done():
        candidates = sorted((residue[v], v) for q in groups if alive(q) for v in q)
        if not candidates:
            break
        v = candidates[0][1]
        q = next(q for q in groups if alive(q) and v in q)
        move(q, [v] if fat(q) else tops(q))
    if done():
        return residue, 2, 0
    rounds = 0
    while not done():
        rounds += 1
        wanted, picked = pillars(), []
        while wanted:
            best = min((q for q in groups if size(q)), key=lambda q: len(set(tops(q)) & wanted))
            assert len(set(tops(best)) & wanted) < len(wanted), "the table is not l-eligible"
            picked.append(best)
            wanted &= set(tops(best))
        for q in picked:
            move(q, tops(q))
            if done():
                break
        for q in groups:
            while not done() and alive(q):
                if fat(q):  # the rarest in R among those that are no pillar of R
                    move(q, [min((residue[v], v) for v in q if v not in pillars())[1]])
                else:
                    move(q, tops(q))
    return residue, 3, rounds


# -- Mondrian and TDS, row by row ------------------------------------------------------------------------------------------


def mondrian(rows: Sequence[Row], sizes: Sequence[int], l: int) -> list[list[int]]:
    """Strict Mondrian: the rows of each group. Cut at the median of the widest attribute whose halves are both l-eligible."""

    def split(members):
        widths = []
        for j, size in enumerate(sizes):
            codes = [rows[i][0][j] for i in members]
            widths.append((-(max(codes) - min(codes)) / max(size - 1, 1), j))
        for width, j in sorted(widths):
            if not width:
                break
            codes = sorted(rows[i][0][j] for i in members)
            # The median: the first value with at least half of the rows up to it; never the largest, so that both halves hold rows.
            cut = min((len(codes) + 1) // 2 - 1, len(codes) - 1)
            cut = min(codes[cut], max(codes) - 1)
            low, high = [i for i in members if rows[i][0][j] <= cut], [i for i in members if rows[i][0][j] > cut]
            if all(eligible([rows[i][1] for i in half], l) for half in (low, high)):
                return split(low) + split(high)
        return [members]

    return split(list(range(len(rows))))


def entropy(values: Sequence[int]) -> float:
    total = len(values)
    return -sum(c / total * math.log(c / total) for c in Counter(values).values()) if total else 0.0


def information_gain(below: Sequence[int], parts: Sequence[Sequence[int]]) -> float:
    """Entropy of the SA over the rows of a node less what its children leave."""
    return entropy(below) - sum(len(part) / max(len(below), 1) * entropy(part) for part in parts)


def anonymity(groups: Sequence[Sequence[int]]) -> float:
    """The least |Q| / h(Q)."""
    return min(len(values) / height(values) for values in groups if values)
