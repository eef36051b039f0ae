"""The sensitive values of a release's groups, for principles to judge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ldiv.privacy.principles import Histograms, histograms_of
from ldiv.release.release import Release

__all__ = ["histograms"]


def histograms(release: Release, group: NDArray[np.integer], groups: int, entry: NDArray[np.int64] | None = None) -> Histograms:
    """The SA histograms of numbered groups of a release's entries, or of some of them."""
    c = release.contingency
    cell, count = (release.cell, release.count) if entry is None else (release.cell[entry], release.count[entry])
    return histograms_of(c, group, c.sensitive[cell], count, groups)
