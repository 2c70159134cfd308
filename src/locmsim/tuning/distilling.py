"""Distillation of an ensemble of deck values into one network, where space is limited.

It learns to rank decks as the ensemble does, above all good decks that differ in a few cards, since
these are the ones that a deck builder compares.
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

#: Per card set: the number of decks that are compared, and of pairs of them.
_PROPOSED = 6
_PAIRS = 100
#: Number of cards exchanged in a deck beforehand.
_EXCHANGED = 0, 0, 1, 1, 1, 2, 2, 3, 5, 8
#: Probability that both decks of a pair come from the same one.
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
        The arrays of each network of the ensemble.
    sets
        Number of card sets to learn from.
    epochs
        Number of epochs. The default takes some minutes and 400 MB.
    seed
        Seed of all random numbers.

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
    cards = generate_cards(-1 - number)  # card sets that are used for nothing else
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
