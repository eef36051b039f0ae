"""The lattice of levels: what a group may publish of each attribute, and what a row loses by it.

A pattern takes a level of each attribute: its values, nodes of its hierarchy, or a star. Suppression is the lattice whose hierarchies have height one:
the value at no loss, or a star.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import combinations, product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.arguments import LOSS, shown
from ldiv.errors import InputError
from ldiv.limited import Limited
from ldiv.table.contingency import Contingency
from ldiv.table.domain import Domain

__all__ = ["UNIT", "Lattice", "given_levels", "level_of", "levels_of"]

UNIT = 10_000  # what a star of weight 1 loses, where nodes lose parts of it
MOST_VECTORS = 1 << 20
SUBSETS = 1000  # numbers of starred attributes with more projections than this are passed over: tables of more than a dozen attributes
VECTORS = 4096  # of levels of hierarchies, those over which all rows lose least: the others are passed over
Pattern = tuple[int, ...]  # the columns of the lattice's table that are kept: at most one of each attribute


def levels_of(domain: Domain) -> NDArray[np.int32]:
    """The node that covers each code at each level below the star, shape (levels, size): the values first; levels that join nothing are left out.

    Levels are those that were given (of a file its columns); of an unbalanced tree distances from the root, where a value that is nearer to it than others
    stands for itself on the levels below.
    """
    return np.stack([number for _, number in _told_apart(domain)])


def level_of(domain: Domain, given: int) -> int:
    """Which of :func:`levels_of` a level is that a hierarchy gives, 0 being its values: of those that join nothing new the one below; the star's number where all
    values are one node there.

    Raises
    ------
    IndexError
        The hierarchy gives fewer.
    """
    if not 0 <= given < given_levels(domain):
        raise IndexError
    found = _told_apart(domain)
    if domain.taxonomy is not None and given and len(np.unique(domain.taxonomy.levels[given])) == 1:
        return len(found)
    return sum(number <= given for number, _ in found) - 1


def given_levels(domain: Domain) -> int:
    """How many levels a domain's hierarchy gives below its root, the values among them."""
    tree = domain.taxonomy
    return 1 if tree is None else max(1, len(tree.levels) - (tree.rungs is None))  # a path begins at the root


def _told_apart(domain: Domain) -> list[tuple[int, NDArray[np.int32]]]:
    """The levels below the star that join something and not all, each with its number among those given."""
    own = np.arange(domain.size, dtype=np.int32)
    found: list[tuple[int, NDArray[np.int32]]] = [(0, own)]
    if domain.taxonomy is not None:
        for given, nodes in enumerate(domain.taxonomy.levels):
            _, number = np.unique(nodes, return_inverse=True)
            number = np.asarray(number.ravel(), dtype=np.int32)
            if number.max(initial=0) < found[-1][1].max(initial=0) and number.max(initial=0) > 0:
                found.append((given, number))  # type: ignore[arg-type]
    return found


