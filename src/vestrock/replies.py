"""Parsing of the lines of a server's replies."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from vestrock.deck import Card

Lines = Sequence[str]


class TurnInfo(NamedTuple):
    """The answer to ``GET_TURN_INFO``.

    Attributes
    ----------
    own : bool
        Whether it is the caller's turn.
    left : int
        Turns left, the running one included.
    """

    own: bool
    left: int


class Health(NamedTuple):
    """The answer to ``GET_HP``.

    Attributes
    ----------
    initial : int
        The initial health, which is also the maximum.
    own, opponent : int
        That of the caller and of the opponent.
    """

    initial: int
    own: int
    opponent: int


class Limits(NamedTuple):
    """The answer to ``GET_CARD_LIMITS``.

    Attributes
    ----------
    draws, burns : int
        How many cards the mover may draw and burn in a turn.
    hand : int
        How many cards a hand may have.
    """

    draws: int
    burns: int
    hand: int


class BoardCard(NamedTuple):
    """A creature on a board, with its current values.

    Attributes
    ----------
    card : Card
        The card, with its current values.
    active : bool
        Whether it is active.
    """

    card: Card
    active: bool


#: Parses the card of a line, cached: a client reads the same hundred cards repeatedly.
card = lru_cache(maxsize=16384)(Card.parse)


def numbers(line: str, count: int) -> list[int]:
    """Parse a line of integers; ``ValueError`` if their number is wrong."""
    words = line.split()
    if len(words) != count:
        raise ValueError(f"expected {count} numbers, got {line!r}")
    return [int(word) for word in words]


def number(lines: Lines) -> int:
    """Parse the only number of a reply."""
    return numbers(lines[0], 1)[0]


def turn_info(lines: Lines) -> TurnInfo:
    """Parse whose turn it is, and how many turns are left."""
    own, left = numbers(lines[0], 2)
    return TurnInfo(own == 1, left)


def health(lines: Lines) -> Health:
    """Parse the initial, the player's and the opponent's health."""
    return Health(*numbers(lines[0], 3))


def limits(lines: Lines) -> Limits:
    """Parse how many draws and burns are left, and the maximum size of a hand."""
    return Limits(*numbers(lines[0], 3))


def cards(lines: Lines) -> list[Card]:
    """Parse the cards of a reply that begins with their number."""
    return [card(line) for line in lines[1:]]


def hands(lines: Lines) -> tuple[list[Card], list[Card]]:
    """Parse the player's and the opponent's cards."""
    own = _own(lines)
    return [card(line) for line in lines[1:own]], [card(line) for line in lines[own:]]


def boards(lines: Lines) -> tuple[list[BoardCard], list[BoardCard]]:
    """Parse the player's and the opponent's creatures."""
    own = _own(lines)
    found = []
    for line in lines[1:]:
        text, _, flag = line.rpartition(" ")
        found.append(BoardCard(card(text), flag == "1"))
    return found[: own - 1], found[own - 1 :]


def _own(lines: Lines) -> int:
    """Return the index of the opponent's first line, after a first line with both counts."""
    own, other = numbers(lines[0], 2)
    if own + other != len(lines) - 1:
        raise ValueError("the counts of GET_HANDS or GET_BOARD do not match the lines")
    return 1 + own


def attackers(lines: Lines) -> set[int]:
    """Parse the IDs of the attacking creatures."""
    return {int(line.partition(" ")[0]) for line in lines[1:]}


def snapshot(
    replies: Mapping[str, Lines], turns: int, *, action_phase: bool = False
) -> dict[str, Any]:
    """Return the mover's position in the form of `vestrock.State.snapshot`.

    Parameters
    ----------
    replies : mapping
        The lines after ``OK`` by command word, for all questions about a position;
        ``GET_CURRENT_MANA`` may be missing at the start of a turn, when mana is 0.
    turns : int
        Number of turns of the match.
    action_phase : bool
        Whether the blocking phase is over.

    Raises
    ------
    ValueError, IndexError
        A reply is malformed.
    """
    turn = turns - turn_info(replies["GET_TURN_INFO"]).left + 1
    left, of_health = limits(replies["GET_CARD_LIMITS"]), health(replies["GET_HP"])
    attacking = attackers(replies["GET_ATTACKERS"])
    # Replies have the caller first; a snapshot has the player first who moved in turn 1.
    order = 1 if turn % 2 else -1
    return {
        "turn": turn,
        "phase": "action" if action_phase else "blocking",
        "health": [of_health.own, of_health.opponent][::order],
        "mana": number(replies["GET_CURRENT_MANA"]) if "GET_CURRENT_MANA" in replies else 0,
        "draws": left.draws,
        "burns": left.burns,
        "deck": number(replies["GET_DECK"]),
        "hands": [[c.id for c in part] for part in hands(replies["GET_HANDS"])][::order],
        "boards": [
            [
                {
                    "id": c.id,
                    "attack": c.attack,
                    "health": c.health,
                    "max_health": c.max_health,
                    "active": active,
                    "attacking": c.id in attacking,
                    "blocked": False,
                }
                for c, active in part
            ]
            for part in boards(replies["GET_BOARD"])
        ][::order],
    }
