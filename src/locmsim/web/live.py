"""Matches as they are played: new steps as they come."""

import asyncio
import threading
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from locmsim.referee.live_reader import LiveReader
from locmsim.web.endpoints import Refusal, json_response, whole_of
from locmsim.web.news import PATIENCE
from locmsim.web.replay import replay_data
from locmsim.web.site import Site

__all__ = ["routes"]

#: The seconds between two looks at a file, and the most requests that wait for news.
_LOOK = 0.25
_WAITING = 64


def routes(site: Site) -> list[BaseRoute]:  # noqa: C901 (endpoints with what they share)
    """Return the endpoint: what has been played since a page asked last."""
    library = site.library
    site.closing.append(library.close)
    #: Guards the readers and the number of requests that wait.
    lock = threading.Lock()
    waiting = 0

    def steps_of(reader: LiveReader) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        with lock:
            reader.update()
            data = replay_data(reader.result(), reader.names)
        return data["steps"], data

    def page_of(key: str) -> dict[str, Any]:
        reader = library.live_match(key)
        if reader.game is not None:
            raise Refusal(f"{reader.game.title} has a view of its own", 400)
        _, data = steps_of(reader)
        return {**data, "agents": reader.agents, "live": not reader.over}

    def news_of(key: str, have: int) -> dict[str, Any] | None:
        """Return what is behind the steps that a page has; None if that is nothing."""
        reader = library.live_match(key)
        with lock:
            new = reader.update()
        if not new and not reader.over and have >= 0 and seen.get(key) == (len(reader.calls), have):
            return None
        steps, data = steps_of(reader)
        seen[key] = len(reader.calls), len(steps)
        if len(steps) <= have and not reader.over:
            return None
        following = library.after_live(key) if reader.over else None
        cards = {name: data[name] for name in ("cards", "badges", "numbers")}
        start = max(0, min(have, len(steps)))
        return {
            "start": start,
            "steps": steps[start:],
            "over": reader.over,
            "next_key": following,
            **cards,
        }

    #: Answers that were read and steps that came from them, by key: what has not changed is not
    #: made again.
    seen: dict[str, tuple[int, int]] = {}

    async def live(request: Request) -> Response:
        nonlocal waiting
        key = request.query_params.get("game", "")
        have = whole_of(request.query_params, "have", 0, text=True)
        if waiting >= _WAITING:
            raise Refusal("too many pages watch matches: close some", 503)
        waiting += 1
        loop = asyncio.get_running_loop()
        end = loop.time() + PATIENCE
        try:
            while True:
                try:
                    found = await run_in_threadpool(news_of, key, have)
                except ValueError as error:
                    raise Refusal(error, 404) from None
                if found is not None:
                    return json_response(found)
                if loop.time() >= end or library.news.closed:
                    return json_response(
                        {"start": have, "steps": [], "over": False, "next_key": None}
                    )
                await asyncio.sleep(_LOOK)
        finally:
            waiting -= 1

    site.data["l"] = page_of
    return [Route("/api/live", live, methods=["GET"])]
