"""Pictures of several cards: a board with both hands, and a sheet of a whole set.

Both are pure functions of plain values, so that states, observations and pages can share them.
"""

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

from locmsim.art.cards import HEIGHT, WIDTH, card_svg
from locmsim.rules.cards import Card

_CARD = 72  # the width of a card in a picture of several
_TALL = _CARD * HEIGHT // WIDTH
_GAP = 6
_LINE = 22
_FONT = 'font-family="Verdana,DejaVu Sans,sans-serif"'
_STYLE = "body{margin:8px;background:#f3efe6}svg{display:block;max-width:100%;height:auto}"


class Place(NamedTuple):
    """A creature on the board: the printed card and its present values.

    Attributes
    ----------
    card : Card
        The printed card.
    attack, defense : int
        Its present values.
    abilities : str
        Its present keywords, as in the protocol.
    lane : int
        0 or 1; 0 in the one lane of rules 1.0.
    """

    card: Card
    attack: int
    defense: int
    abilities: str
    lane: int


class Side(NamedTuple):
    """One player's side of a picture.

    Attributes
    ----------
    words : str
        One line above the hand, such as health and mana; any text.
    hand : sequence of Card
        The cards of the hand that are known.
    hidden : int
        The number of other cards in the hand.
    creatures : sequence of Place
        The creatures on the board.
    """

    words: str
    hand: Sequence[Card]
    hidden: int
    creatures: Sequence[Place]


def board_svg(upper: Side, lower: Side, *, lanes: int, title: str = "") -> str:
    """Draw a position.

    Parameters
    ----------
    upper, lower : Side
        The player shown above and the one shown below.
    lanes : int
        The number of lanes, 1 or 2 (docs/rules.md, section 5).
    title : str
        A line at the top; any text.

    Returns
    -------
    str
        An ``<svg>`` element without scripts, links or ids.
    """
    lane_size = 6 // lanes
    most = max(
        [
            lane_size,
            *(sum(c.lane == i for c in s.creatures) for s in (upper, lower) for i in (0, 1)),
        ]
    )
    lane_width = most * (_CARD + _GAP) + _GAP
    hands = max(len(side.hand) + side.hidden for side in (upper, lower))
    width = max(lanes * (lane_width + _GAP), hands * (_CARD + _GAP)) + _GAP
    parts: list[str] = []
    y = _GAP
    if title:
        parts.append(_words(title, y, bold=True))
        y += _LINE
    parts.append(_words(upper.words, y))
    y += _LINE
    parts.append(_hand(upper, y))
    y += _TALL + 2 * _GAP
    for lane in range(lanes):
        x = _GAP + lane * (lane_width + _GAP)
        height = 2 * (_TALL + _GAP) + _GAP
        parts.append(
            f'<rect x="{x}" y="{y}" width="{lane_width}" height="{height}" rx="6" fill="#e0d6c2"/>'
        )
        for i, side in enumerate((upper, lower)):
            creatures = [creature for creature in side.creatures if creature.lane == lane]
            for j, (card, attack, defense, abilities, _) in enumerate(creatures):
                picture = card_svg(
                    card, attack=attack, defense=defense, abilities=abilities, width=_CARD
                )
                place = x + _GAP + j * (_CARD + _GAP)
                parts.append(_at(place, y + _GAP + i * (_TALL + _GAP), picture))
    y += 2 * (_TALL + _GAP) + 3 * _GAP
    parts.append(_hand(lower, y))
    y += _TALL + _GAP
    parts.append(_words(lower.words, y))
    return _picture(width, y + _LINE + _GAP, parts)


def sheet_svg(cards: Iterable[Card], *, columns: int = 12) -> str:
    """Draw many cards in rows.

    Parameters
    ----------
    cards : iterable of Card
        The cards, in the order they are shown.
    columns : int
        Number of cards in a row.

    Returns
    -------
    str
        An ``<svg>`` element without scripts, links or ids.

    Raises
    ------
    ValueError
        `columns` is below 1.
    """
    if columns < 1:
        raise ValueError(f"columns: expected at least 1, got {columns}")
    parts = [
        _at(
            _GAP + i % columns * (_CARD + _GAP),
            _GAP + i // columns * (_TALL + _GAP),
            card_svg(card, width=_CARD),
        )
        for i, card in enumerate(cards)
    ]
    rows = -(-len(parts) // columns)
    width = min(columns, max(1, len(parts))) * (_CARD + _GAP) + _GAP
    return _picture(width, rows * (_TALL + _GAP) + _GAP, parts)


def sheet_html(cards: Iterable[Card], title: str) -> str:
    """Return an HTML page that shows many cards.

    Parameters
    ----------
    cards : iterable of Card
        The cards, in the order they are shown.
    title : str
        The page's title; any text.

    Returns
    -------
    str
        An HTML document that needs no other file.
    """
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"{sheet_svg(cards)}\n</body>\n</html>\n"
    )


def _picture(width: int, height: int, parts: Iterable[str]) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
        f' height="{height}"><rect width="{width}" height="{height}" fill="#f3efe6"/>'
        f"{''.join(parts)}</svg>"
    )


def _words(text: str, y: int, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return (
        f'<text x="{_GAP}" y="{y + 15}" font-size="14" fill="#221c16" {_FONT}{weight}>'
        f"{escape(text)}</text>"
    )


def _hand(side: Side, y: int) -> str:
    pictures = [card_svg(card, width=_CARD) for card in side.hand]
    back = (
        f'<rect width="{_CARD}" height="{_TALL}" rx="6" fill="#58465e"/>'
        f'<path d="M{_CARD // 2} 14L{_CARD - 16} {_TALL // 2}L{_CARD // 2} {_TALL - 14}'
        f'L16 {_TALL // 2}z" fill="#8a7393"/>'
    )
    pictures += [back] * side.hidden
    return "".join(_at(_GAP + i * (_CARD + _GAP), y, text) for i, text in enumerate(pictures))


def _at(x: int, y: int, text: str) -> str:
    return f'<g transform="translate({x} {y})">{text}</g>'
