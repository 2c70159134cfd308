"""The application: all pages behind one guard."""

import contextlib
from collections.abc import AsyncIterator, Callable, Container
from html import escape
from importlib import resources

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from locmsim.web import (
    hosted_matches,
    page_arena,
    page_home,
    page_match,
    page_matches,
    page_practice,
    page_setup,
    search_jobs,
)
from locmsim.web.endpoints import Refusal, error_response
from locmsim.web.security import Guard
from locmsim.web.site import Page, Site

#: The functions that make the pages, in the order of the links. A new page is a module with one and
#: a script in ``static``, where it may have a style sheet as well.
PAGES: tuple[Callable[[Site], Page], ...] = (
    page_home.page,
    page_matches.page,
    page_practice.page,
    page_arena.page,
    page_setup.page,
    page_match.page,
    hosted_matches.page,
    search_jobs.page,
)

_TYPES = {"js": "text/javascript", "css": "text/css"}


def create_app(site: Site) -> Starlette:
    """Return the application of a site."""
    pages = [make(site) for make in PAGES]
    folder = resources.files("locmsim.web") / "static"
    shell = (folder / "page.html").read_text(encoding="utf-8")
    links = "\n".join(
        f'<a href="{page.address}">{escape(page.title)}</a>' for page in pages if page.title
    )
    shell = shell.replace("%LINKS%", links)
    files = {
        file.name: file.read_bytes()
        for file in folder.iterdir()
        if file.name.rpartition(".")[2] in _TYPES
    }

    async def static(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in files:
            raise Refusal("no such file", 404)
        return Response(files[name], media_type=_TYPES[name.rpartition(".")[2]])

    routes: list[BaseRoute] = [Route("/static/{name}", static)]
    routes += [*site.news.routes(), *site.jobs.routes()]
    for page in pages:
        if page.address:
            routes.append(Route(page.address, _shown(shell, page, files)))
        routes += page.routes

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        site.close()

    return Starlette(
        routes=routes,
        middleware=[Middleware(Guard, token=site.token)],
        exception_handlers={HTTPException: error_response},
        lifespan=lifespan,
    )


def _shown(shell: str, page: Page, files: Container[str]) -> Callable[[Request], Response]:
    own = f"page-{page.name}.css"
    style = f'<link rel="stylesheet" href="/static/{own}">' if own in files else ""
    text = shell.replace("%TITLE%", escape(page.title or "a match")).replace("%STYLE%", style)
    text = text.replace("%NAME%", page.name)
    return lambda request: Response(text, media_type="text/html")
