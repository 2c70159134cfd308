"""Helpers for tests of exported C code: compilers, and programs built with them."""

import shutil
import subprocess

import pytest

STANDARDS = {"gcc": "c17", "clang": "c17", "g++": "c++17", "clang++": "c++17"}
WARNINGS = ("-Wall", "-Wextra", "-Werror")


def _language(compiler):
    return "c++" if compiler.endswith("++") else "c"


def need(compiler):
    if shutil.which(compiler) is None:
        pytest.skip(f"no compiler {compiler}")


def build(source, target, *options, compiler="gcc", standard=None):
    """Compile a C file with warnings as errors; return the program."""
    need(compiler)
    command = [compiler, f"-std={standard or STANDARDS[compiler]}", "-x", _language(compiler)]
    command += [*WARNINGS, *options]
    command += [str(source)] + (["-o", str(target), "-lm"] if target else [])
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:5000]
    return target


def check(source, compiler, standard=None):
    """Check that a compiler accepts a C file without a warning."""
    options = ["-fsyntax-only", *(["-pedantic"] if standard else [])]
    build(source, None, *options, compiler=compiler, standard=standard)
