"""The interface between a game and the referee, the arena, the pages and the commands.

A game provides a `Match` and a `Game`, which creates matches and players. For Legends of Code and
Magic they are `locmsim.game.match.Match` and `locmsim.arena.locm.LocmGame`. A package registers its
`Game` under the entry point group ``locmsim.games`` (docs/games.md).
"""

import math
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Protocol, TypeVar

from locmsim.options.texts import did_you_mean, make, read_options

__all__ = [
    "LIVE_SUFFIX",
    "BaseGame",
    "Contestant",
    "Fault",
    "FaultKind",
    "Game",
    "LogPart",
    "LoggedMatch",
    "LoggedTurn",
    "Match",
    "Part",
    "TurnResult",
    "View",
    "play_match",
    "require",
    "start_turn",
    "turn_words",
]


#: Suffix of the files and folders of running matches.
LIVE_SUFFIX = ".live"


class FaultKind(StrEnum):
    """The kinds of faults by which a player loses."""

    START_FAILED = "start failed"
    CRASHED = "crashed"
    CLOSED_INPUT = "closed input"
    CLOSED_OUTPUT = "closed output"
    TIMEOUT = "timeout"
    MATCH_LIMIT = "match limit"
    MEMORY_LIMIT = "memory limit"
    LINE_TOO_LONG = "line too long"
    EARLY = "answered early"
    MALFORMED = "malformed answer"


@dataclass(frozen=True, slots=True)
class Fault:
    """The fault by which a player lost.

    Parameters
    ----------
    player : int
        0 or 1.
    kind : FaultKind
        The kind of fault.
    message : str
        A description. A match knows only malformed and missing answers and uses the text of the
        official referee; our referee explains more.
    """

    player: int
    kind: FaultKind
    message: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"

    def row(self) -> dict[str, int | str]:
        """Return the fault as JSON has it: in logs, in results for tools and on pages."""
        return {"player": self.player, "kind": str(self.kind), "message": self.message}


@dataclass(frozen=True, slots=True)
class TurnResult:
    """The effect of an answer.

    Parameters
    ----------
    applied : list of str
        The executed actions in order, as canonical text (``"ATTACK 36 -1"``).
    ignored : list of str
        The ignored actions, likewise.
    error : Fault or None
        The fault, if the answer ended the match.
    """

    applied: list[str]
    ignored: list[str]
    error: Fault | None = None


def turn_words(turn: int | None, turn_name: str = "turn") -> str:
    """Return where in a match something was, in words: "turn 7", or "the choice phase".

    Parameters
    ----------
    turn : int or None
        As `Match.turn`.
    turn_name : str
        As `Game.turn_name`.
    """
    return "the choice phase" if turn is None else f"{turn_name} {turn}"


class Match(Protocol):
    """A game between players 0 and 1."""

    @property
    def to_ask(self) -> Sequence[int]:
        """The players who must answer, to be asked in this order; empty at the end."""

    @property
    def turn(self) -> int | None:
        """The turn, counted over both players from 0; None in a choice phase (`Part.CHOICE`)."""

    def input_text(self, player: int) -> str:
        """Return the input of a program in that seat, including the final line end.

        Parameters
        ----------
        player : int
            The player who is asked.
        """

    def ask(self, agent: Any, player: int) -> Callable[[], str]:
        """Return a function that asks an agent of this process and returns its answer.

        The observation is created here, so that only the agent's own time counts in the function.

        Parameters
        ----------
        agent : object
            An agent of the game.
        player : int
            The player as whom it answers.
        """

    def time_limit_ms(self, player: int) -> float:
        """Return the player's time limit for the answer in ms; 0 for no limit.

        Parameters
        ----------
        player : int
            The player who is asked.
        """

    def submit(self, player: int, line: str | None) -> TurnResult:
        """Submit an answer: a line without its end, or None for a missing one.

        If an answer ends the match, the fault is in the result of the last answer of its step.

        Parameters
        ----------
        player : int
            The player who answers.
        line : str, optional
            The answer.
        """

    @property
    def winner(self) -> int | None:
        """The player who won; None before the end and for a draw."""

    @property
    def scores(self) -> Sequence[int] | None:
        """The scores of both players; None before the end. The higher one wins."""

    @property
    def error(self) -> Fault | None:
        """The fault that ended the match, if any."""

    def explain(self) -> str:
        """Explain to people what was wrong with the answer that ended the match."""

    @property
    def params(self) -> Mapping[str, int | str]:
        """The effective parameters, which determine the match."""

    def root(self) -> "Match":
        """Return the same match before its first answer."""

    def state_key(self) -> object:
        """Return a key; matches of the same `root` with equal keys have the same continuations."""

    @property
    def log(self) -> Mapping[str, Any]:
        """The match so far as plain dicts, lists, numbers and strings."""


