"""The options of the command, each declared once; a command takes whole groups of them."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import PurePath
from typing import Annotated, Any, get_type_hints

import typer
import typer.core

from ldiv.table.files import ENDINGS

__all__ = [
    "Algorithm",
    "Asking",
    "Columns",
    "File",
    "Files",
    "Hardness",
    "Once",
    "Publishing",
    "Reading",
    "Saying",
    "Scaling",
    "Size",
    "Solving",
    "Whose",
    "flat",
    "repeat",
]

INPUT = f"{ENDINGS}; '-' for standard input, a folder or a pattern for Parquet files."
Files = Annotated[list[str], typer.Argument(metavar="FILE...", help=f"The table: {INPUT} Several are read as one if all are Parquet.")]
File = Annotated[str, typer.Argument(metavar="FILE", help=f"The table: {INPUT}")]
Algorithm = Annotated[str, typer.Option("-a", "--algorithm", help="See 'ldiv algorithms'.")]
Hardness = Annotated[int | None, typer.Option("-l", help="At most 1/l of a group may share a sensitive value; left out where there is none.")]
Size = Annotated[int, typer.Option("-k", help="The least size of a group, in rows; with --unit, in persons.")]


@dataclass(frozen=True)
class Columns:
    """Which columns are what."""

    qi: Annotated[list[str], typer.Option("-q", "--qi", help="A quasi-identifier column; repeat for each.")]
    sensitive: Annotated[
        list[str] | None, typer.Option("-s", "--sensitive", help="A sensitive column; repeat for each, all are protected. Without, only -k is kept.")
    ] = None


@dataclass(frozen=True)
class Sensitive:
    """The sensitive columns alone."""

    sensitive: Annotated[list[str], typer.Option("-s", "--sensitive", help="A sensitive column; repeat for each.")]


@dataclass(frozen=True)
class Reading:
    """How the table is read."""

    delimiter: Annotated[str | None, typer.Option(help="Field separator of text files: a comma, in .tsv files a tab.")] = None
    names: Annotated[str | None, typer.Option(help="Comma-separated column names, for a text file without a header line.")] = None
    na: Annotated[
        str | None, typer.Option(help="The text that means a missing value in text files; by default an empty field does. It comes back as it was.")
    ] = None
    numeric: Annotated[
        list[str] | None,
        typer.Option(help="A column of a text file that must hold numbers; repeat for each. By default columns of numbers are found."),
    ] = None
    decimal: Annotated[
        str | None,
        typer.Option(
            help="What stands before the fractions of numbers in text files: . (the default) or , as in 12,5. Cells come back as they were."
        ),
    ] = None
    text: Annotated[list[str] | None, typer.Option(help="A column of a text file whose numbers are mere names; repeat for each.")] = None
    missing_qi: Annotated[str, typer.Option(help="Missing QI values: value (one more value) or error.")] = "value"
    missing_sensitive: Annotated[str, typer.Option(help="Missing sensitive values: value (one more value) or error.")] = "error"
    unpack_limit: Annotated[str, typer.Option(help="What a packed file may unpack to, in bytes or with K, M, G, T.")] = "2G"


@dataclass(frozen=True)
class Whose:
    """Who the rows belong to."""

    unit: Annotated[
        str | None,
        typer.Option(help="The column that says whose a row is, where a person may have several: at most 1/l of the persons share a value, too."),
    ] = None


@dataclass(frozen=True)
class Solving:
    """How the release is made."""

    effort: Annotated[str | None, typer.Option(help="Of the default algorithm: fast, default or best.")] = None
    time_limit: Annotated[float | None, typer.Option(help="Seconds for the search, of algorithms that take it.")] = None
    gap: Annotated[float | None, typer.Option(help="Stop at so many times the proven bound, such as 1.02, of algorithms that take it.")] = None
    threads: Annotated[int | None, typer.Option(help="Threads, of algorithms that take it.")] = None
    seed: Annotated[int | None, typer.Option(help="Make random choices repeatable. Keep it secret.")] = None


@dataclass(frozen=True)
class Asking:
    """What the release must be like."""

    weight: Annotated[list[str] | None, typer.Option(help="NAME=W: a star in this column costs W; repeat for each.")] = None
    protect: Annotated[
        list[str] | None,
        typer.Option(help="NAME, a column that is never starred, or NAME=LEVEL, the highest level of its hierarchy that is shown; repeat for each."),
    ] = None
    also: Annotated[
        list[str] | None,
        typer.Option(help="k=10, distinct=4, entropy=3.5 or t=0.3: what every group must satisfy beside l-diversity; repeat for each."),
    ] = None
    coarsen: Annotated[
        list[str] | None, typer.Option(help="NAME=LEVEL of its hierarchy, or NAME=width:10, NAME=quantiles:4, NAME=edges:20,40; repeat for each.")
    ] = None
    hierarchy: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME=FILE in the format of ARX, NAME=width:5,10,20 (intervals in intervals), or NAME=auto for a column with an order: each group shows the "
            "lowest node above its values; repeat for each."
        ),
    ] = None
    loss: Annotated[
        str | None, typer.Option(help="What a node of a hierarchy loses, beside a star: ncp (its share of the values, the default) or level.")
    ] = None
    star: Annotated[str, typer.Option(help="What a suppressed cell shows.")] = "*"


@dataclass(frozen=True)
class Publishing:
    """What of the table leaves, and in which order."""

    keep_order: Annotated[
        bool,
        typer.Option(
            "--keep-order",
            help="Leave the rows in the order of FILE; by default they are shuffled, since the neighbours of a star often give it away.",
        ),
    ] = False
    drop: Annotated[list[str] | None, typer.Option(help="A column to leave out of the release; repeat for each.")] = None
    only_named: Annotated[bool, typer.Option("--only-named", help="Leave out every column that is neither -q nor -s.")] = False


@dataclass(frozen=True)
class Scaling:
    """What counts the cells and writes the release."""

    engine: Annotated[
        str,
        typer.Option(
            help="memory, duckdb or spark: the release is the same; auto takes DuckDB where the table is larger than a quarter of memory. "
            "DuckDB and Spark also write folders of Parquet files (a name that ends in /)."
        ),
    ] = "auto"
    memory_limit: Annotated[str | None, typer.Option(help="What the process may take, such as 1GB; half of the machine's memory by default.")] = None
    spill: Annotated[str | None, typer.Option(help="A folder for what DuckDB cannot hold in memory; beside the release by default.")] = None


@dataclass(frozen=True)
class Saying:
    """How the answer is given."""

    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing but errors and the answer.")] = False
    json: Annotated[bool, typer.Option("--json", help="The answer as JSON on standard output.")] = False


class Once(typer.core.TyperCommand):
    """A command that refuses an option given twice which can be given once only: the last one would win without a word."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args or not self.no_args_is_help:
            _, _, order = self.make_parser(ctx).parse_args(args=list(args))
            for parameter in order:
                single = getattr(parameter, "param_type_name", "") == "option" and not getattr(parameter, "multiple", False)
                if single and order.count(parameter) > 1:
                    raise typer.BadParameter(f"given {order.count(parameter)} times; it can be given once only", ctx=ctx, param=parameter)  # type: ignore[arg-type]
        return super().parse_args(ctx, args)


