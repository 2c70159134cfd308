"""Access of tests to compiled environments by rows_access.pyx, which is built on first use."""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import locmsim
from locmsim.envs import _rows
from locmsim.support.files import folder_locked, write_whole

_SOURCE = Path(__file__).with_suffix(".pyx")
_BUILD = """
import sys
from Cython.Build import cythonize
from setuptools import Extension, setup
module = Extension("rows_access", ["rows_access.pyx"], extra_compile_args=sys.argv[2:])
modules = cythonize([module], include_path=[sys.argv[1]], language_level=3, quiet=True)
setup(name="rows_access", ext_modules=modules, script_args=["-q", "build_ext", "--inplace"])
"""


def _build(target: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(_SOURCE, folder)
        options = [] if sys.platform == "win32" else ["-O0", "-ffp-contract=off"]
        command = [sys.executable, "-c", _BUILD, str(Path(locmsim.__file__).parents[1])]
        done = subprocess.run(command + options, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        write_whole(target, Path(folder, target.name).read_bytes())


@cache
def _module() -> Any:
    """Return the module, built once per build of the package; skip tests without a compiler."""
    for needed in ("Cython", "setuptools"):
        pytest.importorskip(needed)
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cl").split()[0]
    if shutil.which(compiler) is None:
        pytest.skip(f"no C compiler ({compiler})")
    name = f"rows_access{sysconfig.get_config_var('EXT_SUFFIX')}"
    package = Path(str(_rows.__file__))
    stat = package.stat()
    about = f"{sys.version}{package}{stat.st_mtime_ns}{stat.st_size}".encode()
    key = hashlib.sha256(_SOURCE.read_bytes() + about).hexdigest()[:16]
    folder = Path(tempfile.gettempdir(), f"locmsim-{key}")
    folder.mkdir(exist_ok=True)
    built = folder / name
    with folder_locked(built):  # one of the processes that run tests builds it
        if not built.exists():
            _build(built)
    spec = importlib.util.spec_from_file_location("rows_access", built)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def __getattr__(name: str) -> Any:
    """Return a function of the module, which is built when the first one is called."""
    if name.startswith("_"):
        raise AttributeError(name)
    return lambda *arguments: getattr(_module(), name)(*arguments)


def math_of(name: str, x: Any) -> Any:
    """Return a function of numbers, of 32 bits or of 64 as these are."""
    found = x.copy()
    kind = "doubles" if x.dtype == "float64" else "floats"
    getattr(_module(), f"math_of_{kind}")(name, x, found)
    return found
