"""The value of whole decks, and the decks that it leads to."""

import random
from collections import Counter

import numpy as np
import pytest
from amounts import amount
from helpers import raises
from oracles.networks import deck_value
from oracles.terms import card_terms as oracle_terms

from locmsim.decks import (
    CARD_TERMS,
    SwapBuilder,
    WeightedScore,
    build_deck,
    card_terms,
)
from locmsim.decks.value import DECK_SHAPES, DeckValue, default_value, term_rows
from locmsim.networks._decks import DeckNetworks
from locmsim.rules.cards import Card, CardType
from locmsim.rules.generator import generate_cards


def zeros() -> dict[str, np.ndarray]:
    return {name: np.zeros(shape) for name, shape in DECK_SHAPES.items()}


def extreme_card(rng: random.Random) -> Card:
    """Draw a card with any values that a card can have."""
    return Card(
        1,
        CardType(rng.randrange(4)),
        rng.choice((0, 6, 7, 8, 127)),
        *(rng.choice((-500, -13, -1, 0, 11, 12, 13, 500)) for _ in range(2)),
        "".join(letter if rng.random() < 0.5 else "-" for letter in "BCDGLW"),
        *(rng.choice((-500, -1, 0, 1, 500)) for _ in range(2)),
        rng.choice((0, 1, 100)),
        rng.randrange(3),
    )


def test_terms_are_those_of_the_names():
    rng = random.Random(3)
    cards = generate_cards(1) + [extreme_card(rng) for _ in range(400)]
    weights = {name: rng.uniform(-1, 1) for name in CARD_TERMS}
    score = WeightedScore(weights)
    used = set()
    for row, card in zip(term_rows(cards), cards, strict=True):
        names = {name: number for name, number in zip(CARD_TERMS, row, strict=True) if number}
        terms = oracle_terms(card)
        assert names == terms == card_terms(card)
        expected = 0.0
        for name, number in terms.items():
            expected += weights[name] * number
        assert score(card) == expected  # equal to the last bit, since both add in this order
        used |= names.keys()
    assert used == {*CARD_TERMS}


def test_exchanges_end_where_none_is_better():
    value = default_value()
    for seed in range(amount(1, 3)):
        cards = generate_cards(seed)
        by_id = {card.base_id: card for card in cards}
        start = build_deck(cards, "score")
        deck = value.improved(start, cards)
        assert len(deck) == 30
        assert max(Counter(deck).values()) <= 2
        reached = value([by_id[i] for i in deck])
        assert reached >= value([by_id[i] for i in start])
        for out in sorted(set(deck)):
            rest = [by_id[i] for i in deck]
            rest.remove(by_id[out])
            for card in cards[::7]:
                if rest.count(card) < 2:
                    assert value([*rest, card]) < reached + 1e-3


def test_the_default_deck_is_worth_as_much_as_any_exchanges_lead_to():
    value = default_value()
    for seed in range(amount(1, 3)):
        cards = generate_cards(seed)
        by_id = {card.base_id: card for card in cards}
        best, *others = [
            value([by_id[i] for i in deck])
            for deck in [
                build_deck(cards),
                *(value.improved(build_deck(cards, name), cards) for name in ("score", "classic")),
            ]
        ]
        assert best >= max(others) - 1e-3


def test_restarts_find_what_no_exchange_leads_to():
    """Decks of creatures only or of green items only are best; mixed ones are worse."""
    arrays = zeros()
    for unit, kind in enumerate(("creature", "green")):
        arrays["card"][list(CARD_TERMS).index(kind), unit] = 1.0
        arrays["hidden"][len(CARD_TERMS) + unit, unit] = 1.0
        arrays["hidden_bias"][unit] = -4.0
        arrays["output"][unit] = 1.0 + unit
    value = DeckValue(arrays)
    cards = generate_cards(4)
    by_id = {card.base_id: card for card in cards}
    creatures = [card.base_id for card in cards if card.type == 0][:15] * 2
    counts = {}
    for restarts in (0, 20):
        ids = SwapBuilder(lambda _: creatures, value, restarts=restarts)(cards)
        counts[restarts] = Counter(by_id[i].type for i in ids)
        assert ids == SwapBuilder(lambda _: creatures, value, restarts=restarts)(cards)
    assert counts[0][0] == 30
    assert counts[20][1] == 30


def test_the_order_of_cards_makes_no_difference():
    cards = generate_cards(3)
    shuffled = random.Random(1).sample(cards, len(cards))
    assert sorted(build_deck(cards)) == sorted(build_deck(shuffled))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"luck": [1]}, "deck value: unknown array 'luck'"),
        ({"output": [1.0]}, r"deck value: output: expected shape \(64,\), got \(1,\)"),
        ({"output": ["a"] * 64}, "deck value: output: expected an array of numbers"),
        ({"output": [float("inf")] * 64}, "deck value: output: not all numbers are finite"),
    ],
)
def test_bad_arrays_are_named(change, message):
    raises(ValueError, message, DeckValue, {**zeros(), **change})
    arrays = zeros()
    del arrays["card"]
    raises(ValueError, "deck value: card is missing", DeckValue, zeros(), arrays)
    raises(ValueError, "deck value: no network is given", DeckValue)


def test_a_value_is_the_mean_of_its_networks():
    """Each network's value is the one that numpy computes."""
    rng = np.random.default_rng(3)
    networks = [
        {name: 0.1 * rng.standard_normal(shape) for name, shape in DECK_SHAPES.items()}
        for _ in range(3)
    ]
    deck = generate_cards(5)[:30]
    values = [DeckValue(arrays)(deck) for arrays in networks]
    assert np.ptp(values) > 0.1
    assert values == pytest.approx([deck_value([w], term_rows(deck)) for w in networks], rel=1e-3)
    assert DeckValue(*networks)(deck) == pytest.approx(np.mean(values), rel=1e-4)


def test_the_exchange_of_cards_ends_where_rounding_makes_gains():
    """Terms of a billion, which no card has, are rounded to multiples of 64 as floats."""
    rng = np.random.default_rng(1)
    networks = DeckNetworks(default_value().networks[:1])
    terms = (1e9 * rng.standard_normal((40, len(CARD_TERMS)))).astype(np.float32)
    assert sum(networks.improved(terms, [1] * 30 + [0] * 10)) == 30
