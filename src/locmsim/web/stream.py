"""One stream of news for everything that grows: a list, a game, a search, a tournament.

A page names what it follows, and the version of each that it shows. The answer is held back until
one of them has another version, and says which. A browser has few connections to a server, so all
of its pages share one such request (``static/stream.js``); what has changed each page then asks for
by itself. Nothing is kept for a page that is slow or gone, and a server that was started again
tells everything anew.
"""

import asyncio
import contextlib
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from locmsim.web.endpoints import Refusal, body_of, gone, json_response, text_of

__all__ = ["News", "Stream"]

#: How long an answer is held back, in seconds.
_PATIENCE = 20.0
#: The most answers that are held back at a time, and the most that one of them is about.
_WAITING, _TOPICS = 64, 500


class News:
    """Wakes the answers that are held back."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: set[Callable[[], object]] = set()
        self._closed = False

    @property
    def closed(self) -> bool:
        """Whether nobody waits any more."""
        return self._closed

    @property
    def waiting(self) -> int:
        """How many answers are held back."""
        return len(self._waiting)

    def wake(self) -> None:
        """Let those who wait look again, as something has changed. Any thread may call it."""
        with self._lock:
            for wake in self._waiting:
                with contextlib.suppress(RuntimeError):  # its loop has ended
                    wake()

    def close(self) -> None:
        """Answer those who wait, and let nobody wait any more."""
        self._closed = True
        self.wake()

    @contextlib.contextmanager
    def listening(self, wake: Callable[[], object]) -> Any:
        """Call a function after each change during a ``with`` block; `Refusal` if too many do."""
        with self._lock:
            if len(self._waiting) >= _WAITING:
                raise Refusal("too many browsers wait for news: close some", 503)
            self._waiting.add(wake)
        try:
            yield
        finally:
            with self._lock:
                self._waiting.discard(wake)


class _Topic(NamedTuple):
    """Something that pages can follow."""

    version: Callable[[str], object]
    every: float


class Stream:
    """What pages can follow, and the endpoint that tells them what has changed.

    Parameters
    ----------
    news : News
        Woken when something has changed.
    """

    def __init__(self, news: News) -> None:
        self.news = news
        #: Another one in each server: versions of an earlier one mean nothing.
        self.boot = secrets.token_hex(8)
        self._topics: dict[str, _Topic] = {}
        self._looked: dict[str, tuple[float, str | None]] = {}
        self._lock = threading.Lock()
        self.add("server", lambda key: "")

    def add(self, name: str, version: Callable[[str], object], every: float = 0.0) -> None:
        """Add a kind of things that can be followed.

        Parameters
        ----------
        name : str
            The kind: a topic is ``name`` or ``name:key``.
        version : function
            From a key to another value whenever the thing has changed; ``ValueError`` if there is
            no such thing.
        every : float
            Seconds between two looks, for what `news` is not told of; 0 to look when it is woken.
        """
        self._topics[name] = _Topic(version, every)

    def _version(self, topic: str) -> str | None:
        """Return the version of a topic; None if there is no such thing."""
        name, _, key = topic.partition(":")
        known = self._topics.get(name)
        if known is None:
            return None
        now = time.monotonic()
        with self._lock:
            then, version = self._looked.get(topic, (0.0, None))
        if known.every and version is not None and now < then + known.every:
            return version
        try:
            version = str(known.version(key))
        except (OSError, ValueError, Refusal):
            version = None
        if known.every:
            with self._lock:
                self._looked[topic] = now, version
                while len(self._looked) > 2 * _TOPICS:
                    del self._looked[next(iter(self._looked))]
        return version

    def changes(self, known: Mapping[str, str | None]) -> dict[str, str | None]:
        """Return the topics whose version is another one, with it."""
        found = {topic: self._version(topic) for topic in known}
        return {topic: version for topic, version in found.items() if version != known[topic]}

    async def later(
        self, known: Mapping[str, str | None], patience: float = _PATIENCE
    ) -> dict[str, str | None]:
        """Return what has changed, as soon as something has; {} after a while."""
        loop, event = asyncio.get_running_loop(), asyncio.Event()
        names = {topic.partition(":")[0] for topic in known}
        looks = [kind.every for name, kind in self._topics.items() if name in names and kind.every]
        end = loop.time() + patience
        with self.news.listening(lambda: loop.call_soon_threadsafe(event.set)):
            while True:
                event.clear()
                found = await run_in_threadpool(self.changes, known)
                left = end - loop.time()
                if found or left <= 0 or self.news.closed:
                    return found
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(min(left, *looks, _PATIENCE)):
                        await event.wait()

    def routes(self) -> list[BaseRoute]:
        """Return the endpoint: from the versions that are shown to those that are new."""

        async def news(request: Request) -> Response:
            data = await body_of(request)
            known = data.get("known")
            if not isinstance(known, dict) or len(known) > _TOPICS:
                raise Refusal(f"known: expected versions of at most {_TOPICS} topics")
            if text_of(data, "boot", "") != self.boot:
                known = dict.fromkeys(known, "unknown")
            later = asyncio.ensure_future(self.later(known))
            left = asyncio.ensure_future(gone(request))
            await asyncio.wait({later, left}, return_when=asyncio.FIRST_COMPLETED)
            left.cancel()
            if not later.done():
                later.cancel()
                raise Refusal("the page has gone")
            return json_response({"boot": self.boot, "news": later.result()})

        return [Route("/api/news", news, methods=["POST"])]
