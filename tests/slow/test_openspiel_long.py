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


@pytest.mark.parametrize("match", [False, True])
@each_rules
def test_openspiels_own_test_of_games(rules, match):
    """Clones, histories, serialised states, masks, returns and observations are consistent."""
    game = locmsim.openspiel.game(rules, match)
    pyspiel.random_sim_test(game, num_sims=amount(2, 10, 40), serialize=True, verbose=False)


def test_a_search_with_sampled_worlds_beats_random_play():
    """ISMCTSBot beats random play."""
    game = locmsim.openspiel.game("1.5")
    won = 0
    for number in range(GAMES):
        state = game.new_initial_state(seed=number // 2)
        rng = np.random.RandomState(number)
        bot = ismcts.ISMCTSBot(
            game, mcts.RandomRolloutEvaluator(1, rng), 2.0, amount(200, most=1000),
            random_state=rng, use_observation_string=True,
        )  # fmt: skip
        while not state.is_terminal():
            if state.current_player() == number % 2:
                state.apply_action(bot.step(state))
            else:
                state.apply_action(int(rng.choice(state.legal_actions())))
        won += state.returns()[number % 2] > 0
    assert won >= amount(0.5, most=0.8) * GAMES


def test_a_learning_agent_trains():
    """OpenSpiel's DQN agent can be trained in episodes against random play."""
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
    for _ in range(amount(100, most=1000)):
        step = env.reset()
        while not step.last():
            player = step.observations["current_player"]
            step = env.step([agents[player].step(step).action])
            steps += 1
        for agent in agents:
            agent.step(step)
    assert agents[0].loss is not None
    assert np.isfinite(float(agents[0].loss))
    assert steps > amount(3_000, most=30_000)
