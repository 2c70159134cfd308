"""Agents that have begun a match can be copied and sent to workers; the copies play the same."""

import copy
import pickle

import pytest
from helpers import begun_match

from locmsim import Match
from locmsim.agents import AGENTS, make_agent
from locmsim.search import Belief, Evaluation

#: Budgets that do not depend on time.
OPTIONS = {
    "beam": "beam:nodes=50",
    "mcts": "mcts:iterations=30",
    "level": "level:k=2",
    "search": "search:simulations=8",
}


def first_turn(spec):
    """Return an agent after its first turn, and the observation of its second one."""
    agent = make_agent(spec)
    match = Match(seed=3)
    while (match.turn or 0) < 2:
        player = match.to_ask[0]
        match.submit(player, "PASS" if player else match.ask(agent, player)())
    return agent, match.observation(0)


def sent(agent):
    return pickle.loads(pickle.dumps(agent))


@pytest.mark.parametrize("copied", [copy.deepcopy, sent])
@pytest.mark.parametrize("name", sorted(set(AGENTS) - {"policy"}))
def test_a_copy_plays_on_as_the_agent_does(name, copied):
    agent, observation = first_turn(OPTIONS.get(name, name))
    other = copied(agent)
    assert other.act(observation) == agent.act(observation)


def test_copies_are_independent():
    agent, observation = first_turn("beam:nodes=50")
    other = copy.deepcopy(agent)
    agent.act(observation)
    assert other.belief.observation != agent.belief.observation


def test_an_evaluation_can_be_pickled():
    match = begun_match(seed=1)
    assert sent(Evaluation())(match.state, 0) == Evaluation()(match.state, 0)


def test_a_belief_without_an_observation_can_be_copied():
    with pytest.raises(ValueError, match="nothing was observed"):
        _ = copy.deepcopy(Belief()).observation
