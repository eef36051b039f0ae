"""Clustering algorithms: rows near each other published as ranges, sets or nodes, every cluster l-eligible."""

from ldiv.algorithms.clustering.k_member import k_member
from ldiv.algorithms.clustering.mdav import mdav
from ldiv.algorithms.clustering.oka import oka

__all__ = ["k_member", "mdav", "oka"]
