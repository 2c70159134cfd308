"""Helpers for tests of examples that are packages: they copy, build and install them."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def install(name: str, target: Path, compiled: bool = True) -> Path:
    """Install a copy of an example into the folder `target`; return the folder of the copy."""
    pytest.importorskip("setuptools")
    if compiled:
        pytest.importorskip("Cython")
        compiler = (sysconfig.get_config_var("CC") or "cl").split()[0]
        if shutil.which(compiler) is None:
            pytest.skip(f"no C compiler ({compiler})")
    copy = target.with_name(f"{target.name}-source")
    shutil.copytree(EXAMPLES / name, copy, ignore=shutil.ignore_patterns("*.c", "*.so", "build"))
    options = ["--no-build-isolation", "--no-deps", "--no-index", "-q", "--target", str(target)]
    command = [sys.executable, "-m", "pip", "install", *options, str(copy)]
    # Optimising takes longer than the games that are played with it.
    env = {**os.environ, "CFLAGS": f"{os.environ.get('CFLAGS', '')} -O0"}
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    return copy
