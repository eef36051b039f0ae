"""Fit the generator of SAL and OCC: a mixture of product distributions over the nine attributes, by EM on acs2018.

    python tools/fit_census.py [components] [rounds] [seed]

Writes ldiv/datasets/data/census.npz: cumulative probabilities as 32-bit fractions, so that sampling is integer arithmetic and the same
on every platform. A product of marginals loses all dependence; a mixture of products keeps it as hidden classes of people.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

from ldiv.datasets.acs import columns, domains

OUT = Path(__file__).parents[1] / "ldiv" / "datasets" / "data" / "census.npz"
CHUNK = 1 << 14
PRIOR = 0.01  # pseudo-count of a value in a component: no zero that one more person would refute


def fit(components: int = 150, rounds: int = 60, seed: int = 2010) -> tuple[np.ndarray, list[np.ndarray]]:
    """Weights (K,) and per attribute the probabilities (size, K)."""
    codes = np.stack([columns()[name].astype(np.int64) for name in domains()])
    sizes = [domain.size for domain in domains().values()]
    n = codes.shape[1]
    onehot = [csr_matrix((np.ones(n, np.float32), (c, np.arange(n))), shape=(s, n)) for c, s in zip(codes, sizes, strict=True)]
    rng = np.random.default_rng(seed)
    members = rng.dirichlet(np.full(components, 0.1), n).astype(np.float32)
    for turn in range(rounds):
        started = time.perf_counter()
        weight = members.sum(axis=0, dtype=np.float64) / n
        tables = []
        for matrix in onehot:
            table = matrix @ members + PRIOR * (np.asarray(matrix.sum(axis=1)) > 0)
            tables.append(table / table.sum(axis=0))
        with np.errstate(divide="ignore"):
            logs = [np.log(table).astype(np.float32) for table in tables]
            base = np.log(weight).astype(np.float32)
        likelihood = 0.0
        for at in range(0, n, CHUNK):
            part = codes[:, at : at + CHUNK]
            score = base + logs[0][part[0]]
            for j in range(1, len(logs)):
                score += logs[j][part[j]]
            top = score.max(axis=1, keepdims=True)
            np.exp(score - top, out=score)
            total = score.sum(axis=1, keepdims=True)
            likelihood += float((np.log(total) + top).sum())
            members[at : at + CHUNK] = score / total
        print(f"round {turn + 1}: mean log-likelihood {likelihood / n:.5f}, {time.perf_counter() - started:.1f} s", flush=True)
    return weight, tables


def fractions(probability: np.ndarray) -> np.ndarray:
    """Cumulative probabilities along axis 0 as fractions of 2**32, without the last, which is 1."""
    cumulative = np.cumsum(probability.astype(np.float64), axis=0)
    return np.minimum(np.rint(cumulative[:-1] / cumulative[-1] * 2.0**32), 2.0**32 - 1).astype(np.uint32)


if __name__ == "__main__":
    weight, tables = fit(*map(int, sys.argv[1:]))
    order = np.argsort(-weight)
    np.savez_compressed(
        OUT,
        weight=fractions(weight[order]),
        **{name: fractions(table[:, order]) for name, table in zip(domains(), tables, strict=True)},
    )
    print(OUT.stat().st_size, "bytes")
