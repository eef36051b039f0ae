"""What an engine takes comes back with the type and the values that memory gives; the rest is refused by name before anything is read."""

import datetime as dt
import re
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from small_room import SmallRoom
from types_of_libraries import PLACE, SENSITIVE, arrow_columns

import ldiv
from ldiv.engines import duckdb

pytest.importorskip("duckdb")
NAN = float("nan")
MOMENTS = [dt.datetime(2020, 1, 1, 0, 0, 0, 5), dt.datetime(1969, 1, 1, 10), dt.datetime(2020, 1, 1, 10, 30, 1, 500000)]
ROLES = {  # quasi-identifiers, the sensitive column, l, star
    "starred": (["q"], "s", 2, "*"),
    "nulls": (["q"], "s", 2, None),
    "kept": (["q"], "s", 1, "*"),
    "sensitive": (["k"], "q", 1, "*"),
    "beside": (["k"], "s", 1, "*"),
}


def cases():
    """Every type of Arrow with a null, moments in zones, and numbers with a point that are one value or none."""
    for _, name, null, table in arrow_columns():
        if null or "union" in name:
            yield name, table
    for unit, zone in (("us", None), ("us", "UTC"), ("ns", "UTC"), ("ms", "UTC")):
        yield f"timestamp {unit} {zone}", of(pa.array(MOMENTS, pa.timestamp(unit, zone)).take(pa.array(PLACE)))
    yield "list of moments", of(pa.array([{"a": [m]} for m in MOMENTS], pa.struct({"a": pa.list_(pa.timestamp("ms"))})).take(pa.array(PLACE)))
    for kind in (pa.float32(), pa.float64()):
        for name, values in {
            "wide": [1e16] * 4 + [1e-5, 1e-5, -0.1, -0.1],
            "zeros": [-0.0, 0.0, -0.0, -0.0, 0.1, 0.1, 0.2, 0.2],
            "no number": [NAN] * 4 + [1, 1, 2, 2],
            "no number, missing": [NAN, None, NAN, None, 1, 1, 2, 2],
            "no number in a group of two": [1.5, 1.5, NAN, NAN, 2.0, 2.0, 3.0, 4.0],
        }.items():
            yield f"{kind} {name}", of(pa.array(values, kind))


def of(column):
    return pa.table({"q": column, "s": SENSITIVE})


def plain(kind):
    """A type as a Parquet file has it, which does not say how Arrow is to hold text and bytes."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return re.sub("large_|_view", "", str(kind))


def held(path):
    """What a file holds: types, and rows in no order."""
    if path.suffix == ".csv":
        return Counter(path.read_text().replace("-0.0,", "0.0,").splitlines())  # of a sensitive column; they are one number
    table = pq.read_table(path)
    return [plain(field.type) for field in table.schema], Counter(map(repr, zip(*(column.to_pylist() for column in table.columns), strict=True)))


def differs(tmp_path, table, engine, role, suffix):
    """What an engine does that memory does not; None where both do the same, or the engine refuses by name."""
    source, (qi, sensitive, l, star) = tmp_path / "source.parquet", ROLES[role]
    pq.write_table(table.append_column("k", table.column("s")), source)
    found = []
    for each in ("memory", engine):
        target = tmp_path / f"{each}{suffix}"
        try:
            ldiv.anonymize_files(source, target, qi, sensitive, l, engine=each, star=star, star_is_null=True, algorithm="tp", missing="value")
            found.append(held(target))
        except ldiv.LdivError as error:
            found.append(error)
    mine, theirs = found
    if isinstance(theirs, Exception):
        known = isinstance(theirs, ldiv.InputError) and "column 'q' of type" in str(theirs) and "engine='memory'" in str(theirs)
        return None if known else f"{type(theirs).__name__}: {theirs}"
    return None if not isinstance(mine, Exception) and mine == theirs else f"{theirs} where memory has {mine}"


def walked(tmp_path, engine, suffixes, names=None):
    faults, walked = [], 0
    for name, table in cases():
        if names is not None and name not in names:
            continue
        try:
            pq.write_table(table, tmp_path / "try.parquet")
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
            continue  # no file holds it
        for role in ROLES:
            for suffix in suffixes:
                walked += 1
                fault = differs(tmp_path, table, engine, role, suffix)
                if fault is not None:
                    faults.append(f"{name}, {role}, {suffix}: {fault}")
    return faults, walked


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_every_type_comes_back_as_from_memory_or_is_refused(tmp_path, suffix):
    faults, count = walked(tmp_path, "duckdb", [suffix])
    assert not faults, "\n".join(faults)
    assert count > 250


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_the_same_where_combinations_stay_in_the_engine(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(duckdb, "Room", SmallRoom)
    names = [name for name, _ in cases() if name.startswith(("float", "double", "timestamp us", "bool", "date32", "dictionary"))]
    faults, count = walked(tmp_path, "duckdb", [suffix], names)
    assert not faults, "\n".join(faults)
    assert count > 80


@pytest.mark.spark
def test_some_types_on_spark(tmp_path, spark):
    names = {"uint64", "uint8", "large_string", "timestamp us None", "timestamp us UTC", "timestamp[ms]", "dictionary"}
    names |= {f"{kind} {what}" for kind in ("float", "double") for what in ("wide", "zeros", "no number, missing")}
    faults, count = walked(tmp_path, "spark", [".parquet"], names)
    assert not faults, "\n".join(faults)
    assert count == 5 * len(names)


def test_the_numbers_of_memory_are_published_with_one_zero_and_one_missing_value():
    """Also where stars are nulls, whichever of them comes first."""
    for values in ([-0.0, 0.0, NAN, None], [0.0, -0.0, None, NAN]):
        table = of(pa.array([*values, 1.0, 1.0, 2.0, 3.0]))
        out = ldiv.anonymize(table, ["q"], "s", 2, star=None, star_is_null=True, algorithm="tp", missing="value").frame.column("q").to_pylist()
        assert set(map(repr, out)) <= {"0.0", "None", "1.0", "2.0", "3.0"}, out


def test_a_type_is_refused_before_anything_is_read(tmp_path):
    source = tmp_path / "source.parquet"
    pq.write_table(of(pa.array(MOMENTS, pa.timestamp("ms")).take(pa.array(PLACE))), source)
    with pytest.raises(ldiv.InputError, match=r"column 'q' of type timestamp\[ms\].*turn it into timestamp\[us\]"):
        ldiv.anonymize_files(source, tmp_path / "out/", ["s"], None, k=2, l=None, engine="duckdb")
    ldiv.anonymize_files(source, tmp_path / "out/", ["s"], None, k=2, l=None, engine="duckdb", drop=["q"])


def test_the_documented_lists_are_those_of_the_code():
    from ldiv.engines import room, types

    text = (Path(__file__).parents[1] / "docs" / "scale.md").read_text().partition("## What engines refuse")[2].partition("## On paper")[0]
    rows = {cells[0].strip(): cells for cells in (line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| "))}
    for engine, named in types.KEYS.items():
        assert re.findall(r"`([^`]+)`", rows[f"named, `{engine}`"][1]) == list(named)
        beside = rows[f"beside, `{engine}`"][1]
        assert beside.startswith("those that may be named") and [*named, *re.findall(r"`([^`]+)`", beside)] == list(types.AS_IT_IS[engine])
    assert re.findall(r"`([^`]+)`", rows["beside, into text"][1]) == list(types.AS_TEXT)
    assert f"under {-(-room.least_memory() // 10**6)} MB" in rows["memory"][1]
