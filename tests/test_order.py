"""The order in which quasi-identifiers are named changes nothing but the order of the columns."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import tables

import ldiv

FREE = sorted(name for name, algorithm in ldiv.list_algorithms().items() if algorithm.any_order)


def test_which_promise_it():
    assert FREE == ["auto", "cascade", "exact", "lagrangian"]  # the paper's own take columns as they are named


@settings(deadline=None, max_examples=30)
@given(table=tables(max_rows=25, max_d=3), draw=st.data())
def test_the_same_cells_are_starred(table, draw):
    data, l = table
    name = draw.draw(st.sampled_from(FREE))
    order = draw.draw(st.permutations(range(data.d)))
    names = [data.names[j] for j in order]
    domains = [data.domains[j] for j in order]
    other = ldiv.Microdata(data.codes[:, order], data.sensitive, tuple(domains), data.sensitive_domain)
    one, two = (ldiv.solve(x, l, algorithm=name, seed=3) for x in (data, other))
    assert one.stars == two.stars and one.stars_by_attribute == {n: two.stars_by_attribute[n] for n in data.names} and names == list(other.names)
    assert sorted(map(tuple, one.codes[:, order])) == sorted(map(tuple, two.codes))
    assert one.certificate.bound == two.certificate.bound
    if two.proof is not None and two.proof.prices is not None:
        assert ldiv.verify_certificate(other, two.certificate, l) >= (0 if two.proof.exact else two.proof.bound)


@pytest.mark.parametrize("protect", [(), ("Gender",)])
def test_a_real_table(protect):
    qi = ["Gender", "Race", "MaritalStatus"]
    found = set()
    for order in itertools.permutations(qi):
        data = ldiv.datasets.load("acs2018", qi=list(order), sensitive="Occupation").head(20_000)
        release = ldiv.solve(data, 6, protect=protect)
        assert ldiv.verify_certificate(data, release.certificate, 6) == release.certificate.bound
        columns = [list(order).index(name) for name in qi]
        found.add((release.stars, release.certificate.bound, np.unique(release.codes[:, columns], axis=0).tobytes()))
    assert len(found) == 1
