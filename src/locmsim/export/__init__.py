"""Export to C: the simulator as a header for your own bot, and the tuned bot for the site.

The C code of the kernel, the observations, the belief and the searches is generated from the
sources of the package (`tools/export_templates.py`); it is stored in ``data`` and needs no Cython.
"""

from locmsim.export.bot import LIMIT, Bot, export_bot
from locmsim.export.kernel import kernel_header
from locmsim.export.kit import PARTS

__all__ = ["LIMIT", "PARTS", "Bot", "export_bot", "kernel_header"]
