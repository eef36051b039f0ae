"""What a release is still good for: answers to queries, marginals, associations, what can be learnt from it.

Measures in one number are in :mod:`ldiv` itself: ``kl_divergence``, ``ncp``, ``precision``, ``non_uniform_entropy``, ``ambiguity``, ``discernibility``, ``c_avg``,
``average_group_size``.
"""

from ldiv.utility.learning import Scores, as_released, on_originals, propensity
from ldiv.utility.marginals import associations, cramers_v, k_marginal, total_variation
from ldiv.utility.queries import Errors, Workload

__all__ = [
    "Errors",
    "Scores",
    "Workload",
    "as_released",
    "associations",
    "cramers_v",
    "k_marginal",
    "propensity",
    "on_originals",
    "total_variation",
]
