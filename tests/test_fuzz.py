"""A share of the fuzz run of `make fuzz`: numbered random tables through algorithms, constraints and measures."""

import pytest

from tools.fuzz import some


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_random_tables(part):
    done, failed = some(range(10_000_000 + 500 * part, 10_000_000 + 500 * (part + 1)))
    assert not failed, "\n".join(f"python -m tools.fuzz --seed {number} --tables 1\n{text}" for number, text in failed)
    assert sum(done.values()) == 500
