"""The lines of a bot's input as named tuples (docs/rules.md, sections 3 and 9)."""

from functools import lru_cache
from typing import Any, NamedTuple, Self

from locmsim.rules.cards import Card, CardType

__all__ = ["ENEMY_BOARD", "HAND", "MY_BOARD", "CardInPlay", "OpponentAction", "PlayerLine"]

#: Locations of a card.
HAND, MY_BOARD, ENEMY_BOARD = 0, 1, -1

#: Instance id of the cards offered in the choice phase.
_OFFERED = -1


@lru_cache(maxsize=1024)
def _printed(base_id: int, kind: int, *values: Any) -> Card:
    """Return a card, cached: the same 120 offers are parsed repeatedly, and `Card` is slow."""
    return Card(base_id, CardType(kind), *values)


class PlayerLine(NamedTuple):
    """The line of a player; `rune` is 0 in 1.5, which has no runes."""

    health: int
    max_mana: int
    deck_size: int
    #: Own line: cards drawn (or tried to) this turn. Opponent's: as their last turn ended.
    draw: int
    rune: int = 0


class OpponentAction(NamedTuple):
    """An action that the opponent carried out in their last turn, and the base id of its card."""

    base_id: int
    text: str


class CardInPlay(NamedTuple):
    """One card row: a card in hand, a creature on a board, or a card offered in the choice phase.

    On a board, attack, defense and abilities are the creature's current ones. In 1.x the last three
    effects are shown as 0 once a creature has fought or been a target. `area` is 0 where the rule
    set has none, `lane` is -1 off the board and 0 in the one lane of 1.0.
    """

    base_id: int
    instance_id: int
    location: int
    type: int
    cost: int
    attack: int
    defense: int
    abilities: str
    my_health_change: int
    opponent_health_change: int
    card_draw: int
    area: int = 0
    lane: int = -1

    @classmethod
    def offer(cls, card: Card) -> Self:
        """Return the row that shows `card` in the choice phase."""
        base_id, *values = card.to_row()
        return cls(base_id, _OFFERED, HAND, *values)  # type: ignore[arg-type]

    def card(self) -> Card:
        """Return the printed card of a row of the hand or the offer, not of the board."""
        return _printed(self.base_id, self.type, *self[4:12])
