"""Memory: the whole table at once, as :func:`ldiv.anonymize` takes it; files are read before and written after."""

from __future__ import annotations

from typing import Any

import numpy as np

from ldiv.asking import Asked
from ldiv.engines.sources import Sources
from ldiv.engines.target import Place
from ldiv.errors import InputError
from ldiv.privacy.verify import Verdict, verify
from ldiv.release.publish import texts_above
from ldiv.release.release import Release
from ldiv.table.files import open_table, read_table, require_distinct_missing, write_table

__all__ = ["held", "write_held"]

UNBOUNDED = 1 << 62


def held(sources: Sources, names: Any) -> Any:
    """The whole table."""
    delimiter = sources.delimiter if sources.is_text else None
    if sources.is_text and len(sources.files) > 1:
        import pyarrow as pa

        parts = [read_table(name, delimiter=delimiter, names=names, na=sources.na, unpack_limit=UNBOUNDED) for name in sources.files]
        return pa.concat_tables(parts)
    files = sources.files if not sources.hive else sources.given
    na = sources.na if sources.is_text else None
    return open_table(list(files), delimiter=delimiter, names=names, na=na, unpack_limit=UNBOUNDED).table


def write_held(sources: Sources, table: Any, names: Any, asked: Asked, place: Place) -> tuple[Release, Verdict]:
    """The release of a table in memory, written and held against it row by row."""
    if asked.order == "keep" and place.file is None:
        raise InputError("a folder holds rows in no order: order must be 'random'")
    release = asked.anonymize(table)
    publication = release.publication
    assert publication is not None
    path = place.folder / (place.file or "part-0.parquet")
    is_text = place.kind != "parquet"
    if is_text and not sources.is_text:
        require_distinct_missing(table, [*publication.verdict.qi, *publication.verdict.sensitive], sources.na)
    write_table(publication.frame, path, delimiter=sources.delimiter if sources.is_text and is_text else None, header=sources.header, na=sources.na)
    shown = None if names is None or not is_text else [name for name in names if name not in publication.dropped]
    delimiter = sources.delimiter if sources.is_text and is_text else None
    written = read_table(path, delimiter=delimiter, names=shown, na=sources.na if is_text else None, unpack_limit=UNBOUNDED)
    trees, orders = texts_above(release.contingency.domains, asked.hierarchies)
    verdict = verify(
        table,
        written,
        publication.verdict.qi,
        publication.verdict.sensitive or None,
        release.l,
        k=release.k,
        star=asked.star,
        hierarchies=trees,
        orders=orders,
        rows=np.arange(release.n) if publication.rows is None else publication.rows,
        unit=asked.unit,
    )
    return release, verdict
