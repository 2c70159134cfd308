"""gym-locm's agent max-attack, which fights as the contest's second baseline did."""

from dataclasses import dataclass
from typing import ClassVar

from locmsim.agents.base import ScriptedAgent
from locmsim.decks import DeckBuilder

__all__ = ["MaxAttackAgent"]


@dataclass
class MaxAttackAgent(ScriptedAgent):
    """gym-locm's max-attack: attacks with the strongest, then summons the strongest; no items.

    In the first lane in which a creature may attack, the one with the highest attack does: the
    first Guard if there is one, else the opponent. Without attacks the creature in hand with the
    highest attack that there is mana for is summoned, in the first lane with room. Of equal ones
    it is the first.
    """

    script: ClassVar[str] = "max-attack"

    deck: str | DeckBuilder = "classic"
