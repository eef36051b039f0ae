"""Kernels of the top-down algorithms: TDS (specialisation along taxonomies) and Mondrian (median splits)."""

import numpy as np
from numpy.typing import NDArray

def split_runs(order: NDArray[np.int32], runs: NDArray[np.int64], child_of: NDArray[np.int32], children: int) -> NDArray[np.int64]: ...
def least_ratios(
    order: NDArray[np.int32],
    runs: NDArray[np.int64],
    child_of: NDArray[np.int32],
    children: NDArray[np.int32],
    indptr: NDArray[np.int64],
    sensitive: NDArray[np.int32],
    count: NDArray[np.int64],
    m: int,
    l: int,
    k_rows: int = ...,
) -> tuple[NDArray[np.float64], NDArray[np.int8]]: ...
def median_splits(
    codes: NDArray[np.int32],
    seen: NDArray[np.int32],
    offset: NDArray[np.int64],
    sizes: NDArray[np.int32],
    indptr: NDArray[np.int64],
    sensitive: NDArray[np.int32],
    count: NDArray[np.int64],
    m: int,
    l: int,
    k: int = ...,
) -> NDArray[np.int32]: ...
