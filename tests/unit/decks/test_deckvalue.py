"""The value of whole decks, and the decks that it leads to."""

import random
from collections import Counter

import numpy as np
import pytest
from amounts import amount
from helpers import check_gradients
from oracles.terms import card_terms as oracle_terms

from locmsim.decks import DECK_BUILDERS, SwapBuilder, WeightedScore, build_deck
from locmsim.decks.features import CARD_TERMS, card_terms
from locmsim.decks.value import SHAPES, DeckValue, default_value, term_rows
from locmsim.networks._decks import DeckNetworks
from locmsim.rules.cards import Card, CardType
from locmsim.rules.generator import generate_cards
from locmsim.tuning.decks import DeckModel, train_deck_value


def zeros() -> dict[str, np.ndarray]:
    return {name: np.zeros(shape) for name, shape in SHAPES.items()}


def wanting(**weights: float) -> DeckValue:
    """A value that is the sum of some terms."""
    arrays = zeros()
    for column, name in enumerate(CARD_TERMS):
        arrays["direct"][column] = weights.get(name.replace(".", "_"), 0.0)
    return DeckValue(arrays)


def random_decks(games: int) -> tuple[np.ndarray, list]:
    chance = random.Random(1)
    decks = []
    for seed in range(games):
        cards = generate_cards(seed % 5)
        decks.append([chance.sample(cards, 30) for _ in range(2)])
    return np.array([[term_rows(deck) for deck in pair] for pair in decks]), decks


def extreme_card(chance: random.Random) -> Card:
    """Any values that a card can have."""
    return Card(
        1,
        CardType(chance.randrange(4)),
        chance.choice((0, 6, 7, 8, 127)),
        *(chance.choice((-500, -13, -1, 0, 11, 12, 13, 500)) for _ in range(2)),
        "".join(letter if chance.random() < 0.5 else "-" for letter in "BCDGLW"),
        *(chance.choice((-500, -1, 0, 1, 500)) for _ in range(2)),
        chance.choice((0, 1, 100)),
        chance.randrange(3),
    )


def test_terms_are_those_of_the_names():
    chance = random.Random(3)
    cards = generate_cards(1) + [extreme_card(chance) for _ in range(400)]
    weights = {name: chance.uniform(-1, 1) for name in CARD_TERMS}
    score = WeightedScore(weights)
    used = set()
    for row, card in zip(term_rows(cards), cards, strict=True):
        names = {name: number for name, number in zip(CARD_TERMS, row, strict=True) if number}
        terms = oracle_terms(card)
        assert names == terms == card_terms(card)
        expected = 0.0
        for name, number in terms.items():
            expected += weights[name] * number
        assert score(card) == expected  # summed up in this order
        used |= names.keys()
    assert used == {*CARD_TERMS}


def test_a_sum_of_terms_leads_to_the_best_deck():
    cards = generate_cards(2)
    value = wanting(draw=1.0)
    ids = SwapBuilder(DECK_BUILDERS["cheapest"], value)(cards)
    best = sorted((card.card_draw for card in cards for _ in range(2)), reverse=True)[:30]
    by_id = {card.base_id: card for card in cards}
    assert sorted((by_id[i].card_draw for i in ids), reverse=True) == best
    assert value([by_id[i] for i in ids]) == pytest.approx(sum(best))


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
    """All cards of one kind or all of another one are worth the most: greens, being more."""
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


def test_gradients_are_the_derivatives():
    rows, _ = random_decks(20)
    chance = np.random.default_rng(0)
    model = DeckModel(rows, chance.integers(0, 3, (20, 2)), chance)
    assert set(model.arrays) == {*SHAPES, "advantage", "players_direct", "players_output"}
    model.arrays = {
        name: array + 0.3 * chance.standard_normal(array.shape)
        for name, array in model.arrays.items()
    }
    check_gradients(model, np.array([3, 0, 7, 7, 19]))


def test_what_is_trained_is_what_the_model_says():
    rows, decks = random_decks(40)
    model = DeckModel(rows, np.zeros((40, 2), int), np.random.default_rng(0))
    model.arrays["players_direct"][0, 3] = 2.0
    model.arrays["output"] = np.ones(SHAPES["output"], np.float32)
    odds, _ = model.forward(np.arange(40))
    value = DeckValue(model.value())
    got = [value(a) - value(b) for a, b in decks]
    np.testing.assert_allclose(got, odds, rtol=1e-3, atol=1e-3)


def test_training_needs_games():
    with pytest.raises(ValueError, match="no games"):
        train_deck_value(np.zeros((0, 2, 30, len(CARD_TERMS))), np.zeros(0))


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
    with pytest.raises(ValueError, match=message):
        DeckValue({**zeros(), **change})
    arrays = zeros()
    del arrays["card"]
    with pytest.raises(ValueError, match="deck value: card is missing"):
        DeckValue(zeros(), arrays)
    with pytest.raises(ValueError, match="deck value: no network is given"):
        DeckValue()


def test_a_value_is_the_mean_of_its_networks():
    chance = np.random.default_rng(3)
    networks = [
        {name: 0.1 * chance.standard_normal(shape) for name, shape in SHAPES.items()}
        for _ in range(3)
    ]
    deck = generate_cards(5)[:30]
    values = [DeckValue(arrays)(deck) for arrays in networks]
    assert np.ptp(values) > 0.1
    assert DeckValue(*networks)(deck) == pytest.approx(np.mean(values), rel=1e-4)


def test_training_goes_on_from_arrays():
    """Without a step worth mentioning they are what they were."""
    rows, _ = random_decks(30)
    start = default_value().networks[0]
    model = DeckModel(rows, np.zeros((30, 2), int), np.random.default_rng(0), start)
    for name, array in model.value().items():
        np.testing.assert_allclose(array, start[name], rtol=1e-5, atol=1e-7)
    won = np.arange(30) % 2
    arrays, _ = train_deck_value(rows, won, start=start, epochs=1)
    assert np.abs(arrays["card"] - start["card"]).max() < 0.01
    steps = []
    for rate in (3e-3, 3e-4):
        arrays, _ = train_deck_value(rows, won, start=start, epochs=4, rate=rate)
        steps.append(np.abs(arrays["output"] - start["output"]).max())
    assert 0 < steps[1] < 0.2 * steps[0]


def test_the_exchange_of_cards_ends_where_rounding_makes_gains():
    """Terms of a billion, as no card has: a float is then right to 64 only."""
    chance = np.random.default_rng(1)
    networks = DeckNetworks(default_value().networks[:1])
    terms = (1e9 * chance.standard_normal((40, len(CARD_TERMS)))).astype(np.float32)
    assert sum(networks.improved(terms, [1] * 30 + [0] * 10)) == 30
