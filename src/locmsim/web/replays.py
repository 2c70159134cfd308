"""The page *Replays*: the matches there are, and each of them to watch."""

from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from locmsim.web.endpoints import Refusal, get, whole_of
from locmsim.web.library import Filter
from locmsim.web.replay import replay_html, replay_policy
from locmsim.web.site import Page, Site

__all__ = ["page"]

#: Rows in one answer, at most.
_ROWS = 500


def page(site: Site) -> Page:
    """The page and its endpoints: the list of matches, and a match as a page of its own."""

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

    def watch(request: Request) -> Response:
        key = request.query_params.get("game", "")
        result, names = site.library.load(key)
        analyse = f"/analyse?{urlencode({'token': site.token, 'game': key})}"
        # The page brings its own script, which no other page may run.
        headers = {"content-security-policy": f"{replay_policy()}; frame-ancestors 'none'"}
        return Response(
            replay_html(result, names, analyse=analyse), media_type="text/html", headers=headers
        )

    return Page(
        "replays", "Replays", [get("/api/replays", games), get("/api/replays/watch", watch)]
    )
