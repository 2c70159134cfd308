"""The environment of PettingZoo, by PettingZoo's own tests and by hand."""

import copy
import warnings

import layout_twin
import numpy as np
import pettingzoo
import pytest
from helpers import RULE_SETS
from layout_twin import Past
from pettingzoo.test import api_test, render_test, seed_test

from locmsim.envs import aec

FEW = {"card_sets": 4}
each_rules = pytest.mark.parametrize("rules", RULE_SETS)


@each_rules
@pytest.mark.parametrize("mask", ["obs", "info"])
def test_pettingzoo_has_nothing_to_criticise(rules, mask, capsys):
    with warnings.catch_warnings():
        # It knows no observations that are dicts.
        for message in ("Observation space for each agent probably", "Observation is not a NumPy"):
            warnings.filterwarnings("ignore", message=message)
        api_test(aec.raw_env(rules=rules, mask=mask, **FEW), num_cycles=300)


def test_seeds(capsys):
    seed_test(lambda: aec.env(**FEW), num_cycles=200)


def test_rendering(capsys):
    render_test(lambda render_mode=None: aec.env(render_mode=render_mode, **FEW))
    env = aec.raw_env(render_mode="human", **FEW)
    env.reset(seed=1)
    env.step(0)
    assert str(env.battle) in capsys.readouterr().out
    with pytest.raises(ValueError, match="render_mode: expected ansi, human or None"):
        aec.raw_env(render_mode="svg")


@each_rules
def test_a_game_by_hand_is_the_same(rules):
    env = aec.raw_env(rules=rules, **FEW)
    random = np.random.default_rng(1)
    for seed in range(3):
        env.reset(seed=seed)
        past = Past.of_deal(env.battle)
        while True:
            state = past.state
            mover = state.turn & 1
            assert env.agent_selection == f"player_{mover}"
            for player in (0, 1):
                seen = env.observe(f"player_{player}")
                expected = layout_twin.entities(state, player, past)
                np.testing.assert_array_equal(seen["observation"], expected)
                legal = state.legal_actions(player) or [0]
                assert np.flatnonzero(seen["action_mask"]).tolist() == legal
            both = np.split(env.state(), 2)
            np.testing.assert_array_equal(both[1], layout_twin.entities(state, 1, past))
            _observation, reward, terminated, truncated, info = env.last()
            if state.is_terminal():
                break
            assert (reward, terminated, truncated, info) == (0, False, False, {})
            action = int(random.choice(state.legal_actions()))
            env.step(action)
            past.apply(action)
        assert terminated
        assert [env.rewards[agent] for agent in env.possible_agents] == state.returns()
        assert info["winner"] == state.winner
        assert info["match"].match().state is not None
        for _ in range(2):
            env.step(None)
        assert env.agents == []


def test_illegal_actions_lose():
    env = aec.env(**FEW)
    env.reset(seed=1)
    env.step(144)
    assert env.rewards == {"player_0": -1.0, "player_1": 1.0}
    assert all(env.terminations.values())
    assert env.observe("player_1")["action_mask"].tolist() == [1] + [0] * 144
    with pytest.raises(ValueError, match="illegal: expected lose or pass"):
        aec.env(illegal="raise")


def test_pettingzoo_knows_it_by_name():
    env = pettingzoo.make("aec", "locmsim/battle_v0", **FEW)
    env.reset(seed=1)
    assert isinstance(env.unwrapped, aec.BattleAEC)


def test_it_can_be_copied():
    env = aec.raw_env(**FEW)
    env.reset(seed=1)
    other = copy.deepcopy(env)
    for _ in range(30):
        action = int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[-1])
        for one in (env, other):
            one.step(action)
        if env.terminations["player_0"]:
            break
        assert env.battle == other.battle
