"""The agent that gym-locm calls greedy, and the papers that measure by it OSL."""

from dataclasses import dataclass
from typing import ClassVar

from locmsim.agents.base import ScriptedAgent
from locmsim.decks import DeckBuilder

__all__ = ["OSLAgent"]


@dataclass
class OSLAgent(ScriptedAgent):
    """gym-locm's greedy: the best action by health and board, as long as there is any.

    It passes only if nothing else is legal. A position is worth 1000 for a dead opponent, -1000
    for being dead, twice the difference in health, and the difference in attack and defense on the
    board. (gym-locm also adds ten times the number of own creatures less the number of own
    creatures, which is nothing.) Of actions that are equally good it is the first in the order of
    gym-locm: creatures are summoned first, then items used, then attacks made, and each aims at
    creatures before the player.
    """

    script: ClassVar[str] = "osl"

    deck: str | DeckBuilder = "classic"
