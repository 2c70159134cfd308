"""Programs in one C file: the simulator for one's own bot, and the tuned bot as the site takes it.

The C of the kernel, the observations, the belief and the searches is made from the sources of the
package (`tools/export_templates.py`); it lies in ``data`` and needs no Cython.
"""

from locmsim.export.bot import LIMIT, Bot, export_bot
from locmsim.export.kernel import kernel_header

__all__ = ["LIMIT", "Bot", "export_bot", "kernel_header"]
