"""The page *Games*: the matches there are."""

import base64

from starlette.requests import Request
from starlette.routing import BaseRoute

from locmsim.arena.game_store import GameQuery
from locmsim.web.endpoints import get, whole_of
from locmsim.web.site import Page, Site

__all__ = ["page", "routes"]

#: The most rows in one answer.
_ROWS = 500
#: While a page follows the list or a match, files are checked for changes after so many seconds.
_LOOK = 1.0


def routes(site: Site) -> list[BaseRoute]:
    """Return the endpoints of the list: a part of it, its filters, a match of any game."""
    library = site.library
    site.news.add("games", lambda key: library.look(), _LOOK)
    site.news.add("view", library.view_version, _LOOK)

    def games(request: Request) -> object:
        query = request.query_params
        wanted = GameQuery(
            players=[*filter(None, [query.get("player")])],
            lost_by=query.get("lost_by", ""),
            fault=query.get("fault", ""),
            least=whole_of(query, "least", least=0, text=True) if query.get("least") else None,
            most=whole_of(query, "most", least=0, text=True) if query.get("most") else None,
            rules=query.get("rules", ""),
        )
        count = whole_of(query, "count", 100, least=1, most=_ROWS, text=True)
        return library.games(wanted, query.get("after", ""), count, query.get("source", ""))

    def choices(request: Request) -> object:
        return library.choices()

    def view(request: Request) -> object:
        """Return a match of any game, with its drawings as addresses of images."""
        key = request.query_params.get("game", "")
        have = whole_of(request.query_params, "have", 0, text=True)
        shown = library.view(key)
        shown["start"] = max(0, min(have, len(shown["steps"])))
        shown["steps"] = shown["steps"][shown["start"] :]
        for step in shown["steps"]:
            drawing = step.pop("drawing")
            step["image"] = _image(drawing) if drawing else None
        return shown

    return [
        get("/api/games", games),
        get("/api/games/choices", choices),
        get("/api/view", view),
    ]


def _image(drawing: str) -> str:
    """Return an SVG document as an address for an ``<img>``, where no script of it runs."""
    data = base64.b64encode(drawing.encode("utf-8", "replace")).decode()
    return f"data:image/svg+xml;base64,{data}"


def page(site: Site) -> Page:
    """Return the page *Games*: the list of matches."""
    return Page("games", "Games", address="/games")
