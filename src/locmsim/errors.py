"""The exceptions of locmsim. Those about games, actions and texts are also ``ValueError``."""

from typing import Any

__all__ = [
    "GameOverError",
    "IllegalActionError",
    "InvalidActionError",
    "LocmError",
    "ProtocolError",
]


class LocmError(ValueError):
    """Base class of all errors that locmsim raises about games, actions and protocol text."""


class InvalidActionError(LocmError):
    """A text is not an action in the format of the referee (docs/rules.md, section 8)."""


class IllegalActionError(LocmError):
    """A well-formed action is not legal in the position it was given for (section 6).

    Attributes
    ----------
    position : State or None
        A copy of that position, if there is a single one.
    """

    def __init__(self, message: str = "", position: Any = None) -> None:
        super().__init__(message)
        self.position = position


class GameOverError(IllegalActionError):
    """An action was given for a game that is already over."""


class ProtocolError(LocmError):
    """Protocol text cannot be read; the message names the line (section 9)."""


class EndedBySignal(SystemExit):
    """A signal ends this process. No player may stop it, and it is no player's fault.

    Parameters
    ----------
    number : int
        The signal; the exit status is 128 more.
    """

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.number = number
