"""What the referee and the arena need of a game, and nothing else of it.

A game offers a `Match` and, for tournaments, a `Game` that makes matches and players. Legends of
Code and Magic has both in `locmsim.game.match.Match` and `locmsim.arena.locm.LocmGame`.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, Self

__all__ = ["Contestant", "Fault", "FaultKind", "Game", "Match", "TurnResult", "start_turn"]


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

    A match knows of malformed answers and missing ones only; its `message` is that of the official
    referee. The referee knows more, and its `message` says it for people.
    """

    player: int
    kind: FaultKind
    message: str


@dataclass(frozen=True, slots=True)
class TurnResult:
    """What became of an answer: the actions carried out, those dropped, the fault if it ended all.

    Actions are in canonical text (``"ATTACK 36 -1"``), in the order in which they were handled.
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
        """The turn, counted over both players from 0; None while cards are chosen."""

    def input_text(self, player: int) -> str:
        """What a program in that seat is sent, with its last line's end."""

    def consult(self, agent: Any, player: int) -> Callable[[], str]:
        """A function that asks an agent of this process, and returns its answer.

        What the agent is shown is made here and not when the function is called, whose time is the
        agent's.
        """

    def time_limit_ms(self, player: int) -> float:
        """The time the player has for the answer, in ms; 0 for no limit."""

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
        """What was wrong with the answer that ended the match, for people."""

    @property
    def params(self) -> Mapping[str, int | str]:
        """The parameters in effect; given to a new match, they repeat it."""

    @property
    def log(self) -> Mapping[str, Any]:
        """All of the match so far as plain dicts, lists, numbers and strings."""


class Contestant(Protocol):
    """What the arena needs of a player in this process beside what `Match.consult` does with it.

    If it has an attribute ``time_ms`` that is not 0, what it answers depends on the time it gets,
    and its games get a core to themselves.
    """

    def reset(self, seed: int = 0) -> None:
        """A new game begins; everything random depends on `seed`."""


class Game(Protocol):
    """What a tournament plays: it makes matches and players.

    Two are equal if they make the same matches. It can be pickled, because worker processes get it.
    """

    @property
    def title(self) -> str:
        """What tables say was played, such as "rules 1.5"."""

    def new_match(self, seed: int, card_seed: int | None) -> Match:
        """The match of these seeds before its first answer.

        With a `card_seed` its cards follow from that and everything else from `seed`.
        ``ValueError`` if the game has no such seed.
        """

    def is_agent(self, spec: str) -> bool:
        """Whether the text describes a player of this process; otherwise it is a command."""

    def make_agent(self, spec: str) -> Contestant:
        """The player of this process that a text describes; ``ValueError`` names what is wrong."""

    def describe(self, agent: Any) -> tuple[str | None, Contestant]:
        """The text from which `make_agent` makes players of a class, or just like a ready one.

        None if there is no such text; and a player. ``ValueError`` or ``TypeError`` for what is
        none.
        """

    def suggest(self, name: str) -> str:
        """The end of a message about an unknown player: ``"; did you mean 'greedy'?"``, or ""."""

    def to_json(self) -> dict[str, Any]:
        """All of it as plain dicts, lists, numbers and strings; ``"game"`` is the game's name."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The inverse of `to_json`; ``ValueError`` if it is something else."""


def start_turn(agent: object, limit_ms: float | None) -> None:
    """Tell an agent that has ``start_turn(deadline)`` until when it has to answer.

    Whoever asks an agent calls this first. `limit_ms` counts from now, None stands for no limit:
    the deadline is then infinite. It is a moment of `time.perf_counter`.
    """
    tell = getattr(agent, "start_turn", None)
    if tell is not None:
        tell(math.inf if limit_ms is None else time.perf_counter() + limit_ms / 1000)
