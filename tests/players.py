"""Agents whose module is imported quickly, as worker processes do."""

import os
from dataclasses import dataclass

from locmsim.agents import RandomAgent
from locmsim.game.observation import Observation


@dataclass
class Stubborn(RandomAgent):
    """An agent that gives the same answer in every turn."""

    line: str = "PASS"

    def __post_init__(self) -> None:
        super().__post_init__()

    def act(self, observation: Observation) -> str:
        return self.line


class Counting(RandomAgent):
    """An agent with a number that no description can hold."""

    def __init__(self, numbers: list[int]) -> None:
        super().__init__()
        self.numbers = numbers


class Moody(RandomAgent):
    """Plays otherwise if it is told so."""

    def reset(self, seed: int = 0) -> None:
        super().reset(seed + int(os.environ.get("MOOD", "0")))
