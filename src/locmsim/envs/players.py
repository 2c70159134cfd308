"""Who plays the seats that the caller does not: the table of players, and how each is asked.

Scripted agents and searches play in compiled code. All others are asked by Python, and none of them
is given a state: a policy is shown the numbers of its layout and the mask, all rows that wait for
it in one call; an agent is shown the `Observation` that the referee would send.
"""

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from locmsim.agents import BeamAgent, PolicyAgent, did_you_mean, is_agent, make_agent, parse_spec
from locmsim.agents._scripted import SCRIPTED
from locmsim.envs._player_table import MOST_PLAYERS
from locmsim.envs._rows import action_of
from locmsim.envs._searcher import Searcher
from locmsim.game.choice import choice_observations
from locmsim.policy import OnnxPolicy, PolicyCaller, load_policy
from locmsim.rules.cards import Card
from locmsim.search import Evaluation
from locmsim.search.belief import prior

if TYPE_CHECKING:
    from locmsim.envs.games import Games

__all__ = [
    "CALLER",
    "PlayerResults",
    "Players",
    "Pool",
    "search_agent",
    "searcher_of",
    "show_choice",
]

#: The name of the player whose actions are the environment's.
CALLER = "caller"
#: Kinds of players that have no number among the scripted ones.
_EXTERNAL_KIND, _CALLER_KIND = -1, -3
_POLICY_FILES = (".npz", ".onnx", ".pt", ".ts")


class Pool:
    """Players of which one is drawn for each episode, from the row's random stream.

    Parameters
    ----------
    opponents : mapping
        Player -> weight, a positive number; players as for `Options.opponent`, "caller" included,
        or names for those in `named`.
    named : mapping, optional
        Name -> player, for objects that a mapping cannot have as keys.

    Raises
    ------
    ValueError
        If there is none, a weight is not positive, or a name in `named` has no weight. An
        environment refuses a pool of more than 64 players.

    Examples
    --------
    >>> Pool({"greedy": 0.8, "random": 0.2}).weights
    (0.8, 0.2)
    """

    def __init__(
        self, opponents: Mapping[Any, float], named: Mapping[str, Any] | None = None
    ) -> None:
        if not isinstance(opponents, Mapping):
            raise ValueError(
                "opponents: expected a mapping of opponents to weights, such as"
                f" {{'greedy': 0.8, 'random': 0.2}}, got {opponents!r}"
            )
        if not opponents or not all(weight > 0 for weight in opponents.values()):
            raise ValueError("opponents: expected some, each with a positive weight")
        named = named or {}
        for name in named:
            if name not in opponents:
                known = [one for one in opponents if isinstance(one, str)]
                raise ValueError(
                    f"named: {name!r} has no weight{did_you_mean(name, known)}: expected one of"
                    f" {', '.join(known)}"
                )
        #: Tuples: an environment takes them as they are when it is given the pool.
        self.members = tuple(named.get(name, name) for name in opponents)
        self.names = tuple(
            name if isinstance(name, str) else f"{type(name).__name__}-{i}"
            for i, name in enumerate(opponents)
        )
        self.weights = tuple(float(weight) for weight in opponents.values())

    def __repr__(self) -> str:
        members = zip(self.names, self.weights, strict=True)
        return f"Pool({', '.join(f'{member}: {weight:g}' for member, weight in members)})"


class PlayerResults(NamedTuple):
    """Episodes against a player that have ended, from the side of the caller.

    Where the caller plays both seats, that is the side of player 0.

    Attributes
    ----------
    won, lost : int
        Episodes.
    drawn : int
        Episodes without a winner.
    """

    won: int = 0
    lost: int = 0
    #: Without a winner.
    drawn: int = 0

    @property
    def games(self) -> int:
        """All of them."""
        return sum(self)

    @property
    def rate(self) -> float:
        """Won, and half of those without a winner, of all; 0.5 if there was none."""
        return (self.won + 0.5 * self.drawn) / self.games if self.games else 0.5


