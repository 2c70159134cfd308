"""Positions and cards as plain data, for the scripts of the pages."""

from collections.abc import Iterable
from typing import Any

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
from locmsim.rules.cards import Card
from locmsim.rules.rulesets import RULES

__all__ = ["Cards", "board_view", "legal_texts"]


class Cards:
    """The cards of a page, each with a key; cards that differ may have the same base id.

    Parameters
    ----------
    cards : iterable of Card
        The set of cards, as far as it is known: two of it that would have the same title get their
        base ids.
    """

    def __init__(self, cards: Iterable[Card] = ()) -> None:
        self._keys: dict[Card, str] = {}
        self.titles = card_titles(cards)

    def key(self, card: Card) -> str:
        """The key of a card, which is new if the card is."""
        known = self._keys.get(card)
        if known is None:
            known = self._keys[card] = str(len(self._keys))
        return known

    def title(self, card: Card) -> str:
        """What a card is called."""
        return self.titles.get(card) or card_title(card)

    def to_json(self, pictures: bool = True) -> dict[str, Any]:
        """All cards that have a key, and what a page needs to draw what they have become.

        Parameters
        ----------
        pictures : bool
            Whether the cards are drawn, too.

        Returns
        -------
        dict
            ``cards``, by key ``title``, ``about`` (one line that says it all), ``row`` and ``svg``;
            ``badges``, the elements of each; ``numbers``, where a number stands and its sizes.
        """
        return {
            "cards": {key: self._view(card, pictures) for card, key in self._keys.items()},
            "badges": {letter: badge_svg(letter) for letter in BADGES},
            "numbers": NUMBER_SIZES,
        }

    def _view(self, card: Card, picture: bool) -> dict[str, Any]:
        title = self.title(card)
        shown = {"title": title, "about": card_description(card, title), "row": card.to_row()}
        if picture:
            # Its title is put in by the page: a name may hold what XML cannot.
            shown["svg"] = card_svg(card, title="")
        return shown


def board_view(state: State, cards: Cards, hidden: int | None = None) -> dict[str, Any]:
    """A position.

    Parameters
    ----------
    state : State
        The position.
    cards : Cards
        Where cards get their keys.
    hidden : int, optional
        The player whose hand is not shown.

    Returns
    -------
    dict
        ``turn``, ``player`` (who is to move, -1 at the end), ``winner`` (None, 0, 1) and two
        ``sides`` with ``health``, ``mana``, ``max_mana``, ``draws``, ``deck``, ``runes`` (None
        where there are none), ``hand`` and ``board``. A card of a hand is its id and its key, None
        where it is not shown; a creature is its id, its key, attack, defense, abilities, lane and
        whether it can attack.
    """
    over = state.is_terminal()
    sides = []
    for player, side in enumerate(state.players):
        shown = player != hidden
        sides.append(
            {
                "health": side.health,
                "mana": side.mana,
                "max_mana": side.max_mana,
                "draws": side.next_draw,
                "deck": side.deck_size,
                "runes": side.runes if RULES[state.rules].runes else None,
                "hand": [[held.id, cards.key(held.card)] for held in side.hand]
                if shown
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


def legal_texts(state: State) -> list[str]:
    """The legal actions as texts, without the end of the turn."""
    return [state.action_to_string(action) for action in state.legal_actions()[1:]]
