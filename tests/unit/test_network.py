"""The network that foretells results: the compiled one against numpy, learning, use in searches."""

import json
from itertools import pairwise

import numpy as np
import pytest
from helpers import RULE_SETS, check_gradients

from locmsim import State
from locmsim.agents import make_agent
from locmsim.game.positions import random_game, start_position
from locmsim.networks.network import (
    BLOCKS,
    SHAPES,
    Network,
    _blocks,
    _Positions,
    descend,
    inputs,
    learn,
)
from locmsim.search import BeamOptions, BeamSearch, Evaluation, load_weights
from locmsim.tuning.tune import Weights

ROWS = sum(int(np.prod(shape)) for shape in BLOCKS.values())


def states(rules: str, games: int = 4) -> list[State]:
    return [
        state.clone()
        for seed in range(games)
        for state, _ in random_game(start_position(seed, rules), seed)
        if not state.is_terminal()
    ]


def random_arrays(seed: int = 0) -> dict[str, np.ndarray]:
    chance = np.random.default_rng(seed)
    return {name: 0.2 * chance.standard_normal(shape) for name, shape in SHAPES.items()}


def plain_model(positions: np.ndarray, arrays: dict[str, np.ndarray]) -> _Positions:
    """The numpy network with these arrays, its inputs as they are."""
    model = _Positions(positions, np.random.default_rng(0))
    model.spread = {name: np.ones_like(spread) for name, spread in model.spread.items()}
    model.arrays = {name: np.asarray(a, np.float32) for name, a in arrays.items()}
    return model


@pytest.mark.parametrize("rules", RULE_SETS)
def test_it_computes_what_numpy_does(rules):
    network = Network(random_arrays())
    some = states(rules)
    for player in (0, 1):
        positions = np.stack([inputs(state, player) for state in some])
        expected, _ = plain_model(positions, random_arrays()).forward(positions)
        got = [network(state, player) for state in some]
        np.testing.assert_allclose(got, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("rules", RULE_SETS)
def test_what_it_sees(rules):
    for state in states(rules, 2):
        for player in (0, 1):
            seen = {name: part[0] for name, part in _blocks(inputs(state, player)[None]).items()}
            me, op = state.players[player], state.players[1 - player]
            for side, who in enumerate((me, op)):
                there = seen["creatures"][side][seen["creatures"][side][:, 0] > 0]
                assert sorted(map(tuple, there[:, 1:3])) == sorted(
                    (min(c.attack, 20), min(c.defense, 20)) for c in who.board
                )
                assert (there[:, 7] > 0).sum() == sum("G" in c.abilities for c in who.board)
            lanes = 1 if rules == "1.0" else 2
            assert set(seen["lane"]) == set(range(lanes))
            cards = seen["hand"][seen["hand"][:, 0] > 0]
            assert [int(cost) for cost in cards[:, 5]] == [card.cost for _, card in me.hand]
            assert seen["other"][9] == me.max_mana
            assert seen["other"][21] == op.max_mana


def test_what_it_sees_does_not_depend_on_what_is_hidden():
    for state in states("1.5", 2)[::5]:
        player = state.current_player()
        network = Network(random_arrays())
        for seed in range(3):
            other = state.resample_hidden(player, seed=seed)
            assert network(other, player) == pytest.approx(network(state, player), abs=0.2)


def test_gradients_are_the_derivatives():
    positions = np.stack([inputs(state, 0) for state in states("1.5", 2)[:40]])
    model = plain_model(positions, random_arrays())
    assert set(model.arrays) == set(SHAPES)
    check_gradients(model, positions)


def test_it_learns_what_decides():
    """Results that follow from health and the attack on the board are foretold."""
    some = states("1.5", 60)[::2]
    positions = np.stack([inputs(state, 0) for state in some])

    def margin(state: State) -> int:
        me, op = state.players
        return me.health - op.health + 2 * sum(c.attack for c in me.board)

    won = np.array([margin(state) > 0 for state in some])
    arrays, loss = learn(positions, won, epochs=100)
    assert loss < 0.25
    network = Network(arrays)
    right = [(network(state, 0) > 0) == (margin(state) > 0) for state in some]
    assert np.mean(right) > 0.95
    again, _ = learn(positions, won, epochs=100)
    assert all(np.array_equal(arrays[name], again[name]) for name in arrays)


def test_learning_needs_positions():
    with pytest.raises(ValueError, match="no positions"):
        learn(np.zeros((0, ROWS)), np.zeros(0))


def test_descent_finds_a_single_weight():
    class Coin:
        arrays = {"odds": np.zeros((), np.float32)}  # noqa: RUF012

        def forward(self, rows):
            return np.full(len(rows), self.arrays["odds"]), None

        def gradients(self, layers, logits):
            return {"odds": np.asarray(logits.sum())}

    won = np.arange(1000) % 4 == 0
    loss = descend(
        Coin(), np.zeros((1000, 1)), won, epochs=2000, chance=np.random.default_rng(0), decay=0
    )
    assert loss == pytest.approx(-(0.25 * np.log(0.25) + 0.75 * np.log(0.75)), abs=1e-3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"card": None}, "network: card: expected an array of numbers|card: expected shape"),
        ({"luck": [1]}, "network: unknown array 'luck'"),
        ({"output": [1.0, 2.0]}, r"network: output: expected shape \(16,\), got \(2,\)"),
        ({"output_bias": float("nan")}, "network: output_bias: not all numbers are finite"),
        ({"lane_bias": ["a"] * 16}, "network: lane_bias: expected an array of numbers"),
    ],
)
def test_bad_arrays_are_named(change, message):
    with pytest.raises(ValueError, match=message):
        Network({**random_arrays(), **change})