class Players(MutableMapping[str, Any]):
    """The players of an environment by name, with the weight by which each is drawn.

    A player that is put in is drawn once it has a weight. One that is replaced or deleted plays the
    episodes to their ends that run against it, and counts until then: there are 64 players at most.

    Parameters
    ----------
    games : Games
        Whose players they are.
    opponent
        As `Options.opponent`.

    Examples
    --------
    >>> from locmsim.envs import LocmVectorEnv, Pool
    >>> env = LocmVectorEnv(4, opponent=Pool({"caller": 0.8, "random": 0.2}))
    >>> env.players["past-1"] = "greedy"
    >>> env.set_weights({"caller": 0.5, "past-1": 0.5})
    >>> env.players.weights
    {'caller': 0.5, 'past-1': 0.5}
    >>> env.players.results["past-1"].games
    0
    """

    def __init__(self, games: "Games", opponent: Any) -> None:
        self._games = games
        self._members: dict[str, Any] = {}
        self._slots: dict[str, int] = {}
        self._weights: dict[str, float] = {}
        self._past: dict[str, PlayerResults] = {}  # of slots that names had before
        #: Slot -> how Python asks who plays there.
        self.external: dict[int, _External] = {}
        #: Slot -> the agent that a compiled search plays as.
        self.agents: dict[int, BeamAgent] = {}
        self.replace(opponent)

    # ------------------------------------------------------------------------------- a mapping

    def __getitem__(self, name: str) -> Any:
        return self._members[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __setitem__(self, name: str, player: Any) -> None:
        if not isinstance(name, str):
            raise TypeError(f"name: expected a text, got {name!r}")
        kind, external, agent = self._prepared(player)
        self._leave(name)
        slot = self._free_slot()
        self._games.rows.players.put(slot, kind)
        for table, value in ((self.external, external), (self.agents, agent)):
            table.pop(slot, None)
            if value is not None:
                table[slot] = value  # type: ignore[assignment]
        self._members[name], self._slots[name] = player, slot
        if name in self._weights:
            self._draw()

    def __delitem__(self, name: str) -> None:
        if name not in self._members:
            raise KeyError(name)
        if len(self._weights) == 1 and name in self._weights:
            raise ValueError(f"{name!r} is the only player with a weight")
        self._leave(name)
        del self._members[name]
        if self._weights.pop(name, None) is not None:
            self._draw()

    def __repr__(self) -> str:
        return f"Players({', '.join(self._members)}; weights {self.weights})"

    # ---------------------------------------------------------------------------------- drawing

    @property
    def weights(self) -> dict[str, float]:
        """Name -> weight of those that new episodes are played against."""
        return dict(self._weights)

    def set_weights(self, weights: Mapping[str, float]) -> None:
        """Draw the players of new episodes by other weights.

        Parameters
        ----------
        weights : mapping
            Name -> weight, of which one is positive at least; players that are not in it are not
            drawn.

        Raises
        ------
        ValueError
            For a name that no player has, or weights that cannot be used.
        """
        for name, weight in weights.items():
            if name not in self._members:
                raise ValueError(
                    f"there is no player {name!r}{did_you_mean(name, self._members)}: expected"
                    f" {', '.join(self._members)}"
                )
            if not weight >= 0:
                raise ValueError(f"weight of {name!r}: expected 0 or more, got {weight!r}")
        if not sum(weights.values()) > 0:
            raise ValueError("weights: expected one that is positive")
        self._weights = {name: float(weight) for name, weight in weights.items() if weight}
        self._draw()

    def replace(self, opponent: Any) -> None:
        """Have other players only.

        Parameters
        ----------
        opponent
            As `Options.opponent`.

        Raises
        ------
        ValueError
            If one of them cannot play, or there are more than 64, those included who still play
            running episodes. Nothing is replaced then.
        """
        if isinstance(opponent, Pool):
            pool = opponent
        elif isinstance(opponent, str):
            pool = Pool({opponent: 1.0})
        else:
            pool = Pool({"opponent": 1.0}, {"opponent": opponent})
        for member in pool.members:
            self._prepared(member)  # nothing is replaced if one of them cannot play
        n_free = len(self._games.rows.players.free_slots())
        if len(pool.members) > n_free:
            self._refuse(MOST_PLAYERS - n_free)
        for name in list(self._members):
            self._leave(name)
        self._members, self._weights = {}, {}
        for name, member in zip(pool.names, pool.members, strict=True):
            self[name] = member
        self.set_weights(dict(zip(pool.names, pool.weights, strict=True)))

    @property
    def results(self) -> dict[str, PlayerResults]:
        """Name -> how episodes against that player have ended."""
        return {name: self._results(name) for name in self._members}

    def slot(self, name: str) -> int:
        """Return the number of a player in the rows.

        Parameters
        ----------
        name : str

        Raises
        ------
        ValueError
            No player has the name.
        """
        if not isinstance(name, str) or name not in self._slots:
            raise ValueError(
                f"player: there is no {name!r}{did_you_mean(str(name), self._members)}: expected"
                f" {', '.join(self._members)}"
            )
        return self._slots[name]

    def has_caller_twice(self) -> bool:
        """Return whether the caller plays both seats in some episodes."""
        return any(self._members[name] == CALLER for name in self._weights)

    def _draw(self) -> None:
        slots = [self._slots[name] for name in self._weights]
        self._games.rows.players.draw_from(slots, list(self._weights.values()))

    def _results(self, name: str) -> PlayerResults:
        drawn, won, lost = self._games.rows.players.played(self._slots[name])
        past = self._past.get(name, PlayerResults())
        return PlayerResults(past.won + won, past.lost + lost, past.drawn + drawn)

    def _leave(self, name: str) -> None:
        """Keep the results of a name that gives up its slot."""
        if name in self._slots:
            self._past[name] = self._results(name)
            del self._slots[name]

    def _free_slot(self) -> int:
        in_use = set(self._slots.values())
        free = [slot for slot in self._games.rows.players.free_slots() if slot not in in_use]
        if not free:
            self._refuse(MOST_PLAYERS - len(in_use))
        return free[0]

    def _refuse(self, leaving: int) -> NoReturn:
        """Refuse another player; `leaving` are replaced players who still play episodes."""
        but = ""
        if leaving:
            but = f", of whom {leaving} are replaced or deleted and still play their episodes"
        raise ValueError(f"players: an environment has {MOST_PLAYERS} at most{but}")

    # --------------------------------------------------------------------------------- kinds

    def _prepared(self, player: Any) -> tuple[Any, "_External | None", BeamAgent | None]:
        """Return the kind of a player for the rows, how Python asks it, what a search plays as."""
        rules = self._games.rules.name
        if isinstance(player, str):
            if player == CALLER:
                return _CALLER_KIND, None, None
            if player in SCRIPTED:
                return SCRIPTED[player], None, None
            agent = search_agent(player)
            if agent is not None:
                return searcher_of(agent, rules), _AgentPlayer(partial(search_agent, player)), agent
        return _EXTERNAL_KIND, _external(player, self._games), None


# ---------------------------------------------------------------------------------- searches


def search_agent(opponent: Any) -> BeamAgent | None:
    """Return the agent of a text ``beam:nodes=N,...`` without a time limit, else None.

    Parameters
    ----------
    opponent : any
        As `Options.opponent`.
    """
    if not isinstance(opponent, str) or not is_agent(opponent):
        return None
    name, options = parse_spec(opponent)
    if name != "beam":
        return None
    agent = make_agent(opponent)
    if not isinstance(agent, BeamAgent) or ("time_ms" in options and agent.time_ms):
        return None
    agent.time_ms = 0
    return agent if agent.nodes else None


def searcher_of(agent: BeamAgent, rules: str) -> Searcher:
    """Return a compiled player that plays like an agent of `search_agent`.

    Parameters
    ----------
    agent : BeamAgent
    rules : str
    """
    evaluation = agent.search.evaluation_for(rules)
    assert isinstance(evaluation, Evaluation)
    options = agent.search.options
    _, _, draft = prior(rules, *agent.prior(rules))
    return Searcher(
        options,
        evaluation.compiled,
        evaluation.network,
        None if draft is None else draft.compiled,
        rules,
        agent.nodes,
    )


# ------------------------------------------------------------------------- asked by Python


class _External(Protocol):
    """Plays for rows that wait for it."""

    def play(self, games: "Games", rows: NDArray[np.int64]) -> None:
        """Answer for each of the rows, with an action at least."""


def _external(player: Any, games: "Games") -> _External:
    """Return how Python asks a player of `Options.opponent`; ``ValueError`` if it cannot."""
    if isinstance(player, str):
        if player.endswith(_POLICY_FILES) and ":" not in player:
            return _PolicyPlayer(load_policy(player), games)
        agent = make_agent(player)
        if isinstance(agent, PolicyAgent):
            return _PolicyPlayer(agent.policy, games, agent.temperature)
        return _AgentPlayer(partial(make_agent, player))
    if hasattr(player, "act_batch"):
        return _PolicyPlayer(player, games)
    if hasattr(player, "run") and hasattr(player, "get_inputs"):
        return _PolicyPlayer(OnnxPolicy(player), games)
    if hasattr(player, "act") and hasattr(player, "reset"):
        if games.n > 1:
            raise ValueError(
                f"opponent: {player!r} is one agent and cannot play {games.n} rows: expected its"
                " text for make_agent, such as 'file.py:NAME', of which each row makes one"
            )
        return _AgentPlayer(partial(_itself, player))
    if callable(player):
        return _FunctionPlayer(player)
    raise ValueError(
        "opponent: expected a name, an Agent, a Policy, an object with act_batch, a Pool or a"
        f" function (observation, mask) -> action, got {player!r}"
    )


def _itself(agent: Any) -> Any:
    return agent


class _FunctionPlayer:
    """A function (observation, mask) -> action, in the layout of the rows."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def play(self, games: "Games", rows: NDArray[np.int64]) -> None:
        for i in range(len(rows)):
            observation = np.empty(games.layout.shape, games.layout.dtype)
            mask = np.empty(games.rows.battle_actions, np.int8)
            games.rows.requests.ask(rows[i : i + 1], observation, mask, None, games.layout.name)
            try:
                action = action_of(self.function(observation, mask))
            except TypeError as error:
                raise TypeError(f"opponent: {error}") from None
            games.rows.requests.answer(rows[i : i + 1], np.array([action], np.int64))


class _PolicyPlayer:
    """A policy, in its own layout if it has one: asked once for all rows."""

    def __init__(self, policy: Any, games: "Games", temperature: float | None = None) -> None:
        try:
            self.caller = PolicyCaller(
                policy,
                repr(policy),
                rules=games.rules.name,
                layout=games.layout.name,
                temperature=temperature,
            )
        except ValueError as error:
            raise ValueError(f"opponent: {error}") from None
        rules, wanted = self.caller.rules, games.rules.name
        if rules != wanted:
            raise ValueError(f"opponent: {policy!r} plays rules {rules}, the environment {wanted}")
        #: What a recurrent policy keeps for each row, and of which episode that is.
        self.states = self.caller.start(games.n)
        self.episodes = np.zeros(games.n, np.int64)

    def play(self, games: "Games", rows: NDArray[np.int64]) -> None:
        n, layout = len(rows), self.caller.layout
        observations = np.empty((n, *layout.shape), layout.dtype)
        masks = np.empty((n, games.rows.battle_actions), np.int8)
        seeds = np.empty(n, np.uint64)
        games.rows.requests.ask(rows, observations, masks, seeds, layout.name)
        state = None
        if self.states is not None:
            episodes = np.array([games.rows.views.episode(row) for row in rows.tolist()])
            self.states[rows] = np.where(
                (self.episodes[rows] == episodes).reshape(-1, *[1] * (self.states.ndim - 1)),
                self.states[rows],
                0,
            )
            self.episodes[rows] = episodes
            state = self.states[rows]
        actions = self.caller.act(observations, masks, seeds, state)
        if self.states is not None:
            self.states[rows] = state
        games.rows.requests.answer(rows, actions)


class _AgentPlayer:
    """An `Agent` for each row: it is shown the choice phase and then a text for each turn."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make
        #: Row -> its agent and the episode that the agent plays.
        self.rows: dict[int, tuple[Any, int]] = {}

    def play(self, games: "Games", rows: NDArray[np.int64]) -> None:
        for row in rows.tolist():
            self._play(games, row)

    def _play(self, games: "Games", row: int) -> None:
        rows = games.rows
        episode = rows.views.episode(row)
        agent, last = self.rows.get(row) or (self.make(), None)
        state = rows.views.state(row)
        player = state.turn & 1
        if last != episode:
            self.rows[row] = agent, episode
            agent.reset(rows.requests.draw(row) >> 1)
            _show_deal(agent, games, row, player)
        turn = state.turn
        actions = state.actions_of(agent.act(rows.views.observation(row, player)))
        for action in [*actions, 0]:
            rows.requests.answer(np.array([row]), np.array([action], np.int64))
            if (
                rows.views.episode(row) != episode
                or rows.views.turn(row) != turn
                or rows.views.over(row)
            ):
                return


# ------------------------------------------------------------------------- the choice phase


def show_choice(
    agent: Any, rules: str, offers: list[list[Card]], player: int, chosen: list[int]
) -> None:
    """Let an agent's belief see a choice phase, with the deck that it has been given.

    Parameters
    ----------
    agent : Agent
        One without a belief is shown nothing.
    rules : str
    offers : list of lists of Card
        One offer at 1.5, that of each step in a draft.
    player : int
        0 or 1.
    chosen : list of int
        Base ids of the deck.
    """
    belief = getattr(agent, "belief", None)
    if belief is None:
        return
    for observation in choice_observations(rules, offers, player):
        belief.see(observation)
    belief.chose(chosen)


def _show_deal(agent: Any, games: "Games", row: int, who: int) -> None:
    if not games.rows.views.dealt(row):
        return
    cards = games.cards(row)
    if games.rules.draft:
        offers = [[cards[i] for i in triplet] for triplet in games.rows.card_sets.offers(row)]
    else:
        offers = [sorted(cards, key=lambda card: (card.cost, card.base_id))]
    deck = [cards[i].base_id for i in games.rows.views.decks(row)[who]]
    show_choice(agent, games.rules.name, offers, who, deck)
