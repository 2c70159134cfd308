"""Bots as processes, the match between them, logs."""

from locmsim.referee.play import (
    Call,
    Fault,
    InProcess,
    Result,
    play,
    retrace,
)
from locmsim.referee.process import (
    BotFault,
    BotProcess,
    FaultKind,
)

__all__ = [
    "BotFault",
    "BotProcess",
    "Call",
    "Fault",
    "FaultKind",
    "InProcess",
    "Result",
    "play",
    "retrace",
]
