"""OpenSpiel's algorithms on our states, unmodified."""

import copy
import pickle

import numpy as np
import pytest
from amounts import amount
from helpers import RULE_SETS, each_rules

import locmsim
from locmsim import Card, CardType, State
from locmsim.game.positions import random_game, start_position

pyspiel = pytest.importorskip("pyspiel")
from open_spiel.python.algorithms import evaluate_bots, mcts  # noqa: E402

SIMULATIONS = amount(3, 6)


def make_bot(game, seed, *, simulations=SIMULATIONS, max_length=None, **options):
    rng = np.random.RandomState(seed)
    evaluator = mcts.RandomRolloutEvaluator(1, rng, max_length)
    return mcts.MCTSBot(game, 2.0, simulations, evaluator, random_state=rng, **options)


def play(game, bots, seed=1):
    """Return the final state; a game may not have more actions than `max_game_length`."""
    state = game.new_initial_state(seed=seed)
    for _ in range(game.max_game_length()):
        if state.is_terminal():
            return state
        state.apply_action(bots[state.current_player()].step(state))
    raise AssertionError("the game is longer than max_game_length")


@pytest.mark.parametrize("rules", ["1.5", "1.2", "1.0"])
def test_algorithms_that_name_states_by_their_history(rules):
    """Of equal histories there is one, and different positions have different texts."""
    from open_spiel.python.algorithms.get_all_states import get_all_states

    from locmsim.openspiel import game

    found = get_all_states(game(rules), depth_limit=2)
    assert found.keys() == {state.history_str() for state in found.values()}
    assert len({state.key() for state in found.values()}) == len(found) >= 3


def test_game_describes_itself():
    for rules, actions, length in (("1.5", 145, 1400), ("1.2", 145, 890), ("1.0", 155, 890)):
        game = locmsim.openspiel.game(rules)
        assert game.num_players() == 2
        assert game.num_distinct_actions() == actions
        assert (game.min_utility(), game.max_utility()) == (-1.0, 1.0)
        assert game.utility_sum() == 0.0
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
        with pytest.raises(ValueError, match=r"got one|seed: does not apply with decks|need decks"):
            game.new_initial_state(**arguments)


OPTIONS = {
    "UCT": {},
    "PUCT": {"child_selection_fn": mcts.SearchNode.puct_value},
    "noise": {"dirichlet_noise": (0.25, 1.0)},
    "length limit": {"max_length": 10},
    "no solver": {"solve": False, "dont_return_chance_node": True},
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "rules"),
    [
        *(("UCT", rules) for rules in RULE_SETS),
        *((name, rules) for name in [*OPTIONS][1:] for rules in amount(("1.5",), RULE_SETS)),
    ],
)
def test_mcts_plays_whole_games(name, rules):
    options = OPTIONS[name]
    game = locmsim.openspiel.game(rules)
    first = play(game, [make_bot(game, player, **options) for player in (0, 1)])
    if options in amount(({},), (options,)):
        assert first == play(game, [make_bot(game, player, **options) for player in (0, 1)])
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
    """If the last action of a random game is not PASS, the position before it is a win in one."""
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
    """OpenSpiel's C++ functions reject states of Python with an error, as docs/api.md says."""
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


# ------------------------------------------------------------------------------- whole matches


def random_match(rules, seed):
    """Yield all states of a match of random actions."""
    state = locmsim.openspiel.game(rules).new_match_state(seed=seed)
    random = np.random.default_rng(seed)
    yield state
    while not state.is_terminal():
        state = state.child(random.choice(state.legal_actions()))
        yield state


@each_rules
def test_a_whole_match_is_that_of_its_answers(rules):
    states = list(random_match(rules, 1))
    last = states[-1]
    match = locmsim.Match.replay(last.match.log)
    assert match.phase == "over"
    assert match.error is None
    assert last.returns()[match.winner] == 1.0
    assert sum(last.returns()) == 0
    assert last.rewards() == [last.player_reward(0), last.player_return(1)]
    assert last.current_player() == -4
    assert last.legal_actions() == []
    assert [len(ids) for ids in match.chosen] == [30, 30]
    # The history leads to the same end, and no two of its prefixes have the same text.
    again = locmsim.openspiel.game(rules).new_match_state(seed=1)
    for action in last.history():
        again.apply_action(action)
    assert again.match.log == last.match.log
    assert len({state.history_str() for state in states}) == len(states)
    assert last.history_str() == ", ".join(map(str, last.history()))
    for state in states[:-1]:
        assert not state.is_terminal()
        assert state.returns() == [0.0, 0.0]
        mover = state.current_player()
        assert state.legal_actions(1 - mover) == []
        assert np.flatnonzero(state.legal_actions_mask()).tolist() == state.legal_actions(mover)
    with pytest.raises(locmsim.GameOverError):
        last.apply_action(0)


