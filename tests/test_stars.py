"""A star is a star: no value can be taken for one."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ldiv

STARS = {
    "0": [0, 0, 1, 2],
    "-1": [-1, -1, 1, 2],
    "0.5": [0.5, 0.5, 1.5, 2.5],
    "1": [1.0, 1.0, 2.0, 3.0],
    "True": [True, True, False, None],
    "true": [True, True, False, None],
    "2020-01-01": [pd.Timestamp(2020, 1, d) for d in (1, 1, 2, 3)],
    "x": ["x", "x", "y", "z"],
    " x": ["x", "x", "y", "z"],
    "": ["a", "a", None, "b"],
    "nan": [1.0, 1.0, float("nan"), 2.0],
}


@pytest.mark.parametrize(
    "library", [pd.DataFrame, pl.DataFrame, pa.table, lambda x: {k: np.array(v) for k, v in x.items()}], ids=["pandas", "polars", "pyarrow", "dict"]
)
@pytest.mark.parametrize("star", STARS)
def test_a_star_that_could_be_a_value_is_refused(star, library):
    with pytest.raises(ldiv.InputError, match="column 'q' already holds .*: choose another with star="):
        ldiv.anonymize(library({"q": STARS[star], "s": list("abab")}), ["q"], "s", 2, star=star)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_a_null_for_a_star_beside_nulls_is_refused_unless_asked_for(library):
    frame = library({"q": ["a", "b", None, None], "s": list("abab")})
    with pytest.raises(ldiv.InputError, match="'q' has missing values, so a null in place of a star"):
        ldiv.anonymize(frame, ["q"], "s", 2, star=None)
    assert ldiv.anonymize(frame, ["q"], "s", 2, star=None, star_is_null=True).stars == 2


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint64", "bool", "Int32", "boolean"])
def test_null_stars_keep_whole_numbers(dtype):
    values = [1, 1, 0, 0] if "bool" in dtype else [3, 3, 4, 5]
    if dtype in ("int64", "uint64"):
        values = [2**53 + 1, 2**53 + 1, 2**53 + 3, 2**53 + 4]
    frame = pd.DataFrame({"q": pd.Series(values, dtype=dtype), "s": list("abab") if "bool" not in dtype else list("abcc")})
    frame = frame if "bool" not in dtype else pd.DataFrame({"q": pd.Series([True, True, True, False], dtype=dtype), "s": list("abba")})
    out = ldiv.anonymize(frame, ["q"], "s", 2, star=None).frame["q"]
    assert out.dtype == {"bool": "boolean"}.get(dtype, dtype.capitalize().replace("Uint", "UInt") if "bool" not in dtype else dtype)
    assert [int(x) for x in out.dropna()] == [int(values[0])] * len(out.dropna()) and 0 < out.isna().sum() < 4
