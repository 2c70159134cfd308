"""Matches as they are played elsewhere: new steps as they come."""

import threading
from typing import Any

from starlette.requests import Request
from starlette.routing import BaseRoute

from locmsim.referee.live_reader import LiveReader
from locmsim.web.endpoints import Refusal, get, whole_of
from locmsim.web.keys import KeyKind
from locmsim.web.replay import replay_data
from locmsim.web.site import Site

__all__ = ["routes"]

#: The seconds between two looks at a file.
_LOOK = 0.25


def routes(site: Site) -> list[BaseRoute]:
    """Return the endpoint: what is behind the steps that a page has."""
    library = site.library
    site.closing.append(library.close)
    #: Guards the readers.
    lock = threading.Lock()

    def data_of(reader: LiveReader) -> dict[str, Any]:
        with lock:
            reader.update()
            return replay_data(reader.result(), reader.names)

    def page_of(key: str) -> dict[str, Any]:
        reader = library.live.get(key)
        if reader.game is not None:
            raise Refusal(f"{reader.game.title} has a view of its own", 400)
        return {**data_of(reader), "agents": reader.agents, "live": not reader.over}

    def live(request: Request) -> object:
        key = request.query_params.get("game", "")
        have = whole_of(request.query_params, "have", 0, text=True)
        try:
            reader = library.live.get(key)
        except ValueError as error:
            raise Refusal(error, 404) from None
        data = data_of(reader)
        steps = data["steps"]
        start = max(0, min(have, len(steps)))
        return {
            "start": start,
            "steps": steps[start:],
            "over": reader.over,
            "next_key": library.live.after(key) if reader.over else None,
            **{name: data[name] for name in ("cards", "badges", "numbers")},
        }

    site.data[KeyKind.LIVE] = page_of
    site.news.add("live", library.view_version, _LOOK)
    return [get("/api/live", live)]