class Contestant(Protocol):
    """An agent in the arena: the interface in addition to the one that `Match.ask` uses.

    If an agent has a non-zero attribute ``time_ms``, its answers depend on time, and its games do
    not share a core.
    """

    def reset(self, seed: int = 0) -> None:
        """Start a new game; all random choices are derived from `seed`.

        Parameters
        ----------
        seed : int
            Where random numbers come from.
        """


class Part(StrEnum):
    """Features that only some games have; the value names them in messages.

    The board on the pages and the analysis are specific to Legends of Code and Magic: games of
    other packages have at most a choice phase. Pages show their matches by `Game.view`.
    """

    #: A phase before the first turn, in which `Match.turn` is None.
    CHOICE = "choice phase"
    #: Pages, logs and texts that show a match, and `locmsim replay`.
    REPLAY = "replay"
    #: Positions that `locmsim analyse` and the page *Analysis* take.
    ANALYSIS = "analysis"


@dataclass(frozen=True, slots=True)
class View:
    """The view of a match for people, at some point.

    Attributes
    ----------
    text : str
        The position, in lines of text.
    words : str
        The last event in words; empty at the beginning.
    scores : tuple of int, optional
        Intermediate scores of the players, such as their health.
    drawing : str
        The position as an SVG document, or an empty string. Pages show it as an image, so that it
        cannot run scripts or load anything.
    """

    text: str
    words: str = ""
    scores: tuple[int, int] | None = None
    drawing: str = ""


@dataclass(frozen=True, slots=True)
class LoggedMatch:
    """A match in a `LogPart`, as lists show it.

    Attributes
    ----------
    number : int
        Its number, by which `LogPart.steps` finds it.
    names : tuple of str
        The names of players 0 and 1.
    turns : int
        The number of complete turns, counted over both players.
    winner : int, optional
        The player who won; None before the end and for a draw.
    over : bool
        Whether it has ended.
    """

    number: int
    names: tuple[str, str]
    turns: int = 0
    winner: int | None = None
    over: bool = False


@dataclass(frozen=True, slots=True)
class LoggedTurn:
    """A step of a match in a log: a turn and the position after it.

    Attributes
    ----------
    view : View
        The position. Its `scores` are shown as those of the match at the end.
    turn : int, optional
        The turn, counted from 0; None for the start of the match.
    player : int, optional
        The player whose turn it was; None for the start.
    answer : str, optional
        What the player did; None for the start.
    """

    view: View
    turn: int | None = None
    player: int | None = None
    answer: str | None = None


class LogPart(Protocol):
    """A part of the log that a server of a game, or another tool of it, writes.

    Such a log has a JSON object in each line, an event, and consists of parts, such as tournaments.
    The matches of a part may be played at the same time; its events suffice to show them, so that
    pages read a part without the others, and follow the last one while the log grows.
    `Game.log_part` creates a part from its first event.
    """

    @property
    def game(self) -> "Game":
        """The game, for its title and the name of a turn."""

    @property
    def over(self) -> bool:
        """Whether the part is complete; the next event then begins another one."""

    def take(self, event: Mapping[str, Any]) -> bool:
        """Take the next event; return False if it is not of this part but begins another one.

        Parameters
        ----------
        event : mapping
            The JSON object of a line.
        """

    def matches(self) -> Sequence[LoggedMatch]:
        """Return the matches as far as events were taken; always the same ones in this order."""

    def steps(self, lines: Iterable[bytes], number: int) -> Iterator[LoggedTurn]:
        """Yield a match by its number: the start, then each complete turn.

        The lines are all those of the part. ``ValueError`` names a line that is damaged.

        Parameters
        ----------
        lines : iterable of bytes
            The lines of the part.
        number : int
            The `LoggedMatch.number` of the match.
        """