@each_rules
def test_information_states_of_a_match(rules):
    """Information states only grow by what a player is shown or does, and tell what is legal."""
    legal = {}
    before = None
    for seed in amount((1,), (1, 2)):
        for state in random_match(rules, seed):
            mover = state.current_player()
            if mover < 0:
                continue
            known = [state.information_state_string(player) for player in (0, 1)]
            assert known[mover] == state.information_state_string()
            assert known[mover].startswith(state.match.information_state_string(mover))
            actions = state.legal_actions()
            assert legal.setdefault((seed, known[mover]), actions) == actions
            if before is not None and before[0] == (seed, mover):
                # The player has acted and is asked again, so the opponent has not been told yet.
                assert known[mover] != before[1][mover]
                assert known[1 - mover] == before[1][1 - mover]
            before = (seed, mover), known
    with pytest.raises(ValueError, match="player: expected 0 or 1, got 2"):
        state.information_state_string(2)
    with pytest.raises(ValueError, match="player: expected 0 or 1, got -4"):
        state.information_state_string()


def test_what_the_other_one_takes_is_not_known():
    game = locmsim.openspiel.game("1.5")
    one, other = game.new_match_state(seed=3), game.new_match_state(seed=3)
    for i in range(30):
        one.apply_action(i)
        other.apply_action(100 - i)
    assert one.current_player() == other.current_player() == 1
    assert one.information_state_string(1) == other.information_state_string(1)
    assert one.observation_string(1) == other.observation_string(1)
    assert one.information_state_string(0) != other.information_state_string(0)
    one.apply_action(5)
    one.apply_action(5)
    assert 5 not in one.legal_actions()
    assert one.observation_string(1) != other.observation_string(1)
    with pytest.raises(locmsim.IllegalActionError, match="action 5 is not legal here"):
        one.apply_action(5)
    assert one.move_number() == 32


@each_rules
def test_clones_of_a_match(rules):
    for state in list(random_match(rules, 4))[::7]:
        for copied in (state.clone(), copy.copy(state), copy.deepcopy(state)):
            assert copied.history() == state.history()
            if not state.is_terminal():
                copied.apply_action(copied.legal_actions()[-1])
                assert copied.history()[:-1] == state.history()


@each_rules
def test_mcts_plays_a_whole_match(rules):
    """MCTS makes the 60 picks before the battle too; the other player is random."""
    game = locmsim.openspiel.game(rules)
    state = game.new_match_state(seed=2)
    bot = make_bot(game, 1, simulations=2, max_length=3)
    random = np.random.default_rng(1)
    while not state.is_terminal():
        mine = state.current_player() == 0 and state.move_number() % 5 == 0
        action = bot.step(state) if mine else int(random.choice(state.legal_actions()))
        state.apply_action(action)
    assert sorted(state.returns()) == [-1.0, 1.0]
    assert state.get_game() is game


def test_matches_that_cannot_be_states():
    game = locmsim.openspiel.game("1.5")
    match = locmsim.Match(seed=1)
    match.submit(0, "PASS")
    with pytest.raises(ValueError, match="the match has begun"):
        game.new_match_state(match)
    with pytest.raises(ValueError, match="ids: those of 2022"):
        game.new_match_state(locmsim.Match(seed=1, ids="old"))
    few = [Card(i, CardType.CREATURE, 1, 1, 1) for i in range(14)]
    with pytest.raises(ValueError, match="the offer has 14 cards, too few for a deck"):
        game.new_match_state(locmsim.Match(seed=1, cards=few))
    with pytest.raises(ValueError, match=r"match: its rules are 1\.2, not 1\.5"):
        game.new_match_state(locmsim.Match("1.2", seed=1))
    with pytest.raises(ValueError, match="seed: does not apply with match"):
        game.new_match_state(locmsim.Match(seed=1), seed=1)
