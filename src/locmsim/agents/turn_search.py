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

#: The defaults of the options, which the classes of options declare.
_BEAM = BeamOptions()
_MCTS = MCTSOptions()

__all__ = ["SHARE", "TIME_MS", "BeamAgent", "MCTSAgent", "SearchAgent"]

#: The time for a turn and its share of a limit, if no other is given. Where another program keeps
#: the same core busy, a turn of 100 ms is still answered in time (docs/figures.md).
TIME_MS = 120.0
SHARE = 0.6

#: The scores by which an opponent is expected to choose cards, see `Belief`.
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
        those of its numbers, and the opponent is expected to choose by them, too.
    evaluation : object
        What the search takes in its place.
    belief : str
        Which cards the opponent is expected to choose: those of high "score", or "any", whatever
        they are worth.
    share : float
        See `time_ms`.
    threads : int
        That the search shares its worlds among. The arena binds a game to one core unless it is
        told otherwise: ``locmsim arena --cores 2``.
    limit : int
        How much work the search may do for a turn besides `time_ms`: positions of a beam search,
        visits of plans in MCTS; 0 for no such limit. With a limit and no time, the answers depend
        only on the seed and on what the agent was shown.
    options : SearchOptions, optional
        The options of the search; by default the tuned ones.

    Raises
    ------
    ValueError
        An option makes no sense, or two options exclude each other.
    """

    #: The search that plays the turns.
    search_class: ClassVar[type[Search]]
    #: The option that limits the work of the search besides time.
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
        *,
        limit: int = 0,
        options: SearchOptions | None = None,
    ) -> None:
        check_bounds(time_ms, self.bound, limit)
        setattr(self, self.bound, limit)
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
        self.search = self.search_class(options, evaluation=evaluation)
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
        """Return the scores, deck (1.5) and draft value (1.x) by which opponents are expected to
        choose.

        Parameters
        ----------
        rules : str
            The rule set.

        Returns
        -------
        tuple
            Each entry may be None, for what `locmsim.search.belief.prior` says.
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
        """Return the rest of the turn that was asked for last, after part of it was played.

        Parameters
        ----------
        done : str or iterable of int
            What was played: actions, or the answer line for them.
        time_ms : float, optional
            Milliseconds; by default the option `time_ms`.

        Returns
        -------
        str
            The answer line for the rest.

        Raises
        ------
        ValueError
            No turn was asked for, or `done` is impossible in it.
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
        """Return what the search finds in a turn, or in the rest of one.

        Parameters
        ----------
        observation : Observation
            What the agent was shown last.
        time_ms : float or None
            Milliseconds; None for no limit.
        seed : int
            The seed of the search.
        done : str or iterable of int
            The actions of the turn that were already played.

        Returns
        -------
        SearchResult
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


class BeamAgent(SearchAgent):
    """Beam search over the player's turn; the best turns are played on in sampled worlds.

    The search is `locmsim.search.BeamSearch`.

    Parameters
    ----------
    deck, draft : str or function
        How the cards are chosen: a name of `locmsim.decks`, or a function.
    time_ms : float
        Milliseconds for a turn, five times as many for the first one; 0 for no time limit. No turn
        takes more than `share` of the time that the rules allow.
    weights : str
        The path of a weights file, for the evaluation, the choice of cards and the belief.
    evaluation : Evaluation or function, optional
        What the search evaluates positions by, in place of `weights`.
    belief : str
        Which cards the opponent is expected to choose: those with a high "score", or "any".
    share : float
        The part of the rule set's time limit that a turn may take.
    threads : int
        Threads that the search divides its sampled worlds between.
    nodes : int
        Positions that the search may create for a turn; 0 for no limit.
    turns : int
        Turns played out after the player's, the first one by the opponent; from 0 to 20.
    reply_width : int
        Width of the beam that finds these turns; 1: greedy; from 1 to 16.
    worlds : int
        Maximum number of sampled worlds; from 1 to 4096.
    wins_share : float
        Share of the budget for the search for a win in this turn; from 0 to 1.
    width : int
        Maximum number of positions kept after each action; the search is repeated with more while
        there is time; from 1 to 65536.
    plans : int
        Number of whole turns that are compared by playouts; from 1 to 256.
    static_worlds : float
        Weight of a turn's static value, in sampled worlds; from 0 to 1e+06.
    plan_share : float
        Share of the budget for finding whole turns, after the search for a win; from 0 to 1.

    Raises
    ------
    ValueError
        An option is out of bounds, or two options exclude each other.
    """

    search_class = BeamSearch
    bound = "nodes"
    nodes: int

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
        *,
        nodes: int = 0,
        turns: int = _BEAM.turns,
        reply_width: int = _BEAM.reply_width,
        worlds: int = _BEAM.worlds,
        wins_share: float = _BEAM.wins_share,
        width: int = _BEAM.width,
        plans: int = _BEAM.plans,
        static_worlds: float = _BEAM.static_worlds,
        plan_share: float = _BEAM.plan_share,
    ) -> None:
        super().__init__(
            deck,
            draft,
            time_ms,
            weights,
            evaluation,
            belief,
            share,
            threads,
            limit=nodes,
            options=BeamOptions(
                turns=turns,
                reply_width=reply_width,
                worlds=worlds,
                wins_share=wins_share,
                width=width,
                plans=plans,
                static_worlds=static_worlds,
                plan_share=plan_share,
            ),
        )