class Game(Protocol):
    """A game that tournaments can play: it creates matches and players.

    A game is a frozen dataclass. Its fields are its options, plain values that are written in
    descriptions such as ``"nim:heaps=5"`` and in files of results. Two games are equal if
    they create the same matches. Games are sent to worker processes, so they must be picklable.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def title(self) -> str:
        """The name in tables, such as "rules 1.5"."""

    @property
    def scored(self) -> bool:
        """Whether scores are shown because they say more than who won."""

    @property
    def turn_name(self) -> str:
        """The name of one answer of a player, "turn" or "move"; its plural ends in "s"."""

    @property
    def parts(self) -> Collection[Part]:
        """The optional features that the game has."""

    def new_match(self, seed: int, card_seed: int | None = None) -> Match:
        """Return the match with these seeds before its first answer.

        With a `card_seed`, it determines the cards and `seed` everything else. ``ValueError`` if
        the game has no such seed.

        Parameters
        ----------
        seed : int
            The seed of the match.
        card_seed : int, optional
            A seed for the cards alone.
        """

    def view(self, match: Any) -> View:
        """Return what people are shown of a match of this game, after any answer.

        Parameters
        ----------
        match : Match
            A match that this game created.
        """

    @classmethod
    def log_part(cls, event: Mapping[str, Any]) -> LogPart | None:
        """Return the part of a log that begins with this event; None if no part of this game does.

        Pages ask every game about the first line of a file that is not a log of matches.

        Parameters
        ----------
        event : mapping
            The JSON object of a line.
        """

    def is_agent(self, spec: str) -> bool:
        """Return whether the text describes an agent of this process; else it is a command.

        Parameters
        ----------
        spec : str
            A description or a command, as users write it.
        """

    def make_agent(self, spec: str) -> Contestant:
        """Create the agent that a text describes; ``ValueError`` names what is wrong.

        Parameters
        ----------
        spec : str
            A text for which `is_agent` holds.
        """

    def command_of(self, spec: str, seed: int) -> Sequence[str] | None:
        """Return the command of a program that plays as this agent; None if there is none.

        The agent is one that `make_agent` creates, reset by the seed.

        Parameters
        ----------
        spec : str
            A text for which `is_agent` holds.
        seed : int
            The seed of the program's random numbers.
        """

    def describe(self, agent: Any) -> tuple[str | None, Contestant]:
        """Return the text from which `make_agent` creates agents of a class or like an object.

        The text is None if there is none. An agent is returned too. ``ValueError`` or
        ``TypeError`` if the argument is not an agent or its class.

        Parameters
        ----------
        agent : object
            An agent, or a class or function that makes one.
        """

    def suggest(self, name: str) -> str:
        """Return a suggestion for an unknown agent, ``"; did you mean 'greedy'?"``, or "".

        Parameters
        ----------
        name : str
            What a user wrote.
        """


class BaseGame:
    """A base class of games with named agents and without optional features.

    A subclass sets `agents` and adds `title` and `new_match`.
    """

    #: Name -> class or function; its arguments are the options of a description.
    agents: ClassVar[Mapping[str, Callable[..., Contestant]]]
    #: Methods that an agent must have.
    methods: ClassVar[Collection[str]] = ("reset",)
    scored: ClassVar[bool] = False
    turn_name: ClassVar[str] = "turn"
    parts: ClassVar[Collection[Part]] = ()

    def view(self, match: Any) -> View:
        """Return the input of the player to be asked next, and the scores at the end.

        Parameters
        ----------
        match : Match
            A match that this game created.
        """
        text = "".join(match.input_text(player) for player in match.to_ask[:1])
        scores = match.scores
        return View(text, scores=None if scores is None else (scores[0], scores[1]))

    @classmethod
    def log_part(cls, event: Mapping[str, Any]) -> LogPart | None:
        """Return None: the game has no logs but those of the referee.

        Parameters
        ----------
        event : mapping
            The JSON object of a line.
        """
        return None

    def is_agent(self, spec: str) -> bool:
        """Return whether the text begins with the name of an agent.

        Parameters
        ----------
        spec : str
            A description or a command, as users write it.
        """
        return spec.partition(":")[0] in self.agents

    def make_agent(self, spec: str) -> Contestant:
        """Create an agent such as ``"search:nodes=500"``; ``ValueError`` if that fails.

        Parameters
        ----------
        spec : str
            A name in `agents`, with options after a colon.
        """
        name, _, texts = spec.partition(":")
        if name not in self.agents:
            raise ValueError(f"unknown agent {name!r}{self.suggest(name)}")
        where = f"agent {name}"
        contestant: Contestant = make(where, self.agents[name], read_options(where, texts))
        return contestant

    def command_of(self, spec: str, seed: int) -> Sequence[str] | None:
        """Return None: agents have no program.

        Parameters
        ----------
        spec : str
            A description of an agent.
        seed : int
            The seed that a program would be given.
        """
        return None

    def describe(self, agent: Any) -> tuple[str | None, Contestant]:
        """Return the name in `agents` of a class or an object's class; ``TypeError`` if none.

        Parameters
        ----------
        agent : object
            An agent, or a class or function that makes one.
        """
        for name, factory in self.agents.items():
            if factory is agent:
                return name, self.make_agent(name)
        for method in self.methods:
            if not callable(getattr(agent, method, None)):
                missing = f"{agent!r}, which has no method {method}"
                raise TypeError(f"expected a description or an agent, got {missing}")
        if isinstance(agent, type):
            agent = make(f"agent {agent.__qualname__}", agent, {})
        return None, agent

    def suggest(self, name: str) -> str:
        """Suggest the agent that was probably meant, or list all agents.

        Parameters
        ----------
        name : str
            What a user wrote.
        """
        return did_you_mean(name, self.agents) or f"; the agents are {', '.join(self.agents)}"


def require(game: Game, part: Part) -> None:
    """Raise ``ValueError`` in one line if a game lacks a part.

    Parameters
    ----------
    game : Game
        The game that is to have the part.
    part : Part
        The part that is needed.
    """
    if part not in game.parts:
        raise ValueError(f"{game.title} has no {part}")


_M = TypeVar("_M", bound=Match)


def play_match(
    match: _M,
    agents: Sequence[Any],
    on_answer: Callable[[_M, int, str], object] = lambda match, player, line: None,
) -> _M:
    """Play a match to its end, from any point.

    Parameters
    ----------
    match : Match
        A match of any game, which is changed.
    agents : sequence of two agents
        The agents of players 0 and 1, after their `reset`. If the match has already begun, they
        must have seen all earlier observations.
    on_answer : function, optional
        Called with the match, the player and the answer, before the answer is submitted.

    Returns
    -------
    Match
        `match` itself, finished.

    Raises
    ------
    ValueError
        There are not two agents.
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
    """Tell an agent with the method ``start_turn(deadline)`` when its answer is due.

    Call this before asking an agent. `limit_ms` counts from now; None means no limit and an
    infinite deadline. The deadline is a time of `time.perf_counter`.

    Parameters
    ----------
    agent : object
        Any agent.
    limit_ms : float, optional
        Time for the answer in ms.
    """
    announce = getattr(agent, "start_turn", None)
    if announce is not None:
        announce(math.inf if limit_ms is None else time.perf_counter() + limit_ms / 1000)
