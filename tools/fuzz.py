"""Random tables through every algorithm, constraint and measure, against naive versions and against themselves in disguise.

    python -m tools.fuzz --tables 100000 --jobs 2 --seed 0

Every table has a number, and the number makes it: a failure prints the one line that repeats it. Shapes are those that matter: few or many groups,
singletons, duplicates, one value too frequent, constant columns, wide tables, counts of one.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import oracle  # noqa: E402

import ldiv  # noqa: E402

FIELD = ["full-domain", "datafly", "samarati", "incognito", "ola", "flash", "k-member", "mdav", "oka", "mondrian-relaxed", "mondrian-infogain"]
QUICK = ["tp", "tp+", "hilbert", "cascade", "mondrian", "tds", "multidim", *FIELD]
SLOW = ["auto", "lagrangian", "exact"]


def table(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """QI codes, SA codes and domain sizes."""
    d, n = int(rng.integers(1, 5)), int(rng.choice([1, 2, 3, 5, 7, 9, 12, 16, 24, 40], p=[0.02, 0.03, 0.05, 0.1, 0.15, 0.15, 0.2, 0.15, 0.1, 0.05]))
    m = int(rng.integers(1, 7))
    sizes = [int(x) for x in rng.choice([1, 2, 3, 4, 9], d)]
    codes = np.column_stack([rng.integers(0, size, n) for size in sizes])
    shape = rng.integers(6)
    if shape == 0:  # few groups
        codes = codes[rng.integers(0, min(3, n), n)]
    if shape == 1:  # all alone
        codes, sizes[0] = codes.copy(), max(n, sizes[0])
        codes[:, 0] = rng.permutation(n)
    sensitive = rng.integers(0, m, n)
    if shape == 2:  # one value as frequent as it may be
        sensitive = np.where(rng.random(n) < 1 / max(int(rng.integers(2, 5)), 1), 0, sensitive)
    if shape == 3:  # the SA follows the first attribute
        sensitive = np.where(rng.random(n) < 0.7, codes[:, 0] % m, sensitive)
    if shape == 4:  # everything several times
        times = int(rng.integers(2, 4))
        codes, sensitive = np.repeat(codes, times, axis=0), np.repeat(sensitive, times)
    return codes, sensitive, [*sizes, m]


def outcome(release: ldiv.Release) -> tuple[bytes, ...]:
    return release.published.tobytes(), release.indptr.tobytes(), release.cell.tobytes(), release.count.tobytes()


def judge(release: ldiv.Release, data: ldiv.Microdata, l: int) -> None:
    """A release as an outsider sees it, row by row."""
    texts = [[str(x) if x >= -1 else release.subdomains[j][-2 - x].text for j, x in enumerate(row)] for row in release.codes.tolist()]
    for values in oracle.published_groups(texts, data.sensitive).values():
        assert oracle.eligible(values, l), "a group is not l-eligible"
    for j in range(data.d):
        for code, shown in zip(data.codes[:, j].tolist(), release.codes[:, j].tolist(), strict=True):
            assert shown == -1 or shown == code or (shown < -1 and code in release.subdomains[j][-2 - shown].codes), "an untrue cell"
    assert release.stars == int((release.codes == -1).sum()), "stars"


def measures(release: ldiv.Release, data: ldiv.Microdata) -> None:
    n = data.n
    assert ldiv.discernibility(release) == sum(int(s) ** 2 for s in release.group_sizes.tolist())
    assert abs(ldiv.average_group_size(release) * release.groups - n) < 1e-9 * n
    lost = 0.0
    points = Counter(zip(map(tuple, data.codes.tolist()), data.sensitive.tolist(), strict=True))
    boxes = []
    for row in release.codes.tolist():
        box = [
            set(range(x.size)) if c == -1 else {c} if c >= 0 else set(release.subdomains[j][-2 - c].codes)
            for j, (c, x) in enumerate(zip(row, data.domains, strict=True))
        ]
        boxes.append(box)
        lost += sum((len(b) - 1) / (x.size - 1) if x.size > 1 else 0 for b, x in zip(box, data.domains, strict=True))
    assert abs(ldiv.ncp(release) - lost / (n * data.d)) < 1e-9, "ncp"
    total = 0.0
    for (qi, value), count in points.items():
        mass = sum(
            1 / np.prod([len(b) for b in box])
            for box, v in zip(boxes, data.sensitive.tolist(), strict=True)
            if v == value and all(q in b for q, b in zip(qi, box, strict=True))
        )
        total += count / n * np.log(count / mass)
    assert abs(ldiv.kl_divergence(release) - total) < 1e-9 + 1e-9 * abs(total), "KL"


def disguised(release: ldiv.Release, data: ldiv.Microdata, l: int, name: str, options: dict[str, Any], rng: np.random.Generator) -> None:
    """The same table in another order of rows gives the same release; under other names of values the same bounds and optima."""
    order = rng.permutation(data.n)
    again = ldiv.Microdata.from_codes(data.codes[order], data.sensitive[order], domains=data.domains, sensitive_domain=data.sensitive_domain)
    assert outcome(ldiv.solve(again, l, algorithm=name, **options)) == outcome(release), "the order of rows matters"
    maps = [rng.permutation(x.size) for x in data.domains]
    values = rng.permutation(data.m)
    renamed = ldiv.Microdata.from_codes(
        np.column_stack([m[c] for m, c in zip(maps, data.codes.T, strict=True)]), values[data.sensitive], [*(x.size for x in data.domains), data.m]
    )
    assert ldiv.star_bound(renamed, l) == ldiv.star_bound(data, l) and ldiv.tuple_bound(renamed, l) == ldiv.tuple_bound(data, l), (
        "names matter to a bound"
    )
    assert ldiv.max_l(renamed) == ldiv.max_l(data)
    twice = ldiv.Microdata.from_codes(np.repeat(data.codes, 2, axis=0), np.repeat(data.sensitive, 2), [*(x.size for x in data.domains), data.m])
    assert ldiv.max_l(twice) == ldiv.max_l(data) and ldiv.tuple_bound(twice, l) <= 2 * max(release.suppressed_rows, ldiv.tuple_bound(data, l))
    if name == "exact" and release.info.get("optimal"):
        assert ldiv.solve(renamed, l, algorithm="exact").suppressed_rows == release.suppressed_rows or release.stars == 0 or not options, (
            "names matter to an optimum"
        )


def constrained(data: ldiv.Microdata, frame: dict[str, np.ndarray], l: int, name: str, rng: np.random.Generator) -> None:
    """Through the front door, with constraints beside l; what comes back is verified by :func:`ldiv.verify` once more."""
    qi = list(data.names)
    options: dict[str, Any] = {}
    if rng.random() < 0.4:
        options["also"] = [ldiv.KAnonymity(int(rng.integers(2, 5)))]
    if rng.random() < 0.3 and len(qi) > 1:
        options["protect"] = [qi[int(rng.integers(len(qi)))]]
    if rng.random() < 0.3:
        options["weights"] = {qi[0]: int(rng.integers(1, 5))}
    target: Any = ["s"]
    if rng.random() < 0.2:
        frame = {**frame, "t": rng.integers(0, 4, data.n).astype(str)}
        target = ["s", "t"]
    try:
        release = ldiv.anonymize(frame, qi, target, l, algorithm=name, order=str(rng.choice(["keep", "random"])), star="#", **options)
    except ldiv.NotEligibleError:
        return
    except ldiv.InputError:  # combinations that an algorithm refuses, with the reason
        return
    assert ldiv.verify(frame, release.frame, qi, target, l, k=options["also"][0].k if "also" in options else 1, star="#"), "verify"
    for column in options.get("protect", ()):
        assert (np.asarray(release.frame[column]).astype(str) != "#").all(), "a protected column is starred"


def one(number: int) -> str:
    """Try the table with this number; returns the algorithm that was drawn."""
    rng = np.random.default_rng(number)
    codes, sensitive, sizes = table(rng)
    data = ldiv.Microdata.from_codes(codes, sensitive, sizes)
    most = ldiv.max_l(data)
    l = int(min(rng.integers(2, 5), most)) if rng.random() < 0.95 else most + 1
    name = str(rng.choice(SLOW) if rng.random() < 0.01 else rng.choice(QUICK))
    options: dict[str, Any] = {"effort": "fast"} if name == "auto" else {}
    try:
        release = ldiv.solve(data, max(l, 1), algorithm=name, **options)
    except ldiv.NotEligibleError:
        assert l > most
        return "refused"
    assert l <= most
    judge(release, data, l)
    if ldiv.algorithms()[name].suppression:
        assert ldiv.star_bound(data, l) <= release.stars
        rows = oracle.rows_of(data.codes, data.sensitive)
        assert release.stars == sum(oracle.stars_of(rows, np.flatnonzero(release.group == g)) for g in range(release.groups)), (
            "more stars than its groups need"
        )
        if name == "tp" and data.n <= 24:
            residue, phase, _ = oracle.tp(rows, l)
            assert (release.phase, release.info["residue_sizes"][-1]) == (phase, sum(residue.values())), "TP"
        if data.n <= 6 and rng.random() < 0.3:
            assert ldiv.star_bound(data, l) <= oracle.fewest_stars(rows, l) <= release.stars, "a bound above the optimum"
        if name in ("lagrangian", "auto") and release.certificate.stars:
            assert release.certificate.bound <= release.cost and ldiv.verify_certificate(data, release.certificate, l) >= release.certificate.bound
    if rng.random() < 0.15:
        measures(release, data)
    if rng.random() < 0.1:
        disguised(release, data, l, name, options, rng)
    if rng.random() < 0.03:
        constrained(data, {**{x: data.codes[:, j] for j, x in enumerate(data.names)}, "s": np.array([f"v{v}" for v in sensitive])}, l, name, rng)
    return name


def some(numbers: range) -> tuple[Counter[str], list[tuple[int, str]]]:
    done: Counter[str] = Counter()
    failed = []
    for number in numbers:
        try:
            done[one(number)] += 1
        except Exception:  # whatever it is, it is reported with the number that repeats it
            failed.append((number, traceback.format_exc(limit=-3)))
    return done, failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=20_000, help="how many")
    parser.add_argument("--seed", type=int, default=0, help="number of the first table")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    asked = parser.parse_args()
    numbers = range(asked.seed, asked.seed + asked.tables)
    started, done, failed = time.perf_counter(), Counter[str](), []
    step = 500
    parts = [numbers[k : k + step] for k in range(0, len(numbers), step)]
    with ProcessPoolExecutor(asked.jobs) as pool:
        for k, (found, bad) in enumerate(pool.map(some, parts), 1):
            done += found
            failed += bad
            for number, text in bad:
                print(f"table {number}: python -m tools.fuzz --seed {number} --tables 1\n{text}", flush=True)
            if k % 20 == 0 or k == len(parts):
                print(f"{sum(done.values()) + len(failed):,} tables, {len(failed)} failed, {time.perf_counter() - started:,.0f} s", flush=True)
    print("  ".join(f"{name} {count:,}" for name, count in sorted(done.items())))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
