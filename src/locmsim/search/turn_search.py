"""Search from an observation to a result, by beam or tree, for Python."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from locmsim._core import Determinizer, State
from locmsim.errors import LocmError
from locmsim.game.answers import answer_line, played
from locmsim.game.observation import Observation
from locmsim.networks.weights import Weights
from locmsim.options.checks import MOST_THREADS, OptionError, budget, whole
from locmsim.search._engine import BatchEngine, EngineResult, SearchEngine, SharedEngine
from locmsim.search.belief import Belief
from locmsim.search.evaluation import Evaluation, MoverEvaluation, TurnEndEvaluation
from locmsim.search.options import BeamOptions, MCTSOptions, SearchOptions
from locmsim.search.results import Plan, SearchResult

if TYPE_CHECKING:  # bots start without numpy
    from locmsim.batch import BatchFunction

    _Evaluating = TurnEndEvaluation | MoverEvaluation | BatchFunction

#: What holds an evaluation without being a function.
_HELD = (TurnEndEvaluation, MoverEvaluation, Mapping, Weights)


def determinizer_at(
    observation: Observation | State, belief: Belief | None, done: str | Iterable[int], seed: int
) -> tuple[Determinizer, State, Belief]:
    """Return the sampler of the worlds in which a player may continue their turn.

    The arguments are those of `Search.search`.

    Returns
    -------
    tuple
        The sampler, the world that it draws with `seed`, and the belief at the start of the turn.
    """
    known = belief
    if isinstance(observation, State):
        if observation.is_terminal():
            raise ValueError("the game is over")
        mover = observation.current_player()
        if known is None:
            known = Belief.of_state(observation, mover)
        else:
            known.check_seen(observation.observation(mover), of_state=True)
    elif known is None:
        known = Belief()
        known.see(observation)
    else:
        known.check_seen(observation)
    worlds = known.determinizer()
    root = worlds.sample(seed)
    if isinstance(observation, State) and observation.legal_actions() != root.legal_actions():
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
            raise OptionError("done", "the game is over after it")
        if root.current_player() != mover:
            raise OptionError("done", "the turn is over after it")
    return worlds, root, known


def _result(outcome: EngineResult, root: State, started: float) -> SearchResult:
    """Return what an engine found, with the texts of its actions; plays them in `root`."""
    texts = played(root, outcome.actions)
    return SearchResult(
        actions=outcome.actions,
        line=answer_line(texts),
        value=outcome.value,
        visits=outcome.visits,
        nodes=outcome.nodes,
        iterations=outcome.iterations,
        depth=outcome.depth,
        pv=texts,
        elapsed=time.perf_counter() - started,
        plans=sorted((Plan(*plan) for plan in outcome.plans), key=lambda plan: -plan.visits),
    )


class Search:
    """Finds the best turn, by the method and the options of `BeamSearch` or `MCTS`.

    Threads that ask one search take turns, because it has one memory.

    Parameters
    ----------
    options : BeamOptions or MCTSOptions, optional
        The options of the search, of its own class; by default the tuned ones.
    evaluation : Evaluation, or mapping of rule sets to them, or callable, optional
        The evaluation of positions; by default that of the package. A function of a `StateBatch`
        returns expected results at ends of turns and, if it has them, priors, as
        `StateBatch.values` says; one of the player to move is a `MoverEvaluation`. It is
        called once for each level of the beam, and once for each action in the turns that are
        played on at the same time. The prior of a turn in `MCTS` is the product of the priors of
        its actions, PASS included. `OnObservations` makes such a function from one of observations
        and masks.
    """

    #: The class of the options, and the name of the bound besides time.
    options_class: ClassVar[type[SearchOptions]]
    bound: ClassVar[str]

    def __init__(
        self,
        options: SearchOptions | None = None,
        *,
        evaluation: "_Evaluating | Mapping[str, Evaluation | Weights] | None" = None,
    ) -> None:
        if options is not None and not isinstance(options, self.options_class):
            raise TypeError(f"options: expected {self.options_class.__name__}, got {options!r}")
        if evaluation is not None and not (callable(evaluation) or isinstance(evaluation, _HELD)):
            raise TypeError(
                "evaluation: expected an Evaluation or a function of a StateBatch, whose values are"
                " those of ends of turns, or a MoverEvaluation of values to the player to move,"
                f" got {evaluation!r}"
            )
        self._options = self.options_class() if options is None else options
        self._evaluation = evaluation
        self._engine: SearchEngine | None = None
        self._engine_for: tuple[str, int] | None = None
        self._turn = threading.RLock()

    @property
    def options(self) -> SearchOptions:
        """The options, as they were given; they cannot be replaced."""
        return self._options

    @property
    def evaluation(self) -> Any:
        """The evaluation, as it was given; it cannot be replaced."""
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
            The observation of the player. Of a state the search knows what its mover does, see
            `Belief.of_state`; if it is in the middle of their turn, the search finds the rest of
            the turn.
        time_ms : float, optional
            Milliseconds that the search may take, kept to within 2.
        nodes : int, optional
            Number of positions that a `BeamSearch` may make.
        iterations : int, optional
            Number of visits of plans that `MCTS` may make. The beam that finds the plans makes at
            most 256 positions for each. With this bound or `nodes` alone the result depends on the
            arguments only.
        seed : int
            Seed of the sampled worlds.
        belief : Belief, optional
            The player's knowledge from the game so far, `observation` included; without it the
            search starts from this observation alone.
        done : str or iterable of int
            The actions that the player has played in this turn since then, or the answer line for
            them. The search continues from there.
        threads : int
            Number of threads that play turns on in sampled worlds, each in worlds of its own. One
            of them makes the search for a win and the beam that finds whole turns. The result
            depends on their number.
        check : function, optional
            Called about twenty times a second during the search. An exception that it raises ends
            the search and is passed on.

        Raises
        ------
        ValueError
            No bound is given, that of the other search is given, or one is out of its range; the
            observation is of the choice phase or the game is over; `belief` has seen another
            observation last; an action in `done` is not legal; the evaluation is for other rules;
            `threads` is below 1, or above 1 for a function that evaluates.
        RuntimeError
            `check` or the evaluation calls the search that is calling it.
        """
        started = time.perf_counter()
        self._check_bounds(time_ms, nodes, iterations)
        worlds, root, _ = determinizer_at(observation, belief, done, seed)
        with self._turn:
            left = None
            if time_ms is not None:
                left = max(0, int(1e6 * time_ms - 1e9 * (time.perf_counter() - started)))
            outcome = self.prepare(root.rules, threads).search(
                worlds,
                root,
                time_ns=left,
                nodes=nodes,
                iterations=iterations,
                seed=seed,
                check=check,
            )
        return _result(outcome, root, started)

    def _check_bounds(
        self, time_ms: float | None, nodes: int | None, iterations: int | None
    ) -> None:
        """Refuse a search without a bound, with that of the other search, or out of its range."""
        bounds = {"time_ms": time_ms, "nodes": nodes, "iterations": iterations}
        names = [name for name, bound in bounds.items() if bound is not None]
        if not names:
            raise ValueError(f"one of time_ms and {self.bound} is needed")
        for name in names:
            if name not in ("time_ms", self.bound):
                raise ValueError(f"{name}: {type(self).__name__} is bounded by {self.bound}")
        budget(time_ms, nodes=nodes, iterations=iterations)

    def __getstate__(self) -> dict[str, Any]:
        """Return what copies and pickles take over: all but the memory of a search."""
        kept = {name: value for name, value in self.__dict__.items() if name != "_turn"}
        return kept | {"_engine": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._turn = threading.RLock()

    def evaluation_for(self, rules: str) -> "_Evaluating":
        """Return the evaluation for positions of a rule set.

        Parameters
        ----------
        rules : str
            The rule set.
        """
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

    def prepare(self, rules: str, threads: int = 1) -> SearchEngine:
        """Return the engine for a rule set; its first search makes it if this was not called.

        Parameters
        ----------
        rules : str
            The rule set.
        threads : int
            Threads that search at the same time.
        """
        threads = whole("threads", threads, 1, MOST_THREADS)
        if self._engine is None or self._engine_for != (rules, threads):
            self._engine = self._make(rules, threads)
            self._engine_for = rules, threads
        return self._engine

    def _make(self, rules: str, threads: int) -> SearchEngine:
        """Make an engine from the options and the evaluation."""
        source = self.evaluation_for(rules)
        if not isinstance(source, Evaluation):
            from locmsim.batch import evaluation_function  # bots never need it, nor numpy

            if threads > 1:
                raise ValueError("threads: a function that evaluates is called by one")
            own = Evaluation(rules=rules).compiled
            deals = isinstance(source, MoverEvaluation)
            return BatchEngine(self.options, own, None, evaluation_function(source), deals)
        if threads > 1:
            return SharedEngine(self.options, source.compiled, source.network, threads)
        return SearchEngine(self.options, source.compiled, source.network)


class BeamSearch(Search):
    """Finds turns by beam search, and tests the best whole turns against sampled replies.

    Parameters
    ----------
    options : BeamOptions, optional
        By default the tuned ones.
    evaluation : Evaluation, function of a StateBatch, or mapping, optional
        The evaluation of positions; by default the tuned one of each rule set. A mapping has an
        evaluation or weights for each rule set.

    Raises
    ------
    TypeError, ValueError
        The options or the evaluation are of the wrong kind.
    """

    options_class = BeamOptions
    bound = "nodes"


class MCTS(Search):
    """Searches a tree of whole turns by Monte Carlo: the player's, found by a beam, and replies.

    In each sampled world each of the player's turns has a tree of its own, of turns that a narrow
    beam finds.

    Parameters
    ----------
    options : MCTSOptions, optional
        By default the tuned ones.
    evaluation : Evaluation, function of a StateBatch, or mapping, optional
        The evaluation of positions; by default the tuned one of each rule set. A mapping has an
        evaluation or weights for each rule set.

    Raises
    ------
    TypeError, ValueError
        The options or the evaluation are of the wrong kind.
    """

    options_class = MCTSOptions
    bound = "iterations"
