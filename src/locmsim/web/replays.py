"""The page *Replays*: the matches there are, and each of them to watch."""

import asyncio
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from locmsim.web.endpoints import Refusal, get, json_response, whole_of
from locmsim.web.library import Filter
from locmsim.web.news import PATIENCE
from locmsim.web.replay import replay_html, replay_policy
from locmsim.web.site import Page, Site

__all__ = ["page", "routes"]

#: Rows in one answer, at most.
_ROWS = 500
#: How often it is seen whether files have changed while a page waits, in seconds.
_LOOK = 1.0


def routes(site: Site) -> list[BaseRoute]:
    """The endpoints of the list: a part of it, what filters can be set to, and when it changes."""
    library = site.library
    site.closing.append(library.news.close)

    def games(request: Request) -> object:
        query = request.query_params
        wanted = Filter(
            query.get("player", ""),
            query.get("lost_by", ""),
            query.get("fault", ""),
            whole_of(query, "least", text=True) if query.get("least") else None,
            whole_of(query, "most", text=True) if query.get("most") else None,
            query.get("rules", ""),
            query.get("source", ""),
        )
        count = whole_of(query, "count", 100, text=True)
        if not 0 < count <= _ROWS:
            raise Refusal(f"count: expected 1 to {_ROWS}")
        return library.games(wanted, query.get("after", ""), count)

    def choices(request: Request) -> object:
        return library.choices()

    async def news(request: Request) -> Response:
        known = whole_of(request.query_params, "known", -1, text=True)
        stamp = await run_in_threadpool(library.stamp)
        loop = asyncio.get_running_loop()
        end = loop.time() + PATIENCE
        while (version := await library.news.later(known, _LOOK)) == known:
            now = await run_in_threadpool(library.stamp)
            if now != stamp:
                stamp = now
                library.news.changed()
            elif loop.time() >= end or library.news.closed:
                break
        return json_response({"version": version})

    return [
        get("/api/games", games),
        get("/api/games/choices", choices),
        Route("/api/games/news", news, methods=["GET"]),
    ]


def page(site: Site) -> Page:
    """The page and its endpoint: a match as a page of its own."""

    def watch(request: Request) -> Response:
        key = request.query_params.get("game", "")
        result, names = site.library.load(key)
        analyse = f"/analyse?{urlencode({'token': site.token, 'game': key})}"
        # The page brings its own script, which no other page may run.
        headers = {"content-security-policy": f"{replay_policy()}; frame-ancestors 'none'"}
        return Response(
            replay_html(result, names, analyse=analyse), media_type="text/html", headers=headers
        )

    return Page("replays", "Replays", [get("/api/replays/watch", watch)])
