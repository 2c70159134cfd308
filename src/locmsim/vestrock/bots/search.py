"""The bot `search`: alpha-beta over whole turns (`locmsim.vestrock.bots._search`)."""

from collections.abc import Sequence

from locmsim.vestrock._core import State
from locmsim.vestrock.bots._search import SearchResult, TurnSearch
from locmsim.vestrock.bots.base import as_line

__all__ = ["SearchBot"]


class SearchBot:
    """Plays the turn that a search over whole turns finds best.

    Parameters
    ----------
    time_ms
        How long to think about a turn if the caller does not say, in milliseconds.
    nodes
        Positions to evaluate at most in a turn: makes the bot's answers reproducible.
    depth
        Whole turns to look ahead at most, 1..8.
    weights
        Of the evaluation, in the order of `_search.WEIGHTS`.

    Attributes
    ----------
    time_ms : float
        As given; 0 where `nodes` bounds the search, whose answers then do not depend on time.
    last : SearchResult or None
        What the last search found.

    Raises
    ------
    ValueError
        If the weights are not as many as there should be.
    """

    def __init__(
        self,
        time_ms: float = 20.0,
        nodes: int | None = None,
        depth: int = 8,
        weights: Sequence[float] | None = None,
    ) -> None:
        self.time_ms = time_ms if nodes is None else 0.0
        self.nodes = nodes
        self.depth = depth
        self.last: SearchResult | None = None
        self._search = TurnSearch(weights)

    def reset(self, seed: int = 0) -> None:
        """Nothing is random, and nothing is kept."""

    def turn(self, state: State, time_ms: float | None = None) -> str:
        """See `locmsim.vestrock.bots.Bot.turn`."""
        limit = self.time_ms if time_ms is None else time_ms
        self.last = self._search.search(
            state,
            time_ms=None if self.nodes is not None and time_ms is None else limit,
            nodes=self.nodes,
            depth=self.depth,
        )
        return as_line(state, self.last.actions)
