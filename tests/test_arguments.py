"""Every public argument against its one declaration: what is allowed is taken, what is not is refused by name, in one form."""

from inspect import signature

import numpy as np
import pytest

import ldiv
from ldiv import arguments
from ldiv.algorithms.lagrangian.effort import EFFORTS, PARTS, Effort
from ldiv.arguments import DECLARED, Argument, L
from ldiv.privacy.principles import Principle

DECLARATIONS = [x for x in vars(arguments).values() if isinstance(x, Argument)]
DATA = ldiv.Microdata.from_codes([[0, 0], [0, 0], [1, 0], [1, 1]], [0, 1, 0, 1])
PRINCIPLES = {kind: {name: x.valid()[0] for name, x in kind.parameters().items()} for kind in Principle.__subclasses__() if kind.parameters()}
OPTIONS = [(name, option) for name, entry in sorted(ldiv.algorithms().items()) for option in signature(entry.solve).parameters if option in DECLARED]


def refused(call, name):
    with pytest.raises(ldiv.InputError, match=f"{name} .*must be|must be .*{name}|{name} must be") as caught:
        call()
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("declared", DECLARATIONS, ids=lambda x: f"{x.name}-{type(x).__name__}")
def test_a_declaration_takes_and_refuses_what_it_says(declared):
    for value in declared.valid():
        assert declared.check(value) == value and type(declared.check(value)).__module__ != "numpy"
    for value in declared.invalid():
        refused(lambda: declared.check(value), declared.name)
    if declared.optional:
        assert declared.check(None) is None


@pytest.mark.parametrize("name, option", OPTIONS)
def test_options_of_algorithms(name, option):
    for value in DECLARED[option].invalid():
        refused(lambda: ldiv.solve(DATA, 2, algorithm=name, **{option: value}), option)
        refused(lambda: ldiv.algorithms()[name].solve(DATA.contingency, 2, **{option: value}), option)


@pytest.mark.parametrize("name", sorted(ldiv.algorithms()))
def test_an_option_that_is_none(name):
    with pytest.raises(ldiv.InputError, match="has no option efort=; it takes .*seed="):
        ldiv.solve(DATA, 2, algorithm=name, efort="fast")
    with pytest.raises(ldiv.InputError, match="has no option"):
        ldiv.anonymize({"a": [1, 2], "s": [1, 2]}, ["a"], "s", 2, algorithm=name, nonsense=1)


def test_l_everywhere():
    table = {"a": [1, 1], "s": [1, 2]}
    for value in L.invalid():
        for call in (
            lambda: ldiv.solve(DATA, value),
            lambda: ldiv.anonymize(table, ["a"], "s", value),
            *([] if value is None else [lambda: ldiv.check(table, ["a"], "s", value)]),  # 2 where it is not said
            lambda: ldiv.star_bound(DATA, value),
            lambda: ldiv.tuple_bound(DATA, value),
            lambda: ldiv.algorithms()["tp"].solve(DATA.contingency, value),
            lambda: ldiv.verify_certificate(DATA, ldiv.Certificate(0, 0, "counting"), value),
        ):
            refused(call, "l")
    for value in (2, np.int8(2), np.uint64(2)):
        assert ldiv.solve(DATA, value).l == 2 and ldiv.check(DATA, l=value).l == 2
    empty = ldiv.Microdata.from_codes(np.zeros((0, 1), int), [])
    for name in ldiv.algorithms():
        assert ldiv.solve(empty, L.most, algorithm=name).n == 0
    assert not ldiv.check(DATA, l=L.most)


def test_domains():
    for value in arguments.SIZE.invalid():
        refused(lambda: ldiv.Domain("a", value), "size")
        if not isinstance(value, (list, tuple, dict, np.ndarray, str, bytes)):
            refused(lambda: ldiv.Microdata.from_codes([[0]], [0], [value, 1]), "size")
    for value in arguments.WEIGHT.invalid():
        refused(lambda: ldiv.Domain("a", 2, weight=value), "weight")
        refused(lambda: DATA.weighted({"A1": value}), "weight")
    domain = ldiv.Domain("a", np.int16(3), weight=np.uint8(2), ordered=np.True_)
    assert (type(domain.size), type(domain.weight), type(domain.ordered)) == (int, int, bool)


@pytest.mark.parametrize("kind", PRINCIPLES, ids=lambda kind: kind.__name__)
def test_principles(kind):
    for name, declared in kind.parameters().items():
        for value in declared.invalid():
            refused(lambda: kind(**{**PRINCIPLES[kind], name: value}), name)
    assert ldiv.solve(DATA, 1, also=kind(**PRINCIPLES[kind])) is not None if kind is not ldiv.Recursive else True


def test_efforts():
    for name, declared in PARTS.items():
        for value in declared.invalid():
            refused(lambda: Effort(**{**vars(EFFORTS["fast"]), name: value}), name)
    assert ldiv.solve(DATA, 2, algorithm="lagrangian", effort=EFFORTS["fast"]).stars == 2


def test_misspelt_names_are_guessed():
    with pytest.raises(ldiv.InputError, match="did you mean 'lagrangian'"):
        ldiv.solve(DATA, 2, algorithm="lagrangean")
    with pytest.raises(ldiv.InputError, match="did you mean 'default'"):
        ldiv.solve(DATA, 2, effort="defualt")
    with pytest.raises(ldiv.InputError, match="did you mean 'effort'"):
        ldiv.solve(DATA, 2, efort="fast")
    with pytest.raises(ldiv.InputError, match="protect: 'A3' is not a quasi-identifier"):
        ldiv.solve(DATA, 2, protect=["A3"])
    for also in ("k=10", ["k=10"], 3, [None]):
        with pytest.raises(ldiv.InputError, match="also must be principles"):
            ldiv.solve(DATA, 2, also=also)


def test_trade_off_says_which_algorithms():
    table = {"a": [1, 2, 3, 4], "s": [1, 2, 1, 2]}
    for name in ("mondrian", "tds", "multidim"):
        with pytest.raises(ldiv.InputError, match="values and stars only"):
            ldiv.trade_off(table, ["a"], "s", 2, {"a": [None]}, algorithm=name)
    refused(lambda: ldiv.trade_off(table, ["a"], "s", 2, {"a": [None]}, best="both"), "best")
