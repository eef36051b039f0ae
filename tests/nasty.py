"""What no public object may do harm with; run in a process of its own, which must end well. Prints what was not refused as it should be."""

import itertools
import sys
from dataclasses import replace

import numpy as np

import ldiv
from ldiv import Contingency, Domain, InputError, LdivError, Microdata, Release, Subdomain, Taxonomy, UnsafeReleaseError

CODES, SENSITIVE = [[0, 0], [0, 0], [1, 0], [1, 1], [2, 1], [2, 1]], [0, 1, 0, 1, 0, 2]
DATA = Microdata.from_codes(CODES, SENSITIVE, [3, 2, 3])
C = DATA.contingency
A, B, S = *DATA.domains, DATA.sensitive_domain
ALL = np.arange(len(C.count), dtype=np.int32)
WHOLE = {
    "codes": C.codes,
    "indptr": C.indptr,
    "sensitive": C.sensitive,
    "count": C.count,
    "domains": C.domains,
    "sensitive_domain": C.sensitive_domain,
}
ENTRIES = {"group": ALL * 0, "cell": ALL, "count": C.count}
GOOD = Release.from_entries(C, **ENTRIES, l=2, algorithm="x")
FORM = {"published": GOOD.published, "indptr": GOOD.indptr, "cell": GOOD.cell, "count": GOOD.count}
BIG = 1 << 62

# What an array of whole numbers may be turned into.
RUBBISH = [
    None,
    "text",
    5,
    [],
    [[1]],
    [1.5] * 6,
    ["a"] * 6,
    [None] * 6,
    {},
    object(),
    np.zeros((6, 6)),
    np.array([np.nan] * 6),
    np.array([-1] * 6),
    np.array([10**8] * 6),
    np.array([BIG] * 6),
    np.array([2**63] * 6, dtype=np.uint64),
    np.array([2**31] * 6),
    np.zeros(6, dtype=bool),
    np.array([2**70] * 6, dtype=object),
    np.ma.masked_array(np.zeros(6, int), mask=[1] * 6),
    np.zeros(6, dtype="M8[D]"),
    np.zeros(5, dtype=np.int64),
    np.array([-(2**63)] * 6),
    [[0, 1], [2]],
    np.zeros(0),
    np.zeros((0, 2)),
    [True] * 6,
    b"123456",
]


def whole_releases(release):
    """Reads everything of a release that reaches a kernel."""
    release.verify()
    return release.group, release.codes, release.stars, release.max_l, ldiv.kl_divergence(release), ldiv.ncp(release), ldiv.discernibility(release)


