"""Algorithms that give one release."""

from benchopt import BaseSolver

import ldiv


class Solver(BaseSolver):
    name = "ldiv"
    requirements = ["pip::ldiv"]
    sampling_strategy = "run_once"
    parameters = {"algorithm": ["tp", "tp+", "hilbert", "cascade"]}

    def set_objective(self, data, l):
        self.data, self.l = data, l

    def run(self, _):
        self.release = ldiv.solve(self.data, self.l, algorithm=self.algorithm)

    def get_result(self):
        return {"release": self.release}
