"""Positions to count, to measure and to keep in files.

A position file is one JSON object: ``rules``, ``snapshot`` as of `State.snapshot` (docs/rules.md,
section 13), ``cards`` as rows of `Card.to_row` (those that occur and those that hidden places may
hold), ``decks`` as for `State.from_snapshot`.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from locmsim._core import State
from locmsim._io import write_whole
from locmsim.javarandom import JavaRandom
from locmsim.rules.cards import Card, cards_1x
from locmsim.rules.generator import generate_cards
from locmsim.rules.rulesets import COPIES_PER_CARD, DECK_SIZE, get_rules

__all__ = [
    "divide",
    "load_position",
    "position_of",
    "random_game",
    "save_position",
    "start_position",
]


def start_position(seed: int, rules: str = "1.5") -> State:
    """The start of a battle between two random decks.

    Each has 30 of the seed's 120 generated cards (1.x: of the fixed 160), none more than twice.
    """
    cards = list(cards_1x()) if get_rules(rules).draft else generate_cards(seed)
    random = JavaRandom(seed)
    copies = cards * COPIES_PER_CARD
    decks = []
    for _ in range(2):
        random.shuffle(copies)
        decks.append(copies[:DECK_SIZE])
    return State.new(*decks, rules=rules, pool=cards)


def random_game(start: State, seed: int) -> Iterator[tuple[State, int]]:
    """A game of uniformly random actions from `start`: each position, and the action taken there.

    Every position is a state of its own, which callers may keep.
    """
    random = JavaRandom(seed)
    state = start.clone()
    while actions := state.legal_actions():
        action = actions[random.next_int(len(actions))]
        yield state, action
        state = state.child(action)


def divide(state: State, depth: int) -> Iterator[tuple[str, int]]:
    """Each legal action's text, and the sequences of `depth` legal actions that start with it."""
    for action in state.legal_actions():
        yield state.action_to_string(action), state.child(action).perft(depth - 1)


def save_position(path: str | os.PathLike[str], state: State) -> None:
    """Write a position file, for `load_position`.

    ``ValueError`` if two cards of the game differ and have the same base id.
    """
    players = state.players
    cards: dict[int, Card] = {}
    held = [item.card for p in players for item in (*p.hand, *p.deck)]
    played = [creature.card for p in players for creature in p.board]
    for card in (*state.table.pool, *held, *played):
        if cards.setdefault(card.base_id, card) != card:
            raise ValueError(f"two different cards have the base id {card.base_id}")
    position = {
        "rules": state.rules,
        "snapshot": state.snapshot(),
        "cards": [card.to_row() for card in cards.values()],
        "decks": [[[item.id, item.card.base_id] for item in (*p.hand, *p.deck)] for p in players],
    }
    write_whole(path, json.dumps(position) + "\n")


def load_position(path: str | os.PathLike[str], rules: str | None = None) -> State:
    """The state of a position file, whose ``rules`` may be missing if they are given here.

    ``OSError`` if it cannot be read; ``ValueError`` names the file and what is wrong in it.
    """
    try:
        return position_of(_json(Path(path).read_text(encoding="utf-8")), rules)
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from None


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"no JSON: {error}") from None


def position_of(position: Any, rules: str | None = None) -> State:
    """The state of what a position file has; ``ValueError``, as for `load_position`."""
    if not isinstance(position, dict):
        raise ValueError(f"expected a JSON object, got {type(position).__name__}")
    for key in ("snapshot", "cards", "decks"):
        if key not in position:
            raise ValueError(f"{key}: missing")
    own = position.get("rules", rules or "1.5")
    if not isinstance(own, str):
        raise ValueError(f"rules: expected a string, got {own!r}")
    if rules not in (None, own):
        raise ValueError(f"rules: the position is one of {own}, not of {rules}")
    if not isinstance(position["cards"], list):
        raise ValueError("cards: expected a list of card rows")
    cards = []
    for number, row in enumerate(position["cards"]):
        try:
            cards.append(Card.from_row(row))
        except (ValueError, TypeError) as error:
            raise ValueError(f"cards[{number}]: {error}") from None
    return State.from_snapshot(position["snapshot"], cards, position["decks"], own)
