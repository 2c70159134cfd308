"""Playing a tournament: the games missing in its file, on the available workers."""

import itertools
import logging
import secrets
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from typing import NamedTuple

from locmsim.arena.game_worker import name_of, play_games
from locmsim.arena.records import Record
from locmsim.arena.store import Store, StoreError
from locmsim.arena.tally import Tally
from locmsim.contract import LIVE_SUFFIX
from locmsim.referee.agent_process import raised
from locmsim.workers import TaskRunner, Workers, WorkersError

__all__ = ["ArenaError", "play_missing"]

_log = logging.getLogger(__name__)

#: Approximate duration of a task in seconds. Sending a task to a worker and back takes about a
#: millisecond, and unfinished tasks are lost if this process is killed.
_TASK_SECONDS = 0.2
_MAX_BATCH = 256


class ArenaError(RuntimeError):
    """The tournament cannot continue; the games that were played are stored."""


def play_missing(
    store: Store,
    tally: Tally,
    count: int,
    workers: Workers,
    on_games: Callable[[int], None] = lambda games: None,
    isolate: bool = False,
    apart: bool = False,
) -> None:
    """Play the games of 1 to `count` missing in `store`, and add them to store and tally.

    With `isolate`, each agent plays in a process of its own, with `apart` each agent of others. A
    game in which a worker dies is played again apart, and whoever dies then loses it. It ends early
    when the sequential test of the tally has decided. `on_games` is called whenever games have
    arrived. However this ends, the games played so far are stored.
    """
    _Run(store, tally, count, workers, on_games, isolate, apart).run()


class _Task(NamedTuple):
    """Games for a worker."""

    numbers: list[int]
    #: Whether a worker died in them before.
    again: bool = False


class _Run:
    def __init__(
        self,
        store: Store,
        tally: Tally,
        count: int,
        workers: Workers,
        on_games: Callable[[int], None],
        isolate: bool,
        apart: bool,
    ) -> None:
        self._store = store
        self._tally = tally
        self._on_games = on_games
        self._todo = store.missing(count)
        self._isolate, self._apart = isolate, apart
        self._batch = 1
        self._name = secrets.token_hex()
        self._runner = TaskRunner(
            workers,
            self._batches(),
            self._submit,
            # After a death: each game alone, and its agents in processes of their own.
            parts=lambda task: [_Task([number], again=True) for number in task.numbers],
            name=lambda task: name_of(tally.settings, task.numbers),
        )
        # A sequential test counts games in the order of the schedule, and no more of them than it
        # needs: games that arrive early wait here.
        self._in_order: deque[int] = deque()
        self._early: dict[int, Record] = {}

    def run(self) -> None:
        try:
            for task, future in self._runner:
                self._take(task, future)
                if self._tally.decided:
                    self._runner.stop()
        except StoreError:
            raise
        except WorkersError as error:
            self._keep_what_is_done()
            raise ArenaError(str(error)) from None
        except BaseException:
            self._keep_what_is_done()
            raise

    def _batches(self) -> Iterator[_Task]:
        while not self._tally.decided and (
            numbers := list(itertools.islice(self._todo, self._batch))
        ):
            if self._tally.sprt is not None:
                self._in_order.extend(numbers)
            yield _Task(numbers)

    def _submit(self, executor: Executor, task: _Task) -> Future[list[Record]]:
        return executor.submit(
            play_games,
            self._tally.settings,
            task.numbers,
            f"{self._store.path}{LIVE_SUFFIX}",
            run=self._name,
            again=task.again,
            isolate=self._isolate,
            apart=self._apart,
        )

    def _take(self, task: _Task, future: Future[list[Record]]) -> None:
        try:
            records = future.result()
        except Exception as error:
            name = name_of(self._tally.settings, task.numbers)
            raise ArenaError(f"{name}: {raised(error)}") from error
        self._keep(records)
        seconds = sum(record.elapsed_ns for record in records) / 1e9 / len(records)
        self._batch = max(1, min(_MAX_BATCH, int(_TASK_SECONDS / max(seconds, 1e-9))))

    def _keep(self, records: list[Record]) -> None:
        if self._tally.sprt is None:
            self._store_and_count(records)
            return
        self._early.update((record.outcome.number, record) for record in records)
        kept = 0
        while self._in_order and self._in_order[0] in self._early and not self._tally.decided:
            self._store_and_count([self._early.pop(self._in_order.popleft())], report=False)
            kept += 1
        if self._tally.decided:
            _log.info("the sequential test has decided: %s", self._tally.sprt_state)
            self._early.clear()
        self._on_games(kept)

    def _store_and_count(self, records: list[Record], report: bool = True) -> None:
        self._store.add_all(records)
        for record in records:
            self._tally.add(record.outcome)
        _log.debug("games %s arrived", [record.outcome.number for record in records])
        if report:
            self._on_games(len(records))

    def _keep_what_is_done(self) -> None:
        records = list(self._early.values())
        records += itertools.chain.from_iterable(self._runner.results())
        if records and not self._tally.decided:
            self._store_and_count(records)
