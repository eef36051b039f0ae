"""Stars of l-diverse releases over a bound that none can beat, for `benchopt run experiments/benchopt`."""

from benchopt import BaseObjective

from ldiv import kl_divergence, solve
from ldiv.utility import Workload


class Objective(BaseObjective):
    """The value is stars / bound - 1: 0 is a proven optimum."""

    name = "Stars over the proven bound"
    url = "https://arxiv.org/abs/0912.5426"
    min_benchopt_version = "1.7"
    requirements = ["pip::ldiv"]
    parameters = {"l": [2, 6]}

    def set_data(self, data):
        self.data = data
        self.bound = solve(data, self.l, effort="default").certificate.bound
        self.queries = Workload.anatomy(data, dims=min(3, data.d), count=500, seed=0)

    def get_objective(self):
        return {"data": self.data, "l": self.l}

    def evaluate_result(self, release):
        release.verify()
        return {
            "value": release.stars / max(self.bound, 1) - (self.bound > 0),
            "stars": release.stars,
            "bound": self.bound,
            "kl": kl_divergence(release),
            "query_error": self.queries.errors(release).median,
        }

    def get_one_result(self):
        return {"release": solve(self.data, self.l, algorithm="tp")}
