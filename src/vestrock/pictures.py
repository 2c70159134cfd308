"""Descriptions of Vestrock positions for people, as text and as pictures."""

from collections.abc import Iterator, Sequence
from typing import Final

from locmsim.contract import View
from locmsim.gamekit import counted
from vestrock._core import Creature, State
from vestrock.deck import Card
from vestrock.match import Match

#: Start of the text of a finished position.
MATCH_OVER: Final = "the match is over"
#: Effects of the types of spells.
_SPELLS: Final = {"D": "damage", "T": "disable", "B": "buff", "H": "heal"}
_WORDS: Final = {
    "DRAW_CARD": "draws a card",
    "BURN_CARD": "burns a card",
    "DISCARD_CARD": "discards card {}",
    "ADD_MANA": "takes mana from creature {}",
    "PLAY_CARD": "plays card {}",
    "ATTACK": "attacks with creature {}",
    "BLOCK": "blocks creature {} with creature {}",
    "FINISH_BLOCK": "ends the blocking",
}
#: The width of the picture, the width and height of a card, and the gap between cards.
_WIDTH, _CARD, _HEIGHT, _GAP = 720, 64, 78, 6
_STYLE = (
    "<style>text{font:13px sans-serif;fill:#222}.b{fill:#fffdf6;stroke:#8a7d5a}"
    ".a{stroke:#b3261e;stroke-width:3}.t{opacity:.55}.h{fill:#e8eef6}</style>"
)


def match_view(match: Match) -> View:
    """Return the view of a match in its present position, with the actions of the last turn."""
    state = match.state
    words = ""
    # The number of the last turn, from 1 like the turn numbers in `Match.actions`.
    last = state.turn if match.is_over else state.turn - 1
    if last:
        done = [text for turn, text in match.actions if turn == last]
        words = ", ".join(map(_words, done)) or "does nothing"
    if match.error is not None:
        words = match.explain()
    first, second = match.scores or state.health
    return View(state_text(state), words, (int(first), int(second)), state_svg(state))


def _words(action: str) -> str:
    word, *arguments = action.split(" ")
    return _WORDS[word].format(*arguments)


def state_text(state: State) -> str:
    """Return a position as lines of text.

    Parameters
    ----------
    state : State
        The position.

    Returns
    -------
    str
        Lines with the turn, and the health, creatures and hand of each player.
    """
    lines = [
        MATCH_OVER
        if state.is_terminal()
        else f"turn {state.turn}, {state.turns_left} left, {state.phase} of player {state.mover};"
        f" mana {state.mana}, {counted(state.deck_size, 'card')} in the deck"
    ]
    for player in (0, 1):
        lines.append(f"player {player}: {state.health[player]} health")
        lines += [f"    {creature_text(creature)}" for creature in state.board(player)]
        if hand := ", ".join(map(_card_text, state.hand(player))):
            lines.append(f"    hand: {hand}")
    return "\n".join(lines) + "\n"


def creature_text(creature: Creature) -> str:
    """Return a creature on the board as one line."""
    marks = {"inactive": not creature.active, "attacks": creature.attacking}
    marks["blocked"] = creature.blocked
    text = "".join(f", {mark}" for mark, is_so in marks.items() if is_so)
    return (
        f"{creature.card.id}: {creature.attack} attack, {creature.health} of {creature.max_health}"
        f" health{text}"
    )


def _card_text(card: Card) -> str:
    if card.type in _SPELLS:
        return f"{card.id} {_SPELLS[card.type]} for {card.cost}"
    return f"{card.id} {card.attack}/{card.health} for {card.cost}"


def state_svg(state: State) -> str:
    """Draw a position.

    Parameters
    ----------
    state : State
        The position.

    Returns
    -------
    str
        An SVG document.
    """
    rows: list[str] = []
    y = 0
    for player in (1, 0):
        hand = [*_row([_card_shape(card) for card in state.hand(player)], "h")]
        board = [*_row([_creature_shape(creature) for creature in state.board(player)], "b")]
        mark = " \u25c0" if state.mover == player and not state.is_terminal() else ""
        title = f'<text x="4" y="16">player {player}: {state.health[player]} health{mark}</text>'
        for row in (hand, board) if player else (board, hand):
            rows.append(f'<g transform="translate(0 {y + 22})">{"".join(row)}</g>')
            y += _height(row)
        at = y - _height(hand) - _height(board)
        rows.append(f'<g transform="translate(0 {at})">{title}</g>')
        y += 30
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {y}">'
    return f"{head}{_STYLE}{''.join(rows)}</svg>"


def _height(row: Sequence[str]) -> int:
    lines = -(-len(row) // _in_line())
    return lines * (_HEIGHT + _GAP)


def _in_line() -> int:
    return _WIDTH // (_CARD + _GAP)


def _row(shapes: Sequence[tuple[str, str, str]], kind: str) -> Iterator[str]:
    for i, (above, below, mark) in enumerate(shapes):
        x = i % _in_line() * (_CARD + _GAP) + 4
        y = i // _in_line() * (_HEIGHT + _GAP)
        yield (
            f'<g transform="translate({x} {y})"><rect class="{kind} {mark}" width="{_CARD}"'
            f' height="{_HEIGHT}" rx="6"/><text x="6" y="18">{above}</text>'
            f'<text x="6" y="{_HEIGHT - 8}">{below}</text></g>'
        )


def _card_shape(card: Card) -> tuple[str, str, str]:
    strength = _SPELLS.get(card.type) or f"{card.attack}/{card.health}"
    return f"{card.id} ({card.cost})", strength, ""


def _creature_shape(creature: Creature) -> tuple[str, str, str]:
    mark = "a" if creature.attacking else "" if creature.active else "t"
    return str(creature.card.id), f"{creature.attack}/{creature.health}", mark
