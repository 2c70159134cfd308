"""The bot `search`: alpha-beta over whole turns (`vestrock.bots._search`)."""

from collections.abc import Sequence

from locmsim.gamekit import budget
from vestrock._core import State
from vestrock.bots._search import SearchResult, TurnSearch
from vestrock.bots.base import as_line

__all__ = ["SearchBot"]


class SearchBot:
    """Plays the best turn found by a search over whole turns.

    Parameters
    ----------
    time_ms
        Default time per turn in milliseconds.
    nodes
        Maximum number of positions per turn, which makes the answers reproducible.
    depth
        Maximum number of whole turns to look ahead, 1..8.
    weights
        Weights of the evaluation, in the order of `_search.WEIGHTS`.

    Attributes
    ----------
    time_ms : float
        The given time, or 0 if `nodes` limits the search, so that answers do not depend on time.
    last : SearchResult or None
        The result of the last search.

    Raises
    ------
    ValueError
        The number of weights is wrong, or a bound is out of its range.
    """

    def __init__(
        self,
        time_ms: float = 20.0,
        nodes: int | None = None,
        depth: int = 8,
        weights: Sequence[float] | None = None,
    ) -> None:
        budget(time_ms, nodes=nodes)
        self.time_ms = time_ms if nodes is None else 0.0
        self.nodes = nodes
        self.depth = depth
        self.last: SearchResult | None = None
        self._search = TurnSearch(weights)

    def reset(self, seed: int = 0) -> None:
        """Do nothing: the bot is deterministic and has no state."""

    def turn(self, state: State, time_ms: float | None = None) -> str:
        """See `vestrock.bots.Bot.turn`."""
        limit = self.time_ms if time_ms is None else time_ms
        self.last = self._search.search(
            state,
            time_ms=None if self.nodes is not None and time_ms is None else limit,
            nodes=self.nodes,
            depth=self.depth,
        )
        return as_line(state, self.last.actions)
