"""Proposal of decks for the games from which the value of decks is trained.

A network is most wrong about decks that were never played, and overrates some of them. Therefore
games are played with decks that a randomly perturbed network rates highly.
"""

import random
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from locmsim.decks import DECK_BUILDERS, DeckBuilder, build_deck, deck_builder
from locmsim.decks.value import DeckValue
from locmsim.networks.weights import Arrays, Weights
from locmsim.rules.cards import Card
from locmsim.rules.rulesets import COPIES_PER_CARD, DECK_SIZE

#: Share of the decks that networks propose, and size of the perturbation of their terms, in
#: standard deviations.
_LIKED = 0.92
_DISTURBED = 0.0, 0.0, 0.0, 0.1, 0.2, 0.4
#: Probability that their search starts with a builder's deck, else with a random one of this many
#: cheap cards.
_BUILT = 0.4
_CHEAPEST = 40, 60, 80, 120
#: Number of cards that are exchanged.
_EXCHANGED = 0, 0, 0, 1, 2, 4, 8
#: Builders; the first is used twice as often as the others.
_BUILDERS = "score", "score", "classic", "bodies", "area"


def propose_deck(
    cards: Sequence[Card],
    networks: Sequence[Arrays],
    rng: random.Random,
    score: DeckBuilder | None = None,
) -> list[Card]:
    """Return a deck of any kind to train on, mostly one that a network rates highly.

    Parameters
    ----------
    cards
        The offer.
    networks
        Arrays of deck values; may be empty.
    rng
        Source of all random choices.
    score
        Replaces the builder "score".

    Returns
    -------
    list of Card
        30 of the cards, at most two of each.
    """
    builders = {name: DECK_BUILDERS[name] for name in _BUILDERS} | (
        {"score": score} if score else {}
    )
    if networks and rng.random() < _LIKED:
        arrays = rng.choice(networks)
        direct = np.asarray(arrays["direct"])
        noise = rng.choice(_DISTURBED) * float(direct.std())
        moved = direct + [rng.gauss(0, noise) for _ in direct]
        if rng.random() < _BUILT:
            start = build_deck(cards, builders[rng.choice(_BUILDERS)])
        else:
            cheap = sorted(cards, key=lambda card: card.cost)[: rng.choice(_CHEAPEST)]
            start = rng.sample(COPIES_PER_CARD * [card.base_id for card in cheap], DECK_SIZE)
        ids = DeckValue({**arrays, "direct": moved}).improved(start, cards)
    else:
        ids = build_deck(cards, builders[rng.choice(_BUILDERS)])
    by_id = {card.base_id: card for card in cards}
    deck = [by_id[base_id] for base_id in ids]
    for _ in range(rng.choice(_EXCHANGED)):
        card = rng.choice(cards)
        if card.cost <= rng.randrange(8) and deck.count(card) < COPIES_PER_CARD:
            deck[rng.randrange(len(deck))] = card
    return deck


def score_builder(weights: Weights) -> DeckBuilder:
    """Return the builder "score" with the deck score of these weights."""
    return deck_builder(replace(weights, deck_value=None))
