"""The lines of a bot's input as named tuples (docs/rules.md, sections 3 and 9)."""

from functools import lru_cache
from typing import Any, NamedTuple, Self

from locmsim.rules.cards import Card, CardType

#: Locations of a card.
HAND, MY_BOARD, ENEMY_BOARD = 0, 1, -1

#: Instance id of the cards offered in the choice phase.
_OFFERED = -1


@lru_cache(maxsize=1024)
def _printed(base_id: int, kind: int, *values: Any) -> Card:
    """Return a card, cached: the same 120 offers are parsed repeatedly, and `Card` is slow."""
    return Card(base_id, CardType(kind), *values)


class PlayerLine(NamedTuple):
    """The line of a player in an observation (docs/rules.md, section 9).

    Attributes
    ----------
    health : int
        Health left.
    max_mana : int
        As much mana as the player's turns begin with.
    deck_size : int
        Cards left in the deck.
    draw : int
        In the player's own line the cards drawn (or tried to) this turn, in the opponent's those as
        their last turn ended.
    rune : int
        The highest remaining rune; 0 without one, and in 1.5, which has no runes.
    """

    health: int
    max_mana: int
    deck_size: int
    draw: int
    rune: int = 0


class OpponentAction(NamedTuple):
    """An action that the opponent carried out in their last turn.

    Attributes
    ----------
    base_id : int
        That of the card used.
    text : str
        The action, as canonical text.
    """

    base_id: int
    text: str


class CardInPlay(NamedTuple):
    """One card row: a card in hand, a creature on a board, or a card offered in the choice phase.

    On a board, attack, defense and abilities are the creature's current ones. In 1.x the last three
    effects are shown as 0 once a creature has fought or been a target. `area` is 0 where the rule
    set has none, `lane` is -1 off the board and 0 in the one lane of 1.0.

    Attributes
    ----------
    base_id : int
        The number of the card in the card list.
    instance_id : int
        The number of this copy in the match; -1 in the choice phase.
    location : int
        0 in the player's hand or in an offer, 1 on their board, -1 on the opponent's.
    type : int
        A `CardType`.
    cost : int
        Mana that it costs.
    attack, defense : int
        Its values.
    abilities : str
        Six letters or dashes, ``BCDGLW``.
    my_health_change, opponent_health_change : int
        What it adds to the health of its player and of the other one.
    card_draw : int
        Cards that it draws.
    area : int
        An `Area`.
    lane : int
        The lane.
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
        """Return the row that shows `card` in the choice phase.

        Parameters
        ----------
        card : Card
            A card of the offer.
        """
        base_id, *values = card.to_row()
        return cls(base_id, _OFFERED, HAND, *values)  # type: ignore[arg-type]

    def card(self) -> Card:
        """Return the printed card of a row of the hand or the offer, not of the board."""
        return _printed(self.base_id, self.type, *self[4:12])
