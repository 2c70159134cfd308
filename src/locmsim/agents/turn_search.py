"""The agents "beam" and "mcts", which play whole turns found by a search."""

import inspect
import time
from collections.abc import Callable, Iterable, Mapping
from inspect import Parameter
from typing import Annotated, Any, ClassVar

from locmsim.agents.base import BelievingAgent, Deck, Draft, check_bounds
from locmsim.decks import (
    CardScore,
    DeckBuilder,
    deck_builder,
    draft_picker,
    score_of,
)
from locmsim.decks.draft_value import DraftValue, draft_value_of
from locmsim.game.observation import Observation
from locmsim.networks.weights import WeightsFile
from locmsim.options.common import Iterations, Nodes, Share, Threads, TimeMs
from locmsim.options.declarations import Option, check_values, documented, taking
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

#: Default time for a turn, and default share of the limit. Even if another program keeps the same
#: core busy, a turn of 100 ms is answered in time (docs/figures.md).
TIME_MS = 120.0
SHARE = 0.6

#: The scores by which an opponent is expected to choose cards, see `Belief`.
_PRIORS: dict[str, Mapping[str, CardScore] | None] = {
    "score": None,
    "any": dict.fromkeys(RULES, lambda card: 0.0),
}

WeightsPath = Annotated[
    str,
    Option(
        'path of a weights file, for the evaluation, the "default" deck and draft, and the'
        " choices expected of the opponent"
    ),
]
EvaluationOption = Annotated[
    Any,
    Option("evaluation of the search, instead of `weights`", kind="Evaluation or function"),
]
BeliefOption = Annotated[
    str,
    Option(
        "which cards the opponent is expected to choose",
        choices=tuple(_PRIORS),
        more='Those with a high "score", or "any".',
    ),
]


def turn_times(rules: str, time_ms: float, share: float, factor: float) -> tuple[float, float]:
    """Return the milliseconds for the first turn of a battle and for each later one.

    Parameters
    ----------
    rules : str
        The rule set, which limits both.
    time_ms : float
        The milliseconds that are wanted for a turn.
    share : float
        The largest share of a limit.
    factor : float
        How many times as long the first turn takes.
    """
    first, later = RULES[rules].battle_limits_ms
    turn = min(time_ms, share * later)
    return min(factor * turn, share * first), turn


