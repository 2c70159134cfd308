"""Bots as processes, the match between them, logs."""

from locmsim.contract import Fault, FaultKind
from locmsim.referee.agent_process import IsolatedAgent
from locmsim.referee.process import BotFault, BotProcess
from locmsim.referee.process_match import Call, Result, play, replay_calls

__all__ = [
    "BotFault",
    "BotProcess",
    "Call",
    "Fault",
    "FaultKind",
    "IsolatedAgent",
    "Result",
    "play",
    "replay_calls",
]
