"""OpenSpiel's algorithms on our states, unmodified."""

import copy
import pickle

import numpy as np
import pytest
from amounts import amount
from helpers import RULE_SETS, each_rules, raises

import locmsim
from locmsim.game.positions import random_game, start_position

pyspiel = pytest.importorskip("pyspiel")
from open_spiel.python import rl_environment  # noqa: E402
from open_spiel.python.algorithms import evaluate_bots, ismcts, mcts  # noqa: E402

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


@each_rules
def test_algorithms_that_name_states_by_their_history(rules):
    """Of equal histories there is one, and different positions have different texts."""
    root = locmsim.openspiel.game(rules).new_initial_state(seed=3)
    found = {}
    for action in root.legal_actions():
        found |= {state.history_str(): state for state in (root, root.child(action))}
    assert found.keys() == {"3", *(f"3, {action}" for action in root.legal_actions())}
    assert len({state.state.key() for state in found.values()}) == len(found) >= 2


@each_rules
@pytest.mark.parametrize("match", [False, True])
def test_openspiels_own_test_of_games(rules, match):
    """Clones, histories, serialised states, masks, returns and observations are consistent."""
    game = locmsim.openspiel.game(rules, match)
    pyspiel.random_sim_test(game, num_sims=1, serialize=True, verbose=False)


@each_rules
@pytest.mark.parametrize("match", [False, True])
def test_game_describes_itself(rules, match):
    game = locmsim.openspiel.game(rules, match)
    actions, length = {"1.5": (145, 1400), "1.2": (145, 890), "1.0": (155, 890)}[rules]
    assert game.num_players() == 2
    assert game.num_distinct_actions() == actions
    assert (game.min_utility(), game.max_utility()) == (-1.0, 1.0)
    assert game.utility_sum() == 0.0
    assert game.max_game_length() == length + 60 * match
    assert (game.rules, game.match) == (rules, match)
    assert eval(repr(game)) is game
    assert game is locmsim.openspiel.game(rules, match=match)
    assert start_position(1, rules).get_game() is locmsim.openspiel.game(rules)
    assert copy.deepcopy(game) is game
    assert pickle.loads(pickle.dumps(game)) is game
    kind = game.get_type()
    assert kind.dynamics == pyspiel.GameType.Dynamics.SEQUENTIAL
    assert kind.chance_mode == pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC
    assert kind.information == pyspiel.GameType.Information.IMPERFECT_INFORMATION
    assert kind.utility == pyspiel.GameType.Utility.ZERO_SUM
    assert kind.reward_model == pyspiel.GameType.RewardModel.TERMINAL
    assert kind.short_name == f"locm_{rules}" + match * "_match"
    assert (kind.min_num_players, kind.max_num_players) == (2, 2)
    loaded = pyspiel.load_game(kind.short_name)
    assert (loaded.rules, loaded.match) == (rules, match)


@each_rules
@pytest.mark.parametrize("match", [False, True])
def test_a_game_begins_with_its_seed(rules, match):
    game = locmsim.openspiel.game(rules, match)
    root = game.new_initial_state()
    assert root.is_chance_node()
    assert root.returns() == [0.0, 0.0]
    outcomes = root.chance_outcomes()
    assert sum(probability for _, probability in outcomes) == pytest.approx(1)
    assert [seed for seed, _ in outcomes] == list(range(4096))
    assert root.action_to_string(3) == "seed 3"
    state = root.child(3)
    assert str(state) == str(game.new_initial_state(seed=3))
    if match:
        assert state.match.log == locmsim.Match(rules, seed=3).log
    else:
        assert state.state == start_position(3, rules)
    for seed in (-1, 4096):
        raises(ValueError, "seed: expected 0 to 4095, got", game.new_initial_state, seed=seed)


def test_seeds_reach_environments_of_openspiel():
    def starts(seed):
        env = rl_environment.Environment(locmsim.openspiel.game("1.5"), include_full_state=True)
        env.seed(seed)
        return [env.reset().observations for _ in range(3)]

    first, again, other = starts(1), starts(1), starts(2)
    assert [one["info_state"] for one in first] == [one["info_state"] for one in again]
    assert first[0]["info_state"] != other[0]["info_state"]
    # The whole state, hidden cards included.
    game, state = pyspiel.deserialize_game_and_state(first[0]["serialized_state"])
    assert game.rules == "1.5"
    assert state.observation_tensor(1) == first[0]["info_state"][1]
    assert len(state.state.players[1].hand) == 5


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
        again = play(game, [make_bot(game, player, **options) for player in (0, 1)])
        assert first.history() == again.history()
    assert sorted(first.returns()) == [-1.0, 1.0]


def test_mcts_finds_a_win():
    """If the last action of a random game is not PASS, the position before it is a win in one."""
    game = locmsim.openspiel.game("1.5")
    found = 0
    for seed in range(30):
        *_, (state, action) = random_game(start_position(seed), seed)
        if action == 0 or len(state.legal_actions()) > 25:
            continue
        found += 1
        step = make_bot(game, seed, simulations=100).step(state)  # a `locmsim.State`
        won = state.child(step)
        assert won.winner == state.current_player()
    assert found >= 5


