"""Export to C: the simulator as a header, the tuned bot for the site, the engine for pages.

The C code of the kernel, the observations, the belief and the searches is generated from the
sources of the package (`tools/export_templates.py`); it is stored in ``data`` and needs no Cython.
"""

from locmsim.support.lazy import attached

__all__, __getattr__, __dir__ = attached(__name__, __file__)