class MCTSAgent(SearchAgent):
    """Monte-Carlo tree search over whole turns: the player's, and those that may follow.

    The search is `locmsim.search.MCTS`.

    Parameters
    ----------
    deck, draft : str or function
        How the cards are chosen: a name of `locmsim.decks`, or a function.
    time_ms : float
        Milliseconds for a turn, five times as many for the first one; 0 for no time limit. No turn
        takes more than `share` of the time that the rules allow.
    weights : str
        The path of a weights file, for the evaluation, the choice of cards and the belief.
    evaluation : Evaluation or function, optional
        What the search evaluates positions by, in place of `weights`.
    belief : str
        Which cards the opponent is expected to choose: those with a high "score", or "any".
    share : float
        The part of the rule set's time limit that a turn may take.
    threads : int
        Threads that the search divides its sampled worlds between.
    iterations : int
        Visits of plans that the search may make for a turn; 0 for no limit.
    turns : int
        Minimum number of turns followed by a visit, the first one by the opponent; from 1 to 20.
    reply_width : int
        Width of the beam that finds these turns; 1: greedy; from 1 to 16.
    worlds : int
        Maximum number of sampled worlds; from 1 to 4096.
    wins_share : float
        Share of the budget for the search for a win in this turn; from 0 to 1.
    width : int
        Maximum number of positions kept after each action; the search is repeated with more while
        there is time; from 1 to 65536.
    plans : int
        Number of whole turns that are compared by playouts; from 1 to 256.
    static_worlds : float
        Weight of a turn's static value, in sampled worlds; from 0 to 1e+06.
    plan_share : float
        Share of the budget for finding whole turns, after the search for a win; from 0 to 1.
    exploration : float
        Weight of the prior against the mean result (PUCT); from 0 to 1000.
    temperature : float
        Temperature of the priors, in units of expected results; from 0.001 to 1e+06.
    max_nodes : int
        Maximum number of turns in the tree; each takes about 0.3 KB; from 16 to 4.1943e+06.

    Raises
    ------
    ValueError
        An option is out of bounds, or two options exclude each other.
    """

    search_class = MCTS
    bound = "iterations"
    iterations: int

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
        *,
        iterations: int = 0,
        turns: int = _MCTS.turns,
        reply_width: int = _MCTS.reply_width,
        worlds: int = _MCTS.worlds,
        wins_share: float = _MCTS.wins_share,
        width: int = _MCTS.width,
        plans: int = _MCTS.plans,
        static_worlds: float = _MCTS.static_worlds,
        plan_share: float = _MCTS.plan_share,
        exploration: float = _MCTS.exploration,
        temperature: float = _MCTS.temperature,
        max_nodes: int = _MCTS.max_nodes,
    ) -> None:
        super().__init__(
            deck,
            draft,
            time_ms,
            weights,
            evaluation,
            belief,
            share,
            threads,
            limit=iterations,
            options=MCTSOptions(
                turns=turns,
                reply_width=reply_width,
                worlds=worlds,
                wins_share=wins_share,
                width=width,
                plans=plans,
                static_worlds=static_worlds,
                plan_share=plan_share,
                exploration=exploration,
                temperature=temperature,
                max_nodes=max_nodes,
            ),
        )
