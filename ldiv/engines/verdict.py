"""What an engine wrote, held against what it read: counted anew from the files, and judged by code that shares nothing with what made them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.errors import UnsafeReleaseError
from ldiv.privacy.verify import Verdict
from ldiv.privacy.verify.cells import missing, shown_as, text_of_cell
from ldiv.privacy.verify.published import PublishedColumn, encode_published
from ldiv.privacy.verify.recoding import Recoding
from ldiv.table.text import merge_alike

__all__ = ["group_faults", "judge", "places", "publishes", "require"]

MODULUS = np.uint64((1 << 62) - 1)


class _Counted:
    """A table of combinations with their rows, column by column as codes of distinct values."""

    def __init__(self, table: Any, rows: NDArray[np.int64], mark: NDArray[np.uint64]) -> None:
        self.rows, self.mark = rows, mark
        self.column: dict[str, PublishedColumn] = {}
        for name in table.column_names:
            self.column[name] = encode_published(table.column(name))


def _joint(columns: Sequence[NDArray[np.int64]], n: int) -> NDArray[np.int64]:
    """One number for each row, the same where all columns are."""
    key = np.zeros(n, dtype=np.int64)
    size = 1
    for column in columns:
        width = int(column.max(initial=0)) + 1
        if size * width >= 1 << 62:
            key = np.unique(key, return_inverse=True)[1].ravel()
            size = int(key.max(initial=0)) + 1
        key = key * width + column
        size *= width
    return key


def judge(
    before: Any,
    after: Any,
    qi: Sequence[str],
    targets: Sequence[str],
    l: int,
    k: int,
    star: str | None,
    trees: Mapping[str, Any],
    orders: Mapping[str, Sequence[Any]],
    said: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
    cell_of: NDArray[np.int32],
    texts: Mapping[str, tuple[Sequence[str | None], NDArray[np.int32]] | None],
    replaced: Mapping[str, Mapping[int, str | None]],
    unchanged: Sequence[str] = (),
    dropped: Sequence[str] = (),
    na: str | None = None,
) -> Verdict:
    """Whether what was written is a truthful, l-diverse release of what was read.

    The maker says which combination went where how often (`said`), what values show and what forms show in their place; none of it is believed. Each
    sentence must be true of its combination (a value, a star, or a sub-domain that holds the value; the same sensitive values), together they must use up
    every row that was read, and give exactly the rows that were counted in what was written. So there is a way to give every row its released row.
    What else is published of a row is compared by sums of hashes, for each set of combinations and released rows that belong together.

    Parameters
    ----------
    before, after : objects with ``table``, ``rows`` and ``mark``
        Combinations as they were read at first, and of what was written.
    qi, targets : sequence of str
    l, k : int
    star : str or None
    trees, orders : mapping
        Texts above values, and orders of values, by column.
    said : tuple of ndarray
        Combination, form, rows.
    cell_of : ndarray
        Combinations with one number are said to be interchangeable.
    texts : mapping
        Where values of a column are shown as other texts, these, and which of them each combination shows.
    replaced : mapping of mappings
        What forms show in place of the values of a quasi-identifier.
    na : str, optional
        The text that is a missing value in what was written.
    """
    source, released = _Counted(before.table, before.rows, before.mark), _Counted(after.table, after.rows, after.mark)
    faults: list[str] = []
    n, m = int(before.rows.sum()), int(after.rows.sum())
    if n != m:
        faults.append(f"{m:,} rows are written, {n:,} were read")
    combination, form, rows = said
    there: list[NDArray[np.int64]] = []  # of each sentence, the code of what it shows in what was written
    here: list[NDArray[np.int64]] = []
    stars: dict[Any, int] = {}
    for name in qi:
        mine, theirs = source.column[name], released.column[name]
        mine.order = orders.get(name)
        recoding = Recoding(mine, theirs, star, trees.get(name), name)
        place = places(theirs.values, na)
        stays = np.array([place.get(publishes(text, na), -1) for text in _shown(mine, texts.get(name))] or [-1], dtype=np.int64)
        code = stays[mine.codes[combination]]
        given = replaced[name]
        if given:
            instead = np.full(max(int(form.max(initial=0)), *given) + 1, -2, dtype=np.int64)
            instead[list(given)] = [place.get(publishes(text, na), -1) for text in given.values()]
            code = np.where(instead[form] > -2, instead[form], code)
            is_star = np.append(recoding.is_star[: len(theirs.values)], False)  # of code -1
            stars[name] = int(rows[(instead[form] > -2) & is_star[code]].sum())
        pairs = np.unique(mine.codes[combination].astype(np.int64) * (len(theirs.values) + 1) + code + 1)
        for pair in pairs.tolist():
            a, b = divmod(pair, len(theirs.values) + 1)
            if b and not recoding.admits(a, b - 1):
                faults.append(f"column {name!r}: {shown_as(theirs.values[b - 1])} stands for {shown_as(mine.values[a])}")
        # All combinations that are said to be one show the same where their values stay.
        faults += _interchangeable(stays[mine.codes], cell_of, name)
        there.append(code)
        here.append(theirs.codes.astype(np.int64))
        stars.setdefault(name, 0)
    for name in targets:
        mine, theirs = source.column[name], released.column[name]
        shown = _shown(mine, texts.get(name))
        alike = merge_alike([*shown, *theirs.values]).astype(np.int64)
        first, second = alike[: len(shown)], alike[len(shown) :]
        faults += _interchangeable(first[mine.codes], cell_of, name)
        there.append(first[mine.codes[combination]])
        here.append(second[theirs.codes])
    faults += _balanced(source, released, said, cell_of, there, here)
    whose = [(name, released.column[name]) for name in targets]
    groups, smallest, largest, found = group_faults(released.rows, [released.column[name] for name in qi], whose, l, k)
    faults += found
    return Verdict(
        faults[:20], list(qi), list(targets), list(unchanged), list(dropped), m, groups, l, k, largest if targets else 0, smallest, stars, False
    )


def _shown(column: PublishedColumn, texts: tuple[Sequence[str | None], NDArray[np.int32]] | None) -> list[Any]:
    """What each distinct value of a column is said to show."""
    if texts is None:
        return list(column.values)
    some = np.full(len(column.values), -1, dtype=np.int64)
    some[column.codes] = np.arange(len(column.codes))
    text, code = texts
    return [text[code[k]] if k >= 0 else None for k in some]


def publishes(value: Any, na: str | None) -> str | None:
    """The text of a published value."""
    if missing(value):
        return na
    if isinstance(value, (float, np.floating)):
        value = value + type(value)(0)
    return text_of_cell(value)


def places(values: Sequence[Any], na: str | None) -> dict[str | None, int]:
    """Where each value stands; missing values and other texts are two, but for the text that means a missing one."""
    found: dict[str | None, int] = {}
    for code, value in enumerate(values):
        found.setdefault(publishes(value, na), code)
    return found


def _interchangeable(shown: NDArray[np.int64], cell_of: NDArray[np.int32], name: str) -> list[str]:
    if not len(cell_of):
        return []
    low = np.full(int(cell_of.max()) + 1, np.iinfo(np.int64).max)
    high = np.full(len(low), -1, dtype=np.int64)
    np.minimum.at(low, cell_of, shown)
    np.maximum.at(high, cell_of, shown)
    bad = int(np.count_nonzero(low < high))
    return [f"column {name!r}: {bad:,} cells hold values that are told apart"] if bad else []


def _balanced(
    source: _Counted, released: _Counted, said: Any, cell_of: NDArray[np.int32], there: list[NDArray[np.int64]], here: list[NDArray[np.int64]]
) -> list[str]:
    """Every row that was read is said to be somewhere, what is said to be there is there, and what else is published of those rows is the same."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    combination, _, rows = said
    cells = int(cell_of.max(initial=-1)) + 1
    held = np.zeros(cells, dtype=np.int64)
    np.add.at(held, cell_of, source.rows)
    given = np.zeros(cells, dtype=np.int64)
    np.add.at(given, cell_of[combination], rows)
    faults = []
    if not np.array_equal(held, given):
        faults.append(f"the rows of {int(np.count_nonzero(held != given)):,} cells are not all released once")
    if any((code < 0).any() for code in there):
        faults.append("a value that should be published is nowhere in what was written")
        return faults
    claimed = len(combination)
    both = _joint([np.concatenate([a, b]) for a, b in zip(there, here, strict=True)], claimed + len(released.rows))
    kind = np.unique(both, return_inverse=True)[1].ravel()
    kinds = int(kind.max(initial=-1)) + 1
    wanted, found = np.zeros(kinds, dtype=np.int64), np.zeros(kinds, dtype=np.int64)
    np.add.at(wanted, kind[:claimed], rows)
    np.add.at(found, kind[claimed:], released.rows)
    if not np.array_equal(wanted, found):
        wrong = int(np.count_nonzero(wanted != found))
        faults.append(
            f"{wrong:,} kinds of rows are written more or less often than they were read: the source changed meanwhile, or the file is damaged"
        )
        return faults
    edges = coo_array((np.ones(claimed, dtype=bool), (cell_of[combination], cells + kind[:claimed])), shape=(cells + kinds,) * 2)
    parts, part = connected_components(edges, directed=False)
    read, written = np.zeros(parts, dtype=np.uint64), np.zeros(parts, dtype=np.uint64)
    np.add.at(read, part[cell_of], source.mark)
    np.add.at(written, part[cells + kind[claimed:]], released.mark)
    if not np.array_equal(read & MODULUS, written & MODULUS):
        faults.append(
            "columns that are neither quasi-identifiers nor sensitive are not what they were: the source changed meanwhile, or the file is damaged"
        )
    return faults


