"""TP, the three-phase algorithm of section 5, on the cells of a contingency."""

import numpy as np
from numpy.typing import NDArray

from ldiv._kernels.inverted_list import InvertedList
from ldiv._kernels.moves import State

class Phases(State):
    steps: int
    def __init__(
        self,
        groups: InvertedList,
        sensitive: NDArray[np.int32],
        group_of: NDArray[np.int32],
        residue: NDArray[np.int64],
        l: int,
        column: NDArray[np.int32],
        column_indptr: NDArray[np.int64],
        group_order: NDArray[np.int32],
        value_rank: NDArray[np.int32],
        value_order: NDArray[np.int32],
        few: int = ...,
    ) -> None: ...
    @property
    def height(self) -> int: ...
    @property
    def eligible(self) -> bool: ...
    def phase_two(self) -> None: ...
    def record(self, nested: bool) -> None: ...
    def phase_three(self) -> None: ...
