"""Tests that training finds what decides games."""

import random

import numpy as np
import pytest

pytest.importorskip("torch")

from locmsim import State
from locmsim.decks.value import DeckValue, term_rows
from locmsim.game.positions import random_game, start_position
from locmsim.networks import Network, inputs
from locmsim.rules.generator import generate_cards
from locmsim.tuning.decks import train_deck_value
from locmsim.tuning.positions import train_network


def random_decks(games: int) -> tuple[np.ndarray, list]:
    rng = random.Random(1)
    decks = []
    for seed in range(games):
        cards = generate_cards(seed % 5)
        decks.append([rng.sample(cards, 30) for _ in range(2)])
    return np.array([[term_rows(deck) for deck in pair] for pair in decks]), decks


def states(games: int) -> list[State]:
    return [
        state.clone()
        for seed in range(games)
        for state, _ in random_game(start_position(seed, "1.5"), seed)
        if not state.is_terminal()
    ]


def test_it_finds_what_no_sum_over_cards_can_say():
    """A deck network learns a value that is not a sum over cards: closeness to ten creatures."""
    rows, decks = random_decks(1500)
    off = [[abs(sum(card.type == 0 for card in deck) - 10) for deck in pair] for pair in decks]
    rows, won = (
        np.array([x for x, (a, b) in zip(rows, off, strict=True) if a != b]),
        np.array([a < b for a, b in off if a != b]),
    )
    arrays, loss = train_deck_value(rows, won, epochs=40)
    value = DeckValue(arrays)
    assert loss < 0.35
    predicted = [value(a) > value(b) for (a, b), (x, y) in zip(decks, off, strict=True) if x != y]
    assert np.mean(np.array(predicted) == won) > 0.8


def test_who_played_is_told_from_the_decks():
    """If one of two players with equal decks always wins, only the players predict the result."""
    rows = np.repeat(random_decks(40)[0][:, :1], 2, axis=1)
    first = np.arange(40) % 2
    players = np.stack([first, 1 - first], axis=1)
    _, told = train_deck_value(rows, first, players=players, epochs=600)
    _, untold = train_deck_value(rows, first, epochs=600)
    assert told < 0.5
    assert untold > 0.69


def test_decks_are_worth_what_player_number_0_makes_of_them():
    """Decks are valued for player 0, who here wins with more draws, unlike player 1."""
    rows, decks = random_decks(1000)
    draws = [[sum(card.card_draw for card in deck) for deck in pair] for pair in decks]
    players = np.repeat(np.arange(1000)[:, None] % 2, 2, axis=1)
    won = np.array([(a > b) != who for (a, b), who in zip(draws, players[:, 0], strict=True)])
    arrays, _ = train_deck_value(rows, won, players=players, epochs=100)
    value = DeckValue(arrays)
    likes_more = [value(a) > value(b) for a, b in decks[:200]]
    assert np.mean([x == (a > b) for x, (a, b) in zip(likes_more, draws, strict=False)]) > 0.8


def test_it_finds_what_decides():
    """A network learns to predict results that depend on health and on the attack on the board."""
    some = states(60)[::2]
    positions = np.stack([inputs(state, 0) for state in some])

    def margin(state: State) -> int:
        me, op = state.players
        return me.health - op.health + 2 * sum(c.attack for c in me.board)

    won = np.array([margin(state) > 0 for state in some])
    arrays, loss = train_network(positions, won, epochs=100)
    assert loss < 0.25
    network = Network(arrays)
    right = [(network(state, 0) > 0) == (margin(state) > 0) for state in some]
    assert np.mean(right) > 0.95
    again, _ = train_network(positions, won, epochs=100)
    assert all(np.array_equal(arrays[name], again[name]) for name in arrays)
