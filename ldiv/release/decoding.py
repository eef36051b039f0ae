"""From published codes to what stands in the table: which cells change and to which texts; and when a star could be taken for a value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.errors import InputError
from ldiv.release.form import STAR, Subdomain
from ldiv.table.domain import Domain
from ldiv.table.frames import Change
from ldiv.table.text import MISSING_WORDS, alike, is_missing, text_of

__all__ = ["changes_of", "refuse_ambiguous_nodes", "refuse_ambiguous_star", "refuse_nodes_like_values"]


def changes_of(
    domains: Sequence[Domain],
    codes: NDArray[np.int32],
    published: NDArray[np.int32],
    subdomains: Sequence[Sequence[Subdomain]],
    group: NDArray[np.int32],
    star: str | None,
    star_is_null: bool,
) -> dict[Any, Change]:
    """What happens to each QI column that is not published as it is."""
    changes: dict[Any, Change] = {}
    for j, domain in enumerate(domains):
        column = published[:, j]
        if (column >= 0).all():
            continue
        refuse_ambiguous_nodes(star, domain, column, subdomains[j])
        if (column == STAR).any():
            refuse_ambiguous_star(star, domain, column, star_is_null)
        texts: list[str | None] = [star, *(s.text for s in subdomains[j])]
        used = np.unique(-1 - column[column < 0])
        place = np.full(len(texts) + 1, -1, dtype=np.int32)
        place[used] = np.arange(len(used), dtype=np.int32)
        by_group = place[np.where(column < 0, -1 - column, len(texts))]
        changes[domain.name] = Change(codes[:, j], by_group[group], [texts[k] for k in used])
    return changes


def refuse_ambiguous_nodes(star: str | None, domain: Domain, published: NDArray[np.int32], kinds: Sequence[Subdomain]) -> None:
    """Raise where anyone could take a sub-domain that is published for a star, or for a value of the column. Nodes with the same text are one in what is shown."""
    held: dict[str, set[tuple[int, ...]]] = {}
    for number in np.unique(published[published < STAR]).tolist():
        kind = kinds[-2 - number]
        held.setdefault(kind.text, set()).add(kind.codes)
    if star in held:
        raise InputError(f"column {domain.name!r}: a node of its hierarchy is called {star!r}, as stars are: rename it, or choose another star=")
    for code, label in enumerate(domain.labels or () if held else ()):
        if held.get(text_of(label), {(code,)}) != {(code,)}:
            raise _called_like_a_value(domain.name, text_of(label))


def refuse_nodes_like_values(domain: Domain) -> None:
    """Raise where a node of a column's hierarchy, not its root, is called as a value is: whether one is published would depend on what is found."""
    tree = domain.taxonomy
    if tree is None or domain.labels is None:
        return
    values = {text_of(label) for label in domain.labels}
    own = set(tree.leaf.tolist())
    for node in range(1, tree.nodes):
        if node not in own and tree.text[node] in values:
            raise _called_like_a_value(domain.name, tree.text[node])


def _called_like_a_value(column: str, text: str) -> InputError:
    return InputError(f"column {column!r}: a node of its hierarchy is called {text!r}, as a value is: rename it")


def refuse_ambiguous_star(star: str | None, domain: Domain, published: NDArray[np.int32], star_is_null: bool = False) -> None:
    """Raise where anyone could take a star for a value of its column: equal as text or number, or null beside nulls that are published."""
    if domain.labels is None:
        return
    if star is None:
        shown = published[(published >= 0) & (published < len(domain.labels))]
        if not star_is_null and any(is_missing(domain.labels[code]) for code in np.unique(shown)):
            raise InputError(
                f"column {domain.name!r} has missing values, so a null in place of a star would be taken for one: "
                "choose another star=, or allow it with star_is_null=True"
            )
        return
    if not isinstance(star, str):
        raise InputError(f"star must be text or None, not {star!r}")
    key = alike(star)
    for value in domain.labels:
        as_missing = is_missing(value) and star.strip().lower() in MISSING_WORDS
        if alike(value) == key or as_missing or (not is_missing(value) and text_of(value) == star):
            what = "missing values" if is_missing(value) else f"the value {value!r}"
            raise InputError(f"column {domain.name!r} already holds {what}, so a star would be taken for it: choose another with star=")
