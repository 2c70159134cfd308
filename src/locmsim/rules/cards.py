"""Cards, and the `;`-separated card list files of the official referee.

A card list file has one card per line; ``//`` starts a comment, and blank lines are skipped:

    id ; name ; type ; cost ; attack ; defense ; abilities ; my ; opp ; draw ; area ; text

``type`` is creature, itemGreen, itemRed or itemBlue; ``my`` and ``opp`` are the health changes of
the card's owner and of their opponent; ``area`` is target, lane1 or lane2, a column that is missing
in lists for rules 1.x; the final text is for people and ignored here.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache
from operator import attrgetter
from typing import Self, TypeVar

from locmsim.options.checks import integer

__all__ = [
    "ABILITIES",
    "AREA_WORDS",
    "BOUNDS",
    "NO_ABILITIES",
    "TYPE_WORDS",
    "Area",
    "Card",
    "CardType",
    "cards_1x",
    "equal_cards_1x",
    "load_cards",
    "named_integer",
    "parse_integer",
    "parse_word",
    "save_cards",
]


class CardType(IntEnum):
    """The kinds of cards, numbered as in the protocol (docs/rules.md, section 9)."""

    CREATURE = 0
    GREEN = 1
    RED = 2
    BLUE = 3


class Area(IntEnum):
    """The area of a 1.5 card: one target, one lane or both lanes (docs/rules.md, section 7)."""

    TARGET = 0
    LANE1 = 1
    LANE2 = 2


#: The ability letters in the order of their columns: Breakthrough, Charge, Drain, Guard, Lethal,
#: Ward.
ABILITIES = "BCDGLW"
NO_ABILITIES = "------"
#: All forms of abilities, by the number whose bits are the letters, and the inverse.
ABILITY_TEXTS = tuple(
    "".join(letter if bits >> i & 1 else "-" for i, letter in enumerate(ABILITIES))
    for bits in range(1 << len(ABILITIES))
)
ABILITY_BITS = {text: bits for bits, text in enumerate(ABILITY_TEXTS)}

#: Names of types and areas in the referee's files.
TYPE_WORDS: Mapping[str, CardType] = {
    "creature": CardType.CREATURE,
    "itemGreen": CardType.GREEN,
    "itemRed": CardType.RED,
    "itemBlue": CardType.BLUE,
}
AREA_WORDS: Mapping[str, Area] = {
    "target": Area.TARGET,
    "lane1": Area.LANE1,
    "lane2": Area.LANE2,
}

#: Lowest and highest value of each number of a card. Within these bounds, no creature of a battle
#: exceeds 16 bits and no health exceeds 32.
BOUNDS: Mapping[str, tuple[int, int]] = {
    "base_id": (0, 65535),
    "cost": (0, 127),
    "attack": (-500, 500),
    "defense": (-500, 500),
    "my_health_change": (-500, 500),
    "opponent_health_change": (-500, 500),
    "card_draw": (0, 100),
}
# For fast checks of every new card: a set has 120 cards.
_NUMBERS = attrgetter(*BOUNDS)
_BOUND_LIST = [(name, low, high) for name, (low, high) in BOUNDS.items()]
_TYPES = {int(kind): kind for kind in CardType}
_AREAS = {int(area): area for area in Area}
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Card:
    """A card as printed: immutable, hashable, and equal by value whatever its name.

    Parameters
    ----------
    base_id : int
        0 to 65535.
    type : CardType or int
        The kind of card.
    cost : int
        Mana, 0 to 127.
    attack, defense : int
        -500 to 500; for items, the change of the target.
    abilities : str
        Six characters: each letter of `ABILITIES` in its place, or ``-``.
    my_health_change, opponent_health_change : int
        -500 to 500, applied when the card is played.
    card_draw : int
        Cards that its player draws at the start of their next turn, 0 to 100.
    area : Area or int
        The area of a card of 1.5.
    name : str
        The name, which does not affect equality.

    Raises
    ------
    ValueError
        A field is out of range; the message names it.
    """

    base_id: int
    type: CardType
    cost: int
    attack: int
    defense: int
    abilities: str = NO_ABILITIES
    my_health_change: int = 0
    opponent_health_change: int = 0
    card_draw: int = 0
    area: Area = Area.TARGET
    name: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        for value, (name, low, high) in zip(_NUMBERS(self), _BOUND_LIST, strict=True):
            if type(value) is int and low <= value <= high:
                continue
            number = integer(name, value)
            if not low <= number <= high:
                raise ValueError(f"{name}: expected {low}..{high}, got {number}")
            object.__setattr__(self, name, number)
        if type(self.type) is not CardType:
            object.__setattr__(self, "type", _member("type", self.type, _TYPES))
        if type(self.area) is not Area:
            object.__setattr__(self, "area", _member("area", self.area, _AREAS))
        if type(self.abilities) is not str or self.abilities not in ABILITY_BITS:
            raise ValueError(
                f"abilities: expected six characters, each of {ABILITIES} in its place or -,"
                f" got {self.abilities!r}"
            )
        if not isinstance(self.name, str):
            raise ValueError(f"name: expected a string, got {self.name!r}")

    def __deepcopy__(self, memo: object) -> Self:
        return self  # as nothing can change it; environments are copied with all their cards

    @classmethod
    def from_row(cls, row: Sequence[int | str]) -> Self:
        """Return the card of a row in the order of the protocol's columns.

        Parameters
        ----------
        row : sequence of int or str
            Base id, type, cost, attack, defense, abilities, my health change, opponent health
            change, card draw and, in 1.5, area: 9 or 10 values.

        Raises
        ------
        ValueError
            The row has another length, or a value is out of range.
        """
        if isinstance(row, str) or not isinstance(row, Sequence) or len(row) not in (9, 10):
            raise ValueError(f"card row: expected nine or ten values, got {row!r}")
        return cls(*row)  # type: ignore[arg-type]

    def to_row(self) -> list[int | str]:
        """Return the ten values of `from_row`: plain integers and one string."""
        return [
            self.base_id,
            int(self.type),
            self.cost,
            self.attack,
            self.defense,
            self.abilities,
            self.my_health_change,
            self.opponent_health_change,
            self.card_draw,
            int(self.area),
        ]


def _member(name: str, value: object, members: Mapping[int, _T]) -> _T:
    number = integer(name, value)
    if number not in members:
        raise ValueError(f"{name}: expected {min(members)}..{max(members)}, got {number}")
    return members[number]


# ---------------------------------------------------------------------------- card list files

_TYPE_WORD = {kind: word for word, kind in TYPE_WORDS.items()}
_AREA_WORD = {area: word for word, area in AREA_WORDS.items()}
# Compiled on first use: few importers of this module read card lists.
_INTEGER = re.compile(r"[+-]?\d+")
_SEPARATOR = r"(?a)\s*;\s*"
_UNSAVABLE = r"[;\r\n]|//|^\s|\s$"


def load_cards(path: str | os.PathLike[str]) -> list[Card]:
    """Load the cards of a card list file, in the order of the file.

    The format is that of the official referee (``predefinedCardListFile``). A file without the area
    column, as in 1.x, is read with every area ``target``.

    Parameters
    ----------
    path : str or path
        The file.

    Raises
    ------
    ValueError
        A line is wrong, or a base id occurs twice; the message names the file and the line.
    """
    rows = list(_rows(path))
    if not rows:
        raise ValueError(f"{path}: the file contains no cards")
    # Without an area column, the eleventh is free text: only the whole file shows which it is.
    with_area = any(len(columns) > 10 and columns[10] in AREA_WORDS for _, columns in rows)
    first_line: dict[int, int] = {}
    cards = []
    for line, columns in rows:
        try:
            card = _card_of_columns(columns, with_area)
        except ValueError as error:
            raise ValueError(f"{path}, line {line}: {error}") from None
        if card.base_id in first_line:
            raise ValueError(
                f"{path}, line {line}: base id {card.base_id} is already that of line"
                f" {first_line[card.base_id]}"
            )
        first_line[card.base_id] = line
        cards.append(card)
    return cards


def save_cards(path: str | os.PathLike[str], cards: Iterable[Card]) -> None:
    """Write a card list file that `load_cards` and the referee read back as the same cards.

    If this fails, an existing file is unchanged.

    Parameters
    ----------
    path : str or path
        The file to write.
    cards : iterable of Card
        At least one card, each with its own base id. A name may not contain ``;``, ``//``, a line
        break or outer blanks.

    Raises
    ------
    ValueError
        The cards cannot be written in this format.
    """
    lines = []
    seen: set[int] = set()
    for card in cards:
        if re.search(_UNSAVABLE, card.name):
            raise ValueError(
                f"card {card.base_id}: a card list file cannot hold the name {card.name!r}"
            )
        if card.base_id in seen:
            raise ValueError(f"base id {card.base_id} occurs twice")
        seen.add(card.base_id)
        values = card.to_row()[2:-1]
        columns = [card.base_id, card.name, _TYPE_WORD[card.type], *values, _AREA_WORD[card.area]]
        lines.append(" ; ".join(map(str, columns)) + " ;\n")
    if not lines:
        raise ValueError("no cards to save")
    from locmsim.support.files import write_whole

    write_whole(path, "".join(lines))


@cache
def cards_1x() -> tuple[Card, ...]:
    """Return the fixed 160 cards of rules 1.0 and 1.2, base ids 1 to 160 in order."""
    from locmsim.support.files import data_file

    return tuple(load_cards(data_file("cards-1x.txt")))


@cache
def equal_cards_1x() -> tuple[int, ...]:
    """Return for each of `cards_1x` the index of the first one that is worth the same.

    Three pairs of cards differ in nothing but base id and name.
    """
    first: dict[tuple[object, ...], int] = {}
    cards = enumerate(cards_1x())
    return tuple(first.setdefault(tuple(card.to_row()[1:]), i) for i, card in cards)


def _rows(path: str | os.PathLike[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the columns of each line that is not blank or only a comment."""
    with open(path, "rb") as file:
        raw = file.read()
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise ValueError(f"{path}, line {line}: not UTF-8 text") from None
    for line, content in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        content = content.partition("//")[0].strip()
        if content:
            yield line, re.split(_SEPARATOR, content)


