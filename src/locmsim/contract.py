"""What the referee, the arena and the commands need of a game, and nothing else of it.

A game offers a `Match` and a `Game`, which makes matches and players. Legends of Code and Magic has
both in `locmsim.game.match.Match` and `locmsim.arena.locm.LocmGame`, Vestrock in
`locmsim.vestrock.match.Match` and `locmsim.vestrock.game.VestrockGame`. A package registers its
`Game` under the entry point group ``locmsim.games`` (docs/games.md).
"""

import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Protocol, TypeVar

from locmsim._specs import did_you_mean, make, read_options

__all__ = [
    "LIVE_SUFFIX",
    "BaseGame",
    "Contestant",
    "Fault",
    "FaultKind",
    "Game",
    "Match",
    "Part",
    "TurnResult",
    "View",
    "play_match",
    "require",
    "start_turn",
]


#: How names end of the files and folders in which matches stand while they are played.
LIVE_SUFFIX = ".live"


class FaultKind(StrEnum):
    """Why a player lost other than on the board."""

    START_FAILED = "start failed"
    CRASHED = "crashed"
    CLOSED_INPUT = "closed input"
    CLOSED_OUTPUT = "closed output"
    TIMEOUT = "timeout"
    MATCH_LIMIT = "match limit"
    LINE_TOO_LONG = "line too long"
    EARLY = "answered early"
    MALFORMED = "malformed answer"


@dataclass(frozen=True, slots=True)
class Fault:
    """How a player lost other than on the board.

    Parameters
    ----------
    player : int
        0 or 1.
    kind : FaultKind
        What happened.
    message : str
        A match only knows of malformed and missing answers; its message is that of the official
        referee. The message of the referee explains more, for people.
    """

    player: int
    kind: FaultKind
    message: str


@dataclass(frozen=True, slots=True)
class TurnResult:
    """What became of an answer.

    Parameters
    ----------
    applied : list of str
        The actions carried out, in canonical text (``"ATTACK 36 -1"``), in order.
    ignored : list of str
        The actions ignored, likewise.
    error : Fault or None
        The fault, if the answer ended the match by one.
    """

    applied: list[str]
    ignored: list[str]
    error: Fault | None = None


class Match(Protocol):
    """One game between players 0 and 1, in progress."""

    @property
    def to_ask(self) -> Sequence[int]:
        """The players whose answers are missing, to be asked in this order; empty at the end."""

    @property
    def turn(self) -> int | None:
        """The turn, counted over both players from 0; None in a choice phase (`Part.CHOICE`)."""

    def input_text(self, player: int) -> str:
        """Return the input of a program in that seat, including the final line end."""

    def ask(self, agent: Any, player: int) -> Callable[[], str]:
        """Return a function that asks an agent of this process and returns its answer.

        What the agent is shown is made here and not when the function is called, whose time is the
        agent's.
        """

    def time_limit_ms(self, player: int) -> float:
        """Return the player's time limit for the answer in ms; 0 for no limit."""

    def submit(self, player: int, line: str | None) -> TurnResult:
        """Take an answer: a line without its end, or None if none came.

        The fault of an answer that ends the match is in the result of the last answer of its step.
        """

    @property
    def winner(self) -> int | None:
        """The player who won; None before the end and for a draw."""

    @property
    def scores(self) -> Sequence[int] | None:
        """What both players got; None before the end. Only their order matters for who won."""

    @property
    def error(self) -> Fault | None:
        """What ended the match other than on the board."""

    def explain(self) -> str:
        """Explain to people what was wrong with the answer that ended the match."""

    @property
    def params(self) -> Mapping[str, int | str]:
        """The parameters in effect, those that make the match what it is."""

    def root(self) -> "Match":
        """Return the same match before its first answer."""

    def state_key(self) -> object:
        """Equal for two moments of matches in which the same can happen from then on."""

    @property
    def log(self) -> Mapping[str, Any]:
        """All of the match so far as plain dicts, lists, numbers and strings."""


class Contestant(Protocol):
    """What the arena needs of a player in this process beside what `Match.ask` does with it.

    If it has an attribute ``time_ms`` that is not 0, what it answers depends on the time it gets,
    and its games get a core to themselves.
    """

    def reset(self, seed: int = 0) -> None:
        """Start a new game; all random choices are derived from `seed`."""


class Part(StrEnum):
    """What only some games have; the text names it in messages.

    The board of the pages and the analysis are made for Legends of Code and Magic: games of other
    packages have at most a choice phase. What pages show of their matches is `Game.view`.
    """

    #: Questions before the first turn, in which `Match.turn` is None.
    CHOICE = "choice phase"
    #: Pages, logs and texts that show a match, and `locmsim replay`.
    REPLAY = "replay"
    #: Positions that `locmsim analyse` and the page *Analysis* take.
    ANALYSIS = "analysis"


@dataclass(frozen=True, slots=True)
class View:
    """What people are shown of a match where it stands.

    Attributes
    ----------
    text : str
        The position, in lines of text.
    words : str
        What happened last, in words; empty at the beginning.
    scores : tuple of int, optional
        What the players have so far, such as their health.
    drawing : str
        The position as an SVG document; empty for none. Pages show it as an image, in which no
        script runs and nothing is loaded.
    """

    text: str
    words: str = ""
    scores: tuple[int, int] | None = None
    drawing: str = ""


