"""The page *Matches*: all there are."""

from locmsim.arena.game_store import GameQuery
from locmsim.web.endpoints import Query, get, whole_of
from locmsim.web.site import Page, Site

#: The most rows in one answer.
_ROWS = 500
#: While a page follows the list, files are checked for changes after so many seconds.
_LOOK = 1.0


def page(site: Site) -> Page:
    """Return the page and its endpoints: a part of the list, and its filters."""
    library = site.library
    site.news.add("matches", lambda key: library.look(), _LOOK)

    def matches(query: Query) -> object:
        wanted = GameQuery(
            players={*filter(None, [query.get("player"), query.get("other")])},
            lost_by=query.get("lost_by", ""),
            fault=query.get("fault", ""),
            least=whole_of(query, "least", least=0) if query.get("least") else None,
            most=whole_of(query, "most", least=0) if query.get("most") else None,
            rules=query.get("rules", ""),
        )
        count = whole_of(query, "count", 100, least=1, most=_ROWS)
        return library.matches(wanted, query.get("after", ""), count, query.get("source", ""))

    choices = get("/api/matches/choices", lambda query: library.choices())
    return Page("matches", "Matches", [get("/api/matches", matches), choices], address="/matches")
