"""From a release of cells to what an engine does with each row: which form it takes, and how its values are shown.

A *form* says for each quasi-identifier whether a row keeps its value or shows a star or a sub-domain. All rows of most cells take one form, and an engine
finds it by an equi-join; where a cell is split, its rows are numbered in an order that a secret salt decides, and ranges of numbers take forms.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.asking import Asked
from ldiv.errors import InputError, MissingColumnError, UnsafeReleaseError
from ldiv.release.decoding import refuse_ambiguous_nodes, refuse_ambiguous_star
from ldiv.release.form import STAR, sorted_entries
from ldiv.release.release import Release
from ldiv.table.counted import Counted
from ldiv.table.frames import Source, named
from ldiv.table.ranking import rank_rows

__all__ = ["KEEP", "Counts", "Plan", "Shown", "planned"]

KEEP = 0  # of a form: the value stays


@dataclass(frozen=True)
class Counts:
    """What an engine has counted.

    Attributes
    ----------
    table : pyarrow.Table
        Each combination of the named columns once.
    rows : ndarray of int64, shape (K,)
        How many rows have it.
    mark : ndarray of uint64, shape (K,)
        The sum, modulo 2**62, of a hash of what else is published of these rows.
    """

    table: Any
    rows: NDArray[np.int64]
    mark: NDArray[np.uint64]

    @property
    def total(self) -> int:
        return int(self.rows.sum())


@dataclass(frozen=True)
class Shown:
    """How values of a column are published where they stay.

    Attributes
    ----------
    how : {"same", "text", "lookup"}
        As they are; as text, for whole numbers; by a table of texts.
    text : list of str or None
        Of ``"lookup"``: by code.
    code : ndarray of int32, shape (K,)
        Of each combination.
    """

    how: str = "same"
    text: Sequence[str | None] = ()
    code: NDArray[np.int32] | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Plan:
    """What becomes of each row.

    Attributes
    ----------
    columns : list
        Those that are published, in their order.
    qi, targets : list
    rest : list
        Published as they are.
    form : ndarray of int64, shape (K,)
        The form of all rows of a combination, -1 where its cell is split.
    cell : ndarray of int32, shape (K,)
        The number of the split cell a combination is in, -1 in none.
    pieces : tuple of ndarray
        Split cell, first number, number after the last, form.
    forms : ndarray of int32, shape (F, d)
        KEEP, or which of `texts`.
    texts : list of lists
        By quasi-identifier; the first is for KEEP, the second the star.
    changed : list of bool
        Quasi-identifiers in which some row shows something else than its value.
    shown : dict of column to Shown
        Of quasi-identifiers and sensitive columns.
    claims : tuple of ndarray
        Combination, form, rows: what a checker is told; of a cell of several combinations one stands for all.
    cell_of : ndarray of int32, shape (K,)
    salt : str
        A secret.
    query : str or None
        Where the engine holds more combinations than are here: a query for all of them with form and number of cell.
    own, looked : dict of column to pyarrow.Array
        Then: all values of each column, and the texts of those that are looked up.
    """

    columns: list[str]
    qi: list[str]
    targets: list[str]
    rest: list[str]
    form: NDArray[np.int64]
    cell: NDArray[np.int32]
    pieces: tuple[NDArray[np.int64], ...]
    forms: NDArray[np.int32]
    texts: list[list[str | None]]
    changed: list[bool]
    shown: dict[str, Shown]
    claims: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]] = field(repr=False)
    cell_of: NDArray[np.int32] = field(repr=False)
    salt: str = field(repr=False)
    star: str | None = "*"
    query: str | None = field(default=None, repr=False)
    own: Mapping[str, Any] = field(default_factory=dict, repr=False)
    looked: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def splits(self) -> bool:
        return len(self.pieces[0]) > 0

    def nulls(self, j: int) -> bool:
        """Whether what is replaced in a quasi-identifier becomes null and nothing else, so that the column keeps its type."""
        return self.changed[j] and self.texts[j][1:] == [None]

    def replaced(self) -> dict[str, dict[int, str | None]]:
        """By quasi-identifier what each form shows in place of a value."""
        return {
            name: {form: self.texts[j][code] for form, code in enumerate(self.forms[:, j].tolist()) if code != KEEP} for j, name in enumerate(self.qi)
        }

    def looked_up(self) -> dict[str, tuple[Sequence[str | None], NDArray[np.int32]] | None]:
        """The texts of columns whose values are looked up."""
        return {name: (shown.text, shown.code) if shown.code is not None else None for name, shown in self.shown.items()}


def planned(
    asked: Asked, counts: Counts, columns: Sequence[str], source: Source, data: Counted, release: Release, targets: list[str], to_text: bool
) -> Plan:
    """The plan of a release of counted cells.

    Parameters
    ----------
    asked : Asked
    counts : Counts
        Before anything was coarsened.
    columns : sequence of str
        All that the source has.
    source : Source
        The combinations as they were solved.
    data : Counted
        Of all sensitive columns together.
    release : Release
        Of the cells of `data`.
    targets : list of str
    to_text : bool
        Whether a text file is written, in which every value is a text.
    """
    c, mine = release.contingency, data.contingency
    same = c is mine or all(np.array_equal(getattr(c, x), getattr(mine, x)) for x in ("codes", "indptr", "sensitive", "count"))
    if not same:
        raise UnsafeReleaseError(f"{release.algorithm}: the release is not one of the table that was counted")
    qi = [domain.name for domain in c.domains]
    forms, form_of_group = _forms(release)
    changed = [bool((forms[:, j] != KEEP).any()) for j in range(len(qi))]
    for j, domain in enumerate(c.domains):
        refuse_ambiguous_nodes(asked.star, domain, release.published[:, j], release.subdomains[j])
        if (release.published[:, j] == STAR).any():
            refuse_ambiguous_star(asked.star, domain, release.published[:, j], asked.star_is_null)
    texts: list[list[str | None]] = [[None, asked.star, *(kind.text for kind in kinds)] for kinds in release.subdomains]
    entry_group = np.repeat(np.arange(release.groups), np.diff(release.indptr))
    cell, form, count = sorted_entries(release.cell, form_of_group[entry_group].astype(np.int32), release.count)
    starts = np.searchsorted(cell, np.arange(len(c.count) + 1))
    single = np.diff(starts) == 1
    cell_of = data.cell_of_combination
    first = form[starts[:-1]].astype(np.int64)
    whole = np.where(single[cell_of], first[cell_of], -1)
    split = np.flatnonzero(~single)
    number = np.full(len(c.count), -1, dtype=np.int32)
    number[split] = np.arange(len(split), dtype=np.int32)
    piece = np.flatnonzero(~single[cell])
    high = np.cumsum(count[piece])
    heads = np.flatnonzero(np.diff(cell[piece], prepend=-1))
    before = np.repeat(high[heads] - count[piece][heads], np.diff(np.append(heads, len(piece)))) if len(piece) else high
    pieces = number[cell[piece]].astype(np.int64), high - count[piece] - before, high - before, form[piece].astype(np.int64)
    representative = np.zeros(len(c.count), dtype=np.int64)
    representative[cell_of[::-1]] = np.arange(len(cell_of))[::-1]
    drop = _left_out(asked, columns, qi, targets)
    return Plan(
        [name for name in columns if name not in drop],
        qi,
        targets,
        [name for name in columns if name not in drop and name not in qi and name not in targets],
        whole,
        number[cell_of],
        pieces,
        forms,
        texts,
        changed,
        _shown(
            asked, counts, source, qi, targets, [to_text or (now and below[1:] != [None]) for now, below in zip(changed, texts, strict=True)], to_text
        ),
        (representative[cell], form.astype(np.int64), count),
        cell_of,
        hashlib.sha256(f"{release.draw:x} rows".encode()).hexdigest(),
        asked.star,
    )


def _forms(release: Release) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """The distinct forms, and that of each group."""
    code = np.where(release.published >= 0, KEEP, -release.published).astype(np.int32)
    most = int(code.max(initial=0)) + 1
    if not len(code):
        return np.zeros((1, release.d), dtype=np.int32), np.zeros(0, dtype=np.int32)
    rank, first, _ = rank_rows([np.ascontiguousarray(column) for column in code.T], [most] * release.d)
    return code[first], rank


def _left_out(asked: Asked, columns: Sequence[str], qi: list[str], targets: list[str]) -> list[str]:
    drop = named(asked.drop, columns, "drop")
    for name in drop:
        if name not in columns:
            raise MissingColumnError(name, columns)
        if name in qi or name in targets:
            raise InputError(f"drop: column {name!r} is a quasi-identifier or sensitive; leave it out of those first")
    return [name for name in columns if name in drop or (asked.only_named and name not in qi and name not in targets)]


def _shown(asked: Asked, counts: Counts, source: Source, qi: list[str], targets: list[str], texts: list[bool], to_text: bool) -> dict[str, Shown]:
    import pyarrow as pa  # the engines' own libraries bring it

    found = {}
    for name in [*qi, *targets]:
        coarse = name in (asked.coarsen or {})
        replaced = texts[qi.index(name)] if name in qi else to_text
        kind = counts.table.schema.field(name).type
        if not coarse and (not replaced or pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            found[name] = Shown()
        elif not coarse and pa.types.is_integer(kind):
            found[name] = Shown("text")
        else:
            codes, _, _ = source.encode(name)
            found[name] = Shown("lookup", source.texts(name, codes), codes)
    return found
