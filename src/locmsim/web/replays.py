"""The page *Games*: the matches there are."""

from starlette.requests import Request

from locmsim.web.endpoints import Refusal, get, whole_of
from locmsim.web.library import Filter
from locmsim.web.site import Page, Site

__all__ = ["page"]

#: Rows in one answer, at most.
_ROWS = 500


def page(site: Site) -> Page:
    """The page and its endpoint, the list of matches."""

    def games(request: Request) -> object:
        query = request.query_params
        wanted = Filter(
            query.get("lost_by", ""),
            query.get("fault", ""),
            whole_of(query, "least", text=True) if query.get("least") else None,
            whole_of(query, "most", text=True) if query.get("most") else None,
        )
        start = whole_of(query, "start", 0, text=True)
        count = whole_of(query, "count", 100, text=True)
        if start < 0 or not 0 < count <= _ROWS:
            raise Refusal(f"start: expected 0 or more, count: 1 to {_ROWS}")
        return site.library.games(wanted, start, count)

    return Page("games", "Games", [get("/api/replays", games)], address="/games")
