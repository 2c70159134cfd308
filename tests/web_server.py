"""Fixtures that serve the pages of `locmsim web` and open them in a browser."""

import contextlib
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import watched_pages
from helpers import LOCMSIM, write_log

pytest.importorskip("uvicorn", reason="uvicorn is not installed")

from web_client import Library, Site

from locmsim.web.server import serving

Server = Callable[..., str]
Opener = Callable[..., Any]


def log_key(path: object) -> str:
    """Return what the pages call the match of a log."""
    (row,) = Library([str(path)]).matches()["matches"]
    return str(row["key"])


@pytest.fixture
def server() -> Iterator[Server]:
    """Yield a function that serves files and tournaments in a thread and returns the address."""
    with contextlib.ExitStack() as sites:

        def start(
            *files: str, dbs: list[str] | None = None, site: Site | None = None, **options: Any
        ) -> str:
            library = Library([*files], dbs or [])
            site = site or Site(library, timeout_scale=0.0, **options)
            return sites.enter_context(serving(site))

        yield start


@pytest.fixture
def command() -> Iterator[Server]:
    """Yield a function that starts the tool and returns its address; Ctrl-C ends the tool."""
    started: list[subprocess.Popen[str]] = []

    def start(*words: str) -> str:
        command = [*LOCMSIM, "web", "--timeout-scale", "0", "--port", "0", *words]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        started.append(process)
        assert process.stdout is not None
        return process.stdout.readline().strip()

    yield start
    for process in started:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
        assert (process.returncode, errors) == (130, "locmsim web: stopped\n")


@pytest.fixture
def visit(browser: Any, request: pytest.FixtureRequest) -> Iterator[Opener]:
    """Yield a function that opens a page; pages may not report errors or contact other servers."""
    with watched_pages(browser, request.node.name) as (new_page, pages, asked):

        def visit(url: str, page: str = "", refusals: int = 0, **options: Any) -> Any:
            found = new_page(refusals, **{"reduced_motion": "reduce", **options})
            found.set_default_timeout(20_000)
            root, _, query = url.partition("/?")
            found.goto(f"{root}/{page}?{query}" if page else url)
            found.server = root
            return found

        yield visit
        servers = [f"{page.server}/" for page in pages]
    assert all(url.startswith((*servers, "data:")) for url in asked)


@pytest.fixture
def watch(server: Server, visit: Opener, tmp_path: Path) -> Opener:
    """Return a function that opens a page of a match, whose log is `game.json`: its own, or
    another one.
    """

    def watch(
        result: Any, names: tuple[str, str] = ("", ""), page: str = "", **options: Any
    ) -> Any:
        log = tmp_path / "game.json"
        write_log(log, result, names)
        return visit(server(str(log)), page or f"match/{log_key(log)}", **options)

    return watch
