"""Build of the compiled modules: the one place for compiler directives and flags.

``LOCMSIM_DEBUG=1`` builds with assertions and more checks, ``LOCMSIM_COVERAGE=1`` with counters for
gcov and marks of the Cython lines (docs/development.md). The C templates in the package come from
tools/export_templates.py, and the examples for `locmsim new` from tools/pack_examples.py;
everything else is in pyproject.toml.
"""

import gzip
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

from Cython import __version__ as cython_version
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ROOT = Path(__file__).resolve().parent
CYTHON = tuple(map(int, cython_version.split(".")[:2]))
DEBUG = os.environ.get("LOCMSIM_DEBUG") == "1"
COVERAGE = os.environ.get("LOCMSIM_COVERAGE") == "1"
#: Builds that only prove that a compiler takes the code need not wait for its optimiser.
USER_ARGS = shlex.split(os.environ.get("CFLAGS", ""))
UNOPTIMISED = "-O0" in USER_ARGS

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

#: Flags that the user's own, from CFLAGS, do not replace.
ALWAYS_ARGS = []
if sys.platform == "win32":
    COMPILE_ARGS = ["/Od"] if DEBUG else ["/O2"]
    USER_ARGS = []  # its compiler reads the variable CL
else:
    # Without SLP vectorisation: it stores neighbouring fields of a struct together, and reading one
    # of them afterwards has to wait.
    COMPILE_ARGS = ["-O1", "-g", "-UNDEBUG"] if DEBUG else ["-O2", "-g0", "-fno-tree-slp-vectorize"]
    # Round after each multiplication and addition on all CPUs, so that searches answer the same.
    ALWAYS_ARGS.append("-ffp-contract=off")

    if CYTHON < (3, 2):
        # Without assertions its own memoryview helper has variables that nothing uses.
        ALWAYS_ARGS.append("-Wno-unused-variable")

MACROS = [("LOCMSIM_DEBUG", "1" if DEBUG else "0")]
if not DEBUG:
    MACROS.append(("CYTHON_WITHOUT_ASSERTIONS", "1"))
LINK_ARGS = []
if COVERAGE:
    # "linetrace" above only marks the lines in the C files: its events, which take CYTHON_TRACE,
    # are a thousand times slower than counters.
    COMPILE_ARGS, USER_ARGS = ["-O0", "--coverage"], []
    LINK_ARGS = ["--coverage"]
instrumented = DEBUG or COVERAGE or UNOPTIMISED or "-fsanitize" in os.environ.get("CFLAGS", "")
if not instrumented and sys.platform == "linux":
    # Symbols for debuggers are a seventh of the modules' size. Tables for unwinding the stack are a
    # twentieth, and only exceptions of C++ need them. Code on pages of its own costs each of more
    # than forty modules 8 KB of padding.
    ALWAYS_ARGS.append("-fno-asynchronous-unwind-tables")
    LINK_ARGS = ["-Wl,--strip-all", "-Wl,-z,noseparate-code"]
always = not instrumented and sys.platform != "win32"
# `cdef inline` must really inline: the kernel specialises functions by passing literals to them.
# Not for instrumented code, which would take the compiler minutes. See `inline_ours`.
INLINE = "inline __attribute__((always_inline, unused))" if always else "CYTHON_INLINE"
MACROS.append(("LOCMSIM_INLINE", INLINE))

#: Further options of single modules: loops over floats profit from vector instructions. They must
#: not reorder sums, or results would differ between CPUs. Where little time is spent, small code
#: takes less time to compile.
MORE_ARGS = {
    "envs._gae": ["-O3"],
    "policy._policy": ["-O3"],
    "envs._thread_pool": ["-Os"],
    "_cyutility": ["-Os"],
}
if DEBUG or COVERAGE or UNOPTIMISED or sys.platform == "win32":
    MORE_ARGS = {}


def compile_args(name=""):
    """Return the flags of a module: CFLAGS of the user come after our choice of optimisation."""
    return [*COMPILE_ARGS, *MORE_ARGS.get(name, []), *USER_ARGS, *ALWAYS_ARGS]


MODULES = [
    "_core",
    "_batch",
    "_bench",
    "javarandom",
    "game.observation",
    "networks._network",
    "networks._decks",
    "networks._drafts",
    "search._belief",
    "search._engine",
    "search._forest",
    "game._layout",
    "game._match",
    "policy._policy",
    "game._turn_view",
    "agents._scripted",
    "envs._potentials",
    "envs._fresh",
    "envs._rows",
    "envs._thread_pool",
    "envs._row",
    "envs._searcher",
    "envs._gae",
]
#: Those of the second game.
VESTROCK_MODULES = ["_core", "_bench", "bots._policy", "bots._search"]

extensions = [
    Extension(
        f"{package}.{name}",
        [f"src/{package}/{name.replace('.', '/')}.pyx"],
        extra_compile_args=compile_args(name),
        extra_link_args=LINK_ARGS,
        define_macros=MACROS,
    )
    for package, names in (("locmsim", MODULES), ("vestrock", VESTROCK_MODULES))
    for name in names
]
#: Cython's utility code, mostly memoryviews, shared by all modules (not possible in Cython 3.1).
SHARED = "locmsim._cyutility"
if CYTHON >= (3, 2):
    extensions.append(
        Extension(
            SHARED,
            ["src/locmsim/_cyutility.c"],  # which Cython makes
            extra_compile_args=compile_args("_cyutility"),
            extra_link_args=LINK_ARGS,
            define_macros=MACROS,
        )
    )


