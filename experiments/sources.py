"""Which source files compute a result: the transitive imports of a module, kernels included, and their hash.

A stored result is found again only while the files that made it are unchanged. Packages' __init__ files only list what there is, and
do not count.
"""

from __future__ import annotations

import ast
import hashlib
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

__all__ = ["closure", "fingerprint"]

ROOT = Path(__file__).parents[1]
OURS = ("ldiv", "experiments")
CIMPORT = re.compile(r"^\s*(?:from (ldiv\.\w+) cimport|cimport (ldiv\.\w+))", re.MULTILINE)


@cache
def closure(module: str) -> frozenset[Path]:
    """The source files of a module of ldiv or experiments and of all that it imports at its top level."""
    found: set[Path] = set()
    waiting = [module]
    while waiting:
        for path in _files(waiting.pop()):
            if path not in found:
                found.add(path)
                waiting += _imports(path)
    return frozenset(found)


@cache
def fingerprint(*modules: str) -> str:
    """A hash over the closure of some modules."""
    paths = sorted(set().union(*(closure(module) for module in modules)))
    digest = hashlib.sha256()
    for path in paths:
        name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _files(module: str) -> list[Path]:
    if module.split(".")[0] not in OURS:        # a user's own algorithm
        spec = find_spec(module) if module != "__main__" else None
        return [Path(spec.origin)] if spec is not None and spec.origin else []
    base = ROOT / module.replace(".", "/")
    kernel = ROOT / "ext" / module.replace(".", "/")
    candidates = [base.with_suffix(".py"), kernel.with_suffix(".pyx"), kernel.with_suffix(".pxd")]
    return [path for path in candidates if path.is_file()]


def _imports(path: Path) -> list[str]:
    text = path.read_text()
    if path.suffix != ".py":
        return [a or b for a, b in CIMPORT.findall(text)]
    names = []
    for node in ast.parse(text).body:       # top level only: the registry imports every algorithm inside a function
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return [name for name in names if name.split(".")[0] in OURS and name != "ldiv"]
