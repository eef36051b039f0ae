"""Random tables for hypothesis, and the tables of the paper's examples."""

from __future__ import annotations

from hypothesis import strategies as st

import ldiv


def from_histograms(*histograms) -> ldiv.Microdata:
    """One QI attribute, one group per histogram of SA values."""
    codes, sensitive = [], []
    for group, histogram in enumerate(histograms):
        for value, count in enumerate(histogram):
            codes += [[group]] * count
            sensitive += [value] * count
    m = max(len(h) for h in histograms)
    return ldiv.Microdata.from_codes(codes, sensitive, [len(histograms), m])


@st.composite
def histogram_tables(draw, max_groups=6, max_values=6, max_count=6, min_l=2, max_l=5):
    """(data, l): groups with given histograms, made l-eligible by lowering l. Often ends in phases two and three."""
    m = draw(st.integers(2, max_values))
    counts = st.lists(st.integers(0, max_count), min_size=m, max_size=m)
    histograms = draw(st.lists(counts, min_size=1, max_size=max_groups).filter(lambda h: any(map(any, h))))
    data = from_histograms(*histograms)
    return data, min(draw(st.integers(min_l, max_l)), ldiv.max_l(data))


@st.composite
def tables(draw, max_rows=30, max_d=4, max_size=4, max_m=5, max_l=4):
    """(data, l) with several attributes."""
    d, m = draw(st.integers(1, max_d)), draw(st.integers(1, max_m))
    sizes = draw(st.lists(st.integers(1, max_size), min_size=d, max_size=d))
    row = st.tuples(*(st.integers(0, s - 1) for s in sizes), st.integers(0, m - 1))
    rows = draw(st.lists(row, min_size=1, max_size=max_rows))
    data = ldiv.Microdata.from_codes([r[:-1] for r in rows], [r[-1] for r in rows], [*sizes, m])
    return data, min(draw(st.integers(1, max_l)), ldiv.max_l(data))


@st.composite
def asked(draw, max_k=9, **options):
    """(data, l, k): a table of several attributes and what is asked of it; without a sensitive attribute where l is 1, now and then."""
    data, l = draw(tables(**options))
    k = draw(st.one_of(st.just(1), st.integers(1, min(max_k, data.n))))
    if l == 1 < k and draw(st.booleans()):
        data = ldiv.Microdata.from_codes(data.codes, domains=data.domains)
    return data, l, k


# Table 1 of the paper: 10 rows in groups {1,2}, {3}, {4}, {5..8}, {9,10}.
TABLE_1 = {
    "Age": ["<30"] * 3 + ["[30, 50)"] * 5 + [">=50"] * 2,
    "Gender": ["M"] * 4 + ["F"] * 6,
    "Education": ["Master"] * 2 + ["Bachelor"] * 6 + ["High Sch."] * 2,
    "Disease": ["HIV", "HIV", "pneumonia", "bronchitis", "pneumonia", "bronchitis", "bronchitis", "pneumonia", "dyspepsia", "pneumonia"],
}

PHASE_TWO = ((3, 1, 1, 2, 3), (0, 2, 2, 4, 4), (4, 4, 0, 0, 0))
PHASE_THREE = ((3, 1, 2, 3, 3), (1, 3, 2, 3, 3), (4, 4, 4, 0, 0))


def rounds_table(k: int) -> ldiv.Microdata:
    """A family (l = 4) on which phase three takes k rounds: k copies of each thin group, a residue k times as high."""
    return from_histograms(*[PHASE_THREE[0]] * k, *[PHASE_THREE[1]] * k, tuple(k * x for x in PHASE_THREE[2]))


def with_trees(draw, data):
    """The same table, its attributes of three values and more with hierarchies of one level drawn at random."""
    trees = {}
    for domain in data.domains:
        if domain.size > 2 and draw(st.booleans()):
            part = [draw(st.integers(0, 2)) for _ in range(domain.size)]
            tree = {f"{domain.name} part {k}": [code for code in range(domain.size) if part[code] == k] for k in sorted(set(part))}
            trees[domain.name] = tree
    return data.with_hierarchies(trees)