class Lattice:
    """Levels of each attribute, and the table in all of them.

    Attributes
    ----------
    contingency : Contingency
        The table itself.
    table : Contingency
        The same cells with a column for each attribute and level below the star.
    attribute, level : lists of int
        Of each column of `table`.
    loss : list of ndarray of int64
        Of each column: what a row loses for each of its nodes.
    star : list of int
        What a row loses for a star in each attribute.
    nodes : bool
        Whether anything but values and stars is published.
    name : str or None
        Of the losses; ``"own"`` for those given as a table.
    given : mapping or None
        That table.
    """

    def __init__(
        self,
        contingency: Contingency,
        levels: Sequence[NDArray[np.int32]],
        loss: Sequence[Sequence[NDArray[np.int64]]],
        star: Sequence[int],
        nodes: bool = False,
    ):
        c = self.contingency = contingency
        self.attribute = [j for j, of in enumerate(levels) for _ in of]
        self.level = [k for of in levels for k in range(len(of))]
        self.node = [of[k] for of in levels for k in range(len(of))]
        self.loss = [x for of in loss for x in of]
        self.star = list(star)
        self.name: str | None = None
        self.given: Mapping[Any, Mapping[str, float]] | None = None
        self.height = [len(of) for of in levels]
        self.nodes = nodes or max(self.height, default=1) > 1
        self.table = c
        if self.nodes:
            # The values come first, so that groups of equal rows stay in order.
            first = sorted(range(len(self.attribute)), key=lambda k: (self.level[k] > 0, self.attribute[k], self.level[k]))
            for name in ("attribute", "level", "node", "loss"):
                setattr(self, name, [getattr(self, name)[k] for k in first])
            codes = np.stack([self.node[k][c.codes[:, j]] for k, j in enumerate(self.attribute)], axis=1).astype(np.int32)
            domains = tuple(
                c.domains[j] if not level else Domain(f"{c.domains[j].name} level {level}", int(self.node[k].max(initial=0)) + 1)
                for k, (j, level) in enumerate(zip(self.attribute, self.level, strict=True))
            )
            self.table = Contingency._made(np.ascontiguousarray(codes), c.indptr, c.sensitive, c.count, domains, c.sensitive_domain)
        self.column = {(j, level): k for k, (j, level) in enumerate(zip(self.attribute, self.level, strict=True))}

    @classmethod
    def of_stars(cls, contingency: Contingency) -> Lattice:
        """Values and stars: a star loses its attribute's weight."""
        levels = [np.empty((1, 0), dtype=np.int32)] * contingency.d  # values are their own nodes
        return cls(contingency, levels, [[np.zeros(1, dtype=np.int64)]] * contingency.d, contingency.weights.tolist())

    @classmethod
    def of_nodes(cls, contingency: Contingency, loss: str | Mapping[Any, Any] | Limited | None = None) -> Lattice:
        """The nodes of each attribute's taxonomy; attributes without one have values and a star.

        Parameters
        ----------
        contingency : Contingency
        loss : {"ncp", "level"} or mapping, default "ncp"
            What a row loses for a node, as a part of its attribute's star: the share of the domain below it (nothing for a value); its level over the
            height; or for some attributes a mapping of nodes' texts to numbers from 0 to 1, the others by ``"ncp"``. Parts are rounded down to 1 / UNIT.

        Raises
        ------
        InputError
            Another word, an attribute or node that is not there, a loss that is no part, or one that is less than that of a node below.
        """
        c = contingency
        asked, highest = (loss.loss, loss.highest) if isinstance(loss, Limited) else (loss, {})
        given: Mapping[Any, Any] = asked if isinstance(asked, Mapping) else {}
        kind = LOSS.check("ncp" if asked is None else asked)
        for name in given:
            if name not in [x.name for x in c.domains]:
                raise InputError(f"loss: {shown(name)} is not a quasi-identifier; there are: {', '.join(repr(x.name) for x in c.domains)}")
        levels, losses, star = [], [], []
        for domain in c.domains:
            of = levels_of(domain)
            levels.append(of)
            star.append(UNIT * domain.weight)
            mine = []
            for k, number in enumerate(of):
                below = np.bincount(number)
                part = np.where(below > 1, below / domain.size, 0.0) if kind != "level" else np.full(len(below), k / len(of))
                if domain.name in given and k:
                    part = _given(given[domain.name], domain, number, part)
                mine.append(np.floor(part * UNIT + 1e-9).astype(np.int64) * domain.weight)
            for finer, coarser, a, b in zip(of, of[1:], mine, mine[1:], strict=False):
                if (b[coarser] < a[finer]).any():
                    raise InputError(f"loss of {domain.name!r}: a node loses less than one below it")
            losses.append(mine)
        if all(len(of) == 1 for of in levels):
            return cls.of_stars(c)  # and counts stars, not parts of them
        for j, domain in enumerate(c.domains):
            if level := highest.get(domain.name, 0):
                shown_by_all = np.unique(levels[j][level][c.codes[:, j]])
                if len(shown_by_all) > 1:
                    raise ValueError(f"the rows share no node of {domain.name!r} on level {level}")
                star[j] = int(losses[j][level][shown_by_all].sum())
                levels[j], losses[j] = levels[j][:level], losses[j][:level]
        made = cls(c, levels, losses, star, nodes=True)
        made.name = "own" if isinstance(asked, Mapping) else kind
        made.given = given or None
        return made

    @property
    def priced(self) -> dict[str, Any]:
        """What prices say of the hierarchies that their bound is about; nothing of stars alone."""
        if not self.nodes:
            return {}
        trees = {x.name: tree for x in self.contingency.domains if (tree := x.fingerprint) is not None}
        return {"loss": self.name, "losses": self.given, "trees": trees}

    def node_of(self, attribute: int, level: int) -> NDArray[np.int32] | None:
        """The node that covers each code of an attribute on a level; None where values are their own."""
        return self.node[self.column[attribute, level]] if level else None

    @property
    def most(self) -> int:
        """What a row loses that shows nothing."""
        return sum(self.star)

    @property
    def unit(self) -> int:
        """How much of what is lost makes a star of weight 1."""
        return UNIT if self.nodes else 1

    @property
    def vectors(self) -> int:
        """How many patterns there are."""
        return prod(height + 1 for height in self.height)

    @property
    def enough(self) -> int:
        """The least `most` of :meth:`patterns` that leaves none out."""
        return self.vectors if self.nodes else len(self.star)

    def patterns(self, most: int) -> list[Pattern]:
        """The columns that each pattern keeps, those that lose least first.

        Of stars: the patterns with at most `most` of them, and the all-star one. Of nodes: the `most` that lose least over all rows (ties by their levels),
        and the all-star one.
        """
        if not self.nodes:
            d = len(self.star)
            sizes = {d - k for k in range(min(most, d) + 1)} | {0}
            chosen = [kept for size in sorted(sizes, reverse=True) for kept in combinations(range(d), size)]
            return sorted(chosen, key=lambda kept: self.most - sum(self.star[j] for j in kept))
        return [kept for _, kept in self.ranked[:most]] + [kept for _, kept in self.ranked[most:] if not kept]

    @cached_property
    def ranked(self) -> list[tuple[int, Pattern]]:
        """All patterns of nodes with what all rows together lose in them, least first."""
        if self.vectors > MOST_VECTORS:
            raise InputError(
                f"the hierarchies have {self.vectors:,} combinations of levels, more than {MOST_VECTORS:,}: publish some columns on one level by coarsen=, "
                "or give fewer columns a hierarchy"
            )
        c = self.contingency
        rows = np.add.reduceat(c.count, c.indptr[:-1]) if c.groups else np.zeros(0, dtype=np.int64)
        total = [int((self.loss[k][self.node[k][c.codes[:, j]]] * rows).sum()) for k, j in enumerate(self.attribute)]
        lost = [[total[self.column[j, level]] for level in range(height)] + [self.star[j] * c.n] for j, height in enumerate(self.height)]
        by_name = sorted(range(len(lost)), key=lambda j: str(c.domains[j].name))  # ties do not depend on the order of columns
        ranked = sorted(
            ((sum(of[level] for of, level in zip(lost, levels, strict=True)), levels) for levels in product(*map(range, map(len, lost)))),
            key=lambda pair: (pair[0], [pair[1][j] for j in by_name]),
        )
        return [(loss, tuple(sorted(self.column[j, level] for j, level in enumerate(levels) if level < self.height[j]))) for loss, levels in ranked]

    def losses(self, kept: Pattern, codes: NDArray[np.int32]) -> NDArray[np.int64]:
        """What a row loses in each group of a pattern, given the groups' codes in the columns kept; one number where it is the same in all."""
        own = {self.attribute[k] for k in kept}
        starred = sum(loss for j, loss in enumerate(self.star) if j not in own)
        total = np.full(len(codes) if self.nodes else 1, starred, dtype=np.int64)
        if self.nodes:
            for place, k in enumerate(kept):
                total += self.loss[k][codes[:, place]]
        return total

    def levels(self, patterns: Sequence[Pattern]) -> NDArray[np.int64]:
        """The level of each attribute in each pattern, shape (patterns, d); the star is the last."""
        levels = np.repeat(np.array([self.height], dtype=np.int64), len(patterns), axis=0)
        for row, kept in zip(levels, patterns, strict=True):
            for column in kept:
                row[self.attribute[column]] = self.level[column]
        return levels


def _given(table: Any, domain: Domain, number: NDArray[np.int32], part: NDArray[np.float64]) -> NDArray[np.float64]:
    """The losses of a level's nodes by a table of texts, others as they are."""
    if not isinstance(table, Mapping):
        raise InputError(f"loss of {domain.name!r} must be a mapping of nodes' texts to numbers from 0 to 1, not {shown(table)}")
    assert domain.taxonomy is not None
    text = domain.taxonomy.text
    unknown = [name for name in table if str(name) not in text and str(name) not in domain.taxonomy.known]  # what no row shows may be named
    if unknown:
        raise InputError(f"loss of {domain.name!r}: no node {shown(unknown[0])} in its hierarchy")
    part = part.copy()
    for node in range(len(part)):
        covering = domain.taxonomy.covering(np.flatnonzero(number == node).tolist())
        if text[covering] in table:
            value = table[text[covering]]
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
                raise InputError(f"loss of {domain.name!r}: {text[covering]!r} must lose a number from 0 to 1, not {shown(value)}")
            part[node] = value
    return part
