"""Players in this process: the `Agent` protocol and the agents that come with the library.

An agent is asked what the referee asks, an `Observation` at a time, and answers with the line that
a bot would print:

    >>> from locmsim.game.match import Match
    >>> match = Match(seed=1)
    >>> agents = make_agent("greedy"), make_agent("random")
    >>> while match.to_ask:
    ...     player = match.to_ask[0]
    ...     observation = match.observation(player)
    ...     agent = agents[player]
    ...     ask = agent.choose if observation.phase == "choice" else agent.act
    ...     _ = match.submit(player, ask(observation))
    >>> match.winner
    0
"""

import inspect
import random
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Protocol

from locmsim._core import State
from locmsim.agents._ownturn import OwnTurn
from locmsim.agents.lethal import find_lethal
from locmsim.agents.opponents import own_turn_weights, rule_turn
from locmsim.agents.turnsearch import Budget, Evaluation, beam_search, greedy_turn
from locmsim.decks.building import (
    DECK_BUILDERS,
    DRAFT_PICKERS,
    CardScore,
    DeckBuilder,
    DraftPicker,
    build_deck,
    deck_line,
    pick,
)
from locmsim.game.observation import Observation
from locmsim.rules.cards import Card
from locmsim.rules.rulesets import COPIES_PER_CARD, DECK_SIZE, RULES
from locmsim.search.belief import Belief
from locmsim.search.search import (
    MCTS,
    BeamOptions,
    BeamSearch,
    MCTSOptions,
    SearchResult,
    load_weights,
)

__all__ = [
    "AGENTS",
    "Agent",
    "Baseline",
    "Beam",
    "Greedy",
    "OwnTurnSearch",
    "Random",
    "RuleBased",
    "TreeSearch",
    "make_agent",
]


class Agent(Protocol):
    """A player. It is shown every observation of a game, and each one once."""

    def reset(self, seed: int = 0) -> None:
        """A new game begins; the answers to come depend on `seed` and on what will be shown."""

    def choose(self, observation: Observation) -> str:
        """The answer line of the choice phase: the deck (1.5), or one pick (1.x)."""

    def act(self, observation: Observation) -> str:
        """The answer line of a battle turn; "PASS" for nothing."""


class _Player(ABC):
    """What the agents have in common: a belief, and answers made of decisions."""

    def __post_init__(self) -> None:
        self.reset()

    def reset(self, seed: int = 0) -> None:
        self.random = random.Random(seed)
        self.belief = Belief()
        self.picked: list[Card] = []

    def choose(self, observation: Observation) -> str:
        self.belief.see(observation)
        offer = observation.offer
        if not RULES[observation.rules].draft:
            deck = self.build(offer)
            self.belief.chose(deck)
            return deck_line(deck)
        choice = self.pick(offer, observation.rules)
        self.picked.append(offer[choice])
        self.belief.chose([offer[choice].base_id])
        return f"PICK {choice}"

    def act(self, observation: Observation) -> str:
        started = time.perf_counter()
        self.belief.see(observation)
        state = self.belief.sample(self.random.getrandbits(64))
        if state.is_terminal():  # dead from drawing, but asked
            return "PASS"
        return line_of(state, self.plan(state, started))

    @abstractmethod
    def build(self, offer: tuple[Card, ...]) -> list[int]:
        """The base ids of a deck."""

    @abstractmethod
    def pick(self, offer: tuple[Card, ...], rules: str) -> int:
        """The index of a card of the draft."""

    @abstractmethod
    def plan(self, state: State, started: float) -> list[int]:
        """The actions of a turn, PASS not among them; the agent was asked at the time `started`."""


def line_of(state: State, actions: list[int]) -> str:
    """The answer line that carries out `actions` from `state`."""
    state = state.clone()
    texts = []
    for action in actions:
        texts.append(state.action_to_string(action))
        state.apply_action(action)
    return ";".join(texts) or "PASS"


@dataclass
class Random:
    """Any deck; in the battle any legal action, until that is PASS.

    Nothing hidden matters to it, so it makes do with what is on the table.
    """

    def __post_init__(self) -> None:
        self.reset()

    def reset(self, seed: int = 0) -> None:
        self.random = random.Random(seed)

    def choose(self, observation: Observation) -> str:
        if RULES[observation.rules].draft:
            return f"PICK {self.random.randrange(len(observation.cards))}"
        copies = [row.base_id for row in observation.cards] * COPIES_PER_CARD
        return deck_line(self.random.sample(copies, DECK_SIZE))

    def act(self, observation: Observation) -> str:
        state = State.from_observation(observation)
        texts = []
        while action := self.random.choice(state.legal_actions() or [0]):
            texts.append(state.action_to_string(action))
            state.apply_unchecked(action)
        return ";".join(texts) or "PASS"


