"""What names of folders say of the rows below them: ``town=Rome/part-0.parquet``, as Hive and whatever learnt from it write them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from urllib.parse import unquote_to_bytes

from ldiv.errors import InputError

__all__ = ["are_parts", "values_of_folders"]

MISSING = "__HIVE_DEFAULT_PARTITION__"


def values_of_folders(path: str) -> dict[str, str | None]:
    """By name the value that each folder ``name=value`` above a file holds: text, with ``%20`` and the like decoded, or None where it is missing.

    A folder with a second equal sign says nothing.

    Raises
    ------
    InputError
        Bytes that are no UTF-8.

    Examples
    --------
    >>> values_of_folders("people/year=2020/town=San%20Remo/part-0.parquet")
    {'year': '2020', 'town': 'San Remo'}
    >>> values_of_folders("people/town=__HIVE_DEFAULT_PARTITION__/a=b=c/x=y.parquet")
    {'town': None}
    """
    found: dict[str, str | None] = {}
    for folder in path.replace(os.sep, "/").split("/")[:-1]:
        name, sign, value = folder.partition("=")
        if not name or not sign or "=" in value:
            continue
        try:
            text = unquote_to_bytes(value).decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"{path!r}: the name of the folder {folder!r} is not UTF-8 text") from error
        found[name] = None if text == MISSING else text
    return found


def are_parts(given: Sequence[str], files: Sequence[str]) -> bool:
    """Whether files are parts of one table, of which folders say something, and not one file by its own name."""
    return len(files) > 1 or os.path.isdir(given[0])
