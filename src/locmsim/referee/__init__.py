"""Bots as processes, the match between them, logs."""

from locmsim.contract import Fault, FaultKind
from locmsim.referee.matches import Call, Result, play, replay_calls
from locmsim.referee.process import BotFault, BotProcess

__all__ = [
    "BotFault",
    "BotProcess",
    "Call",
    "Fault",
    "FaultKind",
    "Result",
    "play",
    "replay_calls",
]
