"""Conversion of positions to and from short texts, and from the server's replies.

An example of such a text is ``[t3 bl A10 B7 m2 l2/2 | A h7,8 b3,5-,4(3/1/4)! | B h9 | D 1,2]``
(docs/vestrock/rules.md, section 7). It begins with the turn, the phase, the players' health, the
mana, and the draws and burns left. Each player's hand and board follow: ``-`` marks an inactive
creature, ``!`` an attacker and ``*`` a blocked one; a creature whose values differ from those of
its card has its attack, health and maximum health in parentheses. The deck comes last, top first.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from vestrock import replies as read
from vestrock._core import State, Table
from vestrock.deck import Card
from vestrock.options import ParameterValues
from vestrock.protocol import POSITION_QUESTIONS

_CREATURE = re.compile(r"(\d+)(?:\((-?\d+)/(-?\d+)/(-?\d+)\))?([-!*]*)")
_PLAYERS = "AB"


def state_to_text(state: State) -> str:
    """Return the position as one line of text.

    Parameters
    ----------
    state
        The position. The text contains neither its parameters nor whether the match is over.

    Returns
    -------
    str
        A text that `state_from_text` can read.
    """
    parameters = state.table.parameters
    phase = "ac" if state.phase == "action" else "bl"
    head = [f"t{state.turn} {phase} A{state.health[0]} B{state.health[1]}"]
    if state.mana:
        head.append(f"m{state.mana}")
    if (state.draws_left, state.burns_left) != (parameters["draws"], parameters["burns"]):
        head.append(f"l{state.draws_left}/{state.burns_left}")
    parts = [" ".join(head)]
    for player, name in enumerate(_PLAYERS):
        words = [name]
        if hand := state.hand(player):
            words.append("h" + ",".join(str(card.id) for card in hand))
        if board := state.board(player):
            creatures = []
            for creature in board:
                card = creature.card
                values = (creature.attack, creature.health, creature.max_health)
                text = str(card.id)
                if values != (card.attack, card.health, card.max_health):
                    text += "({}/{}/{})".format(*values)
                if creature.attacking:
                    text += "!" + "*" * creature.blocked
                elif not creature.active:
                    text += "-"
                creatures.append(text)
            words.append("b" + ",".join(creatures))
        if len(words) > 1:
            parts.append(" ".join(words))
    if deck := state.deck:
        parts.append("D " + ",".join(str(card.id) for card in deck))
    return f"[{' | '.join(parts)}]"


def state_from_text(
    text: str,
    cards: Sequence[Card],
    **parameters: Unpack[ParameterValues],
) -> State:
    """Parse the text of a position, the inverse of `state_to_text`.

    Parameters
    ----------
    text
        The position; the brackets around it may be missing.
    cards
        The cards of the match, in any order: the order of the deck is in the text. Cards that the
        text does not name have been removed from the match.
    **parameters
        Parameters of the match, as for `Table`; the text does not contain them.

    Returns
    -------
    State
        The position, with a new table in which the cards of the deck come last.

    Raises
    ------
    ValueError
        The text is malformed; the message names the word that is wrong.
    """
    head, *parts = (
        part.strip() for part in text.strip().removeprefix("[").removesuffix("]").split("|")
    )
    values: dict[str, str] = {}
    for word in head.split():
        match = re.fullmatch(r"(t|A|B|m|l|ac|bl)([\d/]*)", word)
        if match is None or match[1] in values:
            raise ValueError(f"position: unexpected {word!r} in {text!r}")
        values[match[1]] = match[2]
    hands: list[list[int]] = [[], []]
    boards: list[list[dict[str, Any]]] = [[], []]
    deck: list[int] = []
    by_id = {card.id: card for card in cards}
    for part in parts:
        name, *words = part.split()
        if name == "D" and len(words) == 1:
            deck = _ids(words[0])
            continue
        if name not in ("A", "B"):
            raise ValueError(f"position: unexpected {part!r} in {text!r}")
        player = _PLAYERS.index(name)
        for word in words:
            if word[0] == "h":
                hands[player] = _ids(word[1:])
            elif word[0] == "b":
                boards[player] = [_creature(w, by_id) for w in word[1:].split(",")]
            else:
                raise ValueError(f"position: unexpected {word!r} in {text!r}")
    for number in deck:
        if number not in by_id:
            raise ValueError(f"position: no card {number} in the deck")
    table = Table(
        [card for card in cards if card.id not in set(deck)] + [by_id[number] for number in deck],
        **parameters,
    )
    draws_left, burns_left = _pair(values.get("l", "{draws}/{burns}".format(**table.parameters)))
    try:
        snapshot = {
            "turn": int(values["t"]),
            "phase": "action" if "ac" in values else "blocking",
            "health": [int(values["A"]), int(values["B"])],
            "mana": int(values.get("m", "0")),
            "draws": draws_left,
            "burns": burns_left,
            "deck": len(deck),
            "hands": hands,
            "boards": boards,
        }
    except KeyError as error:
        raise ValueError(f"position: {error} is missing in {text!r}") from None
    return State.from_snapshot(snapshot, table)


def _ids(text: str) -> list[int]:
    if not re.fullmatch(r"\d+(,\d+)*", text):
        raise ValueError(f"position: expected IDs between commas, got {text!r}")
    return [int(word) for word in text.split(",")]


def _pair(text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if match is None:
        raise ValueError(f"position: expected draws/burns, got {text!r}")
    return int(match[1]), int(match[2])


def _creature(text: str, by_id: Mapping[int, Card]) -> dict[str, Any]:
    """Return a creature of a position text as a row of a snapshot."""
    match = _CREATURE.fullmatch(text)
    if match is None or int(match[1]) not in by_id:
        raise ValueError(f"position: expected a creature of the deck, got {text!r}")
    card = by_id[int(match[1])]
    if match[2] is None:
        attack, health, maximum = card.attack, card.health, card.max_health
    else:
        attack, health, maximum = int(match[2]), int(match[3]), int(match[4])
    return {
        "id": card.id,
        "attack": attack,
        "health": health,
        "max_health": maximum,
        "active": not match[5],
        "attacking": "!" in match[5],
        "blocked": "*" in match[5],
    }


# ---- replies of a server -------------------------------------------------------------------------


def state_from_replies(
    replies: Mapping[str, Sequence[str]],
    deck: Sequence[Card] | None = None,
    *,
    turns: int = 60,
    draws: int = 2,
    burns: int = 2,
    action_phase: bool = False,
) -> State:
    """Build the mover's position from the server's replies.

    At the start of a turn, the replies describe the position completely. Later in the turn they do
    not say which attackers are blocked and whether the blocking phase is over: this function treats
    all attackers as unblocked.

    Parameters
    ----------
    replies
        The lines of each reply, with or without ``OK``, by command word. The words are
        ``GET_TURN_INFO, GET_HP, GET_CARD_LIMITS, GET_DECK, GET_HANDS, GET_BOARD, GET_ATTACKERS``
        and optionally ``GET_CURRENT_MANA``.
    deck
        The whole deck of the match in turn 1, top first. By default, the deck consists of the cards
        in the replies, and creatures on the board have their current values.
    turns, draws, burns
        Parameters of the match that are not in the replies.
    action_phase
        Whether the blocking phase is over.

    Returns
    -------
    State
        The position; the caller is player 0 if the turn is odd.

    Raises
    ------
    ValueError
        A reply is missing or malformed; the message names it.
    """
    lines: dict[str, Sequence[str]] = {}
    for word in POSITION_QUESTIONS:
        if word in replies:
            reply = list(replies[word])
            lines[word] = reply[1:] if reply[:1] == ["OK"] else reply
        elif word != "GET_CURRENT_MANA":
            raise ValueError(f"replies: {word} is missing")
    try:
        if not read.turn_info(lines["GET_TURN_INFO"]).own:
            raise ValueError("GET_TURN_INFO says that it is the other player's turn")
        snapshot = read.snapshot(lines, turns, action_phase=action_phase)
        if deck is None:
            deck = _seen(lines)
        init_hp = read.health(lines["GET_HP"]).initial
        hand_limit = read.limits(lines["GET_CARD_LIMITS"]).hand
    except (IndexError, ValueError) as error:
        raise ValueError(f"replies: {error}") from None
    table = Table(
        deck, init_hp=init_hp, turns=turns, draws=draws, burns=burns, hand_limit=hand_limit
    )
    return State.from_snapshot(snapshot, table)


def _seen(lines: Mapping[str, Sequence[str]]) -> list[Card]:
    """Return all cards in the replies, with those of the deck last."""
    hands = [card for hand in read.hands(lines["GET_HANDS"]) for card in hand]
    boards = [card for board in read.boards(lines["GET_BOARD"]) for card, _ in board]
    return [*hands, *boards, *read.cards(lines["GET_DECK"])]
