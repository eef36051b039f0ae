"""Build of the Cython kernels. Everything else is declared in pyproject.toml.

Modes, chosen by the environment and stamped in build/mode so that a change of mode rebuilds every kernel:

=============================  =========================================================================
(none)                         release: -O3, no run-time checks
``LDIV_DEBUG=1``               bounds and initialisation checks on, no index from the end; -O1 -g
``LDIV_SANITIZE=address,...``  debug plus the C compiler's sanitizers
``LDIV_LINETRACE=1``           line tracing for coverage; the C files lie beside the .pyx
``LDIV_ANNOTATE=1``            release plus Cython's annotated HTML beside the .pyx
``LDIV_NO_KERNELS=1``          none are built: for an editable install, which would build all of them each time;
                               ``setup.py build_ext --inplace`` then builds those that changed
=============================  =========================================================================
"""

import os
import sys
import sysconfig
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

ROOT = Path(__file__).parent


def enabled(name: str) -> bool:
    return os.environ.get(name, "") not in ("", "0")


sanitize = os.environ.get("LDIV_SANITIZE", "")
linetrace, annotate = enabled("LDIV_LINETRACE"), enabled("LDIV_ANNOTATE")
debug = enabled("LDIV_DEBUG") or bool(sanitize)
mode = f"debug={debug} abi3 sanitize={sanitize} linetrace={linetrace} annotate={annotate}"

build = not enabled("LDIV_NO_KERNELS")
stamp = ROOT / "build" / "mode"
force = not stamp.exists() or stamp.read_text() != mode
if build:
    stamp.parent.mkdir(exist_ok=True)
    stamp.write_text(mode)

directives = {
    "language_level": 3,
    "boundscheck": debug,
    "wraparound": False,  # an index of -1 is an error of the kernel: seen in a debug build, never meant
    "initializedcheck": debug,
    "cdivision": True,
    "embedsignature": True,
    "linetrace": linetrace,
    "show_performance_hints": False,  # of a debug build: thousands of lines that say it is one
}
# One wheel for every Python from 3.11 on: a release build uses the limited C interface, which costs nothing on tables of any size worth timing.
# Tracing and the free-threaded Python have no such interface.
stable = not linetrace and not sysconfig.get_config_var("Py_GIL_DISABLED")
macros = [("CYTHON_TRACE", "1"), ("CYTHON_TRACE_NOGIL", "1"), ("CYTHON_USE_SYS_MONITORING", "0")] if linetrace else []
if stable:
    macros.append(("Py_LIMITED_API", "0x030B0000"))
for stale in (ROOT / "ldiv" / "_kernels").glob("*" + (sysconfig.get_config_var("EXT_SUFFIX") if stable else ".abi3.so")) if build else []:
    stale.unlink()  # of another mode; Python would prefer the more special name
if sys.platform == "win32":
    compile_args, link_args = ["/Od" if debug else "/O2"], []
else:
    compile_args = ["-O1", "-g"] if debug or linetrace else ["-O3"]
    compile_args += ["-Wno-unused-function", "-ffp-contract=off"]  # the same numbers on every instruction set
    link_args = []
    if sanitize:
        compile_args += [f"-fsanitize={sanitize}", "-fno-omit-frame-pointer"]
        link_args += [f"-fsanitize={sanitize}"]

extensions = [
    Extension(
        f"ldiv._kernels.{path.stem}",
        [path.relative_to(ROOT).as_posix()],
        define_macros=macros,
        py_limited_api=stable,
        extra_compile_args=compile_args,
        extra_link_args=link_args,
    )
    for path in (sorted((ROOT / "ext" / "ldiv" / "_kernels").glob("*.pyx")) if build else [])
]

setup(
    ext_modules=cythonize(
        extensions,
        include_path=["ext"],
        build_dir=None if linetrace or annotate else "build/cython",
        compiler_directives=directives,
        annotate=annotate,
        force=force,
    ),
    options={"build_ext": {"force": force}, **({"bdist_wheel": {"py_limited_api": "cp311"}} if stable and build else {})},
)
