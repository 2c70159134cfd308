"""Pictures of cards: pure functions from a card to SVG."""

from locmsim.art.board import Place, Side, board_svg, sheet_html, sheet_svg
from locmsim.art.cards import (
    BADGES,
    FRAMES,
    NUMBER_SIZES,
    badge_svg,
    card_art,
    card_description,
    card_effects,
    card_svg,
    motif_of,
)
from locmsim.art.names import card_title, card_titles

__all__ = [
    "BADGES",
    "FRAMES",
    "NUMBER_SIZES",
    "Place",
    "Side",
    "badge_svg",
    "board_svg",
    "card_art",
    "card_description",
    "card_effects",
    "card_svg",
    "card_title",
    "card_titles",
    "motif_of",
    "sheet_html",
    "sheet_svg",
]
