"""Beam search and tree search for Python: from an observation to a result."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from locmsim._checks import MOST_THREADS, budget, whole
from locmsim._core import Determinizer, PlayerView, State
from locmsim.errors import LocmError
from locmsim.game.observation import Observation
from locmsim.networks.weights import Weights
from locmsim.search._engine import Engine
from locmsim.search.belief import Belief
from locmsim.search.evaluation import BatchEvaluation, Evaluation
from locmsim.search.options import BeamOptions, MCTSOptions, SearchOptions
from locmsim.search.results import Plan, SearchResult

__all__ = ["MCTS", "BeamSearch", "Search"]


def worlds_at(
    observation: Observation | State, belief: Belief | None, done: str | Iterable[int], seed: int
) -> tuple[Determinizer, State, Belief]:
    """Return the worlds in which a player may continue their turn, as in `Search.search`.

    Returns
    -------
    tuple
        What worlds are drawn from, the one of `seed`, and what is known by the start of the turn.
    """
    state = None
    if isinstance(observation, State):
        state = observation
        if state.is_terminal():
            raise ValueError("the game is over")
        observation = state.observation(state.current_player())
    known = belief
    if known is None:
        known = Belief()
        known.see(observation)
    else:
        known.check_seen(observation, state is not None)
    worlds = known.determinizer()
    root = worlds.sample(seed)
    if state is not None and belief is None and _knows_more(state, root):
        worlds = worlds.begun_as(state)
        root = worlds.sample(seed)
    elif state is not None and state.legal_actions() != root.legal_actions():
        raise ValueError(
            "the turn has begun: with a belief, give the observation of its start and `done`"
        )
    if root.is_terminal():
        raise ValueError("the game is over")
    if done:
        try:
            worlds = worlds.after(root.actions_of(done) if isinstance(done, str) else done)
        except LocmError as error:
            raise type(error)(f"done: {error}") from None
        mover, root = root.current_player(), worlds.sample(seed)
        if root.is_terminal():
            raise ValueError("done: the game is over after it")
        if root.current_player() != mover:
            raise ValueError("done: the turn is over after it")
    return worlds, root, known


def _knows_more(state: State, root: State) -> bool:
    """Return whether a state knows something of the turn that an observation does not."""
    me, op = _by_mover(state)
    mine, theirs = _by_mover(root)
    return (
        (me.mana, me.next_draw, me.lost_health) != (mine.mana, mine.next_draw, mine.lost_health)
        or (op.next_draw, op.lost_health) != (theirs.next_draw, theirs.lost_health)
        or state.legal_actions() != root.legal_actions()
    )


def _by_mover(state: State) -> Sequence[PlayerView]:
    """Return the players, who is to move first."""
    return state.players[:: 1 - 2 * state.current_player()]


class Search:
    """A search with its options: `BeamSearch` or `MCTS`.

    Threads that ask one search take turns, because it has one memory.

    Parameters
    ----------
    options : BeamOptions or MCTSOptions, optional
        Whichever the search takes.
    evaluation : Evaluation, or mapping of rule sets to them, or callable, optional
        What positions are worth; the weights of the package by default. A function of a
        `StateBatch` returns expected results and, if it has them, priors, as `StateBatch.values`
        says: it is asked once about each level of the beam, and once for each action in the turns
        that are played on at the same time. `MCTS` takes the product of the priors of a turn's
        actions, PASS included, for that of the turn. `OnObservations` makes one of a function of
        observations and masks.
    """

    #: What the options are, and what bounds the search besides time.
    options_class: ClassVar[type[SearchOptions]]
    bound: ClassVar[str]

    def __init__(
        self,
        options: SearchOptions | None = None,
        *,
        evaluation: Evaluation | BatchEvaluation | Mapping[str, Evaluation | Weights] | None = None,
    ) -> None:
        if options is not None and not isinstance(options, self.options_class):
            raise TypeError(f"options: expected {self.options_class.__name__}, got {options!r}")
        self._options = self.options_class() if options is None else options
        self._evaluation = evaluation
        self._engine: Engine | None = None
        self._engine_for: tuple[str, int] | None = None
        self._turn = threading.RLock()
        self._searching = False

    @property
    def options(self) -> SearchOptions:
        """The options, which do not change: another search has others."""
        return self._options

    @property
    def evaluation(self) -> Any:
        """What positions are worth, as it was given; it does not change."""
        return self._evaluation

    def search(
        self,
        observation: Observation | State,
        *,
        time_ms: float | None = None,
        nodes: int | None = None,
        iterations: int | None = None,
        seed: int = 0,
        belief: Belief | None = None,
        done: str | Iterable[int] = (),
        threads: int = 1,
        check: Callable[[], object] | None = None,
    ) -> SearchResult:
        """Find the best turn for the player who is asked, or the rest of one.

        Parameters
        ----------
        observation : Observation or State
            What they see. A state is first replaced by what its mover observes; where it is in
            the middle of their turn, the rest of the turn is found.
        time_ms : float, optional
            Milliseconds that the search may take, kept to within 2.
        nodes : int, optional
            Of a `BeamSearch`: positions that may be made.
        iterations : int, optional
            Of `MCTS`: visits of plans. The beam that finds the plans makes at most 256 positions
            for each. With this bound or `nodes` alone the result depends on the arguments only.
        seed : int
            Of the sampled worlds.
        belief : Belief, optional
            What the player knows from the game so far, `observation` included; without it the
            search starts from this observation alone.
        done : str or iterable of int
            What they have done in this turn since then: actions, or the answer line for them. What
            is found continues from there.
        threads : int
            That play turns on in sampled worlds, each in some of its own. The search for a win and
            the beam that finds whole turns are left to one. The result depends on their number.
        check : function, optional
            Called about twenty times a second while it searches. What it raises ends the search
            and is raised here.

        Raises
        ------
        ValueError
            No bound is given, or that of the other search; in the choice phase, and for a finished
            game; `belief` has seen something else last; an action in `done` is not legal; the
            evaluation is of other rules; no thread, or more than one for a function that evaluates;
            a bound is out of its range.
        RuntimeError
            `check` or the evaluation asks the search that is calling it.
        """
        started = time.perf_counter()
        bounds = {"time_ms": time_ms, "nodes": nodes, "iterations": iterations}
        source = {name: bound for name, bound in bounds.items() if bound is not None}
        if not source:
            raise ValueError(f"one of time_ms and {self.bound} is needed")
        for name in source:
            if name not in ("time_ms", self.bound):
                raise ValueError(f"{name}: {type(self).__name__} is bounded by {self.bound}")
        budget(time_ms, nodes=nodes, iterations=iterations)
        worlds, root, _ = worlds_at(observation, belief, done, seed)
        with self._turn, self._entered():
            left = None
            if time_ms is not None:
                left = max(0, int(1e6 * time_ms - 1e9 * (time.perf_counter() - started)))
            engine = self.prepare(root.rules, threads)
            engine.check = check
            try:
                outcome = engine.search(
                    worlds,
                    root,
                    time_ns=left,
                    nodes=nodes,
                    iterations=iterations,
                    seed=seed,
                )
            finally:
                engine.check = None
        texts = []
        for action in outcome.actions:
            texts.append(root.action_to_string(action))
            root.apply_action(action)
        return SearchResult(
            actions=outcome.actions,
            line=";".join(texts) or "PASS",
            value=outcome.value,
            visits=outcome.visits,
            nodes=outcome.nodes,
            iterations=outcome.iterations,
            depth=outcome.depth,
            pv=texts,
            elapsed=time.perf_counter() - started,
            plans=sorted((Plan(*plan) for plan in outcome.plans), key=lambda plan: -plan.visits),
        )

    @contextlib.contextmanager
    def _entered(self) -> Iterator[None]:
        """Refuse a search within this one: both would use one memory."""
        if self._searching:
            raise RuntimeError(
                "this search is already running: what it calls needs a search of its own"
            )
        self._searching = True
        try:
            yield
        finally:
            self._searching = False

    def __getstate__(self) -> dict[str, Any]:
        """For copies and pickles: the memory of a search stays behind."""
        return {name: value for name, value in self.__dict__.items() if name != "_turn"} | {
            "_engine": None,
            "_searching": False,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._turn = threading.RLock()

    def evaluation_for(self, rules: str) -> Evaluation | BatchEvaluation:
        """Return the evaluation for positions of a rule set."""
        source: Any = self.evaluation
        if isinstance(source, Mapping) and not isinstance(source, Evaluation):
            source = source[rules]
        if isinstance(source, Weights):
            return Evaluation.of(source, rules)
        if isinstance(source, Evaluation) and source.rules != rules:
            raise ValueError(
                f"evaluation: it is for rules {source.rules}, the position for {rules}"
            )
        return Evaluation(rules=rules) if source is None else source

    def prepare(self, rules: str, threads: int = 1) -> Engine:
        """Take memory and make the evaluation of a rule set: what the first search would do."""
        threads = whole("threads", threads, 1, MOST_THREADS)
        if self._engine is None or self._engine_for != (rules, threads):
            self._engine = self._make(rules, threads)
            self._engine_for = rules, threads
        return self._engine

    def _make(self, rules: str, threads: int) -> Engine:
        source = self.evaluation_for(rules)
        if not isinstance(source, Evaluation):
            # Bots never need these, nor numpy.
            from locmsim.batch import evaluation_function
            from locmsim.search._batched import BatchEngine

            if threads > 1:
                raise ValueError("threads: a function that evaluates is called by one")
            own = Evaluation(rules=rules).compiled
            return BatchEngine(self.options, own, None, evaluation_function(source))
        if threads > 1:
            from locmsim.search._shared import SharedEngine  # nor that

            return SharedEngine(self.options, source.compiled, source.network, threads)
        return Engine(self.options, source.compiled, source.network)


class BeamSearch(Search):
    """Beam search over the player's turn; the best whole turns are tested against sampled replies.

    Parameters
    ----------
    options : BeamOptions, optional
        By default the tuned ones.
    evaluation : Evaluation, function of a StateBatch, or mapping, optional
        What positions are worth; by default the tuned evaluation of each rule set. A mapping has an
        evaluation or weights for each rule set.

    Raises
    ------
    TypeError, ValueError
        The options or the evaluation are of the wrong kind.
    """

    options_class = BeamOptions
    bound = "nodes"


class MCTS(Search):
    """Monte-Carlo tree search over whole turns: the player's, found by a beam search, and replies.

    In each sampled world each of the player's turns has a tree of its own, of turns that a narrow
    beam finds.

    Parameters
    ----------
    options : MCTSOptions, optional
        By default the tuned ones.
    evaluation : Evaluation, function of a StateBatch, or mapping, optional
        What positions are worth; by default the tuned evaluation of each rule set. A mapping has an
        evaluation or weights for each rule set.

    Raises
    ------
    TypeError, ValueError
        The options or the evaluation are of the wrong kind.
    """

    options_class = MCTSOptions
    bound = "iterations"
