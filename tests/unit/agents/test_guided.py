"""The agent "search": a network's search, action by action."""

import numpy as np
import pytest

from locmsim import Match, play_match
from locmsim.agents import PolicySearchAgent, make_agent
from locmsim.arena import Arena
from locmsim.game.positions import random_game, start_position
from locmsim.policy import Policy


def test_games_repeat_and_are_as_the_options_say(tmp_path):
    Policy.random(seed=3).save(tmp_path / "net.npz")
    specs = (
        "search:simulations=6",
        "search:simulations=6,root=puct",
        f"search:simulations=5,policy={tmp_path / 'net.npz'}",
    )
    for spec in specs:
        logs = []
        for _ in range(2):
            agents = make_agent(spec), make_agent("random")
            for agent in agents:
                agent.reset(7)
            logs.append(play_match(Match(seed=5), agents).log)
            assert all(r.visits.sum() == agents[0].simulations for r in agents[0].results)
        assert logs[0] == logs[1]


def test_a_win_within_the_turn_comes_first():
    agent = PolicySearchAgent(simulations=2)
    won = 0
    for seed in range(200):
        *_, (state, action) = random_game(start_position(seed), seed)
        if action == 0 or won == 5:
            continue
        agent.reset(seed)
        line = agent.act(state.observation(state.current_player()))
        assert agent.results == []
        after = state.clone()
        after.apply_line(line)
        assert after.winner == state.current_player()
        won += 1
    assert won == 5


def test_time_bounds_turns():
    agent = make_agent("search:time_ms=20")
    agent.reset(1)
    found = []
    act = agent.act

    def noted(observation):
        line = act(observation)
        found.extend(agent.results)
        return line

    agent.act = noted
    match = play_match(Match(seed=5), (agent, make_agent("greedy")))
    assert match.error is None
    assert len(found) > 5
    assert all(np.isfinite(result.value) for result in found)


def test_it_beats_random():
    match = play_match(Match(seed=8), (make_agent("random"), make_agent("search:simulations=16")))
    assert match.winner == 1


def test_what_it_refuses(tmp_path):
    with pytest.raises(ValueError, match=r"PolicySearchAgent plays rules 1\.5 only, not 1\.2"):
        Arena(["search:simulations=4", "random"], rules="1.2", games=2)
    with pytest.raises(ValueError, match="time_ms and simulations: expected 0 or more"):
        make_agent("search:simulations=-1")
    with pytest.raises(ValueError, match="root: expected gumbel or puct, got 'best'"):
        make_agent("search:root=best")
    with pytest.raises(ValueError, match="share: expected more than 0"):
        make_agent("search:share=0")
    with pytest.raises(ValueError, match=r"No such file or directory: .*nowhere"):
        make_agent(f"search:policy={tmp_path / 'nowhere.npz'}")
