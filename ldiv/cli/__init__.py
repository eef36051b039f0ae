"""The command `ldiv`. Exit codes: 0 done or yes, 1 no (not l-diverse, or no l-diverse release exists), 2 could not; 130 and 143 interrupted,
141 nobody read the answer to its end."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import sys
import traceback
import warnings
from typing import Annotated, Any

try:
    import typer

    from ldiv._version import __version__
    from ldiv.cli.anonymize import anonymize_command
    from ldiv.cli.certify import certify_command
    from ldiv.cli.check import audit_command, check_command, max_l_command
    from ldiv.cli.compare import compare_command
    from ldiv.cli.console import one_line, tell
    from ldiv.cli.lists import algorithms_command, datasets_command
    from ldiv.cli.options import Once, flat
    from ldiv.cli.report import report_command
    from ldiv.cli.verify import verify_command
    from ldiv.errors import LdivError, MissingColumnError, NotEligibleError
except ImportError as error:  # pragma: no cover
    print(f"error: the command needs more packages: pip install 'ldiv[cli]' ({error})", file=sys.stderr)
    raise SystemExit(2) from error

__all__ = ["app", "main"]

NO, COULD_NOT, INTERRUPTED, UNREAD = 1, 2, 130, 141

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="l-diversity by suppression, with guarantees. Exit codes: 0 done or yes, 1 no, 2 could not.",
)
COMMANDS: dict[str, Any] = {
    "anonymize": anonymize_command,
    "check": check_command,
    "audit": audit_command,
    "max-l": max_l_command,
    "verify": verify_command,
    "certify": certify_command,
    "compare": compare_command,
    "report": report_command,
    "datasets": datasets_command,
    "algorithms": algorithms_command,
}
for name, function in COMMANDS.items():
    app.command(name, cls=Once)(flat(function))


def _say_version(asked: bool) -> None:
    if asked:
        print(f"ldiv {__version__}")
        raise typer.Exit()


@app.callback()
def _options(
    version: Annotated[bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Print the version.")] = False,
) -> None:
    pass


class Stopped(BaseException):
    """A signal asked the process to end; what is staged is removed on the way out."""

    last: int | None = None  # also where what was raised is lost on the way, as in a query of DuckDB

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = Stopped.last = number


def main(arguments: list[str] | None = None) -> None:
    """Entry point: errors become one line on stderr and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # whatever the terminal cannot show is spelled out
    warnings.showwarning = _warn
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _stop)
    Stopped.last = None
    code = _run(sys.argv[1:] if arguments is None else arguments)
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        code = _unread() if isinstance(error, BrokenPipeError) else COULD_NOT
        if code == COULD_NOT:
            _complain(f"standard output: {error.strerror or error}")
            _drop_output()
    sys.exit(code)


def _unread() -> int:
    """Whoever read the answer has gone, as `head` does: no fault, and nothing to say."""
    _drop_output()
    return UNREAD


def _drop_output() -> None:
    """So that Python does not try again when it ends."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _run(arguments: list[str]) -> int:
    try:
        command: Any = typer.main.get_command(app)
        with command.make_context("ldiv", list(arguments)) as context:
            command.invoke(context)
        return 0
    except typer.Exit as end:
        return int(end.exit_code)
    except (KeyboardInterrupt, typer.Abort, Stopped):
        if Stopped.last is None:
            _complain("interrupted")
            return INTERRUPTED
        _complain(f"ended by {signal.Signals(Stopped.last).name}")
        return 128 + Stopped.last
    except BrokenPipeError:
        return _unread()
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # rich says so in its own way
            return _unread()
        return end.code if isinstance(end.code, int) else COULD_NOT
    except Exception as error:
        if os.environ.get("LDIV_TRACEBACK") == "1":
            traceback.print_exc()
        if type(error).__name__ == "NoArgsIsHelpError":
            print(getattr(error, "message", error))
            return COULD_NOT
        _complain(_message(error))
        return NO if isinstance(error, NotEligibleError) else COULD_NOT


def _message(error: Exception) -> str:
    """What went wrong, in words for who typed the command."""
    if hasattr(error, "format_message"):
        context = getattr(error, "ctx", None)
        where = f" (see '{context.command_path} --help')" if context is not None else ""
        text = re.sub(
            r"Input should be a valid (integer|number).*", lambda x: f"it must be a {'whole ' * (x[1] == 'integer')}number", error.format_message()
        )
        return f"{text.rstrip('.')}{where}"
    if isinstance(error, MissingColumnError):
        return f"{error}{_column_hint(error)}".replace("?. ", "? ")
    if isinstance(error, LdivError):
        text = re.sub(r'pass missing=\{"(qi|sensitive)": "value"\}', r"give --missing-\1 value", str(error))
        return text.replace("another with star=", "another --star")
    if isinstance(error, MemoryError):
        return f"not enough memory: {error}" if str(error) else "not enough memory"
    if isinstance(error, OSError):
        name = f"{os.fspath(error.filename)!r}: " if isinstance(error.filename, (str, bytes, os.PathLike)) else ""
        return f"{name}{error.strerror or error or type(error).__name__}"
    return f"{type(error).__name__}: {error} (LDIV_TRACEBACK=1 shows where)"


def _column_hint(error: MissingColumnError) -> str:
    """A likely reason for a column that is not there."""
    names = [str(name) for name in error.columns]
    if any(re.fullmatch(r"\s*[-+]?\d+(\.\d+)?\s*", name) for name in names):
        return ". The first line looks like a row: name the columns with --names if the file has no header"
    given = str(error.name)
    for divider in (",", " "):
        parts = [part.strip() for part in given.split(divider) if part.strip()]
        if len(parts) > 1 and set(parts) <= set(names):
            return f". Several columns are named one by one: {' '.join(f'-q {shlex.quote(part)}' for part in parts)}"
    other = next((letter for letter in ";\t|," if len(names) == 1 and letter in names[0]), None)
    if other and "separated by" in str(error):
        return f": --delimiter {other!r}"
    return f". Perhaps the fields are separated by {other!r}: --delimiter {other!r}" if other else ""


def _complain(message: str) -> None:
    tell(f"error: {one_line(message)}")


def _warn(message: Warning | str, *_: Any, **__: Any) -> None:
    tell(f"warning: {one_line(str(message))}")


def _stop(number: int, _: Any) -> None:
    raise Stopped(number)
