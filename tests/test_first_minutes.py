"""The page of the first ten minutes: every command of it, in order, says what the page shows."""

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "first-ten-minutes.md"


def commands():
    """Each command of the page with what is shown below it."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", PAGE.read_text(), re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            found.append((command, shown))
    return found


@pytest.mark.skipif(os.name == "nt", reason="the page is of a Unix shell")
def test_every_command_says_what_the_page_shows(tmp_path):
    pytest.importorskip("openpyxl")
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}", "PYTHONIOENCODING": "utf-8", "COLUMNS": "140"}
    subprocess.run([sys.executable, ROOT / "docs" / "examples" / "make_files.py"], cwd=tmp_path, check=True)
    shell = f'ldiv() {{ {shlex.quote(sys.executable)} -m ldiv.cli "$@"; }}\n'
    told = commands()
    assert len(told) > 12 and sum(command.startswith("ldiv") for command, _ in told) > 10
    alike = doctest.OutputChecker()
    codes = []
    for command, shown in told:
        done = subprocess.run(
            ["sh", "-c", shell + command],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
        )
        assert alike.check_output(shown, done.stdout, doctest.ELLIPSIS), f"$ {command}\n{done.stdout}\nand not\n{shown}"
        codes.append(done.returncode)
    assert {0, 1, 2} == set(codes)


def test_names_of_options_on_the_page_are_those_of_the_command():
    """Options that were renamed are renamed here."""
    options = {word for command, _ in commands() for word in shlex.split(command) if word.startswith("--")}
    known = (
        (ROOT / "ldiv" / "cli" / "options.py").read_text()
        + (ROOT / "ldiv" / "cli" / "anonymize.py").read_text()
        + (ROOT / "ldiv" / "cli" / "check.py").read_text()
    )
    assert options and all(re.search(rf"\b{word[2:].replace('-', '_')}\b|{word}", known) for word in options)
