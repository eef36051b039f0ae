"""The least versions that pyproject.toml declares, as pip's requirements on one line.

python -m tools.oldest
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PARTS = ("frames", "cli", "excel")  # what the tests of tables need beside the dependencies
RUNNERS = ("pytest", "hypothesis")  # of the tests: any version will do


def pinned(text: str) -> str:
    """``name>=1.2`` as ``name==1.2``."""
    requirement = Requirement(text)
    least = [x.version for x in requirement.specifier if x.operator == ">="]
    extras = f"[{','.join(sorted(requirement.extras))}]" if requirement.extras else ""
    if len(least) != 1:
        raise SystemExit(f"pyproject.toml: {text!r} declares no least version")
    return f"{requirement.name}{extras}=={least[0]}"


def main() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = [*project["dependencies"], *(x for part in PARTS for x in project["optional-dependencies"][part])]
    print(" ".join([*map(pinned, listed), *RUNNERS]))


if __name__ == "__main__":
    main()
