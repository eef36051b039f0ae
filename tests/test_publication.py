"""What leaves tells nothing: not by the order of its rows, not by which row is starred, not by the columns beside it."""

import warnings

import numpy as np
import pandas as pd
import pytest

import ldiv

QI = ["age", "ward"]


def people(n=1500, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"age": rng.integers(18, 90, n), "ward": rng.integers(0, 30, n), "ill": rng.integers(0, 8, n)})


# -- the order of the rows -------------------------------------------------------------------------------------------


def filled_by_neighbours(out, name):
    """What an attacker fills in: the value on which the nearest visible cells above and below agree."""
    star = (out[name].astype(str) == "*").to_numpy()
    known = pd.to_numeric(out[name].where(~star)).astype(float)
    low, high = known.ffill().to_numpy(), known.bfill().to_numpy()
    return star, star & (low == high), low


def test_a_sorted_table_gives_stars_away_and_says_so():
    table = people().sort_values("age", ignore_index=True)
    with pytest.warns(ldiv.DisclosureWarning, match="the order of the rows gives stars away: .* starred cells .* in 'age'"):
        kept = ldiv.anonymize(table, QI, "ill", 3, effort="fast")
    star, sure, low = filled_by_neighbours(kept.frame, "age")
    right = sure & (low == table["age"].to_numpy())
    assert right.sum() > star.sum() / 4
    guess = kept.publication.neighbours["age"]
    assert (guess.starred, guess.filled, guess.right) == (star.sum(), sure.sum(), right.sum()) and guess.tells
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mixed = ldiv.anonymize(table, QI, "ill", 3, effort="fast", order="random")
    star, sure, low = filled_by_neighbours(mixed.frame, "age")
    truth = table["age"].to_numpy()[mixed.publication.rows]
    assert not mixed.publication.neighbours["age"].tells
    assert (sure & (low == truth)).sum() <= mixed.publication.neighbours["age"].chance + 4 * np.sqrt(mixed.publication.neighbours["age"].chance) + 2
    assert mixed.frame.index.equals(pd.RangeIndex(len(table)))


def test_a_random_order_says_nothing_and_a_seed_repeats_it():
    table = people(600)
    table.index = [f"person {k}" for k in range(600)]
    one, two = (ldiv.anonymize(table, QI, "ill", 3, effort="fast", order="random") for _ in range(2))
    assert not one.frame.equals(two.frame) and one.stars == two.stars
    assert not any("person" in str(x) for x in one.frame.index)
    a, b = (ldiv.anonymize(table, QI, "ill", 3, effort="fast", shuffle=True, seed=5) for _ in range(2))
    assert a.frame.equals(b.frame) and a.frame["ill"].tolist() != table["ill"].tolist()
    assert sorted(a.frame["ill"]) == sorted(table["ill"])
    with pytest.raises(ldiv.InputError, match="order must be one of 'keep', 'random', not 'sorted'"):
        ldiv.anonymize(table, QI, "ill", 3, order="sorted")


def test_the_order_is_not_drawn_from_what_places_rows_in_groups():
    """Who sees the order of the rows knows the numbers it was made from, so these must not be those that chose which row is starred."""
    release = ldiv.anonymize(people(600), QI, "ill", 3, algorithm="tp", order="random")
    low, high = release.draw & ((1 << 64) - 1), release.draw >> 64
    for entropy in ([low, high], release.draw, low, high):
        assert not np.array_equal(release.publication.rows, np.random.default_rng(entropy).permutation(600))


def change_a_cell(frame):
    starred = frame.index[frame["age"].astype(str) == "*"][0]
    frame = frame.copy()
    frame.loc[starred, "age"] = "1000"
    return frame


@pytest.mark.parametrize("damage, message", [(lambda frame: frame.iloc[::-1].reset_index(drop=True), "withheld"), (change_a_cell, "withheld")])
def test_a_table_that_is_not_what_was_promised_is_withheld(monkeypatch, damage, message):
    """Whatever goes wrong between the release and its table: rows that end in another order than was asked for, a cell that is not the source's."""
    publish = ldiv.Release.publish
    monkeypatch.setattr(ldiv.Release, "publish", lambda self, *a, **k: damage(publish(self, *a, **k)))
    with pytest.raises(ldiv.UnsafeReleaseError, match=message):
        ldiv.anonymize(people(300), QI, "ill", 3, algorithm="tp")


