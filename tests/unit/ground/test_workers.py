"""Distribution of tasks to workers: results, dead workers, and stopping."""

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from functools import partial

import pytest
from helpers import raises

from locmsim.processes.workers import (
    TaskRunner,
    UnguardedError,
    Workers,
    WorkersError,
    local_workers,
)


class Doing(Executor):
    """An executor that returns tasks in upper case, unless it has errors left for them."""

    def __init__(self, errors: dict[str, list[Exception]]) -> None:
        self.errors = errors
        self.tasks: list[str] = []

    def upper(self, task: str) -> Future[str]:
        self.tasks.append(task)
        future = Future[str]()
        if errors := self.errors.get(task):
            future.set_exception(errors.pop())
        else:
            future.set_result(task.upper())
        return future


def submit(executor: Executor, task: str) -> Future[str]:
    assert isinstance(executor, Doing)
    return executor.upper(task)


def test_as_many_at_a_time_as_there_are_slots() -> None:
    asked = []

    def tasks() -> Iterator[str]:
        for task in "abcdefgh":
            asked.append(task)
            yield task

    with ThreadPoolExecutor(3) as executor:
        found = {}
        for task, future in TaskRunner(
            Workers(executor, lambda: 3), tasks(), lambda pool, task: pool.submit(task.upper)
        ):
            assert len(asked) - len(found) <= 3
            found[task] = future.result()
    assert found == {task: task.upper() for task in "abcdefgh"}


def test_dead_workers() -> None:
    """The task of a dead worker is tried again: first its parts, then each of them alone."""
    doing = Doing({"xy": [BrokenExecutor()], "y": [BrokenExecutor()]})
    runner = TaskRunner(Workers(doing, lambda: 1), ["a", "xy", "b"], submit, parts=list)
    found = [(task, future.result()) for task, future in runner]
    assert found == [("a", "A"), ("x", "X"), ("y", "Y"), ("b", "B")]
    assert doing.tasks == ["a", "xy", "x", "y", "y", "b"]


def test_a_task_that_ends_its_workers() -> None:
    class Gone(Exception):
        pass

    doing = Doing(
        {"b": [Gone("it was killed by SIGSEGV"), Gone(), Gone()], "a": [BrokenExecutor()]}
    )
    workers = Workers(doing, lambda: 1, lost=Gone)
    found = iter(TaskRunner(workers, "ab", submit, name=lambda task: f"task {task}"))
    assert isinstance(next(found)[1].exception(), BrokenExecutor)  # not a lost worker here
    message = "task b: the worker process ended, 3 times in a row: it was killed"
    raises(WorkersError, message, next, found)


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize(
    ("end", "message"),
    [
        (
            partial(os._exit, 3),
            "game 7: the worker process ended, 3 times in a row: it exited",
        ),
        (
            partial(signal.raise_signal, signal.SIGKILL),
            "it was killed by SIGKILL, as the system does when memory runs out: fewer jobs need",
        ),
        (
            partial(signal.raise_signal, signal.SIGABRT),
            "it was killed by SIGABRT; run it with PYTHONFAULTHANDLER=1 in the environment to see",
        ),
    ],
)
def test_how_workers_end(end: Callable[[], object], message: str) -> None:
    with local_workers(1, (), apart=True) as workers:
        runner = TaskRunner(
            workers, [7], lambda pool, _: pool.submit(end), name=lambda task: f"game {task}"
        )
        raises(WorkersError, message, list, runner)


def test_errors_of_tasks_and_of_scripts() -> None:
    doing = Doing({"a": [KeyError("mine")], "b": [UnguardedError("no guard")]})
    found = iter(TaskRunner(Workers(doing, lambda: 1), "ab", submit))
    task, future = next(found)
    assert task == "a"
    assert isinstance(future.exception(), KeyError)
    raises(UnguardedError, "no guard", next, found)


def test_workers_that_are_gone() -> None:
    def cancelled(executor: Executor, task: str) -> Future[str]:
        future = Future[str]()
        future.cancel()
        future.set_running_or_notify_cancel()
        return future

    def broken(executor: Executor, task: str) -> Future[str]:
        raise BrokenExecutor("all of them")

    start = "^a: not finished, since the workers are gone: "
    for give, message in ((cancelled, "their executor or cluster was"), (broken, "all of them$")):
        with pytest.raises(WorkersError, match=start + message):
            list(TaskRunner(Workers(Doing({}), lambda: 2), "ab", give))


def test_stopping() -> None:
    """A stop waits for running tasks, cancels queued ones and does not ask for further ones."""
    begun = []

    def work(task: str) -> str:
        begun.append(task)
        return task.upper()

    with ThreadPoolExecutor(1) as executor:
        workers = Workers(executor, lambda: 3)
        runner = TaskRunner(workers, "abcdefgh", lambda pool, task: pool.submit(work, task))
        found = []
        for task, future in runner:
            found.append((task, future.result()))
            if task == "b":
                runner.stop()
    assert sorted(found) == [(task, task.upper()) for task in begun]
    assert "b" in begun
    assert "h" not in begun


def test_results_of_what_is_done() -> None:
    """A caller who stops in the middle can keep the results that are ready."""
    doing = Doing({"b": [KeyError("mine")]})
    runner = TaskRunner(Workers(doing, lambda: 4), "abcdefgh", submit)
    task, _ = next(iter(runner))
    assert sorted(runner.results()) == sorted({"A", "C", "D"} - {task.upper()})
    assert doing.tasks == ["a", "b", "c", "d"]
