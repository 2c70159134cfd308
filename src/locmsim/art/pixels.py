"""Frames of a video: a board or an offer as an array of pixels, all of one size.

The pictures of cards are those of `locmsim.art.cards`. Each is turned into pixels once and kept, so
that a frame is little more than copies of arrays. It needs the extra ``png``.
"""

import sys
from collections.abc import Sequence
from functools import cache, lru_cache
from html import escape
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from locmsim.art.board import Place
from locmsim.art.cards import card_svg
from locmsim.rules.cards import Card

__all__ = ["FRAME", "Strip", "board_frame", "offer_frame"]

#: Height and width of a frame in pixels; even, as video codecs want them.
FRAME = (600, 800)

Pixels = NDArray[np.uint8]
Colour = tuple[int, int, int]

_WIDE, _TALL = 86, 120  # a card on the board
_GAP = 6
_LINE = 24
_COLUMN = 132  # the width of a word in a line
_GROUND = (224, 214, 194)
_LANE = (206, 192, 165)
_INK = "#221c16"
_FONT = 'font-family="Verdana,DejaVu Sans,sans-serif"'
_COLUMNS = 15  # small cards in a row
#: Number of cached pictures of each kind; 30 or 40 kB each.
_KEPT = 1024


class Strip(NamedTuple):
    """One player's part of a frame.

    Attributes
    ----------
    words : sequence of str
        Words such as "30 health", side by side.
    hand : sequence of Card
        The cards of the hand that are known.
    hidden : int
        The number of other cards in the hand.
    creatures : sequence of Place
        The creatures on the board.
    """

    words: Sequence[str]
    hand: Sequence[Card]
    hidden: int
    creatures: Sequence[Place]


def board_frame(upper: Strip, lower: Strip, *, lanes: int, title: Sequence[str]) -> Pixels:
    """Draw a position as pixels.

    Parameters
    ----------
    upper, lower : Strip
        The player shown above and the one shown below.
    lanes : int
        The number of lanes, 1 or 2 (docs/rules.md, section 5).
    title : sequence of str
        Words at the top, side by side.

    Returns
    -------
    uint8 array (600, 800, 3)
        Red, green, blue.

    Raises
    ------
    ImportError, OSError
        Without cairosvg, or the library cairo that it needs.
    """
    frame = _empty()
    _write(frame, title, 0)
    _write(frame, upper.words, _LINE)
    y = 2 * _LINE + 2
    _lay(frame, _hand(upper), y)
    y += _TALL + _GAP
    wide = 6 // lanes * (_WIDE + _GAP) + _GAP
    tall = 2 * (_TALL + _GAP) + _GAP
    left = (FRAME[1] - lanes * wide - (lanes - 1) * _GAP) // 2
    for lane in range(lanes):
        x = left + lane * (wide + _GAP)
        _put(frame, _filled(tall, wide, _LANE), x, y)
        for number, side in enumerate((upper, lower)):
            top = y + _GAP + number * (_TALL + _GAP)
            creatures = [creature for creature in side.creatures if creature.lane == lane]
            for place, creature in enumerate(creatures):
                at = x + _GAP + place * (_WIDE + _GAP)
                _put(frame, _shown(*creature[:4], _LANE), at, top)
    y += tall + _GAP
    _lay(frame, _hand(lower), y)
    _write(frame, lower.words, y + _TALL + 2)
    return frame


def offer_frame(
    offer: Sequence[Card],
    copies_chosen: Sequence[int],
    chosen: Sequence[Card],
    *,
    title: Sequence[str],
) -> Pixels:
    """Draw the cards to choose from as pixels.

    Parameters
    ----------
    offer : sequence of Card
        At most 120. Up to three are shown large, with the chosen ones below; more are shown small.
    copies_chosen : sequence of int
        How many copies of each have been chosen.
    chosen : sequence of Card
        The cards chosen so far, in order.
    title : sequence of str
        Words at the top, side by side.

    Returns
    -------
    uint8 array (600, 800, 3)
        Red, green, blue.

    Raises
    ------
    ImportError, OSError
        Without cairosvg, or the library cairo that it needs.
    """
    frame = _empty()
    _write(frame, title, 0)
    if len(offer) > 3:
        _small(frame, offer, copies_chosen, _LINE + _GAP)
        return frame
    _lay(frame, [_card(card) for card in offer], 160)
    _small(frame, chosen, [0] * len(chosen), 400)
    return frame


# ------------------------------------------------------------------------------------ parts


@cache
def _filled(tall: int, wide: int, colour: Colour) -> Pixels:
    return np.full((tall, wide, 3), colour, np.uint8)


def _empty() -> Pixels:
    return _filled(*FRAME, _GROUND).copy()