class Game(Protocol):
    """What a tournament plays: it makes matches and players.

    A game is a frozen dataclass. Its fields are its options, which are plain values: descriptions
    such as ``"vestrock:init_hp=20"`` and files of results are made of them. Two games are equal if
    they make the same matches. It is sent to worker processes, so it must pickle.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def title(self) -> str:
        """What tables say was played, such as "rules 1.5"."""

    @property
    def scored(self) -> bool:
        """Whether scores say more than who has won, and are shown."""

    @property
    def turn_name(self) -> str:
        """What one answer of a player is called: "turn", "move"; its plural ends in "s"."""

    @property
    def parts(self) -> Collection[Part]:
        """What it has that other games lack."""

    def new_match(self, seed: int, card_seed: int | None = None) -> Match:
        """Return the match with these seeds before its first answer.

        With a `card_seed` its cards follow from that and everything else from `seed`.
        ``ValueError`` if the game has no such seed.
        """

    def view(self, match: Any) -> View:
        """Return what people are shown of a match of this game, after any answer."""

    def is_agent(self, spec: str) -> bool:
        """Return whether the text describes an agent of this process; else it is a command."""

    def make_agent(self, spec: str) -> Contestant:
        """Create the agent that a text describes; ``ValueError`` names what is wrong."""

    def describe(self, agent: Any) -> tuple[str | None, Contestant]:
        """Return the text from which `make_agent` creates agents of a class or like an object.

        None if there is no such text; and a player. ``ValueError`` or ``TypeError`` for what is
        none.
        """

    def suggest(self, name: str) -> str:
        """Return a suggestion for an unknown agent, ``"; did you mean 'greedy'?"``, or ""."""


class BaseGame:
    """What many games have in common: agents with names, and no part that others lack.

    A subclass sets `agents` and adds `title` and `new_match`.
    """

    #: Name -> class or function; its arguments are the options of a description.
    agents: ClassVar[Mapping[str, Callable[..., Contestant]]]
    #: What an agent has to have.
    methods: ClassVar[Collection[str]] = ("reset",)
    scored: ClassVar[bool] = False
    turn_name: ClassVar[str] = "turn"
    parts: ClassVar[Collection[Part]] = ()

    def view(self, match: Any) -> View:
        """Return the input of the player to be asked next, and the scores at the end."""
        text = "".join(match.input_text(player) for player in match.to_ask[:1])
        scores = match.scores
        return View(text, scores=None if scores is None else (scores[0], scores[1]))

    def is_agent(self, spec: str) -> bool:
        """Return whether the text begins with the name of an agent."""
        return spec.partition(":")[0] in self.agents

    def make_agent(self, spec: str) -> Contestant:
        """Create an agent such as ``"search:nodes=500"``; ``ValueError`` if that fails."""
        name, _, texts = spec.partition(":")
        if name not in self.agents:
            raise ValueError(f"unknown agent {name!r}{self.suggest(name)}")
        where = f"agent {name}"
        contestant: Contestant = make(where, self.agents[name], read_options(where, texts))
        return contestant

    def describe(self, agent: Any) -> tuple[str | None, Contestant]:
        """Return the name in `agents` of a class or an object's class; ``TypeError`` if none."""
        for name, factory in self.agents.items():
            if factory is agent:
                return name, factory()
        for method in self.methods:
            if not callable(getattr(agent, method, None)):
                missing = f"{agent!r}, which has no method {method}"
                raise TypeError(f"expected a description or an agent, got {missing}")
        return None, agent() if isinstance(agent, type) else agent

    def suggest(self, name: str) -> str:
        """Suggest the agent that was probably meant, or list all agents."""
        return did_you_mean(name, self.agents) or f"; the agents are {', '.join(self.agents)}"


def require(game: Game, part: Part) -> None:
    """Raise ``ValueError`` in one line if a game lacks a part."""
    if part not in game.parts:
        raise ValueError(f"{game.title} has no {part}")


_M = TypeVar("_M", bound=Match)


def play_match(
    match: _M,
    agents: Sequence[Any],
    on_answer: Callable[[_M, int, str], object] = lambda match, player, line: None,
) -> _M:
    """Play a match to its end, from wherever it stands.

    Parameters
    ----------
    match : Match
        Of any game. It is played on.
    agents : sequence of two agents
        Who answers for player 0 and for player 1, as their `reset` left them. Agents of a match
        that has begun have to have been shown what was asked so far.
    on_answer : function, optional
        Called with the match, the player and the line that they answered, before the match takes
        it.

    Returns
    -------
    Match
        `match` itself, finished.

    Raises
    ------
    ValueError
        Unless there are two agents.
    """
    if len(agents) != 2:
        raise ValueError(f"agents: expected two, got {len(agents)}")
    while match.to_ask:
        for player in match.to_ask:
            line = match.ask(agents[player], player)()
            on_answer(match, player, line)
            match.submit(player, line)
    return match


def start_turn(agent: object, limit_ms: float | None) -> None:
    """Tell an agent that has ``start_turn(deadline)`` until when it has to answer.

    Whoever asks an agent calls this first. `limit_ms` counts from now, None stands for no limit:
    the deadline is then infinite. It is a moment of `time.perf_counter`.
    """
    announce = getattr(agent, "start_turn", None)
    if announce is not None:
        announce(math.inf if limit_ms is None else time.perf_counter() + limit_ms / 1000)
