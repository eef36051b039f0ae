"""Phase one of TP (section 5.1): every group cut to its largest l-eligible height."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

def phase_one(
    indptr: NDArray[np.int64],
    count: NDArray[np.int64],
    l: int,
    kept: NDArray[np.int64],
    k: int = ...,
    sensitive: NDArray[np.int32] | None = ...,
    forced: NDArray[np.int8] | None = ...,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]: ...
def kept_of_sorted(key: NDArray[Any], last: int, bits: int, l: int, k: int = ..., forced: NDArray[np.int8] | None = ...) -> int: ...
