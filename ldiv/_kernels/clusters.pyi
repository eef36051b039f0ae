"""Nearest and farthest points of the clustering algorithms: distances are sums of an entry of a table for each attribute."""

import numpy as np
from numpy.typing import NDArray

def nearest(
    numbers: NDArray[np.int32],
    points: NDArray[np.int32],
    indptr: NDArray[np.int64],
    sensitive: NDArray[np.int32],
    left: NDArray[np.int64],
    allowed: NDArray[np.int8],
    offset: NDArray[np.int64],
    table: NDArray[np.int64],
) -> int: ...
def farthest(
    numbers: NDArray[np.int32],
    points: NDArray[np.int32],
    indptr: NDArray[np.int64],
    sensitive: NDArray[np.int32],
    left: NDArray[np.int64],
    allowed: NDArray[np.int8],
    offset: NDArray[np.int64],
    table: NDArray[np.int64],
) -> int: ...
