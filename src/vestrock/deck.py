"""Cards and decks of Vestrock: their definitions, their files, and two generators.

Section numbers are those of docs/vestrock/rules.md.
"""

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from locmsim.gamekit import whole, write_whole
from locmsim.javarandom import JavaRandom

#: The types of cards: creature, heal, damage, take, buff, deactivate.
TYPES = "CHDTBI"
MAX_CARDS = 1000
MAX_ID = 1000
MAX_VALUE = 100

#: Which of AT, HP, HPMAX have a meaning, for each type; COST always has one.
_MEANINGFUL = {
    "C": ("attack", "health", "max_health"),
    "H": ("health",),
    "D": ("attack",),
    "T": ("attack",),
    "B": ("attack", "health"),
    "I": (),
}
_COLUMNS = {
    "attack": "AT",
    "health": "HP",
    "max_health": "HPMAX",
    "cost": "COST",
    "mana": "MANA",
}


class Card(NamedTuple):
    """A card as it is in the deck, with seven values (docs/vestrock/rules.md, section 2).

    Parameters
    ----------
    id : int
        The card's ID.
    type : str
        "C" for a creature, or the letter of a spell.
    attack, health, max_health : int
        The values with which a creature enters the board. The strength of a spell is in `attack`
        (D, T, B) and `health` (H, B); its other values have no meaning, but are kept and shown.
    cost : int
        The mana that playing the card costs.
    mana : int
        The mana that tapping the creature gives; -1 for a spell.
    """

    id: int
    type: str
    attack: int
    health: int
    max_health: int
    cost: int
    mana: int

    def __str__(self) -> str:
        return " ".join(map(str, self))

    @classmethod
    def parse(cls, text: str) -> "Card":
        """Parse a card from a line ``ID TYPE AT HP HPMAX COST MANA``.

        Parameters
        ----------
        text
            Seven values, separated by blanks or tabs.

        Returns
        -------
        Card
            The card, not checked against the bounds of a deck.

        Raises
        ------
        ValueError
            The number of values is not seven, or one that must be an integer is not an integer.
        """
        words = text.split()
        if len(words) != 7:
            raise ValueError(f"expected seven values ID TYPE AT HP HPMAX COST MANA, got {text!r}")
        numbers = [_integer(word) for word in words[:1] + words[2:]]
        return cls(numbers[0], words[1], *numbers[1:])


def _integer(word: str) -> int:
    if not re.fullmatch(r"-?[0-9]{1,9}", word):
        raise ValueError(f"expected an integer, got {word!r}")
    return int(word)


def _fault(card: Card) -> str | None:
    """Return what is wrong with a card, without regard to the other cards; None if valid."""
    if card.type not in _MEANINGFUL:
        return f"TYPE: expected one of {', '.join(TYPES)}, got {card.type!r}"
    if not 1 <= card.id <= MAX_ID:
        return f"ID: expected 1..{MAX_ID}, got {card.id}"
    for field, column in _COLUMNS.items():
        value = getattr(card, field)
        if not -MAX_VALUE <= value <= MAX_VALUE:
            return f"{column}: expected {-MAX_VALUE}..{MAX_VALUE}, got {value}"
    for field in (*_MEANINGFUL[card.type], "cost"):
        if getattr(card, field) < 0:
            return f"{_COLUMNS[field]}: expected at least 0, got {getattr(card, field)}"
    if card.type != "C":
        return None if card.mana == -1 else f"MANA: expected -1 for a spell, got {card.mana}"
    if card.mana < 0:
        return f"MANA: expected at least 0, got {card.mana}"
    if not 0 < card.health <= card.max_health:
        return f"HP: expected 1..HPMAX = {card.max_health}, got {card.health}"
    return None


def check_deck(cards: Iterable[Card], names: Sequence[str] | None = None) -> list[Card]:
    """Return the cards as a list if they form a valid deck (section 2).

    Parameters
    ----------
    cards
        The cards, top first.
    names
        Names of the cards for error messages; by default ``card 0``, ``card 1``...

    Returns
    -------
    list of Card
        The same cards.

    Raises
    ------
    ValueError
        A value is out of bounds or an ID occurs twice (the message names the card), or the deck is
        empty or has more than 1000 cards.
    """
    deck = list(cards)
    seen: dict[int, str] = {}
    for i, card in enumerate(deck):
        name = f"card {i}" if names is None else names[i]
        if not isinstance(card, Card):
            raise ValueError(f"{name}: expected a Card, got {card!r}")
        fault = _fault(card)
        if fault is None and card.id in seen:
            fault = f"ID: {card.id} is that of {seen[card.id]} too"
        if fault is not None:
            raise ValueError(f"{name}: {fault}")
        seen[card.id] = name
    if not 1 <= len(deck) <= MAX_CARDS:
        raise ValueError(f"a deck has 1..{MAX_CARDS} cards, got {len(deck)}")
    return deck


def parse_deck(text: str) -> list[Card]:
    """Parse the text of a deck file: one card per line, top of the deck first (section 2).

    Lines that are blank or start with ``#`` are skipped.

    Parameters
    ----------
    text
        Content of the file.

    Returns
    -------
    list of Card
        The cards, top first.

    Raises
    ------
    ValueError
        The text is not a valid deck; the message names the line.
    """
    cards = []
    names = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        names.append(f"line {number}")
        try:
            cards.append(Card.parse(line))
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None
    return check_deck(cards, names)


