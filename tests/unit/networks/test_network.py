"""The value network: the compiled one against numpy, and its use in searches."""

from itertools import pairwise

import numpy as np
import pytest
from amounts import amount
from helpers import each_rules, raises
from oracles.networks import blocks, position_log_odds
from states import after, running_positions

from locmsim.networks import BLOCKS, LARGE_SHAPES, SHAPES, Network, inputs
from locmsim.search import BeamOptions, BeamSearch, Evaluation


def random_arrays(seed: int = 0, shapes: dict = SHAPES) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {name: 0.2 * rng.standard_normal(shape) for name, shape in shapes.items()}


@pytest.mark.slow
@each_rules
@pytest.mark.parametrize("shapes", [SHAPES, LARGE_SHAPES], ids=["small", "large"])
def test_it_computes_what_numpy_does(rules, shapes):
    arrays = random_arrays(shapes=shapes)
    network = Network(arrays)
    assert {name: array.shape for name, array in network.arrays.items()} == shapes
    some = running_positions(rules)
    for player in (0, 1):
        expected = [position_log_odds(arrays, inputs(state, player)) for state in some]
        got = [network(state, player) for state in some]
        np.testing.assert_allclose(got, expected, rtol=1e-3, atol=1e-3)


@each_rules
def test_what_it_sees(rules):
    for state in running_positions(rules, 2):
        for player in (0, 1):
            seen = blocks(inputs(state, player))
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
    for state in running_positions("1.5", 2)[::5]:
        player = state.current_player()
        network = Network(random_arrays())
        for seed in range(3):
            other = state.resample_hidden(player, seed=seed)
            assert network(other, player) == pytest.approx(network(state, player), abs=0.2)


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
    raises(ValueError, message, Network, {**random_arrays(), **change})


def test_arrays_of_two_sizes_do_not_go_together():
    arrays = random_arrays(shapes=LARGE_SHAPES)
    arrays["hidden"] = random_arrays()["hidden"]
    raises(ValueError, r"hidden: expected shape \(119, 48\), got \(79, 16\)", Network, arrays)


def test_missing_arrays_are_named():
    arrays = random_arrays()
    del arrays["deeper"]
    raises(ValueError, "network: deeper is missing", Network, arrays)


def test_bad_players_are_refused():
    state = running_positions("1.5", 1)[0]
    raises(ValueError, "player: expected 0 or 1, got 2", inputs, state, 2)
    raises(ValueError, "player: expected 0 or 1, got 2", Network(random_arrays()), state, 2)


# ---- in an evaluation ----------------------------------------------------------------------------


def test_own_weights_come_without_a_network():
    assert Evaluation().network is not None
    assert Evaluation({"own.health": 1.0}).network is None
    assert Evaluation(network=None).network is None
    network = Network(random_arrays())
    assert Evaluation({"own.health": 1.0}, network=network).network is network
    assert Evaluation().replace(own_health=1.0).network is Evaluation().network


def test_a_search_plays_for_what_the_network_wants():
    """A network that values cards in hand ends turns with more of them than its opposite does."""
    arrays = {name: np.zeros(shape) for name, shape in SHAPES.items()}
    some = running_positions("1.5", 3)
    turns = [some[0], *(b for a, b in pairwise(some) if b.turn > a.turn)][: amount(10, 30)]
    sizes = {}
    for sign in (1, -1):
        direct = arrays["direct"].copy()
        direct[len(direct) - BLOCKS["other"][0] + 3] = sign
        network = Network({**arrays, "direct": direct})
        search = BeamSearch(BeamOptions(turns=0), evaluation=Evaluation(network=network))
        sizes[sign] = 0
        for state in turns:
            end = after(state, search.search(state, nodes=1000).actions)
            sizes[sign] += len(end.players[state.current_player()].hand)
    assert sizes[1] > sizes[-1]
