"""Expected answers of COUNT queries on groups that publish values, sets of values, or nothing."""

import numpy as np
from numpy.typing import NDArray

def expected(
    kind: NDArray[np.int32],
    indptr: NDArray[np.int64],
    sensitive: NDArray[np.int32],
    rows: NDArray[np.float64],
    offset: NDArray[np.int64],
    share: NDArray[np.float64],
    used: NDArray[np.int8],
    chosen: NDArray[np.float64],
) -> NDArray[np.float64]: ...