def test_missing_arrays_are_named():
    arrays = random_arrays()
    del arrays["deeper"]
    with pytest.raises(ValueError, match="network: deeper is missing"):
        Network(arrays)


def test_bad_players_are_refused():
    state = states("1.5", 1)[0]
    with pytest.raises(ValueError, match="player: expected 0 or 1, got 2"):
        inputs(state, 2)
    with pytest.raises(ValueError, match="player: expected 0 or 1, got 2"):
        Network(random_arrays())(state, 2)


# ---- in an evaluation ----------------------------------------------------------------------------


def test_own_weights_come_without_a_network():
    assert Evaluation().network is not None
    assert Evaluation({"own.health": 1.0}).network is None
    assert Evaluation(network=None).network is None
    network = Network(random_arrays())
    assert Evaluation({"own.health": 1.0}, network=network).network is network
    assert Evaluation().replace(own_health=1.0).network is Evaluation().network


def test_a_search_plays_for_what_the_network_wants():
    """One that counts cards in hand alone, against one that counts them the other way round."""
    arrays = {name: np.zeros(shape) for name, shape in SHAPES.items()}
    some = states("1.5", 3)
    turns = [some[0], *(b for a, b in pairwise(some) if b.turn > a.turn)][:30]
    sizes = {}
    for sign in (1, -1):
        direct = arrays["direct"].copy()
        direct[len(direct) - BLOCKS["other"][0] + 3] = sign
        network = Network({**arrays, "direct": direct})
        search = BeamSearch(BeamOptions(turns=0), evaluation=Evaluation(network=network))
        sizes[sign] = 0
        for state in turns:
            end = state.clone()
            for action in search.search(state, nodes=2000).actions:
                end.apply_action(action)
            sizes[sign] += len(end.players[state.current_player()].hand)
    assert sizes[1] > sizes[-1]


def test_networks_in_weights_files(tmp_path):
    path = tmp_path / "weights.json"
    ours = Weights.load()
    content = {"1.5": ours.evaluation, "network": {"1.5": ours.network}}
    path.write_text(json.dumps(content))
    loaded = load_weights(path)
    state = states("1.5", 1)[5]
    assert loaded["1.5"].network(state, 0) == Evaluation().network(state, 0)
    path.write_text(json.dumps({"network": {"1.2": ours.network}}))
    assert load_weights(path)["1.2"].network is not None
    path.write_text(json.dumps({"1.5": {}}))
    assert load_weights(path)["1.5"].network is None
    agent = make_agent("beam", weights=str(path), time_ms=0, iterations=100)
    assert agent.search.evaluation["1.5"].network is None
    for broken, message in (
        ({"network": {"1.5": {"card": [1]}}}, r"weights\.json: 1\.5: network: creature is missing"),
        ({"network": {"1.7": {}}}, "unknown rule set '1.7'"),
        ({"network": [1]}, "expected an object of rule sets"),
    ):
        path.write_text(json.dumps(broken))
        with pytest.raises(ValueError, match=message):
            load_weights(path)
