"""The configuration dual: with a price a cell, every group's best whole l-eligible set, exactly."""

import numpy as np
from numpy.typing import NDArray

def respond(
    item: NDArray[np.int32],
    group_of_item: NDArray[np.int32],
    starts: NDArray[np.int64],
    order: NDArray[np.int32],
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
    reach: float,
    share: NDArray[np.float32] | None = ...,
) -> tuple[float, int]: ...
def forced(
    item: NDArray[np.int32],
    group_of_item: NDArray[np.int32],
    starts: NDArray[np.int64],
    order: NDArray[np.int32],
    stars: NDArray[np.float64],
    sensitive: NDArray[np.int32],
    m: int,
    count: NDArray[np.int64],
    price: NDArray[np.float64],
    l: int,
    k: int,
    height: NDArray[np.int64],
    gain: NDArray[np.float64],
    loss: NDArray[np.float64],
) -> None: ...
