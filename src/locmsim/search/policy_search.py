"""Search trees guided by an evaluator, for many positions at once: `PolicySearch`."""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from locmsim._core import Determinizer, State
from locmsim.batch import BatchFunction, StateBatch, checked_results
from locmsim.game._turn_view import TurnView
from locmsim.game.layouts import get_layout
from locmsim.game.observation import Observation
from locmsim.options.checks import budget
from locmsim.options.declarations import documented, taking
from locmsim.rules.rulesets import get_rules
from locmsim.search._engine import gumbel, seed_of_turn
from locmsim.search._forest import Forest
from locmsim.search.belief import Belief
from locmsim.search.evaluation import (
    Evaluation,
    MoverEvaluation,
    OnObservations,
    TurnEndEvaluation,
)
from locmsim.search.options import PolicyOptions
from locmsim.search.results import PolicyResult
from locmsim.search.turn_search import determinizer_at


@runtime_checkable
class Evaluating(Protocol):
    """Evaluates observations in a layout, as a `locmsim.policy.Policy` does."""

    @property
    def layout(self) -> str:
        """The name of the layout."""

    @property
    def rules(self) -> str:
        """The name of the rule set."""

    def evaluate(
        self, observations: NDArray[Any], /
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return logits of all actions, (rows, actions), and values to the player, (rows,).

        Parameters
        ----------
        observations : array (rows, size of the layout)
            What the players to move see.
        """


#: What guides a `PolicySearch`.
Guide: TypeAlias = Evaluating | OnObservations | TurnEndEvaluation | MoverEvaluation | BatchFunction

#: Priors or logits, or None; values; whether they are logits.
_Results: TypeAlias = tuple[NDArray[np.float32] | None, NDArray[np.float64], bool]

#: Assumed duration of a simulation in seconds, before one was timed.
_FIRST_GUESS = 1e-4


class SearchPosition(NamedTuple):
    """Holds a position and the knowledge from the game before it, for `PolicySearch.search_many`.

    Parameters
    ----------
    observation : Observation or State
        The observation of the player to move, or a state.
    belief : Belief, optional
        Their knowledge from the game so far; by default only what this observation shows.
    done : str or iterable of int
        The actions that they have played in their turn since then.
    view : TurnView, optional
        Their view of the position, with the history that some layouts use.
    bonus : array of float, optional
        A bonus for each action besides the evaluator's priors, shape (actions,). It is added to the
        logarithms of the priors where the root chooses; the improved policy leaves it out.
    """

    observation: Observation | State
    belief: Belief | None = None
    done: str | Iterable[int] = ()
    view: TurnView | None = None
    bonus: NDArray[np.float64] | None = None


@documented(PolicyOptions)
class PolicySearch:
    """Searches a tree in sampled worlds, guided by priors and values of an evaluator.

    Each position has a tree of its own. In each simulation a world is drawn from what the player
    to move knows, and a way through the tree is followed in it to a leaf. All leaves of all trees
    are evaluated in one call. A node stands for a sequence of actions of both players, whatever
    the world, so that no choice depends on cards that its player does not see.

    Below the root an action is chosen by PUCT. At the root the actions of the highest priors are
    compared by sequential halving (Danihelka et al. 2022, "Policy improvement by planning with
    Gumbel"): few simulations are enough to improve on the priors. Games that have ended count as
    they are, and so do positions in which attacks alone win; the evaluator is not asked.

    Parameters
    ----------
    evaluator : Policy, OnObservations, Evaluation, or function of a StateBatch
        Gives values of positions, -1 to 1, to the player to move, and priors of actions. A
        policy or a function of observations (`OnObservations`) is shown them with the history:
        what each player has been shown in the game and in the tree. A function of a `StateBatch`
        returns values or a pair of values and priors. Without priors all legal actions are alike.
        An `Evaluation`, or a function of ends of turns in a `TurnEndEvaluation`, is asked in
        mid-turn as if the turn ended there, and after PASS about the end of that turn.
    options
    evaluation : Evaluation, optional
        With a network, for `mix`; that of the rules by default.

    Raises
    ------
    ValueError
        An option is beyond its bounds.
    TypeError
        The evaluator is none of these.

    >>> from locmsim.game.positions import start_position
    >>> search = PolicySearch(Evaluation(), simulations=32)
    >>> result = search.search(start_position(1), seed=1)
    >>> result.action in start_position(1).legal_actions(), int(result.visits.sum())
    (True, 32)
    """

    @taking(PolicyOptions)
    def __init__(
        self,
        evaluator: Guide,
        simulations: int = PolicyOptions().simulations,
        *,
        evaluation: Evaluation | None = None,
        **options: Any,
    ) -> None:
        self._options = PolicyOptions(simulations=simulations, **options)
        self._evaluator = evaluator
        self._evaluation = evaluation
        #: What is asked about the player to move, or about ends of turns.
        self._asked = evaluator.function if isinstance(evaluator, MoverEvaluation) else evaluator
        self._layout: str | None = None
        if isinstance(self._asked, Evaluating | OnObservations):
            self._layout = self._asked.layout
        elif not callable(self._asked) and not isinstance(self._asked, TurnEndEvaluation):
            raise TypeError(f"evaluator: expected a policy or a function, got {evaluator!r}")
        self._seconds = _FIRST_GUESS

    @property
    def options(self) -> PolicyOptions:
        """The options, which do not change: another search has others."""
        return self._options

    @property
    def evaluator(self) -> Guide:
        """The evaluator, as it was given."""
        return self._evaluator

    @property
    def evaluation(self) -> Evaluation | None:
        """The evaluation whose network `mix` uses, as it was given."""
        return self._evaluation

    @property
    def layout(self) -> str | None:
        """The layout of observations that the evaluator is shown; None: it is given states."""
        return self._layout

    def search(
        self,
        observation: Observation | State,
        *,
        seed: int = 0,
        belief: Belief | None = None,
        done: str | Iterable[int] = (),
        view: TurnView | None = None,
        bonus: NDArray[np.float64] | None = None,
        simulations: int | None = None,
        time_ms: float | None = None,
    ) -> PolicyResult:
        """Find the best action of the player who is asked.

        Parameters
        ----------
        observation : Observation or State
            The observation of the player. Of a state the search knows what its mover does, see
            `Belief.of_state`; it may be in the middle of their turn.
        seed : int
            Seed of the worlds and the noise.
        belief : Belief, optional
            The player's knowledge from the game so far, `observation` included.
        done : str or iterable of int
            The actions that the player has played in this turn since then, or the answer line for
            them.
        view : TurnView, optional
            The same position, `done` included, with the history that layouts have numbers of
            (`locmsim.policy.tracker.PlayerTracker`); without it they are as for an unknown past.
        bonus : array of float, optional
            A bonus for each action besides the evaluator's priors, see `SearchPosition`.
        simulations : int, optional
            Replaces the option.
        time_ms : float, optional
            Milliseconds. The search makes as many simulations as fit, by the time that they took so
            far.

        Raises
        ------
        ValueError
            In the choice phase, and for a finished game; `belief` has seen something else last; an
            action in `done` is not legal; `view` is of another position; the evaluator is of
            other rules or returns no values.
        """
        position = SearchPosition(observation, belief, done, view, bonus)
        return self.search_many([position], seed=seed, simulations=simulations, time_ms=time_ms)[0]

    def search_many(
        self,
        positions: Sequence[SearchPosition | Observation | State],
        *,
        seed: int = 0,
        simulations: int | None = None,
        time_ms: float | None = None,
    ) -> list[PolicyResult]:
        """Find the best action in each of many positions of one rule set, all searched in step.

        Parameters
        ----------
        positions : sequence
            Observations, states, or `SearchPosition` objects.
        seed, simulations, time_ms
            As for `search`, whose result the first position has, too. Each of the others depends
            on the seed, its place and itself only.

        Raises
        ------
        ValueError
            As `search`, with the number of the position; positions of more than one rule set.
        """
        started = time.perf_counter()
        budget(time_ms, least=1, simulations=simulations)
        worlds: list[Determinizer] = []
        roots: list[State] = []
        views: list[TurnView | None] = []
        bonuses: list[NDArray[np.float64] | None] = []
        for place, entry in enumerate(positions):
            position = entry if isinstance(entry, SearchPosition) else SearchPosition(entry)
            try:
                known, root, _ = determinizer_at(
                    position.observation, position.belief, position.done, seed
                )
            except ValueError as error:
                if len(positions) == 1:
                    raise
                raise type(error)(f"positions[{place}]: {error}") from None
            worlds.append(known)
            roots.append(root)
            views.append(position.view)
            bonuses.append(position.bonus)
        if not roots:
            return []
        rules = roots[0].rules
        if isinstance(self.evaluator, Evaluating | Evaluation) and self.evaluator.rules != rules:
            raise ValueError(
                f"evaluator: it is for rules {self.evaluator.rules}, the position for {rules}"
            )
        options = self.options
        until = math.inf
        if time_ms is not None:
            until = started + time_ms / 1000
            left = max(0.0, until - time.perf_counter()) / len(roots)
            simulations = min(
                1 << 24 if simulations is None else simulations,
                max(1, int(0.9 * left / self._seconds)),
            )
        if simulations is not None:
            from dataclasses import replace

            options = replace(options, simulations=simulations)
        searched = time.perf_counter()
        forest = self._forest(worlds, views, bonuses, seed, options, rules)
        self._run(forest, rules, until)
        found = self._results(forest, roots, started)
        done = sum(int(result.visits.sum()) for result in found)
        if done >= 8:
            took = (time.perf_counter() - searched) / done
            self._seconds = (
                took if self._seconds == _FIRST_GUESS else (0.7 * self._seconds + 0.3 * took)
            )
        return found

    def _forest(
        self,
        worlds: list[Determinizer],
        views: list[TurnView | None],
        bonuses: list[NDArray[np.float64] | None],
        seed: int,
        options: PolicyOptions,
        rules: str,
    ) -> Forest:
        """Plant a tree for each position."""
        seeds = [seed_of_turn(seed, i) for i in range(len(worlds))]
        noise = np.zeros((len(worlds), get_rules(rules).num_actions))
        if options.noise:
            for row, number in zip(noise, seeds, strict=True):
                row[:] = 1 - np.random.default_rng(number).random(len(row))
            gumbel(noise)
            noise *= options.noise
        for number, bonus in enumerate(bonuses):
            if bonus is not None:
                added = np.asarray(bonus, np.float64)
                if added.shape != noise.shape[1:] or not np.isfinite(added).all():
                    raise ValueError(
                        f"bonus: expected {noise.shape[1]} finite numbers, got {added.shape}"
                    )
                noise[number] += added
        network = None
        if options.mix:
            network = (self.evaluation or Evaluation(rules=rules)).network
            if network is None:
                raise ValueError(f"mix: the evaluation of rules {rules} has no network")
        return Forest(
            worlds,
            views,
            np.array(seeds, np.uint64),
            noise,
            options,
            self.layout,
            options.leaves,
            isinstance(self._asked, TurnEndEvaluation),
            network,
        )

    def _run(self, forest: Forest, rules: str, until: float) -> None:
        """Send simulations until there are enough, or it is late."""
        rows = forest.size * self.options.leaves
        observations = masks = None
        if self.layout is not None:
            layout = get_layout(self.layout, rules)
            observations = np.empty((rows, *layout.shape), layout.dtype)
            masks = np.empty((rows, forest.num_actions), np.int8)
        ask = self._asking(forest, observations, masks)
        nothing = np.empty(0)
        while (n := forest.gather(observations, masks)) >= 0:
            if n:
                forest.scatter(*ask(n))
            else:
                forest.scatter(None, nothing, False)
            if time.perf_counter() > until:
                return

    def _asking(self, forest: Forest, observations: Any, masks: Any) -> Callable[[int], _Results]:
        """Return the function that evaluates a number of leaves."""
        evaluator: Any = self._asked
        actions = forest.num_actions
        if isinstance(evaluator, Evaluating):

            def rated(n: int) -> _Results:
                logits, rated_values = evaluator.evaluate(observations[:n])
                values = np.asarray(rated_values, np.float64)
                if not np.isfinite(values).all():
                    raise ValueError("evaluator: it has no value for a position")
                return np.ascontiguousarray(logits, np.float32), values, True

            return rated
        if isinstance(evaluator, OnObservations):
            function = evaluator.function

            def shown(n: int) -> _Results:
                values, priors = checked_results(function(observations[:n], masks[:n]), n, actions)
                return priors, values, False

            return shown
        at_ends = isinstance(evaluator, TurnEndEvaluation)
        evaluate = evaluator.results if at_ends else evaluator

        def evaluated(n: int) -> _Results:
            values, priors = checked_results(evaluate(StateBatch._of(forest.states())), n, actions)
            return None if at_ends else priors, values, False

        return evaluated

    def _results(self, forest: Forest, roots: list[State], started: float) -> list[PolicyResult]:
        """Return the results at the roots; plays the principal variations there."""
        shape = forest.size, forest.num_actions
        actions = np.zeros(forest.size, np.int32)
        policies, means = np.zeros(shape), np.zeros(shape)
        visits = np.zeros(shape, np.int32)
        values = np.zeros(forest.size)
        forest.results(actions, policies, means, visits, values)
        elapsed = time.perf_counter() - started
        found = []
        for i, root in enumerate(roots):
            line = forest.variation(i)
            texts = []
            for action in line:
                texts.append(root.action_to_string(action))
                if action:
                    root.apply_action(action)
            found.append(
                PolicyResult(
                    action=int(actions[i]),
                    policy=policies[i],
                    value=float(values[i]),
                    visits=visits[i],
                    values=means[i],
                    pv=texts,
                    nodes=forest.nodes(i),
                    elapsed=elapsed,
                )
            )
        return found
