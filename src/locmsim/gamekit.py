"""Tools that packages of games may use besides `locmsim.contract` (docs/games.md).

They are independent of any game and are imported when they are first used. Compiled modules can
``from locmsim.gamekit cimport now_ns_``, a monotonic clock in nanoseconds for code without the GIL.
"""

from typing import TYPE_CHECKING

from locmsim._lazy import imported_later as imported_later

if TYPE_CHECKING:
    from locmsim._checks import budget as budget
    from locmsim._checks import whole as whole
    from locmsim._database import Database as Database
    from locmsim._database import Kind as Kind
    from locmsim._io import counted as counted
    from locmsim._io import folder_locked as folder_locked
    from locmsim._io import try_lock as try_lock
    from locmsim._io import write_whole as write_whole
    from locmsim._measure import Case as Case
    from locmsim._measure import Measured as Measured
    from locmsim._measure import Watch as Watch
    from locmsim._measure import hardware as hardware
    from locmsim._measure import measure as measure
    from locmsim._measure import table as table
    from locmsim._options import Declared as Declared
    from locmsim._options import Option as Option
    from locmsim._options import check_values as check_values
    from locmsim._options import declared as declared
    from locmsim._options import documented as documented
    from locmsim._seeds import derived_seed as derived_seed
    from locmsim._specs import did_you_mean as did_you_mean
    from locmsim._specs import make as make
    from locmsim._specs import read_options as read_options

__all__ = [
    "Case",
    "Database",
    "Declared",
    "Kind",
    "Measured",
    "Option",
    "Watch",
    "budget",
    "check_values",
    "counted",
    "declared",
    "derived_seed",
    "did_you_mean",
    "documented",
    "folder_locked",
    "hardware",
    "imported_later",
    "make",
    "measure",
    "read_options",
    "table",
    "try_lock",
    "whole",
    "write_whole",
]

_LATER = {
    **dict.fromkeys(("budget", "whole"), "_checks"),
    **dict.fromkeys(("Database", "Kind"), "_database"),
    **dict.fromkeys(("counted", "folder_locked", "try_lock", "write_whole"), "_io"),
    **dict.fromkeys(("Case", "Measured", "Watch", "hardware", "measure", "table"), "_measure"),
    **dict.fromkeys(("Declared", "Option", "check_values", "declared", "documented"), "_options"),
    "derived_seed": "_seeds",
    **dict.fromkeys(("did_you_mean", "make", "read_options"), "_specs"),
}
__getattr__, __dir__ = imported_later(__name__, _LATER, package="locmsim")
