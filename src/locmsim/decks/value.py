"""The value of a whole deck, and improvement of decks by exchanges.

A sum over cards cannot express that a deck needs creatures to use its items on, or cheap cards
beside expensive ones. A small network can: its inputs are the `CARD_TERMS` of all cards, summed
both directly and after a layer of units. The ensemble in the package was trained on games between
decks of all kinds and predicts the value of a deck to the search that plays it
(`tools/deck_network.py`, then `locmsim tune --parts deck`).

    >>> from locmsim.decks import build_deck
    >>> from locmsim.decks.value import default_value
    >>> from locmsim.rules.generator import generate_cards
    >>> cards = generate_cards(1)
    >>> by_id = {card.base_id: card for card in cards}
    >>> value = default_value()
    >>> decks = [[by_id[i] for i in build_deck(cards, name)] for name in ("default", "cheapest")]
    >>> value(decks[0]) > value(decks[1])
    True
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from locmsim.networks._decks import DECK_SHAPES, DeckNetworks, stored_rows, term_rows
from locmsim.networks.weights import Arrays, shared_weights
from locmsim.rules.cards import Card
from locmsim.rules.rulesets import COPIES_PER_CARD

__all__ = ["DECK_SHAPES", "UNITS", "DeckValue", "default_value", "term_rows"]

#: An exchange must raise the value of a deck by more than this: less may be a rounding error.
_LEAST = 1e-4
#: Size of each hidden layer.
UNITS = DECK_SHAPES["output"][0]


class DeckValue:
    """The value of decks; the difference of two decks' values is the log-odds of winning.

    It is the mean of an ensemble, because each single network overrates a few decks, rarely the
    same ones.

    Parameters
    ----------
    *networks
        Each is a mapping with an array for each name in `DECK_SHAPES`.

    Raises
    ------
    ValueError
        An array is missing, unknown, of the wrong shape or not finite, or no network is given.
    """

    def __init__(self, *networks: Mapping[str, Any]) -> None:
        if not networks:
            raise ValueError("deck value: no network is given")
        self._networks = DeckNetworks(networks)

    @property
    def networks(self) -> tuple[Arrays, ...]:
        """The arrays of each network."""
        return self._networks.arrays

    def __call__(self, deck: Sequence[Card]) -> float:
        copies = Counter(deck)
        cards = sorted(copies, key=Card.to_row)
        return self._networks.value(stored_rows(cards), [copies[card] for card in cards])

    def improved(self, deck: Sequence[int], cards: Sequence[Card]) -> list[int]:
        """Exchange cards of a deck for offered ones while that raises its value.

        Cards are exchanged one at a time, always by the best exchange.

        Parameters
        ----------
        deck
            Base ids of 30 of the offered cards.
        cards
            The offer.

        Returns
        -------
        list of int
            Base ids of a deck that no exchange improves.

        Raises
        ------
        ValueError
            The deck has a card that is not offered.
        """
        offered, copies = _counted(deck, cards)
        best = self._networks.improved(stored_rows(offered), copies)
        return [card.base_id for card, n in zip(offered, best, strict=True) for _ in range(n)]

    def best_exchange(
        self, deck: Sequence[int], cards: Sequence[Card]
    ) -> tuple[int, int, int, float] | None:
        """Return the most valuable exchange of a card of a deck for an offered one.

        Parameters
        ----------
        deck
            Base ids of 30 of the offered cards.
        cards
            The offer.

        Returns
        -------
        tuple of int, int, int and float, or None
            The base ids of the card to give up and of the one to take, the number of copies that
            change (both, if the deck has two of the first and none of the second), and the value
            of the deck then. None if no exchange improves the deck.

        Raises
        ------
        ValueError
            The deck has a card that is not offered.
        """
        import numpy as np

        offered, copies = _counted(deck, cards)
        rows = stored_rows(offered)
        values = self._networks.exchanged(rows, copies)
        if np.isnan(values).all():  # both copies of all cards are in the deck
            return None
        out, into = divmod(int(np.nanargmax(values)), len(offered))
        value = float(values[out, into])
        if value <= self._networks.value(rows, copies) + _LEAST:
            return None
        changed = min(copies[out], COPIES_PER_CARD - copies[into])
        return offered[out].base_id, offered[into].base_id, changed, value


def _counted(deck: Sequence[int], cards: Sequence[Card]) -> tuple[list[Card], list[int]]:
    """Return the cards of an offer by base id, each once, and how many of each a deck has."""
    offered = sorted({card.base_id: card for card in cards}.values(), key=lambda c: c.base_id)
    chosen = Counter(deck)
    missing = chosen.keys() - {card.base_id for card in offered}
    if missing:
        raise ValueError(f"deck: card {min(missing)} is not offered")
    return offered, [chosen[card.base_id] for card in offered]


@cache
def default_value() -> DeckValue:
    """Return the deck value in the package."""
    return DeckValue(*(shared_weights("1.5").deck_value or ()))
