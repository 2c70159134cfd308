"""What is known of a game that was played."""

from typing import Any, NamedTuple

from locmsim.arena.schedule import Fixture
from locmsim.contract import Fault
from locmsim.referee.process_match import Result

__all__ = ["Answer", "Outcome", "Record", "Times", "record_of"]


class Answer(NamedTuple):
    """One answer of a game: by the player in that seat, the line (None: none came), the time."""

    seat: int
    line: str | None
    elapsed_ns: int


class Times(NamedTuple):
    """How long a player took for the turns after the choice of cards."""

    turns: int
    total_ns: int
    worst_ns: int


class Outcome(NamedTuple):
    """What the tables need of a game."""

    number: int
    #: Indices of the players by seat.
    players: tuple[int, int]
    #: The seat that won; None for a draw.
    winner: int | None
    #: The match's scores by seat.
    scores: tuple[int, int]
    #: The turns of both players.
    turns: int
    fault: Fault | None
    #: By seat.
    times: tuple[Times, Times]
    #: By seat, the turns that took longer than the rules allow, whatever the limits were.
    late: tuple[int, int] = (0, 0)


class Record(NamedTuple):
    """All of a game: enough to replay it exactly."""

    fixture: Fixture
    outcome: Outcome
    answers: tuple[Answer, ...]
    #: By seat, the end of what the bot wrote to its standard error; of an agent its traceback.
    stderr: tuple[str, str]
    #: Wall-clock time of the match.
    elapsed_ns: int


def record_of(fixture: Fixture, result: Result[Any]) -> Record:
    """The record of a game that the referee has played."""
    turns: tuple[list[int], list[int]] = ([], [])
    late = [0, 0]
    for call in result.calls:
        if call.turn is not None:
            turns[call.player].append(call.elapsed_ns)
            late[call.player] += call.late
    outcome = Outcome(
        number=fixture.number,
        players=fixture.players,
        winner=result.winner,
        scores=result.scores,
        turns=len(turns[0]) + len(turns[1]),
        fault=result.fault,
        times=(_times(turns[0]), _times(turns[1])),
        late=(late[0], late[1]),
    )
    answers = tuple([Answer(call.player, call.answer, call.elapsed_ns) for call in result.calls])
    return Record(fixture, outcome, answers, result.stderr, result.elapsed_ns)


def _times(elapsed_ns: list[int]) -> Times:
    return Times(len(elapsed_ns), sum(elapsed_ns), max(elapsed_ns, default=0))
