"""Playing a tournament: what is missing in its file, on the workers that are there."""

import contextlib
import itertools
import logging
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait

from locmsim.arena.playing import play_games
from locmsim.arena.records import Record
from locmsim.arena.store import Store, StoreError
from locmsim.arena.tally import Tally
from locmsim.workers import UnguardedError, Workers

__all__ = ["ArenaError", "play_missing"]

_log = logging.getLogger(__name__)

#: A task has as many games as take about so many seconds: their way to a worker and back takes
#: about a millisecond, and what is not back yet is lost if this process is killed.
_TASK_SECONDS = 0.2
_MAX_BATCH = 256
#: A game whose worker died is tried so many times, alone after the first.
_ATTEMPTS = 3
#: Seconds between looks at how many workers there are.
_LOOK_SECONDS = 2.0
_SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


class ArenaError(RuntimeError):
    """The games cannot go on; those that were played are stored."""


def play_missing(
    store: Store,
    tally: Tally,
    count: int,
    workers: Workers,
    on_games: Callable[[int], None] = lambda games: None,
) -> None:
    """Play those of the games 1 to `count` that `store` does not have, and add them to both.

    It ends early when the sequential test of the tally has decided. `on_games` is told of every
    few games that came in. However this ends, what was played before is stored.
    """
    _Run(store, tally, count, workers, on_games).run()


class _Run:
    def __init__(
        self,
        store: Store,
        tally: Tally,
        count: int,
        workers: Workers,
        on_games: Callable[[int], None],
    ) -> None:
        self._store = store
        self._tally = tally
        self._workers = workers
        self._on_games = on_games
        played = store.numbers()
        self._todo = (number for number in range(1, count + 1) if number not in played)
        self._pending: dict[Future[list[Record]], list[int]] = {}
        # Games whose worker died, and how often.
        self._suspects: deque[int] = deque()
        self._deaths: dict[int, int] = {}
        self._batch = 1
        # With a sequential test games are counted in the order of the schedule, and no more of them
        # than the test needs: those that come early wait here.
        self._in_order: deque[int] = deque()
        self._early: dict[int, Record] = {}
        self._slots = 0
        self._looked = -_LOOK_SECONDS

    def run(self) -> None:
        try:
            while True:
                self._submit()
                if not self._pending:
                    return
                done, _ = wait(self._pending, return_when=FIRST_COMPLETED)
                for future in done:
                    self._take(future)
        except StoreError:
            raise
        except BaseException:
            self._keep_what_is_done()
            raise

    def _submit(self) -> None:
        if self._tally.decided:
            for future in list(self._pending):
                if future.cancel():
                    del self._pending[future]
            return
        if self._suspects:
            if not self._pending:
                self._start([self._suspects.popleft()])
            return
        while len(self._pending) < self._current_slots():
            numbers = list(itertools.islice(self._todo, self._batch))
            if not numbers:
                return
            self._start(numbers)

    def _start(self, numbers: list[int]) -> None:
        settings = self._tally.settings
        try:
            future = self._workers.executor.submit(play_games, settings, numbers)
        except BrokenExecutor as error:
            raise ArenaError(f"the workers are gone: {error}") from None
        self._pending[future] = numbers
        if self._tally.sprt is not None:
            self._in_order.extend(number for number in numbers if number not in self._deaths)

    def _current_slots(self) -> int:
        now = time.monotonic()
        if now - self._looked >= _LOOK_SECONDS:
            self._looked = now
            self._slots = self._workers.slots()
        return self._slots

    def _take(self, future: Future[list[Record]]) -> None:
        numbers = self._pending.pop(future)
        try:
            records = future.result()
        except BrokenExecutor:
            self._retry(numbers)
            return
        except UnguardedError as error:
            raise ArenaError(str(error)) from None
        except Exception as error:
            what = f"game {numbers[0]}"
            if len(numbers) > 1:
                what = f"games {numbers[0]} to {numbers[-1]}"
            raise ArenaError(f"{what}: {type(error).__name__}: {error}") from error
        self._keep(records)
        seconds = sum(record.elapsed_ns for record in records) / 1e9 / len(records)
        self._batch = max(1, min(_MAX_BATCH, int(_TASK_SECONDS / max(seconds, 1e-9))))

    def _retry(self, numbers: list[int]) -> None:
        """A worker died, in some executors all did: whose game it was shows when it is alone."""
        for number in numbers:
            self._deaths[number] = self._deaths.get(number, 0) + 1
            if self._deaths[number] >= _ATTEMPTS:
                settings = self._tally.settings
                game = settings.fixture(number)
                names = [settings.players[index].name for index in game.players]
                raise ArenaError(
                    f"game {number} ({names[0]} against {names[1]}, seed {game.seed}) ended its"
                    f" worker process {_ATTEMPTS} times"
                )
        _log.warning("a worker died in games %s: they are tried again one by one", numbers)
        self._suspects.extend(numbers)

    def _keep(self, records: list[Record]) -> None:
        if self._tally.sprt is None:
            self._store_and_count(records)
            return
        self._early.update((record.outcome.number, record) for record in records)
        kept = 0
        while self._in_order and self._in_order[0] in self._early and not self._tally.decided:
            self._store_and_count([self._early.pop(self._in_order.popleft())], tell=False)
            kept += 1
        if self._tally.decided:
            _log.info("the sequential test has decided: %s", self._tally.sprt_state)
            self._early.clear()
        self._on_games(kept)

    def _store_and_count(self, records: list[Record], tell: bool = True) -> None:
        with _signals_later():
            self._store.add_all(records)
            for record in records:
                self._tally.add(record.outcome)
        _log.debug("games %s came in", [record.outcome.number for record in records])
        if tell:
            self._on_games(len(records))

    def _keep_what_is_done(self) -> None:
        records = list(self._early.values())
        for future in self._pending:
            if not future.cancel() and future.done() and future.exception() is None:
                records += future.result()
        if records and not self._tally.decided:
            self._store_and_count(records)


@contextlib.contextmanager
def _signals_later() -> Iterator[None]:
    """Let signals that end this process wait: a game that was played gets stored."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(
        signal, "pthread_sigmask"
    ):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
