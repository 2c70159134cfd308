"""Pictures of cards in notebooks: importing this module gives `Card` its ``_repr_svg_``.

``locmsim`` imports it with the first of its names. Drawing is imported with the first picture.
"""

from locmsim.rules.cards import Card


def _repr_svg_(card: Card) -> str:
    """Return the card's picture, as notebooks show it."""
    from locmsim.art.cards import card_svg

    return card_svg(card, width=120)


Card._repr_svg_ = _repr_svg_  # type: ignore[attr-defined]
