"""locmsim: an exact, fast simulator of Legends of Code and Magic for search bots.

`State` is the battle, `Match` a whole game; docs/api.md shows all of the names below in use.
Most modules are imported on first use, because a referee and a bot are started for every game.
"""

import os
from typing import Any

from locmsim.support.lazy import attached

__version__ = "0.1.0"
_names, _named, __dir__ = attached(__name__, __file__)
__all__ = sorted([*_names, "__version__", "get_include"])


def __getattr__(name: str) -> Any:
    """Import a name on first use, and with the first one what gives cards their pictures."""
    import locmsim.art.notebook  # noqa: F401 (imported for what it does)

    return _named(name)


def get_include() -> str:
    """Return the folder of ``locm.h``, the simulator as one header for C17 and C++17.

    It is for a compiler's ``-I``. Cython finds ``locmsim/_core.pxd`` by itself.
    """
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "include")