def cases():
    for name, value in itertools.product(WHOLE, RUBBISH):
        yield (
            f"Contingency {name}={value!r:.40}",
            lambda name=name, value=value: ldiv.solve(Contingency(**{**WHOLE, name: value}), 2),
            ((LdivError, None) if name == "count" else LdivError),
        )
    for name, value in itertools.product(ENTRIES, RUBBISH):
        yield (
            f"from_entries {name}={value!r:.40}",
            lambda name=name, value=value: whole_releases(Release.from_entries(C, **{**ENTRIES, name: value}, l=2, algorithm="x")),
            (LdivError, None) if name == "group" else LdivError,
        )
    for name, value in itertools.product(FORM, RUBBISH):
        yield (
            f"Release {name}={value!r:.40}",
            lambda name=name, value=value: whole_releases(Release(C, **{**FORM, name: value}, l=2, algorithm="x")),
            LdivError,
        )
        yield f"replace {name}={value!r:.40}", lambda name=name, value=value: whole_releases(replace(GOOD, **{name: value})), LdivError
    for value in RUBBISH:
        yield f"Microdata codes={value!r:.40}", lambda value=value: ldiv.solve(Microdata(value, DATA.sensitive, DATA.domains, S), 2), LdivError
        yield f"Microdata sensitive={value!r:.40}", lambda value=value: ldiv.solve(Microdata(DATA.codes, value, DATA.domains, S), 2), LdivError
        yield f"Microdata domains={value!r:.40}", lambda value=value: ldiv.solve(Microdata(DATA.codes, DATA.sensitive, value, S), 2), LdivError
        yield f"from_codes codes={value!r:.40}", lambda value=value: ldiv.solve(Microdata.from_codes(value, SENSITIVE), 2), LdivError
        yield f"from_codes sensitive={value!r:.40}", lambda value=value: ldiv.solve(Microdata.from_codes(CODES, value), 2), LdivError
        yield f"from_codes sizes={value!r:.40}", lambda value=value: ldiv.solve(Microdata.from_codes(CODES, SENSITIVE, value), 2), (LdivError, None)
        yield (
            f"published={value!r:.40}",
            lambda value=value: whole_releases(Release.from_entries(C, **ENTRIES, l=2, algorithm="x", published=value)),
            (LdivError, None) if value is None else LdivError,
        )
        yield (
            f"subdomains={value!r:.40}",
            lambda value=value: whole_releases(Release.from_entries(C, **ENTRIES, l=2, algorithm="x", subdomains=value)),
            (LdivError, None),
        )
        yield (
            f"Subdomain {value!r:.40}",
            lambda value=value: whole_releases(
                Release.from_entries(C, **ENTRIES, l=2, algorithm="x", published=[[-2, -1]], subdomains=[[Subdomain(value, "t")], []])
            ),
            LdivError,
        )
        yield f"restrict {value!r:.40}", lambda value=value: C.restrict(value), LdivError
        yield f"project {value!r:.40}", lambda value=value: C.project(value if isinstance(value, (list, np.ndarray)) else [value]), (LdivError, None)
        yield (
            f"Microdata.project {value!r:.40}",
            lambda value=value: DATA.project(value if isinstance(value, (list, str)) else [value]).contingency,
            LdivError,
        )
        yield f"Taxonomy {value!r:.40}", lambda value=value: Taxonomy(value, np.array([1, 2]), ("*", "a", "b")), LdivError
        yield f"Taxonomy leaf {value!r:.40}", lambda value=value: Taxonomy(np.array([-1, 0, 0]), value, ("*", "a", "b")), (LdivError, None)
        for name in ldiv.algorithms():
            yield f"{name} of {value!r:.40}", lambda name=name, value=value: ldiv.algorithms()[name].solve(value, 2), LdivError
    yield "no attribute", lambda: DATA.project([]), InputError
    yield "an attribute twice", lambda: DATA.project([0, 0]), InputError
    yield "an unknown attribute", lambda: DATA.project(["nope"]), InputError
    yield "attribute 5", lambda: DATA.project([5]), InputError
    yield "attribute -1", lambda: DATA.project([-1]), InputError
    yield "codes wrap", lambda: Microdata.from_codes([[3_000_000_000], [7]], [0, 1]), InputError
    yield "sensitive codes wrap", lambda: Microdata.from_codes([[1], [7]], [0, 2**32]), InputError
    yield "too many rows", lambda: Contingency([[0]], [0, 2], [0, 1], [BIG, 1], (A,), S), InputError
    yield "groups twice", lambda: Contingency([[0], [0]], [0, 1, 2], [0, 1], [1, 1], (A,), S), InputError
    yield "cells twice", lambda: Contingency([[0]], [0, 2], [1, 1], [1, 1], (A,), S), InputError
    yield "an empty group", lambda: Contingency([[0], [1]], [0, 0, 1], [1], [1], (A,), S), InputError
    yield "data of another table", lambda: Contingency([[0]], [0, 1], [1], [1], (A,), S, DATA), InputError
    yield "cells left out", lambda: Release.from_entries(C, ALL[:-1] * 0, ALL[:-1], C.count[:-1], l=2, algorithm="x").group, UnsafeReleaseError
    yield "rows twice", lambda: Release.from_entries(C, ALL * 0, ALL, C.count * 2, l=2, algorithm="x").codes, UnsafeReleaseError
    yield "a wrapping sum", lambda: Release.from_entries(C, np.zeros(8, int), np.zeros(8, int), np.full(8, 2**61), l=2, algorithm="x"), InputError
    yield (
        "a sub-domain outside",
        lambda: Release.from_entries(C, **ENTRIES, l=2, algorithm="x", published=[[-2, -1]], subdomains=[[Subdomain((0, 9), "t")], []]),
        InputError,
    )
    yield "a cycle", lambda: Taxonomy(np.array([-1, 2, 1]), np.array([1, 2]), ("*", "a", "b")), InputError
    for size in (2**31 - 1, 2**20):
        wide = Microdata.from_codes([[0], [1], [2], [3]], [0, 1, 0, 1], domains=[Domain("a", size, ordered=True)])
        for name in ldiv.algorithms():
            yield f"{name}, a domain of {size}", lambda name=name, wide=wide: whole_releases(ldiv.solve(wide, 2, algorithm=name)), (InputError, None)
    skewed = Microdata.from_codes([[k] for k in range(12)], [0] * 11 + [1]).contingency
    for name in ldiv.algorithms():
        yield f"{name} on a table that is not eligible", lambda name=name: ldiv.algorithms()[name].solve(skewed, 3), ldiv.NotEligibleError
    yield "bound of a table that is not eligible", lambda: ldiv.star_bound(skewed, 3), ldiv.NotEligibleError
    for name, array in (("codes", C.codes), ("count", C.count), ("cell", GOOD.cell), ("published", GOOD.published), ("Microdata.codes", DATA.codes)):
        yield f"writing to {name}", lambda array=array: array.__setitem__(0, 10**6), ValueError


