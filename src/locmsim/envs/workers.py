"""Threads that share the rows of a vector environment and live as long as it does.

A step of two thousand rows takes a quarter of a millisecond; starting threads or handing work to an
executor would take as long. These wait on locks.
"""

import threading
from collections.abc import Callable
from itertools import pairwise
from typing import Any

__all__ = ["Workers"]


class Workers:
    """Runs ``work(actions, start, end)`` for all of ``0..n`` in `threads` ranges.

    ``ValueError`` if `threads` is below 1.
    """

    _helpers: "list[_Helper]" = []  # noqa: RUF012 (for `__del__` after an error)

    def __init__(self, work: Callable[[Any, int, int], int], n: int, threads: int) -> None:
        if threads < 1:
            raise ValueError(f"threads: expected at least 1, got {threads}")
        parts = min(threads, n)
        bounds = [n * i // parts for i in range(parts + 1)]
        self._work = work
        self._end = bounds[1]
        self._helpers = [_Helper(work, start, end) for start, end in pairwise(bounds[1:])]

    def run(self, actions: Any) -> int:
        """The sum of what the ranges return; an exception of any of them."""
        for helper in self._helpers:
            helper.start(actions)
        total = 0
        try:
            total = self._work(actions, 0, self._end)
        finally:
            results = [helper.wait() for helper in self._helpers]
        for result in results:
            if isinstance(result, BaseException):
                raise result
            total += result
        return total

    def close(self) -> None:
        """End the threads."""
        for helper in self._helpers:
            helper.close()
        self._helpers = []

    def __del__(self) -> None:
        self.close()


class _Helper:
    """One thread: two locks tell it to go and others that it is done."""

    def __init__(self, work: Callable[[Any, int, int], int], start: int, end: int) -> None:
        self._go = threading.Lock()
        self._done = threading.Lock()
        self._go.acquire()
        self._done.acquire()
        box: dict[str, Any] = {"actions": None, "result": 0}
        self._box = box
        # The thread must not hold this object, or it would never be deleted.
        self._thread = threading.Thread(
            target=_serve, args=(work, start, end, box, self._go, self._done), daemon=True
        )
        self._thread.start()

    def start(self, actions: Any) -> None:
        self._box["actions"] = actions
        self._go.release()

    def wait(self) -> Any:
        self._done.acquire()
        return self._box["result"]

    def close(self) -> None:
        self._box["actions"] = None
        self._go.release()
        self._thread.join()


def _serve(
    work: Callable[[Any, int, int], int],
    start: int,
    end: int,
    box: dict[str, Any],
    go: threading.Lock,
    done: threading.Lock,
) -> None:
    while True:
        go.acquire()
        if box["actions"] is None:
            return
        try:
            box["result"] = work(box["actions"], start, end)
        except BaseException as error:  # raised where the results are collected
            box["result"] = error
        done.release()
