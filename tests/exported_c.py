"""Helpers for tests of exported C code: compilers, and programs built with them."""

import shutil
import subprocess

import pytest

STANDARDS = {"gcc": "c17", "clang": "c17", "g++": "c++17", "clang++": "c++17"}
WARNINGS = ("-Wall", "-Wextra", "-Werror")


def need(compiler):
    if shutil.which(compiler) is None:
        pytest.skip(f"no compiler {compiler}")


def build(source, target, *options, compiler="gcc"):
    """Compile a C file with warnings as errors; return the program."""
    need(compiler)
    language = "c++" if compiler.endswith("++") else "c"
    command = [compiler, f"-std={STANDARDS[compiler]}", "-x", language, *WARNINGS, *options]
    command += [str(source)] + (["-o", str(target), "-lm"] if target else [])
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:5000]
    return target


def check(source, compiler):
    """Check that a compiler accepts a C file without a warning."""
    build(source, None, "-fsyntax-only", compiler=compiler)