def flat(function: Callable[..., Any]) -> Callable[..., Any]:
    """A command whose parameters that are groups of options become the options in them."""
    signature = inspect.signature(function, eval_str=True)
    groups: dict[str, Any] = {name: parameter.annotation for name, parameter in signature.parameters.items() if is_dataclass(parameter.annotation)}
    parameters = []
    for name, parameter in signature.parameters.items():
        if name not in groups:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        hints = get_type_hints(groups[name], include_extras=True)
        for entry in fields(groups[name]):
            default = inspect.Parameter.empty if entry.default is MISSING else entry.default
            parameters.append(inspect.Parameter(entry.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hints[entry.name]))

    def command(**given: Any) -> Any:
        for name, group in groups.items():
            given[name] = group(**{entry.name: given.pop(entry.name) for entry in fields(group)})
        return function(**given)

    command.__name__, command.__doc__ = function.__name__, function.__doc__
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return command


SHORT = {"qi": "-q", "sensitive": "-s", "l": "-l"}
UNSAID = ("seed", "quiet", "json", "threads", "unpack_limit", "spill")  # a seed is a secret; the others do not change what comes out


def _words(group: Any) -> Iterator[str]:
    for entry in fields(group):
        value = getattr(group, entry.name)
        if entry.name in UNSAID or value is None or (entry.default is not MISSING and value == entry.default):
            continue
        for one in value if isinstance(value, list) else [value]:
            yield SHORT.get(entry.name, f"--{entry.name.replace('_', '-')}")
            if one is not True:
                name, divider, path = str(one).rpartition("=")
                yield f"{name}{divider}{PurePath(path).name}" if entry.name == "hierarchy" else str(one)  # folders of this machine stay here


def repeat(files: list[str], columns: Columns, l: int | None, k: int, output: str, algorithm: str, *groups: Any) -> str:
    """The shell command that makes a release again."""
    words = [word for group in groups for word in _words(group)]
    hard = [*([] if l is None else ["-l", str(l)]), *(["-k", str(k)] if k > 1 else [])]
    return shlex.join(["ldiv", "anonymize", *files, *_words(columns), *hard, "-o", output, "--algorithm", algorithm, *words])
