"""Pictures of cards: pure functions from a card to SVG."""

from locmsim.art.cards import card_art, card_svg, card_title, motif_of

__all__ = ["card_art", "card_svg", "card_title", "motif_of"]
