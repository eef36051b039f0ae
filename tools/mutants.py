"""Tests that can fail: small wrong changes of the code, each of which a test must notice.

python -m tools.mutants [--jobs 2] [--only WORD ...] [--out report.md]

Each mutation of mutations.toml is made in a copy of the working tree, alone, and the tests that stand beside it are run there: the mutation is killed if one
of them fails. Snippets are found by their text in ldiv/ and ext/, wherever their module lives. Exit code 1 if a mutation survives, does not compile, or
is not found exactly once.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIST = Path(__file__).with_name("mutations.toml")
PATIENCE = 150  # seconds after which tests that no longer end count as failed
MEMORY = 12 << 30  # bytes of address space, so that a loop without end does not take the machine along
TESTED = ("ldiv", "ext")
NEEDED = ("ldiv", "ext", "tests", "tools", "experiments", "docs", "setup.py", "pyproject.toml", "README.md", "LICENSE", "CITATION.cff")


@dataclass(frozen=True)
class Mutation:
    """A snippet that stands once in the code, what it becomes, and the tests (node ids of pytest) of which one must fail."""

    name: str
    old: str
    new: str
    tests: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    name: str
    where: str
    verdict: str  # killed, SURVIVED, BROKEN (does not compile, or no test ran)
    by: str
    seconds: float


class Copy:
    """A copy of the working tree with kernels of its own."""

    def __init__(self, folder: Path, like: Copy | None = None) -> None:
        self.folder = folder
        source = ROOT if like is None else like.folder
        listed = subprocess.run(["git", "ls-files", "-z", *NEEDED], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for name in listed.split("\0"):
            if name and (source / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source / name, folder / name)
        built = [path for name in ("mode", "cython", "temp.*", "lib.*") for path in (source / "build").glob(name)]
        for path in [*built, *(source / "ldiv" / "_kernels").glob("*.so")]:  # what is fresh is not built again
            there = folder / path.relative_to(source)
            there.parent.mkdir(parents=True, exist_ok=True)
            shutil.copytree(path, there) if path.is_dir() else shutil.copy2(path, there)
        self.environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
        self.built = self.build()
        if self.built:
            raise SystemExit(f"the kernels do not build: {self.built}")
        self.kept = folder.with_name(folder.name + "-kept")
        for part in ("build", "ldiv/_kernels"):
            shutil.copytree(folder / part, self.kept / part)
        home = self.python("-c", "import ldiv; print(ldiv.__file__)").stdout.strip()
        if not home.startswith(str(folder)):
            raise SystemExit(f"tests would run against {home}, not against the copy")

    def python(self, *arguments: str, timeout: float | None = None) -> subprocess.CompletedProcess[str]:
        """Python in the copy; beyond `timeout` it is ended, with all processes that it started."""
        limited = _limited if timeout is not None and os.name == "posix" else None
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "errors": "replace"}
        with subprocess.Popen(
            [sys.executable, *arguments], cwd=self.folder, env=self.environment, start_new_session=True, preexec_fn=limited, **pipes
        ) as child:
            try:
                out, err = child.communicate(timeout=timeout)
            except BaseException:
                if os.name == "posix":
                    os.killpg(child.pid, signal.SIGKILL)
                child.kill()
                raise
        return subprocess.CompletedProcess(arguments, child.returncode, out, err)

    def build(self) -> str:
        """Kernels whose sources changed; what went wrong, or nothing."""
        done = self.python("setup.py", "-q", "build_ext", "--inplace")
        return "" if done.returncode == 0 else (done.stderr or done.stdout)[-2000:]

    def restore(self, path: Path, before: os.stat_result, text: bytes) -> None:
        """All as it was, times too, so that nothing else is built again."""
        path.write_bytes(text)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        if path.suffix != ".py":
            for part in ("build", "ldiv/_kernels"):
                shutil.rmtree(self.folder / part)
                shutil.copytree(self.kept / part, self.folder / part)

    def test(self, tests: tuple[str, ...], patience: float = PATIENCE) -> tuple[int, str]:
        """pytest's exit code, and the first test that failed or what happened instead."""
        options = ["-q", "-x", "-rfE", "--tb=no", "-p", "no:cacheprovider", "--hypothesis-profile=quick"]
        try:
            done = self.python("-m", "pytest", *options, *tests, timeout=patience)
        except subprocess.TimeoutExpired:
            return 1, "tests that do not end"
        failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
        if done.returncode < 0:
            return 1, f"a crash (signal {-done.returncode})"
        return done.returncode, failed[1] if failed else (done.stdout + done.stderr).strip()[-300:]

    def try_out(self, mutation: Mutation, path: Path) -> Outcome:
        start = time.monotonic()
        here = self.folder / path
        before, text = here.stat(), here.read_bytes()
        changed = text.decode().replace(mutation.old, mutation.new)
        where = f"{path}:{text.decode()[: text.decode().index(mutation.old)].count(chr(10)) + 1}"
        here.write_text(changed, encoding="utf-8")
        try:
            if path.suffix == ".py":
                try:
                    compile(changed, str(path), "exec")
                    wrong = ""
                except SyntaxError as error:
                    wrong = str(error)
            else:
                wrong = self.build()
            if wrong:
                return Outcome(mutation.name, where, "BROKEN", wrong[-300:], time.monotonic() - start)
            code, by = self.test(mutation.tests)
            verdict = {0: "SURVIVED", 1: "killed", 2: "killed"}.get(code, "BROKEN")  # 2: the tests could not even be read
            return Outcome(mutation.name, where, verdict, by if verdict != "SURVIVED" else "", time.monotonic() - start)
        finally:
            self.restore(here, before, text)


