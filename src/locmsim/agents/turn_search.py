"""The agents that play the turns of a search."""

import time
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from locmsim.agents.base import BelievingAgent, check_bounds
from locmsim.decks import (
    CardScore,
    DeckBuilder,
    DraftPicker,
    deck_builder,
    draft_picker,
    score_of,
)
from locmsim.decks.draft_value import DraftValue, draft_value_of
from locmsim.game.observation import Observation
from locmsim.networks.weights import WeightsFile
from locmsim.rules.rulesets import RULES
from locmsim.search import (
    MCTS,
    BeamOptions,
    BeamSearch,
    Belief,
    MCTSOptions,
    SearchOptions,
    SearchResult,
)
from locmsim.search._engine import seed_of_turn
from locmsim.search.turn_search import Search

__all__ = ["SHARE", "TIME_MS", "BeamAgent", "MCTSAgent", "SearchAgent"]

#: The time for a turn and its share of a limit, if no other is given. Where another program keeps
#: the same core busy, a turn of 100 ms is still answered in time (docs/figures.md).
TIME_MS = 120.0
SHARE = 0.6

#: The scores by which an opponent is taken to choose their cards, see `Belief`.
_PRIORS: dict[str, Mapping[str, CardScore] | None] = {
    "score": None,
    "any": dict.fromkeys(RULES, lambda card: 0.0),
}


