"""The agent that plays by Monte-Carlo tree search."""

from functools import partial
from typing import Any

from locmsim.agents.searching import SHARE, TIME_MS, SearchAgent
from locmsim.decks import DeckBuilder, DraftPicker
from locmsim.game.observation import Observation
from locmsim.search import MCTS, MCTSOptions, SearchResult

__all__ = ["MCTSAgent"]


class MCTSAgent(SearchAgent):
    """Monte-Carlo tree search over whole turns, its own and those that may follow.

    The search is `locmsim.search.MCTS`. A turn is bounded by `iterations`, visits of plans, as by
    `time_ms`; 0 is for no bound of that kind. See `SearchAgent` for the other options.
    """

    options_class = MCTSOptions
    bound = "iterations"
    search: MCTS

    def __init__(
        self,
        deck: str | DeckBuilder = "default",
        draft: str | DraftPicker = "default",
        time_ms: float = TIME_MS,
        iterations: int = 0,
        weights: str = "",
        evaluation: Any = None,
        belief: str = "score",
        share: float = SHARE,
        **options: float,
    ) -> None:
        self.iterations = iterations
        search = partial(MCTS, MCTSOptions(**options))  # type: ignore[arg-type]
        super().__init__(
            search, iterations, deck, draft, time_ms, weights, evaluation, belief, share
        )

    def find(self, observation: Observation, time_ms: float | None, seed: int) -> SearchResult:
        iterations = self.iterations or None
        return self.search.search(
            observation, time_ms=time_ms, iterations=iterations, seed=seed, belief=self.belief
        )
