"""The agent that plays by beam search."""

from locmsim.agents.searching import SearchAgent
from locmsim.search import BeamOptions, BeamSearch

__all__ = ["BeamAgent"]


class BeamAgent(SearchAgent):
    """`locmsim.search.BeamSearch` as an agent."""

    searches = BeamSearch
    search_options = BeamOptions
    bound = "nodes"
