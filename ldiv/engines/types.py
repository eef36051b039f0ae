"""Which types of columns an engine gives back as memory does, from files to files; what it does not is refused before anything is read.

A type counts as a Parquet file has it: text is text, whether Arrow holds it large, as a view or as a dictionary of words.
"""

from __future__ import annotations

from typing import Any

from ldiv.errors import InputError

__all__ = ["AS_IT_IS", "AS_TEXT", "KEYS", "require_comes_back", "same_as_text"]

SIGNED, UNSIGNED = ("int8", "int16", "int32", "int64"), ("uint8", "uint16", "uint32", "uint64")
KEYS = {  # as a quasi-identifier, or sensitive
    "duckdb": (*SIGNED, *UNSIGNED, "bool", "text", "float", "double", "date32", "decimal128", "timestamp[us]", "timestamp[ns]", "timestamp[us, UTC]"),
    "spark": (*SIGNED, "bool", "text", "float", "double", "date32", "decimal128", "timestamp[us]"),
}
AS_IT_IS = {  # beside them
    "duckdb": (*KEYS["duckdb"], "bytes", "list", "struct", "null"),
    "spark": (*KEYS["spark"], "bytes", "list", "struct"),
}
AS_TEXT = (*SIGNED, *UNSIGNED, "bool", "text", "float", "double", "date32", "decimal128", "timestamp[us]")  # beside them, from Parquet to text


def require_comes_back(engine: str, name: str, kind: Any, *, named: bool, to_text: bool) -> None:
    """Refuse a column that would not come back as it is.

    Parameters
    ----------
    engine : {"duckdb", "spark"}
    name : str
    kind : pyarrow.DataType
    named : bool
        Whether it is a quasi-identifier or sensitive.
    to_text : bool
        Whether it goes from Parquet into a text file.

    Raises
    ------
    InputError
    """
    allowed = KEYS[engine] if named else AS_TEXT if to_text else AS_IT_IS[engine]
    if all(part in allowed for part in _parts(kind)):
        return
    where = "as text" if to_text and not named else "as it is"
    raise InputError(
        f"column {name!r} of type {kind} would not come back from engine {engine!r} {where}: {_instead(kind)}, drop= it, or use engine='memory'"
    )


def same_as_text(kind: Any) -> bool:
    """Whether every way to print a value gives one text."""
    import pyarrow as pa

    return _is_text(kind) or pa.types.is_integer(kind)


def _parts(kind: Any) -> list[str]:
    """A type and those it is made of, by the names above; what has none there by Arrow's."""
    import pyarrow as pa

    is_of = pa.types
    if is_of.is_dictionary(kind):
        return _parts(kind.value_type) if _is_text(kind.value_type) else [str(kind)]
    if _is_text(kind):
        return ["text"]
    if is_of.is_binary(kind) or is_of.is_large_binary(kind):
        return ["bytes"]
    if is_of.is_timestamp(kind):
        return [f"timestamp[{kind.unit}{', ' * (kind.tz is not None)}{kind.tz or ''}]"]
    if is_of.is_decimal128(kind):
        return ["decimal128"]
    if is_of.is_list(kind):
        return ["list", *_parts(kind.value_type)]
    if is_of.is_struct(kind):
        return ["struct", *(part for field in kind for part in _parts(field.type))]
    return [{"halffloat": "float16", "date32[day]": "date32"}.get(str(kind), str(kind))]


def _is_text(kind: Any) -> bool:
    return str(kind) in ("string", "large_string", "string_view")


def _instead(kind: Any) -> str:
    """What a column can be turned into."""
    import pyarrow as pa

    if pa.types.is_timestamp(kind) and kind.tz is None:
        return "turn it into timestamp[us]"
    if pa.types.is_integer(kind):
        return "turn it into int64, or decimal"
    return "turn it into text"
