"""What runs inside a peer's own environment: python runners.py NAME IN.csv OUT.csv L QI,... SENSITIVE. No import of ldiv here."""

import json
import sys
import time

import pandas as pd


def anonypy(table, qi, sensitive, l):
    import anonypy as peer

    table = table.astype({name: "category" for name in table.columns if table[name].dtype.kind not in "iuf"})
    rows = pd.DataFrame(peer.Preserver(table, qi, sensitive).anonymize_l_diversity(k=l, l=l))
    for name in qi:  # each value comes in a list of its own
        rows[name] = [value[0] if isinstance(value, list) else value for value in rows[name]]
    return rows.loc[rows.index.repeat(rows["count"]), [*qi, sensitive]]


def anonypyx(table, qi, sensitive, l):
    import anonypyx as peer

    table = table.astype({name: "category" for name in table.columns if table[name].dtype.kind not in "iuf"})
    rows = peer.Anonymiser(
        table,
        k=l,
        l=l,
        algorithm="Mondrian",
        feature_columns=qi,
        sensitive_column=sensitive,
        generalisation_strategy="human-readable",
    ).anonymise()
    return rows.loc[rows.index.repeat(rows["count"]), [*qi, sensitive]]


def anjana(table, qi, sensitive, l):
    from anjana.anonymity import l_diversity

    hierarchies = {name: {0: table[name].values, 1: ["*"] * len(table)} for name in qi}
    return l_diversity(table, [], qi, sensitive, l, l, 50, hierarchies)[[*qi, sensitive]]


def pycanon(table, qi, sensitive, l):
    from pycanon import anonymity

    print("distinct l:", anonymity.l_diversity(table, qi, [sensitive]), file=sys.stderr)
    return table


def peak():
    """Peak of this process in kB. Not getrusage's: that one includes what the parent held when it started us. Linux only."""
    with open("/proc/self/status") as stream:
        return next(float(line.split()[1]) for line in stream if line.startswith("VmHWM"))


if __name__ == "__main__":
    name, source, target, l, qi, sensitive = sys.argv[1:]
    table = pd.read_csv(source)
    started = time.perf_counter()
    published = globals()[name](table, qi.split(","), sensitive, int(l))
    seconds = time.perf_counter() - started
    published.to_csv(target, index=False)
    print(json.dumps({"seconds": seconds, "megabytes": peak() / 1024}))
