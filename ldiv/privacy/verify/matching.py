"""Rows in another order: whether every released row can be given a row of the source of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.errors import InputError
from ldiv.privacy.verify.cells import missing, text_of_cell
from ldiv.privacy.verify.recoding import Recoding

MOST_PAIRS = 30_000_000  # candidate pairs of rows that a matching may look at


def match_rows(rest: list[Recoding], qi: list[Recoding], counts: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None) -> str | None:
    """None where every released row can be given a source row of its own, else what stands in the way.

    Rows alike are one kind; a fully visible kind can only be its own source; for the others a maximum flow from source kinds to released kinds
    decides. With `counts`, how many rows stand behind each row of the source and of the release.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    n = len(qi[0].source.codes)
    left, right = [], []
    for one in rest:  # other columns: the same value on both sides
        texts: dict[Any, int] = {}
        left.append(np.array([texts.setdefault(_key(v), len(texts)) for v in one.source.values] or [0])[one.source.codes])
        right.append(np.array([texts.setdefault(_key(v), len(texts)) for v in one.published.values] or [0])[one.published.codes])
    merged: list[list[int]] = []
    shown = []
    for one in qi:
        texts = {}  # empty text and a missing value are one
        merged.append([texts.setdefault(_key(v), code) for code, v in enumerate(one.source.values)] or [0])
        shown.append(
            np.array(
                [
                    -1 if star else texts.get(_key(v), -2 - code)
                    for code, (v, star) in enumerate(zip(one.published.values, one.is_star[: len(one.published.values)], strict=True))
                ]
                or [0]
            )[one.published.codes]
        )
    own = [np.array(first)[one.source.codes] for one, first in zip(qi, merged, strict=True)]
    a = np.column_stack([_ranked(left, right)[:n], *own])
    b = np.column_stack([_ranked(left, right)[n:], *shown])
    kinds_a, count_a = _kinds(a, None if counts is None else counts[0])
    kinds_b, count_b = _kinds(b, None if counts is None else counts[1])
    whole = (kinds_b[:, 1:] >= 0).all(axis=1)
    both, at = np.unique(np.concatenate([kinds_a, kinds_b[whole]]), axis=0, return_inverse=True)
    at = at.ravel()
    left_over = np.zeros(len(both), dtype=np.int64)
    left_over[at[: len(kinds_a)]] += count_a
    left_over[at[len(kinds_a) :]] -= count_b[whole]
    if (left_over < 0).any():
        return "a row is published that the source does not have, or more often than there"
    kinds_a, count_a = both[left_over > 0], left_over[left_over > 0]
    kinds_b, count_b = kinds_b[~whole], count_b[~whole]
    if not len(kinds_b):
        return None
    heads: list[NDArray[np.int64]] = []
    tails: list[NDArray[np.int64]] = []
    patterns, pattern = np.unique(kinds_b[:, 1:] >= 0, axis=0, return_inverse=True)
    for p, kept in enumerate(patterns):
        members = np.flatnonzero(pattern.ravel() == p)
        columns = np.append(True, kept)
        joint, place = np.unique(np.concatenate([kinds_a[:, columns], kinds_b[members][:, columns]]), axis=0, return_inverse=True)
        place = place.ravel()
        ours, theirs = place[: len(kinds_a)], place[len(kinds_a) :]
        order = np.argsort(ours, kind="stable")
        low, high = np.searchsorted(ours[order], theirs), np.searchsorted(ours[order], theirs, side="right")
        if sum(len(part) for part in heads) + int((high - low).sum()) > MOST_PAIRS:
            raise InputError("too many rows could stand for each other to match them: publish the rows in their order, or pass rows=")
        tail = np.repeat(members, high - low)
        head = order[np.arange((high - low).sum()) - np.repeat(np.cumsum(high - low) - (high - low), high - low) + np.repeat(low, high - low)]
        for j, one in enumerate(qi):  # a sub-domain must hold the value
            special = kinds_b[tail, 1 + j] <= -2
            if special.any():
                pairs = np.unique(np.column_stack([kinds_a[head[special], 1 + j], -2 - kinds_b[tail[special], 1 + j]]), axis=0)
                alike = [(code, at) for code, at in enumerate(merged[j]) if at != code]  # values that are one with an earlier one
                bad = {(x, y) for x, y in pairs.tolist() if not any(one.admits(code, y) for code in (x, *(c for c, at in alike if at == x)))}
                keep = ~special
                keep[special] = [
                    pair not in bad
                    for pair in zip(kinds_a[head[special], 1 + j].tolist(), (-2 - kinds_b[tail[special], 1 + j]).tolist(), strict=True)
                ]
                head, tail = head[keep], tail[keep]
        heads.append(head)
        tails.append(tail)
    head, tail = np.concatenate(heads), np.concatenate(tails)
    if max(int(count_a.max(initial=0)), int(count_b.max(initial=0)), int(count_b.sum())) >= 1 << 31:
        raise InputError("too many starred rows to match them: publish the rows in their order, or pass rows=")
    nodes = 2 + len(kinds_a) + len(kinds_b)
    sources, targets = np.arange(len(kinds_a)), np.arange(len(kinds_b))
    graph = csr_array(
        (
            np.concatenate([count_a, np.minimum(count_a[head], count_b[tail]), count_b]).astype(np.int32),
            (
                np.concatenate([np.zeros(len(sources), int), 2 + head, 2 + len(kinds_a) + targets]),
                np.concatenate([2 + sources, 2 + len(kinds_a) + tail, np.ones(len(targets), int)]),
            ),
        ),
        shape=(nodes, nodes),
    )
    flow = maximum_flow(graph, 0, 1).flow_value
    total = int(count_b.sum())
    return None if flow == total else f"{total - int(flow):,} released rows find no source row of their own, in whatever order"


def _kinds(rows: NDArray[np.int64], counts: NDArray[np.int64] | None) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct rows, and how many there are of each."""
    kinds, place = np.unique(rows, axis=0, return_inverse=True)
    count = np.zeros(len(kinds), dtype=np.int64)
    np.add.at(count, place.ravel(), 1 if counts is None else counts)
    return kinds, count


def _key(value: Any) -> Any:
    """Equal for values of the source and of the release that are the same cell."""
    if missing(value):
        return ""
    text = text_of_cell(value)
    return "0.0" if text == "-0.0" else text  # one number, also where a text file holds it


def _ranked(left: list[NDArray[Any]], right: list[NDArray[Any]]) -> NDArray[Any]:
    """One number for all the other columns together, over both tables."""
    n = len(left[0]) + len(right[0])
    rank = np.zeros(n, dtype=np.int64)
    for a, b in zip(left, right, strict=True):
        both = np.concatenate([a, b])
        rank = np.unique(rank * (int(both.max(initial=0)) + 1) + both, return_inverse=True)[1].ravel()
    return rank
