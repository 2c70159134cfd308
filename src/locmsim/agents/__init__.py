"""Agents, the players in this process: the `Agent` protocol and the library's agents.

An agent gets one `Observation` at a time, as the referee would send it, and answers with the line
that a bot would print:

    >>> from locmsim import Match, play_match
    >>> from locmsim.agents import make_agent
    >>> play_match(Match(seed=1), (make_agent("greedy"), make_agent("random"))).winner
    0
"""

from typing import TYPE_CHECKING

from locmsim._lazy import imported_later
from locmsim.agents.base import Agent, BaseAgent
from locmsim.agents.registry import (
    AGENTS,
    BUILT_IN,
    AgentInfo,
    AgentSpec,
    agent_spec,
    check_rules,
    describe_agents,
    did_you_mean,
    is_agent,
    known_agents,
    make_agent,
    parse_spec,
)

if TYPE_CHECKING:
    from locmsim.agents.greedy import GreedyAgent as GreedyAgent
    from locmsim.agents.guided import PolicySearchAgent as PolicySearchAgent
    from locmsim.agents.learned import LearnedAgent as LearnedAgent
    from locmsim.agents.level import LEVELS as LEVELS
    from locmsim.agents.level import Level as Level
    from locmsim.agents.level import LevelAgent as LevelAgent
    from locmsim.agents.max_attack import MaxAttackAgent as MaxAttackAgent
    from locmsim.agents.osl import OSLAgent as OSLAgent
    from locmsim.agents.policy import PolicyAgent as PolicyAgent
    from locmsim.agents.random import RandomAgent as RandomAgent
    from locmsim.agents.rule import RuleAgent as RuleAgent
    from locmsim.agents.turn_search import BeamAgent as BeamAgent
    from locmsim.agents.turn_search import MCTSAgent as MCTSAgent
    from locmsim.agents.turn_search import SearchAgent as SearchAgent

__all__ = [
    "AGENTS",
    "LEVELS",
    "Agent",
    "AgentInfo",
    "AgentSpec",
    "BaseAgent",
    "BeamAgent",
    "GreedyAgent",
    "LearnedAgent",
    "Level",
    "LevelAgent",
    "MCTSAgent",
    "MaxAttackAgent",
    "OSLAgent",
    "PolicyAgent",
    "PolicySearchAgent",
    "RandomAgent",
    "RuleAgent",
    "SearchAgent",
    "agent_spec",
    "check_rules",
    "describe_agents",
    "did_you_mean",
    "is_agent",
    "known_agents",
    "make_agent",
    "parse_spec",
]

# Names that are imported when asked for, and their modules: a bot is one of these agents.
__getattr__, __dir__ = imported_later(
    __name__,
    {class_: module for module, class_ in BUILT_IN.values()}
    | {"LEVELS": "level", "Level": "level", "SearchAgent": "turn_search"},
)
