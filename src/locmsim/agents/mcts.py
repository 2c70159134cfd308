"""The agent that plays by Monte-Carlo tree search."""

from locmsim.agents.searching import SearchAgent
from locmsim.search import MCTS, MCTSOptions

__all__ = ["MCTSAgent"]


class MCTSAgent(SearchAgent):
    """`locmsim.search.MCTS` as an agent."""

    searches = MCTS
    search_options = MCTSOptions
    bound = "iterations"
