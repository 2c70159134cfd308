"""The agent "max-attack" of gym-locm, which fights like the contest's second baseline."""

from dataclasses import dataclass
from typing import ClassVar

from locmsim.agents.base import Deck, ScriptedAgent
from locmsim.options.declarations import documented


@documented()
@dataclass
class MaxAttackAgent(ScriptedAgent):
    """The agent "max-attack" of gym-locm: attack with the strongest, then summon the strongest.

    In the first lane in which a creature may attack, the one with the highest attack attacks the
    first Guard if there is one, else the opponent. When no attack is left, the affordable creature
    in hand with the highest attack is summoned to the first lane with room. Of equal creatures, the
    first is used. Items are never used.

    Parameters
    ----------
    options
    """

    script: ClassVar[str] = "max-attack"

    deck: Deck = "classic"
