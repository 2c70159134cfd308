"""What pages wait for: a number that grows, and answers that are held back until it does."""

import asyncio
import contextlib
import threading
from collections.abc import Callable

from locmsim.web.endpoints import Refusal

__all__ = ["PATIENCE", "News"]

#: How long a page waits for news before it asks again, in seconds.
PATIENCE = 20.0
#: The most requests that wait for one thing: each costs a connection.
_WAITING = 64


class News:
    """The number of the last change, and the requests that wait for the next one.

    A page that is slow, or gone, costs nothing: it is told the state of the moment at which it
    asks, and nothing is kept for it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._version = 0
        self._waiting: set[Callable[[], object]] = set()
        self._closed = False

    @property
    def version(self) -> int:
        """The number of changes so far."""
        return self._version

    @property
    def closed(self) -> bool:
        """Whether nobody waits any more."""
        return self._closed

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return len(self._waiting)

    def changed(self) -> None:
        """Answer those who wait, as something has changed. Any thread may call it."""
        with self._lock:
            self._version += 1
            self._wake()

    def close(self) -> None:
        """Answer those who wait, and let nobody wait any more."""
        with self._lock:
            self._closed = True
            self._wake()

    def _wake(self) -> None:
        for wake in self._waiting:
            with contextlib.suppress(RuntimeError):  # its loop has ended
                wake()

    async def later(self, known: int, patience: float = PATIENCE) -> int:
        """Wait until there is another version, for a while.

        Parameters
        ----------
        known : int
            The version that a page shows, -1 for none.
        patience : float
            Seconds.

        Returns
        -------
        int
            The version now, `known` if nothing has changed.

        Raises
        ------
        Refusal
            Too many wait already.
        """
        loop, event = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            loop.call_soon_threadsafe(event.set)

        with self._lock:
            if self._version != known or self._closed:
                return self._version
            if len(self._waiting) >= _WAITING:
                raise Refusal("too many pages wait for this: close some", 503)
            self._waiting.add(wake)
        try:
            async with asyncio.timeout(patience):
                await event.wait()
        except TimeoutError:
            pass
        finally:
            with self._lock:
                self._waiting.discard(wake)
        return self._version
