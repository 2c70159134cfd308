"""Work shared by threads, for compiled loops that run without the GIL."""

from collections.abc import Callable
from typing import TypeVar

__all__ = ["in_threads"]

_T = TypeVar("_T")


def in_threads(work: Callable[[int, int], _T], n: int, threads: int) -> list[_T]:
    """The results of ``work(start, end)`` for ranges that make up ``0..n``, one for each thread.

    There are at most `n` threads, and one range even if `n` is 0. ``ValueError`` if `threads` is
    below 1.
    """
    if threads < 1:
        raise ValueError(f"threads: expected at least 1, got {threads}")
    parts = min(threads, max(n, 1))
    if parts == 1:
        return [work(0, n)]
    from concurrent.futures import ThreadPoolExecutor  # slow to import

    bounds = [n * i // parts for i in range(parts + 1)]
    with ThreadPoolExecutor(parts - 1) as pool:
        others = pool.map(work, bounds[1:-1], bounds[2:])
        return [work(0, bounds[1]), *others]  # this thread has nothing better to do
