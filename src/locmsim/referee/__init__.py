"""Bots as processes, the match between them, logs."""

from locmsim.contract import Fault, FaultKind
from locmsim.referee.process import BotFault, BotProcess
from locmsim.referee.process_match import Call, Result, play, replay_calls

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
