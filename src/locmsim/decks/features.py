"""Named features of cards: the terms of card scores and deck values."""

from locmsim.networks._decks import COST_COLUMNS, ENOUGH, term_rows
from locmsim.rules.cards import Card, CardType

_TYPE_NAMES = [kind.name.lower() for kind in CardType]
_KEYWORDS = {
    "B": "breakthrough",
    "C": "charge",
    "D": "drain",
    "G": "guard",
    "L": "lethal",
    "W": "ward",
}
_BY_ATTACK = "CDW"

#: The terms of a `WeightedScore` and their meaning; compiled code uses the same order. All numbers
#: count in favour of the card's player: attack and defense of red and blue items are the amounts
#: that the enemy loses.
CARD_TERMS: dict[str, str] = {
    **{f"cost.{n}": f"costs {n}" for n in range(COST_COLUMNS - 1)},
    f"cost.{COST_COLUMNS - 1}": f"costs {COST_COLUMNS - 1} or more",
    **dict.fromkeys(_TYPE_NAMES, "is of this type"),
    "lane1": "has this area: copies in its lane",
    "lane2": "has this area: copies in both lanes",
    "draw": "each card drawn",
    "heal": "each health the player gains",
    "damage": "each health the opponent loses",
    **{
        f"{name}.{stat}": f"each point of {stat}, if of this type; up to {ENOUGH}"
        for name in _TYPE_NAMES
        for stat in ("attack", "defense")
    },
    **{
        f"area.{name}.{stat}": "the same in addition, if it has an area"
        for name in _TYPE_NAMES
        for stat in ("attack", "defense")
    },
    **{f"creature.{keyword}": "a creature with this keyword" for keyword in _KEYWORDS.values()},
    **{f"green.{keyword}": "a green item that gives it" for keyword in _KEYWORDS.values()},
    **{f"red.{keyword}": "a red or blue item that takes it" for keyword in _KEYWORDS.values()},
    **{
        f"{_KEYWORDS[letter]}.attack": f"each point of attack of a creature with {letter}"
        for letter in _BY_ATTACK
    },
    "guard.defense": "each point of defense of a creature with Guard",
    "area.draw": "each card drawn, in addition, if it has an area",
    "area.damage": "each health the opponent loses, in addition, if it has an area",
    "area.heal": "each health the player gains, in addition, if it has an area",
}


def card_terms(card: Card) -> dict[str, float]:
    """Return the non-zero `CARD_TERMS` of a card.

    Parameters
    ----------
    card : Card
        Any card.
    """
    row = term_rows([card])[0].tolist()
    return {name: number for name, number in zip(CARD_TERMS, row, strict=True) if number}
