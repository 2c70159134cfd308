"""How the players are asked whom no compiled code plays, and who can be played by a search.

None of them is given a state: a policy is shown the numbers of its layout and the mask, all rows
that wait for it in one call; an agent is shown the `Observation` that the referee would send.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from locmsim.agents import BeamAgent, PolicyAgent, is_agent, make_agent, parse_spec
from locmsim.envs._rows import action_of
from locmsim.envs._searcher import Searcher
from locmsim.envs.episodes import Episodes
from locmsim.game.choice import choice_observations
from locmsim.policy import OnnxPolicy, PolicyCaller, load_policy
from locmsim.rules.cards import Card
from locmsim.search import Evaluation
from locmsim.search.belief import prior

_POLICY_FILES = (".npz", ".onnx", ".pt", ".ts")


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


class Asked(Protocol):
    """Plays for rows that wait for it."""

    def play(self, episodes: Episodes, rows: NDArray[np.int64]) -> None:
        """Answer for each of the rows, with an action at least."""


def asked_player(player: Any, episodes: Episodes) -> Asked:
    """Return how Python asks a player of `Options.opponent`; ``ValueError`` if it cannot."""
    if isinstance(player, str):
        if player.endswith(_POLICY_FILES) and ":" not in player:
            return _PolicyPlayer(load_policy(player), episodes)
        agent = make_agent(player)
        if isinstance(agent, PolicyAgent) and _is_bare_policy(agent):
            return _PolicyPlayer(agent.policy, episodes, agent.temperature)
        return AgentPlayer(partial(make_agent, player))
    if hasattr(player, "act_batch"):
        return _PolicyPlayer(player, episodes)
    if hasattr(player, "run") and hasattr(player, "get_inputs"):
        return _PolicyPlayer(OnnxPolicy(player), episodes)
    if hasattr(player, "act") and hasattr(player, "reset"):
        if episodes.n > 1:
            raise ValueError(
                f"opponent: {player!r} is one agent and cannot play {episodes.n} rows: expected its"
                " text for make_agent, such as 'file.py:NAME', of which each row makes one"
            )
        return AgentPlayer(partial(_itself, player))
    if callable(player):
        return _FunctionPlayer(player)
    raise ValueError(
        "opponent: expected a name, an Agent, a Policy, an object with act_batch, a Pool or a"
        f" function (observation, mask) -> action, got {player!r}"
    )


def _is_bare_policy(agent: PolicyAgent) -> bool:
    """Return whether an agent plays what its policy says; those with a search play otherwise."""
    return all(
        getattr(type(agent), name) is getattr(PolicyAgent, name) for name in ("act", "answer")
    )


def _itself(agent: Any) -> Any:
    return agent


class _FunctionPlayer:
    """A function (observation, mask) -> action, in the layout of the rows."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def play(self, episodes: Episodes, rows: NDArray[np.int64]) -> None:
        layout, requests = episodes.layout, episodes.rows.requests
        for i in range(len(rows)):
            observation = np.empty(layout.shape, layout.dtype)
            mask = np.empty(episodes.rows.battle_actions, np.int8)
            requests.ask(rows[i : i + 1], observation, mask, None, layout.name)
            try:
                action = action_of(self.function(observation, mask))
            except TypeError as error:
                raise TypeError(f"opponent: {error}") from None
            requests.answer(rows[i : i + 1], np.array([action], np.int64))


class _PolicyPlayer:
    """A policy, in its own layout if it has one: asked once for all rows."""

    def __init__(self, policy: Any, episodes: Episodes, temperature: float | None = None) -> None:
        try:
            self.caller = PolicyCaller(
                policy,
                repr(policy),
                rules=episodes.rules.name,
                layout=episodes.layout.name,
                temperature=temperature,
            )
        except ValueError as error:
            raise ValueError(f"opponent: {error}") from None
        rules, wanted = self.caller.rules, episodes.rules.name
        if rules != wanted:
            raise ValueError(f"opponent: {policy!r} plays rules {rules}, the environment {wanted}")
        #: What a recurrent policy keeps for each row, and of which episode that is.
        self.states = self.caller.start(episodes.n)
        self.episodes = np.zeros(episodes.n, np.int64)

    def play(self, episodes: Episodes, rows: NDArray[np.int64]) -> None:
        n, layout = len(rows), self.caller.layout
        observations = np.empty((n, *layout.shape), layout.dtype)
        masks = np.empty((n, episodes.rows.battle_actions), np.int8)
        seeds = np.empty(n, np.uint64)
        episodes.rows.requests.ask(rows, observations, masks, seeds, layout.name)
        state = None
        if self.states is not None:
            serials = np.array([episodes.rows.views.episode(row) for row in rows.tolist()])
            self.states[rows] = np.where(
                (self.episodes[rows] == serials).reshape(-1, *[1] * (self.states.ndim - 1)),
                self.states[rows],
                0,
            )
            self.episodes[rows] = serials
            state = self.states[rows]
        actions = self.caller.act(observations, masks, seeds, state)
        if self.states is not None:
            self.states[rows] = state
        episodes.rows.requests.answer(rows, actions)


class AgentPlayer:
    """An `Agent` for each row: it is shown the choice phase and then a text for each turn."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make
        #: Row -> its agent and the episode that the agent plays.
        self.rows: dict[int, tuple[Any, int]] = {}

    def play(self, episodes: Episodes, rows: NDArray[np.int64]) -> None:
        for row in rows.tolist():
            self._play(episodes, row)

    def _play(self, episodes: Episodes, row: int) -> None:
        rows = episodes.rows
        episode = rows.views.episode(row)
        agent, last = self.rows.get(row) or (self.make(), None)
        state = rows.views.state(row)
        player = state.turn & 1
        if last != episode:
            self.rows[row] = agent, episode
            agent.reset(rows.requests.draw(row) >> 1)
            _show_deal(agent, episodes, row, player)
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


def _show_deal(agent: Any, episodes: Episodes, row: int, who: int) -> None:
    if not episodes.rows.views.dealt(row):
        return
    cards = episodes.cards(row)
    deck = [cards[i].base_id for i in episodes.rows.views.decks(row)[who]]
    show_choice(agent, episodes.rules.name, episodes.offers(row), who, deck)
