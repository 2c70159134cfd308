"""The value of a draft: that of its final deck, and its expectation during the draft.

A small ensemble, trained on games of the search that plays the decks, rates decks of the 160 cards
of rules 1.2 and 1.0. During a draft the later offers are unknown, but the offers so far reveal some
of the 60 cards that it is dealt from (docs/rules.md, section 4). The expected value is a mean over
sampled continuations of the draft.

    >>> import numpy as np
    >>> from locmsim.decks.draft_value import DRAFT_SHAPES, DraftValue
    >>> from locmsim.rules.cards import cards_1x
    >>> arrays = {name: np.zeros(shape, np.float32) for name, shape in DRAFT_SHAPES.items()}
    >>> arrays["direct"][:2] = 1.0, 2.0  # the cards with the base ids 1 and 2
    >>> value = DraftValue(arrays)
    >>> cards = cards_1x()
    >>> value(cards[:30])
    3.0
    >>> first, second, third = value.expected([cards[:3]], [])
    >>> second > first > third
    True
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from locmsim.networks._drafts import DRAFT_SHAPES, DraftNetworks
from locmsim.networks.weights import Arrays, Weights, shared_weights
from locmsim.rules.cards import Card

__all__ = ["DRAFTS", "DRAFT_SHAPES", "DraftValue", "default_draft_value", "draft_value_of"]

#: Number of sampled drafts in an expected value: four times as many win no more games.
DRAFTS = 16


class DraftValue:
    """The value of decks of rules 1.2 or 1.0; the difference of two is the log-odds of winning.

    Parameters
    ----------
    *networks
        Each is a mapping with an array for each name in `DRAFT_SHAPES`; the value is their mean.

    Raises
    ------
    ValueError
        An array is missing, unknown, of the wrong shape or not finite, or there are no networks or
        too many.
    """

    def __init__(self, *networks: Mapping[str, Any]) -> None:
        self._networks = DraftNetworks(networks)

    @property
    def compiled(self) -> DraftNetworks:
        """The compiled ensemble, which the search calls without the interpreter."""
        return self._networks

    @property
    def networks(self) -> tuple[Arrays, ...]:
        """The arrays of each network."""
        return self._networks.arrays

    def __call__(self, deck: Sequence[Card]) -> float:
        """Return the value of a deck of at most 30 cards; cards outside the 160 count as 0."""
        return self._networks.value([card.base_id for card in deck])

    def expected(
        self, offers: Sequence[Sequence[Card]], picked: Sequence[Card], drafts: int = DRAFTS
    ) -> tuple[float, float, float]:
        """Return the expected value of the final deck after each of three picks.

        It depends only on the arguments: the same offers and picks have the same values.

        Parameters
        ----------
        offers
            Three cards for each turn so far; the pick is from the last three.
        picked
            The cards taken from the earlier offers.
        drafts
            Number of sampled continuations of the draft.

        Returns
        -------
        tuple of float
            The values with the first, second and third card of the last offer.

        Raises
        ------
        ValueError
            The arguments do not fit together.
        """
        ids = [[card.base_id for card in offer] for offer in offers]
        first, second, third = self._networks.expected(ids, [c.base_id for c in picked], drafts)
        return first, second, third

    def followed(self, offers: Sequence[Sequence[Card]], drafts: int = DRAFTS) -> list[list[float]]:
        """Return the three expected values per turn of a draft that always takes the best card.

        Parameters
        ----------
        offers
            Three cards for each turn.
        drafts
            As for `expected`.

        Raises
        ------
        ValueError
            An offer does not have three cards.
        """
        ids = [[card.base_id for card in offer] for offer in offers]
        return self._networks.followed(ids, drafts)


def draft_value_of(weights: Weights) -> DraftValue | None:
    """Return the draft value of a player's weights, or None if they have none.

    Parameters
    ----------
    weights : Weights
        The weights of one rule set.
    """
    return DraftValue(*weights.draft_value) if weights.draft_value else None


@cache
def default_draft_value(rules: str) -> DraftValue | None:
    """Return the package's draft value of a rule set, or None.

    Parameters
    ----------
    rules : str
        The rule set.
    """
    return draft_value_of(shared_weights(rules))
