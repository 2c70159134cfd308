"""Tools that packages of games may use besides `locmsim.contract` (docs/games.md).

They are independent of any game and are imported when they are first used. Compiled modules can
``from locmsim.gamekit cimport now_ns_``, a monotonic clock in nanoseconds for code without the GIL.
"""

from locmsim.support.lazy import attached

__all__, __getattr__, __dir__ = attached(__name__, __file__)
