"""What runs inside anonymeter's own environment: python attackers.py PEOPLE.csv OTHERS.csv RELEASED.csv SENSITIVE ATTACKS. No import of ldiv here."""

import json
import sys
import time
import warnings

import pandas as pd

NEIGHBOURS, COLUMNS = 5, 3  # of a linkage, and of a predicate that singles out


def main(people, others, released, sensitive, attacks):
    from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator

    ori, control, syn = (pd.read_csv(path, dtype=str, keep_default_na=False).astype(object) for path in (people, others, released))
    qi = [name for name in ori if name != sensitive]
    tables = {"ori": ori, "syn": syn, "control": control, "n_attacks": attacks}
    half = (len(qi) + 1) // 2
    evaluators = {
        "inference": lambda: InferenceEvaluator(**tables, aux_cols=qi, secret=sensitive),
        "linkability": lambda: LinkabilityEvaluator(**tables, aux_cols=(qi[:half], qi[half:]), n_neighbors=NEIGHBOURS),
        "singling out": lambda: SinglingOutEvaluator(**tables, n_cols=COLUMNS),
    }
    rows = []
    for name, make in evaluators.items():
        started = time.perf_counter()
        evaluator = make()
        evaluator.evaluate(**({"mode": "multivariate"} if name == "singling out" else {"n_jobs": 1}))
        found, risk = evaluator.results(), evaluator.risk()
        rows.append(
            {
                "attack": name,
                "attack_rate": found.attack_rate.value,
                "control_rate": found.control_rate.value,
                "baseline_rate": found.baseline_rate.value,
                "risk": risk.value,
                "low": risk.ci[0],
                "high": risk.ci[1],
                "seconds": time.perf_counter() - started,
            }
        )
    print(json.dumps(rows))


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    main(*sys.argv[1:5], int(sys.argv[5]))
