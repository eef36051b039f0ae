"""What a check found: the groups that may not be published so, and the verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ldiv.privacy.requirement import promise
from ldiv.table.html import short, table_html

WORST = 10  # violations that a notebook shows

__all__ = ["CheckReport", "Violation", "Violations"]


@dataclass(frozen=True)
class Violation:
    """A QI-group that is not l-eligible, or has fewer than k rows.

    Attributes
    ----------
    group : dict
        The published QI values, by column.
    rows : int
        Size of the group.
    value : object
        Its most frequent sensitive value.
    count : int
        Rows with that value.
    allowed : int
        How many there may be, ``floor(rows / l)``.
    excess : int
        How many too many.
    sensitive : object
        The sensitive column.
    what : {"rows", "persons"}
        What `rows`, `count`, `allowed` and `least` count.
    least : int
        How many rows it must have, k.
    short : int
        How many it lacks.
    """

    group: dict[str, Any]
    rows: int
    value: Any
    count: int
    allowed: int
    sensitive: Any = None
    what: str = "rows"
    least: int = 1

    @property
    def excess(self) -> int:
        return max(self.count - self.allowed, 0)

    @property
    def short(self) -> int:
        return max(self.least - self.rows, 0)

    def __str__(self) -> str:
        where = ", ".join(f"{short(name, 40)}={short(value, 40)}" for name, value in self.group.items())
        many = f"{self.count:,} of {self.rows:,} {self.what} have {short(self.sensitive, 40)}={short(self.value, 40)}, {self.allowed:,} may"
        few = f"{self.rows:,} {self.what} where there must be {self.least:,}"
        return f"{where}: {'; '.join([*([many] if self.excess else []), *([few] if self.short else [])])}"


class Violations(Sequence[Violation]):
    """Violations, worst first, each made when it is looked at: a table whose rows all differ has one a row."""

    def __init__(self, excess: NDArray[np.int64], made: Callable[[int], Violation]) -> None:
        self._order = np.argsort(-excess, kind="stable")
        self._made = made

    def __len__(self) -> int:
        return len(self._order)

    @overload
    def __getitem__(self, at: int) -> Violation: ...
    @overload
    def __getitem__(self, at: slice) -> list[Violation]: ...
    def __getitem__(self, at: int | slice) -> Violation | list[Violation]:
        if isinstance(at, slice):
            return [self._made(int(k)) for k in self._order[at]]
        return self._made(int(self._order[at]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and all(a == b for a, b in zip(self, other, strict=True))

    def __repr__(self) -> str:
        return f"<{len(self):,} violations{f', the worst {short(self[0], 300)}' if len(self) else ''}>"


@dataclass(frozen=True)
class CheckReport:
    """The verdict of :func:`check`; true where the table is l-diverse.

    Attributes
    ----------
    ok : bool
    l : int
    max_l : int
        The largest l for which the table is l-diverse; 0 for a table without rows.
    groups : int
        Number of QI-groups.
    rows : int
    violations : sequence of Violation
        The groups that are not l-eligible, worst first; each is made when it is looked at.
    persons : int, optional
        How many persons the rows belong to, where `unit` said so.
    k : int
        The least size that was asked for.
    smallest : int
        The size of the smallest group, in rows or in persons where these are counted; 0 for a table without rows.
    """

    ok: bool
    l: int
    max_l: int
    groups: int
    rows: int
    violations: Sequence[Violation] = field(repr=False)
    persons: int | None = None
    k: int = 1
    smallest: int = 0

    def __bool__(self) -> bool:
        return self.ok

    def __repr__(self) -> str:
        whose = f" of {self.persons:,} persons" if self.persons is not None else ""
        verdict = (
            promise(self.l, self.k)
            if self.ok
            else f"not {promise(self.l, self.k)}, {len(self.violations):,} violation{'s' if len(self.violations) != 1 else ''}"
        )
        return f"<CheckReport {verdict}: {self.rows:,} rows{whose}, {self.groups:,} groups, {self.holds.replace('l = ', '')}>"

    @property
    def holds(self) -> str:
        """What holds of the table, in words."""
        size = f"smallest group {self.smallest:,}"
        return f"l-diverse up to l = {self.max_l}{f', {size}' if self.k > 1 else ''}" if self.l > 1 or self.k == 1 else size

    def _repr_html_(self) -> str:
        """The verdict and the worst groups, for notebooks."""
        rows = [
            (
                ", ".join(f"{short(name, 20)}={short(value, 20)}" for name, value in v.group.items()),
                v.sensitive if v.excess else "",
                v.value if v.excess else "",
                f"{v.count:,} of {v.rows:,} {v.what}" if v.excess else f"{v.rows:,} {v.what}",
                v.allowed if v.excess else f"{v.least:,} or more",
            )
            for v in self.violations[:WORST]
        ]
        more = len(self.violations) - len(rows)
        return table_html(
            f"{'yes' if self.ok else 'no'}: {self.holds}, asked {f'k = {self.k}' if self.l == 1 < self.k else self.l}; {self.rows:,} rows, {self.groups:,} groups",
            ["group", "sensitive", "value", "have it", "allowed"] if rows else [],
            rows,
            f"and {more:,} more" if more else "",
        )
