"""The command in this process, for tests: what it exits with and what it says; and tables to run it on."""

import contextlib
import io
import signal
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ldiv.cli import main

ASK_PATIENTS = ("-q", "age", "-q", "ward", "-s", "ill", "-l", "3")
FAST = ("--effort", "fast")
ROWS = 'Age,Sex,Ill\n30,F,flu\n30,F,cold\n40,M,flu\n50,M,"cough, dry"\n'
ASK = ("-q", "Age", "-q", "Sex", "-s", "Ill", "-l", "2")


@dataclass
class Done:
    code: int
    out: str
    err: str


def run(*arguments, encoding="utf-8"):
    """Run `ldiv` with these arguments."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="") for _ in range(2)]
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM))}
    shows = warnings.showwarning
    with contextlib.redirect_stdout(streams[0]), contextlib.redirect_stderr(streams[1]):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = end.code
        finally:
            warnings.showwarning = shows
            for number, handler in handlers.items():
                signal.signal(number, handler)
    texts = []
    for stream in streams:
        stream.flush()
        texts.append(stream.buffer.getvalue().decode(encoding))
    return Done(code, *texts)


def patients(rows=600, seed=0):
    """A table without order for ASK_PATIENTS."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"age": rng.integers(18, 90, rows), "ward": rng.integers(0, 12, rows), "ill": rng.integers(0, 8, rows)})


def table_of_ages(rows=400, seed=3):
    """Ages, towns and incomes whose numbers sort otherwise as text."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(5, 120, rows),
            "weight": np.round(rng.uniform(8, 110, rows), 1),
            "town": rng.choice(["Rome", "Bari", "Ulm"], rows),
            "income": rng.integers(1, 30, rows) * 500,
        }
    )
