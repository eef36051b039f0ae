"""Columns to codes: each distinct value once, in sorted order, a missing one last; told apart by type, equality and text."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.errors import InputError
from ldiv.table.text import is_missing, text_of

__all__ = ["Encoded", "compress", "encode_arrow_text", "encode_objects", "encode_sortable", "plus_zero"]

Encoded = tuple[NDArray[np.int32], list[Any], bool]  # codes, labels (None last for missing), whether their order means something
PLAIN = (str, int, bool, bytes)  # equal values of these types print alike


def encode_arrow_text(column: Any) -> Encoded | None:
    """Codes of text by Arrow's dictionaries, many times faster than by value; None where Arrow is not there or cannot hold the text."""
    try:
        import pyarrow as pa
    except ImportError:
        return None
    try:
        column = column.to_arrow().cast(pa.large_string()).dictionary_encode()
    except (pa.ArrowException, UnicodeError):
        return None
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    values = column.dictionary.to_pylist()
    order = sorted(range(len(values)), key=values.__getitem__)
    rank = np.empty(len(values) + 1, dtype=np.int32)
    rank[order] = np.arange(len(values), dtype=np.int32)
    rank[len(values)] = len(values)  # a missing one
    codes = rank[column.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)]
    labels: list[Any] = [values[k] for k in order]
    return codes, [*labels, None] if column.null_count else labels, False


def encode_sortable(values: NDArray[Any], missing: NDArray[np.bool_], ordered: bool) -> Encoded:
    """Codes of a numpy array whose values sort: numbers, dates, fixed-width text."""
    present = plus_zero(values[~missing] if missing.any() else values)
    if present.dtype.kind in "iu" and len(present):
        low, high = int(present.min()), int(present.max())
        if high - low < max(1 << 16, 2 * len(present)):  # a table by value, instead of a sort of all rows
            # Differences in the column's own type, or in 64 bits where that has a sign: beyond 2**63 there are none with one.
            offset = (present - present.dtype.type(low)).astype(np.int64) if low >= 0 else present.astype(np.int64) - low
            seen = np.bincount(offset, minlength=high - low + 1) > 0
            distinct: NDArray[Any] = np.flatnonzero(seen).astype(np.uint64 if low >= 0 else np.int64) + (np.uint64(low) if low >= 0 else low)
            inverse = (np.cumsum(seen) - 1)[offset]
        else:
            distinct, inverse = np.unique(present, return_inverse=True)
    else:
        distinct, inverse = np.unique(present, return_inverse=True)
    labels = list(distinct) if distinct.dtype.kind in "mM" else distinct.tolist()
    if distinct.dtype in (np.float16, np.float32):  # the number that is printed, not the float of 64 bits beside it
        labels = [float(str(value)) for value in distinct]
    if not missing.any():
        return inverse.astype(np.int32), labels, ordered
    codes = np.full(len(values), len(labels), dtype=np.int32)
    codes[~missing] = inverse
    return codes, [*labels, None], ordered


def encode_objects(values: list[Any], name: Any) -> Encoded:
    """Codes of arbitrary Python values. Values are one only if their type, they themselves and their text are: 1, True and 1.0 stay apart, and so do
    Decimal 1.10 and 1.1, 0.0 and -0.0, one instant with two offsets, which are equal and print apart."""
    codes = np.empty(len(values), dtype=np.int32)
    seen: dict[Any, int] = {}
    labels: list[Any] = []
    absent = []
    for row, value in enumerate(values):
        kind = type(value)
        try:
            if kind in PLAIN:
                key: Any = (kind, value)
            elif is_missing(value):
                absent.append(row)
                continue
            else:
                key = (kind, text_of(value), value)
            code = seen.setdefault(key, len(labels))
        except TypeError as error:
            raise InputError(f"column {name!r}, row {row}: a {kind.__name__} cannot be a single value of an attribute") from error
        if code == len(labels):
            labels.append(value)
        codes[row] = code
    names = [type(label).__name__ for label in labels]
    try:
        order = sorted(range(len(labels)), key=lambda k: (names[k], labels[k]))
    except TypeError:  # a type without an order
        order = sorted(range(len(labels)), key=lambda k: (names[k], text_of(labels[k])))
    place = np.empty(len(labels) + 1, dtype=np.int32)
    place[order] = np.arange(len(labels), dtype=np.int32)
    place[len(labels)] = len(labels)
    codes[absent] = len(labels)
    found = [labels[k] for k in order]
    ordered = len(set(names)) == 1 and hasattr(found[0], "__sub__") and not isinstance(found[0], (set, frozenset))  # distances: numbers, dates
    return place[codes], [*found, None] if absent else found, ordered


def compress(positions: NDArray[np.int64], categories: list[Any], order: list[int], ordered: bool) -> Encoded:
    """Codes in the given order of categories, those not seen left out; position -1 is missing."""
    used = np.bincount(positions[positions >= 0], minlength=len(categories)) > 0
    order = [k for k in order if used[k]]
    place = np.full(len(categories) + 1, len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    labels = [categories[k] for k in order]
    return place[positions], [*labels, None] if (positions < 0).any() else labels, ordered


def plus_zero(values: NDArray[Any]) -> NDArray[Any]:
    """-0.0 becomes 0.0: in a column of numbers they are one value, and published as one."""
    return values + values.dtype.type(0) if values.dtype.kind in "fc" else values