def cores():
    """Return how many processes may work at a time."""
    if sys.platform == "win32":
        return 1  # parallel runs of Microsoft's compiler conflict
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def inline_ours(path):
    """Declare our own inline functions in a C file as LOCMSIM_INLINE.

    Their names begin with __pyx_f_. Cython's helpers keep CYTHON_INLINE: some of them are recursive
    and cannot always be inlined.
    """
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    ours = re.sub(r"(?m)^static CYTHON_INLINE (?=.*\b__pyx_f_)", "static LOCMSIM_INLINE ", text)
    if ours != text:
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(ours)


@contextmanager
def generating():
    """Make the files of the package that are not in git, beside what runs inside."""
    code = "import export_templates as t, pack_examples as e; t.write_new(); e.write_new()"
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT / "tools") as process:
        yield
    if process.returncode:
        raise SystemExit("the files of the package that are not in git were not made")


NO_COMPILER = """
locmsim is compiled when it is installed from its sources, and there is no {missing}.
  Debian, Ubuntu   apt install gcc python3-dev
  Fedora           dnf install gcc python3-devel
  macOS            xcode-select --install
Or set CC to the command of another C compiler. docs/troubleshooting.md has more.
"""


class BuildExt(build_ext):
    """Translates and compiles the modules.

    It records the compiler command for `locmsim bench`, and says what is missing if that fails.
    """

    def finalize_options(self):
        super().finalize_options()
        if self.parallel is None and cores() > 1:
            self.parallel = cores()

    def run(self):
        # Beside the compilers, which do not need these files.
        with generating():
            super().run()
        if self.inplace:  # the games of the distribution are found by its entry points
            self.run_command("egg_info")

    def build_extensions(self):
        if self.compiler.compiler_type == "unix":
            self.look_for_compiler()
        self.translate()
        compiler = getattr(self.compiler, "compiler_so", None) or ["cl"]
        command = " ".join([*compiler, *compile_args()]).replace('"', "'")
        for args, names in groupby(MORE_ARGS, MORE_ARGS.__getitem__):
            command += f"; {', '.join(names)}: {' '.join(args)}"
        for extension in self.extensions:
            if extension.name == "locmsim._bench":
                extension.define_macros = [*MACROS, ("LOCMSIM_COMMAND", f'"{command}"')]
        super().build_extensions()

    def translate(self):
        shared = {"shared_utility_qualified_name": SHARED} if CYTHON >= (3, 2) else {}
        modules = cythonize(
            self.extensions,
            compiler_directives=DIRECTIVES,
            force=DEBUG or COVERAGE,
            nthreads=cores() if cores() > 1 else 0,
            **shared,
        )
        translated = {module.name: module for module in modules}
        for extension in self.extensions:
            extension.sources = translated[extension.name].sources
            extension.depends = translated[extension.name].depends
            for source in extension.sources:
                inline_ours(source)
        # The longest compilations go first, so that no process works on a long one at the end.
        self.extensions.sort(key=lambda extension: -os.path.getsize(extension.sources[0]))

    def look_for_compiler(self):
        command = self.compiler.compiler_so[0]
        folders = [*self.compiler.include_dirs, *self.include_dirs]
        if shutil.which(command) is None:
            raise SystemExit(NO_COMPILER.format(missing=f"C compiler ({command})"))
        if folders and not any(Path(folder, "Python.h").exists() for folder in folders):
            raise SystemExit(NO_COMPILER.format(missing="Python.h"))


class BuildPy(build_py):
    """Copies the package's files, including generated ones, which `BuildExt` makes."""

    def run(self):
        self.run_command("build_ext")
        super().run()


class Sdist(sdist):
    """Makes a reproducible source archive, independent of times, owners and the order of files.

    Every file has the time of SOURCE_DATE_EPOCH or, by default, the earliest that a zip can hold.
    """

    def run(self):
        with generating():
            pass
        super().run()

    def make_archive(self, base_name, format, root_dir=None, base_dir=None, **kwargs):
        if format != "gztar":
            return super().make_archive(base_name, format, root_dir, base_dir, **kwargs)
        time = int(os.environ.get("SOURCE_DATE_EPOCH", 315532800))  # 1980
        name = f"{base_name}.tar.gz"
        with (
            open(name, "wb") as file,
            gzip.GzipFile("", "wb", 9, file, mtime=time) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
        ):
            folder = Path(root_dir or ".", base_dir)
            for path in [folder, *sorted(folder.rglob("*"))]:
                member = archive.gettarinfo(path, path.relative_to(folder.parent).as_posix())
                member.mtime, member.uid, member.gid = time, 0, 0
                member.uname = member.gname = ""
                member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
                if member.isfile():
                    member.type = tarfile.REGTYPE  # setuptools may have made hard links
                    member.size = path.stat().st_size
                    with path.open("rb") as content:
                        archive.addfile(member, content)
                else:
                    archive.addfile(member)
        return name


# Spawned processes that translate modules import this file.
if __name__ == "__main__":
    setup(
        ext_modules=extensions,
        cmdclass={"build_ext": BuildExt, "build_py": BuildPy, "sdist": Sdist},
    )
