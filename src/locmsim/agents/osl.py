"""The agent that gym-locm calls greedy, and the papers that measure by it OSL."""

from dataclasses import dataclass
from typing import ClassVar

from locmsim.agents.base import ScriptedAgent
from locmsim.decks import DeckBuilder

__all__ = ["OSLAgent"]


@dataclass
class OSLAgent(ScriptedAgent):
    """The agent "greedy" of gym-locm: the best action by health and board, as long as there is any.

    It passes only if nothing else is legal. A position is worth 1000 for a dead opponent, -1000 for
    being dead, twice the difference in health, and the difference in attack and defense on the
    board. (gym-locm also adds ten times the number of the player's creatures and subtracts the same
    again, which is nothing.) Of equally good actions it takes the first in the order of gym-locm:
    summons, then items, then attacks, each aimed at creatures before the player.

    Parameters
    ----------
    deck, draft : str or function
        How the cards are chosen, as for `BaseAgent`.
    """

    script: ClassVar[str] = "osl"

    deck: str | DeckBuilder = "classic"
