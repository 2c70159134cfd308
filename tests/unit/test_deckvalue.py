"""The value of whole decks, and the decks that it leads to."""

import random
from collections import Counter

import numpy as np
import pytest
from helpers import check_gradients

from locmsim.decks.building import DECK_BUILDERS, SwapBuilder, build_deck
from locmsim.decks.features import CARD_TERMS, card_terms
from locmsim.decks.value import SHAPES, DeckValue, _Games, default_value, learn_decks, term_rows
from locmsim.rules.generator import generate_cards


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


def test_term_rows_are_the_terms():
    cards = generate_cards(1)
    for row, card in zip(term_rows(cards), cards, strict=True):
        names = {name: number for name, number in zip(CARD_TERMS, row, strict=True) if number}
        assert names == card_terms(card)


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
    for seed in range(3):
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
    for seed in range(3):
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
    for restarts in (0, 30):
        ids = SwapBuilder(lambda _: creatures, value, restarts=restarts)(cards)
        counts[restarts] = Counter(by_id[i].type for i in ids)
        assert ids == SwapBuilder(lambda _: creatures, value, restarts=restarts)(cards)
    assert counts[0][0] == 30
    assert counts[30][1] == 30


def test_the_order_of_cards_makes_no_difference():
    cards = generate_cards(3)
    shuffled = random.Random(1).sample(cards, len(cards))
    assert sorted(build_deck(cards)) == sorted(build_deck(shuffled))


def test_gradients_are_the_derivatives():
    rows, _ = random_decks(20)
    chance = np.random.default_rng(0)
    model = _Games(rows, chance.integers(0, 3, (20, 2)), chance)
    assert set(model.arrays) == {*SHAPES, "advantage", "players_direct", "players_output"}
    model.arrays = {
        name: array + 0.3 * chance.standard_normal(array.shape)
        for name, array in model.arrays.items()
    }
    check_gradients(model, np.array([3, 0, 7, 7, 19]))


def test_it_learns_what_no_sum_over_cards_can_say():
    """Decks win that are nearest to ten creatures."""
    rows, decks = random_decks(1500)
    off = [[abs(sum(card.type == 0 for card in deck) - 10) for deck in pair] for pair in decks]
    rows, won = (
        np.array([x for x, (a, b) in zip(rows, off, strict=True) if a != b]),
        np.array([a < b for a, b in off if a != b]),
    )
    value, loss = learn_decks(rows, won, epochs=40)
    assert loss < 0.35
    foretold = [value(a) > value(b) for (a, b), (x, y) in zip(decks, off, strict=True) if x != y]
    assert np.mean(np.array(foretold) == won) > 0.8


def test_what_is_learnt_is_what_the_model_says():
    rows, decks = random_decks(40)
    model = _Games(rows, np.zeros((40, 2), int), np.random.default_rng(0))
    model.arrays["players_direct"][0, 3] = 2.0
    model.arrays["output"] = np.ones(SHAPES["output"], np.float32)
    odds, _ = model.forward(np.arange(40))
    value = model.value()
    got = [value(a) - value(b) for a, b in decks]
    np.testing.assert_allclose(got, odds, rtol=1e-3, atol=1e-3)


def test_who_played_is_told_from_the_decks():
    """Both play the same deck; one player wins all games against another one."""
    rows = np.repeat(random_decks(40)[0][:, :1], 2, axis=1)
    first = np.arange(40) % 2
    _, told = learn_decks(rows, first, players=np.stack([first, 1 - first], axis=1), epochs=600)
    _, untold = learn_decks(rows, first, epochs=600)
    assert told < 0.5
    assert untold > 0.69


def test_decks_are_worth_what_player_number_0_makes_of_them():
    """Number 0 wins with the deck that draws more, number 1 with the one that draws less."""
    rows, decks = random_decks(1000)
    draws = [[sum(card.card_draw for card in deck) for deck in pair] for pair in decks]
    players = np.repeat(np.arange(1000)[:, None] % 2, 2, axis=1)
    won = np.array([(a > b) != who for (a, b), who in zip(draws, players[:, 0], strict=True)])
    value, _ = learn_decks(rows, won, players=players, epochs=100)
    likes_more = [value(a) > value(b) for a, b in decks[:200]]
    assert np.mean([x == (a > b) for x, (a, b) in zip(likes_more, draws, strict=False)]) > 0.8


def test_learning_needs_games():
    with pytest.raises(ValueError, match="no games"):
        learn_decks(np.zeros((0, 2, 30, len(CARD_TERMS))), np.zeros(0))


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
