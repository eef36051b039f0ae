"""Where a number comes from: commit, versions, processor, seed."""

from __future__ import annotations

import datetime as dt
import os
import platform
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

__all__ = ["provenance"]


@cache
def _constant() -> dict[str, Any]:
    root = Path(__file__).parents[1]
    found = subprocess.run(["git", "-C", str(root), "describe", "--always", "--dirty", "--abbrev=12"], capture_output=True, text=True)
    libraries = {}
    for name in ("ldiv", "numpy", "scipy", "highspy"):
        try:
            libraries[name] = version(name)
        except PackageNotFoundError:
            continue
    return {
        "commit": found.stdout.strip() or "unknown",
        **libraries,
        "python": platform.python_version(),
        "system": platform.platform(),
        "cpu": _processor(),
        "cores": os.cpu_count(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def provenance() -> dict[str, Any]:
    """What a stored result says of how it was made. Algorithms run without a seed: their ties go by code, so the seed is none."""
    return {**_constant(), "seed": None, "date": dt.datetime.now(dt.UTC).isoformat(timespec="seconds")}
