"""The house: imports point down, no circles, stubs are those of the kernels, the map of the paper is true."""

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest

import ldiv
from tools.stubs import squeezed, stub

ROOT = Path(__file__).parents[1]
# From the ground up; what stands on one floor may import from those below it and from itself.
FLOORS = [
    {"errors", "limited", "_version", "_kernels"}, {"arguments"}, {"table"}, {"datasets", "privacy"}, {"bounds"}, {"release"}, {"algorithms", "hardness"},
    {"constraints", "utility"}, {"asking", "attacks"}, {"engines"}, {"api", "anatomy"}, {"tradeoff"}, {"report"}, {"cli"},
]  # fmt: skip
LEVEL = {name: level for level, names in enumerate(FLOORS) for name in names}
# privacy.principles judges groups of a release while it is made; datasets make tables and report nothing.
MODULES = sorted(path for path in (ROOT / "ldiv").rglob("*.py"))
LONG = {
    "ldiv/table/frames.py": "the sources of all libraries, their one public door", "ldiv/release/release.py": "one class; its form, check and decoding stand apart",
    "ldiv/table/microdata.py": "half of it docstrings of the public constructors", "ldiv/table/backends.py": "one class a library, side by side",
    "ext/ldiv/_kernels/local_search.pyx": "one search; all its moves work on the same arrays",
}  # fmt: skip


def room(path):
    return path.relative_to(ROOT / "ldiv").with_suffix("").parts[0]


def imported(path):
    """Modules of ldiv that a file imports, at its top level and inside functions, but for annotations."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "ldiv")
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "ldiv":
            inside = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if (ROOT / name.replace(".", "/")).with_suffix(".py").is_file() or (ROOT / name.replace(".", "/")).is_dir() else node.module
                        for name in inside)  # fmt: skip


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_imports_point_down(path):
    if path == ROOT / "ldiv" / "__init__.py":
        return  # the face
    mine = room(path)
    for name in imported(path):
        parts = name.split(".")
        assert len(parts) > 1, f"{path}: imports the face of the package"
        assert parts[1] == mine or LEVEL[parts[1]] < LEVEL[mine], f"{path} imports {name}, which is not below it"


def test_there_is_no_circle():
    names = {path: ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in MODULES}
    graph = {names[path]: {name for name in imported(path) if name in names.values() and name != names[path]} for path in MODULES}
    done, now = set(), []

    def visit(name):
        assert name not in now, " -> ".join([*now[now.index(name) :], name])
        if name not in done:
            now.append(name)
            for other in sorted(graph[name]):
                if not name.startswith(other + "."):  # a module may import from the package it stands in: the registry
                    visit(other)
            now.pop()
            done.add(name)

    for name in sorted(graph):
        visit(name)


def test_modules_are_short_or_say_why():
    files = [*MODULES, *(ROOT / "ext").rglob("*.pyx")]
    lines = {path.relative_to(ROOT).as_posix(): len(path.read_text().splitlines()) for path in files}
    assert {name for name, count in lines.items() if count > 350} <= set(LONG), "split it, or say why not"


def test_stubs_are_those_of_the_kernels():
    for path in sorted((ROOT / "ext" / "ldiv" / "_kernels").glob("*.pyx")):
        there = (ROOT / "ldiv" / "_kernels" / f"{path.stem}.pyi").read_text()
        assert squeezed(stub(path)) == squeezed(there), f"{path.stem}.pyi: python -m tools.stubs"


def test_nothing_looks_at_signatures_but_the_declarations():
    for path in MODULES:
        if path.name not in ("arguments.py", "options.py"):
            assert "inspect" not in path.read_text(), path


def test_public_names_are_there_and_documented():
    for name in ldiv.__all__:
        assert hasattr(ldiv, name)
        assert name == "__version__" or getattr(ldiv, name).__doc__


# -- the map of the paper ------------------------------------------------------------------------------------------------


def rows_of_map():
    text = (ROOT / "docs" / "paper-map.md").read_text()
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and "`" in cells[-1]:
            yield cells[0], re.findall(r"`([^`]+)`", cells[-1])


def test_every_line_of_the_map_names_what_is_there():
    found = list(rows_of_map())
    assert len(found) > 30
    for place, names in found:
        for name in names:
            file, _, function = name.partition("::")
            path = ROOT / file
            assert path.exists(), f"{place}: no {file}"
            if function:
                text = path.read_text()
                assert re.search(
                    rf"(def|class|cdef[\w \[\]*]*) {re.escape(function)}\b|\b{re.escape(function)}\b *=|\"{re.escape(function)}\"", text
                ), f"{place}: no {function} in {file}"


def test_files_that_the_documents_name_are_there():
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]:
        for name in re.findall(r"`((?:ldiv|ext|experiments|tests|tools|docs)/[\w./]*)", path.read_text()):
            assert (ROOT / name).exists(), f"{path.name}: no {name}"


def test_the_map_holds_all_figures_sections_and_results():
    places = " ".join(place for place, _ in rows_of_map())
    for number in range(2, 9):
        assert f"Figure {number}" in places
    for what in ("Theorem 3", "Lemma 2", "Lemma 4", "Section 2", "Section 3", "Section 5", "Section 5.6", "Section 6", "Table 1", "Table 6"):
        assert what in places, what


def test_every_public_name_has_a_page():
    listed = re.findall(r"^   ldiv\.(\w+)$", (ROOT / "docs" / "reference.md").read_text(), re.MULTILINE)
    public = [name for name in ldiv.__all__ if not name.startswith("__") and not inspect.ismodule(getattr(ldiv, name))]
    assert sorted(listed) == sorted(public)


def test_every_module_and_member_of_the_reference_is_there():
    entries = re.findall(r"automodule:: (\S+)\n(?:   :members:(.*)\n)?", (ROOT / "docs" / "reference.md").read_text())
    assert len(entries) > 30
    for name, members in entries:
        module = importlib.import_module(name)
        missing = [member for member in re.findall(r"\w+", members) if not hasattr(module, member)]
        assert not missing, f"{name} has no {missing}"
