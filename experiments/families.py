"""Tables made for a purpose: the family on which TP reaches phase three, and small ones whose optimum can be computed."""

from __future__ import annotations

import numpy as np

from ldiv.hardness import gadget, no_instance, yes_instance
from ldiv.table.microdata import Microdata

__all__ = ["gadget_table", "phase_three_table", "small_table"]


def phase_three_table(k: int, l: int) -> Microdata:
    """A table on which phase three takes about k rounds, for l >= 4.

    Of l + 1 SA values the first l - 1 are R's pillars after phase one: a group that holds nothing else, l * k rows of each, is cut to nothing.
    The other 2k groups are thin (|Q| = l * H, H = l - 1) and each has one of R's first two pillars among its own three, so it is dead from
    the start and phase two can move nothing. Each round must open one group of each kind, since the two kinds share no pillar of R.
    """
    high = l - 1
    groups = []
    for own in (0, 1):
        histogram = np.zeros(l + 1, dtype=int)
        histogram[[own, l - 1, l]] = high
        others = [v for v in range(l - 1) if v != own]
        share, more = divmod(high * (l - 3), len(others))
        histogram[others] = share
        histogram[others[len(others) - more :]] += 1
        groups += [histogram] * k
    groups.append(np.array([l * k] * (l - 1) + [0, 0]))
    codes = np.repeat(np.arange(len(groups)), [g.sum() for g in groups])
    sensitive = np.concatenate([np.repeat(np.arange(l + 1), g) for g in groups])
    return Microdata.from_codes(codes[:, None], sensitive, [len(groups), l + 1])


def small_table(seed: int) -> Microdata:
    """A random table of 12 to 40 rows, three attributes of up to four values, that is 3-eligible."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(12, 41)), int(rng.integers(4, 7))
    sensitive = rng.permutation(np.arange(n) % m)  # every value equally often, so at least 4-eligible but for the remainder
    sizes = rng.integers(2, 5, 3)
    return Microdata.from_codes(np.stack([rng.integers(0, size, n) for size in sizes], axis=1), sensitive, [*sizes, m])


def gadget_table(seed: int) -> Microdata:
    """A gadget of section 3: of a 3DM instance with a perfect matching (even seeds) or without (odd seeds), m from 3 to 8."""
    points = yes_instance(3, 5, seed) if seed % 2 == 0 else no_instance(3, 5, seed)
    return gadget(points, 3, m=3 + seed // 2 % 6).data
