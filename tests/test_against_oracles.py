"""TP, Mondrian and TDS against naive versions that write out every rule: not only that results are valid, but that they are these."""

from collections import Counter

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import PHASE_THREE, from_histograms, histogram_tables, rounds_table, tables

import ldiv
from ldiv.algorithms import tds


def residue_of(data, release):
    """SA values of the rows that TP stars in all attributes that differ: those outside the groups it keeps whole."""
    c = data.contingency
    starred = (release.published == -1).any(axis=1)
    residue = Counter()
    for g in np.flatnonzero(starred):
        for e in range(release.indptr[g], release.indptr[g + 1]):
            residue[int(c.sensitive[release.cell[e]])] += int(release.count[e])
    return residue


@settings(deadline=None, max_examples=400)
@given(histogram_tables(max_groups=5, max_values=6, max_count=5, min_l=2, max_l=5))
def test_tp_moves_the_rows_that_its_rules_say(table):
    data, l = table
    residue, phase, rounds = oracle.tp(oracle.rows_of(data.codes, data.sensitive), l)
    release = ldiv.solve(data, l, algorithm="tp")
    assert (release.phase, release.info["rounds"]) == (phase, rounds)
    assert release.info["residue_sizes"][-1] == sum(residue.values()) and release.info["residue_heights"][-1] == max(residue.values(), default=0)
    if release.groups > 1 and sum(residue.values()) and (release.published == -1).any():
        assert residue_of(data, release) == +residue


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("more", [(), (2, 2, 2, 2, 2), (3, 1, 1, 4, 1), (0, 2, 1, 3, 2)])
def test_phase_three_drains_the_rarest_first(k, more):
    data = rounds_table(k) if not more else from_histograms(PHASE_THREE[0], PHASE_THREE[1], more, PHASE_THREE[2])
    l = min(4, ldiv.max_l(data))
    residue, phase, rounds = oracle.tp(oracle.rows_of(data.codes, data.sensitive), l)
    release = ldiv.solve(data, l, algorithm="tp")
    assert (release.phase, release.info["rounds"]) == (phase, rounds)
    assert residue_of(data, release) == +residue


@pytest.mark.parametrize("wide", [0, 1])
def test_mondrian_compares_widths_as_parts_of_their_domains(wide):
    """Of two attributes the one that spans all of its two values is cut, not the one that spans 3 of 99."""
    codes = np.array([[0, 0], [0, 1], [3, 0], [3, 1]])
    sizes = [100, 2]
    if wide:
        codes, sizes = codes[:, ::-1], sizes[::-1]
    release = ldiv.solve(ldiv.Microdata.from_codes(codes, [0, 1, 1, 0], [*sizes, 2]), 2, algorithm="mondrian")
    assert release.groups == 2 and np.array_equal(release.codes[:, 1 - wide], codes[:, 1 - wide])
    assert (release.codes[:, wide] < -1).all()


@settings(deadline=None, max_examples=200)
@given(tables(max_rows=24, max_d=3, max_size=6, max_m=4, max_l=3))
def test_mondrian_cuts_where_a_row_by_row_version_cuts(table):
    data, l = table
    groups = oracle.mondrian(oracle.rows_of(data.codes, data.sensitive), [x.size for x in data.domains], l)
    release = ldiv.solve(data, l, algorithm="mondrian")
    shown = {}
    for i, text in enumerate(map(tuple, release.codes.tolist())):
        shown.setdefault(text, []).append(i)
    # Groups that publish the same are one: compare what is published row by row.
    for group in groups:
        for j, domain in enumerate(data.domains):
            held = sorted({int(data.codes[i, j]) for i in group})
            for i in group:
                code = int(release.codes[i, j])
                covered = [code] if code >= 0 else list(range(domain.size)) if code == -1 else list(release.subdomains[j][-2 - code].codes)
                assert covered == held
    assert sum(map(len, shown.values())) == data.n


@settings(deadline=None, max_examples=150)
@given(tables(max_rows=24, max_d=3, max_size=5, max_m=4, max_l=3), st.lists(st.booleans(), min_size=3, max_size=3))
def test_tds_takes_the_best_of_information_gain_over_loss_at_every_step(table, ordered):
    data, l = table
    domains = [ldiv.Domain(x.name, x.size, ordered=o) for x, o in zip(data.domains, ordered, strict=False)]
    data = ldiv.Microdata.from_codes(data.codes, data.sensitive, domains=domains, sensitive_domain=data.sensitive_domain)
    rows = oracle.rows_of(data.codes, data.sensitive)
    state = tds.Specialisation(data.contingency, l)
    shown = [{0} for _ in domains]

    def node_of(code, j, cut):
        return next(int(v) for v in state.trees[j].path[code] if int(v) in cut)

    def groups(cuts):
        found = {}
        for qi, value in rows:
            found.setdefault(tuple(node_of(code, j, cuts[j]) for j, code in enumerate(qi)), []).append(value)
        return list(found.values())

    def candidates():
        now = oracle.anonymity(groups(shown))
        for j, cut in enumerate(shown):
            for node in sorted(cut):
                children = state.trees[j].children[node]
                after = [*shown[:j], (cut - {node}) | set(children), *shown[j + 1 :]]
                if not children or not all(oracle.eligible(values, l) for values in groups(after)):
                    continue
                below = [v for qi, v in rows if qi[j] in state.trees[j].codes(node)]
                parts = [[v for qi, v in rows if qi[j] in state.trees[j].codes(child)] for child in children]
                gain, loss = oracle.information_gain(below, parts), now - oracle.anonymity(groups(after))
                yield (j, node), gain / loss if loss > 1e-12 else (float("inf") if gain > 1e-12 else 0.0), gain

    while True:
        found = {key: (score, gain) for key, score, gain in candidates()}
        chosen = state.best()
        if chosen is None:
            assert not found
            return
        assert chosen in found
        best = max(found.values())
        mine = found[chosen]
        assert mine[0] >= best[0] - 1e-9 * abs(best[0]) or best[0] == mine[0]
        if mine[0] == float("inf"):
            assert mine[1] >= max(gain for score, gain in found.values() if score == float("inf")) - 1e-9
        state.specialise(*chosen)
        j, node = chosen
        shown[j] = (shown[j] - {node}) | set(state.trees[j].children[node])
