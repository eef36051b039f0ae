"""What a cluster loses as it grows: the part of each domain that it publishes, value by value that could come next."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ldiv.algorithms.clustering.rows import UNIT, Rows
from ldiv.table.taxonomy import Taxonomy

__all__ = ["Growing"]


class Growing:
    """The loss of a cluster under construction, and for each value of each attribute by how much it would grow.

    Of an ordered attribute the width of the range of codes, of others the number of values (each less one, over the domain's size less one); of one with a
    taxonomy, where nodes are published, the share of the domain below the lowest node above all values, 0 for one value.
    """

    def __init__(self, rows: Rows, nodes: bool) -> None:
        self.rows = rows
        self.trees = [domain.taxonomy if nodes else None for domain in rows.c.domains]
        self.share = [None if tree is None else _shares(tree) for tree in self.trees]
        self.start()

    def start(self) -> None:
        """An empty cluster."""
        self.held: list[set[int]] = [set() for _ in self.trees]
        self.table = np.zeros(self.rows.offset[-1], dtype=np.int64)

    @property
    def loss(self) -> int:
        """What each of its rows loses, in parts of UNIT an attribute."""
        return sum(self._part(j, held) for j, held in enumerate(self.held) if held)

    def _part(self, j: int, held: set[int]) -> int:
        domain, codes = self.rows.c.domains[j], self.rows.seen[j][sorted(held)]
        if self.trees[j] is not None:
            share = self.share[j]
            assert share is not None
            return int(share[self.trees[j].covering(codes.tolist())])  # type: ignore[union-attr]
        width = int(codes[-1] - codes[0]) if domain.ordered else len(held) - 1
        return width * UNIT // max(domain.size - 1, 1)

    def add(self, numbers: NDArray[np.int32]) -> NDArray[np.int64]:
        """Take a row with these values; returns the table of what a next one would add."""
        for j, number in enumerate(numbers.tolist()):
            if number not in self.held[j]:
                self.held[j].add(number)
                self.table[self.rows.offset[j] : self.rows.offset[j + 1]] = self._growth(j)
        return self.table

    def _growth(self, j: int) -> NDArray[np.int64]:
        domain, seen, held = self.rows.c.domains[j], self.rows.seen[j], self.held[j]
        inside = sorted(held)
        tree, share = self.trees[j], self.share[j]
        if tree is not None and share is not None:
            node = tree.covering(seen[inside].tolist())
            path, own = tree.path[seen], tree.path[seen[inside[0]]]
            depth = int(tree.depth[node])
            agree = np.cumprod(path[:, : depth + 1] == own[: depth + 1], axis=1).sum(axis=1) - 1
            return np.asarray(np.where(np.arange(len(seen)) == inside[0], share[node], share[own[agree]]) - share[node])
        if domain.ordered:
            low, high = int(seen[inside[0]]), int(seen[inside[-1]])
            grown = np.maximum(seen.astype(np.int64) - high, 0) + np.maximum(low - seen.astype(np.int64), 0)
        else:
            grown = np.ones(len(seen), dtype=np.int64)
            grown[inside] = 0
        return np.asarray(grown * UNIT // max(domain.size - 1, 1))


def _shares(tree: Taxonomy) -> NDArray[np.int64]:
    """The share of the domain below each node, 0 for a node of one value."""
    below = np.zeros(tree.nodes, dtype=np.int64)
    for path in tree.path:
        below[np.unique(path)] += 1
    return np.asarray(np.where(below > 1, below * UNIT // max(len(tree.leaf), 1), 0))
