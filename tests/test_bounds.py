"""Lower bounds against the linear program and the exact optimum, and certificates that are checked again."""

import itertools
import os

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import lil_matrix
from strategies import tables

import ldiv
from ldiv.bounds.multipliers import SCALE, DualProblem, Multipliers


def linear_program(contingency, l) -> float:
    """The relaxation itself, from its definition: x[c, S] rows of cell c published with S kept, each star at its attribute's weight."""
    c = contingency
    patterns = [s for k in range(c.d + 1) for s in itertools.combinations(range(c.d), k)]
    cells = len(c.count)
    rows_of = c.codes[c.group_of_cell]
    equal = lil_matrix((cells, cells * len(patterns)))
    groups, cost = {}, []
    for p, kept in enumerate(patterns):
        for k in range(cells):
            column = p * cells + k
            equal[k, column] = 1
            cost.append(sum(c.weights[j] for j in range(c.d) if j not in kept))
            groups.setdefault((kept, tuple(rows_of[k, list(kept)])), []).append((column, int(c.sensitive[k])))
    rows = []
    for members in groups.values():
        for v in {value for _, value in members}:
            rows.append([(column, l * (value == v) - 1) for column, value in members])
    upper = lil_matrix((len(rows), cells * len(patterns)))
    for r, row in enumerate(rows):
        for column, weight in row:
            upper[r, column] = weight
    solved = linprog(cost, A_ub=upper.tocsr(), b_ub=np.zeros(len(rows)), A_eq=equal.tocsr(), b_eq=c.count, method="highs")
    assert solved.status == 0
    return solved.fun


TABLES = int(os.environ.get("LDIV_TABLES", 150))  # more on request: minutes for 10,000


@pytest.mark.slow
def test_dual_is_below_the_program_which_is_below_the_optimum():
    rng = np.random.default_rng(5)
    ratios, optimal, solved = [], 0, 0
    for k in range(TABLES):
        n, d, m = int(rng.integers(4, 9)), int(rng.integers(1, 4)), int(rng.integers(2, 5))
        data = ldiv.Microdata.from_codes(rng.integers(0, 3, (n, d)), rng.integers(0, m, n), [3] * d + [m])
        if k % 2:
            data = data.weighted({name: int(rng.integers(1, 6)) for name in data.names})
        l = min(int(rng.integers(2, 4)), ldiv.max_l(data))
        if l < 2:
            continue
        weights = data.contingency.weights.tolist()
        best = oracle.fewest_stars(oracle.rows_of(data.codes, data.sensitive), l, weights)
        program = linear_program(data.contingency, l)
        release = ldiv.solve(data, l, algorithm="lagrangian", threads=1)
        bound = release.info["bound"]
        assert bound <= best <= release.cost and program <= best + 1e-6
        assert ldiv.star_bound(data, l) <= best
        solved += 1
        optimal += release.cost == best
        if best:
            ratios.append(bound / best)
    assert solved > TABLES / 2 and optimal / solved > 0.85 and np.mean(ratios) > 0.85


def test_dual_below_the_program_on_many_tables():
    """Any multipliers at all prove a bound that the linear program cannot beat; random ones, many tables."""
    rng = np.random.default_rng(9)
    for _ in range(300):
        n, d, m = int(rng.integers(2, 15)), int(rng.integers(1, 4)), int(rng.integers(2, 6))
        data = ldiv.Microdata.from_codes(rng.integers(0, 3, (n, d)), rng.integers(0, m, n), [3] * d + [m])
        l = ldiv.max_l(data)
        program = linear_program(data.contingency, l)
        for most in range(d + 1):
            problem = DualProblem(data.contingency, l, most)
            multipliers = Multipliers(l, most, [rng.integers(0, 2 * SCALE, k) * rng.integers(0, 2) for k in problem.items])
            assert problem.bound(multipliers) <= np.ceil(program - 1e-6)


@given(tables(max_rows=30), st.data())
@settings(max_examples=60)
def test_weights(table, draw):
    data, l = table
    weights = draw.draw(st.lists(st.integers(1, 9), min_size=data.d, max_size=data.d))
    weighted = data.weighted(dict(zip(data.names, weights, strict=True)))
    for name in ("tp", "cascade", "lagrangian"):
        release = ldiv.solve(weighted, l, algorithm=name)
        assert release.cost == sum(w * s for w, s in zip(weights, release.stars_by_attribute.values(), strict=True))
        assert release.certificate.bound <= release.cost == release.certificate.stars
    # One and the same factor changes nothing but the scale.
    plain, scaled = (ldiv.solve(x, l) for x in (data, data.weighted({name: 7 for name in data.names})))
    assert scaled.cost == 7 * plain.stars and scaled.stars == plain.stars


def test_the_largest_weights_and_large_l():
    """Prices in whole units stay within 64 bits, and the journal of rebuilding holds what large l needs."""
    rng = np.random.default_rng(4)
    data = ldiv.Microdata.from_codes(rng.integers(0, 3, (40, 3)), rng.permutation(np.arange(40) % 5))
    heavy = data.weighted({name: 10_000 for name in data.names})
    plain, scaled = (ldiv.solve(x, 3, algorithm="exact", effort="fast") for x in (data, heavy))
    assert plain.info["optimal"] and scaled.info["optimal"] and scaled.cost == 10_000 * plain.stars
    assert ldiv.solve(heavy, 3).certificate.bound <= scaled.cost
    wide = ldiv.Microdata.from_codes(rng.integers(0, 4, (3000, 3)), rng.permutation(np.arange(3000) % 400))
    assert ldiv.solve(wide, 200).max_l >= 200


