"""Naive versions of everything, tuple by tuple, for tests to compare with. Slow on purpose, no shared code with ldiv."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Sequence

Row = tuple[tuple[int, ...], int]       # (QI codes, SA code)


def rows_of(codes, sensitive) -> list[Row]:
    return [(tuple(int(x) for x in q), int(v)) for q, v in zip(codes, sensitive, strict=True)]


def height(values: Sequence[int]) -> int:
    return max(Counter(values).values(), default=0)


def eligible(values: Sequence[int], l: int) -> bool:
    return len(values) >= l * height(values)


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


def fewest_tuples(rows: Sequence[Row], l: int) -> int | None:
    """OPT of tuple minimisation by trying every choice of what stays in every group; None if nothing is feasible."""
    choices = []
    for values in groups_of(rows).values():
        count = sorted(Counter(values).items())
        options = []
        for kept in itertools.product(*(range(c + 1) for _, c in count)):
            if sum(kept) >= l * max(kept, default=0):
                options.append(Counter({v: c - k for (v, c), k in zip(count, kept, strict=True)}))
        choices.append(options)
    best = None
    for combination in itertools.product(*choices):
        residue = sum(combination, Counter())
        size = sum(residue.values())
        if size >= l * max(residue.values(), default=0) and (best is None or size < best):
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


def fewest_stars(rows: Sequence[Row], l: int, weights: Sequence[int] | None = None) -> int | None:
    """OPT of star minimisation over all partitions of the rows."""
    best = None
    for partition in partitions(list(range(len(rows)))):
        if all(eligible([rows[i][1] for i in group], l) for group in partition):
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
