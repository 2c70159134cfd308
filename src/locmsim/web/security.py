"""What a request must be before anything of it is looked at, and what every answer forbids.

The server listens on this machine only, but other pages in the same browser can send requests to
it too, and so can other users of the machine. A name that an attacker points at 127.0.0.1 (DNS
rebinding) is refused by its Host, a request from another page by its Origin, and all that reads
data, changes something or starts a program needs the token of the address that was printed.
"""

import hmac
import json
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: The names by which this machine calls itself.
_HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})
_METHODS = frozenset({"GET", "HEAD", "POST"})
_HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


def policy(**sources: str) -> str:
    """Return a content security policy that allows these sources and no others."""
    values = {name.replace("_", "-"): source for name, source in sources.items()}
    closed = ("default-src", "base-uri", "form-action", "frame-ancestors")
    directives = {**dict.fromkeys(closed, "'none'"), **values}
    return "; ".join(f"{name} {source}" for name, source in directives.items())


#: The policy of all pages but those that bring one of their own: no inline script, no other server.
PAGE_POLICY = policy(
    script_src="'self'", style_src="'self'", img_src="'self' data:", connect_src="'self'"
)


class Guard:
    """The outermost layer of the server."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request; what is not HTTP, such as a web socket, is refused."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                headers.setdefault("content-security-policy", PAGE_POLICY)
            await send(message)

        refusal = self._refusal(scope)
        if refusal is None:
            await self._app(scope, receive, guarded)
            return
        status, why = refusal
        content = json.dumps({"error": why})
        response = Response(content, status, media_type="application/json")
        await response(scope, receive, guarded)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        if name.lower() not in _HOSTS or len(headers.getlist("host")) != 1:
            return 421, "this server is called 127.0.0.1"
        origin = headers.get("origin")
        if origin is not None and origin.lower() != f"http://{host}".lower():
            return 403, "a page of another origin sent this request"
        # A link on another page may lead here: nothing but the address decides what that shows.
        followed = (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest"), scope["method"])
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and followed != (
            "navigate",
            "document",
            "GET",
        ):
            return 403, "a page of another origin sent this request"
        if scope["method"] not in _METHODS:
            return 405, "only GET and POST"
        # Anything but a page without its data.
        if scope["path"].startswith("/api/"):
            values = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])
            if len(values) != 1 or not hmac.compare_digest(
                values[0].encode(), self._token.encode()
            ):
                return 403, "the address lacks the token: open the one that the terminal printed"
        return None
