"""Pictures of cards, made from what is printed on them.

A picture is a pure function of the card, so that the same card looks the same wherever it is shown.
The base id decides the motif. Three colour masks, red, green and blue, have the values of attack,
defense and cost. A stronger creature is drawn larger, and each motif is rotated a little: the angle
is a hash of the statistics, the direction depends on the parity of the base id.
"""

import zlib
from collections.abc import Mapping
from html import escape

from locmsim.art.motifs import MOTIFS
from locmsim.art.names import card_title
from locmsim.rules.cards import ABILITIES, Area, Card, CardType

#: The size of a card in its own units.
WIDTH, HEIGHT = 100, 140

_WORDS = dict(
    zip(ABILITIES, ("Breakthrough", "Charge", "Drain", "Guard", "Lethal", "Ward"), strict=True)
)
#: The colours of a card's frame and its edge, and what it is, by type.
FRAMES: Mapping[CardType, tuple[str, str, str]] = {
    CardType.CREATURE: ("#8a6a3a", "#5d4524", "creature"),
    CardType.GREEN: ("#3f9a4d", "#24662f", "green item"),
    CardType.RED: ("#c2473c", "#852a22", "red item"),
    CardType.BLUE: ("#3d78c9", "#23508f", "blue item"),
}
#: The colour and the sign of the badges: the abilities' letters, and the area 1 or 2.
BADGES: Mapping[str, tuple[str, str]] = {
    "B": ("#d9772b", "M2 7L8 2V5H13V9H8V12z"),
    "C": ("#d8b21c", "M8 1L3 8H7L5 13L12 6H8L10 1z"),
    "D": ("#b5306a", "M7 1Q12 7 12 9A5 5 0 0 1 2 9Q2 7 7 1z"),
    "G": ("#6d7f8f", "M2 2Q5 3 7 1Q9 3 12 2Q13 9 7 13Q1 9 2 2z"),
    "L": ("#5a3f86", "M2 6A5 5 0 0 1 12 6Q12 8 10 9V12H4V9Q2 8 2 6z"),
    "W": ("#2e9fb0", "M7 1L13 7L7 13L1 7z"),
    "1": ("#4b4b55", "M2 3H12V11H2z"),
    "2": ("#4b4b55", "M1 3H6V11H1zM8 3H13V11H8z"),
}
#: The numbers of a card: the middle, the width, the colour and the shape below each.
NUMBERS: Mapping[str, tuple[float, float, float, str, str]] = {
    "cost": (16, 17, 26, "#1f4fa0", "M16 3L29 10V24L16 31L3 24V10z"),
    "attack": (
        21,
        124,
        34,
        "#a32a22",
        "M21 109L33 112L38 124L33 136L21 139L9 136L4 124L9 112z",
    ),
    "defense": (
        79,
        124,
        32,
        "#24702f",
        "M63 112Q72 113 79 110Q86 113 95 112Q97 130 79 139Q61 130 63 112z",
    ),
}
#: The largest font size of a number.
_LARGEST = 19.0


def _inner_width(width: float) -> float:
    """Return the font size at which a digit fills a width: digits are 0.76 em wide."""
    return 0.92 / 0.76 * width


#: The same for pages, which change the numbers of a card: the middle of a number from above, the
#: size of one digit, the largest size. A number of more digits is as much smaller.
NUMBER_SIZES: Mapping[str, tuple[float, float, float]] = {
    name: (y, _inner_width(width), _LARGEST) for name, (_, y, width, _, _) in NUMBERS.items()
}
_STATS = 12  # the value at which a mask is full
_TEXT = 'font-family="Verdana,DejaVu Sans,sans-serif" font-weight="bold" text-anchor="middle"'


def motif_of(card: Card) -> int:
    """Return the index of the card's motif among those of its type.

    Parameters
    ----------
    card : Card
        The card.

    Returns
    -------
    int
        An index into ``MOTIFS[card.type]``.
    """
    return card.base_id % len(MOTIFS[card.type])


def card_description(card: Card, title: str = "") -> str:
    """Describe a card in words, for screen readers and tooltips.

    Parameters
    ----------
    card : Card
        The card.
    title : str
        The card's title; by default that of `card_title`.

    Returns
    -------
    str
        One line of plain text, not escaped.
    """
    words = [f"{title or card_title(card)}: {FRAMES[card.type][2]}, cost {card.cost}"]
    if card.type == CardType.CREATURE:
        words.append(f"attack {card.attack}, defense {card.defense}")
    else:
        words.append(f"attack {card.attack:+d}, defense {card.defense:+d}")
    words += [_WORDS[letter] for letter in card.abilities if letter in _WORDS]
    if card.my_health_change:
        words.append(f"own health {card.my_health_change:+d}")
    if card.opponent_health_change:
        words.append(f"enemy health {card.opponent_health_change:+d}")
    if card.card_draw:
        words.append(f"draw {card.card_draw}")
    if card.area != Area.TARGET:
        words.append("one lane" if card.area == Area.LANE1 else "both lanes")
    return ", ".join(words)


