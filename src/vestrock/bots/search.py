"""The bot `search`: alpha-beta over whole turns (`vestrock.bots._search`)."""

from collections.abc import Sequence
from typing import Annotated

from locmsim.gamekit import Option, check_values, documented
from vestrock._core import State
from vestrock.bots._search import SearchResult, TurnSearch
from vestrock.bots.base import as_line


@documented()
class SearchBot:
    """Plays the best turn found by a search over whole turns.

    Parameters
    ----------
    options

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
        time_ms: Annotated[float, Option("time per turn", 0.0, 1e9, measured_in="ms")] = 20.0,
        nodes: Annotated[
            int | None,
            Option(
                "maximum number of positions per turn",
                0,
                1 << 60,
                more="It makes the answers reproducible.",
            ),
        ] = None,
        depth: Annotated[int, Option("maximum number of whole turns to look ahead", 1, 8)] = 8,
        weights: Annotated[
            Sequence[float] | None,
            Option(
                "weights of the evaluation, in the order of `_search.WEIGHTS`",
                kind="sequence of float",
            ),
        ] = None,
    ) -> None:
        check_values(SearchBot, time_ms=time_ms, nodes=nodes, depth=depth)
        self.time_ms = time_ms if nodes is None else 0.0
        self.nodes = nodes
        self.depth = depth
        self.last: SearchResult | None = None
        self._search = TurnSearch(weights)

    def reset(self, seed: int = 0) -> None:
        """Do nothing: the bot is deterministic and has no state.

        Parameters
        ----------
        seed : int
            Not used.
        """

    def turn(self, state: State, time_ms: float | None = None) -> str:
        """Return commands for the rest of the turn, as `Bot.turn`.

        Parameters
        ----------
        state : State
            A position of a match that is not over; it is not changed.
        time_ms : float, optional
            Time for the turn in ms; by default the bot's own.
        """
        limit = self.time_ms if time_ms is None else time_ms
        self.last = self._search.search(
            state,
            time_ms=None if self.nodes is not None and time_ms is None else limit,
            nodes=self.nodes,
            depth=self.depth,
        )
        return as_line(state, self.last.actions)
