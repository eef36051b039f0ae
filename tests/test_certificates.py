"""Certificates against forgers, vandals and readers: what is proven holds, what is damaged is refused, and the file is private."""

import itertools
import json
import os
import stat
import subprocess
import sys
import warnings
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import tables

import ldiv
from ldiv.bounds import certify
from ldiv.bounds.certificate import Prices
from ldiv.bounds.configuration import ConfigurationDual
from ldiv.bounds.multipliers import SCALE, DualProblem, Multipliers
from ldiv.bounds.proof import prove
from ldiv.table.contingency import Contingency

TABLE = {"a": [k % 3 for k in range(24)], "b": [k % 4 for k in range(24)], "s": [(k * 7) % 6 for k in range(24)]}
QI = ["a", "b"]


def saved(path, l=3, **options):
    release = ldiv.anonymize(TABLE, QI, "s", l, **options)
    ldiv.save_certificate(release.certificate, path, l=l, qi=QI, sensitive="s", rows=24)
    return release


def best_set(profit, value, count, l, k):
    """The most that an l-eligible set of at least k rows brings, or nothing: every height, in Python's integers."""
    best = 0
    for h in range(1, sum(count) + 1):
        room, rows, gain = dict.fromkeys(value, h), 0, 0
        for each, v, n in sorted(zip(profit, value, count, strict=True), key=lambda x: (-x[0], x[1])):
            take = min(n, room[v])
            take = take if each > 0 else min(take, max(0, max(l * h, k) - rows))
            room[v] -= take
            rows, gain = rows + take, gain + take * each
        if rows >= max(l * h, k):
            best = max(best, gain)
    return best


