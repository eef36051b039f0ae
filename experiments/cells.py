"""A cell of the grid: what is solved once and stored once. Apart from the grid, so that a change of the grid keeps the results."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Cell", "Table"]


@dataclass(frozen=True, order=True)
class Table:
    """A table of the grid: the first n rows of a data set on some attributes, with the data set's hierarchies of them or without."""

    dataset: str
    n: int
    attributes: tuple[str, ...]
    sensitive: str
    hierarchies: bool = False


@dataclass(frozen=True, order=True)
class Cell:
    """One cell of the grid, solved once and stored once.

    `measure` is a function of experiments.measure: quality, divergence or seconds.
    """

    table: Table
    l: int
    algorithm: str
    measure: str = "quality"
    k: int = 1
