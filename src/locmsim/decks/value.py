"""What a whole deck is worth, and a deck builder that looks for the one that is worth most.

A sum over cards cannot say that a deck needs creatures to use its items on, or cheap cards beside
dear ones. A small network can: it sees the `CARD_TERMS` of all cards, summed up as they are and
behind a layer of units. The ensemble in the package was trained on games between decks of all
kinds, and says what a deck is worth to the search that plays it (`tools/deck_network.py`).

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

import numpy as np
from numpy.typing import NDArray

from locmsim.decks.features import CARD_TERMS, card_terms
from locmsim.networks._network import checked
from locmsim.networks.weights import default_weights
from locmsim.rules.cards import Card
from locmsim.rules.rulesets import COPIES_PER_CARD

__all__ = ["SHAPES", "UNITS", "DeckValue", "default_value", "term_rows"]

_Array = NDArray[np.float32]

_TERMS = {name: column for column, name in enumerate(CARD_TERMS)}
#: Of each hidden layer.
UNITS = 64
#: Name -> shape of the arrays of a network.
SHAPES = {
    "card": (len(_TERMS), UNITS),
    "card_bias": (UNITS,),
    "hidden": (len(_TERMS) + UNITS, UNITS),
    "hidden_bias": (UNITS,),
    "output": (UNITS,),
    "direct": (len(_TERMS) + UNITS,),
}
#: An exchange has to raise the value by more than this.
_LEAST_GAIN = 1e-4


def term_rows(cards: Sequence[Card]) -> _Array:
    """The `CARD_TERMS` of cards: shape (cards, terms)."""
    rows = np.zeros((len(cards), len(_TERMS)), np.float32)
    for row, card in zip(rows, cards, strict=True):
        for name, number in card_terms(card).items():
            row[_TERMS[name]] = number
    return rows


class DeckValue:
    """The value of decks; the difference of two decks' values is the log-odds of winning.

    It is the mean of an ensemble: each network likes a few decks too much, and seldom the same
    ones.

    Parameters
    ----------
    *networks
        Each an array of numbers for each name in `SHAPES`.

    Raises
    ------
    ValueError
        Names an array that is missing, unknown, of another shape or not finite, or says that no
        network is given.
    """

    def __init__(self, *networks: Mapping[str, Any]) -> None:
        if not networks:
            raise ValueError("deck value: no network is given")
        self.networks = tuple(checked("deck value", arrays, SHAPES) for arrays in networks)
        self._bias = np.concatenate([arrays["hidden_bias"] for arrays in self.networks])
        self._output = np.concatenate([arrays["output"] for arrays in self.networks])
        self._output /= len(self.networks)

    def __call__(self, deck: Sequence[Card]) -> float:
        hidden, direct = self._inputs(deck)
        return float(self._output_of(hidden.sum(axis=0) + self._bias) + direct.sum())

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
            Base ids of the deck that no exchange makes better.
        """
        # Sorted, so that the order of the offer decides nothing.
        offered = sorted({card.base_id: card for card in cards}.values(), key=lambda c: c.base_id)
        hidden, direct = self._inputs(offered)
        chosen = Counter(deck)
        copies = np.array([chosen[card.base_id] for card in offered])
        total = copies.astype(np.float32) @ hidden + self._bias
        value = float(self._output_of(total.copy()) + copies @ direct)
        while (copies < COPIES_PER_CARD).any():
            out, into = np.flatnonzero(copies), np.flatnonzero(copies < COPIES_PER_CARD)
            gains = direct[into] - direct[out, None] + copies @ direct - value
            entering = hidden[into]
            for i, card in enumerate(out):  # a row at a time stays in the cache
                gains[i] += self._output_of(entering + (total - hidden[card]))
            gains[out[:, None] == into] = -np.inf
            best = np.unravel_index(gains.argmax(), gains.shape)
            if gains[best] <= _LEAST_GAIN:
                break
            copies[out[best[0]]] -= 1
            copies[into[best[1]]] += 1
            total += hidden[into[best[1]]] - hidden[out[best[0]]]
            value += float(gains[best])
        return [card.base_id for card, n in zip(offered, copies, strict=True) for _ in range(n)]

    def _inputs(self, cards: Sequence[Card]) -> tuple[_Array, _Array]:
        """What each card adds to the hidden units of all networks, shape (cards, units), and to the
        value itself. Those of a deck are their sums."""
        terms = term_rows(cards)
        columns, direct = [], np.zeros(len(cards), np.float32)
        for w in self.networks:
            units = np.maximum(_by_row(terms, w["card"]) + w["card_bias"], 0)
            sums = np.concatenate([terms, units], axis=1)
            columns.append(_by_row(sums, w["hidden"]))
            direct += sums @ w["direct"] / len(self.networks)
        return np.concatenate(columns, axis=1), direct

    def _output_of(self, hidden: _Array) -> _Array:
        """What the hidden units make of their inputs, which are overwritten."""
        # No "@", see `_by_row`.
        output: _Array = np.einsum("...i,i", np.maximum(hidden, 0, out=hidden), self._output)
        return output


def _by_row(rows: _Array, matrix: _Array) -> _Array:
    """Their product, a row at a time: for all of them BLAS would wake threads, which takes longer,
    above all where other processes use the cores."""
    product: _Array = (rows[:, None] @ matrix)[:, 0]
    return product


@cache
def default_value() -> DeckValue:
    """The one in the package."""
    return DeckValue(*(default_weights("1.5").deck_value or ()))
