"""Re-encode the public 2018 ACS extract into the table that ships (ldiv/datasets/data).

    python tools/build_acs2018.py table6_like_2018.csv.gz recodes.json acs2018_codebook.json

Rows stay in source order, every column one byte; labels and declared domain sizes go to recodes.json.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

OUT = Path(__file__).parents[1] / "ldiv" / "datasets" / "data"
# The domain sizes of the paper's Table 6; The last value of Marital and of Work class
# does not occur in this extract.
SIZES = {
    "Age": 79,
    "Gender": 2,
    "Race": 9,
    "MaritalStatus": 6,
    "BirthPlace": 56,
    "Education": 17,
    "WorkClass": 9,
    "Income": 50,
    "Occupation": 50,
}
ORDERED = {"Age", "Education", "Income"}


def main(table: str, recodes: str, codebook: str) -> None:
    raw = np.loadtxt(table, dtype=np.int64, delimiter=",", skiprows=1)
    names = list(SIZES)
    assert (raw >= 0).all() and all(raw[:, j].max() < SIZES[name] for j, name in enumerate(names))
    np.savez_compressed(OUT / "acs2018.npz", **{name: raw[:, j].astype(np.uint8) for j, name in enumerate(names)})
    places = json.loads(Path(recodes).read_text())["table6_like_2018"]["BirthPlace"]
    book = json.loads(Path(codebook).read_text())
    school = book["SCHL"]
    labels = {
        "Age": [*map(str, range(17, 95)), "95 or more"],
        "Gender": list(book["SEX"].values()),
        "Race": list(book["RAC1P"].values()),
        "MaritalStatus": [*book["MAR"].values(), "Married, spouse absent"],
        "BirthPlace": [book["POBP"][str(places[str(k)])] for k in range(56)],
        "Education": [
            school["1"],
            "Nursery school to grade 4",
            "Grade 5 or 6",
            "Grade 7 or 8",
            *(school[str(k)] for k in range(12, 25)),
        ],
        "WorkClass": list(book["COW"].values()),
        "Income": [*(f"{4000 * k} to {4000 * k + 3999}" for k in range(49)), "196000 or more"],
        "Occupation": [f"OCCP {200 * k:04d} to {200 * k + 199:04d}" for k in range(50)],
    }
    recode = {
        "Age": "clip(AGEP, 17, 95) - 17",
        "Gender": "SEX - 1",
        "Race": "RAC1P - 1",
        "MaritalStatus": "MAR - 1",
        "BirthPlace": "POBP: states and DC in FIPS order, then five island areas",
        "Education": "SCHL: {1} {2-7} {8-9} {10-11}, then 12..24 one each",
        "WorkClass": "COW - 1",
        "Income": "min(49, max(0, PINCP) // 4000)",
        "Occupation": "OCCP // 200",
    }
    about = {name: {"size": SIZES[name], "ordered": name in ORDERED, "recode": recode[name], "labels": labels[name]} for name in names}
    (OUT / "recodes.json").write_text(json.dumps(about, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