@dataclass
class _Chooser(_Player):
    """Agents that choose cards by a heuristic, given by name or as a function."""

    deck: str | DeckBuilder = "default"
    draft: str | DraftPicker = "default"

    def __post_init__(self) -> None:
        super().__post_init__()
        for option, registry in (("deck", DECK_BUILDERS), ("draft", DRAFT_PICKERS)):
            name = getattr(self, option)
            if isinstance(name, str) and name not in registry:
                raise ValueError(f"{option}: expected one of {', '.join(registry)}, got {name!r}")

    def build(self, offer: tuple[Card, ...]) -> list[int]:
        return build_deck(offer, self.deck)

    def pick(self, offer: tuple[Card, ...], rules: str) -> int:
        return pick(offer, self.picked, rules, self.draft)


@dataclass
class Greedy(_Chooser):
    """One action after the other, each the best by its immediate result.

    Its deck is what the default was when it was made: a yardstick stays as it is.
    """

    deck: str | DeckBuilder = "classic"
    evaluation: Evaluation = field(default_factory=Evaluation)

    def plan(self, state: State, started: float) -> list[int]:
        return greedy_turn(state, self.evaluation)


def _check_bounds(time_ms: float, name: str, bound: int) -> None:
    """``ValueError`` unless a turn is bounded by its time or by the number of that name."""
    if not (time_ms >= 0 and bound >= 0):
        raise ValueError(f"time_ms and {name}: expected 0 or more, got {time_ms} and {bound}")
    if not (time_ms or bound):
        raise ValueError(f"one of time_ms and {name} must be above 0")


@dataclass
class Baseline(_Chooser):
    """The win if there is one this turn, else a beam search over the own turn.

    It takes `time_ms` for a turn, but leaves `SPARE_MS` of the rule set's limit, and looks at no
    more than `nodes` positions; 0 for no bound of that kind. With a bound of nodes alone the
    answers depend on the seed and on what was shown only.
    """

    deck: str | DeckBuilder = "classic"
    time_ms: float = 100.0
    nodes: int = 0
    evaluation: Evaluation = field(default_factory=Evaluation)

    #: The part of the budget that the search for a win may use.
    LETHAL_SHARE = 0.4
    #: What the referee, the pipes and a busy machine may take of a turn's time.
    SPARE_MS = 60

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_bounds(self.time_ms, "nodes", self.nodes)

    def plan(self, state: State, started: float) -> list[int]:
        lethal = find_lethal(state, self._budget(state.rules, started, self.LETHAL_SHARE))
        if lethal is not None:
            return lethal
        return beam_search(state, self.evaluation, self._budget(state.rules, started, 1.0))

    def _budget(self, rules: str, started: float, share: float) -> Budget:
        time_ms = min(self.time_ms, RULES[rules].battle_limits_ms[1] - self.SPARE_MS)
        return Budget(
            deadline=started + share * time_ms / 1000 if time_ms else None,
            nodes=int(share * self.nodes) if self.nodes else None,
        )


#: The scores by which an opponent is taken to choose his cards, see `Belief`.
_TASTES: dict[str, Mapping[str, CardScore] | None] = {
    "score": None,
    "any": dict.fromkeys(RULES, lambda card: 0.0),
}


class _SearchAgent(_Chooser):
    """An agent that plays the turns that a search of `locmsim.search` finds.

    It takes `time_ms` for a turn, at most `share` of the rule set's limit (the rest is for the
    referee, the pipes and a machine that does something else for a while), and five times as long
    for the first one, whose limit is higher; or a number of `iterations` (see
    `locmsim.search.MCTS.search`); 0 for no bound of that kind. With a bound of iterations alone the
    answers depend on the seed and on what was shown only. `weights` is the path of a weights file,
    `evaluation` what the search takes in its place; `belief` says which cards the opponent is taken
    to choose: those of high "score", or "any", whatever they are worth; `options` are those of the
    search.
    """

    searches: ClassVar[type[MCTS] | type[BeamSearch]]
    search_options: ClassVar[type[MCTSOptions] | type[BeamOptions]]

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
        _check_bounds(time_ms, "iterations", iterations)
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
        chosen: Any = self.search_options(**options)  # type: ignore[arg-type]
        self.search = self.searches(
            chosen, evaluation=load_weights(weights) if weights else evaluation
        )
        super().__init__(deck, draft)

    def __init_subclass__(cls) -> None:
        """Show the options of the search as arguments, as `make_agent` looks for them there."""
        own = [
            p
            for p in inspect.signature(_SearchAgent).parameters.values()
            if p.kind != p.VAR_KEYWORD
        ]
        search = [
            inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=option.default)
            for option in fields(cls.search_options)
        ]
        cls.__signature__ = inspect.Signature([*own, *search])  # type: ignore[attr-defined]

    def reset(self, seed: int = 0) -> None:
        super().reset(seed)
        self.belief = Belief(self._taste)
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
            iterations=self.iterations or None,
            seed=self.random.getrandbits(63),
            belief=self.belief,
        )
        return self.result.actions


