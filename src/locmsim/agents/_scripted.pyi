from typing import Final

from locmsim._core import State
from locmsim.game.observation import Observation
from locmsim.search._belief import Knowledge

__all__ = [
    "HAND_SET_WEIGHTS",
    "SCRIPTED",
    "choose_action",
    "greedy_line",
    "play_battle",
    "slipped_line",
    "turn_line",
]

HAND_SET_WEIGHTS: Final[dict[str, float]]
SCRIPTED: Final[dict[str, int]]

def choose_action(name: str, state: State, seed: int = 0) -> int: ...
def greedy_line(known: Knowledge) -> str: ...
def slipped_line(known: Knowledge, slips: float, blur: float, seed: int) -> str | None: ...
def turn_line(name: str, observation: Observation, seed: int = 0) -> str: ...
def play_battle(
    state: State, first: str, second: str, seed: int = 0, max_actions: int = 1400
) -> int: ...
