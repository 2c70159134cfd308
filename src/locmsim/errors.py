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


#: What ends this process, whoever's code it interrupts. Anything else that an agent's code raises,
#: ``SystemExit`` too, is the fault of that code.
ENDINGS = (KeyboardInterrupt, EndedBySignal)


def shown(error: BaseException) -> str:
    """Return the type and the text of an exception in one line, whatever its text is."""
    return " ".join(f"{type(error).__name__}: {text_of(error)}".split()).removesuffix(":")


def text_of(error: BaseException) -> str:
    """Return the text of an exception, whatever it is; lone surrogates are escaped."""
    try:
        text = str(error)
    except Exception as other:  # its __str__ fails
        text = f"(its text cannot be had: {type(other).__name__})"
    return text.encode("utf-8", "backslashreplace").decode()
