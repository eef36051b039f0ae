"""The form of a release: sub-domains, what its arrays may hold, and their canonical order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ldiv._kernels.release as _release
from ldiv.arguments import MOST_VALUES, shown
from ldiv.errors import InputError
from ldiv.table.arrays import whole
from ldiv.table.contingency import Contingency
from ldiv.table.ranking import argsort_keys

__all__ = ["STAR", "Subdomain", "checked_published", "checked_subdomains", "pointers", "sorted_entries"]

STAR = -1


@dataclass(frozen=True)
class Subdomain:
    """A set of values published in place of one: a range, a taxonomy node, or a plain set.

    Attributes
    ----------
    codes : tuple of int
        The codes it covers, ascending.
    text : str
        How it is published.
    """

    codes: tuple[int, ...]
    text: str

    def __post_init__(self) -> None:
        codes = tuple(whole(self.codes, "codes of a sub-domain", low=0, high=MOST_VALUES - 1).tolist())
        if not codes or any(a >= b for a, b in zip(codes, codes[1:], strict=False)):
            raise InputError(f"a sub-domain must hold at least one code, ascending, not {shown(codes)}")
        if not isinstance(self.text, str):
            raise InputError(f"the text of a sub-domain must be a str, not {shown(self.text)}")
        object.__setattr__(self, "codes", codes)


def checked_subdomains(contingency: Contingency, subdomains: Any) -> tuple[tuple[Subdomain, ...], ...]:
    """For each attribute its sub-domains."""
    kinds = tuple(tuple(x) if isinstance(x, Sequence) else x for x in subdomains) if isinstance(subdomains, Sequence) else subdomains
    if isinstance(kinds, tuple) and not kinds:
        return tuple(() for _ in range(contingency.d))
    if (
        not isinstance(kinds, tuple)
        or len(kinds) != contingency.d
        or not all(isinstance(x, tuple) and all(isinstance(y, Subdomain) for y in x) for x in kinds)
    ):
        raise InputError(f"subdomains must be a sequence of Subdomain for each of the {contingency.d} attributes, not {shown(subdomains)}")
    for domain, mine in zip(contingency.domains, kinds, strict=True):
        for x in mine:
            if x.codes[-1] >= domain.size:
                raise InputError(f"a sub-domain of {domain.name!r} holds the code {x.codes[-1]:,}, outside its domain 0..{domain.size - 1:,}")
    return kinds


def checked_published(contingency: Contingency, published: Any, kinds: tuple[tuple[Subdomain, ...], ...]) -> NDArray[np.int32]:
    """What each group publishes: codes of the domain, -1, or the number of a sub-domain."""
    array = whole(published, "published", low=-MOST_VALUES, high=MOST_VALUES - 1, dtype=np.int32, shape=(None, contingency.d))
    for j, (domain, mine) in enumerate(zip(contingency.domains, kinds, strict=True)):
        whole(array[:, j], f"published of {domain.name!r}", low=STAR - len(mine), high=domain.size - 1, dtype=None, order="A", own=False)
    return array


def sorted_entries(
    group: NDArray[np.int32], cell: NDArray[np.int32], count: NDArray[np.int64]
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int64]]:
    """Entries in order of (group, cell), equal pairs added up."""
    if _release.pairs_ascend(group, cell):
        return group, cell, count
    width = int(cell.max(initial=0)).bit_length()
    key = group.astype(np.int64)
    key <<= width
    key |= cell
    if not len(key):
        return group, cell, count
    order = argsort_keys(key, int(key.max()) + 1)
    key = key[order]
    group, cell, count = (key >> width).astype(np.int32), (key & ((1 << width) - 1)).astype(np.int32), count[order]
    fresh = np.append(True, key[1:] != key[:-1])
    if not fresh.all():
        starts = np.flatnonzero(fresh)
        group, cell, count = group[starts], cell[starts], np.add.reduceat(count, starts)
    return group, cell, count


def pointers(group: NDArray[np.int32]) -> NDArray[np.int64]:
    """CSR pointers of an ascending list of group numbers, unused numbers skipped."""
    changes = np.flatnonzero(group[1:] != group[:-1]) + 1
    head = [0] if len(group) else []
    return np.concatenate([head, changes, [len(group)]]).astype(np.int64)
