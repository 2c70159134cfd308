"""gym-locm's agent max-attack, which fights as the contest's second baseline did."""

from dataclasses import dataclass
from typing import ClassVar

from locmsim.agents.base import ScriptedAgent
from locmsim.decks import DeckBuilder

__all__ = ["MaxAttackAgent"]


@dataclass
class MaxAttackAgent(ScriptedAgent):
    """The agent "max-attack" of gym-locm: attack with the strongest, then summon the strongest.

    In the first lane in which a creature may attack, the one with the highest attack does: it
    attacks the first Guard if there is one, else the opponent. When no attack is left, the creature
    in hand with the highest attack that the mana allows is summoned, in the first lane with room.
    Of equal ones it is the first. Items are never used.

    Parameters
    ----------
    deck, draft : str or function
        How the cards are chosen, as for `BaseAgent`.
    """

    script: ClassVar[str] = "max-attack"

    deck: str | DeckBuilder = "classic"
