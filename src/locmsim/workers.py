"""Worker processes: on this machine, each bound to a core of its own, or in a Dask cluster.

Workers are a `concurrent.futures.Executor`, so any other executor will do as well. `TaskRunner`
gives them tasks. (Threads, for compiled loops, are in `locmsim.parallel`, which everything imports
and which must stay light.)
"""

import contextlib
import logging
import math
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar

__all__ = [
    "CorePool",
    "TaskRunner",
    "UnguardedError",
    "Workers",
    "WorkersError",
    "available_cores",
    "dask_workers",
    "end_if_imported_again",
    "local_workers",
]

_log = logging.getLogger(__name__)

_P = ParamSpec("_P")
_T = TypeVar("_T")
_Task = TypeVar("_Task")

#: Tasks that wait in line for each task that runs, so that no worker waits for the next one.
_QUEUED = 1
#: A task whose worker died is tried so many times, alone after the first.
_ATTEMPTS = 3
#: Seconds between looks at how many workers there are.
_LOOK_SECONDS = 2.0
#: How long to look for the scheduler of a cluster.
_CONNECT_SECONDS = 15


#: The exit code of a worker process in which the main script went on to start workers of its own.
_UNGUARDED = 86


class WorkersError(RuntimeError):
    """The workers are gone, or cannot do a task."""


class UnguardedError(WorkersError):
    """A script that starts worker processes has no main guard."""


def end_if_imported_again() -> None:
    """End this process if it is a worker that is importing the main script.

    Workers do that to find what is defined there. A script without a main guard would start
    everything again in each of them.
    """
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        sys.exit(_UNGUARDED)


class Workers(NamedTuple):
    """An executor, and how many tasks it can have at a time: running and waiting in line."""

    executor: Executor
    slots: Callable[[], int]
    #: What comes of a task whose worker died.
    lost: type[Exception] = BrokenExecutor


def available_cores() -> list[int]:
    """Return the processors that timed games may have to themselves, one for each physical core.

    Where the system limits the processor time (containers), these are as many as that is worth.
    """
    if not hasattr(os, "sched_getaffinity"):
        return list(range(os.cpu_count() or 1))
    cores: dict[str, int] = {}
    for cpu in sorted(os.sched_getaffinity(0)):
        siblings = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        try:
            cores.setdefault(siblings.read_text(), cpu)
        except OSError:
            cores[str(cpu)] = cpu
    return list(cores.values())[: _processor_quota()]


def _processor_quota() -> int | None:
    """Return the processor quota of this process; None for no limit."""
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return max(1, math.floor(int(quota) / int(period)))
    except (OSError, ValueError):  # there is no such limit, or it is "max"
        return None


@contextlib.contextmanager
def local_workers(jobs: int, cores: Sequence[int], cores_each: int = 1) -> Iterator[Workers]:
    """Workers on this machine: with one job in this process, else as many processes.

    Each is bound to `cores_each` of `cores`, and so are the bots it starts; where there are not
    enough cores for all, none is. At the end all processes are gone, also in the middle of their
    games.
    """
    end_if_imported_again()
    pinned = [cores[i * cores_each : (i + 1) * cores_each] for i in range(jobs)]
    if jobs * cores_each > len(cores):
        pinned = []
    _log.info("%d jobs on the cores %s", jobs, [*map(list, pinned)] or "all")
    if jobs == 1:
        with _bound_to(pinned[0] if pinned else ()):
            yield Workers(_ThisProcess(), lambda: 1)
        return
    pool = CorePool(jobs, pinned)
    try:
        yield Workers(pool, lambda: jobs * (1 + _QUEUED))
    except BaseException:
        pool.stop()
        raise
    pool.shutdown()


@contextlib.contextmanager
def dask_workers(address: str, one_thread: bool = False) -> Iterator[Workers]:
    """Return the workers of the Dask cluster with this scheduler; needs dask.distributed.

    With `one_thread`, for games with time limits, workers of more threads than one are a
    ``ValueError``, as an address is that makes no sense. What a lost worker had to do is done by
    another one. ``OSError`` if there is no scheduler.
    """
    try:
        from distributed import Client, KilledWorker
    except ImportError:
        raise ImportError(
            "a cluster needs dask.distributed: pip install 'locmsim[cluster]'"
        ) from None
    try:
        client = Client(address, timeout=_CONNECT_SECONDS)
    except ValueError as error:
        raise ValueError(f"dask: {error}") from None
    with client:
        if one_thread and max(client.nthreads().values(), default=1) > 1:
            raise ValueError(
                "dask: games with time limits need workers of one thread (dask worker --nthreads 1)"
            )
        _log.info("cluster %s: workers and their threads %s", address, client.nthreads())
        executor = client.get_executor(pure=False)

        def slots() -> int:
            threads = sum(client.nthreads().values())
            return max(1, int(threads)) * (1 + _QUEUED)

        yield Workers(executor, slots, KilledWorker)