def card_svg(
    card: Card,
    *,
    attack: int | None = None,
    defense: int | None = None,
    abilities: str | None = None,
    width: int | None = None,
    title: str | None = None,
) -> str:
    """Draw a card as a complete ``<svg>`` element.

    Parameters
    ----------
    card : Card
        The card; its name is shown as text, whatever characters it has.
    attack, defense : int, optional
        A creature's present values, shown instead of the printed ones. The motif is that of the
        printed card.
    abilities : str, optional
        A creature's present abilities, six characters as in the protocol.
    width : int, optional
        The width in CSS pixels; by default the picture fills its container.
    title : str, optional
        Text for screen readers; by default `card_description`. An empty title is left out.

    Returns
    -------
    str
        SVG without scripts, links or ids, so any number of them can stand in one page.
    """
    frame, dark, _ = FRAMES[card.type]
    shown_attack = card.attack if attack is None else attack
    shown_defense = card.defense if defense is None else defense
    size = "" if width is None else f' width="{width}" height="{width * HEIGHT // WIDTH}"'
    words = card_description(card) if title is None else title
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"{size} role="img"'
        f' class="locm-card">{f"<title>{escape(words)}</title>" if words else ""}',
        f'<rect x="1" y="1" width="98" height="138" rx="8" fill="{dark}"/>',
        f'<rect x="3" y="3" width="94" height="134" rx="6" fill="{frame}"/>',
        card_art(card),
        f'<rect x="7" y="92" width="86" height="18" rx="3" fill="{dark}"/>',
        f'<g class="keywords">{_keywords(abilities or card.abilities, card.area)}</g>',
        card_effects(card),
        _number("cost", card.cost),
    ]
    if card.type == CardType.CREATURE or shown_attack:
        parts.append(_number("attack", shown_attack, card.type != CardType.CREATURE))
    if card.type == CardType.CREATURE or shown_defense:
        parts.append(_number("defense", shown_defense, card.type != CardType.CREATURE))
    parts.append("</svg>")
    return "".join(parts)


def card_art(card: Card) -> str:
    """Draw a card without its frame and numbers.

    Parameters
    ----------
    card : Card
        The card.

    Returns
    -------
    str
        SVG elements that fill the rectangle from (7, 7) to (93, 91).
    """
    return _picture(card) + _motif(card)


def card_effects(card: Card) -> str:
    """Draw a card's other effects at its right edge: health changes and cards drawn.

    Parameters
    ----------
    card : Card
        The card.

    Returns
    -------
    str
        SVG elements, none for a card without such effects.
    """
    effects = [
        (card.my_health_change, "#b5306a", f"{card.my_health_change:+d}"),
        (card.opponent_health_change, "#3a3140", f"{card.opponent_health_change:+d}"),
        (card.card_draw, "#c9992b", f"{card.card_draw}"),
    ]
    symbols = (
        "M7 12L2 7Q0 3 4 2Q6 2 7 4Q8 2 10 2Q14 3 12 7z",
        "M2 6A5 5 0 0 1 12 6Q12 8 10 9V12H4V9Q2 8 2 6z",
        "M2 3L8 1L11 11L5 13zM9 2H13V12H10z",
    )
    shown = [
        (colour, text, symbol)
        for (value, colour, text), symbol in zip(effects, symbols, strict=True)
        if value
    ]
    return "".join(
        f'<g transform="translate(56 {5 + 19 * i})">'
        f'<rect width="40" height="17" rx="8" fill="{colour}"/>'
        f'<path d="{symbol}" transform="translate(2 2)" fill="#fff"/>'
        f'<text x="27" y="13" font-size="{fitting(text, 25, 12)}" fill="#fff" {_TEXT}>'
        f"{text.replace('-', chr(0x2212))}</text></g>"
        for i, (colour, text, symbol) in enumerate(shown)
    )