class Beam(_SearchAgent):
    """`locmsim.search.BeamSearch` as an agent."""

    searches = BeamSearch
    search_options = BeamOptions


class TreeSearch(_SearchAgent):
    """`locmsim.search.MCTS` as an agent."""

    searches = MCTS
    search_options = MCTSOptions


@dataclass
class RuleBased(_Chooser):
    """Rules of thumb without any search: `locmsim.agents.opponents.rule_turn`.

    Its deck of 1.5 is made of area cards, as those of rule bots in the contest of 2022 were.
    """

    deck: str | DeckBuilder = "area"

    def plan(self, state: State, started: float) -> list[int]:
        return rule_turn(state)


@dataclass
class OwnTurnSearch(_Chooser):
    """A fast search over the own turn, cards first and then attacks; it thinks of no opponent.

    It takes `time_ms` for a turn, but leaves `SPARE_MS` of the rule set's limit, and applies no
    more than `nodes` actions; 0 for no bound of that kind. With a bound of nodes alone the answers
    depend on the seed and on what was shown only.
    """

    time_ms: float = 150.0
    nodes: int = 0

    #: What the referee, the pipes and a busy machine may take of a turn's time.
    SPARE_MS = 50

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_bounds(self.time_ms, "nodes", self.nodes)

    def reset(self, seed: int = 0) -> None:
        super().reset(seed)
        self._searches: dict[str, OwnTurn] = {}

    def plan(self, state: State, started: float) -> list[int]:
        if state.rules not in self._searches:
            self._searches[state.rules] = OwnTurn(own_turn_weights(state.rules))
        time_ns = None
        if self.time_ms:
            time_ms = min(self.time_ms, RULES[state.rules].battle_limits_ms[1] - self.SPARE_MS)
            time_ns = max(0, int(1e9 * (started + time_ms / 1000 - time.perf_counter())))
        return self._searches[state.rules].search(state, time_ns=time_ns, nodes=self.nodes or None)


#: The agents by name; register others by adding them. Options are keyword arguments.
AGENTS: dict[str, Callable[..., Agent]] = {
    "random": Random,
    "greedy": Greedy,
    "baseline": Baseline,
    "beam": Beam,
    "mcts": TreeSearch,
    "own-turn": OwnTurnSearch,
    "rule": RuleBased,
}


def make_agent(spec: str, **options: Any) -> Agent:
    """The agent that a text describes: ``"greedy"``, ``"baseline:time_ms=50,deck=bodies"``.

    `options` are more of its keyword arguments and win over those in the text. ``ValueError`` for
    an unknown agent or option and for a value that does not fit.
    """
    name, _, rest = spec.partition(":")
    if name not in AGENTS:
        raise ValueError(f"unknown agent {name!r}: expected one of {', '.join(AGENTS)}")
    factory = AGENTS[name]
    known = inspect.signature(factory).parameters
    given: dict[str, Any] = {}
    for part in filter(None, rest.split(",")):
        option, equals, text = part.partition("=")
        if not equals:
            raise ValueError(f"agent {name}: expected option=value, got {part!r}")
        default = known[option].default if option in known else None
        if not isinstance(default, int | float | str):
            raise ValueError(f"agent {name}: unknown option {option!r}, expected {_listed(known)}")
        try:
            given[option] = type(default)(text)
        except ValueError:
            kind = "a number" if isinstance(default, float) else "an integer"
            raise ValueError(f"agent {name}: {option}: expected {kind}, got {text!r}") from None
    for option in options:
        if option not in known:
            raise ValueError(f"agent {name}: unknown option {option!r}, expected {_listed(known)}")
    try:
        return factory(**{**given, **options})
    except ValueError as error:
        raise ValueError(f"agent {name}: {error}") from None


def _listed(options: Mapping[str, Any]) -> str:
    return ", ".join(options) or "none"
