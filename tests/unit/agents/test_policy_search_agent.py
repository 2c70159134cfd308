"""The agent "search": its search is guided by a network, action by action."""

from itertools import islice
from types import SimpleNamespace

import numpy as np
import pytest
from helpers import raises

import locmsim.search
from locmsim import Card, Match, State, play_match
from locmsim.agents import PolicySearchAgent, make_agent
from locmsim.arena import Arena
from locmsim.game.positions import random_game, start_position
from locmsim.policy import Policy
from locmsim.search import BeamSearch


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
        if action == 0:
            continue
        agent.reset(seed)
        line = agent.act(state.observation(state.current_player()))
        assert agent.results == []
        after = state.clone()
        after.apply_line(line)
        assert after.winner == state.current_player()
        won += 1
        if won == 5:
            break
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


def turn_of(state, actions):
    """Return a turn of randomly chosen actions."""
    turn = []
    while not state.is_terminal():
        turn.append(int(actions.choice(state.legal_actions())))
        if turn[-1] == 0:
            return turn
        state.apply_action(turn[-1])
    return None


def proposing(turn):
    """Return a beam search that finds this turn, which ends with PASS."""

    class Proposing(BeamSearch):
        def search(self, *position, **limits):
            return SimpleNamespace(actions=turn[:-1])

    return Proposing


@pytest.mark.parametrize("equal_cards", [False, True])
def test_a_proposed_turn_is_played_as_far_as_its_weight_goes(equal_cards, monkeypatch):
    actions = np.random.default_rng(4)
    kept = {1e6: 0, 0.0: 0}
    total = 0
    for seed in range(12):
        state = start_position(seed)
        if equal_cards:
            cheap = Card.from_row([seed, 0, 1, 2, 2, "------", 0, 0, 0])
            state = State.new([cheap] * 30, [cheap] * 30)
        *_, (state, _) = islice(random_game(state, seed), 25)
        proposed = turn_of(state.clone(), actions)
        if proposed is None or len(proposed) < 2:
            continue
        monkeypatch.setattr(locmsim.search, "BeamSearch", proposing(proposed))
        for weight in kept:
            # Time for all simulations, on a slow machine too.
            agent = PolicySearchAgent(simulations=8, time_ms=60_000, proposal_weight=weight)
            agent.reset(seed)
            line = agent.act(state.observation(state.current_player()))
            if not agent.results:
                continue  # a win within the turn is played without the search
            total += weight > 0
            kept[weight] += state.actions_of(line) == proposed[:-1]
    assert total >= 5
    assert kept[1e6] == total
    assert kept[0.0] < total


@pytest.mark.parametrize(
    ("options", "share"),
    [
        ("time_ms=20", 0.7),
        ("time_ms=20,proposal=0.25", 0.25),
        ("time_ms=20,proposal=0", None),
        ("simulations=4", None),
    ],
)
def test_turns_are_proposed_when_time_is_given(options, share, monkeypatch, set_clock):
    asked = []

    class Told(BeamSearch):
        def search(self, *position, **limits):
            asked.append(limits["time_ms"])
            return super().search(*position, **limits)

    monkeypatch.setattr(locmsim.search, "BeamSearch", Told)
    # A clock that stands still: the whole of the turn's time is left.
    set_clock("locmsim.agents.policy_search", perf_counter=lambda: 5.0)
    agent = make_agent(f"search:{options}")
    agent.reset(3)
    state = start_position(3)
    for _ in range(6):
        state.apply_action(0)
    assert state.actions_of(agent.act(state.observation(0)))
    assert agent.results
    first = 20 * agent.FIRST_TURN
    assert asked == ([] if share is None else [pytest.approx(share * first)])


def test_it_beats_random():
    match = play_match(Match(seed=8), (make_agent("random"), make_agent("search:simulations=16")))
    assert match.winner == 1


def test_what_it_refuses(tmp_path):
    with pytest.raises(ValueError, match=r"PolicySearchAgent plays rules 1\.5 only, not 1\.2"):
        Arena(None, ["search:simulations=4", "random"], rules="1.2", games=2)
    for option, other in (
        ("simulations=4,proposal=0.5", "time_ms"),
        ("simulations=4,proposal_weight=2", "time_ms"),
        ("simulations=4,share=0.5", "time_ms"),
        ("root=puct,considered=6", 'root="gumbel"'),
        ("root=puct,proposal=0.5", 'root="gumbel"'),
    ):
        name = option.split(",")[1].split("=")[0]
        raises(ValueError, f"{name}: needs {other}", make_agent, f"search:{option}")
    with pytest.raises(ValueError, match="layout: the network learned has entities"):
        make_agent("search:layout=gym-locm")
    for options in ("simulations=4,proposal=0", "root=puct,time_ms=9,share=0.5"):
        make_agent(f"search:{options}")
    with pytest.raises(ValueError, match=r"path: .*nowhere.npz: No such file or directory"):
        make_agent(f"search:policy={tmp_path / 'nowhere.npz'}")
