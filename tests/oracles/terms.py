"""The `CARD_TERMS` of a card by name."""

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
_ENOUGH = 12
_COST_COLUMNS = 8


def card_terms(card: Card) -> dict[str, float]:
    """Return the same as `locmsim.decks.card_terms`."""
    kind = _TYPE_NAMES[card.type]
    sign = 1 if kind in ("creature", "green") else -1
    attack, defense = min(sign * card.attack, _ENOUGH), min(sign * card.defense, _ENOUGH)
    heal, damage, draw = card.my_health_change, -card.opponent_health_change, card.card_draw
    terms: list[tuple[str, float]] = [
        (f"cost.{min(card.cost, _COST_COLUMNS - 1)}", 1),
        (kind, 1),
        (f"{kind}.attack", attack),
        (f"{kind}.defense", defense),
        ("draw", draw),
        ("heal", heal),
        ("damage", damage),
    ]
    if card.area:
        terms += [
            (f"lane{int(card.area)}", 1),
            (f"area.{kind}.attack", attack),
            (f"area.{kind}.defense", defense),
            ("area.draw", draw),
            ("area.heal", heal),
            ("area.damage", damage),
        ]
    if card.abilities != "------":
        carrier = "red" if kind == "blue" else kind
        for letter, keyword in _KEYWORDS.items():
            if letter in card.abilities:
                terms.append((f"{carrier}.{keyword}", 1))
                if kind == "creature" and letter in _BY_ATTACK:
                    terms.append((f"{keyword}.attack", card.attack))
                elif kind == "creature" and letter == "G":
                    terms.append(("guard.defense", card.defense))
    return {name: value for name, value in terms if value}
