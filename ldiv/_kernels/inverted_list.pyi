"""The inverted list of section 5.2 over numpy buffers: the cells of a group in order of their height, those of one height side by side."""

import numpy as np
from numpy.typing import NDArray

class InvertedList:
    def __init__(self, indptr: NDArray[np.int64], count: NDArray[np.int64], size: NDArray[np.int64], height: NDArray[np.int64]) -> None: ...
