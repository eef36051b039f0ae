"""What a file holds: told by the ending of its name, or by its first bytes where it is a pipe and has no ending."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath

from ldiv.errors import InputError

__all__ = ["ENDINGS", "Format", "format_of_bytes", "format_of_name"]

KINDS = {".csv": "csv", ".tsv": "tsv", ".parquet": "parquet", ".pq": "parquet", ".xlsx": "xlsx"}
PACKED = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
ENDINGS = ".csv, .tsv (both also with .gz, .zst or .bz2 after it), .parquet, .pq, .xlsx"
MAGIC = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PAR1": "parquet",
    b"PK\x03\x04": "xlsx",
    **{b"BZh%d" % level + block: "bz2" for level in range(1, 10) for block in (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90")},  # the second is empty
}


@dataclass(frozen=True)
class Format:
    """What a file holds.

    Attributes
    ----------
    kind : {"csv", "tsv", "parquet", "xlsx"}
    compression : {"gzip", "zstd", "bz2"} or None
        Of a text file; Parquet and workbooks compress inside.
    """

    kind: str
    compression: str | None = None

    @property
    def is_text(self) -> bool:
        """Whether its values are text: the columns of such a file have no types."""
        return self.kind in ("csv", "tsv")

    @property
    def delimiter(self) -> str:
        """The field separator, unless another is asked for."""
        return "\t" if self.kind == "tsv" else ","

    def __str__(self) -> str:
        name = {"csv": "CSV", "tsv": "TSV", "parquet": "Parquet", "xlsx": "an Excel workbook"}[self.kind]
        return f"{name} packed with {self.compression}" if self.compression else name


def format_of_name(path: str | PurePath) -> Format:
    """The format that a name's ending promises, in any case of letters.

    Raises
    ------
    InputError
        Another ending, with the list of those that are known.

    Examples
    --------
    >>> format_of_name("people.CSV.gz")
    Format(kind='csv', compression='gzip')
    """
    name = PurePath(path).name.lower()
    packed = next((ending for ending in PACKED if name.endswith(ending)), None)
    inner = name.removesuffix(packed) if packed else name
    ending = PurePath(inner).suffix
    if packed and not ending:
        return Format("csv", PACKED[packed])
    if ending in KINDS and (packed is None or KINDS[ending] in ("csv", "tsv")):
        return Format(KINDS[ending], PACKED[packed] if packed else None)
    shown = (ending + packed if packed else ending) or "without an ending its name"
    raise InputError(f"{str(path)!r}: {shown} does not say what the file holds; endings are {ENDINGS}")


def format_of_bytes(head: bytes) -> str | None:
    """What the first bytes give away: a compression, ``"parquet"``, ``"xlsx"``, or None for (probably) text."""
    return next((what for magic, what in MAGIC.items() if head.startswith(magic)), None)
