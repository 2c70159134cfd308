"""Positions and cards as plain data, for the scripts of the pages."""

import zlib
from collections.abc import Container, Iterable, Sequence
from functools import lru_cache
from typing import Any, Final

from locmsim._core import State
from locmsim.art import (
    BADGES,
    NUMBER_SIZES,
    badge_svg,
    card_description,
    card_svg,
    card_title,
    card_titles,
)
from locmsim.game.action_text import action_words
from locmsim.rules.cards import Card
from locmsim.rules.rulesets import RULES

#: The name of the person who plays on the pages.
PERSON: Final = "You"


def seat_names(names: Sequence[str]) -> list[str]:
    """Return what pages call players, also those without a name."""
    return [name or f"Player {seat}" for seat, name in enumerate(names)]


def told_apart(names: Sequence[str]) -> list[str]:
    """Return the `seat_names` of a match, of which two that are the same name their seats."""
    found = seat_names(names)
    if found[0] != found[1]:
        return found
    return [f"{found[0]} (first)", f"{found[1]} (second)"]


class Cards:
    """The cards of a page, each with a key; cards that differ may have the same base id."""

    def __init__(self, cards: Iterable[Card] = ()) -> None:
        self._keys: dict[Card, str] = {}
        self.titles = card_titles(cards)

    def key(self, card: Card) -> str:
        """Return the key of a card: the same on every page, so that they can be put together."""
        known = self._keys.get(card)
        if known is None:
            row = card.to_row()
            known = self._keys[card] = f"{row[0]}-{zlib.crc32(repr(row).encode()):x}"
        return known

    def known(self) -> set[Card]:
        """Return the cards that have a key by now."""
        return set(self._keys)

    def title(self, card: Card) -> str:
        """Return what a card is called."""
        return self.titles.get(card) or card_title(card)

    def to_json(self, drawn: Container[Card] | None = None, start: int = 0) -> dict[str, Any]:
        """Return all cards that have a key, and what a page needs to draw them."""
        return {
            "cards": {
                key: self._data(card, drawn is None or card in drawn)
                for card, key in [*self._keys.items()][start:]
            },
            "badges": {letter: badge_svg(letter) for letter in BADGES},
            "numbers": NUMBER_SIZES,
        }

    def _data(self, card: Card, picture: bool) -> dict[str, Any]:
        title = self.title(card)
        data = {"title": title, "about": card_description(card, title), "row": card.to_row()}
        if picture:
            data["svg"] = _picture(card)
        return data


@lru_cache(maxsize=512)
def _picture(card: Card) -> str:
    """Return the picture of a card, which each answer about a match has again."""
    return card_svg(card, title="")  # the page adds it: a name may hold what XML cannot


def match_page(
    rules: str,
    names: Sequence[str],
    cards: Cards,
    steps: list[dict[str, Any]],
    *,
    drawn: Container[Card] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Return what the page of a match is made from, as of `locmsim.web.replay_data`."""
    return {
        "rules": rules,
        "lanes": RULES[rules].lanes,
        "names": names,
        "scores": None,
        "winner": None,
        "fault": None,
        "params": {},
        "stderr": ["", ""],
        "seat": None,
        **cards.to_json(drawn),
        "choice": [[], []],
        "offers": [],
        "steps": steps,
        **more,
    }


def board_data(state: State, cards: Cards, hidden: int | None) -> dict[str, Any]:
    """Return a position as a page draws it, with the hand of the player `hidden` left out."""
    over = state.is_terminal()
    sides = []
    for player, side in enumerate(state.players):
        sides.append(
            {
                "health": side.health,
                "mana": side.mana,
                "max_mana": side.max_mana,
                "draws": side.next_draw,
                "deck": side.deck_size,
                "runes": side.runes if RULES[state.rules].runes else None,
                "hand": [[held.id, cards.key(held.card)] for held in side.hand]
                if player != hidden
                else [None] * side.hand_size,
                "board": [
                    [
                        creature.id,
                        cards.key(creature.card),
                        creature.attack,
                        creature.defense,
                        creature.abilities,
                        creature.lane,
                        int(creature.can_attack and not creature.has_attacked),
                    ]
                    for creature in side.board
                ],
            }
        )
    return {
        "turn": state.turn,
        "player": -1 if over else state.current_player(),
        "winner": state.winner,
        "sides": sides,
    }


def turn_step(state: State, cards: Cards, hidden: int | None) -> dict[str, Any]:
    """Return the step of a page for the start of a turn, or for a position within one."""
    player = state.turn & 1
    board = board_data(state, cards, hidden)
    return {"turn": state.turn, "player": player, "action": None, "words": "", "board": board}


def action_steps(
    state: State,
    actions: Iterable[str],
    cards: Cards,
    names: Sequence[str],
    hidden: int | None,
) -> list[dict[str, Any]]:
    """Return the steps of a page for actions that follow each other, up to a win."""
    steps: list[dict[str, Any]] = []
    for text in actions:
        if state.is_terminal():
            break
        step = {"turn": state.turn, "player": state.turn & 1, "action": text}
        number = state.string_to_action(text)
        step["words"] = action_words(state, number, names, cards.titles) if number else ""
        state.apply_action(number)
        steps.append({**step, "board": board_data(state, cards, hidden)})
    return steps


def legal_texts(state: State) -> list[str]:
    """Return the legal actions as texts, without the end of the turn."""
    return [state.action_to_string(action) for action in state.legal_actions()[1:]]
