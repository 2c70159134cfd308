"""Players in the process: one `Agent` protocol, and the agents that come with the package."""

from locmsim.agents.agents import (
    AGENTS,
    Agent,
    Baseline,
    Beam,
    Greedy,
    OwnTurnSearch,
    Random,
    RuleBased,
    TreeSearch,
    make_agent,
)

__all__ = [
    "AGENTS",
    "Agent",
    "Baseline",
    "Beam",
    "Greedy",
    "OwnTurnSearch",
    "Random",
    "RuleBased",
    "TreeSearch",
    "make_agent",
]