class SearchAgent(BelievingAgent):
    """An agent that plays the turns that a search of `locmsim.search` finds.

    Parameters
    ----------
    deck, draft : str or function
        How cards are chosen.
    time_ms : float
        Time for a turn: at most `share` of the rule set's limit (the rest is for the referee, the
        pipes and a machine that does something else for a while), and five times as long for the
        first one, whose limit is higher; 0: no bound.
    weights : str
        The path of a weights file: positions are evaluated by it, the "default" deck and draft are
        those of its numbers, and the opponent is taken to choose by them, too.
    evaluation : object
        What the search takes in its place.
    belief : str
        Which cards the opponent is taken to choose: those of high "score", or "any", whatever they
        are worth.
    share : float
        See `time_ms`.
    threads : int
        That the search shares its worlds among. The arena binds a game to one core unless it is
        told otherwise: ``locmsim arena --cores 2``.
    **options
        `nodes` or `iterations`, whichever bounds the search besides time, 0 for no such bound: with
        it alone the answers depend on the seed and on what was shown only. And the options of the
        search.

    Raises
    ------
    ValueError
        An option makes no sense, or two exclude each other.
    """

    #: Which search it is.
    search_class: ClassVar[type[Search]]
    #: What further options there are.
    options_class: ClassVar[type[SearchOptions]]
    #: The one that bounds the search besides time.
    bound: ClassVar[str]

    FIRST_TURN = 5

    def __init__(
        self,
        deck: str | DeckBuilder = "default",
        draft: str | DraftPicker = "default",
        time_ms: float = TIME_MS,
        weights: str = "",
        evaluation: Any = None,
        belief: str = "score",
        share: float = SHARE,
        threads: int = 1,
        **options: Any,
    ) -> None:
        most = options.pop(self.bound, 0)
        check_bounds(time_ms, self.bound, most)
        setattr(self, self.bound, most)
        if not share > 0:
            raise ValueError(f"share: expected more than 0, got {share}")
        if belief not in _PRIORS:
            raise ValueError(f"belief: expected one of {', '.join(_PRIORS)}, got {belief!r}")
        if weights and evaluation is not None:
            raise ValueError("weights and evaluation exclude each other")
        if threads < 1:
            raise ValueError(f"threads: expected at least 1, got {threads}")
        self.time_ms = time_ms
        self.share = share
        self.threads = threads
        self._scores = _PRIORS[belief]
        self._their_deck: DeckBuilder | None = None
        self._their_drafts: dict[str, DraftValue] = {}
        if weights:
            evaluation = file = WeightsFile.load(weights)
            tuned = deck_builder(file["1.5"])
            if belief == "score":
                self._scores = {rules: score_of(file[rules]) for rules in RULES}
                self._their_deck = tuned
                values = {rules: draft_value_of(file[rules]) for rules in RULES}
                self._their_drafts = {r: value for r, value in values.items() if value is not None}
            deck = tuned if deck == "default" else deck
            draft = draft_picker(file) if draft == "default" else draft
        self.search = self.search_class(self.options_class(**options), evaluation=evaluation)
        super().__init__(deck, draft)

    def reset(self, seed: int = 0) -> None:
        super().reset(seed)
        self.belief = Belief(self._scores, self._their_deck, self._their_drafts)
        self.first_turn = True
        self._seed = seed
        self._turns = 0
        #: What the search found in the last turn.
        self.result: SearchResult | None = None

    def prior(self, rules: str) -> tuple[CardScore | None, DeckBuilder | None, DraftValue | None]:
        """By which scores, deck (1.5) and draft value (1.x) opponents are taken to choose.

        None: what `locmsim.search.belief.prior` says.
        """
        score = None if self._scores is None else self._scores[rules]
        return score, self._their_deck, self._their_drafts.get(rules)

    def choose(self, observation: Observation) -> str:
        line = super().choose(observation)
        # What takes long and can be done before the battle.
        self.search.prepare(observation.rules, self.threads)
        self.belief.prepare()
        return line

    def act(self, observation: Observation) -> str:
        started = time.perf_counter()
        self.belief.see(observation)
        self.result = None
        if min(observation.me.health, observation.opponent.health) <= 0:
            return "PASS"  # dead from drawing, but asked
        limits = RULES[observation.rules].battle_limits_ms
        first, self.first_turn = self.first_turn, False
        left = None
        if self.time_ms:
            time_ms = min(self.time_ms, self.share * limits[1])
            if first:
                time_ms = min(self.FIRST_TURN * time_ms, self.share * limits[0])
            left = max(0.0, time_ms - 1000 * (time.perf_counter() - started))
        seed = seed_of_turn(self._seed, self._turns)
        self._turns += 1
        self.result = self.find(observation, left, seed)
        return self.result.line

    def go_on(self, done: str | Iterable[int], time_ms: float | None = None) -> str:
        """The rest of the turn that was asked for last, after part of it was played.

        Parameters
        ----------
        done : str or iterable of int
            What was done in it: actions, or the answer line for them.
        time_ms : float, optional
            Milliseconds, by default the option `time_ms`.

        Returns
        -------
        str
            The answer line for the rest.

        Raises
        ------
        ValueError
            No turn was asked for, or `done` cannot be done in it.
        """
        if self.result is None:
            raise ValueError("no turn was asked for yet")
        seed = seed_of_turn(self._seed, self._turns - 1)
        left = time_ms if time_ms is not None else self.time_ms or None
        self.result = self.find(self.belief.observation, left, seed, done)
        return self.result.line

    def find(
        self,
        observation: Observation,
        time_ms: float | None,
        seed: int,
        done: str | Iterable[int] = (),
    ) -> SearchResult:
        """What the search finds in a turn, or in the rest of one."""
        bound: dict[str, Any] = {self.bound: getattr(self, self.bound) or None}
        return self.search.search(
            observation,
            time_ms=time_ms,
            seed=seed,
            belief=self.belief,
            done=done,
            threads=self.threads,
            **bound,
        )


class BeamAgent(SearchAgent):
    """Beam search over its own turn, the best turns played on in sampled worlds.

    The search is `locmsim.search.BeamSearch`, bounded by `nodes` as by `time_ms`. See `SearchAgent`
    for the options.
    """

    search_class = BeamSearch
    options_class = BeamOptions
    bound = "nodes"
    nodes: int


class MCTSAgent(SearchAgent):
    """Monte-Carlo tree search over whole turns, its own and those that may follow.

    The search is `locmsim.search.MCTS`, bounded by `iterations`, visits of plans, as by `time_ms`.
    See `SearchAgent` for the options.
    """

    search_class = MCTS
    options_class = MCTSOptions
    bound = "iterations"
    iterations: int
