"""What the peers' pages say of the numbers that they are given."""

from experiments.peers.attacks import QI, RELEASES, SENSITIVE, page


def test_the_page_of_attacks_has_a_line_a_release_and_each_attack_of_it():
    rows = [
        {"release": name, "stars_percent": 12.5, "attack": kind, "attack_rate": 0.4, "control_rate": 0.1, "baseline_rate": 0.05}
        | {"risk": 0.1 * k + 0.01 * j, "low": 0.0, "high": 0.9, "seconds": 1.0}
        for k, name in enumerate(("as it is", "auto, l = 2"))
        for j, kind in enumerate(("inference", "linkability"))
    ]
    lines = page(rows, 1000, 50, "1.2.3").splitlines()
    assert "anonymeter 1.2.3, 50 attacks of each kind on 1,000 people" in lines[0] and all(name in lines[0] for name in (*QI, SENSITIVE))
    assert [line.count("|") for line in lines[2:]] == [5] * 4
    assert lines[-2].startswith("| as it is | 12.5 | 0.400, 0.100, **0.000**") and "**0.110** (0.000 to 0.900)" in lines[-1]
    assert RELEASES["as it is"] is None and all(asked is None or {"l", "k"} & set(asked) for asked in RELEASES.values())
