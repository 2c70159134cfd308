"""Build of the compiled modules: the one place for compiler directives and flags.

``LOCMSIM_DEBUG=1`` builds with assertions and more checks, ``LOCMSIM_COVERAGE=1`` with counters for
gcov and marks of the Cython lines (docs/development.md); everything else is in pyproject.toml.
"""

import os
import re
import sys

from Cython import __version__ as cython_version
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

DEBUG = os.environ.get("LOCMSIM_DEBUG") == "1"
COVERAGE = os.environ.get("LOCMSIM_COVERAGE") == "1"

DIRECTIVES = {
    "language_level": 3,
    "embedsignature": True,
    # The kernel indexes C arrays, which have no check either way. This one is for lists that come
    # from callers: without it a list that is too short crashes the interpreter.
    "boundscheck": True,
    "show_performance_hints": False,
    "wraparound": False,
    "initializedcheck": DEBUG,
    "nonecheck": DEBUG,
    "cdivision": True,
    "freethreading_compatible": True,
    "linetrace": COVERAGE,
}

if sys.platform == "win32":
    COMPILE_ARGS = ["/Od"] if DEBUG else ["/O2"]
else:
    # Pairing up neighbouring fields of a struct in vector registers delays what is read next.
    COMPILE_ARGS = ["-O1", "-g", "-UNDEBUG"] if DEBUG else ["-O2", "-g0", "-fno-tree-slp-vectorize"]

    if tuple(map(int, cython_version.split(".")[:2])) < (3, 2):
        # Without assertions its own memoryview helper has variables that nothing uses.
        COMPILE_ARGS.append("-Wno-unused-variable")

MACROS = [("LOCMSIM_DEBUG", "1" if DEBUG else "0")]
if not DEBUG:
    MACROS.append(("CYTHON_WITHOUT_ASSERTIONS", "1"))
LINK_ARGS = []
if COVERAGE:
    # "linetrace" above only marks the lines in the C files: its events, which take CYTHON_TRACE,
    # are a thousand times slower than counters.
    COMPILE_ARGS = ["-O0", "--coverage"]
    LINK_ARGS = ["--coverage"]
instrumented = DEBUG or COVERAGE or "-fsanitize" in os.environ.get("CFLAGS", "")
always = not instrumented and sys.platform != "win32"
# `cdef inline` is to mean it: the kernel specialises functions by passing literals to them.
# Instrumented code would take the compiler minutes that way. See `inline_ours`.
INLINE = "inline __attribute__((always_inline, unused))" if always else "CYTHON_INLINE"
MACROS.append(("LOCMSIM_INLINE", INLINE))

#: Modules whose loops over floats are worth vector instructions, and what gives them: the compiler
#: may then reorder sums.
VECTORISED = ("policy._policy",)
VECTOR_ARGS = ["-O3", "-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"]
if DEBUG or COVERAGE or sys.platform == "win32":
    VECTOR_ARGS = []

MODULES = [
    "_core",
    "_batch",
    "_bench",
    "game._protocol",
    "networks._network",
    "networks._decks",
    "search._beam",
    "search._belief",
    "search._engine",
    "search._evaluation",
    "search._mcts",
    "search._work",
    "policy._layout",
    "policy._policy",
    "policy._sight",
    "envs._deal",
    "envs._opponents",
    "envs._env",
    "envs._crew",
    "envs._row",
    "envs._searcher",
    "envs._gae",
    "vestrock._core",
    "vestrock._bench",
    "vestrock.bots._policy",
    "vestrock.bots._search",
]

extensions = [
    Extension(
        f"locmsim.{name}",
        [f"src/locmsim/{name.replace('.', '/')}.pyx"],
        extra_compile_args=COMPILE_ARGS + (VECTOR_ARGS if name in VECTORISED else []),
        extra_link_args=LINK_ARGS,
        define_macros=MACROS,
    )
    for name in MODULES
]


def inline_ours(path):
    """Let our inline functions in a C file be LOCMSIM_INLINE, whose names begin with __pyx_f_.

    Cython's helpers keep CYTHON_INLINE: some of them call themselves and cannot always be inlined.
    """
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    ours = re.sub(r"(?m)^static CYTHON_INLINE (?=.*\b__pyx_f_)", "static LOCMSIM_INLINE ", text)
    if ours != text:
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(ours)


class BuildExt(build_ext):
    """Tells `locmsim bench` what the modules are compiled with."""

    def build_extensions(self):
        compiler = getattr(self.compiler, "compiler_so", None) or ["cl"]
        command = " ".join([*compiler, *COMPILE_ARGS]).replace('"', "'")
        for extension in self.extensions:
            if extension.name == "locmsim._bench":
                extension.define_macros = [*MACROS, ("LOCMSIM_COMMAND", f'"{command}"')]
        super().build_extensions()


modules = cythonize(extensions, compiler_directives=DIRECTIVES, force=DEBUG or COVERAGE)
for module in modules:
    for source in module.sources:
        inline_ours(source)

setup(
    ext_modules=modules,
    cmdclass={"build_ext": BuildExt},
)
