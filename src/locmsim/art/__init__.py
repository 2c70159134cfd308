"""Pictures of cards: pure functions from a card to SVG."""

from locmsim.art.board import Place, Side, board_svg, sheet_html, sheet_svg
from locmsim.art.cards import (
    BADGES,
    FRAMES,
    NUMBER_SHAPES,
    card_art,
    card_effects,
    card_svg,
    card_title,
    motif_of,
)

__all__ = [
    "BADGES",
    "FRAMES",
    "NUMBER_SHAPES",
    "Place",
    "Side",
    "board_svg",
    "card_art",
    "card_effects",
    "card_svg",
    "card_title",
    "motif_of",
    "sheet_html",
    "sheet_svg",
]
