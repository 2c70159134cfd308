"""The agent that plays by beam search."""

from locmsim.agents.searching import SearchAgent
from locmsim.search import BeamOptions, BeamSearch

__all__ = ["BeamAgent"]


class BeamAgent(SearchAgent):
    """Beam search over its own turn, the best turns played on in sampled worlds.

    The search is `locmsim.search.BeamSearch`.
    """

    searches = BeamSearch
    options_class = BeamOptions
    bound = "nodes"
