"""The Hilbert curve in any number of dimensions, and the grouping of rows along it."""

import numpy as np
from numpy.typing import NDArray

def curve_keys(codes: NDArray[np.int32], bits: int) -> NDArray[np.uint64]: ...

class Grouping:
    group: NDArray[np.int32]
    cell: NDArray[np.int32]
    rows: NDArray[np.int64]
    def __init__(
        self,
        column: NDArray[np.int32],
        column_indptr: NDArray[np.int64],
        position: NDArray[np.int32],
        count: NDArray[np.int64],
        histogram: NDArray[np.int64],
        l: int,
        k: int = ...,
    ) -> None: ...
    def run(self) -> None: ...
