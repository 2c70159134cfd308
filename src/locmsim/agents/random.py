"""The agent "random"."""

import random
from dataclasses import dataclass

from locmsim.agents._scripted import turn_line
from locmsim.decks import deck_line
from locmsim.game.observation import Observation
from locmsim.rules.rulesets import COPIES_PER_CARD, DECK_SIZE, RULES

__all__ = ["RandomAgent"]


@dataclass
class RandomAgent:
    """Choose a random deck and play uniformly random legal actions until PASS is drawn.

    It needs no belief, since hidden cards do not matter to it.
    """

    def __post_init__(self) -> None:
        self.reset()

    def reset(self, seed: int = 0) -> None:
        """Begin a new game.

        Parameters
        ----------
        seed : int
            The answers depend only on the seed and on what the agent is shown.
        """
        self.random = random.Random(seed)

    def choose(self, observation: Observation) -> str:
        """Return a random deck (1.5) or a random pick (1.x) as an answer line.

        Parameters
        ----------
        observation : Observation
            What the agent is shown.
        """
        if RULES[observation.rules].draft:
            return f"PICK {self.random.randrange(len(observation.cards))}"
        copies = [row.base_id for row in observation.cards] * COPIES_PER_CARD
        return deck_line(self.random.sample(copies, DECK_SIZE))

    def act(self, observation: Observation) -> str:
        """Return random actions, until PASS is drawn, as an answer line.

        Parameters
        ----------
        observation : Observation
            What the agent is shown.
        """
        return turn_line("random", observation, self.random.getrandbits(64))
