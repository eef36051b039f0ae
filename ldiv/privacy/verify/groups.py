"""QI-groups as anyone would form them from the published text, and their sensitive values as coarsely as anyone could count them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.privacy.verify.published import PublishedColumn
from ldiv.table.text import merge_alike


def _alike(column: PublishedColumn) -> NDArray[np.int32]:
    """For each code of a column the number of its value: values that mean the same have one."""
    return merge_alike(column.values) if column.values else np.zeros(1, dtype=np.int32)


def _keys(qi: list[PublishedColumn]) -> tuple[NDArray[np.int64], int]:
    """A number for each row, the same where the published values are, and what it is less than."""
    key = np.zeros(len(qi[0].codes), dtype=np.int64)
    size = 1
    for column in qi:
        width = max(len(column.values), 1)
        if size * width >= 1 << 62:
            key = np.unique(key, return_inverse=True)[1].ravel()
            size = int(key.max()) + 1
        key = key * width + column.codes
        size *= width
    return key, size


def judge_persons(qi: list[PublishedColumn], targets: list[PublishedColumn], person: NDArray[np.int64]) -> tuple[int, int, tuple[int, Any, int]]:
    """The same as :func:`judge_groups` in persons: of a group those who have a row in it, of a value in it those who have a row with that value."""
    rows = len(person)
    if not rows:
        return 0, 0, (0, None, 0)
    group = np.unique(_keys(qi)[0], return_inverse=True)[1].ravel()
    groups, many = int(group.max()) + 1, int(person.max()) + 1
    total = np.bincount(np.unique(group * np.int64(many) + person) // many, minlength=groups)
    worst: tuple[int, Any, int] = (rows + 1, None, 0)
    for which, column in enumerate(targets):
        number = _alike(column)
        pair = np.unique(group * np.int64(int(number.max(initial=0)) + 1) + number[column.codes], return_inverse=True)[1].ravel()
        shared, first = np.unique(pair * np.int64(many) + person, return_index=True)  # persons in order of (group, value)
        starts = np.flatnonzero(np.append(True, np.diff(shared // many) > 0))
        count, of_group = np.diff(np.append(starts, len(shared))), group[first[starts]]
        height = np.zeros(groups, dtype=np.int64)
        np.maximum.at(height, of_group, count)
        least = int((total // height).min())
        if least < worst[0]:
            g = int(np.argmin(total / height))
            row = int(first[starts[np.flatnonzero((of_group == g) & (count == height[g]))[0]]])
            worst = (least, (row, int(total[g]), int(height[g]), which, column.value_at(row)), int((total // height <= least).sum()))
    return groups, int(total.min()), worst


def judge_groups(qi: list[PublishedColumn], targets: list[PublishedColumn]) -> tuple[int, int, tuple[int, Any, int]]:
    """QI-groups, the least size, and (the largest l that holds, the worst group, how many groups fall short of it)."""
    rows = len(qi[0].codes)
    if not rows:
        return 0, 0, (0, None, 0)
    key, size = _keys(qi)
    worst: tuple[int, Any, int] = (rows + 1, None, 0)
    total = np.unique(key, return_counts=True)[1] if not targets else np.zeros(1)
    groups, smallest = len(total), int(total.min())
    for which, column in enumerate(targets):
        number = _alike(column)
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
