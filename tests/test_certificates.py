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
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import tables

import ldiv
from ldiv.bounds import certify
from ldiv.bounds.prices import SCALE, DualProblem, Prices
from ldiv.bounds.proof import prove

TABLE = {"a": [k % 3 for k in range(24)], "b": [k % 4 for k in range(24)], "s": [(k * 7) % 6 for k in range(24)]}
QI = ["a", "b"]


def saved(path, l=3, **options):
    release = ldiv.anonymize(TABLE, QI, "s", l, **options)
    ldiv.save_certificate(release.certificate, path, l=l, qi=QI, sensitive="s", rows=24)
    return release


def dual_by_hand(data, l, most, values):
    """The bound from its definition, in Python's integers: no array, no shared line."""
    c = data.contingency
    weights = [int(w) for w in c.weights]
    d = data.d
    kept = [s for size in range(d, -1, -1) if size >= d - most or size == 0 for s in itertools.combinations(range(d), size)]
    kept.sort(key=lambda s: sum(weights) - sum(weights[j] for j in s))
    rows = oracle.rows_of(data.codes, data.sensitive)
    cost = []
    for subset, value in zip(kept, values, strict=True):
        stars = sum(w for j, w in enumerate(weights) if j not in subset)
        pairs = sorted({(tuple(q[j] for j in subset), v) for q, v in rows})
        groups = {g: [v for h, v in pairs if h == g] for g, _ in pairs}
        alive = [(g, v) for g, v in pairs if len(groups[g]) >= l]
        price = dict(zip(alive, map(int, value), strict=False))
        assert len(value) == len(alive) + 1
        worth = {g: sum(price[g, v] for v in groups[g]) for g, _ in alive}
        cost.append({(g, v): stars * SCALE + l * price[g, v] - worth[g] for g, v in alive} | {"subset": subset})
    cap = [sum(sorted(weights)[: most + 1]) * SCALE] if most < d - 1 else []
    total = 0
    for q, v in rows:
        keys = [(tuple(q[j] for j in each["subset"]), v) for each in cost]
        total += min([each[key] for each, key in zip(cost, keys, strict=True) if key in each] + cap)
    return max(0, -(-total // SCALE))


@settings(max_examples=150)
@given(tables(max_rows=20, max_d=3), st.data())
def test_the_checker_is_the_definition_and_below_the_optimum(table, draw):
    data, l = table
    weights = {name: draw.draw(st.integers(1, 5)) for name in data.names}
    data = data.weighted(weights)
    most = draw.draw(st.integers(1, data.d))
    problem = DualProblem(data.contingency, l, most)
    size = st.integers(0, draw.draw(st.sampled_from([3 * SCALE, 2**50])))
    values = [np.array(draw.draw(st.lists(size, min_size=k, max_size=k)), dtype=np.int64) for k in problem.items]
    found = prove(data.contingency, Prices(l, most, values), l)
    assert found == dual_by_hand(data, l, most, values)
    assert found <= ldiv.solve(data, l, algorithm="cascade").cost
    if max(int(v.max()) for v in values) < 2**25:
        assert found == problem.bound(Prices(l, most, values))  # solver and checker agree, without a line in common


def test_forged_prices_prove_nothing():
    """Prices beyond what 64 bits can add up: 12 rows alike in all but four SA values, whose optimum is no star at all."""
    data = ldiv.Microdata.from_codes(np.zeros((12, 1), dtype=int), [0, 1, 2, 3] * 3)
    wrapping = [np.array([2**63 - 5 * 2**19] * 4 + [0], dtype=np.int64)] * 2
    good = [np.zeros(5, dtype=np.int64)] * 2
    for prices, message in [
        (Prices(2, 1, wrapping), "too large to be added up"),
        (Prices(2, 1, [good[0], np.array([-1, 0, 0, 0, 0])]), "at least 0, not -1"),
        (Prices(2, -2, good), "most must be"),
        (Prices(2, 26, good), "most must be"),
        (Prices(2, 0, good), "most must be"),
        (Prices(2, True, good), "most must be"),
        (Prices(2, "1", good), "most must be"),
        (Prices(3, 1, good), "for l = 3, not 2"),
        (Prices(2, 1, good[:1]), "2 patterns have prices, not 1"),
        (Prices(2, 1, good * 2), "not 4"),
        (Prices(2, 1, None), "not None"),
        (Prices(2, 1, [x.astype(float) for x in good]), "int64"),
        (Prices(2, 1, [x * np.nan for x in good]), "int64"),
        (Prices(2, 1, [x[:, None] for x in good]), "int64"),
        (Prices(2, 1, [x[:3] for x in good]), "needs 5 prices, not 3"),
        (Prices(2, 1, [np.append(x, 0) for x in good]), "needs 5 prices, not 6"),
        (Prices(2, 1, [x.astype(np.uint64) for x in good]), "int64"),
        (Prices(2, 1, [x.tolist() for x in good]), "int64"),
        (Prices(2, 1, [x.astype(object) for x in good]), "int64"),
    ]:
        with pytest.raises(ldiv.InputError, match=message):
            ldiv.verify_certificate(data, ldiv.Certificate(60, 60, "prices", prices), 2)
    assert ldiv.verify_certificate(data, ldiv.Certificate(0, 0, "prices", Prices(2, 1, good)), 2) == 0
    skewed = ldiv.Microdata.from_codes(np.zeros((12, 1), dtype=int), [0] * 11 + [1])
    with pytest.raises(ldiv.NotEligibleError):
        ldiv.verify_certificate(skewed, ldiv.Certificate(0, 0, "counting"), 2)
    with pytest.raises(ldiv.NotEligibleError):
        ldiv.verify_certificate(skewed, ldiv.Certificate(0, 0, "prices", Prices(2, 1, [np.zeros(3, dtype=np.int64)] * 2)), 2)


def test_patterns_without_prices_cost_their_lightest_stars():
    """Rows that differ everywhere stand in no group with at most `most` stars: each pays for the most + 1 lightest attributes, no more."""
    rows = np.arange(8)
    domains = [ldiv.Domain(name, 8, weight=weight) for name, weight in zip("abcd", (4, 1, 3, 2), strict=True)]
    data = ldiv.Microdata.from_codes(np.stack([rows] * 4, axis=1), rows % 4, domains=domains)
    for most, each in ((1, 1 + 2), (2, 1 + 2 + 3), (3, 10), (4, 10)):
        market = DualProblem(data.contingency, 2, most)
        prices = Prices(2, most, [np.zeros(k, dtype=np.int64) for k in market.items])
        assert prove(data.contingency, prices, 2) == market.bound(prices) == 8 * each


def test_the_solver_itself_takes_no_negative_prices():
    data = ldiv.Microdata.from_codes(np.zeros((12, 1), dtype=int), [0, 1, 2, 3] * 3)
    market = DualProblem(data.contingency, 2, 1)
    good = [np.zeros(k, dtype=np.int64) for k in market.items]
    assert market.bound(Prices(2, 1, good)) == 0
    for wrong in ([np.array([-1, 0, 0, 0, 0]), good[1]], [good[0], np.array([0, 0, 0, -SCALE, 0])], [good[0][:3], good[1]]):
        with pytest.raises(ValueError, match="needs 5 prices of at least 0"):
            market.bound(Prices(2, 1, wrong))


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
    assert protected.certificate.proof == "counting"  # what is proven of protected releases is not proven of all


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
    }.items():
        for value in values:
            forged_file(path, {**good, key: value}, p0=price, p1=price)
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
        {"p1": price},
        {"p0": price, "p2": price},
        {"q": price},
        {"p0": price.astype(float)},
        {"p0": price[:, None]},
        {"p0": price.astype(">i8")},
        {"p0": price.astype(np.int32)},
        {"p0": np.array(["text"])},
        {"p0": np.int64(3)},
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
        packed.writestr("p0.npy", header)
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
