"""The near-optimal search, stopped after more and more time."""

from benchopt import BaseSolver

import ldiv


class Solver(BaseSolver):
    name = "near-optimal"
    requirements = ["pip::ldiv"]
    sampling_strategy = "iteration"  # of halves of a second
    parameters = {"effort": ["default", "best"]}

    def set_objective(self, data, l):
        self.data, self.l = data, l

    def run(self, halves):
        self.release = ldiv.solve(self.data, self.l, algorithm="lagrangian", effort=self.effort, time_limit=0.5 * max(halves, 0.2))

    def get_next(self, halves):
        return 2 * halves + 1

    def get_result(self):
        return {"release": self.release}
