"""Games on a Dask cluster."""

import contextlib
import logging
from collections.abc import Iterator

from locmsim.workers import QUEUED, Workers

__all__ = ["dask_workers"]

_log = logging.getLogger(__name__)

#: How long to look for the scheduler.
_CONNECT_SECONDS = 15


@contextlib.contextmanager
def dask_workers(address: str, one_thread: bool = False) -> Iterator[Workers]:
    """The workers of a Dask cluster, whose scheduler has that address; needs dask.distributed.

    A worker should have one thread and a core to itself: with `one_thread` more threads than one
    are a ``ValueError``. What a lost worker had to do is done by another one. ``OSError`` if there
    is no scheduler.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ImportError("a cluster needs dask.distributed: install locmsim[cluster]") from None
    with Client(address, timeout=_CONNECT_SECONDS) as client:
        if one_thread and max(client.nthreads().values(), default=1) > 1:
            raise ValueError(
                "dask: games with time limits need workers of one thread (dask worker --nthreads 1)"
            )
        _log.info("cluster %s: workers and their threads %s", address, client.nthreads())
        executor = client.get_executor(pure=False)

        def slots() -> int:
            threads = sum(client.nthreads().values())
            return max(1, int(threads)) * (1 + QUEUED)

        yield Workers(executor, slots)
