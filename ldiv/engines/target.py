"""Where an engine writes: a file, or a folder of files, that appears whole at the end or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ldiv.errors import InputError
from ldiv.table.files import Outputs, descriptor, format_of_name

__all__ = ["Place", "placed"]


@dataclass(frozen=True)
class Place:
    """Where to write now, so that it appears at the target afterwards.

    Attributes
    ----------
    folder : Path
        Beside the target, on its file system.
    file : str or None
        The name of the one file in it; None where the folder is what appears.
    kind : {"parquet", "csv", "tsv"}
    """

    folder: Path
    file: str | None
    kind: str

    def files(self) -> list[str]:
        """What was written there."""
        if self.file is not None:
            return [str(self.folder / self.file)]
        return sorted(str(path) for path in self.folder.iterdir() if path.name[0] not in "._")


@contextlib.contextmanager
def placed(target: str | os.PathLike[str], inputs: Sequence[str]) -> Iterator[Place]:
    """A place to write to; what is there becomes the target when the block ends well, and vanishes when it does not.

    A name that ends in ``/``, or has no ending, is a folder of Parquet files; it must not be there yet, or be empty. A file is replaced.

    Raises
    ------
    InputError
        Before the block: a folder that holds something, no such folder, no permission, a source of the same call, a format that engines do not write.
    """
    given = os.fspath(target)
    if descriptor(given, 1) is not None:
        raise InputError(f"{given!r}: an engine writes files, not pipes")
    if not given.endswith(("/", os.sep)) and not os.path.isdir(given) and Path(given).suffix:
        shape = format_of_name(given)
        if shape.kind == "xlsx" or shape.compression is not None:
            raise InputError(f"{given!r}: engines write Parquet, CSV and TSV, not {shape}")
        with Outputs(inputs) as outputs:
            one = outputs.add(given, "the release")
            if one.direct:
                raise InputError(f"{given!r}: an engine writes files, not pipes")
            yield Place(one.staged.parent, one.staged.name, shape.kind)
            outputs.commit()
        return
    folder = Path(os.path.realpath(given))
    _refuse(folder, given, inputs)
    try:
        staged = Path(tempfile.mkdtemp(prefix=f".ldiv-{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise InputError(f"{given!r}: cannot write in the folder {str(folder.parent)!r}: {error.strerror}") from error
    try:
        yield Place(staged, None, "parquet")
        os.chmod(staged, folder.stat().st_mode & 0o7777 if folder.is_dir() else 0o777 & ~_umask())  # an empty folder keeps its own
        _refuse(folder, given, inputs)
        os.replace(staged, folder)  # takes the place of an empty folder, too
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def _refuse(folder: Path, given: str, inputs: Sequence[str]) -> None:
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{given!r}: it is a file: name one with an ending, or choose another folder")
    if folder.is_dir() and any(folder.iterdir()):
        raise InputError(f"{given!r}: the folder holds something already: choose another, or empty it first")
    if not folder.parent.is_dir():
        raise InputError(f"{given!r}: no folder {str(folder.parent)!r}")
    for name in inputs:
        there = Path(os.path.realpath(name))
        if there == folder or (there.is_dir() and folder.is_relative_to(there)):
            raise InputError(f"{given!r}: would land among the parts of its own source {name!r}: choose another folder")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
