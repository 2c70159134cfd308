"""OpenSpiel's algorithms on our states, unmodified."""

import copy
import pickle

import numpy as np
import pytest
from helpers import RULE_SETS

import locmsim
from locmsim import Card, CardType, State
from locmsim.game.positions import random_game, start_position

pyspiel = pytest.importorskip("pyspiel")
from open_spiel.python.algorithms import evaluate_bots, mcts  # noqa: E402

each_rules = pytest.mark.parametrize("rules", RULE_SETS)


def make_bot(game, seed, *, simulations=6, max_length=None, **options):
    rng = np.random.RandomState(seed)
    evaluator = mcts.RandomRolloutEvaluator(1, rng, max_length)
    return mcts.MCTSBot(game, 2.0, simulations, evaluator, random_state=rng, **options)


def play(game, bots, seed=1):
    """The final state, after as many actions as any game may have."""
    state = game.new_initial_state(seed=seed)
    for _ in range(game.max_game_length()):
        if state.is_terminal():
            return state
        state.apply_action(bots[state.current_player()].step(state))
    raise AssertionError("the game is longer than max_game_length")


def test_game_describes_itself():
    for rules, actions, length in (("1.5", 145, 1400), ("1.2", 145, 890), ("1.0", 155, 890)):
        game = locmsim.openspiel.game(rules)
        assert game.num_players() == 2
        assert game.num_distinct_actions() == actions
        assert (game.min_utility(), game.max_utility()) == (-1.0, 1.0)
        assert game.max_game_length() == length
        assert game.rules == rules
        assert repr(game) == f"locmsim.openspiel.game({rules!r})"
        assert game is locmsim.openspiel.game(rules)
        assert game is start_position(1, rules).get_game()
        assert copy.deepcopy(game) is game
        assert pickle.loads(pickle.dumps(game)) is game
        kind = game.get_type()
        assert kind.dynamics == pyspiel.GameType.Dynamics.SEQUENTIAL
        assert kind.chance_mode == pyspiel.GameType.ChanceMode.DETERMINISTIC
        assert kind.information == pyspiel.GameType.Information.IMPERFECT_INFORMATION
        assert kind.utility == pyspiel.GameType.Utility.ZERO_SUM
        assert kind.reward_model == pyspiel.GameType.RewardModel.TERMINAL
        assert kind.short_name == f"locm_{rules}"
        assert (kind.min_num_players, kind.max_num_players) == (2, 2)
    with pytest.raises(ValueError, match=r"unknown rules '1\.1'"):
        locmsim.openspiel.game("1.1")


def test_initial_states():
    deck = [Card(1, CardType.CREATURE, 1, 2, 2), Card(2, CardType.BLUE, 1, 0, -1)] * 6
    game = locmsim.openspiel.game("1.2")
    state = game.new_initial_state(deck, deck[::-1])
    assert state == State.new(deck, deck[::-1], rules="1.2")
    state = game.new_initial_state(deck, deck, ids=(range(12), range(20, 32)), pool=deck[:1])
    assert [number for number, _ in state.players[1].hand] == [20, 21, 22, 23, 24]
    assert state.table.pool == deck[:1]
    assert game.new_initial_state(seed=3) == start_position(3, "1.2")
    assert game.new_initial_state() != game.new_initial_state()
    for arguments in (
        {"deck0": deck},
        {"deck1": deck},
        {"deck0": deck, "deck1": deck, "seed": 1},
        {"ids": ([], [])},
        {"seed": 1, "pool": deck},
    ):
        with pytest.raises(ValueError, match=r"none|random decks"):
            game.new_initial_state(**arguments)


@each_rules
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"child_selection_fn": mcts.SearchNode.puct_value},
        {"dirichlet_noise": (0.25, 1.0)},
        {"max_length": 10},
        {"solve": False, "dont_return_chance_node": True},
    ],
    ids=["UCT", "PUCT", "noise", "length limit", "no solver"],
)
def test_mcts_plays_whole_games(rules, options):
    game = locmsim.openspiel.game(rules)
    first = play(game, [make_bot(game, player, **options) for player in (0, 1)])
    again = play(game, [make_bot(game, player, **options) for player in (0, 1)])
    assert first == again
    assert sorted(first.returns()) == [-1.0, 1.0]


@each_rules
def test_a_verbose_game(rules, capsys):
    game = locmsim.openspiel.game(rules)
    play(game, [make_bot(game, 1, verbose=True), make_bot(game, 2)])
    printed = capsys.readouterr().out
    assert "Children of chosen:" in printed
    assert "PASS: player: 0" in printed
    assert "SUMMON " in printed


def test_mcts_finds_a_win():
    """Some random games end with an action other than PASS; their last position is a win in one."""
    game = locmsim.openspiel.game("1.5")
    found = 0
    for seed in range(30):
        *_, (state, action) = random_game(start_position(seed), seed)
        if action == 0 or len(state.legal_actions()) > 25:
            continue
        found += 1
        step = make_bot(game, seed, simulations=100).step(state)
        won = state.child(step)
        assert won.winner == state.current_player()
    assert found >= 5


def test_policies_of_a_step():
    game = locmsim.openspiel.game("1.5")
    state = game.new_initial_state(seed=1)
    policy, action = make_bot(game, 1).step_with_policy(state)
    assert [a for a, _ in policy] == state.legal_actions()
    assert [p for a, p in policy if a == action] == [1.0]


def test_what_openspiel_has_in_c_refuses_foreign_states():
    """As docs/api.md says."""
    game = locmsim.openspiel.game("1.5")
    state = game.new_initial_state(seed=1)
    bots = [make_bot(game, 1), make_bot(game, 2)]
    with pytest.raises(TypeError):
        pyspiel.evaluate_bots(state, bots, 1)
    with pytest.raises(TypeError, match="inform_action"):
        evaluate_bots.evaluate_bots(state.clone(), bots, np.random)
    with pytest.raises(TypeError):
        pyspiel.MCTSBot(game, pyspiel.RandomRolloutEvaluator(1, 1), 1.0, 10, 10, False, 1, False)
    with pytest.raises(pyspiel.SpielError):
        pyspiel.load_game("locm_1.5")