# -- which of several interchangeable rows is starred ----------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["tp", "tp+", "cascade", "hilbert", "auto"])
def test_ties_in_a_cell_exclude_the_truth_as_often_as_chance(algorithm):
    """The attack: a starred row of (q, v) never stands before a visible row of (q, v), so a later visible one excludes q."""
    rng = np.random.default_rng(3)
    n = 4000
    data = ldiv.Microdata.from_codes(rng.integers(0, 6, (n, 3)), np.minimum(rng.geometric(0.25, n) - 1, 7))
    options = {"effort": "fast"} if algorithm == "auto" else {}
    release = ldiv.solve(data, 3, algorithm=algorithm, **options)
    cell = data.contingency.cell_of_row
    starred = (release.codes < 0).any(axis=1)
    last = np.full(len(data.contingency.count), -1)
    visible = np.flatnonzero(~starred)
    last[cell[visible]] = visible
    of_split = np.flatnonzero(starred & (last[cell] >= 0))
    assert len(of_split) > 50
    excluded = (last[cell[of_split]] > of_split).mean()
    # In a random order a starred row stands before the last of k visible ones with probability k / (k + 1).
    kinds = np.bincount(cell[visible], minlength=len(last))[cell[of_split]]
    expected = (kinds / (kinds + 1)).mean()
    assert abs(excluded - expected) < 5 * np.sqrt(expected * (1 - expected) / len(of_split)) + 0.03
    # And the share of stars does not depend on where in the file a row stands.
    halves = starred[: n // 2].mean(), starred[n // 2 :].mean()
    assert abs(halves[0] - halves[1]) < 0.06


def test_ties_are_fresh_and_a_seed_repeats_them():
    data = ldiv.Microdata.from_codes(np.repeat([[0], [1]], 40, axis=0), [0] * 25 + [1] * 15 + [1] * 25 + [0] * 15)
    groups = [ldiv.solve(data, 2, algorithm="tp").group.tolist() for _ in range(5)]
    assert any(g != groups[0] for g in groups)
    seeded = [ldiv.solve(data, 2, algorithm="tp", seed=7).group.tolist() for _ in range(2)]
    assert seeded[0] == seeded[1]
    release = ldiv.solve(data, 2, algorithm="tp", seed=7)
    assert str(release.draw) not in repr(release) + release.summary() + release._repr_html_()


# -- columns published as they are -----------------------------------------------------------------------------------


def test_untouched_columns_are_named_measured_and_can_be_left_out():
    rng = np.random.default_rng(1)
    frame = people(1200)
    frame["decade"] = frame["age"] // 10
    frame["twin"] = frame["age"] + 1000
    frame["pid"] = np.arange(len(frame))
    frame["coin"] = rng.integers(0, 2, len(frame))
    release = ldiv.anonymize(frame, QI, "ill", 3, effort="fast")
    columns = {column.name: column for column in release.publication.passing}
    assert list(columns) == ["decade", "twin", "pid", "coin"]
    twin = columns["twin"].gives_back["age"]
    assert twin.right == twin.filled > 0.3 * twin.starred and twin.tells
    assert columns["pid"].alone == 1.0 and columns["pid"].gives_back["age"].filled == 0 and columns["pid"].flags
    assert not columns["coin"].flags
    notes = "\n".join(release.publication.notes())
    assert "'decade', 'twin', 'pid', 'coin'" in notes and "column 'twin' tells more: age" in notes
    less = ldiv.anonymize(frame, QI, "ill", 3, effort="fast", drop=["twin", "pid"])
    assert list(less.frame.columns) == ["age", "ward", "ill", "decade", "coin"]
    assert list(ldiv.anonymize(frame, QI, "ill", 3, effort="fast", only_named=True).frame.columns) == ["age", "ward", "ill"]
    with pytest.raises(ldiv.InputError, match="drop: column 'age' is a quasi-identifier"):
        ldiv.anonymize(frame, QI, "ill", 3, drop=["age"])
    with pytest.raises(ldiv.InputError, match="no column 'nope'"):
        ldiv.anonymize(frame, QI, "ill", 3, drop=["nope"])


def test_a_copy_of_a_starred_column_and_an_index_are_flagged():
    frame = people(600)
    frame["copy"] = frame["age"].map("{:d}".format)
    frame.index = frame["age"].rename("who")
    release = ldiv.anonymize(frame, QI, "ill", 3, effort="fast")
    passing = {column.name: column for column in release.publication.passing}
    assert set(passing) == {"copy", "index who"}
    for column in passing.values():
        guess = column.gives_back["age"]
        assert guess.right == guess.starred > 100 and column.flags
    assert "column 'index who' tells more" in "\n".join(release.publication.notes())
    unique = pd.DataFrame({"q": [1, 1, 7, 8], "x": [1, 1, 7, 8], "s": list("abab")})
    assert ldiv.anonymize(unique, ["q"], "s", 2).publication.passing[0].flags