def _picture(card: Card) -> str:
    """Return the background: the three masks, each from its own side."""
    red, green, blue = _masks(card)
    sky = f'<rect x="7" y="7" width="86" height="84" rx="4" fill="{_mix(red, green, blue, 0.30)}"/>'
    masks = (
        ("#e0463a", red, "M7 91V40Q50 50 60 91z"),
        ("#3fae4e", green, "M93 91V40Q50 50 40 91z"),
        ("#4a8be8", blue, "M7 7H93V36Q50 62 7 36z"),
    )
    return sky + "".join(
        f'<path d="{path}" fill="{colour}" fill-opacity="{0.55 * value:.2f}"/>'
        for colour, value, path in masks
    )


def _motif(card: Card) -> str:
    """Return the motif, scaled, rotated and coloured by the card's properties."""
    strength = abs(card.attack) + abs(card.defense)
    scale = 0.56 + 0.24 * min(strength, 24) / 24
    statistics = (
        *(card.cost, card.attack, card.defense, card.my_health_change),
        *(card.opponent_health_change, card.card_draw, int(card.area)),
    )
    digest = zlib.crc32(repr((statistics, card.abilities)).encode())
    angle = (2 + digest % 11) * (1 if card.base_id % 2 else -1)
    red, green, blue = _masks(card)
    tones = {
        "body": _mix(red, green, blue, 0.80),
        "shade": _mix(red, green, blue, 0.52),
        "light": _mix(red, green, blue, 1.0),
        "ink": "#17131c",
        "white": "#f7f3e8",
    }
    paths = "".join(
        f'<path d="{path}" fill="{tones[tone]}"/>'
        for tone, path in MOTIFS[card.type][motif_of(card)]
    )
    return (
        f'<g transform="translate(50 49) rotate({angle}) scale({scale:.3f}) translate(-50 -50)"'
        f' stroke="#17131c" stroke-width="1.5" stroke-linejoin="round">{paths}</g>'
    )


def _masks(card: Card) -> tuple[float, float, float]:
    """Return attack, defense and cost, each from 0 to 1."""
    values = (abs(card.attack), abs(card.defense), card.cost)
    red, green, blue = (min(value, _STATS) / _STATS for value in values)
    return red, green, blue


def _mix(red: float, green: float, blue: float, light: float) -> str:
    """Return the colour of three masks at a lightness from 0 to 1."""
    top = max(red, green, blue, 0.01)
    channels = (0.42 + 0.58 * value / top for value in (red, green, blue))
    return "#" + "".join(f"{round(255 * light * channel):02x}" for channel in channels)


def _keywords(abilities: str, area: Area) -> str:
    """Return a badge for each keyword and for the area, in one row; many of them are smaller."""
    letters = [letter for letter in abilities if letter in BADGES]
    if area != Area.TARGET:
        letters.append(str(int(area)))
    size = min(16.0, 84 / max(1, len(letters)))
    start, top = 50 - size * len(letters) / 2, 101 - size / 2
    scale = "" if size == 16 else f" scale({size / 16:.4g})"
    return "".join(
        f'<g transform="translate({start + size * i:.1f} {top:.4g}){scale}">{badge_svg(letter)}</g>'
        for i, letter in enumerate(letters)
    )


def badge_svg(letter: str) -> str:
    """Draw the badge of an ability or an area: SVG elements in a square of 16 x 16 units.

    Parameters
    ----------
    letter : str
        A key of `BADGES`.

    Returns
    -------
    str
        SVG elements.
    """
    colour, path = BADGES[letter]
    return (
        f'<rect width="16" height="16" rx="4" fill="{colour}"/>'
        f'<path d="{path}" transform="translate(1 1)" fill="#fff" fill-opacity=".35"/>'
        f'<text class="ability" x="8" y="12.4" font-size="12" fill="#fff" {_TEXT}>{letter}</text>'
    )


def fitting(text: str, width: float, most: float) -> float:
    """Return the largest font size, up to `most`, at which a text fits the width."""
    return min(most, round(_inner_width(width) / len(text), 1))


def _number(name: str, value: int, signed: bool = False) -> str:
    """Return a number on its shape, small enough to stay on it."""
    x, y, width, colour, path = NUMBERS[name]
    text = f"{value:+d}" if signed and value else str(value)
    size = fitting(text, width, _LARGEST)
    return (
        f'<path d="{path}" fill="{colour}" stroke="#fff" stroke-width="1.5"/>'
        f'<text class="{name}" x="{x}" y="{y + size * 0.36:.1f}" font-size="{size}" fill="#fff"'
        f" {_TEXT}>{text.replace('-', chr(0x2212))}</text>"
    )
