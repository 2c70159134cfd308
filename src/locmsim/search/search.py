"""Search for bots: Monte-Carlo tree search and beam search over the own turn.

Both get an `Observation` and see nothing else: what is hidden they sample from a `Belief`. Both
look for a win within the turn first, and both judge a turn by playing on from its end in sampled
worlds, in which the opponent replies. They are compiled and run without the GIL.

    >>> from locmsim.game.match import Match
    >>> from locmsim.search import BeamSearch
    >>> match = Match(seed=3)
    >>> _ = match.submit(0, "PASS"), match.submit(1, "PASS")
    >>> result = BeamSearch().search(match.observation(0), iterations=20_000, seed=1)
    >>> result.line.split(" ")[0] in ("PASS", "SUMMON", "USE")
    True
    >>> match.submit(0, result.line).ignored in ([], ["PASS"])
    True
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, Literal, TypeAlias

from locmsim._core import State
from locmsim.game.observation import Observation
from locmsim.networks._network import Network
from locmsim.networks.weights import Weights, default_weights
from locmsim.search._search import TERMS, Engine, Evaluator
from locmsim.search.belief import Belief

__all__ = [
    "MCTS",
    "TERMS",
    "BeamOptions",
    "BeamSearch",
    "Evaluation",
    "MCTSOptions",
    "SearchResult",
]

#: A function of a state and a player whose turn ends there, in the place of the weights: the value
#: to him. It is called with the GIL for each node, so it makes a search a hundred times slower.
ValueFunction: TypeAlias = Callable[[State, int], float]


class Evaluation(Mapping[str, float]):
    """What positions are worth: a weight for each name in `TERMS`, which says what it counts.

    `weights` replaces some or all of the default ones of a rule set:

    >>> careful = Evaluation({"own.health": 0.5})
    >>> len(careful) == len(TERMS)
    True
    >>> careful.replace(scale=20)["scale"]
    20

    It can be called with a state and the player whose turn ends there. ``ValueError`` names a
    weight that is unknown or no number.

    Searches find turns with the weights. What comes of them is predicted by `network`, if there is
    one: that of the rule set in the package, where it has one and no `weights` are given, or a
    `locmsim.networks.Network`; else by the weights, too. None is for no network.
    """

    def __init__(
        self,
        weights: Mapping[str, float] | None = None,
        rules: str = "1.5",
        *,
        network: Network | Literal["default"] | None = "default",
    ) -> None:
        self._weights = {**default_weights(rules).evaluation, **(weights or {})}
        self.compiled = Evaluator(self._weights)
        if network == "default":
            network = None if weights else _default_network(rules)
        #: By which results are predicted, or None.
        self.network: Network | None = network

    @classmethod
    def of(cls, weights: Weights, rules: str = "1.5") -> "Evaluation":
        """The evaluation in the weights of a rule set, with their network if they have one."""
        network = None if weights.network is None else Network(weights.network)
        return cls(weights.evaluation, rules, network=network)

    def replace(self, **weights: float) -> "Evaluation":
        """The same with other weights, whose names may have ``_`` in the place of their dot."""
        names = {name.replace(".", "_"): name for name in TERMS}
        changed = {**self, **{names.get(key, key): w for key, w in weights.items()}}
        return Evaluation(changed, network=self.network)

    def __getitem__(self, name: str) -> float:
        return self._weights[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._weights)

    def __len__(self) -> int:
        return len(self._weights)

    def __call__(self, state: State, player: int) -> float:
        return self.compiled(state, player)

    def __repr__(self) -> str:
        return f"Evaluation({self._weights})"


@cache
def _default_network(rules: str) -> Network | None:
    arrays = default_weights(rules).network
    return None if arrays is None else Network(arrays)


# ------------------------------------------------------------------------------------- options


def _option(default: Any, least: float, most: float) -> Any:
    return field(default=default, metadata={"least": least, "most": most})


def _check(options: Any) -> None:
    for option in fields(options):
        value = getattr(options, option.name)
        least, most = option.metadata["least"], option.metadata["most"]
        whole = isinstance(option.default, int)
        if not isinstance(value, int if whole else int | float):
            kind = "an integer" if whole else "a number"
            raise ValueError(f"{option.name}: expected {kind}, got {value!r}")
        if not (least <= value <= most):
            raise ValueError(f"{option.name}: expected {least} to {most}, got {value}")


@dataclass(frozen=True, slots=True, kw_only=True)
class BeamOptions:
    """Options of `BeamSearch`. The defaults are the tuned ones (docs/strength.md)."""

    #: Positions followed after each number of actions, at most: the search is repeated with more
    #: as long as there is time.
    width: int = _option(1024, 1, 65536)
    #: Whole turns whose ends are played on from.
    plans: int = _option(64, 1, 256)
    #: Turns played on greedily, the first one the opponent's; 0: static values decide.
    turns: int = _option(2, 0, 20)
    #: Positions of the beam by which these turns are found; 1: action by action, the best one each.
    reply_width: int = _option(8, 1, 16)
    #: Sampled worlds, at most.
    worlds: int = _option(512, 1, 4096)
    #: How many worlds the static value of a plan counts for.
    prior: float = _option(2.0, 0.0, 1e6)
    #: Part of the budget for the search for a win, and part of the rest for finding plans.
    lethal_share: float = _option(0.2, 0.0, 1.0)
    plan_share: float = _option(0.4, 0.0, 1.0)

    def __post_init__(self) -> None:
        _check(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class MCTSOptions:
    """Options of `MCTS`. The defaults are the tuned ones (docs/strength.md)."""

    #: Weight of the prior against the mean result (PUCT); results are from -1 to 1.
    exploration: float = _option(0.6, 0.0, 1000.0)
    #: After n visits the 1 + widening * sqrt(n) actions of the highest priors are looked at.
    widening: float = _option(1.5, 0.0, 1000.0)
    #: Differences of static values are divided by it for the priors: higher is more even.
    temperature: float = _option(3.0, 0.001, 1e6)
    #: Turns played on greedily at a leaf, the first one the opponent's.
    turns: int = _option(2, 1, 20)
    #: Positions of the beam by which these turns are found; 1: action by action, the best one each.
    reply_width: int = _option(1, 1, 16)
    #: Instead, if above 0: so many random turns of the opponent.
    playouts: int = _option(0, 0, 1000)
    #: Sampled worlds; visits of a leaf go through them in turn.
    worlds: int = _option(256, 1, 4096)
    #: Part of the budget for the search for a win.
    lethal_share: float = _option(0.2, 0.0, 1.0)
    #: Nodes of the tree, at most; each takes about 0.5 KB.
    max_nodes: int = _option(65536, 16, 1 << 22)

    def __post_init__(self) -> None:
        _check(self)


# ------------------------------------------------------------------------------------ searches


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search found."""

    #: Actions of the turn, PASS not among them.
    actions: list[int]
    #: The answer line for them.
    line: str
    #: Expected result for the player, from -1 to 1; 1 if the turn wins.
    value: float
    #: Visits of the first action (MCTS), sampled worlds in which the turn was tried (beam).
    visits: int
    #: Positions that were made by applying an action and evaluated.
    nodes: int
    #: Descents of the tree (MCTS); nodes (beam): what the argument `iterations` bounds.
    iterations: int
    #: Longest sequence of own actions that was looked at.
    depth: int
    #: The principal variation: `actions` as texts.
    pv: list[str]
    #: Seconds.
    elapsed: float


