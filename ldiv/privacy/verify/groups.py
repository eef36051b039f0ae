"""QI-groups as anyone would form them from the published text, and their sensitive values as coarsely as anyone could count them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ldiv.privacy.verify.published import PublishedColumn
from ldiv.table.text import merge_alike


def judge_groups(qi: list[PublishedColumn], targets: list[PublishedColumn]) -> tuple[int, int, tuple[int, Any, int]]:
    """QI-groups, the least size, and (the largest l that holds, the worst group, how many groups fall short of it)."""
    rows = len(qi[0].codes)
    if not rows:
        return 0, 0, (0, None, 0)
    key = np.zeros(rows, dtype=np.int64)
    size = 1
    for column in qi:
        width = max(len(column.values), 1)
        if size * width >= 1 << 62:
            key = np.unique(key, return_inverse=True)[1].ravel()
            size = int(key.max()) + 1
        key = key * width + column.codes
        size *= width
    worst: tuple[int, Any, int] = (rows + 1, None, 0)
    groups = smallest = 0
    for which, column in enumerate(targets):
        number = merge_alike(column.values) if column.values else np.zeros(1, dtype=np.int32)
        value = number[column.codes]
        width = int(number.max(initial=0)) + 1
        if size * width >= 1 << 62:
            key = np.unique(key, return_inverse=True)[1].ravel()
            size = int(key.max()) + 1
        pair = key * width + value
        pair.sort()
        starts = np.flatnonzero(np.append(True, pair[1:] != pair[:-1]))
        count = np.diff(np.append(starts, rows))
        group = pair[starts] // width
        heads = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
        total, height = np.add.reduceat(count, heads), np.maximum.reduceat(count, heads)
        groups, smallest = len(heads), int(total.min())
        least = int((total // height).min())
        if least < worst[0]:
            g = int(np.argmin(total / height))
            inside = slice(heads[g], heads[g + 1] if g + 1 < len(heads) else None)
            pillar = int(pair[starts[inside][int(np.argmax(count[inside]))]] % width)
            row = int(np.flatnonzero(key == group[heads[g]])[0])
            worst = (
                least,
                (row, int(total[g]), int(height[g]), which, column.values[int(np.flatnonzero(number == pillar)[0])]),
                int((total // height <= least).sum()),
            )
    return groups, smallest, worst
