"""Who is published in which group: moves of single rows between l-eligible groups of all patterns."""

import numpy as np
from numpy.typing import NDArray

class LocalSearch:
    def __init__(
        self,
        item: NDArray[np.int32],
        offset: NDArray[np.int64],
        group_of_item: NDArray[np.int32],
        indptr: NDArray[np.int64],
        floor: NDArray[np.int32],
        price: NDArray[np.int32],
        finer: NDArray[np.int8],
        cells: NDArray[np.int32],
        bounds: NDArray[np.int64],
        given: NDArray[np.int64],
        rows: NDArray[np.int32],
        left: NDArray[np.int64],
        l: int,
        k: int = ...,
    ) -> None: ...
    def place(self, limit: int, most: int, effort: int) -> int: ...
    def improve(self, passes: int) -> int: ...
    def rebuild(self, rounds: int, effort: int) -> int: ...
