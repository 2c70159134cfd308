"""The agent that takes the best action, one at a time."""

from dataclasses import dataclass, field

from locmsim._core import State
from locmsim.agents.base import BaseAgent
from locmsim.agents.turnsearch import Evaluation, greedy_turn
from locmsim.decks.building import DeckBuilder

__all__ = ["GreedyAgent"]


@dataclass
class GreedyAgent(BaseAgent):
    """One action after the other, each the best by its immediate result.

    Its deck is what the default was when it was made: a yardstick stays as it is.
    """

    deck: str | DeckBuilder = "classic"
    evaluation: Evaluation = field(default_factory=Evaluation)

    def plan(self, state: State, started: float) -> list[int]:
        return greedy_turn(state, self.evaluation)
