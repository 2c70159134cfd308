"""The environment of PettingZoo, by PettingZoo's own tests and by hand."""

import numpy as np
import pettingzoo
import pytest
import reference_layouts
from amounts import FEW, amount
from helpers import each_rules, each_rules_slowly
from pettingzoo.test import api_test, render_test, seed_test
from reference_layouts import Past

from locmsim.envs import aec

#: PettingZoo's test expects no dicts as observations.
dicts_are_fine = pytest.mark.filterwarnings(
    "ignore:Observation space for each agent probably", "ignore:Observation is not a NumPy"
)


@dicts_are_fine
@each_rules
@pytest.mark.parametrize("mask", ["obs", "info"])
def test_pettingzoo_has_nothing_to_criticise(rules, mask, capsys):
    api_test(aec.raw_env(rules=rules, mask=mask, **FEW), num_cycles=300)


def test_seeds(capsys):
    seed_test(lambda: aec.env(**FEW), num_cycles=200)


def test_rendering(capsys):
    render_test(lambda render_mode=None: aec.env(render_mode=render_mode, **FEW))
    env = aec.raw_env(render_mode="human", **FEW)
    env.reset(seed=1)
    env.step(0)
    assert env.games.text(0) in capsys.readouterr().out


@each_rules
def test_a_game_by_hand_is_the_same(rules):
    env = aec.raw_env(rules=rules, **FEW)
    random = np.random.default_rng(1)
    for seed in range(amount(2, 3)):
        env.reset(seed=seed)
        past = Past.of_deal(env.battle)
        while True:
            state = past.state
            mover = state.turn & 1
            assert env.agent_selection == f"player_{mover}"
            for player in (0, 1):
                seen = env.observe(f"player_{player}")
                expected = reference_layouts.entities(state, player, past)
                np.testing.assert_array_equal(seen["observation"], expected)
                legal = state.legal_actions(player) or [0]
                assert np.flatnonzero(seen["action_mask"]).tolist() == legal
            both = np.split(env.state(), 2)
            np.testing.assert_array_equal(both[1], reference_layouts.entities(state, 1, past))
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


def test_pettingzoo_knows_it_by_name():
    env = pettingzoo.make("aec", "locmsim/battle_v0", **FEW)
    env.reset(seed=1)
    assert isinstance(env.unwrapped, aec.LocmAEC)
    assert pettingzoo.make("aec", "locmsim/match_v0", **FEW).metadata["name"] == "locmsim/match_v0"


# ------------------------------------------------------------------------------ whole matches


@pytest.mark.slow
@dicts_are_fine
@each_rules_slowly
@pytest.mark.parametrize("mask", ["obs", "info"])
def test_pettingzoo_has_nothing_to_criticise_about_matches(rules, mask, capsys):
    api_test(aec.raw_env("match", rules=rules, mask=mask, **FEW), num_cycles=300)
    seed_test(lambda: aec.env("match", rules=rules, **FEW), num_cycles=100)
    render_test(lambda render_mode=None: aec.env("match", render_mode=render_mode, **FEW))


def offered(env, agent):
    """Return the cards that an agent may pick."""
    cards, step = env.games.cards(0), len(env.games.rows.views.picked(0, env.agents.index(agent)))
    if not env.games.rules.draft:
        return cards
    return [cards[i] for i in env.games.rows.card_sets.offers(0)[step]]


@each_rules
def test_a_match_is_that_of_the_referee(rules):
    """The referee's `Match` has the same choice and battle, given what the info of the end says."""
    env = aec.raw_env("match", rules=rules, privileged=True, **FEW)
    random = np.random.default_rng(3)
    for seed in range(2):
        env.reset(seed=seed)
        picks = {agent: [] for agent in env.agents}
        while len(picks["player_1"]) < 30:
            agent = env.agent_selection
            other = "player_1" if agent == "player_0" else "player_0"
            assert np.flatnonzero(env.observe(other)["action_mask"]).tolist() == [0]
            with pytest.raises(ValueError, match="the battle has not begun"):
                _ = env.battle
            seen = env.observe(agent)
            assert not seen["observation"][:440].any()
            assert seen["observation"][-1] == len(picks[agent])
            before = env.observe(other)["observation"]
            action = int(random.choice(np.flatnonzero(seen["action_mask"])))
            picks[agent].append(offered(env, agent)[action - env.first_pick].base_id)
            env.step(action)
            if len(picks["player_1"]) < 30:  # players do not see each other's picks
                np.testing.assert_array_equal(env.observe(other)["observation"], before)
                rows = env.observe(other)["state"].reshape(-1, 24)
                assert rows[16 + 30 :].any(axis=1).sum() == len(picks[agent])
        assert env.terminations == {"player_0": False, "player_1": False}
        start = env.battle
        env.step(200)  # not an action of a battle
        assert env.rewards == {"player_0": -1.0, "player_1": 1.0}
        match = env.infos["player_0"]["match"].match()
        assert match.state == start
        assert match.chosen == [picks["player_0"], picks["player_1"]]
