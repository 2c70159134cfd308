"""Worker processes: on this machine, each bound to its own core, or in a Dask cluster.

Workers are a `concurrent.futures.Executor`, so that other executors can be used as well.
`TaskRunner` distributes tasks to them. (Threads for compiled loops are in
`locmsim.processes.threads`, which is imported everywhere and must stay light.)
"""

import atexit
import contextlib
import logging
import math
import os
import pickle
import select
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
from pathlib import Path
from types import FrameType
from typing import Any, BinaryIO, Generic, NamedTuple, ParamSpec, TypeVar

from locmsim.errors import EndedBySignal, text_of
from locmsim.options.checks import OptionError
from locmsim.processes.supervisor import (
    Supervisor,
    end_of,
    own_pipes,
    preparation,
    prepare_main,
    python_command,
)

_log = logging.getLogger(__name__)

_P = ParamSpec("_P")
_T = TypeVar("_T")
_Task = TypeVar("_Task")

#: Queued tasks per running task, so that no worker has to wait for the next one.
_QUEUED = 1
#: Maximum number of attempts for a task whose worker died; it runs alone after the first.
_ATTEMPTS = 3
#: Seconds between checks of the number of workers.
_LOOK_SECONDS = 2.0
#: Bytes of the size before each message.
_SIZE = 8
#: Milliseconds between looks whether a worker that does not answer is alive.
_LOOK_MS = 100
#: Timeout for connecting to the scheduler of a cluster.
_CONNECT_SECONDS = 15


#: Seconds in which a worker that is told to end may clean up; a player may keep it from ending.
_GRACE_SECONDS = 1.5

#: The exit code of a worker process in which the main script tried to start workers again.
_UNGUARDED = 86


class WorkersError(RuntimeError):
    """The workers are gone, or cannot run a task."""


class UnguardedError(WorkersError):
    """A script that starts worker processes has no main guard."""


def end_if_imported_again() -> None:
    """End this process if it is a worker that is importing the main script.

    Workers import it to find its definitions. A script without a main guard would start everything
    again in each of them.
    """
    processes = _multiprocessing()
    if processes and getattr(processes.current_process(), "_inheriting", False):
        sys.exit(_UNGUARDED)


def _multiprocessing() -> Any:
    """Return `multiprocessing`, which is slow to import; None where this is no process of it."""
    return sys.modules.get("multiprocessing")


class Workers(NamedTuple):
    """An executor, and the number of tasks it can have at a time, running and queued."""

    executor: Executor
    slots: Callable[[], int]
    #: Exceptions of a task whose worker died.
    lost: type[Exception] = BrokenExecutor


#: Where control groups are mounted, as a rule.
_GROUPS = Path("/sys/fs/cgroup")


