"""Export to C: the simulator as a header, the tuned bot for the site, the engine for pages.

The C code of the kernel, the observations, the belief and the searches is generated from the
sources of the package (`tools/export_templates.py`); it is stored in ``data`` and needs no Cython.
"""

from locmsim.export.bot import LIMIT, Bot, export_bot
from locmsim.export.engine import Engine, export_engine
from locmsim.export.kernel import kernel_header
from locmsim.export.kit import PARTS
from locmsim.export.wasm import compile_engine, engine_module

__all__ = [
    "LIMIT",
    "PARTS",
    "Bot",
    "Engine",
    "compile_engine",
    "engine_module",
    "export_bot",
    "export_engine",
    "kernel_header",
]
