"""Kernels of KL-divergence: how much of the release lies at each point of the table."""

import numpy as np
from numpy.typing import NDArray

def spread_pattern(
    point_key: NDArray[np.uint64],
    indptr: NDArray[np.int64],
    sensitive: NDArray[np.int32],
    mask: int,
    groups: NDArray[np.int32],
    group_key: NDArray[np.uint64],
    held_indptr: NDArray[np.int64],
    held_sensitive: NDArray[np.int32],
    held: NDArray[np.int64],
    m: int,
    share: float,
    out: NDArray[np.float64],
) -> None: ...
def spread_boxes(
    codes: NDArray[np.int32],
    indptr: NDArray[np.int64],
    sensitive: NDArray[np.int32],
    contains: NDArray[np.uint64],
    offset: NDArray[np.int64],
    box_indptr: NDArray[np.int64],
    box_sensitive: NDArray[np.int32],
    box_share: NDArray[np.float64],
    m: int,
    out: NDArray[np.float64],
) -> None: ...
