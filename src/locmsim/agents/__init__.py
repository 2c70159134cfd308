"""Players in this process: the `Agent` protocol and the agents that come with the library.

An agent is asked what the referee asks, an `Observation` at a time, and answers with the line that
a bot would print:

    >>> from locmsim.game.match import Match
    >>> from locmsim.agents import make_agent
    >>> match = Match(seed=1)
    >>> agents = make_agent("greedy"), make_agent("random")
    >>> while match.to_ask:
    ...     player = match.to_ask[0]
    ...     observation = match.observation(player)
    ...     agent = agents[player]
    ...     ask = agent.choose if observation.phase == "choice" else agent.act
    ...     _ = match.submit(player, ask(observation))
    >>> match.winner
    0
"""

from locmsim.agents.base import Agent, BaseAgent
from locmsim.agents.beam import BeamAgent
from locmsim.agents.greedy import GreedyAgent
from locmsim.agents.max_attack import MaxAttackAgent
from locmsim.agents.mcts import MCTSAgent
from locmsim.agents.osl import OSLAgent
from locmsim.agents.policy import PolicyAgent
from locmsim.agents.random import RandomAgent
from locmsim.agents.registry import (
    AGENTS,
    AgentInfo,
    AgentSpec,
    agent_spec,
    describe_agents,
    did_you_mean,
    is_agent,
    known_agents,
    make_agent,
    parse_spec,
)
from locmsim.agents.rule import RuleAgent
from locmsim.agents.searching import SearchAgent

__all__ = [
    "AGENTS",
    "Agent",
    "AgentInfo",
    "AgentSpec",
    "BaseAgent",
    "BeamAgent",
    "GreedyAgent",
    "MCTSAgent",
    "MaxAttackAgent",
    "OSLAgent",
    "PolicyAgent",
    "RandomAgent",
    "RuleAgent",
    "SearchAgent",
    "agent_spec",
    "describe_agents",
    "did_you_mean",
    "is_agent",
    "known_agents",
    "make_agent",
    "parse_spec",
]
