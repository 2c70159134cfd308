"""Logistic regression, and the values of cards in a draft."""

import numpy as np
import pytest
from helpers import raises

from locmsim.rules.cards import cards_1x
from locmsim.tuning import fit_logistic
from locmsim.tuning.card_values import copies_of, fit_card_values
from locmsim.tuning.fitting import rows_as_precision


def synthetic(rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return terms, results and the coefficients that they follow; the last term never varies."""
    rng = np.random.default_rng(3)
    true = np.array([0.8, -0.05, 0.0, 2.0, 7.0])
    x = rng.normal(size=(rows, 5)) * [1, 20, 1, 0.3, 0] + [0, 5, 0, 0, 1]
    odds = x[:, :4] @ true[:4] - 0.3
    return x.astype(np.float32), rng.random(rows) < 1 / (1 + np.exp(-odds)), true


def test_fit_finds_known_coefficients():
    x, won, true = synthetic(40_000)
    found, constant, loss = fit_logistic(x, won, np.array([0, 0, 0, 0, 7.0]))
    assert found == pytest.approx(true, abs=0.06)
    assert found[1] == pytest.approx(-0.05, abs=0.003)
    assert found[4] == 7.0
    assert constant == pytest.approx(-0.3, abs=0.06)
    assert loss < np.log(2) - 0.05


def test_fit_stays_near_what_is_known():
    """If there are as many rows as the prior counts for, the fit goes half the way."""
    x, won, _ = synthetic(4000)
    x = x[:, :1]
    free, _, _ = fit_logistic(x, won, np.zeros(1))
    half, _, _ = fit_logistic(x, won, np.zeros(1), rows_as_precision(x, 4000))
    bound, _, _ = fit_logistic(x, won, np.zeros(1), rows_as_precision(x, 4e6))
    assert half[0] == pytest.approx(free[0] / 2, rel=0.15)
    assert abs(bound[0]) < 0.01
    assert fit_logistic(x, won, free, 4e6)[0] == pytest.approx(free)


def test_nothing_to_fit():
    raises(ValueError, "nothing to fit", fit_logistic, np.zeros((0, 3)), np.zeros(0), np.zeros(3))
    raises(ValueError, "nothing to fit", fit_card_values, np.zeros((1, 160)), np.zeros(1))


# ---- the values of cards -------------------------------------------------------------------------


def games_of(values, seed, rows, cards=160):
    """Return made-up games, which depend only on values of cards and on luck.

    A deck has ten copies of each of three cards of the first ones.
    """
    rng = np.random.default_rng(seed)
    copies = copies_of(np.repeat(rng.integers(1, cards + 1, (rows, 2, 3)), 10, axis=2))
    differences = copies[:, 0] - copies[:, 1]
    odds = 0.3 + differences @ values / 25
    return differences, rng.random(rows) < 1 / (1 + np.exp(-odds))


@pytest.mark.slow
def test_values_are_found_again(caplog):
    caplog.set_level("INFO", logger="locmsim")
    values = np.random.default_rng(0).normal(0, 3, 160)
    by_id, loss = fit_card_values(*games_of(values, 0, 800))
    assert sorted(by_id.values(), reverse=True) == [*by_id.values()]
    found = np.array([by_id[card.base_id] for card in cards_1x()])
    assert abs(found.mean()) < 0.01
    assert np.corrcoef(found, values)[0, 1] > 0.85
    assert 0.7 < found.std() / values.std() < 1.1
    assert loss < np.log(2) - 0.1
    assert caplog.messages[0].startswith("800 games: loss 0.")


@pytest.mark.slow
def test_what_no_game_supports_stays_small():
    rng = np.random.default_rng(1)
    found, _ = fit_card_values(rng.integers(-1, 2, (500, 160)), rng.integers(0, 2, 500))
    assert np.std([*found.values()]) < 2


def test_copies_of_two_decks():
    first, second = copies_of(np.array([[[1, 1, 5], [160, 5, 5]]]))[0].tolist()
    assert {i + 1: n for i, n in enumerate(first) if n} == {1: 2, 5: 1}
    assert {i + 1: n for i, n in enumerate(second) if n} == {5: 2, 160: 1}


def test_cards_are_valued_by_their_properties():
    """Also those that nobody has played; and equal cards have one value, whatever their names."""
    values = np.array([3.0 * card.card_draw - (card.cost - 4) for card in cards_1x()])
    values[[6, 64]] += [6, -6]  # equal cards, of which one has done well and one badly
    found, _ = fit_card_values(*games_of(values, 2, 200, cards=110))
    guessed = [found[card.base_id] for card in cards_1x()[110:]]
    assert np.corrcoef(guessed, values[110:])[0, 1] > 0.7
    assert len({round(value, 1) for value in guessed}) > 8
    for a, b in ((7, 65), (15, 17), (19, 109)):
        assert found[a] == found[b]


@pytest.mark.slow
def test_games_of_a_card_count_for_those_equal_to_it():
    values = np.zeros(160)
    values[64] = 20.0  # base id 65; the equal one with the id 7 is in no deck
    differences, _ = games_of(values, 3, 1200)
    differences[:, 6] = 0
    odds = differences @ values / 25
    won = np.random.default_rng(4).random(len(odds)) < 1 / (1 + np.exp(-odds))
    found, _ = fit_card_values(differences, won)
    assert found[7] == found[65] == max(found.values()) > 1
