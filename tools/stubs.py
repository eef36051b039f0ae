"""The type stubs of the kernels, made from their own signatures: python -m tools.stubs (a test says when they are out of date).

A memoryview is an array of its element type, a C number an int or a float. What a function returns stands in RETURNS, since Cython's `def` does not say.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
KERNELS, STUBS = ROOT / "ext" / "ldiv" / "_kernels", ROOT / "ldiv" / "_kernels"
ELEMENTS = {
    "row_t": "np.int64", "count_t": "np.int64", "index_t": "np.int32", "code_t": "np.int32", "double": "np.float64", "float": "np.float32",
    "uint64_t": "np.uint64", "key_t": "np.uint64", "packed_t": "Any", "narrow_t": "Any", "signed char": "np.int8", "near_t": "np.uint16",
}  # fmt: skip
REAL = ("double", "float")
I32, I64, U64, F64 = (f"NDArray[np.{x}]" for x in ("int32", "int64", "uint64", "float64"))
RETURNS = {
    "cells.first_rows": I32, "cells.tally": I64, "cells.heights": f"tuple[{I64}, {I64}, {I32}]", "cells.hand_out": I64, "cells.filled": f"tuple[{I32}, {I32}, {I64}]",
    "clusters.nearest": "int", "clusters.farthest": "int", "configuration.respond": "tuple[float, int]", "divergence.spread_pattern": "None", "divergence.spread_boxes": "None", "hilbert.curve_keys": U64,
    "keys.pack": "None", "keys.pack_cells": "None", "keys.count_direct": f"tuple[{U64}, {I64}]", "keys.count_sorted": I64,
    "keys.unpack": f"tuple[{I32}, {I64}, {I32}]", "keys.rank_direct": f"tuple[{I32}, {U64}]", "keys.rank_hashed": f"tuple[{I32}, {U64}]",
    "keys.rank_sorted": f"tuple[{I32}, {U64}]", "local_search.place": "int",
    "local_search.improve": "int", "queries.expected": F64, "local_search.rebuild": "int", "multipliers.respond": "float", "multipliers.propose": I64,
    "multipliers.cheapest": I64, "multipliers.shares": "NDArray[np.float32]", "release.agreement": I32, "release.kept_and_left": f"tuple[{I32}, {I32}, {I64}]", "release.assign_rows": I32, "topdown.split_runs": I64,
    "topdown.least_ratios": f"tuple[{F64}, NDArray[np.int8]]", "topdown.median_splits": I32, "phase_one.phase_one": f"tuple[{I64}, {I64}]",
    "tp.height": "int", "tp.eligible": "bool",
}  # fmt: skip
FIELDS = {
    "InvertedList": {},
    "Grouping": {"group": I32, "cell": I32, "rows": I64},
    "State": {"residue_size": "int", "rounds": "int"},
    "Phases": {"steps": "int"},
}
CLASS = re.compile(r"^cdef class (\w+)(\(\w+\))?:", re.MULTILINE)
SIGNATURE = re.compile(r"^(    )?def (\w+)\(((?:[^()]|\(\))*)\)( -> [\w\[\], .]+)?:", re.MULTILINE)


def typed(words: str) -> str:
    """One parameter with its type and default."""
    head, _, default = words.partition("=")
    optional = head.replace(" not None", "") == head and default.strip() == "None"
    head = head.replace(" not None", "").replace("const ", "").strip()
    if head in ("self",):
        return head
    kind, _, name = head.rpartition(" ")
    view = re.match(r"(.+?)\[[:,1 ]+\]$", kind)
    if view:
        element = ELEMENTS[view[1].strip()]
        annotation = f"NDArray[{element}]"
    else:
        annotation = (
            "float"
            if kind in REAL
            else "bool"
            if kind == "bint"
            else kind
            if re.fullmatch("[A-Z][a-z]+[A-Z]?\\w*", kind) and kind != "Py_ssize_t"
            else "int"
        )
    return f"{name}: {annotation}{' | None' if optional else ''}{' = ...' if default else ''}"


def stub(path: Path) -> str:
    """The text of a kernel's stub."""
    source = path.read_text()
    doc = source.splitlines()[0].rstrip('"') + '"""'
    lines: list[str] = [f"{name}: int" for name in re.findall(r"^([A-Z]+) = ", source, re.MULTILINE)]
    head, shown = "", False
    for found in sorted([*CLASS.finditer(source), *SIGNATURE.finditer(source)], key=lambda found: found.start()):
        if found.re is CLASS:
            fields = FIELDS.get(found[1], {})
            head = f"class {found[1]}{found[2] or ''}:"
            shown = bool(fields)  # else only with its first method
            lines += ["", head, *(f"    {field}: {kind}" for field, kind in fields.items())] if shown else []
            continue
        indent, name, parameters, returns = found.groups()
        if not indent or not shown:
            lines += ["", head] if indent else [""]
            shown = shown or bool(indent)
        given = [typed(part) for part in re.split(r",\s*(?![^\[]*\])", " ".join(parameters.split())) if part]
        answer = returns or f" -> {RETURNS.get(f'{path.stem}.{name}', 'None')}"
        if indent and re.search(r"@property\s*$", source[: found.start()]):
            lines.append("    @property")
        lines.append(f"{indent or ''}def {name}({', '.join(given)}){answer}: ...")
    body = "\n".join(lines) + "\n"
    imports = [f"from ldiv._kernels.{m[1]} import {m[2]}" for m in re.finditer(r"^from ldiv\._kernels\.(\w+) cimport (\w+)", source, re.MULTILINE)
               if m[2][:1].isupper() and re.search(rf"(: |\(){m[2]}\b", body)]  # fmt: skip
    used = {"Any": "from typing import Any\n", "np.": "import numpy as np", "NDArray": "from numpy.typing import NDArray"}
    start = [text for word, text in used.items() if word in body]
    return "\n".join([doc, "", *start, *([""] + imports if imports else []), body])


def squeezed(text: str) -> str:
    """What is left of a stub when its layout is left out."""
    return re.sub(r"[\s,]", "", text)


def main() -> int:
    """Write the stubs that say something else than their kernels; their layout is ruff's."""
    written = []
    for path in sorted(KERNELS.glob("*.pyx")):
        there, text = STUBS / f"{path.stem}.pyi", stub(path)
        if not there.exists() or squeezed(there.read_text()) != squeezed(text):
            there.write_text(text)
            written.append(str(there))
            print(there.relative_to(ROOT))
    if written and importlib.util.find_spec("ruff"):
        subprocess.run([sys.executable, "-m", "ruff", "format", "--quiet", *written], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
