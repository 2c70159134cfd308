"""Agents, the players in this process: the `Agent` protocol and the library's agents.

An agent gets one `Observation` at a time, as the referee would send it, and answers with the line
that a bot would print:

    >>> from locmsim import Match, play_match
    >>> from locmsim.agents import make_agent
    >>> play_match(Match(seed=1), (make_agent("greedy"), make_agent("random"))).winner
    0
"""

from locmsim.support.lazy import attached

__all__, __getattr__, __dir__ = attached(__name__, __file__)
