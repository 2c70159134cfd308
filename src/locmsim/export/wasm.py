"""The engine compiled to WebAssembly, by clang or by the ``zig`` of the extra ``browser``."""

import hashlib
import importlib.util
import logging
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from locmsim.export.engine import engine_functions, export_engine
from locmsim.export.kit import DATA
from locmsim.support.files import write_whole

_LOG = logging.getLogger(__name__)

#: Bytes that every module begins with.
_MAGIC = b"\0asm"
#: Memory that is copied by one instruction is in all browsers since 2021. The stack of a search is
#: larger than the 64 KB that linkers leave. Unrolled loops would be a tenth of the module.
_FLAGS = (
    *(
        "-std=c17",
        "-O2",
        "-fno-unroll-loops",
        "-mbulk-memory",
        "-ffp-contract=off",
        "-fvisibility=hidden",
    ),
    *("-nostdlib", "-Wl,--no-entry", "-Wl,--strip-all", "-Wl,-z,stack-size=1048576"),
)
_MISSING = (
    "the engine is compiled to WebAssembly, and there is no compiler for that: install clang with"
    " lld, or run pip install 'locmsim[browser]'"
)


def cache_folder() -> Path:
    """Return the folder where the user's programs keep what they can make again."""
    home = Path.home()
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME", ""))
        if not base.is_absolute():  # as the specification of these folders demands
            base = home / ".cache"
    return base / "locmsim"


def engine_module(rules: str, *, search: str = "beam") -> bytes:
    """Return the engine of a rule set, with the package's weights, as a WebAssembly module.

    The wheels of a release have the modules with a beam search. Another one is compiled at most
    once: the user's cache keeps it.

    Parameters
    ----------
    rules : str
        The rule set.
    search : str
        "beam" or "mcts".

    Returns
    -------
    bytes
        The module. It imports ``env.now``, a clock in milliseconds, and nothing else.

    Raises
    ------
    ValueError
        An argument is not valid.
    ImportError
        There is no compiler for WebAssembly.
    """
    text = export_engine(rules, search=search).text
    name = module_name(text)
    with suppress(OSError):
        return DATA.joinpath(name).read_bytes()
    with suppress(RuntimeError, OSError):  # no home folder, or none that can be read
        module = (cache_folder() / name).read_bytes()
        if module.startswith(_MAGIC):
            return module
    module = compile_engine(text)
    try:
        kept = cache_folder()
        kept.mkdir(parents=True, exist_ok=True)
        write_whole(kept / name, module)
    except (RuntimeError, OSError) as error:
        _LOG.warning("the compiled engine is not kept: %s", error)
    return module


def module_name(text: str) -> str:
    """Return the name of the file that keeps the module of an engine.

    It follows from the text and the flags. The compiler is not part of it: the module does the same
    whichever made it, and is used where there is none any more.

    Parameters
    ----------
    text : str
        What `export_engine` wrote.
    """
    digest = hashlib.sha256("\0".join([text, *_FLAGS]).encode()).hexdigest()
    return f"engine-{digest[:32]}.wasm"


def compile_engine(text: str) -> bytes:
    """Compile the C of an engine to a WebAssembly module.

    Parameters
    ----------
    text : str
        What `export_engine` wrote.

    Returns
    -------
    bytes
        The module, the same for the same text, flags and compiler.

    Raises
    ------
    ImportError
        There is no compiler for WebAssembly.
    ValueError
        The compiler refuses the text.
    """
    command = [*_compiler(), *_FLAGS]
    command += [f"-Wl,--export={name}" for name in engine_functions()]
    with tempfile.TemporaryDirectory(prefix="locmsim-") as folder:
        Path(folder, "engine.c").write_text(text, encoding="utf-8", newline="\n")
        done = subprocess.run(
            [*command, "engine.c", "-o", "engine.wasm"], cwd=folder, capture_output=True, text=True
        )
        if done.returncode:
            raise ValueError(f"{command[0]} does not compile the engine: {done.stderr[:2000]}")
        return Path(folder, "engine.wasm").read_bytes()


def _compiler() -> list[str]:
    """Return the beginning of a command that compiles to WebAssembly."""
    if shutil.which("clang") and shutil.which("wasm-ld"):
        return ["clang", "--target=wasm32"]
    if importlib.util.find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", "cc", "-target", "wasm32-freestanding"]
    raise ImportError(_MISSING)
