"""A DataFrame of Spark in, one out: nothing of it is collected but the combinations of values that are asked about."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ldiv.asking import Asked
from ldiv.engines.cells import columns_of, judged, planned_cells
from ldiv.engines.files import bytes_of_memory
from ldiv.engines.pushed import Pushed, can_push
from ldiv.engines.pushed_verdict import Expected, judge_pushed
from ldiv.engines.room import TooManyError
from ldiv.engines.spark import Spark, errors
from ldiv.engines.verdict import require
from ldiv.errors import InputError
from ldiv.privacy.disclosure import PassingColumn
from ldiv.release.publication import Publication
from ldiv.release.release import Release

__all__ = ["Apart", "anonymize_frame"]

KEYS = ("tinyint", "smallint", "int", "bigint", "boolean", "string", "float", "double", "date", "decimal", "timestamp_ntz")


@dataclass(frozen=True, eq=False, repr=False)
class Apart(Publication):
    """A released table that lies elsewhere: it was verified by counts, and what its other columns tell of stars was not measured."""

    @property
    def passing(self) -> list[PassingColumn]:
        """Nothing: columns that are published as they are were not measured."""
        return []

    def in_short(self) -> list[str]:
        names = ", ".join(map(repr, self.untouched))
        return [f"published as they are, and what they tell of stars was not measured: {names}"] if self.untouched else []


def anonymize_frame(asked: Asked, frame: Any) -> Release:
    """The release of a DataFrame of Spark; ``release.frame`` is one of the same session, persisted, its rows in an order of what is published.

    Raises
    ------
    InputError, NotEligibleError, UnsafeReleaseError
        As :func:`ldiv.anonymize`; a column of a type that cannot be a quasi-identifier or sensitive here.
    """
    columns = list(frame.columns)
    if len(set(columns)) < len(columns):
        raise InputError(f"column name {next(x for x in columns if columns.count(x) > 1)!r} stands twice in the table: rename one of them")
    if asked.unit is not None:
        raise InputError("unit= needs the rows of each person together: collect the table first")
    qi, targets, rest = columns_of(columns, asked)
    kinds = dict(frame.dtypes)
    for name in [*qi, *targets]:
        if kinds[name].partition("(")[0] not in KEYS:
            raise InputError(f"column {name!r} of type {kinds[name]} cannot be a quasi-identifier or sensitive: turn it into text first")
    for name in rest:
        if "map<" in kinds[name] or "variant" in kinds[name]:
            raise InputError(f"column {name!r} of type {kinds[name]} has no digest: turn it into text, or drop= it")
    marked = [*(name for name in targets if name not in (asked.coarsen or {})), *rest]
    keys = [*qi, *targets]
    with Spark(frame.sparkSession, frame, bytes_of_memory(None)) as worker:
        pushed = None
        try:
            counts = worker.count(keys, marked, False)
            release, plan = planned_cells(asked, counts, columns, targets, False)
        except TooManyError:
            if not can_push(asked, targets):
                raise
            pushed = Pushed(worker, asked, qi, targets)
            expected = Expected(pushed)
            release, plan, counts = pushed.plan(columns, False)
        with errors():
            published = worker.ordered(worker.published(plan), plan, None).persist()
        try:
            query = worker.recounted(published, "parquet", keys, marked)
            if pushed is not None:
                verdict = require(judge_pushed(pushed, query, expected, release, plan, counts, columns, None))
            else:
                verdict = require(judged(worker.counts(query, len(keys)), asked, counts, release, plan, columns))
        except BaseException:
            published.unpersist()
            raise
    none = np.zeros((0, len(qi)))
    apart = Apart(published, verdict, None, {}, plan.rest, verdict.dropped, none.astype(np.int32), none.astype(bool))
    return replace(release, star=asked.star, publication=apart)
