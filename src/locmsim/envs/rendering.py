"""What environments show people: texts, and pictures of the cards as arrays.

All that is shown is what the learner may know: of the opponent's hand its size, of decks theirs.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from gymnasium.error import DependencyNotInstalled
from numpy.typing import NDArray

from locmsim._core import State
from locmsim.art import Place
from locmsim.art.pixels import Strip, board_frame, offer_frame
from locmsim.game.boards import board_text
from locmsim.rules.cards import Card
from locmsim.rules.rulesets import DECK_SIZE, RULES

RENDER_MODES = ["ansi", "human", "rgb_array"]

Frame = NDArray[np.uint8]


def show(mode: str | None, text: Callable[[], str], frame: Callable[[], Frame]) -> Any:
    """Return the output of `render` in a mode: a text, an array, or None after printing.

    ``DependencyNotInstalled`` for an array without the extra ``png``.
    """
    if mode is None:
        return None
    if mode == "rgb_array":
        try:
            return frame()
        except (ImportError, OSError) as error:  # the second without the library cairo
            raise DependencyNotInstalled(
                f'render_mode "rgb_array" needs the extra png: pip install "locmsim[png]" ({error})'
            ) from None
    if mode == "ansi":
        return text()
    print(text())
    return None


def battle_text(state: State, player: int) -> str:
    """Return a player's view of a battle as text."""
    return board_text(state, player)


def battle_frame(state: State, player: int) -> Frame:
    """Draw a player's view of a battle, their side below: uint8 (600, 800, 3)."""
    if state.winner is None:
        event = f"player {state.turn & 1} to move"
    else:
        event = f"player {state.winner} has won"
    return board_frame(
        _strip(state, 1 - player, hidden=True),
        _strip(state, player),
        lanes=RULES[state.rules].lanes,
        title=(f"LOCM {state.rules}", f"turn {state.turn}", event),
    )


def _strip(state: State, player: int, *, hidden: bool = False) -> Strip:
    """What is shown of a player."""
    view = state.players[player]
    words = [
        f"player {player}",
        f"{view.health} health",
        f"{view.mana}/{view.max_mana} mana",
        f"{view.deck_size} in the deck",
        f"draws {view.next_draw}",
    ]
    if RULES[state.rules].draft:
        words.append(f"runes {view.runes}")
    hand = view.hand
    creatures = [Place(c.card, c.attack, c.defense, c.abilities, c.lane) for c in view.board]
    if hidden:
        return Strip(words, (), len(hand), creatures)
    return Strip(words, [held.card for held in hand], 0, creatures)


def choice_text(offer: Sequence[Card], chosen: Sequence[Card]) -> str:
    """List the offered cards and the number of cards chosen so far."""
    lines = [f"step {len(chosen)} of {DECK_SIZE}"]
    lines += [f"  {i}: {card}" for i, card in enumerate(offer)]
    return "\n".join(lines)


def choice_frame(rules: str, offer: Sequence[Card], chosen: Sequence[Card]) -> Frame:
    """Draw the offered and the chosen cards: uint8 (600, 800, 3)."""
    copies = Counter(card.base_id for card in chosen)
    return offer_frame(
        offer,
        [copies[card.base_id] for card in offer],
        chosen,
        title=(f"LOCM {rules}", f"{len(chosen)} of {DECK_SIZE} chosen"),
    )
