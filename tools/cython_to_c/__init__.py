"""Typed nogil functions of Cython sources as C, from Cython's own parse tree.

Only its parser is used, nothing of its analysis, so what is written is the same with every version.
A function is written if a root reaches it. What is not understood is an error with file and line:
`Unsupported`. Parameters that get the same constant from all calls, and locals that keep one, are
replaced by it; branches that no constant leads into are left out.

`Program` reads the modules, `translate` writes the C.
"""

from cython_to_c.emit import Style, translate
from cython_to_c.program import Program
from cython_to_c.tree import Unsupported

__all__ = ["Program", "Style", "Unsupported", "translate"]
