"""Names of cards, for display.

Cards of 1.x have names. A generated card gets one from its statistics and base id: the noun is the
motif of its picture, the adjective follows from its statistics. The base id also selects one of
several groups of adjectives, as many as there are cards of one motif in a set of 120, so no two
cards of such a set share a name.
"""

from collections.abc import Iterable, Mapping
from functools import cache

from locmsim.art.motifs import MOTIFS, NOUNS
from locmsim.rules.cards import Card, CardType, cards_1x

#: Adjectives of creatures by the first of these that they have, one for each group.
_CREATURES: Mapping[str, tuple[str, ...]] = {
    "L": ("Venomous", "Deadly", "Grim", "Silent", "Pale"),
    "D": ("Thirsty", "Crimson", "Hungry", "Gloomy", "Leeching"),
    "C": ("Swift", "Wild", "Rushing", "Restless", "Eager"),
    "B": ("Mighty", "Crushing", "Stubborn", "Trampling", "Raging"),
    "W": ("Gleaming", "Enchanted", "Silver", "Veiled", "Misty"),
    "G": ("Steadfast", "Watchful", "Iron", "Stone", "Loyal"),
    "attack": ("Fierce", "Sharp", "Fiery", "Savage", "Bold"),
    "defense": ("Sturdy", "Old", "Broad", "Grey", "Patient"),
    "even": ("Brown", "Sly", "Young", "Tame", "Forest"),
}
#: Adjectives of items by what they change most, one for each group.
_ITEMS: Mapping[str, tuple[str, ...]] = {
    "attack": (
        *("Burning", "Keen", "Jagged", "Furious", "Blazing", "Scarlet", "Barbed", "Fearsome"),
        *("Smouldering", "Spiked", "Brutal", "Molten", "Glowing", "Cruel", "Heavy"),
    ),
    "defense": (
        *("Oaken", "Bronze", "Mossy", "Solid", "Granite", "Earthen", "Plated", "Healing"),
        *("Steel", "Amber", "Marble", "Thick", "Ancient", "Jade", "Leaden"),
    ),
    "other": (
        *("Arcane", "Frozen", "Twilight", "Cunning", "Starlit", "Azure", "Whispering", "Hidden"),
        *("Mystic", "Shimmering", "Forgotten", "Lunar", "Golden", "Sacred", "Strange"),
    ),
}


@cache
def _fixed_names() -> dict[Card, str]:
    return {card: card.name for card in cards_1x()}


def card_title(card: Card) -> str:
    """Return the name under which a card is shown.

    Parameters
    ----------
    card : Card
        The card.

    Returns
    -------
    str
        Its name or, if it has none, one that follows from its statistics and base id. Plain text,
        not escaped. It is for display only, and is in no file and no protocol.
    """
    return card.name or _fixed_names().get(card) or _generated(card)


def card_titles(cards: Iterable[Card]) -> dict[Card, str]:
    """Return the titles of a card set, see `card_title`; ambiguous ones get a base id.

    Parameters
    ----------
    cards : iterable of Card
        The set; a card may occur more than once.

    Returns
    -------
    dict of Card to str
        Titles. A title that cards with different base ids would share is followed by the base id.
    """
    titles = {card: card_title(card) for card in cards}
    base_ids: dict[str, set[int]] = {}
    for card, title in titles.items():
        base_ids.setdefault(title, set()).add(card.base_id)
    return {
        card: title if len(base_ids[title]) == 1 else f"{title} {card.base_id}"
        for card, title in titles.items()
    }


def _generated(card: Card) -> str:
    """Return an adjective and the noun of the card's motif."""
    nouns = NOUNS[card.type]
    if card.type == CardType.CREATURE:
        table = _CREATURES
        kind = next((letter for letter in "LDCBWG" if letter in card.abilities), "")
        if not kind:
            kind = _larger(card.attack, card.defense, "even")
    else:
        table = _ITEMS
        kind = _larger(abs(card.attack), abs(card.defense), "other")
    adjectives = table[kind]
    group = card.base_id // len(MOTIFS[card.type]) % len(adjectives)
    return f"{adjectives[group]} {nouns[card.base_id % len(nouns)]}"


def _larger(attack: int, defense: int, even: str) -> str:
    if attack == defense:
        return even
    return "attack" if attack > defense else "defense"
