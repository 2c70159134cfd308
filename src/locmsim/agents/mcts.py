"""The agent that plays by Monte-Carlo tree search."""

from locmsim.agents.searching import SearchAgent
from locmsim.search import MCTS, MCTSOptions

__all__ = ["MCTSAgent"]


class MCTSAgent(SearchAgent):
    """Monte-Carlo tree search over the actions of its own turn.

    The search is `locmsim.search.MCTS`.
    """

    searches = MCTS
    options_class = MCTSOptions
    bound = "iterations"
