"""The configuration dual: with a price a cell, every group's best whole l-eligible set, exactly."""

import numpy as np
from numpy.typing import NDArray

def respond(
    cells: NDArray[np.int32],
    bounds: NDArray[np.int64],
    pattern: NDArray[np.int32],
    groups: NDArray[np.int32],
    stars: NDArray[np.float64],
    sensitive: NDArray[np.int32],
    m: int,
    count: NDArray[np.int64],
    price: NDArray[np.float64],
    l: int,
    k: int,
    height: NDArray[np.int64],
    usage: NDArray[np.int64],
    gain: NDArray[np.float64],
) -> float: ...
