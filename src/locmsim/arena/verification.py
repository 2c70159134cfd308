"""Playing the games of a file of results again: do they come out the same?"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from locmsim.arena.game_worker import name_of, new_match
from locmsim.arena.records import Record
from locmsim.arena.runner import BatchRunner, submitting
from locmsim.arena.schedule import Settings
from locmsim.processes.workers import Workers


class Difference(NamedTuple):
    """The first answer in which a game that was played again differs from the stored one.

    Parameters
    ----------
    number : int
        The number of the game.
    player : str
        The name of the player who answered otherwise.
    turn : int or None
        The turn, counted over both players from 0; None in a choice phase.
    before, now : str or None
        Both answers; None for no answer, by a fault.
    """

    number: int
    player: str
    turn: int | None
    before: str | None
    now: str | None


def differences(
    settings: Settings,
    stored: Callable[[int], Record],
    numbers: Sequence[int],
    workers: Workers,
    isolate: bool = False,
    on_games: Callable[[int], None] = lambda games: None,
) -> Iterator[Difference]:
    """Play games again, and yield the first difference of each that has one, as they end."""

    left = iter(numbers)
    games = BatchRunner(
        workers,
        lambda size: [*itertools.islice(left, size)],
        submitting(settings, isolate=isolate),
        partial(name_of, settings),
    )
    for records in games:
        for now in records:
            if (found := _difference(settings, stored(now.outcome.number), now)) is not None:
                yield found
            on_games(1)


def _difference(settings: Settings, before: Record, now: Record) -> Difference | None:
    match = new_match(settings, before.fixture)
    for then, again in itertools.zip_longest(before.answers, now.answers):
        one = then or again
        if then is None or again is None or (then.seat, then.line) != (again.seat, again.line):
            return Difference(
                number=before.fixture.number,
                player=settings.players[before.fixture.players[one.seat]].name,
                turn=match.turn,
                before=then and then.line,
                now=again and again.line,
            )
        match.submit(one.seat, one.line)
    return None
