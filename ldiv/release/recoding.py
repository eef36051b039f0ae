"""Sub-domains of groups: what a release publishes where it neither keeps a value nor stars it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ldiv.release.form import STAR, Subdomain
from ldiv.table.contingency import Contingency
from ldiv.table.domain import Domain
from ldiv.table.taxonomy import range_text, set_text

__all__ = ["Vocabulary", "boxes"]


class Vocabulary:
    """The sub-domains that a release publishes of one attribute, each numbered once.

    With `nodes` a group shows the lowest node of the attribute's taxonomy above its values, else their range or set.
    """

    def __init__(self, domain: Domain, nodes: bool = False) -> None:
        self.domain = domain
        self.tree = domain.taxonomy if nodes else None
        self.number: dict[tuple[int, ...], int] = {}
        self.subdomains: list[Subdomain] = []

    def publish(self, codes: tuple[int, ...], text: str | None = None) -> int:
        """How a set of codes is published: the code itself, a star for the whole domain, or a numbered sub-domain."""
        if len(codes) == 1:
            return codes[0]
        if len(codes) == self.domain.size:
            return STAR
        if codes not in self.number:
            self.number[codes] = -2 - len(self.subdomains)
            self.subdomains.append(Subdomain(codes, text or self.text(codes)))
        return self.number[codes]

    def text(self, codes: tuple[int, ...]) -> str:
        labels = [self.domain.label(code) for code in codes]
        return range_text(labels) if self.domain.ordered else set_text(labels)

    def cover(self, codes: Iterable[int]) -> int:
        """The sub-domain of the values a group holds: a node, their range if the attribute is ordered, else their set."""
        held = tuple(sorted(codes))
        if self.tree is not None:
            node = self.tree.covering(held)
            return self.publish(self.tree.codes(node), self.tree.text[node])
        return self.publish(tuple(range(held[0], held[-1] + 1)) if self.domain.ordered else held)


def boxes(
    contingency: Contingency,
    group: NDArray[np.integer],
    member: NDArray[np.integer],
    groups: int,
    nodes: bool = False,
) -> tuple[NDArray[np.int32], list[list[Subdomain]]]:
    """What each group publishes if every attribute shows the sub-domain of the values it holds.

    Parameters
    ----------
    group, member : ndarray of int, shape (entries,)
        Entry k says that QI-group ``group[k]`` holds the group of equal rows ``member[k]``.
    groups : int
    nodes : bool
        Show nodes of the taxonomy where an attribute has one.
    """
    published = np.empty((groups, contingency.d), dtype=np.int32)
    subdomains = []
    for j, domain in enumerate(contingency.domains):
        vocabulary = Vocabulary(domain, nodes)
        held = np.unique(group.astype(np.int64) * domain.size + contingency.codes[member, j])
        of_group, codes = np.divmod(held, domain.size)
        bounds = np.searchsorted(of_group, np.arange(groups + 1))
        single = np.diff(bounds) == 1
        published[single, j] = codes[bounds[:-1][single]]
        for g in np.flatnonzero(~single):
            published[g, j] = vocabulary.cover(codes[bounds[g] : bounds[g + 1]].tolist())
        subdomains.append(vocabulary.subdomains)
    return published, subdomains