def _card_of_columns(columns: list[str], with_area: bool) -> Card:
    needed = 11 if with_area else 10
    if len(columns) < needed:
        raise ValueError(f"expected at least {needed} columns, got {len(columns)}")
    base_id, name, kind, cost, attack, defense, abilities, my, opponent, draw = columns[:10]
    return Card(
        base_id=named_integer("id", base_id),
        type=parse_word("type", kind, TYPE_WORDS),
        cost=named_integer("cost", cost),
        attack=named_integer("attack", attack),
        defense=named_integer("defense", defense),
        abilities=abilities,
        my_health_change=named_integer("my health change", my),
        opponent_health_change=named_integer("opponent health change", opponent),
        card_draw=named_integer("card draw", draw),
        area=parse_word("area", columns[10], AREA_WORDS) if with_area else Area.TARGET,
        name=name,
    )


def parse_integer(text: str, bits: int = 32) -> int | None:
    """Return the signed integer of `bits` bits that the referee's language reads, or None.

    An integer is an optional sign and decimal digits of any script that take one UTF-16 unit each.

    Parameters
    ----------
    text : str
        A word of a line.
    bits : int
        The size of the integer.
    """
    if not _INTEGER.fullmatch(text) or max(text) > "\uffff":
        return None
    if len(text) > 20:  # may have leading zeros; `int` refuses thousands of digits
        digits = "".join([str(int(digit)) for digit in text.lstrip("+-")]).lstrip("0")
        if len(digits) > 19:
            return None
        text = "-" * text.startswith("-") + (digits or "0")
    value = int(text)
    return value if -1 << bits - 1 <= value < 1 << bits - 1 else None


def named_integer(name: str, text: str) -> int:
    """Return what `parse_integer` does; ``ValueError`` with `name` if that is None.

    Parameters
    ----------
    name : str
        What it is, for the message.
    text : str
        A word of a line.
    """
    value = parse_integer(text)
    if value is None:
        raise ValueError(f"{name}: expected an integer, got {text!r}")
    return value


def parse_word(name: str, text: str, words: Mapping[str, _T]) -> _T:
    """Return `text` if it is one of `words`; ``ValueError`` with `name` and all of them.

    Parameters
    ----------
    name : str
        What it is, for the message.
    text : str
        A word of a line.
    words : mapping of str to anything
        The words that are expected, with what each stands for.
    """
    if text not in words:
        raise ValueError(f"{name}: expected one of {', '.join(words)}, got {text!r}")
    return words[text]
