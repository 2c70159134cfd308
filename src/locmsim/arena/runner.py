"""Playing a tournament: the games missing in its file, on the available workers."""

import itertools
import logging
import secrets
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from functools import partial
from typing import Any, Generic, TypeVar

from locmsim.arena.game_worker import name_of, play_games
from locmsim.arena.records import Record
from locmsim.arena.schedule import Settings
from locmsim.arena.store import Store, StoreError
from locmsim.arena.tally import Tally
from locmsim.contract import LIVE_SUFFIX
from locmsim.processes.workers import TaskRunner, Workers, WorkersError
from locmsim.referee.agent_process import raised

_log = logging.getLogger(__name__)

#: Approximate duration of a task in seconds. Sending a task to a worker and back takes about a
#: millisecond, and unfinished tasks are lost if this process is killed.
_TASK_SECONDS = 0.2
_MAX_BATCH = 256

_Played = TypeVar("_Played")
#: Numbers of games, and whether a worker died in them before.
_Task = tuple[list[int], bool]


class ArenaError(RuntimeError):
    """The tournament cannot continue; the games that were played are stored."""


class BatchRunner(Generic[_Played]):
    """Plays what has numbers on workers, as many in a task as last a moment. Iterate over it once.

    It yields iterators of results that have arrived, each with an ``elapsed_ns``; with `in_order`
    in the order of the numbers, so that early ones wait. `take` returns up to that many numbers to
    play next, and may have more after further results. `submit` gets an executor, the numbers of a
    task, and whether a worker died in them before: then each is alone. `most` is the longest task
    by the number of tasks that the workers have at a time. `ArenaError` if it cannot continue.
    """

    def __init__(
        self,
        workers: Workers,
        take: Callable[[int], list[int]],
        submit: Callable[[Executor, list[int], bool], Future[list[_Played]]],
        name: Callable[[Sequence[int]], str],
        *,
        in_order: bool = False,
        most: Callable[[int], int] = lambda slots: _MAX_BATCH,
    ) -> None:
        self._take, self._most = take, most
        self._name = name
        self._size = 1
        self._order: deque[int] | None = deque() if in_order else None
        self._early: dict[int, _Played] = {}
        self._runner: TaskRunner[_Task, list[_Played]] = TaskRunner(
            workers,
            self._tasks(),
            lambda executor, task: submit(executor, *task),
            parts=lambda task: [([number], True) for number in task[0]],
            name=lambda task: name(task[0]),
        )

    def __iter__(self) -> Iterator[Iterator[_Played]]:
        try:
            for (numbers, _), future in self._runner:
                try:
                    results: list[Any] = future.result()
                except Exception as error:
                    raise ArenaError(f"{self._name(numbers)}: {raised(error)}") from error
                seconds = sum(one.elapsed_ns for one in results) / 1e9 / len(results)
                self._size = int(_TASK_SECONDS / max(seconds, 1e-9))
                self._early.update(zip(numbers, results, strict=True))
                yield self._ready(numbers)
        except WorkersError as error:
            raise ArenaError(str(error)) from None

    def _tasks(self) -> Iterator[_Task | None]:
        while True:
            size = max(1, min(self._size, self._most(self._runner.current_slots())))
            numbers = self._take(size)
            if self._order is not None:
                self._order.extend(numbers)
            yield (numbers, False) if numbers else None

    def _ready(self, numbers: list[int]) -> Iterator[_Played]:
        waiting = deque(numbers) if self._order is None else self._order
        while waiting and waiting[0] in self._early:
            yield self._early.pop(waiting.popleft())

    def stop(self) -> list[_Played]:
        """Start no more tasks; return the finished results that were not yielded."""
        return [*self._early.values(), *itertools.chain.from_iterable(self._runner.results())]


def submitting(
    settings: Settings, live: str = "", **how: bool
) -> Callable[[Executor, list[int], bool], Future[list[Record]]]:
    """Return what submits games of a tournament for a `BatchRunner`; `how` as of `play_games`."""
    run = secrets.token_hex()
    return lambda executor, numbers, again: executor.submit(
        play_games, settings.task(numbers), live, run=run, again=again, **how
    )


def play_missing(
    store: Store,
    tally: Tally,
    workers: Workers,
    on_games: Callable[[int], None] = lambda games: None,
    isolate: bool = False,
    apart: bool = False,
) -> None:
    """Play the games missing in `store`, and add them to store and tally.

    With `isolate`, each agent plays in a process of its own, with `apart` each agent of others. A
    game in which a worker dies is played again apart, and whoever dies then loses it. It ends early
    when the sequential test of the tally has decided. `on_games` is called whenever games have
    arrived. However this ends, the games played so far are stored.
    """
    todo = store.missing()
    # A sequential test counts games in the order of the schedule, no more of them than it needs.
    tested = tally.sprt is not None

    def keep(records: list[Record]) -> None:
        if records and not tally.decided:
            store.add_all(records)
            for record in records:
                tally.add(record.outcome)
            _log.debug("games %s arrived", [record.outcome.number for record in records])
            on_games(len(records))

    games = BatchRunner(
        workers,
        lambda size: [] if tally.decided else [*itertools.islice(todo, size)],
        submitting(tally.settings, f"{store.path}{LIVE_SUFFIX}", isolate=isolate, apart=apart),
        partial(name_of, tally.settings),
        in_order=tested,
    )
    try:
        for records in games:
            for some in ([one] for one in records) if tested else [[*records]]:
                keep(some)
            if tally.decided:
                _log.info("the sequential test has decided: %s", tally.sprt_state)
                games.stop()
    except StoreError:
        raise
    except BaseException:
        keep(games.stop())
        raise
