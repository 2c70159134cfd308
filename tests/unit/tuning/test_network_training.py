"""Training of networks: its results, its repeatability, and that play uses the same network."""

import random

import numpy as np
import pytest
from amounts import amount
from helpers import raises
from states import running_positions

pytest.importorskip("torch")

from locmsim.decks import CARD_TERMS
from locmsim.decks.draft_value import DRAFT_SHAPES, DraftValue
from locmsim.decks.value import DECK_SHAPES, DeckValue, default_value, term_rows
from locmsim.networks import (
    BLOCKS,
    LARGE_SHAPES,
    SHAPES,
    Network,
    default_weights,
    inputs,
)
from locmsim.rules.cards import Card, CardType, cards_1x
from locmsim.rules.generator import generate_cards
from locmsim.tuning.card_values import copies_of
from locmsim.tuning.decks import DeckModel, train_deck_value
from locmsim.tuning.distilling import distilled_deck_value
from locmsim.tuning.drafts import DraftModel, train_draft_value
from locmsim.tuning.positions import PositionModel, train_network
from locmsim.tuning.proposals import propose_deck
from locmsim.tuning.training import log_odds, parameters, torch, train

ROWS = sum(int(np.prod(shape)) for shape in BLOCKS.values())


def random_decks(games: int) -> tuple[np.ndarray, list[list[list[Card]]]]:
    rng = random.Random(1)
    decks = []
    for seed in range(games):
        cards = generate_cards(seed % 5)
        decks.append([rng.sample(cards, 30) for _ in range(2)])
    return np.array([[term_rows(deck) for deck in pair] for pair in decks]), decks


def disturb(arrays: dict[str, torch.Tensor], size: float) -> None:
    """Add noise to all arrays, since training begins some of them with zeros."""
    rng = np.random.default_rng(7)
    with torch.no_grad():
        for tensor in arrays.values():
            noise = size * rng.standard_normal(tuple(tensor.shape))
            tensor += torch.tensor(noise, dtype=torch.float32)


def same(first: dict[str, np.ndarray], second: dict[str, np.ndarray]) -> bool:
    return first.keys() == second.keys() and all(
        np.array_equal(first[name], second[name]) for name in first
    )


# ---- the loop ------------------------------------------------------------------------------------


class Coin:
    """A model with the same odds for all rows."""

    def __init__(self, odds: float = 0.0) -> None:
        self.arrays = parameters({"odds": np.array(odds)})

    def __call__(self, rows: np.ndarray) -> torch.Tensor:
        return self.arrays["odds"].expand(len(rows))


@pytest.mark.parametrize("certain", [True, False], ids=["results", "chances"])
def test_training_finds_a_single_weight(certain: bool) -> None:
    won = np.arange(1000) % 4 == 0 if certain else np.full(1000, 0.25)
    coin = Coin()
    loss = train(
        coin, np.zeros((1000, 1)), won, epochs=500, rng=np.random.default_rng(0),
        decay={"odds": 0.0}, rate=1e-2,
    )  # fmt: skip
    assert loss == pytest.approx(-(0.25 * np.log(0.25) + 0.75 * np.log(0.75)), abs=1e-3)
    assert coin.arrays["odds"].item() == pytest.approx(np.log(1 / 3), abs=0.03)


def test_weights_shrink_by_their_part_of_a_step() -> None:
    """Weight decay alone acts where nothing can be learnt.

    Steps grow, then shrink: their mean is half of the longest.
    """

    class Deaf(Coin):
        def __call__(self, rows: np.ndarray) -> torch.Tensor:
            return 0 * super().__call__(rows)

    for decay in (0.0, 0.1, 1.0):
        coin = Deaf(1.0)
        train(
            coin, np.zeros((1, 1)), np.ones(1), epochs=500, rng=np.random.default_rng(0),
            decay={"odds": decay}, rate=4e-3,
        )  # fmt: skip
        assert coin.arrays["odds"].item() == pytest.approx(np.exp(-decay), rel=2e-3)


