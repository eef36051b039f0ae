"""Loaders of tables that do not travel with the package: IPUMS extracts, ACS PUMS files, UCI Adult."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldiv.datasets import acs
from ldiv.errors import InputError
from ldiv.table.microdata import Microdata

__all__ = ["adult", "adult_frame", "ipums", "ipums_frame", "pums", "pums_frame"]

Paths = str | Path | Sequence[str | Path]
Columns = dict[str, NDArray[Any]]

# POBP codes of the 50 states, DC and five island areas: the 56 birth places, in the order of their codes.
STATES = [k for k in range(1, 57) if k not in (3, 7, 14, 43, 52)]
PUMS_PLACES = [*STATES, 60, 66, 69, 72, 78]
# IPUMS' general birth-place codes of the same: states by FIPS, then Samoa, Guam, Northern Marianas, Puerto Rico, Virgin Islands.
IPUMS_PLACES = [*STATES, 100, 105, 106, 110, 115]
# SCHL 1..24 to the 17 levels of acs2018.
SCHOOL = np.array([-1, 0, 1, 1, 1, 1, 1, 1, 2, 2, 3, 3, *range(4, 17)])
IPUMS_WORK = [10, 13, 14, 22, 23, 25, 27, 28, 29]  # CLASSWKRD of 2000 and later

PUMS_NEEDS = ("AGEP", "SEX", "RAC1P", "MAR", "POBP", "SCHL", "COW", "PINCP", "OCCP")
IPUMS_NEEDS = ("AGE", "SEX", "RACE", "MARST", "BPL", "EDUC99", "CLASSWKRD", "INCTOT", "OCC2010")
ADULT_NAMES = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
)
ADULT_QI = ("age", "workclass", "education", "marital-status", "race", "sex", "native-country")

GET_PUMS = "the 1-year person file of the American Community Survey PUMS (psam_pusa.csv, psam_pusb.csv) from the U.S. Census Bureau"
GET_IPUMS = "an IPUMS USA extract with " + ", ".join(IPUMS_NEEDS) + ": fixed-width or CSV, with its DDI codebook (.xml) for the former"
GET_ADULT = "adult.data from the UCI Machine Learning Repository, doi:10.24432/C5XW20"


def find(path: str | Path | None, names: Iterable[str], get: str) -> Path:
    """The file given, or the first of its usual names in $LDIV_DATA, ./data and the working directory."""
    if path is not None:
        looked = [Path(path)]
    else:
        folders = [os.environ.get("LDIV_DATA"), "data", "."]
        looked = [Path(folder) / name for folder in folders if folder for name in names]
    for candidate in looked:
        if candidate.is_file():
            return candidate
    paths = ", ".join(str(p) for p in looked)
    raise InputError(f"not found: {paths}. It is {get}. Pass path=, or put it in a folder and set LDIV_DATA to that folder")


def _read_numbers(path: Path, needs: Sequence[str]) -> Columns:
    """Some columns of a CSV file as floats, empty fields as NaN."""
    try:
        import pyarrow as pa
        from pyarrow import csv
    except ImportError as error:
        raise InputError("reading this file needs pyarrow: pip install 'ldiv[frames]'") from error
    try:
        table = csv.read_csv(
            path,
            convert_options=csv.ConvertOptions(
                include_columns=list(needs),
                column_types={name: pa.float64() for name in needs},
                null_values=["", "NA", "N"],
            ),
        )
    except KeyError as error:
        raise InputError(f"{path}: no column {error.args[0]}; it needs {', '.join(needs)}") from error
    except pa.ArrowInvalid as error:
        raise InputError(f"{path}: {error}") from error
    return {name: table.column(name).to_numpy() for name in needs}


def _joined(parts: Sequence[Columns]) -> Columns:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _dense(values: NDArray[Any], known: Sequence[int]) -> NDArray[np.int64]:
    """The position of each value in a list, -1 where it is not there."""
    position = np.full(max(known) + 2, -1, dtype=np.int64)
    position[list(known)] = np.arange(len(known))
    inside = np.where((values >= 0) & (values <= max(known)), values, max(known) + 1)
    return position[np.nan_to_num(inside, nan=max(known) + 1).astype(np.int64)]


def _table_6(recoded: Mapping[str, NDArray[Any]]) -> Columns:
    """Keep the rows that have all nine attributes, as bytes."""
    whole = np.logical_and.reduce([~np.isnan(c) & (c >= 0) for c in recoded.values()])
    known = acs.domains()
    out = {}
    for name, column in recoded.items():
        kept = column[whole].astype(np.int64)
        if len(kept) and kept.max() >= known[name].size:
            raise InputError(f"{name}: code {kept.max()} is outside its domain of {known[name].size} values")
        out[name] = kept.astype(np.uint8)
    return out


def pums_columns(path: Paths | None = None) -> Columns:
    """The nine attributes of Table 6 from ACS PUMS person files."""
    if path is None or isinstance(path, (str, Path)):
        first = find(path, ["psam_pusa.csv", "psam_pusb.csv", "psam_pus.csv"], GET_PUMS)
        second = first.with_name("psam_pusb.csv")
        paths = [first, second] if path is None and first.name == "psam_pusa.csv" and second.is_file() else [first]
    else:
        paths = [find(p, [], GET_PUMS) for p in path]
    raw = _joined([_read_numbers(p, PUMS_NEEDS) for p in paths])
    # Workers with an income, as in the shipped table.
    working = (raw["AGEP"] >= 17) & (raw["PINCP"] >= 1) & (raw["COW"] <= 8)
    raw = {name: column[working] for name, column in raw.items()}
    school = np.clip(np.nan_to_num(raw["SCHL"], nan=0), 0, 24).astype(np.int64)
    return _table_6(
        {
            "Age": np.clip(raw["AGEP"], 17, 95) - 17,
            "Gender": raw["SEX"] - 1,
            "Race": raw["RAC1P"] - 1,
            "MaritalStatus": raw["MAR"] - 1,
            "BirthPlace": _dense(raw["POBP"], PUMS_PLACES),
            "Education": SCHOOL[school],
            "WorkClass": raw["COW"] - 1,
            "Income": np.minimum(49, np.maximum(0, raw["PINCP"]) // 4000),
            "Occupation": raw["OCCP"] // 200,
        }
    )


def pums(path: Paths | None = None, *, sensitive: str | None = None, qi: Sequence[str] | None = None) -> Microdata:
    """ACS PUMS person files, recoded to the attributes of the paper's Table 6 as acs2018 is.

    Parameters
    ----------
    path : path or sequence of paths, optional
        CSV files; default psam_pusa.csv and psam_pusb.csv in ``$LDIV_DATA``, ./data or the working directory.
    sensitive : str, optional
        Default Income.
    qi : sequence of str, optional

    Returns
    -------
    Microdata
        Workers of age 17 and over with a positive income, born in the states, DC or five island areas.

    Raises
    ------
    InputError
        A missing file (saying where it was looked for and where to get it) or column.
    """
    return acs.microdata(pums_columns(path), sensitive, qi)


def pums_frame(path: Paths | None = None) -> Columns:
    """The same, with labels."""
    return acs.labelled(pums_columns(path))


def ipums_columns(path: str | Path | None = None, ddi: str | Path | None = None) -> Columns:
    """The nine attributes of Table 6 from an IPUMS USA extract."""
    file = find(path, ["ipums.csv", "ipums.csv.gz", "ipums.dat", "ipums.dat.gz"], GET_IPUMS)
    if ".dat" in file.suffixes:
        codebook = Path(ddi) if ddi is not None else file.with_name(file.name.split(".dat")[0] + ".xml")
        raw = _read_fixed_width(file, find(codebook, [], "the DDI codebook that IPUMS gives with every extract"))
    else:
        raw = _read_numbers(file, IPUMS_NEEDS)
    working = (raw["AGE"] >= 17) & (raw["INCTOT"] >= 1) & (raw["INCTOT"] < 9_999_998) & (raw["EDUC99"] > 0)
    working &= np.isin(raw["CLASSWKRD"], IPUMS_WORK) & (raw["OCC2010"] < 9920)
    raw = {name: column[working] for name, column in raw.items()}
    return _table_6(
        {
            "Age": np.clip(raw["AGE"], 17, 95) - 17,
            "Gender": raw["SEX"] - 1,
            "Race": raw["RACE"] - 1,
            "MaritalStatus": raw["MARST"] - 1,
            "BirthPlace": _dense(raw["BPL"], IPUMS_PLACES),
            "Education": raw["EDUC99"] - 1,
            "WorkClass": _dense(raw["CLASSWKRD"], IPUMS_WORK),
            "Income": np.minimum(49, raw["INCTOT"] // 4000),
            "Occupation": raw["OCC2010"] // 200,
        }
    )


def _read_fixed_width(file: Path, codebook: Path) -> Columns:
    try:
        import warnings

        from ipumspy import readers
    except ImportError as error:
        raise InputError("a fixed-width IPUMS extract needs ipumspy: pip install 'ldiv[ipums]'") from error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its citation notice; the documentation carries it
        book = readers.read_ipums_ddi(codebook)
        there = {variable.name for variable in book.data_description}
        missing = [name for name in IPUMS_NEEDS if name not in there]
        if missing:
            raise InputError(f"{codebook}: the extract has no {missing[0]}; it needs {', '.join(IPUMS_NEEDS)}")
        table = readers.read_microdata(book, file, subset=list(IPUMS_NEEDS))
    return {name: table[name].to_numpy(dtype=float, na_value=np.nan) for name in IPUMS_NEEDS}


def ipums(
    path: str | Path | None = None,
    *,
    ddi: str | Path | None = None,
    sensitive: str | None = None,
    qi: Sequence[str] | None = None,
) -> Microdata:
    """An IPUMS USA extract, the paper's own source, recoded to its Table 6.

    Parameters
    ----------
    path : path, optional
        ``.dat`` / ``.dat.gz`` (fixed width, read by ipumspy) or ``.csv`` / ``.csv.gz``; default ipums.* in ``$LDIV_DATA``, ./data or
        the working directory.
    ddi : path, optional
        The DDI codebook of a fixed-width file; default the .xml of the same name beside it.
    sensitive : str, optional
        Default Income.
    qi : sequence of str, optional

    Returns
    -------
    Microdata
        The codes are IPUMS' own where they have the paper's number of values (RACE, MARST, EDUC99); Income and Occupation in 50 bands.

    Raises
    ------
    InputError
        A missing file (saying where it was looked for and where to get it) or variable.

    Notes
    -----
    Cite IPUMS when you use its data (ipums.org). Labels are those of acs2018, whose coding of race, marital status, education
    and work class differs; use the codes.
    """
    return acs.microdata(ipums_columns(path, ddi), sensitive, qi)


def ipums_frame(path: str | Path | None = None, ddi: str | Path | None = None) -> Columns:
    """The nine columns as codes."""
    return {name: column.astype(np.int64) for name, column in ipums_columns(path, ddi).items()}


def adult_frame(path: str | Path | None = None, *, complete: bool = False) -> Columns:
    """UCI Adult as a dict of columns: numbers as integers, text without its padding, "?" where a value is not known.

    Parameters
    ----------
    path : path, optional
        adult.data, also .gz; default adult.data[.gz] in ``$LDIV_DATA``, ./data or the working directory.
    complete : bool, default False
        Leave out rows with a "?".
    """
    import csv
    import gzip
    import io

    file = find(path, ["adult.data", "adult.data.gz"], GET_ADULT)
    with gzip.open(file, "rt") if file.suffix == ".gz" else file.open() as stream:
        rows: list[list[str]] = []
        for row in csv.reader(io.StringIO(stream.read()), skipinitialspace=True):
            if row and len(row) != len(ADULT_NAMES):
                raise InputError(f"{file}, line {len(rows) + 1}: {len(row)} fields, not {len(ADULT_NAMES)}")
            if row and not (complete and "?" in row):
                rows.append(row)
    columns = {name: np.array(column) for name, column in zip(ADULT_NAMES, zip(*rows, strict=True), strict=True)}
    return {name: c.astype(np.int64) if c[0].lstrip("-").isdigit() else c for name, c in columns.items()}


def adult(path: str | Path | None = None, *, complete: bool = False, sensitive: str | None = None, qi: Sequence[str] | None = None) -> Microdata:
    """UCI Adult as Microdata.

    Parameters
    ----------
    path, complete
        As :func:`adult_frame`.
    sensitive : str, optional
        Default occupation.
    qi : sequence of str, optional
        Default age, workclass, education, marital-status, race, sex, native-country.

    Returns
    -------
    Microdata
    """
    target = sensitive or "occupation"
    chosen = list(qi) if qi is not None else [name for name in ADULT_QI if name != target]
    return Microdata.from_frame(adult_frame(path, complete=complete), chosen, target)
