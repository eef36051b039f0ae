"""Tables that are queries, a DuckDB relation or a polars LazyFrame: their rows go from file to file, and never through this process as a table."""

from __future__ import annotations

import re
import tempfile
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ldiv.asking import Asked
from ldiv.engines.cells import columns_of
from ldiv.engines.files import bytes_of_memory, run
from ldiv.engines.frames import Apart
from ldiv.engines.sources import Sources
from ldiv.errors import InputError
from ldiv.release.release import Release

__all__ = ["anonymize_query", "is_query"]

SIMPLE = re.compile(  # what Parquet gives back as it was, as DuckDB and polars name it
    r"u?(tiny|small|big)int|u?integer|u?int(8|16|32|64)|float(32|64)?|double|bool(ean)?|varchar|string|date|timestamp|decimal.*"
    r"|datetime\(time_unit='us', time_zone=none\)"
)
_folders: list[tempfile.TemporaryDirectory[str]] = []  # removed when the process ends: what is given back reads them


def is_query(frame: Any) -> bool:
    """Whether that is a query of DuckDB or polars, without importing them."""
    kind = type(frame)
    return (kind.__module__.split(".")[0].lstrip("_"), kind.__name__) in (("duckdb", "DuckDBPyRelation"), ("polars", "LazyFrame"))


def anonymize_query(asked: Asked, frame: Any) -> Release | None:
    """The release of a query by DuckDB; None where rows are needed here: for persons, an order that is kept, types that Parquet does not give back.

    The query runs once, into a Parquet file, so that what is counted is what is written; what comes back is a query of the same kind over the released
    file, which goes when the process ends.
    """
    lazy = hasattr(frame, "collect_schema")
    if find_spec("duckdb") is None or asked.unit is not None or (lazy and asked.order == "keep" and not asked.shuffle):
        return None
    types = dict(frame.collect_schema()) if lazy else dict(zip(frame.columns, frame.types, strict=True))
    asked = replace(asked, order="random")  # a relation has none to keep
    try:
        qi, targets, rest = columns_of(list(types), asked)
    except InputError:  # said where all of the table is looked at
        return None
    if not all(SIMPLE.fullmatch(str(types[x]).lower()) for x in [*qi, *targets, *rest]) or any(x not in [*qi, *targets] for x in asked.coarsen or {}):
        return None
    folder = tempfile.TemporaryDirectory(prefix="ldiv-")
    source, target = (str(Path(folder.name) / f"{name}.parquet") for name in ("source", "released"))
    try:
        (frame.sink_parquet if lazy else frame.write_parquet)(source)
        done = run(Sources.of(source), target, asked, engine="duckdb", memory_limit=bytes_of_memory(None), spill=folder.name)
        Path(source).unlink()
    except BaseException:
        folder.cleanup()
        raise
    _folders.append(folder)
    verdict, none = done.verdict, np.zeros((0, len(qi)))
    apart = Apart(_reading(lazy, target), verdict, None, {}, verdict.unchanged, verdict.dropped, none.astype(np.int32), none.astype(bool))
    return replace(done.release, star=asked.star, publication=apart)


def _reading(lazy: bool, path: str) -> Any:
    """The released file as a query of that kind."""
    if lazy:
        import polars

        return polars.scan_parquet(path)
    import duckdb

    return duckdb.read_parquet(path)
