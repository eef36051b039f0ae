"""ldiv datasets, ldiv algorithms: what there is."""

from __future__ import annotations

from typing import Annotated

import pyarrow as pa
import typer

from ldiv import datasets
from ldiv.algorithms import list_algorithms
from ldiv.cli.console import Voice, table_of
from ldiv.errors import InputError
from ldiv.table.files import Outputs, format_of_name, write_table

__all__ = ["algorithms_command", "datasets_command"]


def datasets_command(
    name: Annotated[str | None, typer.Argument(help="A data set to write out.")] = None,
    output: Annotated[str | None, typer.Option("-o", "--output", help="Where to; its ending is its format.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing but errors.")] = False,
) -> None:
    """List the data sets, or write one to a file."""
    if name is None:
        if output is not None:
            raise InputError("-o: say which data set to write")
        table_of(["name", "what"], [[entry.name, entry.about] for entry in datasets.available().values()])
        return
    if output is None:
        raise InputError(f"say where to write {name!r}: -o FILE")
    with Outputs() as outputs:
        target = outputs.add(output, "the data set", name="data.csv" if output == "-" else None)
        if not target.direct:
            format_of_name(output)
        with Voice(quiet).progress(f"writing {output}"):
            columns = datasets.load_frame(name)
            write_table(pa.table({key: pa.array(values) for key, values in columns.items()}), target.staged)
            outputs.commit()


def algorithms_command() -> None:
    """List the algorithms with their guarantee, cost and source."""
    table_of(["name", "guarantee", "cost", "source"], [[x.name, x.guarantee, x.cost, x.source] for x in list_algorithms().values()])
