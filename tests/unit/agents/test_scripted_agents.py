"""Scripted agents choose what their slow counterparts choose, action by action."""

import numpy as np
import pytest
from helpers import each_rules, raises
from oracles.agents import max_attack_choice, osl_choices

from locmsim.agents._scripted import SCRIPTED, choose_action, play_battle
from locmsim.agents.greedy import HAND_SET_WEIGHTS, greedy_turn
from locmsim.envs import LocmEnv
from locmsim.game.positions import random_game, start_position
from locmsim.search import Evaluation

GREEDY = Evaluation(HAND_SET_WEIGHTS, network=None).compiled

AGENTS = {
    "osl": lambda state: state.string_to_action((osl_choices(state) or ["PASS"])[0]),
    "max-attack": lambda state: state.string_to_action(max_attack_choice(state)),
    "greedy": lambda state: (greedy_turn(state, GREEDY) or [0])[0],
    "pass": lambda state: 0,
}


@each_rules
@pytest.mark.parametrize("name", AGENTS)
def test_they_choose_as_their_oracles_do(name, rules):
    for seed in range(3):
        for state, _ in random_game(start_position(seed, rules), seed):
            assert choose_action(name, state) == AGENTS[name](state)
        state = start_position(seed, rules)
        while not state.is_terminal():  # in games of its own, too
            action = choose_action(name, state)
            assert action == AGENTS[name](state)
            state.apply_action(action)


@each_rules
def test_random_is_uniform(rules):
    state = start_position(3, rules)
    for _ in range(4):
        state.apply_action(state.legal_actions()[-1])
    legal = state.legal_actions()
    counts = np.zeros(155)
    for seed in range(600 * len(legal)):
        counts[choose_action("random", state, seed)] += 1
    assert counts.sum() == counts[legal].sum()
    assert ((counts[legal] - 600) ** 2 / 600).sum() < 5 * len(legal) + 30


@each_rules
def test_whole_battles(rules):
    wins = sum(play_battle(start_position(i, rules), "osl", "random", i) == 0 for i in range(40))
    assert wins > 24
    assert play_battle(start_position(1, rules), "pass", "pass", max_actions=5) == -1


def test_an_opponent_in_the_kernel_is_the_agent_of_its_name():
    """Whole games against osl in the kernel equal those against the agent in Python."""
    from locmsim.agents import OSLAgent

    inside = LocmEnv(opponent="osl", card_sets=4)
    outside = LocmEnv(opponent=OSLAgent(), card_sets=4)
    for seed in range(4):
        first, second = inside.reset(seed=seed)[0], outside.reset(seed=seed)[0]
        random = np.random.default_rng(seed)
        while True:
            np.testing.assert_equal(first, second)
            action = int(random.choice(np.flatnonzero(first["action_mask"])))
            one, other = inside.step(action), outside.step(action)
            first, second = one[0], other[0]
            assert one[1:4] == other[1:4]
            if one[2]:
                break


def test_what_is_there():
    assert set(SCRIPTED) == {*AGENTS, "random"}
    state = start_position(1)
    with pytest.raises(KeyError):
        choose_action("nobody", state)
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[-1])
    raises(ValueError, "the game is over", choose_action, "osl", state)