@contextlib.contextmanager
def _bound_to(cores: Sequence[int]) -> Iterator[None]:
    if not cores or not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class _ThisProcess(Executor):
    """Does the work when it is submitted."""

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        future: Future[_T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class TaskRunner(Generic[_Task, _T]):
    """Run tasks on workers, as many at a time as these have slots for. Iterate over it once.

    Parameters
    ----------
    workers : Workers
        Where the tasks run.
    tasks : iterable
        The tasks; the next one is fetched when a worker becomes free.
    submit : callable
        ``submit(executor, task)`` submits a task and returns its future.
    parts : callable, optional
        ``parts(task)``: what to try, one part at a time, after the worker of a task died. Where
        several tasks share a worker, or one death ends all processes of an executor, this shows
        which task was at fault.
    name : callable, optional
        ``name(task)``: how messages name a task.

    Yields
    ------
    tuple of task and Future
        In the order in which tasks end; the future holds the result or the exception.

    Raises
    ------
    WorkersError
        If the workers are gone, if a task ended its worker three times, and for a script without a
        main guard.
    """

    def __init__(
        self,
        workers: Workers,
        tasks: Iterable[_Task],
        submit: Callable[[Executor, _Task], Future[_T]],
        *,
        parts: Callable[[_Task], Sequence[_Task]] = lambda task: [task],
        name: Callable[[_Task], str] = str,
    ) -> None:
        self._workers = workers
        self._left = iter(tasks)
        self._submit = submit
        self._parts = parts
        self._name = name
        #: Tasks, and how many workers died of them.
        self._running: dict[Future[_T], tuple[_Task, int]] = {}
        self._suspects: deque[tuple[_Task, int]] = deque()
        self._slots = 0
        self._looked = -_LOOK_SECONDS

    def __iter__(self) -> Iterator[tuple[_Task, Future[_T]]]:
        while True:
            self._fill()
            if not self._running:
                return
            for future in wait(self._running, return_when=FIRST_COMPLETED).done:
                # Not there any more if it was cancelled meanwhile.
                if future not in self._running:
                    continue
                task, deaths = self._running.pop(future)
                if future.cancelled():
                    raise WorkersError("the workers are gone")
                error = future.exception()
                if isinstance(error, WorkersError):
                    raise error
                if isinstance(error, self._workers.lost):
                    self._suspect(task, deaths + 1)
                else:
                    yield task, future

    def _fill(self) -> None:
        if self._suspects:
            if not self._running:
                self._start(*self._suspects.popleft())
            return
        while len(self._running) < self._current_slots():
            try:
                task = next(self._left)
            except StopIteration:
                return
            self._start(task, 0)

    def _start(self, task: _Task, deaths: int) -> None:
        try:
            self._running[self._submit(self._workers.executor, task)] = task, deaths
        except BrokenExecutor as error:
            raise WorkersError(f"the workers are gone: {error}") from None

    def _current_slots(self) -> int:
        now = time.monotonic()
        if now - self._looked >= _LOOK_SECONDS:
            self._looked = now
            self._slots = self._workers.slots()
        return self._slots

    def _suspect(self, task: _Task, deaths: int) -> None:
        if deaths >= _ATTEMPTS:
            raise WorkersError(f"{self._name(task)} ended its worker process {deaths} times")
        _log.warning("a worker died in %s: tried again, alone", self._name(task))
        self._suspects.extend((part, deaths) for part in self._parts(task))

    def stop(self) -> None:
        """Begin no more tasks; those that run are waited for."""
        self._left = iter(())
        self._suspects.clear()
        for future in list(self._running):
            if future.cancel():
                del self._running[future]

    def results(self) -> list[_T]:
        """Stop, and what tasks came to that are done and were not yielded."""
        self.stop()
        return [
            future.result()
            for future in self._running
            if future.done() and not future.cancelled() and future.exception() is None
        ]


class CorePool(Executor):
    """Worker processes, each bound to cores of its own.

    When a worker dies, only its own task fails, by `BrokenExecutor`, and another process takes its
    place; a `ProcessPoolExecutor` ends all its processes. `stop` ends workers in the middle of
    their tasks by ``SystemExit``; and they end by themselves when this process is gone, for
    whatever reason. (Pebble's pool also outlives the death of a worker, but it kills workers
    without that, so that the programs they play against stay behind; its workers survive a main
    process that was killed; and it binds none of them to cores.)

    Parameters
    ----------
    jobs : int
        The number of worker processes.
    cores : sequence of sequence of int
        The processors of each worker.
    """

    def __init__(self, jobs: int, cores: Sequence[Sequence[int]]) -> None:
        # A thread waits for each worker: nothing else needs to be done here.
        self._threads = ThreadPoolExecutor(jobs)
        self._mine = threading.local()
        self._cores = list(cores)
        self._workers: list[_Worker] = []
        self._lock = threading.Lock()
        # Nobody writes to it: its end tells the workers that this process is gone.
        self._lifeline, self._other_end = multiprocessing.Pipe()

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        return self._threads.submit(self._run, fn, args, kwargs)

    def _run(self, fn: Callable[..., _T], args: tuple[Any, ...], kwargs: dict[str, Any]) -> _T:
        worker: _Worker | None = getattr(self._mine, "worker", None)
        if worker is None or not worker.alive:
            worker = self._mine.worker = self._replacement(worker)
        result: _T = worker.run(fn, args, kwargs)
        return result

    def _replacement(self, dead: "_Worker | None") -> "_Worker":
        with self._lock:
            cores = dead.cores if dead else self._cores.pop() if self._cores else ()
            worker = _Worker(cores, self._other_end)
            self._workers.append(worker)
            _log.debug("worker process %s on cores %s", worker.pid, [*cores] or "all")
            return worker

    def stop(self) -> None:
        """End all workers and wait until they are gone."""
        self._lifeline.close()
        self.shutdown(cancel_futures=True)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Wait for the tasks that are running, as the base class does.

        Parameters
        ----------
        wait : bool
            Whether to wait.
        cancel_futures : bool
            Whether to cancel tasks that have not begun.
        """
        self._threads.shutdown(wait=wait, cancel_futures=cancel_futures)
        if wait:
            for worker in self._workers:
                worker.dismiss()


class _Worker:
    """A worker process, as seen from the other side."""

    def __init__(self, cores: Sequence[int], lifeline: Connection) -> None:
        self.cores = cores
        self.alive = True
        # A fresh process: a fork would inherit whatever locks other threads hold at that moment.
        context = multiprocessing.get_context("spawn")
        self._tasks, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, lifeline, cores), daemon=True)
        self._process.start()
        self.pid = self._process.pid
        theirs.close()

    def run(self, *task: Any) -> Any:
        """Return the result of a task, or what it raised; `BrokenExecutor` if the worker died."""
        try:
            self._tasks.send(task)
            done, result = self._tasks.recv()
        except (EOFError, OSError):
            self.alive = False
            self.dismiss()
            code = self._process.exitcode
            if code == _UNGUARDED:
                raise UnguardedError(
                    "worker processes import the main script again: put what it runs under"
                    ' `if __name__ == "__main__":`, or play with jobs=1'
                ) from None
            raise BrokenExecutor(f"a worker process ended in its task, exit code {code}") from None
        if done:
            return result
        raise result

    def dismiss(self) -> None:
        """Let it end when it is idle, and wait for that."""
        self._tasks.close()
        self._process.join()


def _serve(tasks: Connection, lifeline: Connection, cores: Sequence[int]) -> None:
    """What a worker process does."""
    if cores and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores)

    def end(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # nothing may interrupt the cleanup
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, end)
    # Ctrl-C is for the main process, which then ends this one. Not ignored: bots would inherit it.
    signal.signal(signal.SIGINT, lambda number, frame: None)

    def watch() -> None:
        with contextlib.suppress(EOFError, OSError):
            lifeline.recv()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()
    with contextlib.suppress(EOFError, OSError):
        while True:
            fn, args, kwargs = tasks.recv()
            try:
                answer = True, fn(*args, **kwargs)
            except Exception as error:
                answer = False, error
            tasks.send(answer)
