"""The page *Matches*: all there are."""

from starlette.requests import Request
from starlette.routing import BaseRoute

from locmsim.arena.game_store import GameQuery
from locmsim.web.endpoints import get, whole_of
from locmsim.web.site import Page, Site

#: The most rows in one answer.
_ROWS = 500
#: While a page follows the list, files are checked for changes after so many seconds.
_LOOK = 1.0


def routes(site: Site) -> list[BaseRoute]:
    """Return the endpoints of the list: a part of it, and its filters."""
    library = site.library
    site.news.add("matches", lambda key: library.look(), _LOOK)

    def matches(request: Request) -> object:
        query = request.query_params
        wanted = GameQuery(
            players={*filter(None, [query.get("player"), query.get("other")])},
            lost_by=query.get("lost_by", ""),
            fault=query.get("fault", ""),
            least=whole_of(query, "least", least=0, text=True) if query.get("least") else None,
            most=whole_of(query, "most", least=0, text=True) if query.get("most") else None,
            rules=query.get("rules", ""),
        )
        count = whole_of(query, "count", 100, least=1, most=_ROWS, text=True)
        return library.matches(wanted, query.get("after", ""), count, query.get("source", ""))

    return [
        get("/api/matches", matches),
        get("/api/matches/choices", lambda request: library.choices()),
    ]


def page(site: Site) -> Page:
    """Return the page *Matches*: the list of matches."""
    return Page("matches", "Matches", address="/matches")
