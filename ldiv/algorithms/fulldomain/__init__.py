"""Full-domain recoding: every column published on one level of its hierarchy, a few rows starred throughout.

One lattice, evaluated node by node in :mod:`~ldiv.algorithms.fulldomain.nodes`; the algorithms are orders in which it is searched.
"""

from ldiv.algorithms.fulldomain.datafly import datafly
from ldiv.algorithms.fulldomain.exhaustive import full_domain
from ldiv.algorithms.fulldomain.flash import flash
from ldiv.algorithms.fulldomain.incognito import incognito
from ldiv.algorithms.fulldomain.ola import ola
from ldiv.algorithms.fulldomain.samarati import samarati

__all__ = ["datafly", "flash", "full_domain", "incognito", "ola", "samarati"]