def _hand(side: Strip) -> list[Pixels]:
    return [_card(card) for card in side.hand] + [_back()] * side.hidden


def _lay(frame: Pixels, pictures: Sequence[Pixels], y: int) -> None:
    """Draw a centred row of cards, which overlap if there are many."""
    if not pictures:
        return
    step = min(_WIDE + _GAP, (FRAME[1] - 2 * _GAP - _WIDE) // max(1, len(pictures) - 1))
    x = (FRAME[1] - (len(pictures) - 1) * step - _WIDE) // 2
    for number, picture in enumerate(pictures):
        _put(frame, picture, x + number * step, y)


def _small(frame: Pixels, cards: Sequence[Card], copies_chosen: Sequence[int], y: int) -> None:
    """Draw rows of cards at half their size, with the number of chosen copies of each."""
    wide, tall = _WIDE // 2 + 9, _TALL // 2 + _GAP
    left = (FRAME[1] - _COLUMNS * wide) // 2
    for i, (card, copies) in enumerate(zip(cards, copies_chosen, strict=True)):
        x, top = left + i % _COLUMNS * wide, y + i // _COLUMNS * tall
        _put(frame, _half(card), x, top)
        if copies:
            _put(frame, _word(f"x{copies}", wide=22), x + 11, top + 16)


def _put(frame: Pixels, picture: Pixels, x: int, y: int) -> None:
    frame[y : y + picture.shape[0], x : x + picture.shape[1]] = picture


def _write(frame: Pixels, words: Sequence[str], y: int) -> None:
    """Draw words in columns."""
    for number, word in enumerate(words):
        _put(frame, _word(word), _GAP + number * _COLUMN, y)


# --------------------------------------------------------------------------------- pictures


def _card(card: Card) -> Pixels:
    """Return the picture of a printed card."""
    return _shown(card, card.attack, card.defense, card.abilities, _GROUND)


@lru_cache(_KEPT)
def _shown(card: Card, attack: int, defense: int, abilities: str, ground: Colour) -> Pixels:
    return _on(_drawn(card, attack, defense, abilities), ground)


@lru_cache(_KEPT)
def _drawn(card: Card, attack: int, defense: int, abilities: str) -> Pixels:
    """Return the picture of a card with these values; rendering one takes 5 ms."""
    return _rgba(card_svg(card, attack=attack, defense=defense, abilities=abilities, width=_WIDE))


@lru_cache(_KEPT)
def _half(card: Card) -> Pixels:
    """Return the mean of each four pixels."""
    means = _card(card).reshape(_TALL // 2, 2, _WIDE // 2, 2, 3).mean((1, 3))
    picture: Pixels = means.astype(np.uint8)
    return picture


@cache
def _back() -> Pixels:
    """Return the back of a card."""
    middle, half = _WIDE // 2, _TALL // 2
    picture = _rgba(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDE}" height="{_TALL}">'
        f'<rect width="{_WIDE}" height="{_TALL}" rx="7" fill="#58465e"/>'
        f'<path d="M{middle} 16L{_WIDE - 18} {half}L{middle} {_TALL - 16}L18 {half}z"'
        ' fill="#8a7393"/></svg>'
    )
    return _on(picture, _GROUND)


@lru_cache(_KEPT)
def _word(text: str, wide: int = _COLUMN) -> Pixels:
    picture = _rgba(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{_LINE}">'
        f'<text x="0" y="17" font-size="15" fill="{_INK}" {_FONT}>{escape(text)}</text></svg>'
    )
    return _on(picture, _GROUND)


def _rgba(svg: str) -> Pixels:
    """Render an SVG picture to (height, width, 4): premultiplied colours, and opacity."""
    from cairosvg.parser import Tree
    from cairosvg.surface import PNGSurface

    image = PNGSurface(Tree(bytestring=svg.encode()), None, 96).cairo
    width, height = image.get_width(), image.get_height()
    rows = np.frombuffer(image.get_data(), np.uint8).reshape(height, image.get_stride())
    # Cairo has blue, green, red, opacity in each 32 bits of a little-endian machine.
    pixels = rows[:, : 4 * width].reshape(height, width, 4)
    order = (2, 1, 0, 3) if sys.byteorder == "little" else (1, 2, 3, 0)
    return np.ascontiguousarray(pixels[..., order])


def _on(picture: Pixels, ground: Colour) -> Pixels:
    """Return the colours (height, width, 3) of a picture on a ground of one colour."""
    pixels = picture.astype(np.uint16)
    under = np.array(ground, np.uint16) * (255 - pixels[..., 3:]) // 255
    colours: Pixels = (pixels[..., :3] + under).astype(np.uint8)
    return colours
