"""News: the versions of everything that grows, a list, a match, a search, a tournament.

A page that is seen asks twice a second for the versions of what it shows (``static/follow.js``);
what has another one it asks for by itself. Nothing is kept of a page that is slow or gone.
"""

import secrets
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from starlette.routing import BaseRoute

from locmsim.web.endpoints import Query, Refusal, get

#: The most things that one question is about, and the most whose last version is kept.
_ASKED, _KEPT = 500, 1000


class _Topic(NamedTuple):
    """Something that pages can follow."""

    version: Callable[[str], object]
    every: float


class News:
    """What pages can follow, and the endpoint that tells them the versions."""

    def __init__(self) -> None:
        #: Another one in each server: versions of an earlier one mean nothing.
        self._boot = secrets.token_hex(8)
        self._topics: dict[str, _Topic] = {}
        self._looked: dict[str, tuple[float, str | None]] = {}
        self._lock = threading.Lock()

    def add(self, name: str, version: Callable[[str], object], every: float = 0.0) -> None:
        """Let pages follow ``name`` or ``name:key``.

        `version` gets the key, and returns another value whenever the thing has changed. What has
        to be looked for in files is looked at again after `every` seconds.
        """
        self._topics[name] = _Topic(version, every)

    def version(self, topic: str) -> str | None:
        """Return the version of a topic; None if there is no such thing."""
        name, _, key = topic.partition(":")
        known = self._topics.get(name)
        if known is None:
            return None
        now = time.monotonic()
        with self._lock:
            then, version = self._looked.get(topic, (0.0, None))
        if version is not None and now < then + known.every:
            return version
        try:
            version = f"{self._boot} {known.version(key)}"
        except (OSError, ValueError, Refusal):
            version = None
        if known.every:
            with self._lock:
                self._looked[topic] = now, version
                while len(self._looked) > _KEPT:
                    del self._looked[next(iter(self._looked))]
        return version

    def routes(self) -> list[BaseRoute]:
        """Return the endpoint."""

        def news(query: Query) -> object:
            topics = query.get("topics", "").split(",")
            if len(topics) > _ASKED:
                raise Refusal(f"topics: expected at most {_ASKED}")
            return {topic: self.version(topic) for topic in topics}

        return [get("/api/news", news)]
