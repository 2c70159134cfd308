"""Positions and cards as plain data, for the scripts of the pages."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from locmsim._core import State
from locmsim.art import BADGES, FRAMES, NUMBER_SHAPES, card_art, card_effects, card_title
from locmsim.rules.cards import Card, CardType, cards_1x
from locmsim.rules.rulesets import RULES

__all__ = ["Cards", "board_view", "card_view", "legal_texts", "named"]


def card_view(card: Card, picture: bool = True) -> dict[str, Any]:
    """A card as scripts draw it.

    Parameters
    ----------
    card : Card
        The card.
    picture : bool
        Whether it is drawn, or only named.

    Returns
    -------
    dict
        ``row``, ``name``, ``title`` and, for a picture, ``art``: SVG elements.
    """
    shown: dict[str, Any] = {"row": card.to_row(), "name": card.name, "title": card_title(card)}
    if picture:
        shown["art"] = card_art(card) + card_effects(card)
    return shown


class Cards:
    """The cards of a page, each with a key; cards that differ may have the same base id."""

    def __init__(self, cards: Iterable[Card] = ()) -> None:
        self._keys: dict[Card, str] = {}
        for card in cards:
            self.key(card)

    def key(self, card: Card) -> str:
        """The key of a card, which is new if the card is."""
        known = self._keys.get(card)
        if known is None:
            known = self._keys[card] = str(len(self._keys))
        return known

    def to_json(self) -> dict[str, Any]:
        """All cards by key, and the colours and signs that they are drawn with."""
        return {
            "cards": {key: card_view(named(card)) for card, key in self._keys.items()},
            "badges": BADGES,
            "frames": [FRAMES[kind][:2] for kind in CardType],
            "numbers": NUMBER_SHAPES,
        }


def named(card: Card) -> Card:
    """A card that was read from the protocol, which tells no names, with the one it has in 1.x.

    Parameters
    ----------
    card : Card
        Any card.

    Returns
    -------
    Card
        The same, named if that is known.
    """
    return card if card.name else _names().get(card, card)


@cache
def _names() -> dict[Card, Card]:
    return {card: card for card in cards_1x()}


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
        ``turn``, ``player`` (who is to move, -1 at the end), ``winner`` (None, 0, 1), ``lanes``
        and two ``sides`` with ``health``, ``mana``, ``max_mana``, ``draws``, ``deck``, ``runes``
        (None where there are none), ``size`` of the hand, ``hand`` and ``board``.
    """
    over = state.is_terminal()
    sides = []
    for player, side in enumerate(state.players):
        hand = [] if player == hidden else side.hand
        sides.append(
            {
                "health": side.health,
                "mana": side.mana,
                "max_mana": side.max_mana,
                "draws": side.next_draw,
                "deck": side.deck_size,
                "runes": side.runes if RULES[state.rules].runes else None,
                "size": side.hand_size,
                "hand": [{"id": held.id, "card": cards.key(held.card)} for held in hand],
                "board": [
                    {
                        "id": creature.id,
                        "card": cards.key(creature.card),
                        "attack": creature.attack,
                        "defense": creature.defense,
                        "abilities": creature.abilities,
                        "lane": creature.lane,
                        "ready": creature.can_attack and not creature.has_attacked,
                    }
                    for creature in side.board
                ],
            }
        )
    return {
        "turn": state.turn,
        "player": -1 if over else state.current_player(),
        "winner": state.winner,
        "lanes": RULES[state.rules].lanes,
        "sides": sides,
    }


def legal_texts(state: State) -> list[str]:
    """The legal actions as texts, without the end of the turn."""
    return [state.action_to_string(action) for action in state.legal_actions()[1:]]
