"""What groups can show along hierarchies, and what that loses, for the checker of certificates: by no code of the solver's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from ldiv.arguments import shown
from ldiv.bounds.certificate import WHOLE_STAR, Prices
from ldiv.errors import InputError
from ldiv.table.contingency import Contingency
from ldiv.table.taxonomy import Taxonomy
from ldiv.table.text import text_of

__all__ = ["Levels"]

MOST_COMBINATIONS = 1 << 20


def _path(tree: Taxonomy, code: int) -> list[int]:
    """The nodes from the root down to a code."""
    path = [int(tree.leaf[code])]
    while tree.parent[path[-1]] >= 0:
        path.append(int(tree.parent[path[-1]]))
    return path[::-1]


def _lowest(tree: Taxonomy, codes: NDArray[np.int64]) -> int:
    """The lowest node above all of some codes."""
    paths = [_path(tree, code) for code in codes.tolist()]
    common = 0
    while all(len(path) > common + 1 and path[common + 1] == paths[0][common + 1] for path in paths):
        common += 1
    return paths[0][common]


def _cuts(tree: Taxonomy, size: int) -> list[NDArray[np.int64]]:
    """What each level of a tree joins, the finest first, without the root: the levels that were given, else nodes as far from the root."""
    if tree.rungs is not None:
        return [np.asarray(rung, dtype=np.int64) for rung in tree.rungs]
    paths = [_path(tree, code) for code in range(size)]
    return [np.array([path[min(depth, len(path) - 1)] for path in paths], dtype=np.int64) for depth in range(max(map(len, paths)) - 1, 0, -1)]


class Levels:
    """What groups can show along hierarchies, and what that loses: read from the trees anew, by no code of the solver's."""

    def __init__(self, c: Contingency, prices: Prices, protected: Mapping[int, int]) -> None:
        loss, losses = prices.loss, prices.losses
        if loss not in ("ncp", "level", "own"):
            raise InputError(f"the certificate's loss must be 'ncp', 'level' or 'own', not {shown(loss)}")
        if (loss == "own") != (losses is not None):
            raise InputError("the certificate is of losses of one's own" + (", and has none" if loss == "own" else f" and for loss={loss!r}"))
        known = {domain.name: domain.fingerprint for domain in c.domains if domain.taxonomy is not None}
        if not known:
            raise InputError("the certificate is of releases along hierarchies, and the table has none: give them by hierarchies=")
        for name in {**known, **prices.trees} if prices.trees else ():
            if known.get(name) != prices.trees.get(name):
                raise InputError(f"the hierarchy of {shown(name)} is not the one that the certificate is of")
        self.c = c
        self.protected = protected  # and the highest level that each shows
        self.star = [WHOLE_STAR * int(w) for w in c.weights]
        # Of each attribute and level: the node above each code, and what a row of each code loses there.
        self.levels: list[list[tuple[NDArray[np.int64], NDArray[np.int64]]]] = []
        self.above: list[set[str]] = []  # and the texts of nodes that a protected one may not show
        for domain, weight in zip(c.domains, c.weights.tolist(), strict=True):
            tree, cuts = domain.taxonomy, [np.arange(domain.size, dtype=np.int64)]
            counted = [0] if tree is None else []  # of each level that is given, which of those that join something it is
            if tree is not None:
                for cut in _cuts(tree, domain.size):
                    parts = len(set(cut.tolist()))
                    if 1 < parts < len(set(cuts[-1].tolist())):
                        cuts.append(cut)
                    counted.append(len(cuts) - 1 if parts > 1 or not counted else len(cuts))
            own = {} if losses is None else losses.get(domain.name, {})
            mine = []
            for height, cut in enumerate(cuts):
                each = np.zeros(domain.size, dtype=np.int64)
                for node in set(cut.tolist()) if height else ():
                    below = np.flatnonzero(cut == node)
                    part = height / len(cuts) if loss == "level" else (len(below) / domain.size if len(below) > 1 else 0.0)
                    assert tree is not None
                    part = own.get(tree.text[_lowest(tree, below)], part)
                    each[below] = int(part * WHOLE_STAR + 1e-9) * weight
                mine.append((cut, each))
            highest = protected.get(len(self.levels))
            if highest is not None and (highest >= len(counted) or counted[highest] == len(cuts)):
                raise InputError(
                    f"the certificate protects {shown(domain.name)} up to level {highest}, which its hierarchy does not have below the star"
                )
            there = len(mine) if highest is None else counted[highest] + 1
            self.levels.append(mine[:there])
            self.above.append(
                {tree.text[_lowest(tree, np.flatnonzero(cut == node))] for cut, _ in mine[there:] for node in np.unique(cut)}
                if tree is not None
                else set()
            )

    @property
    def vectors(self) -> int:
        """How many combinations of levels there are; a protected column has no star."""
        return prod(len(levels) + (j not in self.protected) for j, levels in enumerate(self.levels))

    def at(self, levels: tuple[int, ...]) -> tuple[list[NDArray[np.int64]], list[int], NDArray[np.int64]]:
        """Of each cell what it shows of the attributes that are not starred, their sizes, and what a row of it loses."""
        codes, shown, sizes = self.c.codes, [], []
        loss = np.zeros(len(codes), dtype=np.int64)
        for j, level in enumerate(levels):
            if level == len(self.levels[j]):
                loss += self.star[j]
                continue
            cut, each = self.levels[j][level]
            shown.append(cut[codes[:, j]][self.c.group_of_cell])
            sizes.append(int(cut.max()) + 1)
            loss += each[codes[:, j]]
        return shown, sizes, loss[self.c.group_of_cell]

    def lost(self, attribute: int, counts: Mapping[str, int], star: str) -> int | None:
        """What cells of an attribute lose that show so many times each text; None where a text may be nodes that lose differently.

        Raises
        ------
        InputError
            A text that is neither the star, nor a value, nor a node.
        """
        domain = self.c.domains[attribute]
        # A node that is the same on several levels shows itself on the lowest of them.
        least: dict[tuple[str, tuple[int, ...]], int] = {(star, ()): self.star[attribute]}
        for level, (cut, each) in enumerate(self.levels[attribute]):
            for node in np.unique(cut):
                below = np.flatnonzero(cut == node)
                tree = domain.taxonomy
                text = tree.text[_lowest(tree, below)] if tree is not None and level else text_of(domain.label(int(below[0])))
                held = text, tuple(below.tolist())
                least[held] = min(least.get(held, int(each[below[0]])), int(each[below[0]]))
        known: dict[str, set[int]] = {}
        for (text, _), loss in least.items():
            known.setdefault(text, set()).add(loss)
        for text in counts:
            if text not in known:
                raise InputError(f"column {domain.name!r}: {shown(text)} is neither a value, nor a node of its hierarchy, nor the star {star!r}")
        if any(len(known[text]) > 1 for text in counts):
            return None
        return sum(count * min(known[text]) for text, count in counts.items())

    def chosen(self, prices: Prices) -> tuple[Iterator[tuple[int, ...]], NDArray[np.int64] | None]:
        """The combinations of levels that are not left out, and what a row of each cell loses at the least in any other; None where there is none.

        Raises
        ------
        InputError
            Numbers that are no such combinations.
        """
        heights = [len(mine) + (j not in self.protected) for j, mine in enumerate(self.levels)]
        numbers, every = prices.combinations, self.vectors
        if numbers is None:
            return product(*map(range, heights)), None
        if not isinstance(numbers, np.ndarray) or numbers.ndim != 1 or numbers.dtype != np.int64:
            raise InputError("the certificate's combinations of levels must be a list of int64")
        if every > MOST_COMBINATIONS:
            raise InputError(f"the hierarchies have {every:,} combinations of levels, more than the {MOST_COMBINATIONS:,} that can be left out")
        if len(numbers) and (numbers[0] < 0 or numbers[-1] >= every or (np.diff(numbers) <= 0).any()):
            raise InputError(f"the certificate's combinations of levels must be ascending numbers below {every:,}")
        known = set(numbers.tolist())
        names = [(str(domain.name), str(type(domain.name))) for domain in self.c.domains]
        steps = [prod(height for other, height in zip(names, heights, strict=True) if other > name) for name in names]
        each = self.c.codes
        least = np.full(len(each), np.iinfo(np.int64).max)
        for number in range(every):
            if number in known:
                continue
            levels = tuple(number // step % height for step, height in zip(steps, heights, strict=True))
            # Where one a level below is left out, too, a row loses no more in that one.
            if any(level and number - step not in known for level, step in zip(levels, steps, strict=True)):
                continue
            lost = np.zeros(len(each), dtype=np.int64)
            for j, level in enumerate(levels):
                lost += self.star[j] if level == len(self.levels[j]) else self.levels[j][level][1][each[:, j]]
            least = np.minimum(least, lost)
        chosen = (tuple(number // step % height for step, height in zip(steps, heights, strict=True)) for number in numbers.tolist())
        return chosen, least[self.c.group_of_cell] if len(known) < every else None