class _Search:
    _method: str
    _counts_nodes: bool

    def __init__(
        self,
        options: Any,
        evaluation: Evaluation | ValueFunction | Mapping[str, Evaluation | Weights] | None,
    ) -> None:
        self.options = options
        self.evaluation = evaluation
        self._engine: Engine | None = None
        self._rules: str | None = None

    def search(
        self,
        observation: Observation | State,
        *,
        time_ms: float | None = None,
        iterations: int | None = None,
        seed: int = 0,
        belief: Belief | None = None,
    ) -> SearchResult:
        """The best turn found for the player who is asked, who sees `observation`.

        A `State` is first replaced by what its mover observes; his turn has to be at its beginning.
        `belief` is what he knows from the game so far, `observation` included; without it the
        search starts from this observation alone. It takes `time_ms` milliseconds (to within 2),
        or `iterations`: descents of the tree for MCTS, nodes for the beam search. With iterations
        alone the result depends on the arguments only. ``ValueError`` if neither is given, in the
        choice phase, in the middle of a turn, and for a finished game.
        """
        started = time.perf_counter()
        if time_ms is None and iterations is None:
            raise ValueError("one of time_ms and iterations is needed")
        for name, bound in (("time_ms", time_ms), ("iterations", iterations)):
            if bound is not None and not (bound >= 0 and math.isfinite(bound)):
                raise ValueError(f"{name}: expected 0 or more, got {bound!r}")
        state = None
        if isinstance(observation, State):
            state = observation
            if state.is_terminal():
                raise ValueError("the game is over")
            observation = state.observation(state.current_player())
        if belief is None:
            belief = Belief()
            belief.see(observation)
        worlds = belief.determinizer()
        root = belief.sample(seed)
        if root.is_terminal():
            raise ValueError("the game is over")
        if state is not None and root.legal_actions() != state.legal_actions():
            raise ValueError("the turn has begun: what was done in it is not observed")
        left = None
        if time_ms is not None:
            left = max(0, int(1e6 * time_ms - 1e9 * (time.perf_counter() - started)))
        outcome = self._prepared(observation.rules).search(
            worlds,
            time_ns=left,
            nodes=iterations if self._counts_nodes else None,
            visits=None if self._counts_nodes else iterations,
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
            iterations=outcome.nodes if self._counts_nodes else outcome.iterations,
            depth=outcome.depth,
            pv=texts,
            elapsed=time.perf_counter() - started,
        )

    def _prepared(self, rules: str) -> Engine:
        if self._engine is None or self._rules != rules:
            default = Evaluation(rules=rules)
            given: Any = default if self.evaluation is None else self.evaluation
            if isinstance(given, Mapping) and not isinstance(given, Evaluation):
                given = given[rules]
            if isinstance(given, Weights):
                given = Evaluation.of(given, rules)
            if isinstance(given, Evaluation):
                self._engine = Engine(self._method, self.options, given.compiled, given.network)
            else:
                self._engine = Engine(self._method, self.options, (default.compiled, given))
            self._rules = rules
        return self._engine


class BeamSearch(_Search):
    """Beam search over the own turn, the best whole turns tested against sampled replies.

    `evaluation` is an `Evaluation`, one for each rule set (a `locmsim.networks.WeightsFile`, too),
    or a function; the default weights if None.
    """

    _method = "beam"
    _counts_nodes = True

    def __init__(
        self,
        options: BeamOptions | None = None,
        *,
        evaluation: Evaluation | ValueFunction | Mapping[str, Evaluation] | None = None,
    ) -> None:
        super().__init__(options or BeamOptions(), evaluation)


class MCTS(_Search):
    """Monte-Carlo tree search over the single actions of the own turn.

    `evaluation` as for `BeamSearch`.
    """

    _method = "mcts"
    _counts_nodes = False

    def __init__(
        self,
        options: MCTSOptions | None = None,
        *,
        evaluation: Evaluation | ValueFunction | Mapping[str, Evaluation] | None = None,
    ) -> None:
        super().__init__(options or MCTSOptions(), evaluation)
