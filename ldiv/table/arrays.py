"""Arrays at the door: range and type are looked at in numpy before a kernel sees them, and what was looked at cannot change any more.

And sums that do not wrap, whatever stands in the arrays.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ldiv.arguments import shown
from ldiv.errors import InputError

__all__ = ["dot", "frozen", "narrowest", "seal", "total", "weighted_total", "whole"]


def whole(
    value: Any,
    name: str,
    *,
    low: int,
    high: int,
    dtype: Any = np.int64,
    shape: tuple[int | None, ...] = (None,),
    order: Literal["C", "F", "A"] = "C",
    own: bool = True,
) -> NDArray[Any]:
    """An array of whole numbers from `low` to `high`, of the dtype and layout that kernels take, which nobody else can write to.

    Parameters
    ----------
    value : array_like of int
    name : str
        For the message.
    low, high : int
        What its entries may be, both ends included.
    dtype : numpy integer type
    shape : tuple
        None stands for any length.
    order : {"C", "F"}
    own : bool
        False where the array is read at once and not kept: then nothing is copied that has the right dtype and layout.

    Raises
    ------
    InputError
        Not whole numbers, another shape, or an entry out of range, which is named with its place.
    """
    if isinstance(value, np.ma.MaskedArray):
        raise InputError(f"{name} must be whole numbers (an array of integers), not a masked array")
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise InputError(f"{name} must be an array of whole numbers, not {shown(value)}: {error}") from None
    if len(shape) != array.ndim or any(n is not None and n != m for n, m in zip(shape, array.shape, strict=True)):
        wanted = ", ".join("any" if n is None else str(n) for n in shape)
        raise InputError(f"{name} must have shape ({wanted}{',' if len(shape) == 1 else ''}), not {array.shape}")
    if array.dtype.kind not in "iu":
        if array.size:
            raise InputError(f"{name} must be whole numbers (an array of integers), not {array.dtype}")
        array = array.astype(np.int64 if dtype is None else dtype)
    if array.size and (int(array.min()) < low or int(array.max()) > high):
        place = np.unravel_index(int(np.argmax((array < low) | (array > high))), array.shape)
        where = ", ".join(str(int(k)) for k in place)
        raise InputError(f"{name}[{where}] must be a whole number, at least {low:,} and at most {high:,}, not {shown(int(array[place]))}")
    return frozen(array, dtype, order) if own else np.require(array, dtype, order)


def frozen(array: NDArray[Any], dtype: Any = None, order: Literal["C", "F", "A"] = "C") -> NDArray[Any]:
    """The array itself where nobody can write to it and the layout is right, else a copy for which that is so."""
    laid_out = array.flags.f_contiguous if order == "F" else array.flags.c_contiguous
    fits = (dtype is None or array.dtype == dtype) and laid_out and array.dtype.isnative and type(array) is np.ndarray
    below: Any = array
    while fits and isinstance(below, np.ndarray):
        fits = not below.flags.writeable
        below = below.base
    if not fits:
        array = np.array(array, dtype=dtype, order=order, copy=True, subok=False)
        array.setflags(write=False)
    return array


def narrowest(sizes: Iterable[int]) -> np.dtype[Any]:
    """The type in which rows keep codes of domains of these sizes: a byte or two where all fit, else int32."""
    most = max(sizes, default=1)
    return np.dtype(np.uint8 if most <= 1 << 8 else np.uint16 if most <= 1 << 16 else np.int32)


def seal(*arrays: NDArray[Any]) -> None:
    """What this package has just made, nobody can write to any more."""
    for array in arrays:
        array.setflags(write=False)


def total(count: NDArray[np.int64]) -> int:
    """The sum of at most 2**31 numbers of at least 0, exactly."""
    if int(count.max(initial=0)) * len(count) < 1 << 62:
        return int(count.sum())
    return (int((count >> 32).sum()) << 32) + int((count & 0xFFFFFFFF).sum())


def dot(a: NDArray[Any], b: NDArray[Any]) -> int:
    """The sum of products of two arrays of integers, exactly: in 64 bits where that certainly suffices, else in Python's integers."""
    if not len(a):
        return 0
    largest = max(int(a.max()), -int(a.min())) * max(int(b.max()), -int(b.min()))
    if largest * len(a) < 1 << 62:
        return int(a.astype(np.int64) @ b.astype(np.int64))
    return int(np.dot(a.astype(object), b.astype(object)))


def weighted_total(count: NDArray[np.int64], chosen: NDArray[np.bool_]) -> list[int]:
    """The sum of `count` over the rows of each column of `chosen`, exactly; shape (n,) and (n, d)."""
    return [total(count[column]) for column in chosen.T]
