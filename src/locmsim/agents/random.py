"""The agent "random"."""

from dataclasses import dataclass

from locmsim.agents._scripted import turn_line
from locmsim.agents.base import ChoosingAgent
from locmsim.decks import DeckBuilder, DraftPicker
from locmsim.game.observation import Observation


@dataclass
class RandomAgent(ChoosingAgent):
    """Choose random cards and play uniformly random legal actions until PASS is drawn.

    It needs no belief, since hidden cards do not matter to it.

    Parameters
    ----------
    deck, draft : str or function
        How the cards are chosen, as for `BaseAgent`; at random by default.
    """

    deck: str | DeckBuilder = "random"
    draft: str | DraftPicker = "random"

    def act(self, observation: Observation) -> str:
        return turn_line("random", observation, self.random.getrandbits(64))
