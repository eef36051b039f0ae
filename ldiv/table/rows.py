"""What the cells of a table know of its rows."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ldiv.table.domain import Domain

__all__ = ["Rows"]


@runtime_checkable
class Rows(Protocol):
    """A table as rows of codes: :class:`ldiv.Microdata`, as far as cells need to know it."""

    @property
    def codes(self) -> NDArray[np.int32]: ...

    @property
    def narrow(self) -> NDArray[Any]: ...

    @property
    def sensitive(self) -> NDArray[np.int32]: ...

    @property
    def domains(self) -> tuple[Domain, ...]: ...

    @property
    def sensitive_domain(self) -> Domain: ...

    @property
    def source(self) -> Any: ...

    @property
    def n(self) -> int: ...

    @property
    def d(self) -> int: ...

    @property
    def m(self) -> int: ...

    @property
    def names(self) -> tuple[Any, ...]: ...

    @property
    def contingency(self) -> Any: ...
