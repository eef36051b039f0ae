"""Prices on the eligibility constraints: one sweep of the dual ascent, rounding, and the exact value of the bound."""

import numpy as np
from numpy.typing import NDArray

BLOCK: int

def select(
    item: NDArray[np.int32],
    offset: NDArray[np.int64],
    cost: NDArray[np.float32],
    reach: float,
    low: int,
    high: int,
    near: NDArray[np.uint16],
    start: NDArray[np.int64],
) -> None: ...
def respond(
    item: NDArray[np.int32],
    offset: NDArray[np.int64],
    cost: NDArray[np.float32],
    rows: NDArray[np.float32],
    temperature: float,
    low: int,
    high: int,
    near: NDArray[np.uint16],
    start: NDArray[np.int64],
    share: NDArray[np.float32],
) -> float: ...
def shares(near: NDArray[np.uint16], start: NDArray[np.int64], share: NDArray[np.float32], p: int, cells: int) -> NDArray[np.float32]: ...
def adjust(
    item: NDArray[np.int32],
    near: NDArray[np.uint16],
    start: NDArray[np.int64],
    share: NDArray[np.float32],
    p: int,
    indptr: NDArray[np.int64],
    fixed: NDArray[np.float32],
    price: NDArray[np.float32],
    first: NDArray[np.float32],
    second: NDArray[np.float32],
    cost: NDArray[np.float32],
    load: NDArray[np.float32],
    pays: NDArray[np.float32],
    step: float,
    decay_first: float,
    decay_second: float,
    correct_first: float,
    correct_second: float,
) -> None: ...
def propose(item: NDArray[np.int32], share: NDArray[np.float32], rows: NDArray[np.int64], items: int) -> NDArray[np.int64]: ...
def cheapest(item: NDArray[np.int32], offset: NDArray[np.int64], cost: NDArray[np.int64], cap: int) -> NDArray[np.int64]: ...
