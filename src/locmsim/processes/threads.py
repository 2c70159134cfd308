"""Work shared by threads, for compiled loops that run without the GIL."""

import threading
from collections.abc import Callable
from typing import TypeVar

from locmsim.options.checks import MOST_THREADS, whole

_T = TypeVar("_T")


def in_threads(
    work: Callable[[int, int], _T], n: int, threads: int, chunk: int | None = None
) -> list[_T]:
    """Run ``work(start, end)`` in threads on ranges that cover ``0..n``; return the results.

    There are at most `n` threads with one range each, or one range if `n` is 0. With `chunk`, no
    range is longer than that, so that Ctrl-C is noticed between two ranges; the other threads then
    stop after their current range. ``ValueError`` if `threads` is below 1.
    """
    threads = whole("threads", threads, 1, MOST_THREADS)
    parts = min(threads, max(n, 1))
    stopped = threading.Event()

    def share(start: int, end: int) -> list[_T]:
        step = chunk or max(end - start, 1)
        found = []
        for first in range(start, max(end, start + 1), step):
            if stopped.is_set():
                break
            found.append(work(first, min(first + step, end)))
        return found

    if parts == 1:
        return share(0, n)
    from concurrent.futures import ThreadPoolExecutor  # slow to import

    bounds = [n * i // parts for i in range(parts + 1)]
    with ThreadPoolExecutor(parts - 1) as pool:
        try:
            others = pool.map(share, bounds[1:-1], bounds[2:])
            mine = share(0, bounds[1])  # this thread works too
            return [*mine, *(result for found in others for result in found)]
        except BaseException:
            stopped.set()
            raise
