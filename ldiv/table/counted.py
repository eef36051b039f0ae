"""Microdata whose rows are counted: each combination of values once, with the number of rows that have it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv._kernels.cells import tally
from ldiv.arguments import MOST_ROWS
from ldiv.errors import InputError
from ldiv.table.arrays import total, whole
from ldiv.table.contingency import Contingency
from ldiv.table.frames import named, open_frame
from ldiv.table.microdata import Microdata, missing_policy

__all__ = ["Counted"]


@dataclass(frozen=True, eq=False, repr=False)
class Counted(Microdata):
    """A table too large to be held, as the combinations of values in it.

    Its cells are those of the table itself, so that every algorithm makes the same release of both. Several combinations may be one cell: values that
    were coarsened to one, or sensitive values that anyone could take for one.

    Attributes
    ----------
    rows : ndarray of int64, shape (n,)
        How many rows of the table stand behind each row here; at least 1, at most 2**62 together.

    Examples
    --------
    >>> import numpy as np
    >>> table = {"Age": [30, 30, 40], "Disease": ["flu", "cold", "flu"]}
    >>> data = Counted.from_counts(table, np.array([2, 3, 1]), ["Age"], "Disease")
    >>> data.contingency.n, data.contingency.count.tolist()
    (6, [3, 2, 1])
    """

    rows: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def __post_init__(self) -> None:
        super().__post_init__()
        rows = whole(self.rows, "rows", low=1, high=MOST_ROWS, shape=(len(self.narrow),))
        if (together := total(rows)) > MOST_ROWS:
            raise InputError(f"a table may have at most 2**62 rows, not {together:,}")
        self.__dict__["rows"] = rows

    def rows_by_value(self, attribute: int) -> NDArray[np.int64]:
        return tally(np.ascontiguousarray(self.narrow[:, attribute], dtype=np.int32), self.domains[attribute].size, self.rows)

    @cached_property
    def _kinds(self) -> Contingency:
        return Contingency.from_microdata(self)

    @cached_property
    def contingency(self) -> Contingency:
        """The distinct (QI, SA) cells with the rows of the table in them; no row of it is known."""
        kinds = self._kinds
        count = tally(self.cell_of_combination, len(kinds.count), self.rows)
        return Contingency._made(kinds.codes, kinds.indptr, kinds.sensitive, count, self.domains, self.sensitive_domain)

    @cached_property
    def cell_of_combination(self) -> NDArray[np.int32]:
        """Which cell each combination is in, shape (n,)."""
        cell = self._kinds.cell_of_row
        assert cell is not None
        return cell

    @classmethod
    def from_counts(
        cls,
        table: Any,
        rows: NDArray[np.int64],
        qi: Sequence[str],
        sensitive: str | None = None,
        *,
        domains: Mapping[str, Any] | None = None,
        missing: str | Mapping[str, str] | None = None,
    ) -> Counted:
        """From the combinations as a table and their counts; the other parameters are those of :meth:`ldiv.Microdata.from_frame`."""
        source, policy = open_frame(table), missing_policy(missing)
        for role, names in (("qi", named(qi, source.columns, "qi")), ("sensitive", [] if sensitive is None else [sensitive])):
            for name in names if policy[role] == "error" else []:
                codes, labels, _ = source.encode(name)
                if labels and labels[-1] is None:
                    absent = total(rows[codes == len(labels) - 1])
                    what = f"the sensitive column {name!r}" if role == "sensitive" else f"column {name!r}"
                    raise InputError(
                        f'{absent:,} missing values in {what}: remove those rows, or pass missing={{"{role}": "value"}} to treat missing as a value'
                    )
        plain = Microdata.from_frame(source, qi, sensitive, domains=domains, missing=missing, keep=False)
        return cls(plain.narrow, plain.sensitive, plain.domains, plain.sensitive_domain, None, rows)