def dual_by_hand(data, prices):
    """The bound from its definition, in Python's integers: no array, no shared line."""
    c, d = data.contingency, data.d
    weights = [int(w) for w in c.weights]
    free = [j for j in range(d) if j not in prices.protected]
    starred = [s for size in range(len(free) + 1) if size <= prices.most or size == len(free) for s in itertools.combinations(free, size)]
    cap = sum(sorted(weights[j] for j in free)[: prices.most + 1]) * SCALE if prices.most + 1 < len(free) else 2**63
    cells = sorted((*map(int, c.codes[g]), int(v), int(n)) for g, v, n in zip(c.group_of_cell, c.sensitive, c.count, strict=True))
    worth = [min(int(y), cap) for y in prices.value]
    total = sum(y * cell[-1] for y, cell in zip(worth, cells, strict=True))
    for s in starred:
        stars = sum(weights[j] for j in s)
        groups = {}
        for y, cell in zip(worth, cells, strict=True):
            groups.setdefault(tuple(cell[j] for j in range(d) if j not in s), []).append((y - stars * SCALE, cell[-2], cell[-1]))
        total -= sum(best_set(*zip(*members, strict=True), prices.l, prices.k) for members in groups.values())
    return max(0, -(-total // SCALE))


@settings(max_examples=200, deadline=None)
@given(tables(max_rows=20, max_d=3), st.data())
def test_the_checker_is_the_definition_and_below_the_optimum(table, draw):
    data, l = table
    data = data.weighted({name: draw.draw(st.integers(1, 5)) for name in data.names})
    most, k = draw.draw(st.integers(1, data.d)), draw.draw(st.integers(1, data.n))
    protected = tuple(j for j in range(data.d) if draw.draw(st.integers(0, 3)) == 0)
    cells = len(data.contingency.count)
    size = st.integers(-SCALE, draw.draw(st.sampled_from([3 * SCALE, 12 * SCALE, 2**60])))
    prices = Prices(l, np.array(draw.draw(st.lists(size, min_size=cells, max_size=cells)), dtype=np.int64), most, k, protected)
    found = prove(data.contingency, prices, l)
    assert found == dual_by_hand(data, prices)
    if k == 1 and not protected:
        assert found <= ldiv.solve(data, l, algorithm="cascade").cost
        dual = ConfigurationDual(DualProblem(data.contingency, l, most))
        own = dual.proven(prices.value / SCALE)  # solver and checker agree, without a line in common
        assert own is None or own[0] == found == prove(data.contingency, own[1], l)


def test_forged_prices_prove_nothing():
    """12 rows alike in all but four SA values, whose optimum is no star at all: prices beyond what 64 bits add up are added up in more."""
    data = ldiv.Microdata.from_codes(np.zeros((12, 1), dtype=int), [0, 1, 2, 3] * 3)
    good = np.zeros(4, dtype=np.int64)
    for value in ([2**63 - 1] * 4, [2**63 - 5 * 2**19] * 4, [-(2**63)] * 4, [2**63 - 1, -(2**63)] * 2, [SCALE] * 4):
        assert ldiv.verify_certificate(data, ldiv.Certificate(60, 60, "prices", Prices(2, np.array(value), 1)), 2) == 0
    for prices, message in [
        (Prices(2, good, -2), "most must be"),
        (Prices(2, good, 26), "most must be"),
        (Prices(2, good, 0), "most must be"),
        (Prices(2, good, True), "most must be"),
        (Prices(2, good, "1"), "most must be"),
        (Prices(3, good, 1), "for l = 3, not 2"),
        (Prices(2, good, 1, 0), "certificate's k"),
        (Prices(2, good, 1, 2.0), "certificate's k"),
        (Prices(2, good, 1, 1, (1,)), "protected"),
        (Prices(2, good, 1, 1, (-1,)), "protected"),
        (Prices(2, good, 1, 1, "0"), "must be positions"),
        (Prices(2, None, 1), "int64"),
        (Prices(2, good.astype(float), 1), "int64"),
        (Prices(2, good * np.nan, 1), "int64"),
        (Prices(2, good[:, None], 1), "int64"),
        (Prices(2, good[:3], 1), "4 cells need a price each, not 3"),
        (Prices(2, np.append(good, 0), 1), "not 5"),
        (Prices(2, good.astype(np.uint64), 1), "int64"),
        (Prices(2, good.tolist(), 1), "int64"),
        (Prices(2, good.astype(object), 1), "int64"),
    ]:
        with pytest.raises(ldiv.InputError, match=message):
            ldiv.verify_certificate(data, ldiv.Certificate(60, 60, "prices", prices), 2)
    assert ldiv.verify_certificate(data, ldiv.Certificate(0, 0, "prices", Prices(2, good, 1)), 2) == 0
    skewed = ldiv.Microdata.from_codes(np.zeros((12, 1), dtype=int), [0] * 11 + [1])
    with pytest.raises(ldiv.NotEligibleError):
        ldiv.verify_certificate(skewed, ldiv.Certificate(0, 0, "counting"), 2)
    with pytest.raises(ldiv.NotEligibleError):
        ldiv.verify_certificate(skewed, ldiv.Certificate(0, 0, "prices", Prices(2, np.zeros(2, dtype=np.int64), 1)), 2)


def test_counts_that_64_bits_do_not_add_up():
    """Two groups, each eligible by itself: whatever the prices, no star is proven of 2**55 rows a cell, nor of four."""
    data = ldiv.Microdata.from_codes([[0], [0], [1], [1]], [0, 1, 0, 1])
    for times in (1, 1 << 55):
        c = replace_counts(data.contingency, times)
        assert prove(c, Prices(2, np.full(4, 3 * SCALE, dtype=np.int64), 1), 2) == 0
    lonely = ldiv.Microdata.from_codes([[0], [1]], [0, 1])
    for times in (1, 1 << 55):
        c = replace_counts(lonely.contingency, times)
        assert prove(c, Prices(2, np.full(2, SCALE, dtype=np.int64), 1), 2) == 2 * times


def replace_counts(c, times):
    return Contingency(c.codes, c.indptr, c.sensitive, c.count * times, c.domains, c.sensitive_domain)


def test_patterns_without_prices_cost_their_lightest_stars():
    """Rows that differ everywhere stand in no group with at most `most` stars: each pays for the most + 1 lightest attributes, no more."""
    rows = np.arange(8)
    domains = [ldiv.Domain(name, 8, weight=weight) for name, weight in zip("abcd", (4, 1, 3, 2), strict=True)]
    data = ldiv.Microdata.from_codes(np.stack([rows] * 4, axis=1), rows % 4, domains=domains)
    for most, each in ((1, 1 + 2), (2, 1 + 2 + 3), (3, 10), (4, 10)):
        problem = DualProblem(data.contingency, 2, most)
        none = Multipliers(2, most, [np.zeros(k, dtype=np.int64) for k in problem.items])
        prices = Prices(2, np.minimum(problem.least(none), 10 * SCALE), most)
        assert prove(data.contingency, prices, 2) == problem.bound(none) == 8 * each
        assert prove(data.contingency, Prices(2, prices.value * 0 + 2**62, most), 2) == 8 * each  # nor is a row worth more, whatever is claimed


def test_the_solver_itself_takes_no_negative_multipliers():
    data = ldiv.Microdata.from_codes(np.zeros((12, 1), dtype=int), [0, 1, 2, 3] * 3)
    problem = DualProblem(data.contingency, 2, 1)
    good = [np.zeros(k, dtype=np.int64) for k in problem.items]
    assert problem.bound(Multipliers(2, 1, good)) == 0
    for wrong in ([np.array([-1, 0, 0, 0, 0]), good[1]], [good[0], np.array([0, 0, 0, -SCALE, 0])], [good[0][:3], good[1]]):
        with pytest.raises(ValueError, match="needs 5 multipliers of at least 0"):
            problem.bound(Multipliers(2, 1, wrong))


def test_fewer_stars_than_the_bound_are_a_contradiction(tmp_path):
    claim = ldiv.Certificate(3, 5, "counting")
    assert claim.contradiction and "contradiction" in str(claim)
    with pytest.raises(ldiv.LdivError, match="a contradiction, not a ratio"):
        _ = claim.ratio
    release = saved(tmp_path / "c.npz")
    honest = release.certificate
    forged = ldiv.Certificate(honest.bound - 1, honest.bound, honest.proof, honest.prices)
    ldiv.save_certificate(forged, tmp_path / "f.npz", l=3, qi=QI, sensitive="s")
    verdict = certify(TABLE, tmp_path / "f.npz")
    assert not verdict and verdict.contradiction and "CONTRADICTION" in str(verdict)
    assert certify(TABLE, tmp_path / "c.npz") and "proven: no 3-diverse release on a, b (sensitive: s)" in str(certify(TABLE, tmp_path / "c.npz"))
    boast = ldiv.Certificate(honest.bound + 1, honest.bound + 1, honest.proof, honest.prices)
    ldiv.save_certificate(boast, tmp_path / "b.npz", l=3, qi=QI, sensitive="s")
    assert not certify(TABLE, tmp_path / "b.npz") and "NOT PROVEN" in str(certify(TABLE, tmp_path / "b.npz"))


def test_exact_carries_its_own_bound(tmp_path):
    rng = np.random.default_rng(0)
    data = ldiv.Microdata.from_codes(rng.integers(0, 3, (30, 4)), rng.permutation(np.arange(30) % 5))
    found = [ldiv.solve(data, l, algorithm="exact", effort="fast") for l in (3, 4, 5)]
    for release in found:
        claim = release.certificate
        assert release.info["optimal"] and claim.bound == claim.stars == release.stars
        again = ldiv.verify_certificate(data, claim, release.l)
        assert again <= claim.bound and (again == claim.bound or claim.proof == "exact")
    assert any(release.certificate.proof == "exact" for release in found)
    two = ldiv.Microdata.from_codes([[k] for k in range(10)], [0, 1] * 5)
    assert ldiv.solve(two, 2, algorithm="exact").certificate.bound == 10
    frame = {f"q{j}": data.codes[:, j] for j in range(4)} | {"s": data.sensitive}
    release = next(x for x in found if x.certificate.proof == "exact")
    ldiv.save_certificate(release.certificate, tmp_path / "e.npz", l=release.l, qi=[f"q{j}" for j in range(4)], sensitive="s")
    verdict = certify(frame, tmp_path / "e.npz")
    if verdict.proven < verdict.bound:
        assert not verdict and not verdict.checkable and "NOT RE-CHECKABLE" in str(verdict) and "by exhaustive search" in str(verdict)
    protected = ldiv.solve(ldiv.Microdata.from_codes([[k // 6, k] for k in range(12)], [0, 1, 2] * 4), 2, algorithm="exact", protect=["A1"])
    assert protected.certificate.prices is None or protected.certificate.prices.protected == (0,)  # what is proven of these is not proven of all


def test_protected_columns_and_several_sensitive_ones_are_proven_too(tmp_path):
    frame = ldiv.datasets.load_frame("acs2018")
    qi = ["Gender", "Race", "MaritalStatus"]
    plain = ldiv.anonymize(frame, qi, "Income", 6)
    kept = ldiv.anonymize(frame, qi, "Income", 6, protect=["Race"])
    both = ldiv.anonymize(frame, qi, ["Occupation", "Income"], 6)
    more = ldiv.anonymize(frame, qi, "Income", 6, also=[ldiv.KAnonymity(20)])
    for name, release in (("plain", plain), ("kept", kept), ("both", both), ("more", more)):
        claim = release.certificate
        assert claim.proof == "prices" and claim.bound >= plain.certificate.bound * 0.99
        about = {"l": 6, "qi": qi, "sensitive": "Occupation" if name == "both" else "Income", "rows": plain.n}
        ldiv.save_certificate(claim, tmp_path / f"{name}.npz", **about)
        verdict = certify(frame, tmp_path / f"{name}.npz")
        assert verdict and verdict.proven == claim.bound
        assert ("that stars no value of Race" in str(verdict)) == (name == "kept") == ("protected" in str(claim))
    assert kept.certificate.bound > plain.certificate.bound and kept.certificate.ratio < 1.1  # fewer releases are left: their bound is higher
    assert not kept.stars_by_attribute["Race"]
    assert plain.info["optimal"] and "optimal" not in more.info and "optimal" not in both.info  # of merged groups nobody has proven it


def test_the_file_is_private(tmp_path):
    path = tmp_path / "c.private.npz"
    path.write_text("of anybody")
    path.chmod(0o644)
    saved(path)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600 or os.name == "nt"
    with zipfile.ZipFile(path) as packed:
        assert "do not publish" in packed.read("PRIVATE.txt").decode() and packed.namelist()[0] == "PRIVATE.txt"
    with np.load(path) as packed:
        assert "PRIVATE" in json.loads(packed["head"].tobytes())["private"]
    claim, about = ldiv.load_certificate(path)
    assert about["rows"] == 24 and "array" not in repr(claim)
    with pytest.raises(ldiv.InputError, match="must be text, numbers and lists"):
        ldiv.save_certificate(claim, tmp_path / "x.npz", table=object())
    assert not (tmp_path / "x.npz").exists()


def forged_file(path, head, **arrays):
    np.savez(path, head=np.frombuffer(json.dumps(head).encode(), dtype=np.uint8), **arrays)


def test_heads_that_lie(tmp_path):
    path, price = tmp_path / "x.npz", np.zeros(3, dtype=np.int64)
    good = {"stars": 3, "bound": 3, "proof": "prices", "l": 3, "most": 1, "qi": QI, "sensitive": "s"}
    for key, values in {
        "stars": (None, "3", -1, 2.5, True, [3]),
        "bound": (None, "3", -1, 1e300, {}),
        "proof": (None, "oath", 3, ["prices"]),
        "l": (None, "3", 0, -1, 2.0, [3], 10**30),
        "most": (None, "1", -2, 0, 1.0, {}, 10**12),
        "k": (None, "1", -2, 0, 1.0, {}),
        "protected": (None, "1", -2, [-1], ["a"], [1.0], {}, [[0]]),
    }.items():
        for value in values:
            forged_file(path, {**good, key: value}, price=price)
            with pytest.raises(ldiv.InputError, match="not a certificate"):
                ldiv.load_certificate(path)
    for key, values in {
        "qi": (None, "a", [], [None], [["a"]], ["nope"], ["a", "a"]),
        "sensitive": (None, [], ["s", "a"], {}, "nope", "a"),
        "weights": ([1], "x", {"a": 0}, {"a": "2"}, {"nope": 2}),
        "rows": (23, "24", -1),
    }.items():
        for value in values:
            forged_file(path, {**good, "proof": "counting", key: value})
            with pytest.raises(ldiv.InputError):
                certify(TABLE, path)
    for head in ([], None, "text", 5, [good]):
        forged_file(path, head)
        with pytest.raises(ldiv.InputError, match="not a certificate"):
            ldiv.load_certificate(path)
    for arrays in (
        {"p0": price},
        {"price": price, "p0": price},
        {"price": price.astype(float)},
        {"price": price[:, None]},
        {"price": price.astype(">i8")},
        {"price": price.astype(np.int32)},
        {"price": np.array(["text"])},
        {"price": np.int64(3)},
    ):
        forged_file(path, good, **arrays)
        with pytest.raises(ldiv.InputError, match="not a certificate"):
            ldiv.load_certificate(path)
    np.savez(path, head=np.array([{"stars": 3}], dtype=object))
    with pytest.raises(ldiv.InputError, match="not a certificate"):
        ldiv.load_certificate(path)


def test_a_file_that_would_unpack_beyond_measure(tmp_path):
    path = tmp_path / "bomb.npz"
    header = b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little")
    header += f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({2**40},), }}".encode().ljust(117) + b"\n"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        text = json.dumps({"stars": 1, "bound": 1, "proof": "prices", "l": 2, "most": 1}).encode()
        with packed.open("head.npy", "w") as member:
            np.lib.format.write_array(member, np.frombuffer(text, dtype=np.uint8))
        packed.writestr("price.npy", header)
    with pytest.raises(ldiv.InputError, match="not a certificate"):
        ldiv.load_certificate(path)


def test_ten_thousand_damages(tmp_path):
    """Bytes flipped, cut, doubled and mixed: an InputError, or a certificate that proves no more than the table allows."""
    whole, path, rng = tmp_path / "c.npz", tmp_path / "d.npz", np.random.default_rng(0)
    best = saved(whole).stars
    data = ldiv.Microdata.from_frame(TABLE, QI, "s")
    good = whole.read_bytes()
    with zipfile.ZipFile(whole) as packed:  # the same without compression: more damages reach the numbers
        members = {name: packed.read(name) for name in packed.namelist()}
    with zipfile.ZipFile(path, "w") as packed:
        for name, text in members.items():
            packed.writestr(name, text)
    plain, refused, proven = path.read_bytes(), 0, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k in range(10_000):
            if k % 4 == 3:  # damage within a member whose checksum is made anew
                name = str(rng.choice(list(members)))
                body = bytearray(members[name])
                for _ in range(int(rng.integers(1, 4))):
                    body[int(rng.integers(len(body)))] = int(rng.integers(256))
                with zipfile.ZipFile(path, "w") as packed:
                    for other, text in members.items():
                        packed.writestr(other, bytes(body) if other == name else text)
            else:
                body = bytearray(good if k % 2 else plain)
                for _ in range(int(rng.integers(1, 5))):
                    at = int(rng.integers(len(body)))
                    kind = rng.integers(8)
                    if kind == 0:
                        del body[at:]
                        body = body or bytearray(b"P")
                    elif kind == 1:
                        body[at:at] = body[at : at + int(rng.integers(40))]
                    else:
                        body[at] = int(rng.integers(256))
                path.write_bytes(bytes(body))
            try:
                claim, about = ldiv.load_certificate(path)
                bound = ldiv.verify_certificate(data, claim, 3)
                verdict = certify(TABLE, path)
            except ldiv.InputError:
                refused += 1
                continue
            except ldiv.NotEligibleError:  # another l
                continue
            proven += 1
            assert bound <= best and (not verdict or verdict.bound <= best)
    assert refused > 3000 and proven > 100


@pytest.mark.parametrize("damage", [None, "empty", "stars", "bound", "text", "missing"])
def test_exit_codes(tmp_path, damage):
    pytest.importorskip("typer")
    source, path = tmp_path / "t.csv", tmp_path / "c.npz"
    source.write_text("a,b,s\n" + "".join(f"{a},{b},{s}\n" for a, b, s in zip(*TABLE.values(), strict=True)))
    table = {name: list(map(str, values)) for name, values in TABLE.items()}
    claim = ldiv.anonymize(table, QI, "s", 3).certificate
    about = {"l": 3, "qi": QI, "sensitive": "s"}
    code, words = {
        None: (0, "proven"),
        "empty": (2, "not a certificate"),
        "stars": (1, "CONTRADICTION"),
        "bound": (1, "NOT PROVEN"),
        "text": (2, "not a certificate"),
        "missing": (2, "no certificate file"),
    }[damage]
    if damage == "stars":
        claim = ldiv.Certificate(0, claim.bound, claim.proof, claim.prices)
    if damage == "bound":
        claim = ldiv.Certificate(claim.stars + 9, claim.bound + 9, claim.proof, claim.prices)
    ldiv.save_certificate(claim, path, **about)
    if damage in ("empty", "text"):
        path.write_bytes(b"" if damage == "empty" else b"nonsense")
    if damage == "missing":
        path.unlink()
    done = subprocess.run([sys.executable, "-m", "ldiv.cli", "certify", source, path], capture_output=True, text=True)
    assert done.returncode == code and words in done.stdout + done.stderr and "Traceback" not in done.stderr, done


def test_the_release_beside_a_certificate_has_its_stars(tmp_path, monkeypatch):
    """A good release that is not the one the certificate speaks of is not passed off as near to optimal."""
    pytest.importorskip("typer")
    from command import run

    monkeypatch.chdir(tmp_path)
    table = {name: list(map(str, values)) for name, values in TABLE.items()}

    def write(name, columns):
        body = "".join(f"{a},{b},{s}\n" for a, b, s in zip(columns["a"], columns["b"], columns["s"], strict=True))
        (tmp_path / name).write_text("a,b,s\n" + body)

    best = ldiv.anonymize(table, QI, "s", 3)
    write("in.csv", table)
    write("best.csv", best.frame)
    write("stars.csv", {**table, "a": ["*"] * 24, "b": ["*"] * 24})
    ldiv.save_certificate(best.certificate, "c.npz", l=3, qi=QI, sensitive="s")
    assert best.stars < 48 and ldiv.verify("in.csv", "stars.csv", QI, "s", 3)
    assert run("certify", "in.csv", "c.npz", "--release", "best.csv").code == 0
    done = run("certify", "in.csv", "c.npz", "--release", "stars.csv")
    assert done.code == 1 and "48 stars" in done.out
