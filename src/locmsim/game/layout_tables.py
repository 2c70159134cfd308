"""The tables of the observation layouts: each number's name, meaning, unit, scale and bounds.

The writers in `_layout.pyx` follow these tables, and the reference and `Layout.describe` are made
from them.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

from locmsim.rules.rulesets import COPIES_PER_CARD, DECK_SIZE, RULES, get_rules

_KEYWORDS = ("breakthrough", "charge", "drain", "guard", "lethal", "ward")
_TYPES = {
    "creature": "creatures", "green": "green items", "red": "red items", "blue": "blue items"
}  # fmt: skip
#: Bounds of all numbers of "entities", and of the integers behind "gym-locm".
_BYTE = 127
_STAT = 1000
_15, _1X, _TWO_LANES = ("1.5",), ("1.2", "1.0"), ("1.5", "1.2")


@dataclass(frozen=True, slots=True)
class Feature:
    """One number of a layout.

    Parameters
    ----------
    name : str
        Unique in its block.
    text : str
        Its meaning, in a sentence.
    unit : str
        What is counted, such as "mana"; empty for a flag, which is 0 or 1.
    scale : float
        Divisor for "entities-f32"; 1 for "gym-locm", whose numbers are already divided.
    low, high : float
        Bounds, to which the writers clip.
    history : bool
        Whether it depends on the history: 0 in `State.observation_tensor`, which has none.
    rules : tuple of str
        The rule sets in which it can be other than 0; empty for all.
    divisor : float
        What the layout itself has divided the number by: 1 except in "gym-locm".
    """

    name: str
    text: str
    unit: str
    scale: float
    low: float
    high: float
    history: bool = False
    rules: tuple[str, ...] = ()
    divisor: float = 1


class Block(NamedTuple):
    """Consecutive numbers of a layout: `rows` rows of the same features (0: once, no rows).

    Attributes
    ----------
    name : str
        A key of `Layout.split`.
    start : int
        The index of its first number.
    rows : int
        The number of rows; 0 for a block without rows.
    features : tuple of Feature
        The numbers of a row.
    text : str
        What the block, or each of its rows, is about.
    """

    name: str
    start: int
    rows: int
    features: tuple[Feature, ...]
    text: str = ""

    @property
    def size(self) -> int:
        """Numbers in the block."""
        return max(1, self.rows) * len(self.features)


#: Name, number of rows, features and meaning of each block.
Blocks = tuple[tuple[str, int, tuple[Feature, ...], str], ...]


def _count(
    name: str, text: str, unit: str, scale: float = 1, high: int = _BYTE, *,
    history: bool = False, rules: tuple[str, ...] = (),
) -> Feature:  # fmt: skip
    return Feature(name, text, unit, scale, 0, high, history, rules)


def _number(name: str, text: str, unit: str, scale: float) -> Feature:
    return Feature(name, text, unit, scale, -_BYTE, _BYTE)


def _flag(
    name: str, text: str, *, history: bool = False, rules: tuple[str, ...] = ()
) -> Feature:  # fmt: skip
    return Feature(name, text, "", 1, 0, 1, history, rules)


def _spare(n: int) -> tuple[Feature, ...]:
    return tuple([_flag(f"spare{i}", "Unused, always 0.") for i in range(n)])


def _types(whose: str) -> tuple[Feature, ...]:
    return tuple(
        [
            _flag(kind, f"{whose} is a {kind}{'' if kind == 'creature' else ' item'}.")
            for kind in _TYPES
        ]
    )


def _keywords(whose: str) -> tuple[Feature, ...]:
    return tuple([_flag(word, f"{whose} has {word.capitalize()}.") for word in _KEYWORDS])


# ---------------------------------------------------------------------------------- entities


def _pile(history: bool) -> tuple[Feature, ...]:
    """Return a pile of cards, without an order."""

    def count(name: str, what: str, unit: str, high: int, **more: tuple[str, ...]) -> Feature:
        scale = 8 if high == DECK_SIZE else 4
        return _count(name, f"How many {what}.", unit, scale, high, history=history, **more)

    return (
        *[count(kind, f"of them are {many}", "cards", 30) for kind, many in _TYPES.items()],
        *[count(f"cost{cost}", f"of them cost {cost}", "cards", 30) for cost in range(7)],
        count("cost7+", "of them cost 7 or more", "cards", 30),
        count("draw", "cards they draw together", "cards", _BYTE),
        count("area", "of them have an area", "cards", _BYTE, rules=_15),
        count("charge", "creatures among them have Charge", "cards", _BYTE),
        count("guard", "creatures among them have Guard", "cards", _BYTE),
    )


def _player(whose: str, mana: bool) -> tuple[Feature, ...]:
    spent = (_count("mana", "Mana that the player can still spend in this turn.", "mana", 12),)
    return (
        _number("health", f"{whose} health.", "health", 30),
        *(spent if mana else ()),
        _count(
            "max_mana", f"Mana with which {whose.lower()} latest turn began, bonus mana included.",
            "mana", 12,
        ),
        _flag("bonus", f"{whose} bonus mana, which the second player has, is not used up yet."),
        _count("next_draw", f"Cards to be drawn for {whose.lower()} next turn.", "cards", 3),
        _count(
            "lost_or_runes",
            f"1.5: health lost since {whose.lower()} last card for 5 lost health, 0 to 4."
            f" 1.2 and 1.0: {whose.lower()} runes that are left, 0 to 5.",
            "health or runes",
            5,
        ),
        _count("deck", f"Cards left in {whose.lower()} deck.", "cards", 30, 30),
        _count("hand", f"Cards in {whose.lower()} hand.", "cards", 8, 8),
    )  # fmt: skip


_GAME = (
    _count("turn", "Turns that both players have finished.", "turns", 50),
    _flag("seat", "The player plays second."),
    _count(
        "actions", "Actions that the player has taken in this turn; 0 in the opponent's turn.",
        "actions", 10, history=True,
    ),
    *[_flag(f"rules{rules}", f"The rule set is {rules}.", rules=(rules,)) for rules in RULES],
    _flag("two_lanes", "The battlefield has two lanes.", rules=_TWO_LANES),
    _count(
        "draws", "Cards to be drawn for this turn of the player; 0 in the opponent's turn.",
        "cards", 3,
    ),
)  # fmt: skip
_HAND_CARD = (
    _flag("present", "There is such a card; 0 for a place that is empty, like the whole row then."),
    *_types("The card"),
    _count("cost", "Its cost.", "mana", 6),
    _number("attack", "Its attack; for an item, the change of the target's.", "attack", 6),
    _number("defense", "Its defense; for an item, the change of the target's.", "defense", 6),
    _number("my_health", "Change of the health of the player who plays it.", "health", 6),
    _number("opponent_health", "Change of the health of that player's opponent.", "health", 6),
    _count("draw", "Cards that it draws.", "cards", 2),
    *_keywords("The card"),
    _flag("area_lane1", "Its area is one lane.", rules=_15),
    _flag("area_lane2", "Its area is both lanes.", rules=_15),
    _flag("affordable", "The player's mana is enough for it."),
    _count("copies", "Cards like it that are left in the player's deck.", "cards", 2, 30),
    _flag("new", "It was drawn for the player's latest turn.", history=True),
    *_spare(2),
)  # fmt: skip
_CREATURE = (
    _flag("present", "There is a creature; 0 for a slot that is empty, like the whole row then."),
    _flag("lane1", "It stands in the right lane.", rules=_TWO_LANES),
    _number("attack", "Its attack.", "attack", 6),
    _number("defense", "Its defense.", "defense", 6),
    *_keywords("It"),
    _flag("can_attack", "It may attack now; 0 for creatures of the opponent."),
    _flag("has_attacked", "It has attacked in this turn; 0 for creatures of the opponent."),
    _flag("came", "It was summoned after its player's latest turn began.", history=True),
    _flag("copy", "It is a copy, which a card with an area summoned besides.", rules=_15),
    _count("cost", "Cost of its card.", "mana", 6),
    *_spare(1),
)  # fmt: skip

_CARD_TEXTS = {feature.name: feature.text for feature in _HAND_CARD}

#: The table of "entities".
ENTITIES_BLOCKS: Blocks = (
    ("own", 0, _player("The player's", True), "The player who observes."),
    (
        "enemy",
        0,
        (
            *_player("The opponent's", False),
            _count("shown", "Cards that they have played so far.", "cards", 30, 30, history=True),
        ),
        "Their opponent.",
    ),
    ("game", 0, _GAME, "The game."),
    ("hand", 8, _HAND_CARD, "A card in the player's hand, in the order of the hand."),
    ("own_board", 6, _CREATURE, "A creature of the player, by slot: see the numbers of actions."),
    ("enemy_board", 6, _CREATURE, "A creature of the opponent, by slot."),
    ("own_deck", 0, _pile(False), "The cards in the player's deck, whose order nobody knows."),
    ("enemy_seen", 0, _pile(True), "The cards that the opponent has played so far."),
)  # fmt: skip


# ---------------------------------------------------------------------------------- gym-locm


def _real(
    name: str, text: str, unit: str, divisor: float, low: int = -_STAT, high: int = _STAT
) -> Feature:
    """An integer that is divided; 0 is always possible."""
    return Feature(name, text, unit, 1, low / divisor, high / divisor, divisor=divisor)


def gym_locm_table(rules: str) -> Blocks:
    """Return the table of "gym-locm" for a rule set."""
    areas, runes = RULES[rules].areas, RULES[rules].runes

    def player(whose: str, mana: str) -> tuple[Feature, ...]:
        rune = (_real("rune", f"{whose} highest rune that is left.", "health", 30, 0, 25),)
        return (
            _real("health", f"{whose} health.", "health", 30),
            _real("mana", mana, "mana", 13, 0, 13),
            *(rune if runes else ()),
            _real("next_draw", f"Cards to be drawn at {whose.lower()} next turn.", "cards", 6, 0),
        )

    card = (
        *_types("The card"),
        _real("cost", "Its cost.", "mana", 12, 0, 127),
        *[
            _real(name, _CARD_TEXTS[name], unit, 12, low, 500)
            for name, unit, low in (
                ("attack", "attack", -500), ("defense", "defense", -12),
                ("my_health", "health", -500), ("opponent_health", "health", -500),
            )
        ],
        _real("draw", "Cards that it draws.", "cards", 2, 0, 100),
        *_keywords("The card"),
    )  # fmt: skip
    if areas:
        area = "The lanes of its area; 0 for one target."
        card += (_real("area", area, "lanes", 2, 0, 2),)
    body = (
        _real("attack", "Its attack.", "attack", 12),
        _real("defense", "Its defense.", "defense", 12),
    )
    can_attack = _flag("can_attack", "It was on the board when the turn began and may attack.")
    own = "Mana that the player can still spend in this turn."
    enemy = "Mana with which the opponent's latest turn began, bonus mana included."
    return (
        ("own", 0, player("The player's", own), "The player who observes."),
        ("enemy", 0, player("The opponent's", enemy), "Their opponent."),
        ("hand", 8, card, "A card in the player's hand, in the order of the hand; zeros if empty."),
        (
            "own_board", 6, (*body, can_attack, *_keywords("It")),
            "A creature of the player, by slot: see the numbers of actions; zeros if empty.",
        ),
        (
            "enemy_board", 6, (*body, *_keywords("It")),
            "A creature of the opponent, by slot; zeros if empty.",
        ),
    )  # fmt: skip


# ------------------------------------------------------------------------------------ choice

_ALWAYS_0 = dict.fromkeys(("affordable", "copies", "new"), "Always 0 in the choice phase.")
_OFFERED = tuple(
    [
        replace(feature, text=_ALWAYS_0[feature.name], high=1, history=False)
        if feature.name in _ALWAYS_0
        else feature
        for feature in _HAND_CARD
    ]
)


def choice_table(rules: str) -> Blocks:
    """Return the table of "choice" for a rule set."""
    draft, size = get_rules(rules).draft, get_rules(rules).offer_size
    copies = _count("copies", "How many of it the player has chosen.", "cards", 1, COPIES_PER_CARD)
    step = _count("chosen", "Cards that the player has chosen so far.", "cards", 30, DECK_SIZE)
    if draft:
        offer = "A card of the offer, in its order; the action of the same number takes it."
        chosen = "chosen", DECK_SIZE, _OFFERED, "A card that the player has chosen, in that order."
    else:
        offer = "A card of the offer, by ascending base id; the action of the same number takes it."
        chosen = "chosen", size, (copies,), "The card of the offer with this number."
    return (
        ("offer", size, _OFFERED, offer),
        chosen,
        ("pile", 0, _pile(False), "The cards that the player has chosen."),
        ("step", 0, (step,), "How far the choice is."),
    )  # fmt: skip
