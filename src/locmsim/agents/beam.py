"""The agent that plays by beam search."""

from functools import partial
from typing import Any

from locmsim.agents.searching import SHARE, TIME_MS, SearchAgent
from locmsim.decks import DeckBuilder, DraftPicker
from locmsim.game.observation import Observation
from locmsim.search import BeamOptions, BeamSearch, SearchResult

__all__ = ["BeamAgent"]


class BeamAgent(SearchAgent):
    """Beam search over its own turn, the best turns played on in sampled worlds.

    The search is `locmsim.search.BeamSearch`. A turn is bounded by `nodes` as by
    `time_ms`; 0 is for no bound of that kind. See `SearchAgent` for the other options.
    """

    options_class = BeamOptions
    bound = "nodes"
    search: BeamSearch

    def __init__(
        self,
        deck: str | DeckBuilder = "default",
        draft: str | DraftPicker = "default",
        time_ms: float = TIME_MS,
        nodes: int = 0,
        weights: str = "",
        evaluation: Any = None,
        belief: str = "score",
        share: float = SHARE,
        **options: float,
    ) -> None:
        self.nodes = nodes
        search = partial(BeamSearch, BeamOptions(**options))  # type: ignore[arg-type]
        super().__init__(search, nodes, deck, draft, time_ms, weights, evaluation, belief, share)

    def find(self, observation: Observation, time_ms: float | None, seed: int) -> SearchResult:
        nodes = self.nodes or None
        return self.search.search(
            observation, time_ms=time_ms, nodes=nodes, seed=seed, belief=self.belief
        )