@documented()
class TurnSearchAgent(BelievingAgent):
    """An agent that plays the turns that a search of `locmsim.search` finds.

    Parameters
    ----------
    options
    limit : int
        Maximum work per turn, in addition to `time_ms`: positions of a beam search, visits of plans
        in MCTS; 0 for no limit. With a limit and without `time_ms`, the answers depend only on the
        seed and the observations.
    options : SearchOptions, optional
        The options of the search; by default the tuned ones.

    Raises
    ------
    ValueError
        An option is out of bounds, or does not apply with another one.
    """

    #: The search that plays the turns.
    search_class: ClassVar[type[Search]]
    #: The option that limits the work of the search besides time.
    bound: ClassVar[str]

    FIRST_TURN = 5

    def __init__(
        self,
        deck: Deck = "default",
        draft: Draft = "default",
        time_ms: TimeMs = TIME_MS,
        weights: WeightsPath = "",
        evaluation: EvaluationOption = None,
        belief: BeliefOption = "score",
        share: Share = SHARE,
        threads: Threads = 1,
        *,
        limit: int = 0,
        options: SearchOptions | None = None,
    ) -> None:
        check_bounds(time_ms, self.bound, limit)
        check_values(TurnSearchAgent, belief=belief, share=share, threads=threads)
        if share != SHARE and not time_ms:
            raise ValueError("share: needs time_ms")
        setattr(self, self.bound, limit)
        if weights and evaluation is not None:
            raise ValueError("weights: does not apply with evaluation")
        self.time_ms = time_ms
        self.share = share
        self.threads = int(threads)
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
        self.search = self.search_class(options, evaluation=evaluation)
        super().__init__(deck, draft)

    def reset(self, seed: int = 0) -> None:
        super().reset(seed)
        self.belief = Belief(self._scores, self._their_deck, self._their_drafts)
        self.first_turn = True
        self._seed = seed
        self._turns = 0
        #: The result of the search in the last turn.
        self.result: SearchResult | None = None

    def prior(self, rules: str) -> tuple[CardScore | None, DeckBuilder | None, DraftValue | None]:
        """Return the scores, deck (1.5) and draft value (1.x) by which opponents are expected to
        choose.

        Parameters
        ----------
        rules : str
            The rule set.

        Returns
        -------
        tuple
            Each entry may be None, see `locmsim.search.belief.prior`.
        """
        score = None if self._scores is None else self._scores[rules]
        return score, self._their_deck, self._their_drafts.get(rules)

    def choose(self, observation: Observation) -> str:
        line = super().choose(observation)
        # Slow preparations, done before the battle.
        self.search.prepare(observation.rules, self.threads)
        self.belief.prepare()
        return line

    def act(self, observation: Observation) -> str:
        started = time.perf_counter()
        self.belief.see(observation)
        self.result = None
        if min(observation.me.health, observation.opponent.health) <= 0:
            return "PASS"  # dead from drawing, but asked
        first, self.first_turn = self.first_turn, False
        left = None
        if self.time_ms:
            times = turn_times(observation.rules, self.time_ms, self.share, self.FIRST_TURN)
            left = max(0.0, times[not first] - 1000 * (time.perf_counter() - started))
        seed = seed_of_turn(self._seed, self._turns)
        self._turns += 1
        return self.answer(observation, left, seed)

    def answer(self, observation: Observation, time_ms: float | None, seed: int) -> str:
        """Return the answer to a turn that the belief has seen.

        Parameters
        ----------
        observation, time_ms, seed
            As for `find`.
        """
        self.result = self.find(observation, time_ms, seed)
        return self.result.line

    def continue_turn(self, done: str | Iterable[int], time_ms: float | None = None) -> str:
        """Return the rest of the last turn, after a part of it was played.

        Parameters
        ----------
        done : str or iterable of int
            The part already played: actions, or their answer line.
        time_ms : float, optional
            Milliseconds; by default the option `time_ms`.

        Returns
        -------
        str
            The answer line for the rest.

        Raises
        ------
        ValueError
            `act` was not called yet, or `done` is impossible in the turn.
        """
        if self.result is None:
            raise ValueError("there is no turn yet: call `act` first")
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
        """Search a turn, or the rest of one.

        Parameters
        ----------
        observation : Observation
            The last observation of the agent.
        time_ms : float or None
            Milliseconds; None for no limit.
        seed : int
            The seed of the search.
        done : str or iterable of int
            The actions of the turn that were already played.
        """
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


def _initializer(bound: str, hint: Any, options: type[SearchOptions]) -> Callable[..., None]:
    """Return the ``__init__`` of an agent whose parameters are also its bound and options."""
    fields = inspect.signature(options).parameters

    def __init__(self: TurnSearchAgent, *words: Any, **more: Any) -> None:
        chosen = {name: more.pop(name) for name in fields.keys() & more}
        limit = more.pop(bound, 0)
        TurnSearchAgent.__init__(self, *words, **more, limit=limit, options=options(**chosen))

    own = [*inspect.signature(TurnSearchAgent.__init__).parameters.values()][:-2]
    own += [Parameter(bound, Parameter.KEYWORD_ONLY, default=0, annotation=hint)]
    __init__.__annotations__ = {one.name: one.annotation for one in own[1:]}
    shown = inspect.Signature([*own, Parameter("options", Parameter.VAR_KEYWORD)])
    __init__.__signature__ = shown  # type: ignore[attr-defined]
    return taking(options)(__init__)


@documented(BeamOptions)
class BeamAgent(TurnSearchAgent):
    """Beam search over the player's turn; the best turns are compared by playouts.

    The search is `locmsim.search.BeamSearch`.

    Parameters
    ----------
    options

    Raises
    ------
    ValueError
        An option is out of bounds, or does not apply with another one.
    """

    search_class = BeamSearch
    bound = "nodes"
    nodes: int
    __init__ = _initializer(bound, Nodes, BeamOptions)


@documented(MCTSOptions)
class MCTSAgent(TurnSearchAgent):
    """Monte-Carlo tree search over whole turns: the player's and possible later ones.

    The search is `locmsim.search.MCTS`.

    Parameters
    ----------
    options

    Raises
    ------
    ValueError
        An option is out of bounds, or does not apply with another one.
    """

    search_class = MCTS
    bound = "iterations"
    iterations: int
    __init__ = _initializer(bound, Iterations, MCTSOptions)
