"""Records of played games."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from locmsim.arena.fixtures import Fixture
from locmsim.contract import Fault
from locmsim.referee.illegal import illegal_actions
from locmsim.referee.process_match import Result


class Answer(NamedTuple):
    """One answer of a game.

    Parameters
    ----------
    seat : int
        The seat of the player who answered.
    line : str or None
        The answer; None if there was no answer.
    elapsed_ns : int
        The time it took, in nanoseconds.
    stderr : str
        What the bot wrote to its standard error from this question to the next one, see
        `locmsim.referee.Call`.
    cpu_ns : int
        The processor time it took, in nanoseconds; 0 where the system does not tell.
    """

    seat: int
    line: str | None
    elapsed_ns: int
    stderr: str = ""
    cpu_ns: int = 0


class Times(NamedTuple):
    """The time that a player took for the battle turns.

    Parameters
    ----------
    turns : int
        The number of turns.
    total_ns, worst_ns : int
        The time of all of them and of the longest one, in nanoseconds.
    cpu_ns, worst_cpu_ns : int
        As these, the processor time; 0 where the system does not tell.
    """

    turns: int
    total_ns: int
    worst_ns: int
    cpu_ns: int = 0
    worst_cpu_ns: int = 0

    def plus(self, other: "Times") -> "Times":
        """Return the times of the turns of both.

        Parameters
        ----------
        other : Times
            Times of other turns.
        """
        both = [*zip(self, other, strict=True)]
        return Times(*(max(two) if i in (2, 4) else sum(two) for i, two in enumerate(both)))

    @property
    def in_ms(self) -> list[float | None]:
        """Mean and longest time of a turn, then of processor time, in ms; None if not known."""
        counts = (self.turns, 1, self.turns, 1)
        return [ns / n / 1e6 if ns else None for ns, n in zip(self[1:], counts, strict=True)]


class Outcome(NamedTuple):
    """The outcome of a game, as needed for tables.

    Parameters
    ----------
    number : int
        The number of the game.
    players : tuple of int
        Indices of the players by seat.
    winner : int or None
        The seat that won; None for a draw.
    scores : tuple of int
        The match's scores by seat.
    turns : int
        The number of turns of both players.
    fault : Fault or None
        The fault that ended the game, if one did.
    times : tuple of Times
        The times by seat.
    late : tuple of int
        By seat, the number of turns that took longer than the rules allow, whatever limits were
        applied.
    illegal : tuple of mapping
        By seat, the number of illegal actions by reason.
    """

    number: int
    players: tuple[int, int]
    winner: int | None
    scores: tuple[int, int]
    turns: int
    fault: Fault | None
    times: tuple[Times, Times]
    late: tuple[int, int] = (0, 0)
    illegal: tuple[Mapping[str, int], Mapping[str, int]] = ({}, {})


class Record(NamedTuple):
    """Everything about a game: enough to replay it exactly.

    Parameters
    ----------
    fixture : Fixture
        The game before it was played.
    outcome : Outcome
        How it ended.
    answers : tuple of Answer
        The answers in the order in which they were given.
    stderr : tuple of str
        By seat, the end of what the bot wrote to its standard error, or the traceback of an agent.
    elapsed_ns : int
        Wall-clock time of the match, in nanoseconds.
    """

    fixture: Fixture
    outcome: Outcome
    answers: tuple[Answer, ...]
    stderr: tuple[str, str]
    elapsed_ns: int


def record_of(fixture: Fixture, result: Result[Any]) -> Record:
    """Return the record of a game that the referee played."""
    times = [Times(0, 0, 0)] * 2
    late = [0, 0]
    for call in result.calls:
        if call.turn is not None:
            turn = Times(1, call.elapsed_ns, call.elapsed_ns, call.cpu_ns, call.cpu_ns)
            times[call.player] = times[call.player].plus(turn)
            late[call.player] += call.late
    illegal: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for one in illegal_actions(result):
        illegal[one.player][one.reason] += 1
    outcome = Outcome(
        number=fixture.number,
        players=fixture.players,
        winner=result.winner,
        scores=result.scores,
        turns=result.turns,
        fault=result.fault,
        times=(times[0], times[1]),
        late=(late[0], late[1]),
        illegal=illegal,
    )
    answers = tuple(
        [
            Answer(one.player, one.answer, one.elapsed_ns, one.stderr, one.cpu_ns)
            for one in result.calls
        ]
    )
    return Record(fixture, outcome, answers, result.stderr, result.elapsed_ns)
