"""Checks of values that callers give: integers, numbers, players, seeds and what bounds a search.

Every message is ``NAME: expected LOW to HIGH, got VALUE``. Integers of Python and of NumPy are
equal; a bool, a float or a text is not an integer, even if it looks like one.
"""

import math
from collections.abc import Callable
from operator import index
from typing import Any

#: The most milliseconds that a search may be given, some eleven days.
MOST_MS = 1e9
#: The most positions, visits or simulations that a search may be given.
MOST_WORK = 1 << 60
#: The most rows that an environment may have.
MOST_ROWS = (1 << 31) - 1
#: The most threads that anything may be given.
MOST_THREADS = 1 << 16
_MASK = (1 << 64) - 1


class OptionError(ValueError):
    """An option or an argument cannot have a value. The text is ``OPTION: REASON``.

    Parameters
    ----------
    option : str
        Its name in Python. Commands tell that of their own option instead.
    reason : object
        What is wrong.
    other, more : str
        The name of another option at the end of the reason, and what follows.
    """

    def __init__(self, option: str, reason: object, other: str = "", more: str = "") -> None:
        self.reason = str(reason)
        super().__init__(option, self.reason, other, more)

    def __str__(self) -> str:
        return self.spelt(str)

    def spelt(self, name: Callable[[str], str]) -> str:
        """Return the text, with names of options as `name` writes them."""
        option, reason, other, more = self.args
        return f"{name(option)}: {reason}{name(other)}{more}"


def integer(name: str, value: Any, error: type[Exception] = ValueError) -> int:
    """Return an integer, of Python or of NumPy, as one of Python; `error` for anything else."""
    found = _integer(value)
    if found is None:
        reason = f"expected an integer, got {value!r}"
        raise OptionError(name, reason) if error is ValueError else error(f"{name}: {reason}")
    return found


def whole(name: str, value: Any, low: float, high: float | None = None) -> int:
    """Return an integer from `low` to `high`; ``ValueError`` for anything else."""
    found = integer(name, value)
    if found < low or (high is not None and found > high):
        raise OptionError(name, f"expected {range_text(low, high)}, got {found}")
    return found


def range_text(low: float, high: float | None = None, above: bool = False) -> str:
    """Return bounds as people read them: ``0 to 2^31``, ``1 or more``, ``more than 0``."""
    if high is None:
        return f"more than {bound_text(low)}" if above else f"{bound_text(low)} or more"
    if above:
        return f"more than {bound_text(low)} and at most {bound_text(high)}"
    return f"{bound_text(low)} to {bound_text(high)}"


def bound_text(bound: float) -> str:
    """Return a bound as people read it: ``2^31``, ``2^31 - 1``, ``0.2``."""
    if isinstance(bound, float):
        return f"{bound:g}"
    sign, size = "-" if bound < 0 else "", abs(bound)
    for less in (0, 1):
        power = (size + less).bit_length() - 1
        if power > 30 and size + less == 1 << power:
            return f"{sign}2^{power}{' - 1' if less else ''}"
    return str(bound)


def number(
    name: str, value: Any, low: float, high: float | None = None, *, above: bool = False
) -> float:
    """Return a number from `low`, or above it, to `high`; ``ValueError`` for anything else.

    Anything else are also NaN and, without `high`, infinite numbers.
    """
    try:
        found = math.nan if isinstance(value, bool | str | bytes) else float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    fits = found > low if above else found >= low
    if not (fits and (math.isfinite(found) if high is None else found <= high)):
        raise OptionError(name, f"expected {range_text(low, high, above)}, got {value!r}")
    return found


def player_number(player: Any, name: str = "player") -> int:
    """Return the number of a player; ``ValueError`` unless it is 0 or 1."""
    found = _integer(player)
    if found not in (0, 1):
        raise OptionError(name, f"expected 0 or 1, got {player!r}")
    return found


def seed_bits(seed: Any, name: str = "seed") -> int:
    """Return the lowest 64 bits of a seed, which may be any integer; ``ValueError`` otherwise."""
    return integer(name, seed) & _MASK


def budget(time_ms: float | None = None, least: int = 0, **work: int | None) -> None:
    """Check what bounds a search: milliseconds, and amounts of work by name; None is no bound.

    ``ValueError`` names the first that is wrong. The least amount of work is `least`.
    """
    if time_ms is not None:
        number("time_ms", time_ms, 0, MOST_MS)
    for name, amount in work.items():
        if amount is not None:
            whole(name, amount, least, MOST_WORK)


def _integer(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    try:
        return index(value)
    except TypeError:  # NumPy's bool has no index either
        return None
