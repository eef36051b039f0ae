"""From a release to the table that leaves: built once, from what the source was then, in an order that is decided, verified as it stands there."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ldiv.errors import DisclosureWarning, InputError, MissingColumnError, UnsafeReleaseError
from ldiv.privacy.disclosure import guesses_by_neighbours
from ldiv.privacy.persons import Persons
from ldiv.privacy.verify import verify
from ldiv.release.publication import Publication
from ldiv.release.release import Release
from ldiv.table.coarsening import is_of_the_values
from ldiv.table.domain import Domain
from ldiv.table.frames import Source
from ldiv.table.text import is_missing, text_of

__all__ = ["ORDERS", "publish", "texts_above"]

ORDERS = ("keep", "random")


def publish(
    release: Release,
    source: Source,
    original: Any,
    sensitive: Sequence[Any],
    *,
    star: str | None = "*",
    order: str = "keep",
    drop: Sequence[Any] = (),
    only_named: bool = False,
    star_is_null: bool = False,
    seed: int | None = None,
    hierarchies: Mapping[Any, Any] | None = None,
    persons: Persons | None = None,
) -> Release:
    """The same release with its published table, which has been verified against the source.

    Parameters
    ----------
    release : Release
    source : Source
        The table as it was encoded.
    original : table
        The table as it was given, before it was coarsened; what is published is verified against it.
    sensitive : sequence of columns
    star, order, drop, only_named, star_is_null, seed
        As :func:`ldiv.anonymize` takes them.
    hierarchies : mapping, optional
        Whose texts may stand in place of values.
    persons : Persons, optional
        Who the rows belong to; they are counted, too.

    Raises
    ------
    UnsafeReleaseError
        The table does not hold what the release promises; nothing is returned.
    """
    data = release.contingency.data
    assert data is not None
    names = list(data.names)
    if order not in ORDERS:
        raise InputError(f"order must be one of {', '.join(map(repr, ORDERS))}, not {order!r}")
    for name in drop:
        if name not in source.columns:
            raise MissingColumnError(name, source.columns)
        if name in names or name in sensitive:
            raise InputError(f"drop: column {name!r} is a quasi-identifier or sensitive; leave it out of those first")
    others = [name for name in source.columns if name not in names and name not in sensitive]
    # The index of a pandas table goes with the order of its rows, in an Arrow table as in pandas.
    index = [name for name in others if order == "random" and name in source.index and not (only_named or name in drop)]
    left_out = [name for name in others if only_named or name in drop or name in index]
    rows = None
    if order == "random":
        # Not the draw that places rows in groups: whoever sees the order must not learn of it.
        entropy = [release.draw & ((1 << 64) - 1), release.draw >> 64, 1]
        rows = np.random.default_rng(entropy).permutation(release.n)
    release = replace(release, star=star)
    frame = release.publish(source, rows, left_out, star_is_null)
    trees, orders = texts_above(data.domains, hierarchies)
    unit = persons.name if persons is not None else None
    verdict = verify(
        original, frame, names, list(sensitive) or None, release.l, k=release.k, star=star, hierarchies=trees, orders=orders, rows=rows, unit=unit
    )
    if not verdict:
        raise UnsafeReleaseError(f"{release.algorithm}: the published table is withheld, {verdict}")
    if rows is None and not verdict.in_order:
        raise UnsafeReleaseError(f"{release.algorithm}: the published table is withheld, its rows are not in the order of the source")
    published = release.published[release.group]
    codes, starred = data.narrow, published < 0
    if rows is not None:
        codes, starred = codes[rows], starred[rows]
    publication = Publication(
        frame,
        verdict,
        rows,
        guesses_by_neighbours(codes, starred, names),
        [n for n in others if n not in left_out],
        left_out,
        codes,
        starred,
        index,
        [
            ["" if is_missing(x) else text_of(x) for x in map(domain.label, range(min(domain.size, len(domain.labels or ()))))]
            for domain in data.domains
        ],
        persons,
    )
    telling = [f"{guess} in {name!r}" for name, guess in publication.neighbours.items() if guess.tells]
    if telling and order == "keep":
        warnings.warn(
            f"the order of the rows gives stars away: {'; '.join(telling)} are what the rows above and below agree on; "
            'publish in another order: order="random"',
            DisclosureWarning,
            stacklevel=5,
        )
    return replace(release, publication=publication)


def texts_above(domains: Sequence[Domain], hierarchies: Mapping[Any, Any] | None) -> tuple[dict[Any, Any], dict[Any, Sequence[Any]]]:
    """Which texts may stand in place of values of a column, and the order of texts that have one, for who verifies a release.

    Of a hierarchy that was made from the values themselves the taxonomy says what its nodes hold.
    """
    trees: dict[Any, Any] = {name: tree for name, tree in (hierarchies or {}).items() if not is_of_the_values(tree)}
    orders: dict[Any, Sequence[Any]] = {}
    for domain in domains:
        if domain.taxonomy is not None and domain.name not in trees:
            tree = domain.taxonomy
            trees[domain.name] = [[text_of(domain.label(code)), *(tree.text[node] for node in tree.path[code])] for code in range(domain.size)]
        if domain.ordered and domain.labels and isinstance(domain.labels[0], str):
            orders[domain.name] = domain.labels
    return trees, orders