def _limited() -> None:
    import resource

    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def read(path: Path = LIST) -> list[Mutation]:
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["mutation"]
    found = [Mutation(x["name"], x["old"], x["new"], tuple(x["tests"])) for x in entries]
    twice = {x.name for x in found if [y.name for y in found].count(x.name) > 1}
    if twice:
        raise SystemExit(f"named twice: {', '.join(sorted(twice))}")
    return found


def places(mutations: list[Mutation], root: Path = ROOT) -> dict[str, list[Path]]:
    """The files in which each snippet stands, once for every time it stands there."""
    texts = {
        path.relative_to(root): path.read_text(encoding="utf-8")
        for part in TESTED
        for path in sorted((root / part).rglob("*"))
        if path.suffix in (".py", ".pyx", ".pxd") and path.is_file()
    }
    return {x.name: [path for path, text in texts.items() for _ in range(text.count(x.old))] for x in mutations}


def report(outcomes: list[Outcome], out: Path | None) -> None:
    killed = sum(x.verdict == "killed" for x in outcomes)
    lines = [f"# {killed} of {len(outcomes)} mutations killed", "", "| mutation | where | | by | s |", "|---|---|---|---|---|"]
    for x in outcomes:
        by = re.sub(r"\s+", " ", x.by).replace("|", "/")[:100]
        lines.append(f"| {x.name} | {x.where} | {x.verdict if x.verdict == 'killed' else f'**{x.verdict}**'} | {by} | {x.seconds:.0f} |")
    if out is not None:
        out.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(lines[0])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1, choices=(1, 2), help="copies that are tested at the same time")
    parser.add_argument("--only", nargs="*", default=[], help="mutations whose name holds one of these words")
    parser.add_argument("--kind", choices=("python", "cython"), help="only mutations of Python, or of Cython")
    parser.add_argument("--out", type=Path, help="where to write the report (Markdown)")
    parser.add_argument("--dry", action="store_true", help="only look whether every snippet stands once")
    parser.add_argument("--no-baseline", action="store_true", help="do not run the tests on the unchanged code first")
    given = parser.parse_args()
    mutations = [x for x in read() if not given.only or any(word in x.name for word in given.only)]
    found = places(mutations)
    lost = [name for name, paths in found.items() if len(paths) != 1]
    if given.kind:
        suffix = {"python": (".py",), "cython": (".pyx", ".pxd")}[given.kind]
        mutations = [x for x in mutations if x.name in lost or found[x.name][0].suffix in suffix]
    for name in lost:
        print(f"NOT ONCE   {name}: {len(found[name])} times {', '.join(map(str, found[name]))}")
    if given.dry:
        return 1 if lost else 0
    with tempfile.TemporaryDirectory(prefix="ldiv-mutants-") as folder:
        free: queue.Queue[Copy] = queue.Queue()
        first = Copy(Path(folder).resolve() / "copy0")
        free.put(first)
        for k in range(1, given.jobs):
            free.put(Copy(Path(folder).resolve() / f"copy{k}", like=first))
        if not given.no_baseline:
            copy = free.get()
            code, by = copy.test(tuple(sorted({test for x in mutations for test in x.tests})), patience=20 * PATIENCE)  # nearly the suite
            free.put(copy)
            if code:
                raise SystemExit(f"the tests fail on the unchanged code: {by}")

        def one(mutation: Mutation) -> Outcome:
            copy = free.get()
            try:
                outcome = copy.try_out(mutation, found[mutation.name][0])
            finally:
                free.put(copy)
            print(f"{outcome.verdict:10} {outcome.name} ({outcome.seconds:.0f} s) {outcome.by if outcome.verdict != 'SURVIVED' else ''}", flush=True)
            return outcome

        with ThreadPoolExecutor(given.jobs) as pool:
            outcomes = list(pool.map(one, [x for x in mutations if x.name not in lost]))
    outcomes += [Outcome(name, "", "BROKEN", f"the snippet stands {len(found[name])} times", 0.0) for name in lost]
    report(outcomes, given.out)
    return 0 if all(x.verdict == "killed" for x in outcomes) else 1


if __name__ == "__main__":
    raise SystemExit(main())
