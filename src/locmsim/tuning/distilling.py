"""One network of deck values in place of an ensemble, where there is room for one only.

It is trained to tell the decks apart that the ensemble tells apart, above all good ones that differ
in a few cards: those are what a deck builder compares.
"""

import random
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from locmsim.decks import GreedyBuilder, SwapBuilder, card_score
from locmsim.decks.value import DeckValue, term_rows
from locmsim.networks.weights import Arrays
from locmsim.rules.cards import Card
from locmsim.rules.generator import generate_cards
from locmsim.rules.rulesets import COPIES_PER_CARD
from locmsim.tuning.decks import DeckModel
from locmsim.tuning.proposals import propose_deck
from locmsim.tuning.training import Array, log_odds, train

__all__ = ["distilled_deck_value"]

#: Of a card set, decks that are compared, and pairs of them.
_PROPOSED = 6
_PAIRS = 100
#: Cards that are exchanged in a deck before.
_EXCHANGED = 0, 0, 1, 1, 1, 2, 2, 3, 5, 8
#: How often both decks of a pair come from the same one.
_NEAR = 0.6


def distilled_deck_value(
    networks: Sequence[Arrays],
    *,
    sets: int = 200,
    epochs: int = 20,
    seed: int = 0,
) -> dict[str, Array]:
    """Train a network whose deck values approximate those of an ensemble.

    Parameters
    ----------
    networks
        Arrays of each network of the ensemble.
    sets
        Card sets whose decks it learns from.
    epochs
        How often each pair of decks is seen. The default takes some minutes, and 400 MB.
    seed
        Of everything random.

    Returns
    -------
    dict of str to float32 array
        For `locmsim.decks.value.DeckValue`.
    """
    pick = random.Random(seed)
    decks = np.stack([rows for number in range(sets) for rows in _pairs(number, networks, pick)])
    players = np.zeros((len(decks), 2), np.int64)
    rng = np.random.default_rng(seed)
    rows = np.arange(len(decks))
    gains = [log_odds(DeckModel(decks, players, rng, arrays), rows) for arrays in networks]
    likely = 1 / (1 + np.exp(-np.mean(gains, axis=0)))
    model = DeckModel(decks, players, rng, networks[0])
    still = dict.fromkeys(model.arrays, 0.0)
    train(model, rows, likely, epochs=epochs, rng=rng, decay=still)
    return model.value()


def _pairs(number: int, networks: Sequence[Arrays], rng: random.Random) -> list[NDArray[np.int16]]:
    """Return the terms of pairs of decks of a card set."""
    cards = generate_cards(-1 - number)  # no set that anybody plays or tests with
    by_id = {card.base_id: card for card in cards}
    best = SwapBuilder(GreedyBuilder(card_score("1.5")), DeckValue(*networks), restarts=1)(cards)
    decks = [[by_id[base_id] for base_id in best]] * (_PROPOSED // 2)
    decks += [propose_deck(cards, networks, rng) for _ in range(_PROPOSED)]
    pairs = []
    for _ in range(_PAIRS):
        first = rng.choice(decks)
        second = first if rng.random() < _NEAR else rng.choice(decks)
        both = [term_rows(_exchanged(deck, cards, rng)) for deck in (first, second)]
        pairs.append(np.stack(both).astype(np.int16))
    return pairs


def _exchanged(deck: Sequence[Card], cards: Sequence[Card], rng: random.Random) -> list[Card]:
    deck = list(deck)
    for _ in range(rng.choice(_EXCHANGED)):
        card = rng.choice(cards)
        if deck.count(card) < COPIES_PER_CARD:
            deck[rng.randrange(len(deck))] = card
    return deck
