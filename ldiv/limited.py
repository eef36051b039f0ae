"""A loss along hierarchies with levels that are not passed, as it travels from what was asked to the lattice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Limited"]


@dataclass(frozen=True)
class Limited:
    """A loss, and for some attributes the highest level that is shown: it stands for the star, in a table all of whose rows share that node.

    Attributes
    ----------
    loss : as `loss=` takes it
    highest : mapping of attribute's name to level
    """

    loss: str | Mapping[Any, Any] | None
    highest: Mapping[Any, int]