def plug_ins():
    """Algorithms that return rubbish, each by another way."""
    entries = Release.from_entries

    def changed(c, **about):
        release = entries(c, ALL * 0, ALL, c.count, l=2, algorithm="bad")
        release.__dict__.update(about)
        return release

    kept = [np.zeros(6, dtype=np.int32), ALL.copy(), C.count.copy()]

    def aliased(c, l):
        release = entries(c, *kept, l=l, algorithm="bad")
        for array in kept:
            array[:] = 10**6 % (1 << 31)
        return release

    yield "nothing", lambda c, l: None, UnsafeReleaseError
    yield "codes", lambda c, l: c.codes, UnsafeReleaseError
    yield "another table", lambda c, l: ldiv.solve(Microdata.from_codes(CODES, SENSITIVE), l), UnsafeReleaseError
    yield "a lesser l", lambda c, l: entries(c, c.group_of_cell, ALL, c.count, l=1, algorithm="bad"), UnsafeReleaseError
    yield "half", lambda c, l: entries(c, ALL[:3] * 0, ALL[:3], c.count[:3], l=l, algorithm="bad"), UnsafeReleaseError
    yield "cells out of range", lambda c, l: entries(c, ALL * 0, ALL + 10**8, c.count, l=l, algorithm="bad"), InputError
    yield "a cell of -1", lambda c, l: entries(c, ALL * 0, ALL - 1, c.count, l=l, algorithm="bad"), InputError
    yield "negative counts", lambda c, l: entries(c, ALL * 0, ALL, -c.count, l=l, algorithm="bad"), InputError
    yield "floats", lambda c, l: entries(c, ALL * 0.0, ALL, c.count, l=l, algorithm="bad"), InputError
    yield "another shape", lambda c, l: entries(c, ALL[:, None], ALL, c.count, l=l, algorithm="bad"), InputError
    yield "lies", lambda c, l: entries(c, ALL * 0, ALL, c.count, l=l, algorithm="bad", published=[[0, 0]]), UnsafeReleaseError
    yield "too few published", lambda c, l: entries(c, ALL, ALL, c.count, l=l, algorithm="bad", published=[[-1, -1]]), InputError
    yield (
        "not contiguous",
        lambda c, l: entries(c, np.repeat(ALL * 0, 2)[::2], np.repeat(ALL, 2)[::2], np.repeat(c.count, 2)[::2], l=l, algorithm="bad"),
        None,
    )
    yield "other types", lambda c, l: entries(c, (ALL * 0).astype(np.uint8), ALL.astype(">i8"), c.count.astype(np.int16), l=l, algorithm="bad"), None
    yield "lists", lambda c, l: entries(c, [0] * 6, ALL.tolist(), c.count.tolist(), l=l, algorithm="bad"), None
    yield "aliased arrays", aliased, None
    yield "writes to its table", lambda c, l: c.count.__setitem__(0, 5), ValueError
    mine = type("Mine", (Release,), {"verify": lambda self: self})
    yield "a class of its own", lambda c, l: mine(c, **FORM, l=l, algorithm="bad"), UnsafeReleaseError


def outcome(call):
    try:
        call()
    except Exception as error:  # noqa: BLE001
        return error
    return None


def fuzz(rng):
    """Entries at random: either a release that holds, or an error of ours."""

    def array(high, low=0):
        length = int(rng.integers(0, 9))
        kind = rng.choice(["i1", "i4", "i8", "u8", "f8", "u2"])
        return rng.integers(low - 2 if rng.random() < 0.3 and kind[0] != "u" else low, high + 2, length).astype(kind)

    def once():
        parts = array(4), array(len(C.count) - 1), array(3)
        if rng.random() < 0.7:
            length = min(map(len, parts))
            parts = tuple(x[:length] for x in parts)
        published = array(2, -3).reshape(-1, 1).repeat(2, axis=1) if rng.random() < 0.5 else None
        whole_releases(Release.from_entries(C, *parts, l=int(rng.integers(1, 4)), algorithm="x", published=published))

    return once


def main():
    wrong, tried = [], 0
    for name, call, expected in cases():
        tried += 1
        kinds = expected if isinstance(expected, tuple) else (expected,)
        error = outcome(call)
        if not any(error is None if kind is None else isinstance(error, kind) for kind in kinds) or len(str(error)) > 2000:
            wrong.append(f"{name}: {type(error).__name__}: {error!s:.200}")
    for k, (name, solve, expected) in enumerate(plug_ins()):
        tried += 1
        ldiv.register(f"bad {k}")(lambda c, l, *, seed=None, solve=solve: solve(c, l))
        error = outcome(lambda k=k: whole_releases(ldiv.solve(C.data if C.data else C, 2, algorithm=f"bad {k}")))
        if not (error is None if expected is None else isinstance(error, expected)):
            wrong.append(f"plug-in {name}: {type(error).__name__}: {error!s:.200}")
    rng = np.random.default_rng(1)
    for _ in range(3000):
        tried += 1
        error = outcome(fuzz(rng))
        if error is not None and not isinstance(error, LdivError):
            wrong.append(f"entries at random: {type(error).__name__}: {error!s:.200}")
    print("\n".join(wrong[:40]))
    print(f"tried {tried}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
