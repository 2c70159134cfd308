"""Tests of OpenSpiel's agents on our games: a search with sampled worlds, and a learning agent."""

import numpy as np
import pytest
from amounts import amount
from helpers import each_rules

import locmsim

pytest.importorskip("pyspiel")
import pyspiel
from open_spiel.python import rl_environment
from open_spiel.python.algorithms import ismcts, mcts, random_agent

GAMES = amount(6, most=100)


def registered(rules, whole):
    """Return a game of pyspiel whose states, in C++, call the methods of ours.

    They are those of `locmsim.State`, or of `MatchState` if a `whole` match is played.
    """
    ours = locmsim.openspiel.game(rules)
    kind = ours.get_type()
    names = ("dynamics", "chance_mode", "information", "utility", "reward_model", "max_num_players",
             "min_num_players", "long_name", "provides_observation_string")  # fmt: skip
    kind = pyspiel.GameType(
        short_name=f"python_{kind.short_name}_{'match' if whole else 'battle'}",
        provides_information_state_string=whole,
        provides_information_state_tensor=False,
        provides_observation_tensor=not whole,
        parameter_specification={"seed": 1},
        **{name: getattr(kind, name) for name in names},
    )
    about = pyspiel.GameInfo(
        num_distinct_actions=ours.num_distinct_actions(),
        max_chance_outcomes=0,
        num_players=ours.num_players(),
        min_utility=ours.min_utility(),
        max_utility=ours.max_utility(),
        utility_sum=ours.utility_sum(),
        max_game_length=ours.max_game_length() + 60 * whole,
    )

    class Game(pyspiel.Game):
        def __init__(self, params=None):
            super().__init__(kind, about, params or {})

        def new_initial_state(self):
            return State(self)

        def make_py_observer(self, iig_obs_type=None, params=None):
            return Observer(iig_obs_type, params)

    class State(pyspiel.State):
        def __init__(self, game):
            super().__init__(game)
            make = ours.new_match_state if whole else ours.new_initial_state
            self.ours = make(seed=game.get_parameters().get("seed", 1))

        def current_player(self):
            return self.ours.current_player()

        def _legal_actions(self, player):
            return self.ours.legal_actions(player)

        def _apply_action(self, action):
            self.ours.apply_action(action)

        def _action_to_string(self, player, action):
            return self.ours.action_to_string(player, action)

        def is_terminal(self):
            return self.ours.is_terminal()

        def returns(self):
            return self.ours.returns()

        def __str__(self):
            return str(self.ours)

    class Observer:
        def __init__(self, kind, params):
            self.ours = ours.make_py_observer(None, params)
            self.tensor, self.dict = self.ours.tensor, self.ours.dict
            self.has_past = kind is not None and kind.perfect_recall

        def set_from(self, state, player):
            self.ours.set_from(state.ours, player)

        def string_from(self, state, player):
            if self.has_past:
                return state.ours.information_state_string(player)
            return state.ours.observation_string(player)

    if kind.short_name not in pyspiel.registered_names():
        pyspiel.register_game(kind, Game)
    return kind.short_name


@pytest.mark.parametrize("whole", [False, True])
@each_rules
def test_openspiels_own_test_of_games(rules, whole):
    """Clones, histories, serialised states, masks, returns and observations are consistent."""
    name = registered(rules, whole)
    for seed in range(1, amount(1, 5, 20) + 1):
        game = pyspiel.load_game(name, {"seed": seed})
        pyspiel.random_sim_test(game, num_sims=2, serialize=True, verbose=False)


def test_a_search_with_sampled_worlds_beats_random_play():
    """ISMCTSBot with 1,000 simulations beats random play."""
    game = locmsim.openspiel.game("1.5")
    won = 0
    for number in range(GAMES):
        state = game.new_initial_state(seed=number // 2)
        rng = np.random.RandomState(number)
        bot = ismcts.ISMCTSBot(
            game, mcts.RandomRolloutEvaluator(1, rng), 2.0, 1000, random_state=rng,
            use_observation_string=True,
        )  # fmt: skip
        while not state.is_terminal():
            if state.current_player() == number % 2:
                state.apply_action(bot.step(state))
            else:
                state.apply_action(int(rng.choice(state.legal_actions())))
        won += state.returns()[number % 2] > 0
    assert won >= 0.8 * GAMES


def test_a_learning_agent_trains():
    """OpenSpiel's DQN agent can be trained for 1,000 episodes against random play."""
    pytest.importorskip("torch")
    dqn = pytest.importorskip("open_spiel.python.pytorch.dqn")
    env = rl_environment.Environment(locmsim.openspiel.game("1.5"))
    size = env.observation_spec()["info_state"][0]
    actions = env.action_spec()["num_actions"]
    agents = [
        dqn.DQN(0, size, actions, [64], batch_size=32, learn_every=20),
        random_agent.RandomAgent(1, actions),
    ]
    steps = 0
    for _ in range(1000):
        step = env.reset()
        while not step.last():
            player = step.observations["current_player"]
            step = env.step([agents[player].step(step).action])
            steps += 1
        for agent in agents:
            agent.step(step)
    assert agents[0].loss is not None
    assert np.isfinite(float(agents[0].loss))
    assert steps > 30_000
