from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

settings.register_profile("ldiv", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
# For tools/mutants.py, which only asks whether a test fails: a failing example is not made smaller.
settings.register_profile("quick", settings.get_profile("ldiv"), phases=[Phase.explicit, Phase.generate])
settings.load_profile("ldiv")

SHARED = Path(__file__).parents[2] / "shared" / "data"


def shared(name: str) -> Path:
    """A real table that does not travel with the project; the test is skipped where it is not there."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"needs the real table {name}, not found in {SHARED}")
    return path


@pytest.fixture
def people(tmp_path, monkeypatch):
    """A file of four rows, in the folder where the command then runs."""
    from command import ROWS  # needs the command's own libraries, which most tests do not

    monkeypatch.chdir(tmp_path)
    path = tmp_path / "people.csv"
    path.write_text(ROWS)
    return path
