"""What beam search and tree search have in common for Python: from an observation to a result."""

import math
import threading
import time
from collections.abc import Mapping
from typing import Any

from locmsim._core import State
from locmsim.game.observation import Observation
from locmsim.networks.weights import Weights
from locmsim.search._engine import Engine
from locmsim.search.belief import Belief
from locmsim.search.evaluation import Evaluation, ValueFunction
from locmsim.search.options import SearchOptions
from locmsim.search.results import Plan, SearchResult

__all__ = ["Search"]


class Search:
    """A search with its options; made by `BeamSearch` and `MCTS`.

    Threads that ask one search take turns, because it has one memory.
    """

    def __init__(
        self,
        options: SearchOptions,
        evaluation: Evaluation | ValueFunction | Mapping[str, Evaluation | Weights] | None,
    ) -> None:
        self.options = options
        self.evaluation = evaluation
        self._engine: Engine | None = None
        self._rules: str | None = None
        self._turn = threading.RLock()

    def _search(
        self,
        seen: Observation | State,
        time_ms: float | None,
        seed: int,
        belief: Belief | None,
        **bounds: int | None,
    ) -> SearchResult:
        """Search within the time and the one other bound; see the methods `search`."""
        started = time.perf_counter()
        ((kind, most),) = bounds.items()
        if time_ms is None and most is None:
            raise ValueError(f"one of time_ms and {kind} is needed")
        for name, bound in (("time_ms", time_ms), (kind, most)):
            if bound is not None and not (bound >= 0 and math.isfinite(bound)):
                raise ValueError(f"{name}: expected 0 or more, got {bound!r}")
        state = None
        observation = seen
        if isinstance(observation, State):
            state = observation
            if state.is_terminal():
                raise ValueError("the game is over")
            observation = state.observation(state.current_player())
        if belief is None:
            belief = Belief()
            belief.see(observation)
        else:
            belief.check_seen(observation, state is not None)
        worlds = belief.determinizer()
        root = worlds.sample(seed)
        if root.is_terminal():
            raise ValueError("the game is over")
        if state is not None and root.legal_actions() != state.legal_actions():
            raise ValueError("the turn has begun: what was done in it is not observed")
        with self._turn:
            left = None
            if time_ms is not None:
                left = max(0, int(1e6 * time_ms - 1e9 * (time.perf_counter() - started)))
            outcome = self.prepare(observation.rules).search(
                worlds,
                root,
                time_ns=left,
                nodes=bounds.get("nodes"),
                iterations=bounds.get("iterations"),
                seed=seed,
            )
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

    def __getstate__(self) -> dict[str, Any]:
        """For copies and pickles: the memory of a search stays behind."""
        return {name: value for name, value in self.__dict__.items() if name != "_turn"} | {
            "_engine": None
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._turn = threading.RLock()

    def evaluation_for(self, rules: str) -> Evaluation | ValueFunction:
        """What judges positions of a rule set."""
        given: Any = self.evaluation
        if isinstance(given, Mapping) and not isinstance(given, Evaluation):
            given = given[rules]
        if isinstance(given, Weights):
            return Evaluation.of(given, rules)
        if isinstance(given, Evaluation) and given.rules != rules:
            raise ValueError(f"evaluation: it is of rules {given.rules}, the position of {rules}")
        return Evaluation(rules=rules) if given is None else given

    def prepare(self, rules: str) -> Engine:
        """Take memory and make the evaluation of a rule set: what the first search would do."""
        if self._engine is None or self._rules != rules:
            given = self.evaluation_for(rules)
            if isinstance(given, Evaluation):
                self._engine = Engine(self.options, given.compiled, given.network)
            else:
                self._engine = Engine(self.options, (Evaluation(rules=rules).compiled, given))
            self._rules = rules
        return self._engine