def test_it_trains_in_one_thread_and_leaves_the_others_alone() -> None:
    seen = []

    class Looking(Coin):
        def __call__(self, rows: np.ndarray) -> torch.Tensor:
            seen.append(torch.get_num_threads())
            return super().__call__(rows)

    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        model = Looking()
        train(model, np.zeros((5, 1)), np.ones(5), epochs=1, rng=np.random.default_rng(0))
        log_odds(model, np.zeros((5, 1)))
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
    assert seen == [1, 1]


def test_log_odds_of_many_rows_and_of_none() -> None:
    assert log_odds(Coin(0.5), np.zeros((3000, 1))).tolist() == [0.5] * 3000
    assert log_odds(Coin(), np.zeros((0, 1))).shape == (0,)


# ---- positions -----------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", ["1.5", "1.0"])
def test_the_network_that_is_trained_is_the_one_that_searches_run(rules: str) -> None:
    some = running_positions(rules, 2)
    positions = np.stack([inputs(state, 1) for state in some])
    model = PositionModel(positions, np.random.default_rng(0))
    assert model.arrays.keys() == SHAPES.keys()
    disturb(model.arrays, 0.1)
    network = Network(model.unscaled())
    expected = [network(state, 1) for state in some]
    np.testing.assert_allclose(log_odds(model, positions), expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("shapes", [SHAPES, LARGE_SHAPES], ids=["small", "large"])
def test_a_network_continues_from_a_smaller_one_or_one_like_it(shapes: dict) -> None:
    """What it predicts is the same at first; training makes use of the units that were added."""
    some = running_positions("1.5", 2)
    positions = np.stack([inputs(state, 0) for state in some])
    start = default_weights("1.5").network  # a small one
    model = PositionModel(positions, np.random.default_rng(0), shapes, start)
    expected = [Network(start)(state, 0) for state in some]
    np.testing.assert_allclose(log_odds(model, positions), expected, rtol=1e-3, atol=1e-3)
    before = model.unscaled()
    assert {name: array.shape for name, array in before.items()} == shapes
    won = np.arange(len(some)) % 2
    after, _ = train_network(
        positions, won, large=shapes is LARGE_SHAPES, start=start, epochs=30, rate=3e-3
    )
    assert (after["output"] != before["output"]).mean() > 0.5  # the others are dead


def test_training_of_positions_is_repeatable() -> None:
    """And a small network does not continue from a large one."""
    positions = np.stack([inputs(state, 0) for state in running_positions("1.5")])
    won = positions[:, -39] > 25
    first, loss = train_network(positions, won, epochs=3, seed=4)
    again, loss_again = train_network(positions, won, epochs=3, seed=4)
    other, _ = train_network(positions, won, epochs=3, seed=5)
    assert same(first, again)
    assert loss == loss_again
    assert not same(first, other)
    assert {name: (array.dtype, array.shape) for name, array in first.items()} == {
        name: (np.dtype(np.float32), shape) for name, shape in SHAPES.items()
    }
    large, _ = train_network(positions, won, large=True, epochs=1)
    assert {name: array.shape for name, array in large.items()} == LARGE_SHAPES
    with pytest.raises(ValueError, match="start: a large network, where a small one is trained"):
        train_network(positions, won, start=large, epochs=1)


def test_training_needs_rows() -> None:
    raises(ValueError, "no positions", train_network, np.zeros((0, ROWS)), np.zeros(0))
    with pytest.raises(ValueError, match="no games"):
        train_deck_value(np.zeros((0, 2, 30, len(CARD_TERMS))), np.zeros(0))
    raises(ValueError, "no games", train_draft_value, np.zeros((0, 2, 160)), np.zeros(0), {})
    with pytest.raises(ValueError, match="no rows"):
        train(Coin(), np.zeros((0, 1)), np.zeros(0), epochs=1, rng=np.random.default_rng(0))


# ---- decks ---------------------------------------------------------------------------------------


def test_the_value_that_is_trained_is_the_one_that_builders_ask() -> None:
    rows, decks = random_decks(40)
    model = DeckModel(rows, np.zeros((40, 2), int), np.random.default_rng(0))
    assert set(model.arrays) == {*DECK_SHAPES, "advantage", "players_direct", "players_output"}
    disturb(model.arrays, 0.1)
    with torch.no_grad():
        model.arrays["advantage"][:] = 0  # without what does not depend on decks
    value = DeckValue(model.value())
    got = [value(a) - value(b) for a, b in decks]
    np.testing.assert_allclose(got, log_odds(model, np.arange(40)), rtol=1e-3, atol=1e-3)


def test_training_goes_on_from_arrays() -> None:
    """Training starts from the given arrays, which small steps hardly change."""
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
    assert same(arrays, train_deck_value(rows, won, start=start, epochs=4, rate=rate)[0])


def test_a_distilled_network_is_nearer_to_the_ensemble_than_its_start() -> None:
    networks = [  # further apart than those of the package
        {**arrays, "direct": np.asarray(arrays["direct"]) * (0.7 + 0.2 * number)}
        for number, arrays in enumerate(default_weights("1.5").deck_value or ())
    ]
    one = distilled_deck_value(networks, sets=amount(2, 4), epochs=amount(12, 30))
    assert {name: array.shape for name, array in one.items()} == DECK_SHAPES
    rng = random.Random(1)
    cards = generate_cards(-2)  # one of the sets of its training
    decks = [propose_deck(cards, networks, rng) for _ in range(40)]

    def values(*networks: dict[str, np.ndarray]) -> np.ndarray:
        found = np.array([DeckValue(*networks)(deck) for deck in decks])
        return found - found.mean()

    wanted = values(*networks)
    errors = [np.abs(values(arrays) - wanted).mean() for arrays in (one, networks[0])]
    assert errors[0] < 0.9 * errors[1]


# ---- drafts --------------------------------------------------------------------------------------


def test_the_value_of_drafts_that_is_trained_is_the_one_that_pickers_ask() -> None:
    rng = np.random.default_rng(3)
    decks = rng.integers(1, 161, (50, 2, 30))
    model = DraftModel(copies_of(decks), dict.fromkeys(range(1, 161), 1.0), rng)
    disturb(model.arrays, 0.1)
    with torch.no_grad():
        model.arrays["advantage"].zero_()
    value = DraftValue(model.value())
    cards = cards_1x()
    got = [value([cards[i - 1] for i in a]) - value([cards[i - 1] for i in b]) for a, b in decks]
    np.testing.assert_allclose(got, log_odds(model, np.arange(50)), rtol=1e-3, atol=1e-3)


def test_training_finds_what_decks_lack() -> None:
    """In made-up games, the deck wins that has neither too many items nor too few."""
    rng = np.random.default_rng(1)
    decks = rng.integers(1, 161, (20_000, 2, 30))
    copies = copies_of(decks)
    items = copies @ np.array([card.type != CardType.CREATURE for card in cards_1x()])
    worth = -1.0 * abs(items - items.mean())
    won = rng.random(20_000) < 1 / (1 + np.exp(worth[:, 1] - worth[:, 0]))
    arrays, loss = train_draft_value(copies, won, dict.fromkeys(range(1, 161), 0.0), seed=1)
    assert loss < 0.5
    value = DraftValue(arrays)
    found = [value([cards_1x()[i - 1] for i in deck]) for deck in decks[:300, 0]]
    assert np.corrcoef(found, worth[:300, 0])[0, 1] > 0.7
    for a, b in ((7, 65), (15, 17), (19, 109)):  # equal but for their names
        assert arrays["direct"][a - 1] == arrays["direct"][b - 1]
        assert (arrays["card"][a - 1] == arrays["card"][b - 1]).all()
    few = copies[:500], won[:500], dict.fromkeys(range(1, 161), 0.0)
    first, second = (train_draft_value(*few, seed=1)[0] for _ in range(2))
    assert same(first, second)
    assert {name: array.shape for name, array in arrays.items()} == DRAFT_SHAPES
