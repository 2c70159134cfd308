"""What the agents that play the turns of a search have in common."""

import time
from collections.abc import Mapping
from typing import Any, ClassVar

from locmsim._core import State
from locmsim.agents.base import BaseAgent, check_bounds
from locmsim.decks import (
    CardScore,
    DeckBuilder,
    DraftPicker,
    deck_builder,
    draft_picker,
    score_of,
)
from locmsim.networks.weights import WeightsFile
from locmsim.rules.rulesets import RULES
from locmsim.search import (
    MCTS,
    BeamOptions,
    BeamSearch,
    Belief,
    MCTSOptions,
    SearchResult,
)

__all__ = ["SearchAgent"]

#: The scores by which an opponent is taken to choose his cards, see `Belief`.
_TASTES: dict[str, Mapping[str, CardScore] | None] = {
    "score": None,
    "any": dict.fromkeys(RULES, lambda card: 0.0),
}


class SearchAgent(BaseAgent):
    """An agent that plays the turns that a search of `locmsim.search` finds.

    It takes `time_ms` for a turn, at most `share` of the rule set's limit (the rest is for the
    referee, the pipes and a machine that does something else for a while), and five times as long
    for the first one, whose limit is higher; or a number of `iterations` (see
    `locmsim.search.MCTS.search`); 0 for no bound of that kind. With a bound of iterations alone the
    answers depend on the seed and on what was shown only.

    `weights` is the path of a weights file: positions are evaluated by it, the "default" deck and
    draft are those of its numbers, and the opponent is taken to choose by them, too. `evaluation`
    is what the search takes in its place. `belief` says which cards the opponent is taken to
    choose: those of high "score", or "any", whatever they are worth; `options` are those of the
    search.
    """

    searches: ClassVar[type[MCTS] | type[BeamSearch]]
    #: What bounds them beside the time: an argument of their method `search`.
    bound: ClassVar[str]
    #: What `options` may be.
    options_class: ClassVar[type[MCTSOptions] | type[BeamOptions]]

    FIRST_TURN = 5

    def __init__(
        self,
        deck: str | DeckBuilder = "default",
        draft: str | DraftPicker = "default",
        time_ms: float = 140.0,
        iterations: int = 0,
        weights: str = "",
        evaluation: Any = None,
        belief: str = "score",
        share: float = 0.7,
        **options: float,
    ) -> None:
        check_bounds(time_ms, "iterations", iterations)
        if not share > 0:
            raise ValueError(f"share: expected more than 0, got {share}")
        if belief not in _TASTES:
            raise ValueError(f"belief: expected one of {', '.join(_TASTES)}, got {belief!r}")
        if weights and evaluation is not None:
            raise ValueError("weights and evaluation exclude each other")
        self.time_ms = time_ms
        self.share = share
        self.iterations = iterations
        self._taste = _TASTES[belief]
        self._their_deck: DeckBuilder | None = None
        if weights:
            evaluation = file = WeightsFile.load(weights)
            tuned = deck_builder(file["1.5"])
            if belief == "score":
                self._taste = {rules: score_of(file[rules]) for rules in RULES}
                self._their_deck = tuned
            deck = tuned if deck == "default" else deck
            draft = draft_picker(file) if draft == "default" else draft
        chosen: Any = self.options_class(**options)  # type: ignore[arg-type]
        self.search = self.searches(chosen, evaluation=evaluation)
        super().__init__(deck, draft)

    def reset(self, seed: int = 0) -> None:
        super().reset(seed)
        self.belief = Belief(self._taste, self._their_deck)
        self.first_turn = True
        #: What the search found in the last turn.
        self.result: SearchResult | None = None

    def plan(self, state: State, started: float) -> list[int]:
        limits = RULES[state.rules].battle_limits_ms
        first, self.first_turn = self.first_turn, False
        left = None
        if self.time_ms:
            time_ms = min(self.time_ms, self.share * limits[1])
            if first:
                time_ms = min(self.FIRST_TURN * time_ms, self.share * limits[0])
            left = max(0.0, time_ms - 1000 * (time.perf_counter() - started))
        self.result = self.search.search(
            self.belief.observation,
            time_ms=left,
            **{self.bound: self.iterations or None},
            seed=self.random.getrandbits(63),
            belief=self.belief,
        )
        return self.result.actions
