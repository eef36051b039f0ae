"""The release against its source, from what is published alone: trusts nothing, and shares no code with what makes releases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.errors import InputError, MissingColumnError
from ldiv.privacy.verify.cells import shown_as
from ldiv.privacy.verify.groups import judge_groups, judge_persons
from ldiv.privacy.verify.matching import match_rows
from ldiv.privacy.verify.published import PublishedTable
from ldiv.privacy.verify.recoding import Recoding
from ldiv.table.frames import named
from ldiv.table.text import is_missing, merge_alike

__all__ = ["Verdict", "verify"]

MOST_FAULTS = 20
LONGEST = 400  # of a repr


@dataclass(frozen=True, repr=False)
class Verdict:
    """What :func:`verify` found; true where the release is one of its source and l-diverse.

    Attributes
    ----------
    faults : list of str
        What is wrong, by column and row; empty for a good release.
    qi, sensitive : list
        The columns that were judged.
    unchanged, dropped : list
        Other columns of the source: published as they are, and left out.
    rows, groups : int
    l, k : int
        What was asked for.
    max_l, smallest : int
        The largest l that holds in every group, of the sensitive column that is worst (0 where there is none), and the smallest group; 0 without rows.
    stars_by_attribute : dict
        Starred cells of each QI column.
    in_order : bool
        Whether row i of the release is row i of the source; else the rows were matched, or `rows` said which is which.
    persons : int, optional
        How many persons the rows belong to, where `unit` said so; `max_l` and `smallest` then hold for persons, too.
    """

    faults: list[str]
    qi: list[Any]
    sensitive: list[Any]
    unchanged: list[Any]
    dropped: list[Any]
    rows: int
    groups: int
    l: int
    k: int
    max_l: int
    smallest: int
    stars_by_attribute: dict[Any, int] = field(default_factory=dict)
    in_order: bool = True
    persons: int | None = None

    @property
    def stars(self) -> int:
        """Starred cells."""
        return sum(self.stars_by_attribute.values())

    def __bool__(self) -> bool:
        return not self.faults

    def __repr__(self) -> str:
        text = str(self)
        return f"<Verdict {text if len(text) <= LONGEST else f'{text[: LONGEST - 3]}...'}>"

    def __str__(self) -> str:
        what = f"sensitive {', '.join(map(str, self.sensitive))}" if self.sensitive else f"no sensitive column, k = {self.k:,}"
        judged = f"QI {', '.join(map(str, self.qi))}; {what}"
        if self.faults:
            return f"no ({judged}): " + "; ".join(self.faults)
        order = "in their order" if self.in_order else "in another order"
        return (
            f"yes ({judged}): {self.rows:,} rows {order}, {self.groups:,} QI-groups, {f'l-diverse up to {self.max_l}, ' if self.sensitive else ''}"
            f"smallest group {self.smallest:,}{'' if self.persons is None else f' of {self.persons:,} persons'}, {self.stars:,} stars"
        )


def verify(
    source: Any,
    released: Any,
    qi: Sequence[Any],
    sensitive: Any = None,
    l: int | None = None,
    *,
    k: int = 1,
    star: str | None = "*",
    hierarchies: Mapping[Any, Any] | None = None,
    orders: Mapping[Any, Sequence[Any]] | None = None,
    rows: NDArray[np.integer] | None = None,
    reading: Mapping[str, Any] | None = None,
    unit: Any = None,
) -> Verdict:
    """Whether `released` is a truthful, l-diverse release of `source`.

    Every row of the source is there once; QI cells are the source's, a star, or a sub-domain that holds the source's value; other columns
    are unchanged (or left out); in every group of rows with equal published QI values at most 1/l share a sensitive value.

    Parameters
    ----------
    source, released : tables or paths
        Any table that :func:`ldiv.anonymize` takes, or a CSV or Parquet file. `source` is the table as it was given, or as it was coarsened.
    qi : sequence of columns
    sensitive : column or sequence of columns, optional
        Each is judged by itself; of none only k.
    l : int
        Left out where there is no sensitive column.
    k : int, default 1
        The least size of a group.
    star : str or None
        What a suppressed cell shows; None for a null.
    hierarchies : mapping of column to tree, optional
        Rows (value first), nested dicts or files of hierarchies whose texts may stand in place of values.
    orders : mapping of column to values in order, optional
        For ranges of an attribute whose order is not that of its values; ordered categories bring theirs.
    rows : ndarray of int, shape (n,), optional
        Which row of the source each released row claims to be. Default: the same order, or else any order in which every released row
        finds a source row of its own.
    reading : mapping, optional
        Options for reading files, as :func:`ldiv.table.files.read_table` takes them.
    unit : column, optional
        Which person a row belongs to: in every group at most 1/l of the persons may share a sensitive value, too, where one counts once for each
        value that its rows hold, and `k` counts persons. Where the column was left out of the release, the source's rows say who is who.

    Returns
    -------
    Verdict
        Truthy where all holds; ``.faults`` says what does not.

    Raises
    ------
    InputError
        Columns that are in neither table, or files that cannot be read.

    Notes
    -----
    Sensitive values count as one where anyone could take them as one, published QI values are told apart as finely as anyone could. O(n d) with
    the rows in order; in another order a maximum flow decides, exactly, whether the rows can be matched.

    Examples
    --------
    >>> import ldiv
    >>> source = {"Age": [30, 30, 40, 50], "Disease": ["flu", "cold", "flu", "cough"]}
    >>> released = {"Age": ["30", "30", "*", "*"], "Disease": ["flu", "cold", "flu", "cough"]}
    >>> print(ldiv.verify(source, released, ["Age"], "Disease", 2))
    yes (QI Age; sensitive Disease): 4 rows in their order, 2 QI-groups, l-diverse up to 2, smallest group 2, 2 stars
    >>> print(ldiv.verify(source, {**released, "Age": ["30", "30", "30", "*"]}, ["Age"], "Disease", 2))
    no (QI Age; sensitive Disease): row 2, column 'Age': '30' is published where the source has 40; ...
    """
    if l is None and sensitive is None:
        l = 1
    for name, value in (("l", l), ("k", k)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
            raise InputError(f"{name} must be a whole number of at least 1, not {value!r}")
    assert l is not None
    if star is not None and not isinstance(star, str):
        raise InputError(f"star must be text or None, not {star!r}")
    for name, given in (("hierarchies", hierarchies), ("orders", orders), ("reading", reading)):
        if given is not None and not isinstance(given, Mapping):
            raise InputError(f"{name} must be a mapping, not {type(given).__name__}")
    before, after = PublishedTable(source, reading), PublishedTable(released, reading)
    qi = named(qi, before.names, "qi")
    targets = [] if sensitive is None else named(sensitive, before.names, "sensitive")
    for name in [*qi, *targets]:
        for table in (before, after):
            if name not in table.names:
                raise MissingColumnError(name, table.names)
    if not qi or not (targets or l == 1 < k):
        raise InputError("name at least one quasi-identifier, and one sensitive column, or a least size of groups k=")
    if unit is not None and unit not in before.names:
        raise InputError(f"unit: {MissingColumnError(unit, before.names)}")
    if unit is not None and (unit in qi or unit in targets):
        raise InputError(f"unit: column {unit!r} cannot be a quasi-identifier or sensitive: it says whose a row is")
    others = [name for name in before.names if name not in qi and name not in targets]
    unchanged, dropped = [n for n in others if n in after.names], [n for n in others if n not in after.names]
    faults = [f"column {name!r} is not in the source" for name in after.names if name not in before.names]
    column = {name: after.read(name) for name in [*qi, *targets]}
    stars: dict[Any, int] = dict.fromkeys(qi, 0)
    in_order = rows is None or np.array_equal(rows, np.arange(before.rows))
    if after.rows != before.rows:
        faults.append(f"{after.rows:,} rows are published, the source has {before.rows:,}")
    else:
        for name, order in (orders or {}).items():
            if name in before.names:
                before.read(name).order = order
        recoded = {name: Recoding(before.read(name), column[name], star, (hierarchies or {}).get(name), name) for name in qi}
        rest = [name for name in [*targets, *unchanged] if not (rows is None and before.same(after, name))]
        same = {name: Recoding(before.read(name), column[name] if name in column else after.read(name), False, None, name) for name in rest}
        place = None if rows is None else np.asarray(rows)
        if place is not None and not np.array_equal(np.sort(place), np.arange(before.rows)):
            raise InputError("rows must name every row of the source once")
        found = [fault for one in [*same.values(), *recoded.values()] for fault in one.faults(place)]
        if found and place is None:
            rest = [name for name in [*targets, *unchanged] if name not in same]
            same |= {name: Recoding(before.read(name), after.read(name), False, None, name) for name in rest}
            problem = match_rows(list(same.values()), list(recoded.values()))
            in_order = problem is not None
            found = [*found[: MOST_FAULTS - 1], problem] if problem else []
        faults += found
        stars = {name: one.stars(place) for name, one in recoded.items()}
    judged = [column[name] for name in qi], [column[name] for name in targets]
    found_groups = {"rows": judge_groups(*judged)}
    persons = None
    if unit is not None and after.rows == before.rows:
        person = _whose(before, after, unit, np.arange(before.rows) if in_order else rows)
        persons = len(np.unique(person))
        found_groups["persons"] = judge_persons(*judged, person)
    for what, (_, _, largest) in found_groups.items():
        if after.rows and largest[0] < l:
            g, size, height, which, value = largest[1]
            where = ", ".join(f"{name}={shown_as(column[name].value_at(g))}" for name in qi)
            faults.append(
                f"{where}: {height:,} of {size:,} {what} have {targets[which]}={shown_as(value)}, more than 1/{l}; "
                f"{largest[2]:,} groups are not {l}-diverse"
            )
    groups, smallest, _ = list(found_groups.values())[-1]
    if after.rows and smallest < k:
        faults.append(f"a group has {smallest:,} {list(found_groups)[-1]}, fewer than {k}")
    largest_l = min(largest[0] for _, _, largest in found_groups.values()) if targets else 0
    return Verdict(
        faults[:MOST_FAULTS], qi, targets, unchanged, dropped, after.rows, groups, int(l), int(k), largest_l, smallest, stars, in_order, persons
    )


def _whose(before: PublishedTable, after: PublishedTable, unit: Any, rows: Any) -> NDArray[np.int64]:
    """The person of each released row, as anyone could tell persons apart least: numbers that print alike are one."""
    there = unit in after.names
    if not there and rows is None:
        raise InputError(f"unit: column {unit!r} is not in the release, whose rows are in another order: who is who cannot be told")
    column = after.read(unit) if there else before.read(unit)
    if any(is_missing(column.values[code]) for code in np.unique(column.codes)):
        raise InputError(f"unit: column {unit!r} has missing values: say whose these rows are")
    person = merge_alike(column.values).astype(np.int64)[column.codes] if column.values else column.codes
    return person if there else person[np.asarray(rows)]
