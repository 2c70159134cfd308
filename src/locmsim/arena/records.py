"""What is known of a game that was played."""

from collections.abc import Sequence
from typing import NamedTuple

from locmsim.arena.schedule import Game
from locmsim.referee.play import Fault, Result
from locmsim.rules.rulesets import get_rules

__all__ = ["Answer", "Outcome", "Record", "Times", "late_turns", "needs_answers", "record_of"]


class Answer(NamedTuple):
    """One answer of a game: by the player in that seat, the line (None: none came), the time."""

    seat: int
    line: str | None
    elapsed_ns: int


class Times(NamedTuple):
    """How long a player took for his battle turns."""

    turns: int
    total_ns: int
    worst_ns: int


class Outcome(NamedTuple):
    """What the tables need of a game."""

    number: int
    #: Indices of the players by seat.
    players: tuple[int, int]
    #: The seat that won.
    winner: int
    #: The battle turns of both players.
    turns: int
    fault: Fault | None
    #: By seat.
    times: tuple[Times, Times]
    #: By seat, the battle turns that took longer than the rules allow, whatever the limits were.
    late: tuple[int, int] = (0, 0)


class Record(NamedTuple):
    """All of a game: enough to replay it exactly."""

    game: Game
    scores: tuple[int, int]
    outcome: Outcome
    answers: tuple[Answer, ...]
    #: The end of what the bot that failed wrote to its standard error.
    stderr: str
    #: Wall-clock time of the match.
    elapsed_ns: int


def record_of(game: Game, result: Result) -> Record:
    """The record of a game that the referee has played."""
    turns: tuple[list[int], list[int]] = ([], [])
    for call in result.calls:
        if call.turn is not None:
            turns[call.player].append(call.elapsed_ns)
    fault = result.fault
    outcome = Outcome(
        number=game.number,
        players=game.players,
        winner=result.winner,
        turns=len(turns[0]) + len(turns[1]),
        fault=fault,
        times=(_times(turns[0]), _times(turns[1])),
    )
    answers = tuple([Answer(call.player, call.answer, call.elapsed_ns) for call in result.calls])
    return Record(
        game=game,
        scores=result.scores,
        outcome=outcome._replace(late=late_turns(result.match.rules, outcome, answers)),
        answers=answers,
        stderr=result.stderr[fault.player] if fault else "",
        elapsed_ns=result.elapsed_ns,
    )


def _times(elapsed_ns: list[int]) -> Times:
    return Times(len(elapsed_ns), sum(elapsed_ns), max(elapsed_ns, default=0))


def late_turns(
    rules: str, outcome: Outcome, answers: Sequence[tuple[int, str | None, int]]
) -> tuple[int, int]:
    """What `Outcome.late` is, from all answers of the game: the battle turns are the last ones."""
    late = [0, 0]
    if needs_answers(rules, outcome):
        limits_ns = [1_000_000 * limit for limit in get_rules(rules).battle_limits_ms]
        battle = answers[len(answers) - outcome.turns :]
        for turn, (seat, _, elapsed_ns) in enumerate(battle):
            late[seat] += elapsed_ns > limits_ns[turn > 1]
    return late[0], late[1]


def needs_answers(rules: str, outcome: Outcome) -> bool:
    """Whether any turn may have been late, judged by the worst ones."""
    least = 1_000_000 * min(get_rules(rules).battle_limits_ms)
    return max(times.worst_ns for times in outcome.times) > least
