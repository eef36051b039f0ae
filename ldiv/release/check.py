"""The inside check of a release: every row once, every group l-eligible, every cell true. What leaves is checked again from outside (privacy.verify)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

import ldiv._kernels.cells as _cells
import ldiv._kernels.release as _release
from ldiv.errors import UnsafeReleaseError
from ldiv.release.form import STAR, Subdomain
from ldiv.table.contingency import Contingency

__all__ = ["complete", "eligible", "truthful"]


def complete(contingency: Contingency, cell: NDArray[np.int32], count: NDArray[np.int64], algorithm: str) -> None:
    """Every row of the table is published once."""
    if not np.array_equal(_cells.tally(cell, len(contingency.sensitive), count), contingency.count):
        raise UnsafeReleaseError(f"{algorithm}: the release does not hold every row exactly once")


def eligible(
    contingency: Contingency, size: NDArray[np.int64], height: NDArray[np.int64], pillar: NDArray[np.int32], l: int, algorithm: str, k: int = 1
) -> None:
    """Every QI-group is l-eligible and has at least k rows; quotients are compared, since l times a height may pass 64 bits."""
    bad = np.flatnonzero(size // l < height)
    if len(bad):
        g = bad[0]
        raise UnsafeReleaseError(
            f"{algorithm}: {len(bad)} QI-groups are not {l}-eligible, the first with {size[g]} rows of which "
            f"{height[g]} have sensitive value {contingency.sensitive_domain.label(int(pillar[g]))!r}"
        )
    if len(size) and int(size.min()) < k:
        raise UnsafeReleaseError(f"{algorithm}: {int(np.count_nonzero(size < k))} QI-groups have fewer than {k} rows, the smallest {int(size.min())}")


def truthful(
    contingency: Contingency,
    published: NDArray[np.int32],
    indptr: NDArray[np.int64],
    cell: NDArray[np.int32],
    subdomains: Sequence[Sequence[Subdomain]],
    algorithm: str,
) -> None:
    """Every value or sub-domain that a group publishes is true of all its rows."""
    c, member = contingency, contingency.group_of_cell
    wrong = _release.first_untruthful(indptr, cell, member, c.codes, published) >= 0
    for j, kinds in enumerate(subdomains):
        if not (published[:, j] < STAR).any():
            continue
        claim = np.repeat(published[:, j], np.diff(indptr))
        rows = np.flatnonzero(claim < STAR)
        if len(rows):  # pairs (sub-domain, code) as numbers: a table of them would grow with the domain
            size = c.domains[j].size
            held = np.concatenate([np.array(x.codes, dtype=np.int64) + k * size for k, x in enumerate(kinds)])
            wrong = wrong or not np.isin((-2 - claim[rows].astype(np.int64)) * size + c.codes[member[cell[rows]], j], held).all()
    if wrong:
        raise UnsafeReleaseError(f"{algorithm}: a group publishes a value its rows do not have")