def test_policies_of_a_step():
    game = locmsim.openspiel.game("1.5")
    state = game.new_initial_state(seed=1)
    policy, action = make_bot(game, 1).step_with_policy(state)
    assert [a for a, _ in policy] == state.legal_actions()
    assert [p for a, p in policy if a == action] == [1.0]


@pytest.mark.parametrize("match", [False, True])
def test_evaluation_of_bots(match):
    """In Python and in C++, whose bots play too."""
    game = locmsim.openspiel.game("1.5", match)
    bots = [pyspiel.make_uniform_random_bot(player, 1) for player in (0, 1)]
    won = [evaluate_bots.evaluate_bots(game.new_initial_state(), bots, np.random.RandomState(1))]
    won.append(pyspiel.evaluate_bots(game.new_initial_state(), bots, 1))
    mine = [make_bot(game, 1, simulations=2, max_length=2), bots[1]]
    if not match:
        won.append(evaluate_bots.evaluate_bots(game.new_initial_state(seed=1), mine, np.random))
    for returns in won:
        assert sorted(returns) == [-1.0, 1.0]


def test_a_search_that_does_not_see_hidden_cards():
    rng = np.random.RandomState(1)

    def bot(game):
        evaluator = mcts.RandomRolloutEvaluator(1, rng)
        return ismcts.ISMCTSBot(
            game, evaluator, 2.0, 20, random_state=rng, use_observation_string=True
        )

    game = locmsim.openspiel.game("1.5")
    state = game.new_initial_state(seed=1)
    assert bot(game).step(state) in state.legal_actions()
    drawn = state.resample_from_infostate(0, rng.random)
    assert drawn.observation_string(0) == state.observation_string(0)
    assert drawn.state != state.state
    assert drawn.state.players[0].hand == state.state.players[0].hand
    match = locmsim.openspiel.game("1.5", match=True)
    with pytest.raises(NotImplementedError, match="what is hidden in a match is not drawn anew"):
        bot(match).step(match.new_initial_state(seed=1))


def test_what_there_is_not():
    game = locmsim.openspiel.game("1.5")
    raises(ValueError, r"unknown rules '1\.1'", locmsim.openspiel.game, "1.1")
    message = "a battle has no past and so no information states: expected a match"
    raises(ValueError, message, game.new_initial_state(seed=1).information_state_string, 0)
    with pytest.raises(ValueError, match="observation_tensor not supported"):
        rl_environment.Environment(locmsim.openspiel.game("1.5", match=True))


def test_outcome_sampling_runs_on_matches():
    from open_spiel.python.algorithms.outcome_sampling_mccfr import OutcomeSamplingSolver

    solver = OutcomeSamplingSolver(locmsim.openspiel.game("1.2", match=True))
    solver.iteration()
    policy = solver.average_policy()
    state = locmsim.openspiel.game("1.2", match=True).new_initial_state(seed=1)
    assert sum(policy.action_probabilities(state).values()) == pytest.approx(1)


# ------------------------------------------------------------------------------- whole matches


def random_match(rules, seed):
    """Yield all states of a match of random actions."""
    state = locmsim.openspiel.game(rules, match=True).new_initial_state(seed=seed)
    random = np.random.default_rng(seed)
    yield state
    while not state.is_terminal():
        state = state.child(int(random.choice(state.legal_actions())))
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
    again = locmsim.openspiel.game(rules, match=True).new_initial_state()
    for action in last.history():
        again.apply_action(action)
    assert again.match.log == last.match.log
    for state in (states[2], states[-2]):
        for action in state.legal_actions():
            assert state.string_to_action(state.action_to_string(action)) == action
    assert len({state.history_str() for state in states}) == len(states)
    assert last.history_str() == ", ".join(map(str, last.history()))
    for state in states[:-1]:
        assert not state.is_terminal()
        assert state.returns() == [0.0, 0.0]
        mover = state.current_player()
        assert state.legal_actions(1 - mover) == []
        assert np.flatnonzero(state.legal_actions_mask()).tolist() == state.legal_actions(mover)


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


def test_what_the_other_one_takes_is_not_known():
    game = locmsim.openspiel.game("1.5", match=True)
    one, other = game.new_initial_state(seed=3), game.new_initial_state(seed=3)
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
    raises(locmsim.IllegalActionError, "action 5 is not legal here", one.apply_action, 5)
    assert one.move_number() == 33


@each_rules
def test_clones_of_a_match(rules):
    for state in list(random_match(rules, 4))[:: amount(15, 7)]:
        for copied in (state.clone(), copy.copy(state), copy.deepcopy(state)):
            assert copied.history() == state.history()
            if not state.is_terminal():
                copied.apply_action(copied.legal_actions()[-1])
                assert copied.history()[:-1] == state.history()


@each_rules
def test_mcts_plays_a_whole_match(rules):
    """MCTS makes the 60 picks before the battle too; the other player is random."""
    game = locmsim.openspiel.game(rules, match=True)
    state = game.new_initial_state(seed=2)
    bot = make_bot(game, 1, simulations=2, max_length=3)
    random = np.random.default_rng(1)
    while not state.is_terminal():
        mine = state.current_player() == 0 and state.move_number() % 5 == 0
        action = bot.step(state) if mine else int(random.choice(state.legal_actions()))
        state.apply_action(action)
    assert sorted(state.returns()) == [-1.0, 1.0]
    assert state.get_game() is game
