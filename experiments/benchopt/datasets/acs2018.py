"""The table that ships with ldiv: 248,381 workers of the American Community Survey."""

from benchopt import BaseDataset

import ldiv


class Dataset(BaseDataset):
    name = "acs2018"
    requirements = ["pip::ldiv"]
    parameters = {"sensitive": ["Income", "Occupation"], "d": [4, 5], "rows": [20_000, 248_381]}

    def get_data(self):
        qi = ["Age", "Gender", "Race", "MaritalStatus", "Education"][: self.d]
        return {"data": ldiv.datasets.load("acs2018", sensitive=self.sensitive, qi=qi).head(self.rows)}
