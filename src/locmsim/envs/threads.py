"""Threads that share the rows of a vector environment and live as long as it does."""

import os
import threading
from typing import Any

from locmsim.envs._rows import Rows
from locmsim.envs._thread_pool import ThreadPool


class RowThreads:
    """Steps all rows in `threads` ranges of them; there is at least one."""

    _threads: "list[threading.Thread]" = []  # noqa: RUF012 (for `__del__` after an error)

    def __init__(self, rows: Rows, threads: int) -> None:
        self._rows = rows
        self._n = min(threads, rows.n)
        self._start()

    def _start(self) -> None:
        self._process = os.getpid()
        self._thread_pool = ThreadPool(self._rows, self._n)
        # The threads must not hold this object, or it would never be deleted.
        self._threads = [
            threading.Thread(target=self._thread_pool.serve, args=(i,), daemon=True)
            for i in range(1, self._thread_pool.n)
        ]
        for thread in self._threads:
            thread.start()

    def run(self, actions: Any) -> int:
        """Run a function on ranges of rows in all threads and return the sum of its results."""
        if self._threads and self._process != os.getpid():
            self._start()  # a process that was forked has none of the threads
        return self._thread_pool.run(actions)

    def close(self) -> None:
        """End the threads."""
        if self._threads and self._process != os.getpid():
            self._threads = []
        if self._threads:
            self._thread_pool.stop()
        for thread in self._threads:
            thread.join()
        self._threads = []

    def __del__(self) -> None:
        self.close()
