"""Every type that the libraries list, as a quasi-identifier, as the sensitive column and beside: a verified release, or an InputError with column and type."""

import re
import warnings
from importlib import metadata
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from types_of_libraries import REGISTERED, columns

import ldiv
from ldiv.table.frames import named, open_frame
from ldiv.table.text import is_missing

ROOT = Path(__file__).parents[1]
LIBRARIES = ("numpy", "pandas", "pyarrow", "polars", "duckdb", "ibis")


def beside(table):
    """The same with a column more, for a release in which the type is neither."""
    if isinstance(table, dict):
        return {**table, "k": table["s"]}
    if isinstance(table, pd.DataFrame):
        return table.assign(k=table["s"])
    if isinstance(table, pl.DataFrame):
        return table.with_columns(k=pl.col("s"))
    if isinstance(table, pa.Table):
        return table.append_column("k", table.column("s"))
    return table.mutate(k=table.s) if type(table).__module__.startswith("ibis") else table.project("*, s AS k")


def starred_texts(frame):
    """The texts of a starred column, and a word for each that is none."""
    column = frame["q"] if isinstance(frame, dict) else open_frame(frame).frame.get_column("q").to_list()
    return [
        x if isinstance(x, str) else "missing" if is_missing(x) else f"no text: {x!r}"
        for x in (column.tolist() if isinstance(column, np.ndarray) else column)
    ]


def outcome(table):
    """ "released" or "refused"; anything else is a fault."""
    options = {"algorithm": "tp", "missing": "value"}
    refused = 0
    try:
        release = ldiv.anonymize(table, ["q"], "s", 2, **options)
        assert release.publication.verdict and ldiv.check(release.frame, ["q"], "s", 2, missing="value")
        assert type(release.frame) is type(table) or "Table" in type(table).__name__ + type(release.frame).__name__
        if release.stars:
            texts = starred_texts(release.frame)
            assert texts.count("*") == release.stars and not any(text.startswith("no text") for text in texts), texts
        ldiv.anonymize(table, ["q"], "s", 2, star=None, star_is_null=True, order="random", **options)
    except ldiv.InputError as error:
        assert "'q'" in str(error), error
        refused += 1
    try:
        ldiv.anonymize(table, ["s"], "q", 1, **options)
    except ldiv.InputError as error:
        assert "'q'" in str(error), error
        refused += 1
    assert refused in (0, 2), "as a quasi-identifier and as sensitive alike"
    try:
        ldiv.anonymize(beside(table), ["s"], "k", 1, order="random", algorithm="tp")
    except ldiv.InputError as error:
        assert "'q'" in str(error), error
    return "refused" if refused else "released"


@pytest.fixture(scope="module")
def walked():
    found = {library: {} for library in LIBRARIES}
    faults = []
    with warnings.catch_warnings(action="ignore"):
        for library, name, null, table in columns():
            if table is None:
                found[library].setdefault(name, None)
                continue
            try:
                found[library][name] = outcome(table)
            except Exception as error:
                faults.append(f"{library} {name}{' with a null' if null else ''}: {type(error).__name__}: {str(error)[:300]}")
    return found, faults


def test_every_type_is_released_or_refused_by_name(walked):
    found, faults = walked
    assert not faults, "\n".join(faults)
    assert sum(map(len, found.values())) > 200


def test_the_documented_table_is_what_the_walk_finds(walked):
    found, _ = walked
    text = (ROOT / "docs" / "types.md").read_text()
    lines = {
        row[0]: row for row in (re.split(r"\s*\|\s*", line.strip("| ")) for line in text.splitlines() if line.startswith("| ")) if row[0] in LIBRARIES
    }
    for library, types in found.items():
        refused = sorted(name for name, what in types.items() if what == "refused")
        documented = re.findall(r"`([^`]+)`", lines[library][4])
        if library == "pandas":  # its own types are all released; of Arrow's the same are refused as from pyarrow itself
            documented = [f"{name}[pyarrow]" for name in re.findall(r"`([^`]+)`", lines["pyarrow"][4])]
        assert set(refused) <= set(documented), (library, refused)
    named = re.search(r"Counted with (.+)\.", text)
    assert named
    versions = dict(re.findall(r"(\w+) ([\d.]+)", named[1].lower()))
    counted = {
        library: [int(re.match(r"\d*", cell)[0] or 0) for cell in (*row[1:4], row[5] if len(row) > 5 else "")] for library, row in lines.items()
    }
    for library, (walked_types, released, errors, unmade) in counted.items():
        assert walked_types == released + errors + unmade
        if metadata.version(library.replace("ibis", "ibis-framework")).startswith(versions[library]):
            outcomes = list(found[library].values())
            assert [walked_types, released, errors, unmade] == [len(outcomes), *(outcomes.count(what) for what in ("released", "refused", None))]
    together = next(line for line in text.splitlines() if line.startswith("| together"))
    assert [int(cell) for cell in re.findall(r"\d+", together)] == [sum(row[k] for row in counted.values()) for k in range(4)]


def test_the_walk_knows_every_type_that_pandas_registers():
    import pandas.core.dtypes.base as base

    assert {kind.__name__ for kind in base._registry.dtypes} <= REGISTERED, "a new type: add it to the walk"


def test_names_are_taken_from_whatever_holds_them():
    assert named(pd.Index(["a", "b"]), ["a", "b"], "qi") == ["a", "b"]