def available_cores() -> list[int]:
    """Return the processors for timed games, one per physical core.

    If the system limits the processor time (containers), their number is limited accordingly.
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
    """Return the processor quota of this process; None for no limit.

    A control group has those of its parents, too, in either version of control groups: the smallest
    one is in force.
    """
    quotas = []
    for folder in _control_groups():
        for files in (("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us")):
            try:
                quota, period = " ".join((folder / file).read_text() for file in files).split()
                quotas.append(int(quota) / int(period))
            except (OSError, ValueError, ZeroDivisionError):  # no limit, or it is "max"
                continue
    quotas = [quota for quota in quotas if quota > 0]  # -1 is no limit
    return max(1, math.floor(min(quotas))) if quotas else None


def _control_groups() -> Iterator[Path]:
    """Yield the folders of this process's control groups for processors, and of their parents."""
    yield from (_GROUPS, _GROUPS / "cpu", _GROUPS / "cpu,cpuacct")
    try:
        groups = Path("/proc/self/cgroup").read_text().splitlines()
        mounts = [line.split() for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    except OSError:
        return
    for line in groups:
        _, controllers, group = line.split(":", 2)
        kind, wanted = ("cgroup", {"cpu"}) if controllers else ("cgroup2", set())
        if wanted - {*controllers.split(",")}:
            continue
        for mount in mounts:
            top, where, *_, found, _, options = mount[3:]
            if found == kind and not wanted - {*options.split(",")}:
                # A container may be shown a part of the tree, or the names outside.
                inside = os.path.relpath(group, top)
                folder = Path(where) / ("" if inside.startswith("..") else inside)
                yield from (folder, *folder.parents)


def _check_main(apart: bool) -> None:
    """Raise `WorkersError` if workers, which import the main script, cannot.

    With `apart`, one job would need a worker too.
    """
    main = sys.modules["__main__"]
    file = getattr(main, "__file__", None)
    if getattr(main, "__spec__", None) is None and file is not None and not os.path.exists(file):
        raise WorkersError(
            f"worker processes import the main script, and there is no file {file!r}: put it into"
            f" one{'' if apart else ', or use one job'}"
        )


@contextlib.contextmanager
def local_workers(
    jobs: int,
    cores: Sequence[int],
    cores_each: int = 1,
    *,
    seats: int = 1,
    apart: bool = False,
) -> Iterator[Workers]:
    """Provide workers on this machine: this process for one job, else a process per job.

    Each worker is bound to `cores_each` of `cores`, as are the bots it starts, unless there are too
    few cores. If there are enough, it has as many for each of its `seats` (see `seat_cores`). At
    the end all processes are gone, even in the middle of their games. With `apart`, a single job
    has a process too. `WorkersError`, before any process is started, if they cannot import the main
    script.
    """
    end_if_imported_again()
    if jobs * cores_each * seats > len(cores):
        seats = 1
    count = cores_each * seats
    pinned = [cores[i * count : (i + 1) * count] for i in range(jobs)]
    if jobs * count > len(cores):
        pinned = []
    _log.info("%d jobs on the cores %s", jobs, [*map(list, pinned)] or "all")
    if jobs == 1 and not apart:
        with _bound_to(pinned[0] if pinned else (), seats):
            yield Workers(_ThisProcess(), lambda: 1)
        return
    _check_main(apart)
    pool = CorePool(jobs, pinned, seats, apart)
    try:
        yield Workers(pool, lambda: jobs * (1 + _QUEUED))
    except BaseException:
        pool.stop()
        raise
    pool.shutdown()


@contextlib.contextmanager
def dask_workers(address: str, one_thread: bool = False) -> Iterator[Workers]:
    """Return the workers of the Dask cluster with this scheduler; needs dask.distributed.

    With `one_thread`, for games with time limits, workers with several threads are a
    ``ValueError``, like an invalid address. The tasks of a lost worker are repeated by another one.
    ``OSError`` if the scheduler cannot be reached.
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
        raise OptionError("dask", error) from None
    with client:
        if one_thread and max(client.nthreads().values(), default=1) > 1:
            reason = "games with time limits need workers of one thread"
            raise OptionError("dask", f"{reason} (dask worker --nthreads 1)")
        _log.info("cluster %s: workers and their threads %s", address, client.nthreads())
        if not client.nthreads():
            _log.warning("cluster %s has no workers yet: waiting for the first one", address)
        executor = client.get_executor(pure=False)

        def slots() -> int:
            threads = sum(client.nthreads().values())
            return max(1, int(threads)) * (1 + _QUEUED)

        yield Workers(executor, slots, KilledWorker)


@contextlib.contextmanager
def _bound_to(cores: Sequence[int], seats: int) -> Iterator[None]:
    global _seats
    if not cores or not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    _seats = _divided(cores, seats)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
        _seats = []


class _ThisProcess(Executor):
    """An executor that runs each task when it is submitted."""

    def submit(self, fn: Callable[_P, _T], /, *args: _P.args, **kwargs: _P.kwargs) -> Future[_T]:
        future: Future[_T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class TaskRunner(Generic[_Task, _T]):
    """Runs tasks on workers, as many at a time as they have slots for. Iterate over it once.

    Parameters
    ----------
    workers : Workers
        The workers.
    tasks : iterable
        The tasks; the next one is fetched when a worker becomes free. None: there is none before
        another result.
    submit : callable
        ``submit(executor, task)`` submits a task and returns its future.
    parts : callable, optional
        ``parts(task)`` returns the parts to retry one by one after the worker of a task died. If
        several tasks share a worker, or one death ends all processes of an executor, this finds the
        task at fault.
    name : callable, optional
        ``name(task)`` returns the name of a task in messages.

    Yields
    ------
    tuple of task and Future
        Tasks in the order in which they end; the future holds the result or the exception.

    Raises
    ------
    WorkersError
        The workers are gone, a task ended its worker three times, or the script has no main guard.
    """

    def __init__(
        self,
        workers: Workers,
        tasks: Iterable[_Task | None],
        submit: Callable[[Executor, _Task], Future[_T]],
        *,
        parts: Callable[[_Task], Sequence[_Task]] = lambda task: [task],
        name: Callable[[_Task], str] = str,
    ) -> None:
        self._workers = workers
        self._left: Iterator[_Task | None] = iter(tasks)
        self._submit = submit
        self._parts = parts
        self._name = name
        #: Tasks, with the number of workers that died in them.
        self._running: dict[Future[_T], tuple[_Task, int]] = {}
        self._suspects: deque[tuple[_Task, int]] = deque()
        self._slots = 0
        self._looked = -_LOOK_SECONDS

    def __iter__(self) -> Iterator[tuple[_Task, Future[_T]]]:
        while True:
            self._fill()
            if not self._running:
                return
            done = wait(self._running, return_when=FIRST_COMPLETED).done
            # In the order of submission: that of a set differs from run to run.
            for future in [one for one in self._running if one in done]:
                # Missing if it was cancelled meanwhile.
                if future not in self._running:
                    continue
                task, deaths = self._running.pop(future)
                if future.cancelled():
                    raise self._gone(task, "their executor or cluster was shut down")
                error = future.exception()
                if isinstance(error, WorkersError):
                    raise error
                if isinstance(error, self._workers.lost):
                    self._suspect(task, deaths + 1, text_of(error))
                else:
                    yield task, future

    def _fill(self) -> None:
        if self._suspects:
            if not self._running:
                self._start(*self._suspects.popleft())
            return
        while len(self._running) < self.current_slots():
            task = next(self._left, None)
            if task is None:
                return
            self._start(task, 0)

    def _start(self, task: _Task, deaths: int) -> None:
        try:
            self._running[self._submit(self._workers.executor, task)] = task, deaths
        except BrokenExecutor as error:
            raise self._gone(task, text_of(error)) from None

    def _gone(self, task: _Task, why: str) -> WorkersError:
        return WorkersError(f"{self._name(task)}: not finished, since the workers are gone: {why}")

    def current_slots(self) -> int:
        """Return the number of tasks that the workers have at a time, looked up now and then."""
        now = time.monotonic()
        if now - self._looked >= _LOOK_SECONDS:
            self._looked = now
            self._slots = self._workers.slots()
        return self._slots

    def _suspect(self, task: _Task, deaths: int, how: str) -> None:
        name = self._name(task)
        why = f": {how}" if how else ""
        if deaths >= _ATTEMPTS:
            raise WorkersError(f"{name}: the worker process ended, {deaths} times in a row{why}")
        _log.warning("%s: trying again, since the worker process ended%s", name, why)
        self._suspects.extend((part, deaths) for part in self._parts(task))

    def stop(self) -> None:
        """Start no more tasks, and wait for the running ones."""
        self._left = iter(())
        self._suspects.clear()
        for future in list(self._running):
            if future.cancel():
                del self._running[future]

    def results(self) -> list[_T]:
        """Stop; return finished tasks that were not yielded."""
        self.stop()
        return [
            future.result()
            for future in self._running
            if future.done() and not future.cancelled() and future.exception() is None
        ]


class CorePool(Executor):
    """Worker processes, each bound to its own cores.

    When a worker dies, only its own task fails, with `BrokenExecutor`, and another process replaces
    it; a `ProcessPoolExecutor` would end all its processes. `stop` ends workers in the middle of
    their tasks by ``SystemExit``, and all of them end when this process is gone
    (`locmsim.processes.supervisor`). (Pebble's pool survives the death of a worker too, but it
    kills workers without ``SystemExit``, its workers survive a killed main process, and it does
    not bind them to cores.)

    Parameters
    ----------
    jobs : int
        The number of worker processes.
    cores : sequence of sequence of int
        The processors of each worker.
    seats : int
        Number of players of a task among whom these are divided.
    apart : bool
        Whether a single job would need a process too.
    """

    def __init__(
        self, jobs: int, cores: Sequence[Sequence[int]], seats: int = 1, apart: bool = False
    ) -> None:
        self._seats, self._apart = seats, apart
        # One thread waits for each worker.
        self._threads = ThreadPoolExecutor(jobs)
        self._mine = threading.local()
        self._cores = list(cores)
        self._workers: list[_Worker] = []
        self._lock = threading.Lock()
        self._supervisor = Supervisor()

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
            worker = _Worker(cores, self._seats, self._apart, self._supervisor)
            self._workers.append(worker)
            _log.debug("worker process %s on cores %s", worker.pid, [*cores] or "all")
            return worker

    def stop(self) -> None:
        """End all workers and wait until they are gone; what does not end is killed."""
        # A worker whose task has ended must not get another one.
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._supervisor.end(_GRACE_SECONDS)
        self._threads.shutdown()
        for worker in self._workers:
            worker.dismiss()

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
            self._supervisor.end()


class _Worker:
    """A worker process, as seen from the main process."""

    def __init__(
        self, cores: Sequence[int], seats: int, apart: bool, supervisor: Supervisor
    ) -> None:
        self.cores, self._apart = cores, apart
        self.alive = True
        with _standard_error() as descriptor:
            self._child = supervisor.start(
                python_command("locmsim.processes.workers", "serve"), cores=cores, stderr=descriptor
            )
        self.pid = self._child.pid
        # What the main script is may have changed meanwhile, so that it is sent to each worker.
        questions, answers, _ = self._child.detach()
        self._questions = os.fdopen(questions, "wb")
        self._answers: BinaryIO = os.fdopen(answers, "rb", buffering=0)
        with contextlib.suppress(OSError):  # its death is found by the first task
            _write_message(self._questions, pickle.dumps((preparation(), _divided(cores, seats))))

    def run(self, *task: Any) -> Any:
        """Return the result of a task, or what it raised; `BrokenExecutor` if the worker died."""
        data = pickle.dumps(task)
        try:
            _write_message(self._questions, data)
            data = self._answer()
        except (EOFError, OSError):
            self.alive = False
            self.dismiss()
            code = self._child.exit_code()
            if code == _UNGUARDED:
                raise UnguardedError(
                    "worker processes import the main script again: put what it runs under"
                    ' `if __name__ == "__main__":`'
                    f"{'' if self._apart else ', or play with jobs=1'}"
                ) from None
            raise BrokenExecutor(_death(code)) from None
        done, result = pickle.loads(data)
        if done:
            return result
        raise result

    def _answer(self) -> bytes:
        """Return the next answer; ``EOFError`` if the process ends without one.

        The end of the pipe tells nothing where a process that a task has forked keeps it open.
        """
        if not hasattr(select, "poll"):
            return _read_message(self._answers)
        poll = select.poll()
        poll.register(self._answers, select.POLLIN)
        data = bytearray()
        while len(data) < _SIZE or len(data) < _SIZE + int.from_bytes(data[:_SIZE], "little"):
            while not poll.poll(_LOOK_MS):
                if self._child.exit_code() is not None and not poll.poll(0):
                    raise EOFError
            chunk = os.read(self._answers.fileno(), 1 << 20)
            if not chunk:
                raise EOFError
            data += chunk
        return bytes(data[_SIZE:])

    def dismiss(self) -> None:
        """Let the process end when it is idle, and wait for that."""
        with contextlib.suppress(OSError):  # what is not written yet has no reader any more
            self._questions.close()
        self._child.wait()
        self._answers.close()


def _death(code: int | None) -> str:
    """Return how a worker has ended, and what can be done."""
    if code is None:  # it is alive, but nothing can be sent to it
        return "it takes no more tasks"
    how = f"it {end_of(code)}"
    if code == -getattr(signal, "SIGKILL", 9):
        return f"{how}, as the system does when memory runs out: fewer jobs need less"
    if code < 0:
        return f"{how}; run it with PYTHONFAULTHANDLER=1 in the environment to see where"
    return how


@contextlib.contextmanager
def _standard_error() -> Iterator[int]:
    """Return a descriptor of the standard error, or of nothing if this process has none."""
    try:
        os.fstat(2)
    except OSError:
        with open(os.devnull, "wb") as nowhere:
            yield nowhere.fileno()
    else:
        yield 2


def _write_message(file: BinaryIO, data: bytes) -> None:
    file.write(len(data).to_bytes(_SIZE, "little"))
    file.write(data)
    file.flush()


def _read_message(file: BinaryIO) -> bytes:
    """Return the next message; ``EOFError`` if there is no whole one."""
    count = int.from_bytes(file.read(_SIZE), "little")
    data = file.read(count)
    if not data or len(data) < count:
        raise EOFError
    return data


#: The processors of each seat, if they have their own.
_seats: list[Sequence[int]] = []
#: Whether this process is a worker.
_serving = False


def seat_cores() -> list[Sequence[int]]:
    """Return the processors of each seat of a task in this process; empty if they share them."""
    return _seats


def _divided(cores: Sequence[int], seats: int) -> list[Sequence[int]]:
    each = len(cores) // seats
    return [cores[i * each : (i + 1) * each] for i in range(seats)] if seats > 1 else []


def in_worker() -> bool:
    """Return whether this process is a worker, which is replaced when it ends."""
    processes = _multiprocessing()
    return _serving or (processes is not None and processes.parent_process() is not None)


def _packed_error(error: Exception) -> bytes:
    try:
        return pickle.dumps((False, error))
    except Exception:  # it holds what cannot be sent
        return pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}")))


def serve() -> None:
    """Run a worker process, whose tasks come over the standard input; it ends with the input."""
    global _serving, _seats

    def end(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # nothing may interrupt the cleanup
        raise EndedBySignal(number)

    signal.signal(signal.SIGTERM, end)
    # Ctrl-C is handled by the main process, which then ends this one. It is not ignored here,
    # because bots would inherit that.
    signal.signal(signal.SIGINT, lambda number, frame: None)
    source, target = own_pipes()
    _serving = True
    with (
        contextlib.suppress(EOFError, BrokenPipeError),
        os.fdopen(source, "rb") as tasks,
        os.fdopen(target, "wb") as answers,
    ):
        data, _seats = pickle.loads(_read_message(tasks))
        prepare_main(data)
        while True:
            message = _read_message(tasks)
            try:
                fn, args, kwargs = pickle.loads(message)
                answer = pickle.dumps((True, fn(*args, **kwargs)))
            except Exception as error:
                answer = _packed_error(error)
            _write_message(answers, answer)
    # As at the end of the interpreter, which would wait for threads that a task has left.
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
