"""Which files make a result: the transitive imports of a module, kernels, data and a user's own helper modules included, and their hash.

A stored result is found again only while all of them, and the versions of the libraries that compute, are unchanged. Packages' __init__
files only list what there is, and do not count.
"""

from __future__ import annotations

import ast
import hashlib
import re
import sys
import sysconfig
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

__all__ = ["closure", "fingerprint", "libraries"]

ROOT = Path(__file__).parents[1]
OURS = ("ldiv", "experiments")
INSTALLED = [Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
CIMPORT = re.compile(r"^\s*(?:from (ldiv\._kernels\.\w+) cimport|cimport (ldiv\._kernels\.\w+))", re.MULTILINE)


@cache
def closure(module: str) -> frozenset[Path]:
    """The source files of a module and of all that it imports, at its top level or inside functions; libraries that are installed end the walk."""
    found: set[Path] = set()
    waiting = [module]
    while waiting:
        for path in _files(waiting.pop()):
            if path not in found:
                found.add(path)
                waiting += _imports(path)
    return frozenset(found)


@cache
def libraries() -> dict[str, str]:
    """The versions that a result depends on."""
    return {name: version(name) for name in ("ldiv", "numpy", "scipy")} | {"python": ".".join(map(str, sys.version_info[:2]))}


@cache
def fingerprint(*parts: str | Path) -> str:
    """A hash over the closure of some modules (by name), further files (by path), the shipped data, and the libraries that compute."""
    modules = [part for part in parts if isinstance(part, str)]
    data = [part for part in parts if isinstance(part, Path)]
    shipped = [path for path in (ROOT / "ldiv" / "datasets" / "data").iterdir() if path.is_file()]
    paths = sorted({*data, *shipped}.union(*(closure(module) for module in modules)))
    digest = hashlib.sha256(repr(sorted(libraries().items())).encode())
    for path in paths:
        name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else path.name
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _files(module: str) -> list[Path]:
    if module.split(".")[0] not in OURS:  # a user's own algorithm, and what it imports that is not installed
        try:
            spec = find_spec(module) if module != "__main__" else None
        except (ImportError, ValueError):  # a name imported from a module, not a module
            return []
        path = Path(spec.origin) if spec is not None and spec.origin and spec.has_location else None
        return [path] if path is not None and path.suffix == ".py" and not any(path.is_relative_to(place) for place in INSTALLED) else []
    base = ROOT / module.replace(".", "/")
    kernel = ROOT / "ext" / module.replace(".", "/")
    candidates = [base.with_suffix(".py"), kernel.with_suffix(".pyx"), kernel.with_suffix(".pxd")]
    return [path for path in candidates if path.is_file()]


def _imports(path: Path) -> list[str]:
    text = path.read_text()
    if path.suffix != ".py":
        return [a or b for a, b in CIMPORT.findall(text)]
    names = []
    for node in ast.walk(ast.parse(text)):  # also inside functions: what is imported late computes as well
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    # A module of the project imports only what is its own or installed; a user's may import modules beside it.
    own = path.is_relative_to(ROOT) and path.relative_to(ROOT).parts[0] in OURS
    return [name for name in names if name != "ldiv" and (name.split(".")[0] in OURS or not own)]
