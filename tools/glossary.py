"""Draws the pictures of docs/glossary.md: ``python tools/glossary.py``.

Cards and badges are those of the pages (`locmsim.art`).
"""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from figures import text

from locmsim import Card, CardType
from locmsim.art import BADGES, badge_svg, card_svg
from locmsim.art.cards import HEIGHT, WIDTH
from locmsim.rules.cards import Area

FOLDER = Path(__file__).parents[1] / "docs" / "glossary"
SMALL = 60  # the width of a card in pictures of several
TALL = SMALL * HEIGHT // WIDTH
GAP = 8
#: A card with all that can be on one.
BAT = Card(4, CardType.CREATURE, 5, 4, 6, "B--G--", 2, -1, 1, Area.LANE2)
#: One card of each type.
TYPES = (
    Card(8, CardType.CREATURE, 3, 3, 4, "------"),
    Card(2, CardType.GREEN, 2, 2, 2, "---G--"),
    Card(3, CardType.RED, 3, -1, -4, "BCDGLW"),
    Card(5, CardType.BLUE, 2, 0, -3, "------", 1),
)


def svg(width: int, height: int, parts: Sequence[str]) -> str:
    """Return a picture on white, so that it is readable on dark pages too."""
    inner = "".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
        f' height="{height}" role="img" font-family="sans-serif" font-size="12" fill="#333">'
        f'<rect width="{width}" height="{height}" fill="#fff"/>{inner}</svg>\n'
    )


def place(picture: str, x: int, y: int, opacity: float = 1) -> str:
    """Return a picture at a place, faint if the opacity is below 1."""
    faint = "" if opacity == 1 else f' opacity="{opacity}"'
    return f'<g transform="translate({x} {y})"{faint}>{picture}</g>'


def card() -> str:
    """Draw a card and name its parts."""
    left, top = 150, 10
    parts = [place(card_svg(BAT, width=160, title=""), left, top)]
    labels = [
        # words, the place in the card's own units, on the left side
        ("cost in mana", (3, 17), True),
        ("attack", (5, 124), True),
        ("keywords", (25, 103), True),
        ("area", (75, 103), False),
        ("health for you", (97, 13), False),
        ("health for the opponent", (97, 32), False),
        ("cards drawn", (97, 51), False),
        ("defense", (95, 124), False),
    ]
    for words, (x, y), on_the_left in labels:
        at_x, at_y = left + 1.6 * x, top + 1.6 * y
        end = left - 12 if on_the_left else left + 172
        parts.append(
            f'<path d="M{at_x:.0f} {at_y:.0f}H{end}" stroke="#333" fill="none"/>'
            f'<circle cx="{at_x:.0f}" cy="{at_y:.0f}" r="2"/>'
        )
        anchor = 'text-anchor="end"' if on_the_left else ""
        parts.append(text(end + (-4 if on_the_left else 4), at_y + 4, words, anchor))
    return svg(480, top * 2 + 160 * HEIGHT // WIDTH, parts)


def types() -> str:
    """Draw a card of each type above its name."""
    names = ("creature", "green item", "red item", "blue item")
    parts = []
    for i, (one, name) in enumerate(zip(TYPES, names, strict=True)):
        x = GAP + i * 112
        parts.append(place(card_svg(one, width=100, title=""), x, GAP))
        parts.append(text(x + 50, GAP + 156, name, 'text-anchor="middle"'))
    return svg(GAP + 4 * 112, 180, parts)


def lanes(x: int, y: int, reached: Sequence[bool | None]) -> list[str]:
    """Draw one side of a board with two places in each lane; None is a free place."""
    creature = card_svg(TYPES[0], width=SMALL, title="")
    width = 2 * (SMALL + GAP) + GAP
    parts = []
    for lane in (0, 1):
        at = x + lane * (width + GAP)
        parts.append(
            f'<rect x="{at}" y="{y}" width="{width}" height="{TALL + 2 * GAP}" rx="6"'
            ' fill="#e0d6c2"/>'
        )
        for i, here in enumerate(reached[2 * lane : 2 * lane + 2]):
            if here is not None:
                opacity = 1 if here else 0.3
                parts.append(place(creature, at + GAP + i * (SMALL + GAP), y + GAP, opacity))
    return parts


def areas() -> str:
    """Draw what each area does when a creature is summoned to the left lane, and for items."""
    width = 4 * (SMALL + GAP) + 3 * GAP
    rows = [
        ("target", (True, None, None, None), (True, False, False, None)),
        ("lane1", (True, True, None, None), (True, True, False, None)),
        ("lane2", (True, None, True, None), (True, True, True, None)),
    ]
    parts = [
        text(100, 16, "a creature, summoned to the left lane", 'font-weight="bold"'),
        text(
            100 + width + 3 * GAP, 16, "an item, used on the first creature", 'font-weight="bold"'
        ),
    ]
    for i, (name, summoned, reached) in enumerate(rows):
        y = 26 + i * (TALL + 3 * GAP)
        parts.append(text(8, y + TALL / 2, name, 'font-weight="bold"'))
        parts += lanes(100, y, summoned) + lanes(100 + width + 3 * GAP, y, reached)
    return svg(100 + 2 * width + 4 * GAP, 26 + 3 * (TALL + 3 * GAP), parts)


def badge(letter: str) -> str:
    """Draw the badge of a keyword or an area."""
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" width="24" height="24"'
        f' role="img">{badge_svg(letter)}</svg>\n'
    )


PICTURES: dict[str, Callable[[], str]] = {
    "card": card,
    "types": types,
    "areas": areas,
    **{letter: partial(badge, letter) for letter in BADGES},
}


def main() -> None:
    for name, draw in PICTURES.items():
        (FOLDER / f"{name}.svg").write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