def format_deck(cards: Iterable[Card]) -> str:
    """Return a deck as the text of its file, the inverse of `parse_deck`.

    Parameters
    ----------
    cards : iterable of Card
        The deck, top first.
    """
    return "".join(f"{card}\n" for card in cards)


def load_deck(path: str | os.PathLike[str]) -> list[Card]:
    """Read a deck from a file.

    Parameters
    ----------
    path
        A file in the format that `save_deck` writes.

    Returns
    -------
    list of Card
        The cards, top first.

    Raises
    ------
    ValueError
        The file does not contain a valid deck; the message names file and line.
    OSError
        The file cannot be read.
    """
    try:
        return parse_deck(Path(path).read_text(encoding="ascii"))
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from None


def save_deck(path: str | os.PathLike[str], cards: Iterable[Card]) -> None:
    """Write a deck to a file; if this fails, the file is left as it was.

    Parameters
    ----------
    path : str or path
        The file.
    cards : iterable of Card
        The deck, top first.

    Raises
    ------
    ValueError
        The cards are not a valid deck.
    """
    write_whole(path, format_deck(check_deck(cards)))


# ---- generators ----------------------------------------------------------------------------------

#: Number of cards of each kind among 100, in the order in which the cards are generated: M for
#: creatures that give mana, F for creatures that fight, then the types of spells.
_SHARES = {"M": 22, "F": 46, "H": 6, "D": 10, "T": 5, "B": 8, "I": 3}


def _counts(n: int) -> dict[str, int]:
    """Return how many of `n` cards are of each kind, by the method of largest remainders."""
    counts = {kind: share * n // 100 for kind, share in _SHARES.items()}
    by_remainder = sorted(_SHARES, key=lambda kind: -(_SHARES[kind] * n % 100))
    for kind in by_remainder[: n - sum(counts.values())]:
        counts[kind] += 1
    return counts


def _values(
    kind: str, j: int, count: int, random: JavaRandom
) -> tuple[str, int, int, int, int, int]:
    """Return TYPE, AT, HP, HPMAX, COST and MANA of the j-th of `count` cards of a kind."""
    r = random.next_int
    attack = health = cost = 0
    if kind == "M":
        cost = 0 if 2 * j < count else 1 + r(2)
        mana = 1 if cost == 0 else 1 + cost - r(2)
        attack = 1 if r(4) == 0 else 0
        health = 1 + r(2)
        return "C", attack, health, health + (r(4) == 0), cost, mana
    if kind == "F":
        cost = 1 + min(r(8), r(8))
        attack = 1 + r(cost // 2 + 1)
        health = 1 + cost // 2 + r(cost // 2 + 2)
        maximum = health + (r(5) == 0)
        return "C", attack, health, maximum, cost, 1 if r(8) == 0 else 0
    if kind == "H":
        health = 2 + r(4)
        cost = health // 2
    elif kind == "D":
        attack = 1 + r(5)
        cost = attack + r(2)
    elif kind == "T":
        attack = 1 + r(3)
        cost = attack + r(2)
    elif kind == "B":
        attack, health = r(3), r(4)
        if not attack and not health:
            attack = health = 1
        cost = max(1, (attack + health + 1) // 2 + r(2))
    else:
        cost = 1 + r(2)
    return kind, attack, health, 0, cost, -1


def generate_deck(seed: int, n: int = 100) -> list[Card]:
    """Return a deck of the standard generator (section 2), fully determined by its arguments.

    Parameters
    ----------
    seed
        Any integer; its lowest 48 bits count, as for ``java.util.Random``.
    n
        Number of cards, 1..1000.

    Returns
    -------
    list of Card
        Cards with the IDs 1..n, top first.

    Raises
    ------
    ValueError
        If `n` is out of bounds.
    """
    n = whole("n", n, 1, MAX_CARDS)
    random = JavaRandom(seed)
    cards: list[Card] = []
    for kind, count in _counts(n).items():
        for j in range(count):
            cards.append(Card(len(cards) + 1, *_values(kind, j, count, random)))
    random.shuffle(cards)
    # Make sure that both players can draw a free creature that gives mana in their first two turns.
    free = [card.cost == 0 and card.mana > 0 for card in cards]
    for k in range(0, min(8, n), 2):
        if not any(free[k : k + 2]):
            other = next((i for i in range(k + 2, n) if free[i]), None)
            if other is not None:
                cards[k], cards[other] = cards[other], cards[k]
                free[k], free[other] = free[other], free[k]
    return cards


def extreme_deck(seed: int, n: int = 100) -> list[Card]:
    """Return a deck with extreme values, for tests: IDs from 1..1000, values from 0..100.

    Parameters
    ----------
    seed
        Any integer.
    n
        Number of cards, 1..1000.

    Returns
    -------
    list of Card
        The cards, top first.

    Raises
    ------
    ValueError
        If `n` is out of bounds.
    """
    n = whole("n", n, 1, MAX_CARDS)
    random = JavaRandom(seed)
    r = random.next_int
    ids = list(range(1, MAX_ID + 1))
    random.shuffle(ids)
    cards = []
    for number in ids[:n]:
        kind = TYPES[r(len(TYPES))]
        attack, health, more, cost, mana = (r(MAX_VALUE + 1) for _ in range(5))
        if kind == "C":
            health = max(health, 1)
            cards.append(Card(number, kind, attack, health, max(health, more), cost, mana))
        else:
            cards.append(Card(number, kind, attack, health, more, cost, -1))
    return cards