def test_weights_steer_the_stars(tmp_path):
    table = ldiv.datasets.load_frame("acs2018")
    qi = ["Gender", "Race", "MaritalStatus"]
    plain = ldiv.anonymize(table, qi, "Income", 6)
    release = ldiv.anonymize(table, qi, "Income", 6, weights={"Race": 20})
    assert release.stars_by_attribute["Race"] < plain.stars_by_attribute["Race"] and release.cost < 20 * release.stars
    ldiv.save_certificate(release.certificate, tmp_path / "proof.npz")
    again, _ = ldiv.load_certificate(tmp_path / "proof.npz")
    data = ldiv.Microdata.from_frame(table, qi, "Income").weighted({"Race": 20})
    assert ldiv.verify_certificate(data, again, 6) == release.certificate.bound
    for weights, message in (({"Income": 2}, "not a quasi-identifier"), ({"Race": 0}, "whole number"), ({"Race": 1.5}, "scale all weights")):
        with pytest.raises(ldiv.InputError, match=message):
            ldiv.anonymize(table, qi, "Income", 6, weights=weights)


@given(tables(max_rows=20))
@settings(max_examples=100)
def test_no_release_beats_a_bound(table):
    data, l = table
    lower, tuples = ldiv.star_bound(data, l), ldiv.tuple_bound(data, l)
    for name, algorithm in ldiv.algorithms().items():
        if algorithm.suppression:
            release = ldiv.solve(data, l, algorithm=name)
            assert release.stars >= lower and release.suppressed_rows >= tuples
            assert release.certificate.bound <= release.stars


def largest_first(data):
    """The table with its columns in the order in which the cascade takes them: TP+ goes by the order of columns where groups tie."""
    order = sorted(range(data.d), key=lambda j: (-data.domains[j].size, str(data.names[j])))
    return ldiv.Microdata(data.codes[:, order], data.sensitive, tuple(data.domains[j] for j in order), data.sensitive_domain)


@given(tables(max_rows=40), st.sampled_from([None, 5]))
@settings(max_examples=100)
def test_never_worse_than_the_simpler_ones(table, seed):
    data, l = largest_first(table[0]), table[1]
    stars = [ldiv.solve(data, l, algorithm=name, seed=seed).stars for name in ("tp", "tp+", "cascade", "lagrangian")]
    assert stars == sorted(stars, reverse=True)
    assert ldiv.solve(data, l, seed=seed, effort="fast").stars == stars[2]


FOUR = ["Age", "Gender", "Race", "MaritalStatus"]


@pytest.mark.slow
def test_the_shipped_table():
    data = ldiv.datasets.load("acs2018", qi=FOUR)
    for l, most in ((2, 2_600), (6, 38_256), (10, 89_980)):
        assert ldiv.solve(data, l, algorithm="cascade").stars <= most
    release = ldiv.solve(data, 6)
    assert release.stars <= 23_406 and release.info["bound"] >= 22_424
    assert release.certificate.ratio < 1.05 and "proof: prices" in str(release.certificate)
    one, two = (ldiv.solve(data, 6, threads=k) for k in (1, 3))
    assert one.stars == two.stars and np.array_equal(one.count, two.count) and np.array_equal(one.cell, two.cell)
    assert one.info["bound"] == two.info["bound"]


def test_certificates_are_saved_and_checked_again(tmp_path):
    data = ldiv.datasets.load("acs2018", qi=["Gender", "Race", "MaritalStatus"])
    certificate = ldiv.solve(data, 6).certificate
    path = tmp_path / "proof.npz"
    ldiv.save_certificate(certificate, path, qi=["Gender"])
    again, about = ldiv.load_certificate(path)
    assert about["qi"] == ["Gender"] and (again.stars, again.bound) == (certificate.stars, certificate.bound)
    assert ldiv.verify_certificate(data, again, 6) == certificate.bound
    boast = ldiv.Certificate(again.stars, again.bound + 1, again.proof, again.prices)
    assert ldiv.verify_certificate(data, boast, 6) < boast.bound
    with pytest.raises(ldiv.InputError, match="for l = 6, not 5"):
        ldiv.verify_certificate(data, again, 5)
    with pytest.raises(ldiv.InputError, match="does not fit this table"):
        ldiv.verify_certificate(data.project(["Gender", "Race"]), again, 6)
    path.write_bytes(b"nonsense")
    with pytest.raises(ldiv.InputError, match="not a certificate"):
        ldiv.load_certificate(path)
    counted = ldiv.solve(data, 6, algorithm="tp").certificate
    assert counted.proof == "counting" and ldiv.verify_certificate(data, counted, 6) == counted.bound
    with pytest.raises(ldiv.LdivError, match="nothing was proven of this release"):
        _ = ldiv.solve(data, 6, algorithm="mondrian").certificate


@pytest.mark.slow
def test_many_attributes_stay_affordable():
    rng = np.random.default_rng(0)
    data = largest_first(ldiv.Microdata.from_codes(rng.integers(0, 2, (400, 20)), rng.integers(0, 5, 400)))
    release = ldiv.solve(data, 3)
    assert release.max_l >= 3 and release.stars <= ldiv.solve(data, 3, algorithm="tp+").stars
    with pytest.raises(ldiv.InputError, match="effort must be one of"):
        ldiv.solve(data, 3, effort="heroic")


@pytest.mark.parametrize("sensitive, l", [("Income", 4), ("Occupation", 8)])
def test_more_effort_is_never_worse(sensitive, l):
    data = ldiv.datasets.load("acs2018", qi=["Age", "Race", "Education"], sensitive=sensitive).head(1500)
    fast, default, best = (ldiv.solve(data, l, effort=effort) for effort in ("fast", "default", "best"))
    assert best.stars <= default.stars <= fast.stars
    assert best.certificate.bound >= default.certificate.bound >= fast.certificate.bound
