import os
import shutil
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

settings.register_profile("ldiv", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
# For tools/mutants.py, which only asks whether a test fails: a failing example is not made smaller.
settings.register_profile("quick", settings.get_profile("ldiv"), phases=[Phase.explicit, Phase.generate])
settings.load_profile("ldiv")

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as a shell does to what it starts behind: tests of Ctrl-C would wait for ever
    signal.signal(signal.SIGINT, signal.default_int_handler)

SHARED = Path(__file__).parents[2] / "shared" / "data"


def shared(name: str) -> Path:
    """A real table that does not travel with the project; the test is skipped where it is not there."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"needs the real table {name}, not found in {SHARED}")
    return path


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """One session of Spark for all tests, started when the first of them asks for it; skipped where pyspark or Java is not there."""
    sql = pytest.importorskip("pyspark.sql", reason="needs pyspark: pip install 'ldiv[spark]'")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java 17 or newer")
    folder = tmp_path_factory.mktemp("spark")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.default.parallelism": "2",
        "spark.sql.adaptive.enabled": "false",  # pure cost on small tables
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.local.dir": str(folder),
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={folder} -XX:TieredStopAtLevel=1",  # less compiling: half the time of small queries
    }
    builder = sql.SparkSession.builder.master("local[2]").appName("ldiv tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture
def people(tmp_path, monkeypatch):
    """A file of four rows, in the folder where the command then runs."""
    from command import ROWS  # needs the command's own libraries, which most tests do not

    monkeypatch.chdir(tmp_path)
    path = tmp_path / "people.csv"
    path.write_text(ROWS)
    return path
