"""All files that one call writes: looked at before the work, staged beside their targets, and shown together or not at all."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import stat
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

from ldiv.errors import InputError

__all__ = ["Outputs", "Target", "atomic", "descriptor"]

NAMED = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
FOLDER = re.compile(r"/(?:dev|proc/self)/fd/(\d+)")


def descriptor(path: str | os.PathLike[str], standard: int) -> int | None:
    """The open file that a path stands for (``-``, /dev/stdout, /dev/fd/63), or None. `standard` is what ``-`` means."""
    text = os.fspath(path)
    if text == "-":
        return standard
    found = FOLDER.fullmatch(text)
    return int(found[1]) if found else NAMED.get(text)


class Target:
    """One output: a file that appears whole, or a pipe or device that is written through.

    Attributes
    ----------
    given : str
        As it was named.
    what : str
        What it is, for messages ("the release").
    path : Path or None
        The file behind all links; None for an open descriptor.
    direct : bool
        A pipe or device: nothing to replace.
    """

    def __init__(self, path: str | os.PathLike[str], what: str, mode: int | None, name: str | None) -> None:
        self.given, self.what, self.mode = os.fspath(path), what, mode
        self.descriptor = descriptor(path, 1)
        self.path = None if self.descriptor is not None else Path(self.given)
        try:
            self.status = self._status()
            kind = stat.S_IFMT(self.status.st_mode) if self.status else stat.S_IFREG
            self.direct = self.path is None or kind in (stat.S_IFIFO, stat.S_IFCHR)
            if not self.direct:
                self.path = Path(os.path.realpath(path))
        except (OSError, ValueError) as error:
            raise InputError(f"{self}: {_reason(error)}") from error
        if not self.direct and kind != stat.S_IFREG:
            raise InputError(f"{self}: it is {'a folder' if kind == stat.S_IFDIR else 'neither a file nor a pipe'}")
        self.name = name or Path(self.given).name
        self._folder: Path | None = None
        self._probe()

    def _status(self) -> os.stat_result | None:
        if self.descriptor is not None:
            return os.fstat(self.descriptor)
        assert self.path is not None
        try:
            return os.stat(self.path)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _probe(self) -> None:
        """Whether something can be written there, told before the work and not after it."""
        if self.direct:
            writable = self.path is None or os.access(self.path, os.W_OK)
        else:
            assert self.path is not None
            if not self.path.parent.is_dir():
                raise InputError(f"{self}: no folder {str(self.path.parent)!r}")
            writable = self.status is None or os.access(self.path, os.W_OK)
            try:
                os.rmdir(tempfile.mkdtemp(prefix=".ldiv-", dir=self.path.parent))
            except OSError as error:
                raise InputError(f"{self}: cannot write in the folder {str(self.path.parent)!r}: {_reason(error)}") from error
        if not writable:
            raise InputError(f"{self}: no permission to write it")

    def __str__(self) -> str:
        return f"{self.what}, {'standard output' if self.given == '-' else repr(self.given)}"

    @property
    def staged(self) -> Path:
        """Where to write it: a file of the target's name in a private folder on the target's file system."""
        if self._folder is None:
            beside = None if self.direct or self.path is None else self.path.parent
            self._folder = Path(tempfile.mkdtemp(prefix=".ldiv-", dir=beside))
        return self._folder / self.name

    def same(self, other: os.stat_result | None) -> bool:
        """Whether the target is that file (or pipe), by whatever name or link."""
        status = self._status()
        return status is not None and other is not None and not stat.S_ISCHR(status.st_mode) and os.path.samestat(status, other)

    def settle(self) -> None:
        """Give the staged file the mode of what it replaces; a group that cannot be kept loses its rights."""
        status = self._status()
        mode = self.mode
        if status is not None:
            mode = stat.S_IMODE(status.st_mode) if mode is None else mode
            try:
                os.chown(self.staged, status.st_uid if hasattr(os, "geteuid") and os.geteuid() == 0 else -1, status.st_gid)
            except (OSError, AttributeError):
                if os.stat(self.staged).st_gid != status.st_gid:
                    mode &= ~stat.S_IRWXG
        if mode is not None:
            os.chmod(self.staged, mode)

    def pour(self) -> None:
        """Write the staged bytes into the pipe or device."""
        if self.descriptor == 1 and sys.stdout is not None:
            sys.stdout.flush()
        handle = os.dup(self.descriptor) if self.descriptor is not None else os.open(str(self.path), os.O_WRONLY)
        with os.fdopen(handle, "wb") as stream, self.staged.open("rb") as staged:
            shutil.copyfileobj(staged, stream)

    def clean(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


class Outputs:
    """The outputs of one call; a context that leaves nothing behind but what :meth:`commit` showed.

    Parameters
    ----------
    inputs : iterable of path
        What the call reads: nothing of it is ever replaced.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> with Outputs() as outputs:
    ...     target = outputs.add(folder / "a.txt", "a text")
    ...     _ = target.staged.write_text("whole")
    ...     before = [path.name for path in folder.iterdir() if not path.name.startswith(".")]
    ...     outputs.commit()
    >>> before, (folder / "a.txt").read_text()
    ([], 'whole')
    """

    def __init__(self, inputs: Iterable[str | os.PathLike[str]] = ()) -> None:
        self.inputs = [os.fspath(path) for path in inputs]
        self.targets: list[Target] = []

    def __enter__(self) -> Outputs:
        return self

    def __exit__(self, *_: Any) -> None:
        for target in self.targets:
            target.clean()

    def add(self, path: str | os.PathLike[str], what: str, *, mode: int | None = None, name: str | None = None) -> Target:
        """Plan an output, and refuse it now if it cannot or must not be written.

        Parameters
        ----------
        path : path
            ``-`` for standard output.
        what : str
        mode : int, optional
            Permissions it gets in any case. Default: those of the file it replaces, else what the umask leaves.
        name : str, optional
            Of the staged file, if the target's own name has no ending.

        Raises
        ------
        InputError
            No such folder, no permission, a folder, an input of the same call, or another output of it.
        """
        target = Target(path, what, mode, name)
        self._require_apart(target, self.targets)
        self.targets.append(target)
        return target

    def _require_apart(self, target: Target, others: list[Target]) -> None:
        for given in self.inputs:
            number = descriptor(given, 0)
            try:
                status = os.fstat(number) if number is not None else os.stat(given)
            except (OSError, ValueError):  # not there: nothing to lose, and reading it will say so
                continue
            if target.same(status):
                raise InputError(f"{target}: would overwrite its own source {given!r}: choose another name")
            if target.path is not None and os.path.isdir(given) and target.path.is_relative_to(os.path.realpath(given)):
                raise InputError(f"{target}: would land among the parts of its own source {given!r}: choose another folder")
        for other in others:
            alike = target.path is not None and other.path is not None and os.path.normcase(target.path) == os.path.normcase(other.path)
            device = target.status is not None and stat.S_ISCHR(target.status.st_mode)
            if (alike and not device) or target.same(other.status) or (target.descriptor is not None and target.descriptor == other.descriptor):
                raise InputError(f"{target}: would overwrite {other}: choose another name")

    def commit(self) -> None:
        """Show all staged files. Pipes and devices first, since these cannot be taken back; then the files, all of them or none.

        Raises
        ------
        InputError, OSError
            A target became one of the inputs meanwhile, or cannot be replaced; nothing has changed then.
        """
        staged = [target for target in self.targets if target._folder is not None]
        for target in staged:
            self._require_apart(target, [])
        for target in staged:
            if target.direct:
                target.pour()
        files = [target for target in staged if not target.direct]
        done: list[tuple[Target, Path | None]] = []
        with _undisturbed():
            try:
                for target in files:
                    target.settle()
                    old = _keep(target) if target is not files[-1] else None  # the last one is replaced in one step, or is not
                    done.append((target, old))
                    os.replace(target.staged, str(target.path))
            except BaseException:
                for target, old in reversed(done):
                    if old is not None:
                        os.replace(old, str(target.path))
                    elif target.status is None and not target.staged.exists():
                        os.unlink(str(target.path))
                raise


def _keep(target: Target) -> Path | None:
    """A second name for the file about to be replaced, so that it can come back."""
    assert target.path is not None
    if not target.path.exists():
        return None
    old = target.staged.parent / ".old"
    try:
        os.link(target.path, old)
    except OSError:  # a file system without hard links, or another user's file
        os.replace(target.path, old)
    return old


@contextlib.contextmanager
def atomic(path: str | os.PathLike[str], mode: int | None = None) -> Iterator[IO[bytes]]:
    """A stream whose bytes replace `path` when the block ends well, and vanish when it does not.

    Links are followed, pipes and devices written through, an existing file keeps its mode unless `mode` is given.

    Raises
    ------
    InputError
        Before the block: no such folder, no permission, or a folder.
    """
    with Outputs() as outputs:
        target = outputs.add(path, "output", name="staged", mode=mode)  # a name that no pattern finds, should the process be killed
        with target.staged.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        outputs.commit()


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Interrupts wait until the block has ended, whichever way."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[tuple[int, Any]] = []
    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before: dict[int, Any] = {getattr(signal, name): signal.getsignal(getattr(signal, name)) for name in names}
    for number, handler in before.items():
        if callable(handler):
            signal.signal(number, lambda number, frame: waiting.append((number, frame)))
    try:
        yield
    finally:
        for number, handler in before.items():
            if callable(handler):
                signal.signal(number, handler)
    for number, frame in waiting:
        before[number](number, frame)


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
