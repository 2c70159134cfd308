"""The agent that gym-locm calls "greedy", known as OSL in papers."""

from dataclasses import dataclass
from typing import ClassVar

from locmsim.agents.base import Deck, ScriptedAgent
from locmsim.options.declarations import documented


@documented()
@dataclass
class OSLAgent(ScriptedAgent):
    """The agent "greedy" of gym-locm: always the best action by health and board.

    It passes only if nothing else is legal. The value of a position is 1000 for a dead opponent or
    -1000 for being dead, plus twice the difference in health, plus the difference in attack and
    defense on the board. (gym-locm also adds ten times the number of the player's creatures and
    subtracts it again.) Of equally good actions it plays the first in the order of gym-locm:
    summons, then items, then attacks, each with creatures before the player as targets.

    Parameters
    ----------
    options
    """

    script: ClassVar[str] = "osl"

    deck: Deck = "classic"