def group_faults(
    rows: NDArray[np.int64], qi: Sequence[PublishedColumn], targets: Sequence[tuple[str, PublishedColumn]], l: int, k: int
) -> tuple[int, int, int, list[str]]:
    """QI-groups, the least size, the largest l that holds, and what is wrong with them; of combinations with `rows` rows each."""
    if not len(rows):
        return 0, 0, 0, []
    group = np.unique(_joint([column.codes for column in qi], len(rows)), return_inverse=True)[1].ravel()
    groups = int(group.max()) + 1
    size = np.zeros(groups, dtype=np.int64)
    np.add.at(size, group, rows)
    largest, faults = int(size.max()), []
    for name, column in targets:
        value = merge_alike(column.values).astype(np.int64)[column.codes]
        pair, inverse = np.unique(_joint([group, value], len(group)), return_inverse=True)
        count = np.zeros(len(pair), dtype=np.int64)
        np.add.at(count, inverse.ravel(), rows)
        of_pair = np.zeros(len(pair), dtype=np.int64)
        of_pair[inverse.ravel()] = group
        height = np.zeros(groups, dtype=np.int64)
        np.maximum.at(height, of_pair, count)
        largest = min(largest, int((size // height).min()))
        bad = np.flatnonzero(size // l < height)
        if len(bad):
            g = int(bad[0])
            row = int(np.flatnonzero((group == g) & (count[inverse.ravel()] == height[g]))[0])
            where = ", ".join(shown_as(x.value_at(row)) for x in qi)
            faults.append(
                f"{where}: {height[g]:,} of {size[g]:,} rows have {name}={shown_as(column.value_at(row))}, more than 1/{l}; "
                f"{len(bad):,} groups are not {l}-diverse"
            )
    if int(size.min()) < k:
        faults.append(f"a group has {int(size.min()):,} rows, fewer than {k}")
    return groups, int(size.min()), largest, faults


def require(verdict: Verdict) -> Verdict:
    """The verdict itself where it is a good one.

    Raises
    ------
    UnsafeReleaseError
    """
    if not verdict:
        raise UnsafeReleaseError(f"the written release is withheld, {verdict}")
    return verdict
