"""Typed nogil functions of Cython sources as C, from Cython's own parse tree.

Only Cython's parser is used, not its analysis, so the output is the same with every version. A
function is written if a root reaches it. Code that cannot be translated raises `Unsupported` with
file and line. Parameters that get the same constant in all calls, and locals that keep one, are
replaced by it; branches that can never run are left out.

`Program` reads the modules, `translate` writes the C.
"""

from cython_to_c.emit import Style, translate
from cython_to_c.program import Program
from cython_to_c.tree import Unsupported

__all__ = ["Program", "Style", "Unsupported", "translate"]
