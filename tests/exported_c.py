"""What tests of exported C have in common: compilers, and programs made with them."""

import shutil
import subprocess

import pytest

STANDARDS = {"gcc": "c17", "clang": "c17", "g++": "c++17", "clang++": "c++17"}
WARNINGS = ("-Wall", "-Wextra", "-Werror")


def need(compiler):
    if shutil.which(compiler) is None:
        pytest.skip(f"no compiler {compiler}")


def build(source, target, *options, compiler="gcc"):
    """The program that a C file makes; what compilers warn of is an error."""
    need(compiler)
    language = "c++" if compiler.endswith("++") else "c"
    command = [compiler, f"-std={STANDARDS[compiler]}", "-x", language, *WARNINGS, *options]
    command += [str(source)] + (["-o", str(target), "-lm"] if target else [])
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:5000]
    return target


def check(source, compiler):
    """A compiler takes a C file without a warning."""
    build(source, None, "-fsyntax-only", compiler=compiler)
